//! Agents that want a log-in first.

use super::session::{BIN, CTRL_C, DOWN, ENTER, ESC, F2, Place, Session, TAB, in_dock};
use alacritty_terminal::term::TermMode;
use base64::Engine as _;
use std::time::Duration;

const SIZE: (u16, u16) = (160, 30);
/// Longer than keys are held for what has just ended.
const STRAY: Duration = Duration::from_millis(1100);
/// Ctrl+].
const LEAVE: &str = "\x1d";
const TOKEN: &str = "hunter2-and-a-bit";

/// An agent that is logged in by `agent login`, which asks for a code, or by a variable.
fn play(place: &Place, more: &str) -> Session {
    let file = place.path("state").join("signed-in");
    let script = place.script(&format!(
        r#"
[agent]
auth_required = true
auth_file = "{}"
auth_variable = "A_KEY"
auth_methods = [
  {{ id = "tty", name = "By terminal", type = "terminal", args = ["login"] }},
  {{ id = "key", name = "By key", type = "env_var", vars = ["A_KEY"] }},
  {{ id = "web", name = "By browser" }},
]
{more}
[[turn]]
default = true
step = [{{ do = "say", text = "you are known" }}]
"#,
        file.display()
    ));
    let agent = place.program(
        "an-agent",
        &format!(
            r#"#!/bin/sh
if [ "$1" = login ]; then
    printf 'go to https://login.example/device and type the code: '
    stty -echo; read -r code; stty echo
    [ "$code" = {TOKEN} ] || {{ echo wrong; exit 3; }}
    : > {}; exit 0
fi
[ -n "$A_KEY" ] && echo "the key is $A_KEY" >&2
exec {BIN} demo-agent --fast --script {}
"#,
            file.display(),
            script.display()
        ),
    );
    place.start(&["--", &agent.to_string_lossy()], SIZE)
}

/// Every file below the place's state directory.
fn kept(place: &Place) -> String {
    fn read(dir: &std::path::Path, all: &mut String) {
        for entry in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                read(&entry, all);
            } else {
                all.push_str(&String::from_utf8_lossy(&std::fs::read(&entry).unwrap()));
            }
        }
    }
    let mut all = String::new();
    read(&place.path("state"), &mut all);
    all
}

#[test]
fn r_098_methods_are_listed_with_their_exact_commands() {
    let place = Place::new();
    let s = place.play("auth", SIZE);
    let screen = s.see("needs a log-in");
    assert!(screen.contains("Authentication required"), "{screen}");
    assert!(screen.contains("1 Demo key"), "{screen}");
    let exact = format!("DEMO_LOGIN=1 {BIN} demo-agent --fast --script auth --script auth login");
    // Rows end at blanks, and nothing of ours stands in them.
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    assert!(squeezed(&screen).contains(&squeezed(&exact)), "{exact}\n{screen}");
    assert!(screen.contains("DEMO_LOGIN=1 demo-login --now 'with space'"), "{screen}");
    s.quit(&place);
}

#[test]
fn an_agent_method_is_chosen_by_its_digit_and_the_held_prompt_goes_out() {
    let place = Place::new();
    let mut s = place.play("auth", SIZE);
    s.see("needs a log-in");
    s.prompt("are you there");
    s.see("queued until you are logged in: are you there");
    s.focus();
    s.send("1");
    s.see("signed in");
    s.see_no("needs a log-in");
    s.quit(&place);
}

#[test]
fn the_command_of_a_method_is_copied_with_c() {
    let place = Place::new();
    let mut s = place.play("auth", SIZE);
    s.see("needs a log-in");
    s.focus();
    for _ in 0..3 {
        s.send(DOWN);
    }
    s.send("c");
    s.see("copied the command");
    let bytes = s.bytes();
    let clipboard = super::bytes::assert_harmless(&bytes);
    let text = base64::engine::general_purpose::STANDARD.decode(&clipboard[0]).unwrap();
    assert_eq!(String::from_utf8(text).unwrap(), "DEMO_LOGIN=1 demo-login --now 'with space'");
    assert!(in_dock(&s.screen()), "{}", s.dump());
    s.send(ESC);
    s.see("Tab to answer");
    s.quit(&place);
}

