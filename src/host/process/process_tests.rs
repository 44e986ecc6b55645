use super::family::Family;
use super::*;
use crate::base::exit::Exit;
use crate::base::inherited::Inherited;
use rustix::process::{Pid, Signal};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::ChildStdout;
use tokio::time::{Instant, sleep};

const QUICK: Graces = Graces { stdin: Duration::from_millis(100), term: Duration::from_millis(100) };
/// Long enough never to be reached: the test hangs visibly instead of passing by luck.
const PATIENT: Graces = Graces { stdin: Duration::from_mins(1), term: Duration::from_mins(1) };

fn sh(script: &str) -> AgentProcess {
    spawn(&spec("sh", &["-c", script])).unwrap()
}

fn spec(command: &str, args: &[&str]) -> AgentSpec {
    AgentSpec {
        command: command.into(),
        args: args.iter().map(Into::into).collect(),
        env: vec![("ACP_TEST".to_owned(), "x y".to_owned())],
        cwd: std::env::temp_dir(),
        inherited: Inherited::default(),
        sandbox: None,
    }
}

/// The first line the agent prints: it has then set up what the test needs.
async fn first_line(agent: &mut AgentProcess) -> (String, BufReader<ChildStdout>) {
    let mut reader = BufReader::new(agent.stdout.take().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).await.unwrap();
    (line.trim().to_owned(), reader)
}

#[tokio::test]
async fn an_agent_gets_of_the_environment_what_it_may_have_and_what_it_is_given() {
    let line = "echo ${HOME:+home},${CARGO_MANIFEST_DIR:+other},${PATH:+path},$ACP_TEST; read x";
    let own = || spec("sh", &["-c", line]);
    let without = Inherited { only: None, without: ["HO*", "CARGO_*", "ACP_*"].map(str::to_owned).to_vec() };
    let only = Inherited { only: Some(vec!["OTHER".to_owned()]), without: Vec::new() };
    for (inherited, said) in [(without, ",,path,x y"), (only, "home,,path,x y")] {
        let mut agent = spawn(&AgentSpec { inherited, ..own() }).unwrap();
        assert_eq!(first_line(&mut agent).await.0, said);
    }
}

fn is_alive(pid: &str) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat.rsplit_once(')').unwrap().1.trim_start().starts_with(['Z', 'X']),
        Err(_) => {
            cfg!(not(target_os = "linux"))
                && rustix::process::test_kill_process(Pid::from_raw(pid.parse().unwrap()).unwrap()).is_ok()
        }
    }
}

async fn wait_dead(pid: &str) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while is_alive(pid) {
        assert!(Instant::now() < deadline, "{pid} is still alive");
        sleep(Duration::from_millis(5)).await;
    }
}

/// Who is left, but for the one that another test leaves on purpose: all tests of this program bear the same mark.
fn own(report: &ShutdownReport) -> Vec<i32> {
    report.survivors.iter().filter(|s| !s.command.contains("sleep 1001")).map(|s| s.pid).collect()
}

#[tokio::test]
async fn codes_and_signals_are_told() {
    let mut agent = sh("exit 3");
    let exit = agent.wait().await.unwrap();
    assert_eq!((exit.to_string().as_str(), exit.code), ("exit 3", Some(3)));
    assert_eq!(agent.wait().await.unwrap(), exit);
    assert_eq!(agent.try_wait().unwrap(), Some(exit));
    let exit = sh("kill -KILL $$").wait().await.unwrap();
    assert_eq!(exit.to_string(), "killed by SIGKILL");
    assert_eq!(exit, Exit { code: None, signal: Some("SIGKILL".to_owned()) });
}

#[tokio::test]
async fn r_056_arguments_are_not_read_by_a_shell_and_the_environment_arrives() {
    let mut agent = spawn(&spec("sh", &["-c", "printf '%s|' \"$@\" \"$ACP_TEST\"; pwd -P", "sh", "$HOME; *"])).unwrap();
    let mut text = String::new();
    agent.stdout.take().unwrap().read_to_string(&mut text).await.unwrap();
    let cwd = std::env::temp_dir().canonicalize().unwrap();
    assert_eq!(text, format!("$HOME; *|x y|{}\n", cwd.display()));
}

#[tokio::test]
async fn r_057_the_agent_leads_a_group_of_its_own() {
    let agent = sh("exec sleep 1000");
    let pid = Pid::from_raw(agent.pid).unwrap();
    assert_eq!(rustix::process::getpgid(Some(pid)).unwrap(), pid);
}

#[tokio::test]
async fn what_went_wrong_at_the_start_is_told_apart() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("agent");
    let path = file.to_str().unwrap().to_owned();
    std::fs::write(&file, "#!/no/such/interpreter\n").unwrap();
    assert!(matches!(spawn(&spec(&path, &[])), Err(SpawnError::NotExecutable { .. })));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(matches!(spawn(&spec(&path, &[])), Err(SpawnError::NoInterpreter { .. })));
    assert!(matches!(spawn(&spec("no-such-agent-anywhere", &[])), Err(SpawnError::NotFound { .. })));
    assert!(matches!(spawn(&spec("a\0b", &[])), Err(SpawnError::Other { .. })));
    let lost = AgentSpec { cwd: dir.path().join("gone"), ..spec("sh", &[]) };
    assert!(spawn(&lost).unwrap_err().to_string().contains("gone"));
}

