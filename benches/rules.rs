//! How long a verdict takes at 10, 100 and 1,000 rules: `cargo bench --bench rules`. Prints microseconds; asserts nothing.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use acp_tui::rules::{Request, RuleRef, Rules, Subject, Tool, Verdict, judge};
use std::path::{Path, PathBuf};
use std::time::Instant;

const ROUNDS: u32 = 2_000;

/// So many rules, of all lists, one of them for git.
fn rules(count: usize) -> Rules {
    let mut rules = Rules::default();
    for number in 0..count {
        let (list, pattern) = match number % 8 {
            _ if number + 1 == count => (Verdict::Allow, "Bash(git *)".to_owned()),
            0 | 4 => (Verdict::Deny, format!("Bash(tool{number} *)")),
            1 => (Verdict::Ask, format!("Bash(npm run job{number}:*)")),
            2 => (Verdict::Allow, format!("Edit(src/{number}/**)")),
            5 => (Verdict::Deny, format!("Edit(gen/{number}/**)")),
            6 => (Verdict::Deny, format!("Read(private/{number}/**)")),
            _ => (Verdict::Allow, format!("Bash(git sub{number} *)")),
        };
        let rule = RuleRef { list, pattern, file: "rules.toml".into(), line: number + 1, ..RuleRef::default() };
        rules.add(rule).unwrap();
    }
    rules
}

fn main() {
    let all = [10, 100, 1_000].map(rules);
    let roots = [PathBuf::from("/w")];
    for (tool, text) in [
        ("Bash", "git status"),
        ("Bash", "git status && git diff | git log"),
        ("Bash", "sh -c 'git status'"),
        ("Bash", "git log > src/2/a"),
        ("Bash", "git add src/2/a.rs src/2/b.rs"),
        ("Bash", "sudo env git x"),
        ("Edit", "src/2/a.rs"),
        ("Edit", "other/a.rs"),
    ] {
        let named = Tool::named(tool).unwrap();
        let paths = [Path::new(text)];
        let request = Request {
            tool: &named,
            subject: if tool == "Bash" { Subject::Line(text) } else { Subject::Paths(&paths) },
            cwd: Path::new("/w"),
            roots: &roots,
            ours: &[],
            state: None,
            home: None,
            agent: None,
            now: 0,
            links: &|path| Some(path.to_path_buf()),
            is_above: &|_| false,
            names: &|_| Some(Vec::new()),
            holds_key: &|_| false,
        };
        let each = all.each_ref().map(|rules| {
            let start = Instant::now();
            for _ in 0..ROUNDS {
                std::hint::black_box(judge(rules, std::hint::black_box(&request)));
            }
            (start.elapsed() / ROUNDS).as_secs_f64() * 1e6
        });
        println!("{:>8.1} {:>8.1} {:>8.1} µs  {tool} {text}", each[0], each[1], each[2]);
    }
}
