use super::*;
use crate::base::inherited::Inherited;
use crate::host::process::{AgentSpec, spawn};

#[test]
fn what_was_told_is_what_is_left_and_nothing_after_an_orderly_end() {
    let told = |text: &str| watch(text.as_bytes(), "");
    let left = told("holds 7777777\nholds 8888888\nterminal 3\nlets-go 7777777\nnonsense\nholds\n").unwrap();
    assert_eq!(left.groups.iter().map(|group| group.leader).collect::<Vec<_>>(), [8_888_888]);
    assert_eq!(left.terminal, 3);
    assert_eq!(told("terminal 1\nterminal 0\n").unwrap().terminal, 0);
    assert!(told("holds 7777777\nends\n").is_none());
    assert!(told("").is_none(), "it ended before it had started anything");
    let words = [Word::Holds(5), Word::Terminal(5)].map(|word| word.to_string());
    assert_eq!(told(&words.concat()).unwrap().terminal, 5);
}

#[tokio::test]
async fn a_group_that_does_not_listen_is_killed_and_that_of_another_process_is_not() {
    let spec = AgentSpec {
        command: "sh".into(),
        args: ["-c", "trap '' TERM; echo; while :; do read x; done"].map(Into::into).to_vec(),
        env: Vec::new(),
        cwd: std::env::temp_dir(),
        inherited: Inherited::default(),
        sandbox: None,
    };
    let mut agent = spawn(&spec).unwrap();
    let mut ready = [0];
    tokio::io::AsyncReadExt::read_exact(agent.stdout.as_mut().unwrap(), &mut ready).await.unwrap();
    let mut left = watch(format!("holds {}\n", agent.pid).as_bytes(), "").unwrap();
    if cfg!(target_os = "linux") {
        let began = left.groups[0].started.map(|ticks| ticks + 1);
        assert!(!Group { started: began, ..left.groups[0] }.is_there());
        assert!(!Group { started: None, ..left.groups[0] }.is_there());
    }
    assert!(left.is_alive());
    // The child is ours: it is gone for good once it is waited for.
    let ending = tokio::task::spawn_blocking(move || {
        left.signal(Signal::TERM);
        left.signal(Signal::KILL);
        left.groups.clear();
        left
    });
    let exit = agent.wait().await.unwrap();
    assert_eq!(exit.signal.as_deref(), Some("SIGKILL"));
    assert!(!ending.await.unwrap().is_alive());
}

/// A process that is taken for the guard here; that of the tests has none.
#[test]
fn the_end_of_the_guard_is_said_once_and_not_where_it_was_ended_in_good_order() {
    let (said, heard) = std::sync::mpsc::channel();
    for is_orderly in [true, false] {
        let sleeping = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let guard = Pid::from_child(&sleeping);
        let (_input, pipe) = pipe_to_guard().unwrap();
        *line() = Line::Open { pipe, guard };
        let said = said.clone();
        when_guard_is_gone(move |words| said.send(words).unwrap());
        if is_orderly {
            end_guard();
            assert!(heard.recv_timeout(Duration::from_millis(100)).is_err());
        } else {
            kill_process(guard, Signal::KILL).unwrap();
            assert_eq!(heard.recv_timeout(Duration::from_secs(20)), Ok(GUARD_GONE));
            assert!(matches!(*line(), Line::Off), "nobody is told anything any more");
            assert!(waitpid(Some(guard), WaitOptions::NOHANG).is_err(), "it is no zombie");
        }
    }
}
