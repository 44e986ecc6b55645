//! No program that runs a line allows more than the line does by itself, and no further rule that denies does.

use super::*;

/// The lines of the corpus that no wrapper changes, with the rules of their section.
fn plain_lines() -> Vec<(Vec<RuleRef>, String)> {
    let (mut found, mut list) = (Vec::new(), Vec::new());
    for line in CORPUS.lines() {
        if line.starts_with("== ") {
            list.clear();
        } else if let Some((_, line)) = line.split_once('\t') {
            let is_plain = |line: &str| !line.contains(['⏎', '\\', '\'', '`']) && !line.trim().is_empty();
            found.extend(is_plain(line).then(|| (list.clone(), line.to_owned())));
        } else if let Some((verdict, pattern)) = line.split_once(' ').filter(|_| !line.starts_with('#')) {
            list.push(rule(Verdict::named(verdict).unwrap(), pattern, None));
        }
    }
    found
}

fn judged(list: &[RuleRef], line: &str) -> Verdict {
    let mut rules = Rules::default();
    for rule in list {
        rules.add(rule.clone()).unwrap();
    }
    asked(&rules, "Bash", line, None).verdict
}

/// How often one judgement looks in the file system where a name leads.
fn looks(list: &[(Verdict, &str)], line: &str) -> (Judgement, usize) {
    let count = std::cell::Cell::new(0);
    let counted = |path: &Path| {
        count.set(count.get() + 1);
        links(path)
    };
    let (roots, tool) = ([PathBuf::from(ROOT)], Tool::named("Bash").unwrap());
    let request = Request {
        tool: &tool,
        subject: Subject::Line(line),
        cwd: Path::new(ROOT),
        roots: &roots,
        ours: &[],
        state: None,
        home: Some(Path::new("/home/me")),
        agent: None,
        now: 0,
        links: &counted,
        is_above: &is_above,
        names: &names,
        holds_key: &holds_key,
    };
    (judge(&rules(list), &request), count.get())
}

#[test]
fn a_chain_of_wrappers_costs_little_more_than_its_words_and_is_denied_or_asked() {
    let list = [(Verdict::Allow, "Bash"), (Verdict::Deny, "Bash(rm *)"), (Verdict::Deny, "Read(keys/**)")];
    let plain = |words: usize| looks(&list, &format!("cat {}", "a/b ".repeat(words))).1;
    for wrapper in [
        "xargs ",
        "timeout 5 ",
        "nice ",
        "nohup ",
        "env ",
        "sudo ",
        "eval ",
        "npx ",
        "A=1 eval ",
        "LC_ALL=C eval ",
        "sh -c ",
        "find . -exec ",
        "git submodule foreach ",
        "python -m ",
        "docker run ",
    ] {
        for inner in ["ls".to_owned(), format!("cat {}", "a/b ".repeat(900))] {
            let line = format!("{}{inner}", wrapper.repeat(400));
            let (given, count) = looks(&list, &line);
            assert_eq!(given.verdict, Verdict::Ask, "{wrapper}");
            let words = line.split(' ').count();
            assert!(count <= 4 * plain(words) + 2 * MAX_LOOKS, "{wrapper}: {count} for {words} words");
        }
        let (given, _) = looks(&list, &format!("{wrapper}rm {}", wrapper.repeat(400)));
        assert_ne!(given.verdict, Verdict::Allow, "{wrapper}");
    }
    for line in [
        format!("timeout 5 rm {}", "timeout 5 ".repeat(400)),
        format!("eval rm {}", "eval ".repeat(400)),
        format!("A=1 eval eval rm {}", "a/b ".repeat(1500)),
        format!("nice sh -c 'rm x' {}", "xargs ".repeat(1500)),
        format!("timeout 5 nice env xargs rm {}", "a/b ".repeat(1500)),
    ] {
        assert_eq!(looks(&list, &line).0.verdict, Verdict::Deny, "{line}");
    }
    // However many words: without programs that run programs each is looked at once.
    let many = format!("cat {}keys/a", "a/b ".repeat(2000));
    assert_eq!(looks(&list, &many).0.verdict, Verdict::Deny);
    let few = looks(&[(Verdict::Allow, "Bash")], &format!("timeout 5 nice cat {}", "a/b ".repeat(200))).0;
    assert_eq!(few.verdict, Verdict::Allow, "{few:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_wrapper_allows_more_than_the_line_in_it_and_no_deny_more_than_without_it(
        which in any::<prop::sample::Index>(),
        more in pattern(),
        is_ask in any::<bool>(),
        wrapper in prop::sample::select(&[
            "sh -c 'LINE'", "bash -lc -- 'LINE'", "bash -c -i 'LINE'", "sh -c -o posix 'LINE'", "bash +x -c 'LINE'",
            "rbash -c 'LINE'", "timeout 5 sh -c 'LINE'", "nice sh -c 'LINE'", "env sh -c 'LINE'", "eval 'LINE'",
            "timeout 5 LINE", "nice -n 5 LINE", "{ LINE⏎}", "if LINE⏎then echo⏎fi", "echo x | { LINE⏎}", "f() { LINE⏎}⏎f",
        ][..]),
    ) {
        static LINES: std::sync::LazyLock<Vec<(Vec<RuleRef>, String)>> = std::sync::LazyLock::new(plain_lines);
        assert!(LINES.len() > 600, "{}", LINES.len());
        let (mut list, line) = which.get(LINES.as_slice()).clone();
        let line = written_out(&line);
        // Only the first command of a line is behind the program that runs it.
        let is_one = !line.contains([';', '&', '|', '<', '>', '(', '{', '#', '!', '=']) || wrapper.contains(['\'', '⏎']);
        if is_one {
            let before = judged(&list, &line);
            let wrapped = wrapper.replace('⏎', "\n").replace("LINE", &line);
            let after = judged(&list, &wrapped);
            prop_assert!(after >= before || before == Verdict::Deny && after == Verdict::Ask, "{before:?} {after:?} {wrapped:?}");
        }
        let before = judged(&list, &line);
        list.push(rule(if is_ask { Verdict::Ask } else { Verdict::Deny }, more, None));
        let after = judged(&list, &line);
        prop_assert!(after >= before, "{before:?} {after:?} {line:?} {list:?}");
    }
}
