//! Conventional names of signal numbers, such as `SIGKILL`.
//!
//! A table only: sends nothing and asks the system nothing. Invariant: every number has a text, and no number of this
//! system gets the name it has on another.

/// Numbers that mean the same on every Unix.
const COMMON: &[(i32, &str)] = &[
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
    (21, "SIGTTIN"),
    (22, "SIGTTOU"),
    (24, "SIGXCPU"),
    (25, "SIGXFSZ"),
    (26, "SIGVTALRM"),
    (27, "SIGPROF"),
    (28, "SIGWINCH"),
];

#[cfg(any(target_os = "linux", target_os = "android"))]
const HERE: &[(i32, &str)] = &[
    (7, "SIGBUS"),
    (10, "SIGUSR1"),
    (12, "SIGUSR2"),
    (16, "SIGSTKFLT"),
    (17, "SIGCHLD"),
    (18, "SIGCONT"),
    (19, "SIGSTOP"),
    (20, "SIGTSTP"),
    (23, "SIGURG"),
    (29, "SIGIO"),
    (30, "SIGPWR"),
    (31, "SIGSYS"),
];

#[cfg(not(any(target_os = "linux", target_os = "android")))]
const HERE: &[(i32, &str)] = &[
    (7, "SIGEMT"),
    (10, "SIGBUS"),
    (12, "SIGSYS"),
    (16, "SIGURG"),
    (17, "SIGSTOP"),
    (18, "SIGTSTP"),
    (19, "SIGCONT"),
    (20, "SIGCHLD"),
    (23, "SIGIO"),
    (29, "SIGINFO"),
    (30, "SIGUSR1"),
    (31, "SIGUSR2"),
];

/// `SIGKILL` for 9; `signal 40` for a number without a name.
pub fn name(number: i32) -> String {
    COMMON
        .iter()
        .chain(HERE)
        .find(|(n, _)| *n == number)
        .map_or_else(|| format!("signal {number}"), |(_, name)| (*name).to_owned())
}

/// 9 for `SIGKILL`, in letters of any size and also without `SIG`.
pub fn number(name: &str) -> Option<i32> {
    let name = name.to_ascii_uppercase();
    let bare = name.strip_prefix("SIG").unwrap_or(&name);
    COMMON.iter().chain(HERE).find(|(_, known)| known.strip_prefix("SIG") == Some(bare)).map(|(number, _)| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_text_and_no_two_share_it() {
        let names: std::collections::BTreeSet<_> = (0..70).map(name).collect();
        assert_eq!(names.len(), 70);
        assert_eq!((name(9), name(15), name(40)), ("SIGKILL".into(), "SIGTERM".into(), "signal 40".into()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_table_agrees_with_the_system() {
        use rustix::process::Signal;
        for (signal, text) in [
            (Signal::BUS, "SIGBUS"),
            (Signal::USR1, "SIGUSR1"),
            (Signal::STOP, "SIGSTOP"),
            (Signal::CHILD, "SIGCHLD"),
            (Signal::SYS, "SIGSYS"),
        ] {
            assert_eq!(name(signal.as_raw()), text);
        }
    }
}
