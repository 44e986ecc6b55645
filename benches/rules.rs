//! How long a verdict takes at 1,000 rules: `cargo bench --bench rules`. Prints microseconds; asserts nothing.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use acp_tui::rules::{Request, RuleRef, Rules, Subject, Tool, Verdict, judge};
use std::path::{Path, PathBuf};
use std::time::Instant;

const ROUNDS: u32 = 2_000;

fn main() {
    let mut rules = Rules::default();
    for number in 0..1_000_usize {
        let (list, pattern) = match number % 4 {
            0 => (Verdict::Deny, format!("Bash(tool{number} *)")),
            1 => (Verdict::Ask, format!("Bash(npm run job{number}:*)")),
            2 => (Verdict::Allow, format!("Edit(src/{number}/**)")),
            _ => (Verdict::Allow, format!("Bash(git sub{number} *)")),
        };
        let rule = RuleRef {
            list,
            pattern,
            reason: None,
            agent: None,
            until: None,
            file: "rules.toml".into(),
            line: number + 1,
        };
        rules.add(rule).unwrap();
    }
    let git = RuleRef {
        list: Verdict::Allow,
        pattern: "Bash(git *)".into(),
        reason: None,
        agent: None,
        until: None,
        file: "rules.toml".into(),
        line: 1_001,
    };
    rules.add(git).unwrap();
    let tool = Tool::named("Bash").unwrap();
    let roots = [PathBuf::from("/w")];
    for line in
        ["git status", "git status && git diff | git log", "sh -c 'git status'", "git log > src/1/a", "sudo env git x"]
    {
        let (cwd, links) = (Path::new("/w"), |path: &Path| Some(path.to_path_buf()));
        let subject = Subject::Line(line);
        let is_above = |_: &Path| false;
        let request = Request {
            tool: &tool,
            subject,
            cwd,
            roots: &roots,
            ours: &[],
            state: None,
            home: None,
            agent: None,
            now: 0,
            links: &links,
            is_above: &is_above,
        };
        let start = Instant::now();
        for _ in 0..ROUNDS {
            std::hint::black_box(judge(&rules, std::hint::black_box(&request)));
        }
        let each = start.elapsed() / ROUNDS;
        println!("{:>8.1} µs  {line}", each.as_secs_f64() * 1e6);
    }
}
