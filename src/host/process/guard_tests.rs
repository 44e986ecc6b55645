use super::*;
use crate::base::exit::Exit;
use crate::base::inherited::Inherited;
use crate::host::process::{AgentProcess, AgentSpec, spawn};

#[test]
fn what_was_told_is_what_is_left_and_nothing_after_an_orderly_end() {
    let told = |text: &str| watch(text.as_bytes(), "");
    let left = told("holds 7777777 5\nholds 8888888 -\nterminal 3\nlets-go 7777777\nnonsense\nholds\n").unwrap();
    assert_eq!(left.groups.iter().map(|group| group.leader).collect::<Vec<_>>(), [8_888_888]);
    assert_eq!(left.terminal, 3);
    assert_eq!(told("terminal 1\nterminal 0\n").unwrap().terminal, 0);
    assert!(told("holds 7777777 5\nends\n").is_none());
    assert!(told("").is_none(), "it ended before it had started anything");
    let words = [Word::Holds(Group::of(5)), Word::Terminal(5)].map(|word| word.to_string());
    assert_eq!(told(&words.concat()).unwrap().terminal, 5);
}

#[test]
fn a_guard_that_takes_the_place_of_another_one_knows_what_that_one_knew() {
    let mut left = Left::default();
    let (one, gone) =
        (Group { leader: 7_777_777, started: Some(u64::MAX) }, Group { leader: 8_888_888, started: None });
    for word in [Word::Holds(one), Word::Holds(gone), Word::Holds(Group { leader: 3, ..one }), Word::LetsGo(3)] {
        left.hear(word);
    }
    left.hear(Word::Terminal(9));
    let program = Lent { pid: 7_777_777, started: Some(u64::MAX) };
    left.hear(Word::Lends(program));
    let other = watch(left.words().as_bytes(), "").unwrap();
    assert_eq!((&other.groups[..], other.program, other.terminal), (&[one, gone][..], Some(program), 9));
    assert!(!other.borrowers().is_alive());
    left.hear(Word::LetsGo(program.pid));
    assert_eq!(watch(left.words().as_bytes(), "").unwrap().program, None);

    left.groups = vec![Group { leader: i32::MAX, started: Some(u64::MAX) }; MAX_GROUPS];
    assert!(left.words().len() < 1 << 16, "a pipe takes it without waiting");
    left.hear(Word::Holds(one));
    assert_eq!(left.groups, [one], "those that have ended make room for it");
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

/// A group of processes that runs this line of a shell, once it has said that it is ready.
async fn group(line: &str) -> AgentProcess {
    let spec = AgentSpec {
        command: "sh".into(),
        args: ["-c", line].map(Into::into).to_vec(),
        env: Vec::new(),
        cwd: std::env::temp_dir(),
        inherited: Inherited::default(),
        sandbox: None,
    };
    let mut agent = spawn(&spec).unwrap();
    let mut ready = [0];
    tokio::io::AsyncReadExt::read_exact(agent.stdout.as_mut().unwrap(), &mut ready).await.unwrap();
    agent
}

async fn ended_within_a_while(agent: &mut AgentProcess) -> Exit {
    tokio::time::timeout(Duration::from_secs(20), agent.wait()).await.expect("it was ended").unwrap()
}

#[tokio::test]
async fn who_listens_is_waited_for_and_who_does_not_is_killed_after_two_seconds() {
    let asked = "trap 'exit 7' TERM; echo; while read x; do :; done";
    let deaf = "trap '' TERM; echo; while read x; do :; done";
    for (line, ended, least, most) in [
        (asked, (Some(7), None), Duration::ZERO, GRACE),
        (deaf, (None, Some("SIGKILL")), GRACE, Duration::from_secs(6)),
    ] {
        let mut agent = group(line).await;
        let left = watch(Word::Holds(Group::of(agent.pid)).to_string().as_bytes(), "").unwrap();
        let began = Instant::now();
        let ending = tokio::task::spawn_blocking(move || {
            left.end();
            began.elapsed()
        });
        let exit = ended_within_a_while(&mut agent).await;
        assert_eq!((exit.code, exit.signal.as_deref()), ended, "{line}");
        let took = ending.await.unwrap();
        assert!((least..most).contains(&took), "{line}: {took:?}");
    }
}

#[tokio::test]
async fn the_group_of_another_process_with_the_same_number_is_not_ended() {
    let mut agent = group("echo; while read x; do :; done").await;
    let left = watch(Word::Holds(Group::of(agent.pid)).to_string().as_bytes(), "").unwrap();
    assert!(left.is_alive());
    if cfg!(target_os = "linux") {
        let began = left.groups[0].started.map(|ticks| ticks + 1);
        for started in [began, None] {
            let other = Left { groups: vec![Group { started, ..left.groups[0] }], ..Left::default() };
            assert!(!other.is_alive());
            other.end();
        }
        assert!(left.is_alive(), "it was another one's");
    }
    let ending = tokio::task::spawn_blocking(move || left.end());
    assert_eq!(ended_within_a_while(&mut agent).await.signal.as_deref(), Some("SIGTERM"));
    ending.await.unwrap();
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_program_that_has_the_terminal_ends_with_what_it_has_started_and_nothing_else_of_its_group() {
    // The group is that of another one, as it is the client's.
    let mut agent = group("sh -c 'sleep 1000 & trap \"\" TERM; echo $$; while :; do sleep 1; done' & read x").await;
    let mut rest = String::new();
    let mut out = tokio::io::BufReader::new(agent.stdout.take().unwrap());
    tokio::io::AsyncBufReadExt::read_line(&mut out, &mut rest).await.unwrap();
    let first = agent.pid;
    let child = std::fs::read_to_string(format!("/proc/{first}/task/{first}/children")).unwrap();
    let program: i32 = child.split_whitespace().next().unwrap().parse().unwrap();
    let left = watch(Word::Lends(Lent::of(program)).to_string().as_bytes(), "").unwrap();
    let borrowers = left.borrowers();
    assert!(borrowers.is_alive());
    let other = Lent { started: marked::started(program).map(|ticks| ticks + 1), pid: program };
    assert!(!Borrowers::look(Some(other), GRACE).is_alive(), "another one with its number");
    tokio::task::spawn_blocking(move || left.end()).await.unwrap();
    assert!(!borrowers.is_alive());
    assert!(agent.try_wait().unwrap().is_none(), "the other one of its group goes on");
}

#[tokio::test]
async fn a_group_that_nobody_has_let_go_of_is_killed_and_one_with_its_number_is_not() {
    let mut agent = group("trap '' TERM; echo; while read x; do :; done").await;
    let of = Group::of(agent.pid);
    kill(&[Group { started: of.started.map(|at| at + 1), ..of }]);
    assert!(agent.try_wait().unwrap().is_none(), "another process may have its number");
    kill(&[of]);
    assert_eq!(ended_within_a_while(&mut agent).await.signal.as_deref(), Some("SIGKILL"));
}
