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