#[tokio::test]
async fn r_058_an_agent_that_ends_with_its_input_needs_nothing() {
    let mut agent = sh("cat; exit 5");
    let mut stdin = agent.stdin.take().unwrap();
    stdin.write_all(b"x\n").await.unwrap();
    let (line, _out) = first_line(&mut agent).await;
    assert_eq!(line, "x");
    drop(stdin);
    let report = agent.shutdown(PATIENT).await;
    assert_eq!(report.needed, Needed::Nothing);
    assert_eq!(own(&report), [0; 0]);
    assert_eq!(report.exit.unwrap().code, Some(5));
}

#[tokio::test]
async fn r_058_an_agent_that_stays_is_asked() {
    let mut agent = sh("echo ready; exec sleep 1000");
    let (_, _out) = first_line(&mut agent).await;
    let report = agent.shutdown(Graces { stdin: QUICK.stdin, ..PATIENT }).await;
    assert_eq!(report.needed, Needed::Term);
    assert_eq!(report.exit.unwrap().to_string(), "killed by SIGTERM");
}

#[tokio::test]
async fn r_058_fact_23_an_agent_that_does_not_listen_is_killed_with_its_children() {
    let mut agent = sh("trap '' TERM; sleep 1000 & echo $!; wait; while :; do sleep 1000; done");
    let (grandchild, _out) = first_line(&mut agent).await;
    assert!(is_alive(&grandchild));
    let report = agent.shutdown(QUICK).await;
    assert_eq!(report.needed, Needed::Kill);
    assert_eq!(own(&report), [0; 0]);
    assert_eq!(report.exit.unwrap().to_string(), "killed by SIGKILL");
    assert!(!is_alive(&grandchild));
}

#[tokio::test]
async fn children_an_agent_left_behind_are_ended_too() {
    let mut agent = sh("sleep 1000 & echo $!; exit 0");
    let (child, _out) = first_line(&mut agent).await;
    assert_eq!(agent.wait().await.unwrap().code, Some(0));
    assert!(is_alive(&child));
    let report = agent.shutdown(Graces { stdin: QUICK.stdin, ..PATIENT }).await;
    assert_eq!(report.needed, Needed::Term);
    assert!(!is_alive(&child));
}

#[tokio::test]
async fn dropping_kills_the_group_even_after_the_leader_ended() {
    let mut agent = sh("sleep 1000 & echo $!; wait");
    let (child, _out) = first_line(&mut agent).await;
    let leader = agent.pid.to_string();
    drop(agent);
    wait_dead(&child).await;
    wait_dead(&leader).await;

    let mut agent = sh("sleep 1000 & echo $!");
    let (child, _out) = first_line(&mut agent).await;
    agent.wait().await.unwrap();
    drop(agent);
    wait_dead(&child).await;
}

#[tokio::test]
async fn a_group_that_is_gone_gets_no_signal() {
    let mut agent = sh("exit 0");
    agent.wait().await.unwrap();
    assert!(agent.group_gone);
    assert_eq!(agent.group(), None);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn r_058_a_process_that_moved_away_is_named() {
    let mut agent = sh("setsid sleep 1001 & sleep 1000 & echo $!; wait");
    let (_, _out) = first_line(&mut agent).await;
    // Until it has moved, it would be ended with the group.
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut family = Family::default();
    let away = loop {
        family.look(agent.pid);
        let moved = family.alive().into_iter().find(|s| {
            let own = Pid::from_raw(s.pid);
            own.is_some() && rustix::process::getpgid(own).is_ok_and(|group| Some(group) == own)
        });
        if let Some(moved) = moved {
            break moved.pid;
        }
        assert!(Instant::now() < deadline);
        sleep(Duration::from_millis(5)).await;
    };
    let report = agent.shutdown(QUICK).await;
    // Other tests of this program bear the same mark.
    let named = report.survivors.iter().find(|s| s.pid == away);
    assert!(named.is_some_and(|s| s.command.contains("sleep 1001")), "{report:?}");
    rustix::process::kill_process(Pid::from_raw(away).unwrap(), Signal::KILL).unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_one_agent_has_left_that_has_died_ends_and_what_is_of_another_stays() {
    let moves = |traps: &str| format!("setsid sh -c '{traps}echo $$; while :; do sleep 1000; done' & sleep 1000");
    let (mut dead, mut deaf, mut other) = (sh(&moves("")), sh(&moves("trap \"\" TERM; ")), sh(&moves("")));
    let (of_dead, _out) = first_line(&mut dead).await;
    let (of_deaf, _out) = first_line(&mut deaf).await;
    let (of_other, _out) = first_line(&mut other).await;
    for (mut agent, away) in [(dead, &of_dead), (deaf, &of_deaf)] {
        rustix::process::kill_process(Pid::from_raw(agent.pid).unwrap(), Signal::KILL).unwrap();
        agent.wait().await.unwrap();
        assert!(is_alive(away), "it descends from nobody any more");
        let begun = Instant::now();
        let (_, ended) = agent.clear_up(PATIENT).await;
        assert!(begun.elapsed() < Duration::from_secs(if *away == of_dead { 2 } else { 5 }));
        assert!(ended.iter().any(|one| one.pid.to_string() == *away), "{ended:?}");
        assert!(!is_alive(away));
    }
    assert!(is_alive(&of_other));
    other.kill_now();
    assert!(
        !end_marked(marked().into_iter().filter(|one| one.pid.to_string() == of_other).collect())
            .iter()
            .any(Marked::is_alive)
    );
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn r_057_an_agent_and_its_children_are_in_a_session_that_has_no_terminal() {
    // The sixth and seventh figure behind the name, which `sh` has none of: session and terminal.
    let mut agent = sh("sh -c 'cut -d\" \" -f6,7 /proc/$$/stat'; sleep 1000");
    let (line, _out) = first_line(&mut agent).await;
    assert_eq!(line, format!("{} 0", agent.pid));
}