#[test]
fn r_110_r_112_a_terminal_method_runs_here_and_the_prompt_that_waits_goes_out() {
    let place = Place::new();
    let mut s = play(&place, "");
    s.see("needs a log-in");
    s.prompt("are you there");
    s.see("queued until you are logged in");
    s.focus();
    s.send("1");
    let screen = s.see("type the code:");
    assert!(screen.contains("page of login.example"), "{screen}");
    assert!(screen.contains("typing into: the log-in"), "{screen}");
    // Away and back again: the keyboard is the log-in's only there.
    s.send(LEAVE);
    s.see("Its command runs in a terminal.");
    s.focus();
    s.send("c");
    s.see("copied the address");
    s.send("t");
    s.see("typing into: the log-in");
    s.send(TOKEN);
    s.send(ENTER);
    s.see("you are known");
    s.see_no("needs a log-in");
    // Not the first Ctrl+D, which could have been meant for the log-in.
    s.pass(STRAY);
    s.quit(&place);
    assert!(!kept(&place).contains(TOKEN), "what is typed there is written nowhere");
}

#[test]
fn r_111_a_terminal_method_that_ends_badly_can_be_tried_again_or_left() {
    let place = Place::new();
    let mut s = play(&place, "");
    s.see("needs a log-in");
    s.focus();
    s.send("1");
    s.see("type the code:");
    // Even Ctrl+C is the log-in's.
    s.send(CTRL_C);
    s.see("the log-in did not work: its command ended with killed by SIGINT");
    s.see("needs a log-in");
    // Keys that come just after its end were meant for it.
    s.pass(STRAY);
    s.focus();
    s.send("1");
    s.see("type the code:");
    s.send(LEAVE);
    s.focus();
    s.send("x");
    s.see("needs a log-in");
    s.quit(&place);
}

#[test]
fn r_104_values_of_variables_are_asked_for_and_said_nowhere() {
    let place = Place::new();
    let record = place.path("state").join("record.jsonl");
    let mut s = play(&place, "");
    s.see("needs a log-in");
    s.focus();
    s.send("2");
    s.see("A_KEY:");
    s.send(TOKEN);
    let screen = s.see("•••••••••••••••••");
    assert!(!screen.contains(TOKEN), "{screen}");
    s.see("Enter takes it, for this run only · Tab: in the system's keyring");
    s.send(TAB);
    s.see("Enter keeps it in the system's keyring · Tab: for this run only");
    s.send(TAB);
    s.see("Enter takes it, for this run only");
    s.send(ENTER);
    s.see_no("needs a log-in");
    s.prompt("are you there");
    s.see("you are known");
    s.quit(&place);
    let kept = kept(&place);
    assert!(kept.contains("the key is …"), "what the agent says of it is masked");
    assert!(!kept.contains(TOKEN) && !record.exists());
}

#[test]
fn a_person_may_log_in_from_the_list_of_options() {
    let place = Place::new();
    let script = "[agent]\nauth_methods = [{ id = \"web\", name = \"By browser\" }]\n[agent.capabilities]\nauth = { logout = {} }\n[agent.result]\nlogout = {}\n";
    let mut s = place.play(script, SIZE);
    s.ready();
    s.send(F2);
    s.see("log out");
    s.send("log in");
    s.send(ENTER);
    s.see("log in to Demo agent");
    s.send(TAB);
    s.armed();
    s.send("1");
    s.see("logged in: By browser");
    s.send(F2);
    s.send("log out");
    s.send(ENTER);
    s.see("logged out");
    s.quit(&place);
}

#[test]
fn a_log_in_that_takes_long_is_left_and_r_starts_again() {
    let place = Place::new();
    let script = r#"
[agent]
auth_required = true
silent = "authenticate"
auth_methods = [{ id = "browser", name = "By browser" }]
"#;
    let mut s = place.play(script, SIZE);
    s.see("needs a log-in");
    s.focus();
    s.send("1");
    s.see("logging in");
    s.see("By browser");
    // The keyboard stays with it, and with the ways to log in behind it.
    s.armed();
    s.send("x");
    s.see("needs a log-in");
    s.armed();
    s.send("r");
    s.see("starting the agent again");
    s.see("needs a log-in");
    s.quit(&place);
}

