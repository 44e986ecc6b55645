//! What the person is shown of a server before they trust it: everything that would be run or reached.
//!
//! One line for each part, so that none is hidden behind another. Invariants: what cannot be seen is named; values of
//! variables and headers are masked, but for variables that decide which code is run.

use super::{How, MASK, Server};
use crate::base::paths::visible;
use std::ffi::OsStr;

/// Variables by which something else is run, loaded or asked than the command says, and what their names begin with.
const LOADERS: &[&str] = &[
    "PATH",
    "HOME",
    "ENV",
    "BASH_ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PROMPT_COMMAND",
    "PS4",
    "IFS",
    "SHELL",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "BROWSER",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NODE_EXTRA_CA_CERTS",
    "NODE_TLS_REJECT_UNAUTHORIZED",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PYTHONINSPECT",
    "PYTHONBREAKPOINT",
    "PYTHONUSERBASE",
    "PERL5LIB",
    "PERL5OPT",
    "PERL5DB",
    "PERLLIB",
    "RUBYOPT",
    "RUBYLIB",
    "GEM_HOME",
    "GEM_PATH",
    "CLASSPATH",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LUA_INIT",
    "LUA_PATH",
    "LUA_CPATH",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "GCONV_PATH",
    "LOCPATH",
    "DOTNET_STARTUP_HOOKS",
    "SSH_ASKPASS",
    "XDG_CONFIG_HOME",
    "XDG_DATA_DIRS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "RUSTC_WRAPPER",
    "GOFLAGS",
    "DENO_DIR",
    "DOCKER_HOST",
];
const LOADER_BEGINNINGS: &[&str] =
    &["LD_", "DYLD_", "GIT_", "NPM_CONFIG_", "PIP_", "UV_", "BASH_FUNC_", "CARGO_", "CORECLR_", "COR_"];

/// Whether a variable decides which code is run or where it comes from.
fn loads_code(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    LOADERS.contains(&name.as_str()) || LOADER_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

impl Server {
    /// Lines without indentation; the first one names it.
    pub fn shown(&self) -> Vec<String> {
        let seen = |text: &str| visible(OsStr::new(text));
        let mut lines = vec![format!("{}  {}", seen(&self.name), self.kind())];
        match &self.how {
            How::Stdio { command, args, env } => {
                lines.push(format!("command   {}", seen(command)));
                if command.contains('/') && !command.starts_with('/') {
                    lines.push("  ! a file of the project: what it does can change without a question".to_owned());
                }
                lines.extend(args.iter().map(|arg| format!("argument  {}", seen(arg))));
                for (name, value) in env {
                    if loads_code(name) {
                        lines.push(format!("variable  {}={}", seen(name), seen(value)));
                        lines.push("  ! it decides which code is run, or where that comes from".to_owned());
                    } else {
                        lines.push(format!("variable  {}={MASK}", seen(name)));
                    }
                }
            }
            How::Remote { url, headers, .. } => {
                lines.push(format!("url       {}", seen(url)));
                lines.extend(headers.iter().map(|(name, _)| format!("header    {}: {MASK}", seen(name))));
            }
        }
        if self.is_disabled {
            lines.push("disabled".to_owned());
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::server;
    use serde_json::json;

    #[test]
    fn r_404_all_that_would_be_run_is_shown_and_values_only_where_they_decide_it() {
        let value = json!({ "command": "./run\u{1b}[2K", "args": ["-c", "a\nb", "\u{202e}x", ""],
            "env": { "TOKEN": "hunter2", "LD_PRELOAD": "/tmp/x.so", "npm_config_registry": "http://x", "A": "${B}" } });
        let expected = [
            "s  stdio",
            "command   ./run⟨U+001B⟩[2K",
            "  ! a file of the project: what it does can change without a question",
            "argument  -c",
            "argument  a⟨U+000A⟩b",
            "argument  ⟨U+202E⟩x",
            "argument  ",
            "variable  TOKEN=…",
            "variable  LD_PRELOAD=/tmp/x.so",
            "  ! it decides which code is run, or where that comes from",
            "variable  npm_config_registry=http://x",
            "  ! it decides which code is run, or where that comes from",
            "variable  A=…",
        ];
        let mut shown = server("s", &value).unwrap().shown();
        let mut wanted = expected.map(str::to_owned).to_vec();
        // The order of variables is the reader's.
        shown.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(shown, wanted);
        let remote =
            json!({ "type": "http", "url": "https://a.example/m", "headers": { "Authorization": "Bearer x" } });
        let expected = ["s  http", "url       https://a.example/m", "header    Authorization: …"];
        assert_eq!(server("s", &remote).unwrap().shown(), expected);
    }

    #[test]
    fn variables_that_load_code_are_known_whatever_their_case() {
        for name in [
            "PATH",
            "ld_audit",
            "DYLD_INSERT_LIBRARIES",
            "NODE_OPTIONS",
            "PYTHONPATH",
            "GIT_SSH_COMMAND",
            "https_proxy",
        ] {
            assert!(loads_code(name), "{name}");
        }
        for name in ["TOKEN", "PATHS", "MY_PATH", "OLD_PATH", "NODE_ENV", "DEBUG"] {
            assert!(!loads_code(name), "{name}");
        }
    }
}
