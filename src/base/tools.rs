//! Names that agents have for tools that all of them have, and what a tool of such a name does: data.
//!
//! Invariant: each name stands once, in small letters and without what stands between its words.

/// What a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// Commands.
    Runs,
    Reads,
    Searches,
    /// Anything to a file.
    Edits,
    /// What is in a file.
    Writes,
    Deletes,
    Moves,
    /// An address.
    Fetches,
    SearchesWeb,
    /// What a server does, which a text says.
    Calls,
}

/// First those names that requests have here, then those that they have in Claude Code, Gemini CLI, Codex, OpenCode and
/// editors.
const NAMES: &[(Does, &str, &str)] = &[
    (
        Does::Runs,
        "bash shell terminal execute",
        "run exec command bashcommand shellcommand localshell runcommand runshellcommand runterminalcmd \
         runterminalcommand runinterminal execcommand executecommand unifiedexec terminalcreate",
    ),
    (Does::Reads, "read", "readfile readfiles readmanyfiles readtextfile fsread view viewfile viewimage notebookread"),
    (
        Does::Searches,
        "search grep glob ls",
        "list find listdir listdirectory listfiles findfiles searchfiles searchfilecontent filesearch grepsearch \
         grepfiles globsearch codebasesearch ripgrep",
    ),
    (Does::Edits, "edit", ""),
    (
        Does::Writes,
        "write create multiedit",
        "notebookedit editnotebook writefile writetextfile fswrite createfile editfile replace replaceinfile searchreplace \
         strreplace strreplaceeditor strreplacebasededittool applypatch patch update",
    ),
    (Does::Deletes, "delete", "deletefile remove removefile"),
    (Does::Moves, "move", "movefile rename renamefile"),
    (Does::Fetches, "fetch webfetch", "fetchurl urlfetch fetchwebpage"),
    (Does::SearchesWeb, "websearch", "googlewebsearch searchweb"),
    (Does::Calls, "mcp", ""),
];

/// What a tool of this name does, and whether requests have that very name here.
pub fn named(name: &str) -> Option<(Does, bool)> {
    let name = name.to_ascii_lowercase();
    let plain = plain(&name);
    let is_in = |list: &str, name: &str| list.split_whitespace().any(|one| one == name);
    let row = NAMES.iter().find(|(_, own, others)| is_in(own, &plain) || is_in(others, &plain));
    row.map(|(does, own, _)| (*does, is_in(own, &name)))
}

/// What belongs to the conversation alone: other agents, plans, lists of what is to do, questions. It is given neither files
/// nor programs.
const OF_TALK: &str =
    "task agent todowrite todoread updatetodos updateplan askuserquestion exitplanmode enterplanmode think";

/// Whether a tool of this name is one of the conversation.
pub fn is_of_talk(name: &str) -> bool {
    OF_TALK.split(' ').any(|one| one == plain(name))
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// All of them.
pub fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().flat_map(|(_, own, others)| own.split_whitespace().chain(others.split_whitespace()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_stands_once_and_as_it_is_looked_up() {
        let all: Vec<&str> = names().collect();
        for name in &all {
            assert_eq!(all.iter().filter(|one| *one == name).count(), 1, "{name}");
            assert!(name.chars().all(|c| c.is_ascii_lowercase()), "{name}");
        }
        assert_eq!(named("Run_Shell-Command"), Some((Does::Runs, false)));
        assert_eq!(named("Edit"), Some((Does::Edits, true)));
        assert_eq!(named("frobnicate"), None);
    }
}
