//! Programs that connect to the machines which their words name: data, and how a word says that.
//!
//! Knows nothing of patterns.

use super::git::{before, has};
use super::listed;
use crate::rules::word::Word;
use std::collections::HashMap;
use std::sync::LazyLock;

const CLIENTS: &str = "curl curlie wget wget2 nc ncat netcat socat telnet ssh autossh mosh scp sftp ftp lftp rsync sshfs ping ping6 \
    dig host nslookup drill traceroute tracepath mtr whois http https httpie xh aria2c axel lynx w3m links elinks openssl gnutls-cli \
    websocat wscat grpcurl nmap hey ab wrk siege youtube-dl yt-dlp smbclient rclone";
/// Those of which a word is a file, unless a machine stands before a colon in it.
const COPIERS: &str = "scp rsync rclone git";
/// Subcommands of git that go to other repositories, or say where those are.
const OF_GIT: &str = "clone fetch pull push ls-remote remote submodule subtree archive config lfs svn request-pull send-pack fetch-pack \
    bundle http-fetch http-push daemon p4 imap-send";
/// Options behind which stands no address, but what is sent or where it is put.
const VALUED: &str = "-H --header -d --data --data-raw --data-binary --data-urlencode --json -F --form -u --user -A --user-agent \
    -o --output -b --cookie -w --write-out -m --max-time -X --request -O -p --port -i -l";

/// How a program takes words that may name machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum Client {
    /// It connects to what they name.
    Any,
    /// The same where a colon stands behind the name.
    Copier,
}

/// How each of them takes such words.
static BY_NAME: LazyLock<HashMap<&str, Client>> = LazyLock::new(|| {
    let any = listed(CLIENTS).map(|name| (name, Client::Any));
    any.chain(listed(COPIERS).map(|name| (name, Client::Copier))).collect()
});

pub(super) fn client(program: &str, words: &[Word]) -> Option<Client> {
    if program == "git" {
        let (options, start) = before(words);
        let is_one = words.get(start).is_some_and(|name| has(OF_GIT, &name.text));
        let is_set = options.iter().any(|(_, text)| text.starts_with("-c") || text.starts_with("--config"));
        return (is_one || is_set).then_some(Client::Copier);
    }
    BY_NAME.get(program).copied()
}

/// Whether a word is the value of an option that is no address.
pub(super) fn is_sent(words: &[Word], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| words.get(before));
    before.is_some_and(|before| listed(VALUED).any(|option| option == before.text))
}
