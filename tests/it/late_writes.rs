//! Writes through the client that are under way when it is cut short: whatever of them has happened is taken back.

use crate::exec::support::{Lab, Running, wait_until};
use rustix::process::Signal;
use std::process::Stdio;

const FILES: usize = 5;

fn was(n: usize) -> String {
    format!("precious {n}\n")
}

/// One write after the other, round and round, of texts that are no two alike.
fn steps() -> String {
    let step = |n: usize| {
        let text = format!("line {n} of the agent\\n").repeat(4000);
        format!("{{ do = \"write\", path = \"f{}\", text = \"{text}\", tool = \"w{n}\" }},\n", n % FILES)
    };
    (0..60).map(step).collect()
}

#[test]
fn what_was_written_when_the_client_was_cut_short_is_taken_back() {
    for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
        for nth in [0, 3] {
            let lab = Lab::new();
            (0..FILES).for_each(|n| drop(lab.write(&format!("work/f{n}"), &was(n))));
            let path = |n: usize| lab.path(&format!("work/f{n}"));
            let running = lab.start(&["go", "--allow", "all"], &lab.turn(&steps()));
            wait_until("the first writes", || std::fs::metadata(path(nth)).unwrap().len() > 20);
            running.signal(signal);
            running.finish_unread();
            let undone = || {
                let mut command = lab.program();
                command.args(["undo", "last", "--yes"]);
                Running::start(command, Stdio::null()).finish()
            };
            undone().assert_code(0);
            for n in 0..FILES {
                let text = std::fs::read_to_string(path(n)).unwrap();
                assert_eq!(text.get(..20.min(text.len())).unwrap_or_default(), was(n), "{signal:?}, {nth}: f{n}");
            }
            let names = std::fs::read_dir(lab.cwd()).unwrap().flatten().map(|entry| entry.file_name());
            assert_eq!(names.filter(|name| name.to_string_lossy().starts_with(".acp-tui-")).count(), 0, "{signal:?}");
        }
    }
}