#[test]
fn r_100_a_prompt_that_is_refused_waits_and_is_sent_again() {
    let place = Place::new();
    let mut s = place.play("auth", (160, 60));
    s.see("needs a log-in");
    s.focus();
    s.send("1");
    s.ready();
    s.prompt("do it again");
    let screen = s.see("signed out meanwhile");
    assert!(screen.contains("queued until you are logged in: do it again"), "{screen}");
    s.focus();
    s.send("1");
    // It is refused again, and once more it is the person's turn.
    s.wait_for("a second try", |screen| screen.matches("not part of the conversation").count() >= 2);
    s.see("queued until you are logged in: do it again");
    s.quit(&place);
}

/// A program that shows pages, and where it says which.
fn pages(place: &Place) -> std::path::PathBuf {
    let seen = place.path("state").join("pages");
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    place.program(program, &format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >> {}\n", seen.display()));
    seen
}

#[test]
fn the_page_of_a_log_in_is_opened_only_on_a_key_and_only_where_its_host_is_certain() {
    for (address, is_opened) in [
        ("https://login.example/device?code=1234&x=$(touch%20y)", true),
        ("https://login.example@evil.example/", false),
        ("https://l\u{43e}gin.example/", false),
    ] {
        let place = Place::new();
        let seen = pages(&place);
        let script = format!(
            "[agent]\nauth_required = true\nauth_methods = [{{ id = \"web\", name = \"By browser\" }}]\n\
             [agent.error.\"session/new\"]\ncode = -32000\nmessage = \"visit {address}\"\n"
        );
        let mut s = place.play(&script, SIZE);
        s.see("needs a log-in");
        assert!(!seen.exists());
        s.focus();
        s.send("o");
        if is_opened {
            s.see("opening login.example");
            let page = format!("{address}\n");
            s.wait_for("the page", |_| std::fs::read_to_string(&seen).is_ok_and(|text| text == page));
        } else {
            s.see("not opened: its host may be another one");
            assert!(!seen.exists());
        }
        s.quit(&place);
    }
}

#[test]
fn a_thousand_methods_and_a_long_description_leave_the_screen_in_use() {
    let place = Place::new();
    let methods: Vec<String> = (1..=1000)
        .map(|n| {
            let description = if n == 1 { "word ".repeat(200_000) } else { String::new() };
            format!("{{ id = \"m{n}\", name = \"Method {n}\", description = \"{description}\" }}")
        })
        .collect();
    let script = format!("[agent]\nauth_required = true\nauth_methods = [{}]\n", methods.join(", "));
    let mut s = place.play(&script, SIZE);
    s.see("needs a log-in");
    s.prompt("are you there");
    s.see("queued until you are logged in");
    s.focus();
    // It is not on the screen: the first press goes there, the second takes it.
    s.send("3");
    s.see("3 Method 3");
    s.armed();
    s.send("3");
    s.see("logged in: Method 3");
    s.quit(&place);
}

/// What the command does to its own terminal, and how it ends, is nothing to the one that the person sits at.
#[test]
fn r_114_whatever_a_log_in_does_to_its_terminal_ours_stays_as_it_was() {
    let place = Place::new();
    let script = place.script(
        "[agent]\nauth_required = true\n\
         auth_methods = [{ id = \"tty\", name = \"By terminal\", type = \"terminal\", args = [\"login\"] }]\n",
    );
    let agent = place.program(
        "an-agent",
        &format!(
            "#!/bin/sh\nif [ \"$1\" = login ]; then\n\
             printf '\\033[?1049l\\033[?2004l\\033[?25l\\033]2;mine\\007\\033[?1003h'; stty raw -echo; printf asked\n\
             read -r x; kill -9 $$\nfi\nexec {BIN} demo-agent --fast --script {}\n",
            script.display()
        ),
    );
    let mut s = place.start(&["--", &agent.to_string_lossy()], SIZE);
    s.see("needs a log-in");
    let modes = s.modes();
    s.focus();
    s.send("1");
    s.see("asked");
    s.send(LEAVE);
    s.focus();
    s.send("x");
    s.see("needs a log-in");
    // The cursor is hidden while the dock has the keys.
    assert_eq!(s.modes() | TermMode::SHOW_CURSOR, modes | TermMode::SHOW_CURSOR);
    let shown = String::from_utf8_lossy(&s.bytes()).into_owned();
    for not_ours in ["\x1b[?1049l", "\x1b[?2004l", "\x1b]2;mine", "\x1b[?1003h"] {
        assert!(!shown.contains(not_ours), "{not_ours:?}");
    }
    s.quit(&place);
}
