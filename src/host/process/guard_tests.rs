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

#[test]
fn the_end_of_a_process_is_waited_for_and_left_to_be_told_to_others() {
    let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let pid = Pid::from_child(&child);
    let waiting = std::thread::spawn(move || wait_for(pid));
    child.kill().unwrap();
    waiting.join().unwrap();
    assert!(!child.wait().unwrap().success());
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
