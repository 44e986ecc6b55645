//! Tests of terminals with real processes. Nothing here waits for time: only for exits, hints and output.

use crate::base::inherited::Inherited;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, test_kill_process};

use super::registry::Share;
use super::terminal::KILL_GRACE;
use super::*;
use crate::base::exit::Exit;
use crate::text::grid::ScreenSnapshot;
use crate::text::run::AnsiColor;

/// Far more than anything here takes; only a failure waits this long.
const LONG: Duration = Duration::from_secs(20);

struct Rig {
    registry: Arc<Registry>,
    exits: Mutex<Receiver<(TermId, Exit)>>,
    hints: Mutex<Receiver<TermId>>,
}

impl Rig {
    fn new() -> Self {
        Self::with_shell(None)
    }

    fn with_shell(shell: Option<&str>) -> Self {
        let (exit_tx, exits) = channel();
        let (hint_tx, hints): (Sender<TermId>, _) = channel();
        let (exit_tx, hint_tx) = (Mutex::new(exit_tx), Mutex::new(hint_tx));
        let registry = Registry::new(
            shell.map(str::to_owned),
            Arc::new(move |id: &TermId| drop(hint_tx.lock().unwrap().send(id.clone()))),
            Arc::new(move |id: &TermId, fact: Exit| drop(exit_tx.lock().unwrap().send((id.clone(), fact)))),
        );
        Self { registry: Arc::new(registry), exits: Mutex::new(exits), hints: Mutex::new(hints) }
    }

    fn start(&self, line: &str) -> TermId {
        self.registry.create(&shell_line(line)).unwrap()
    }

    fn next_exit(&self) -> (TermId, Exit) {
        self.exits.lock().unwrap().recv_timeout(LONG).unwrap()
    }

    fn run(&self, spec: &TermSpec) -> Output {
        let id = self.registry.create(spec).unwrap();
        assert_eq!(self.next_exit().0, id);
        self.registry.output(&id).unwrap()
    }

    fn text(&self, line: &str) -> String {
        self.run(&shell_line(line)).text
    }

    /// Waits for hints until the terminal has printed what is wanted.
    fn await_screen(&self, id: &TermId, wanted: impl Fn(&ScreenSnapshot) -> bool) -> Arc<ScreenSnapshot> {
        let deadline = Instant::now() + LONG;
        loop {
            let snapshot = self.registry.snapshot(id).unwrap();
            if wanted(&snapshot) {
                return snapshot;
            }
            assert!(Instant::now() < deadline, "{:?}", texts(&snapshot));
            let _ = self.hints.lock().unwrap().recv_timeout(LONG);
        }
    }

    /// The process id that a command has printed on its first line.
    fn printed_pid(&self, id: &TermId) -> Pid {
        let pid = |s: &ScreenSnapshot| texts(s).iter().find_map(|row| row.strip_prefix("pid ")?.parse().ok());
        Pid::from_raw(pid(&self.await_screen(id, |s| pid(s).is_some())).unwrap()).unwrap()
    }
}

fn shell_line(line: &str) -> TermSpec {
    TermSpec {
        command: line.to_owned(),
        args: Vec::new(),
        env: Vec::new(),
        cwd: std::env::temp_dir(),
        cols: 80,
        rows: 24,
        reader: Reader::Agent,
        output_limit: None,
        inherited: Inherited::default(),
        sandbox: None,
    }
}

fn program(command: &str, args: &[&str]) -> TermSpec {
    TermSpec { args: args.iter().map(|&arg| arg.to_owned()).collect(), ..shell_line(command) }
}

fn limited(line: &str, limit: u64) -> TermSpec {
    TermSpec { output_limit: Some(limit), ..shell_line(line) }
}

fn texts(snapshot: &ScreenSnapshot) -> Vec<String> {
    snapshot.rows.iter().map(|row| row.as_str().to_owned()).collect()
}

fn code(code: i64) -> Exit {
    Exit { code: Some(code), signal: None }
}

fn signal(name: &str) -> Exit {
    Exit { code: None, signal: Some(name.to_owned()) }
}

