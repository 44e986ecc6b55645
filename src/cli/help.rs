//! The text of `--help`. Kept in step with the README's reference by a test.

pub const HELP: &str = "\
acp-tui: the terminal for any coding agent that speaks the Agent Client Protocol

Usage:
  acp-tui                             pick one of the agents found here, or the demo
  acp-tui -- AGENT [ARGS…]            full screen with this agent, e.g. acp-tui -- gemini --acp
  acp-tui --agent NAME                full screen with a known or configured agent
  acp-tui exec \"PROMPT\" -- AGENT…     one prompt without a screen; PROMPT - reads standard input
  acp-tui review [SESSION]            look at what a session changed, and decide
  acp-tui undo SESSION                take a session's changes back
  acp-tui redo [SESSION]              take the last undo back
  acp-tui sessions                    the sessions whose changes are kept
  acp-tui demo                        full screen with the built-in demo agent
  acp-tui demo-agent [--script FILE]  the demo agent itself, on standard input and output

Options:
  --agent NAME           instead of a command after --
  -C, --cwd DIR          the session's directory (default: this one)
  --record FILE          write every frame to FILE as JSON lines (mode 0600)
  --theme NAME           terminal, dark, light (full screen)
  -h, --help             this text
  -V, --version          the version

Options of exec:
  --json                 one JSON object a line instead of text
  --allow all|reads|none what is allowed without asking (default: reads)
  --mode ID              set this mode before the prompt
  --config ID=VALUE      set this option before the prompt (repeatable)
  --timeout S            give up after S seconds
  --review FILE          write what was changed to FILE as JSON, whatever the end
  --patch FILE           write what was changed to FILE as a patch for git apply

SESSION is the agent's session id (exec --json prints it), the beginning of one, or `last`: the newest session of this
directory, else the newest of all.

Options of undo:
  --turn N               only from before turn N of the session on
  --dry-run              only say what would happen
  -y, --yes              without a question (also of sessions --remove all)

Options of sessions:
  --json                 as JSON
  --remove SESSION|all   forget what is kept for undo; the files stay as they are
  --prune                remove what is old or too much: 50 sessions, 2 GiB and 30 days are kept

Exit codes of exec:
  0 done · 1 fault of acp-tui · 2 usage · 3 the turn did not end well · 4 log-in needed · 5 no session, or the agent
  is gone · 124 timeout · 130 interrupted · 141 nobody reads the output · 143 terminated

Configuration: $XDG_CONFIG_HOME/acp-tui/config.toml (else ~/.config/acp-tui/config.toml)
Kept for review and undo: $XDG_STATE_HOME/acp-tui/review (else ~/.local/state/acp-tui/review)
On the full screen: F1 the keys · Alt+R review what was changed · Alt+G have writes and commands wait for you (gate)
";