/// Gone, or a zombie that only its new parent has to collect.
fn is_gone(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    test_kill_process(pid).is_err() || stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

fn await_gone(pid: Pid) {
    let deadline = Instant::now() + LONG;
    while !is_gone(pid) {
        assert!(Instant::now() < deadline, "{pid} lives");
        std::thread::yield_now();
    }
}

#[test]
fn r_384_plain_text_for_the_agent_and_colours_on_screen() {
    let rig = Rig::new();
    let id =
        rig.start("printf '\\033[31mred\\033[0m\\nnext\\n'; printf '\\033]0;title\\007\\033]52;c;ZXZpbA==\\007end'");
    assert_eq!(rig.next_exit(), (id.clone(), code(0)));
    let output = rig.registry.output(&id).unwrap();
    assert_eq!((output.text.as_str(), output.truncated, output.exit), ("red\nnext\nend", false, Some(code(0))));
    let snapshot = rig.registry.snapshot(&id).unwrap();
    assert_eq!(texts(&snapshot), ["red", "next", "end"]);
    assert_eq!(snapshot.rows[0].iter().next().unwrap().1.fg, Some(AnsiColor::Named(1)));
    assert_eq!(snapshot.cols, MIN_COLS);
}

#[test]
fn r_368_shell_line_or_program() {
    let rig = Rig::with_shell(Some("/usr/bin/fish"));
    assert_eq!(rig.text("echo a; echo b | tr b c"), "a\nc\n");
    assert_eq!(rig.run(&program("printf", &["%s|", "a b", "$HOME;*"])).text, "a b|$HOME;*|");
    assert_eq!(rig.run(&program("/bin/sh", &["-c", "exit 3"])).exit, Some(code(3)));
    assert_eq!(rig.run(&shell_line("surely-no-such-program")).exit, Some(code(127)));
    if std::path::Path::new("/bin/bash").exists() {
        let rig = Rig::with_shell(Some("/bin/bash"));
        assert_eq!(rig.text("echo ${BASH_VERSION:+bash}"), "bash\n");
    }
    let rig = Rig::with_shell(Some("/gone/bash"));
    assert_eq!(rig.text("echo works"), "works\n");
}

#[test]
fn r_367_r_369_environment() {
    let rig = Rig::new();
    let line = "echo $PAGER,$GIT_PAGER,$GIT_TERMINAL_PROMPT,$TERM,${PATH:+path},$X,$(stty size),$PWD";
    let mut spec = shell_line(line);
    spec.cwd = PathBuf::from("/");
    assert_eq!(rig.run(&spec).text, "cat,cat,0,xterm-256color,path,,24 100,/\n");
    let pairs = [("PAGER", "less"), ("X", "1"), ("X", "2"), ("TERM", "dumb")];
    spec.env = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    spec.cols = 132;
    assert_eq!(rig.run(&spec).text, "less,cat,0,dumb,path,2,24 132,/\n");
}

#[test]
fn a_command_gets_of_the_environment_what_it_may_have_and_what_it_is_given() {
    let rig = Rig::new();
    let mut spec = shell_line("echo ${HOME:+home},${CARGO_MANIFEST_DIR:+other},${PATH:+path},$CARGO_X");
    spec.env = vec![("CARGO_X".to_owned(), "given".to_owned())];
    spec.inherited = Inherited { only: Some(Vec::new()), without: Vec::new() };
    assert_eq!(rig.run(&spec).text, "home,,path,given\n");
    spec.inherited = Inherited { only: None, without: vec!["HO*".to_owned(), "CARGO_*".to_owned()] };
    assert_eq!(rig.run(&spec).text, ",,path,given\n");
}

#[test]
fn r_371_what_cannot_start_is_an_error() {
    let rig = Rig::new();
    let create = |spec: &TermSpec| rig.registry.create(spec).unwrap_err();
    let error = create(&program("surely-no-such-program", &["x"]));
    assert!(matches!(error, SpawnError::NotFound { .. }), "{error}");
    assert!(error.to_string().contains("No such file"), "{error}");
    assert!(matches!(create(&program("/no/such", &["x"])), SpawnError::NotFound { .. }));
    assert!(matches!(create(&program("/tmp", &["x"])), SpawnError::Os { .. }));
    let dir = tempfile::TempDir::new().unwrap();
    let script = dir.path().join("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    let script = script.to_str().unwrap();
    assert!(matches!(create(&program(script, &["x"])), SpawnError::Os { .. }), "not executable");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(script, mode).unwrap();
    assert!(matches!(create(&program(script, &["x"])), SpawnError::NotFound { .. }), "no interpreter");
    assert!(matches!(create(&shell_line(" ")), SpawnError::Invalid(_)));
    assert!(matches!(create(&shell_line("a\0b")), SpawnError::Invalid(_)));
    let named = |name: &str| TermSpec { env: vec![(name.into(), "x".into())], ..shell_line("true") };
    assert!(matches!(create(&named("A=B")), SpawnError::Invalid(_)));
    let within = |cwd: &str| TermSpec { cwd: cwd.into(), ..shell_line("true") };
    assert!(matches!(create(&within("/no/such/dir")), SpawnError::NotFound { .. }));
    assert!(matches!(create(&within("/dev/null")), SpawnError::Os { .. }));
    assert!(matches!(create(&within("relative")), SpawnError::Invalid(_)));
}

#[test]
fn r_365_ids_are_never_used_again() {
    let rig = Rig::new();
    let first = rig.start("true");
    rig.next_exit();
    assert!(rig.registry.release(&first));
    assert_ne!(rig.start("true"), first);
    rig.next_exit();
}

#[test]
fn r_377_to_r_381_the_end_is_kept_within_the_limit() {
    let rig = Rig::new();
    let output = rig.run(&limited("printf 'abcdefgh'", 3));
    assert_eq!((output.text.as_str(), output.truncated), ("fgh", true));
    // Three bytes a character: seven bytes hold two of them.
    let output = rig.run(&limited("printf '漢字漢字'", 7));
    assert_eq!((output.text.as_str(), output.truncated), ("漢字", true));
    let output = rig.run(&limited("printf 'abc'", 3));
    assert_eq!((output.text.as_str(), output.truncated), ("abc", false));
    let output = rig.run(&limited("printf 'abc'", 0));
    assert_eq!((output.text.as_str(), output.truncated), ("", true));
    let output = rig.run(&limited("true", 0));
    assert_eq!((output.text.as_str(), output.truncated), ("", false));
    let output = rig.run(&limited("printf 'x'", u64::MAX));
    assert_eq!((output.text.as_str(), output.truncated), ("x", false));
}

#[test]
fn r_383_characters_cut_by_reads_and_invalid_bytes() {
    let rig = Rig::new();
    // The half character must have arrived before the rest is typed.
    let id = rig.start("stty raw -echo; printf 'now:\\346\\274'; head -c 1 >/dev/null; printf '\\242:\\377:\\346'");
    rig.await_screen(&id, |s| texts(s).iter().any(|row| row.contains("now:")));
    assert!(rig.registry.input(&id, b"x"));
    assert_eq!(rig.next_exit().1, code(0));
    assert_eq!(rig.registry.output(&id).unwrap().text, "now:漢:\u{fffd}:\u{fffd}");
}

#[test]
fn r_374_both_streams_in_order() {
    let rig = Rig::new();
    assert_eq!(rig.text("echo 1; echo 2 >&2; echo 3; echo 4 >&2"), "1\n2\n3\n4\n");
}

#[test]
fn r_387_a_background_child_delays_the_exit_only_a_little() {
    let rig = Rig::new();
    let begin = Instant::now();
    // It ignores the hang-up that it gets when the shell ends, and holds the terminal open.
    let id = rig.start("trap '' HUP; (exec sleep 1000) & echo \"pid $!\"; echo hi");
    assert_eq!(rig.next_exit(), (id.clone(), code(0)));
    assert!(begin.elapsed() < DRAIN_GRACE + Duration::from_secs(3), "{:?}", begin.elapsed());
    assert!(rig.registry.output(&id).unwrap().text.ends_with("hi\n"));
    let child = rig.printed_pid(&id);
    if cfg!(target_os = "linux") {
        assert!(!is_gone(child));
        // killing an exited command changes nothing; leaving does.
        assert!(rig.registry.kill(&id));
        rig.registry.kill_all();
        await_gone(child);
    }
}

#[test]
fn r_388_signals_by_name_and_without_a_code() {
    let rig = Rig::new();
    for name in ["KILL", "TERM", "SEGV", "INT", "HUP"] {
        let output = rig.run(&shell_line(&format!("kill -{name} $$")));
        assert_eq!(output.exit, Some(signal(&format!("SIG{name}"))));
    }
    // A code beyond 128 is a code.
    assert_eq!(rig.run(&shell_line("exit 137")).exit, Some(code(137)));
}

#[test]
fn r_389_r_390_kill_keeps_the_id_and_is_idempotent() {
    let rig = Rig::new();
    let id = rig.start("echo before; exec sleep 1000");
    rig.await_screen(&id, |s| !s.rows.is_empty());
    assert_eq!(rig.registry.output(&id).unwrap().exit, None);
    assert_eq!(rig.registry.output(&id).map(|output| output.exit), Some(None));
    assert!(rig.registry.kill(&id) && rig.registry.kill(&id));
    assert_eq!(rig.next_exit(), (id.clone(), signal("SIGTERM")));
    assert!(rig.registry.kill(&id));
    let output = rig.registry.output(&id).unwrap();
    assert_eq!((output.text.as_str(), output.exit), ("before\n", Some(signal("SIGTERM"))));
    assert_eq!(rig.registry.output(&id).map(|output| output.exit), Some(Some(signal("SIGTERM"))));
    assert!(!rig.registry.input(&id, b"x"));
    assert!(!rig.registry.kill(&TermId("term-999".into())));
}

#[test]
fn r_391_polite_then_forcible() {
    let rig = Rig::new();
    let id = rig.start("trap '' TERM; echo ready; while :; do sleep 1000; done");
    rig.await_screen(&id, |s| !s.rows.is_empty());
    let begin = Instant::now();
    rig.registry.kill(&id);
    assert!(begin.elapsed() < KILL_GRACE, "kill does not wait");
    assert_eq!(rig.next_exit(), (id, signal("SIGKILL")));
    assert!(begin.elapsed() >= KILL_GRACE);
    // The child is `sh` once it says that it is ready: a copy of the first shell, between fork and exec, has its trap, too.
    let id = rig.start("trap 'echo bye; exit 5' TERM; sh -c 'echo ready; exec sleep 1000' & wait");
    rig.await_screen(&id, |s| !s.rows.is_empty());
    rig.registry.kill(&id);
    assert_eq!(rig.next_exit(), (id.clone(), code(5)));
    assert_eq!(rig.registry.output(&id).unwrap().text, "ready\nbye\n");
}

/// Many programs end at the first signal in good order and at the second at once.
#[test]
fn each_signal_is_sent_once() {
    let rig = Rig::new();
    for (number, name) in [(2, "INT"), (15, "TERM")] {
        let line = format!("trap 'echo got' {name}; echo ready; until read -r line && [ \"$line\" ]; do :; done");
        for _ in 0..20 {
            let id = rig.start(&line);
            rig.await_screen(&id, |s| !s.rows.is_empty());
            assert!(rig.registry.signal(&id, number));
            // Whatever was sent has arrived when this is read.
            assert!(rig.registry.input(&id, b"end\n"));
            rig.next_exit();
            let text = rig.registry.output(&id).unwrap().text;
            assert_eq!(text.matches("got").count(), 1, "{text}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn r_370_kill_reaches_groups_of_their_own_but_no_other_session() {
    let rig = Rig::new();
    // `set -m` gives each job a group of its own.
    let id = rig.start("set -m; (trap '' TERM HUP; exec sleep 1000) & echo \"pid $!\"; exec sleep 1000");
    let child = rig.printed_pid(&id);
    rig.registry.kill(&id);
    assert_eq!(rig.next_exit(), (id, signal("SIGTERM")));
    await_gone(child);
    let id = rig.start("setsid sh -c 'echo \"pid $$\"; exec sleep 1000' & exec sleep 1000");
    let moved = rig.printed_pid(&id);
    rig.registry.kill(&id);
    rig.next_exit();
    assert!(!is_gone(moved));
    rustix::process::kill_process(moved, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn r_392_to_r_394_release_kills_and_keeps_the_screen() {
    let rig = Rig::new();
    let id = rig.start("echo shown; exec sleep 1000");
    rig.await_screen(&id, |s| !s.rows.is_empty());
    assert!(rig.registry.release(&id));
    assert!(!rig.registry.release(&id) && !rig.registry.kill(&id));
    assert!(rig.registry.output(&id).is_none());
    assert_eq!(rig.next_exit(), (id.clone(), signal("SIGTERM")));
    assert_eq!(texts(&rig.registry.snapshot(&id).unwrap()), ["shown"]);
}

#[test]
fn r_396_kill_all_leaves_nothing_and_ends_it() {
    let rig = Rig::new();
    let ids: Vec<_> =
        (0..4).map(|_| rig.start("trap '' TERM HUP; echo \"pid $$\"; while :; do sleep 1000; done")).collect();
    let pids: Vec<_> = ids.iter().map(|id| rig.printed_pid(id)).collect();
    rig.registry.kill_all();
    pids.into_iter().for_each(await_gone);
    assert_eq!(rig.registry.output(&ids[0]).map(|output| output.exit), Some(Some(signal("SIGKILL"))));
    assert!(rig.registry.create(&shell_line("true")).is_err());
}

#[test]
fn r_398_sixty_four_at_once() {
    let rig = Rig::new();
    let ids: Vec<_> = (0..64).map(|n| rig.start(&format!("echo number {n}; read line; echo got $line"))).collect();
    for (n, id) in ids.iter().enumerate() {
        rig.await_screen(id, |s| texts(s).first().is_some_and(|row| *row == format!("number {n}")));
        assert_eq!(rig.registry.output(id).map(|output| output.exit), Some(None));
    }
    for id in &ids {
        assert!(rig.registry.input(id, b"go\n"));
    }
    for _ in &ids {
        assert_eq!(rig.next_exit().1, code(0));
    }
    for (n, id) in ids.iter().enumerate() {
        assert_eq!(rig.registry.output(id).unwrap().text, format!("number {n}\ngo\ngot go\n"));
    }
}

#[test]
fn r_373_a_limit_with_a_clear_message() {
    let rig = Rig::new();
    let ids: Vec<_> = (0..MAX_RUNNING).map(|_| rig.start("read line")).collect();
    let error = rig.registry.create(&shell_line("read line")).unwrap_err();
    assert_eq!(error.to_string(), "256 terminals are running already; kill or release one first");
    assert!(rig.registry.release(&ids[0]));
    assert_eq!(rig.next_exit().0, ids[0]);
    assert!(rig.registry.create(&shell_line("read line")).is_ok());
    rig.registry.kill_all();
}

#[test]
fn many_that_flood_keep_less_each_and_one_that_says_little_is_heard() {
    let rig = Rig::new();
    let first = rig.start("exec yes");
    let rows = rig.await_screen(&first, |screen| screen.dropped_rows > 0).rows.len();
    assert!(rows > 2000, "alone it has all: {rows}");
    for _ in 0..8 {
        rig.start("exec yes");
    }
    // Nine count as sixteen.
    let rows = rig.registry.snapshot(&first).unwrap().rows.len();
    assert!(rows <= 8 * 2000 / 16 + 24, "{rows}");
    let id = rig.start("echo heard; seq 100 | tail -1");
    let (ended, exit) = rig.next_exit();
    assert_eq!((ended, exit, rig.registry.output(&id).unwrap().text), (id, code(0), "heard\n100\n".to_owned()));
    rig.registry.kill_all();
}

#[test]
fn a_smaller_share_counts_for_what_was_printed_before() {
    let rig = Rig::new();
    let id = rig.start("head -c 10000 /dev/zero | tr '\\0' x; echo end; read line; echo later");
    rig.await_screen(&id, |screen| texts(screen).last().is_some_and(|row| row.ends_with("end")));
    rig.registry.share(Share { bytes: 5000, rows: 0 });
    let kept = || rig.registry.output(&id).map(|output| (output.text.len(), output.truncated));
    assert_eq!(kept(), Some((5000, true)));
    rig.registry.share(Share { bytes: 20_000, rows: 2000 });
    rig.registry.input(&id, b"\n");
    rig.next_exit();
    assert_eq!(kept(), Some((5000 + "\nlater\n".len(), true)));
}

#[test]
fn what_floods_is_not_read_any_more_once_all_is_over() {
    let rig = Rig::new();
    let ids: Vec<_> = (0..8).map(|_| rig.start("trap '' HUP; yes & exec yes")).collect();
    for id in &ids {
        rig.await_screen(id, |screen| screen.dropped_rows > 0);
    }
    rig.registry.kill_all();
    let texts = || ids.iter().map(|id| rig.registry.output(id).unwrap()).collect::<Vec<_>>();
    let told: Vec<_> = ids.iter().map(|_| rig.next_exit().1).collect();
    assert!(told.iter().all(|exit| *exit == signal("SIGKILL")), "{told:?}");
    assert_eq!(texts(), texts());
}

#[test]
fn r_385_hints_until_the_last_change() {
    let rig = Rig::new();
    let id = rig.start("echo first; read x; echo second");
    rig.await_screen(&id, |s| texts(s) == ["first"]);
    rig.registry.input(&id, b"\n");
    rig.await_screen(&id, |s| texts(s).last().is_some_and(|row| row == "second"));
    rig.next_exit();
    let one = rig.registry.snapshot(&id).unwrap();
    assert!(Arc::ptr_eq(&one, &rig.registry.snapshot(&id).unwrap()), "an unchanged screen is not made again");
}

#[test]
fn queries_of_the_program_are_answered() {
    let rig = Rig::new();
    let id = rig.start("stty raw -echo; printf '\\033[6n'; head -c 6 | od -An -c");
    assert_eq!(rig.next_exit().1, code(0));
    assert_eq!(rig.registry.output(&id).unwrap().text.split_whitespace().collect::<String>(), "033[1;1R");
}

#[test]
fn resizing_reaches_the_program() {
    let rig = Rig::new();
    let id = rig.start("trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.05; done");
    rig.await_screen(&id, |s| !s.rows.is_empty());
    rig.registry.resize(&id, 133, 30);
    rig.next_exit();
    assert_eq!(rig.registry.output(&id).unwrap().text, "ready\n30 133\n");
    assert_eq!(rig.registry.snapshot(&id).unwrap().cols, 133);
}

#[test]
fn r_382_a_flood_is_bounded() {
    let rig = Rig::new();
    // Three times what is kept of the text, eighty times what is kept of the rows: more would only take longer, in
    // the time of every test that runs beside this one.
    let output = rig.run(&shell_line("yes 'a line of a flood' | head -c 3000000; echo; echo the end"));
    assert!(output.truncated && output.text.len() <= 1024 * 1024);
    assert!(output.text.ends_with("the end\n"));
    let snapshot = rig.registry.snapshot(&TermId("term-1".into())).unwrap();
    assert!(snapshot.rows.len() <= 2024 && snapshot.dropped_rows > 160_000, "{}", snapshot.dropped_rows);
}

#[test]
fn what_agents_never_release_is_bounded() {
    let rig = Rig::new();
    let line = "head -c 10000 /dev/zero | tr '\\0' x; echo end";
    let ids: Vec<_> = (0..3)
        .map(|_| {
            let id = rig.start(line);
            rig.next_exit();
            id
        })
        .collect();
    rig.registry.tidy(25_000);
    let kept = |id| {
        let output = rig.registry.output(id).unwrap();
        assert!(output.text.ends_with("end\n") && output.exit.is_some());
        (output.text.len(), output.truncated)
    };
    assert_eq!(ids.iter().map(kept).collect::<Vec<_>>(), [(4096, true), (10_004, false), (10_004, false)]);
}

#[test]
fn released_screens_are_bounded_and_the_newest_stay() {
    let rig = Rig::new();
    let ids: Vec<_> = (0..70).map(|_| rig.start("echo x")).collect();
    for _ in &ids {
        rig.next_exit();
    }
    for id in &ids {
        assert!(rig.registry.release(id));
    }
    rig.registry.tidy(0);
    let kept: Vec<_> = ids.iter().filter(|id| rig.registry.snapshot(id).is_some()).collect();
    assert_eq!(kept, ids.iter().skip(6).collect::<Vec<_>>());
}
