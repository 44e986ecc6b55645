use super::*;
use crate::base::inherited::Inherited;
use crate::host::process::{AgentSpec, spawn};
use std::path::Path;

/// What a line of a shell that is confined to `inside` ends with.
async fn runs(inside: &Path, line: &str) -> Option<i64> {
    runs_in(inside, Sandbox { writable: vec![inside.to_owned()], ..Sandbox::default() }, line).await
}

async fn runs_in(inside: &Path, sandbox: Sandbox, line: &str) -> Option<i64> {
    let spec = AgentSpec {
        command: "sh".into(),
        args: vec!["-c".into(), line.into()],
        env: Vec::new(),
        cwd: inside.to_owned(),
        inherited: Inherited::default(),
        sandbox: Some(sandbox),
    };
    spawn(&spec).unwrap().wait().await.unwrap().code
}

#[tokio::test]
async fn a_program_writes_inside_and_nowhere_else_whatever_it_tries() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().canonicalize().unwrap();
    let (inside, out) = (dir.join("in"), dir.join("out"));
    std::fs::create_dir(&inside).unwrap();
    std::fs::create_dir(&out).unwrap();
    std::fs::write(out.join("file"), "as it was").unwrap();
    if check().is_err() {
        // A kernel that cannot do it is told of, and nothing is started.
        let spec = AgentSpec {
            command: "true".into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: inside.clone(),
            inherited: Inherited::default(),
            sandbox: Some(Sandbox::default()),
        };
        assert!(spawn(&spec).err().unwrap().to_string().contains("leave the sandbox out"));
        return;
    }
    assert_eq!(
        runs(&inside, "echo x > a && mkdir d && mv a d/b && cat ../out/file d/b > /dev/null && rm -r d").await,
        Some(0)
    );
    for attempt in [
        "echo x > ../out/new",
        "echo x >> ../out/file",
        ": > ../out/file",
        "truncate -s 0 ../out/file",
        "rm ../out/file",
        "mv ../out/file .",
        "ln ../out/file here && echo x > here",
        "ln -s ../out/file link && echo x > link",
        "mkdir ../out/dir",
        "echo x > a && mv a ../out/a",
        "(setsid sh -c 'echo x > ../out/new') && cat ../out/new",
        "sh -c 'exec sh -c \"cd ../out && echo x > new\"'",
        "cp /bin/true ../out/new",
        "mount -t tmpfs none ../out",
        "echo 0 > /proc/$PPID/oom_score_adj",
        "exec 3>> ../out/file && echo x >&3",
        "exec 3< ../out/file && echo x > /proc/self/fd/3",
        "echo x > /proc/self/root/$PWD/../out/new",
        "echo x > /proc/self/cwd/../out/new",
        "mv ../out/file ../out/moved",
        "mv ../out moved",
        "mkfifo ../out/pipe",
        "mknod null c 1 3",
        "mknod disk b 7 0",
        "ln -s x ../out/link",
        "echo x > a && ln a ../out/hard",
        "dd if=/dev/zero of=../out/file count=1",
        "unshare -Urm sh -c 'mount --bind .. . && echo x > out/new'",
        "chroot .. sh -c 'echo x > out/new'",
        // Links and directories that change places while something is written through them.
        "(for n in 1 2 3 4 5 6 7 8 9; do rm -rf to; mkdir to; rm -rf to; ln -s ../out to; done) & \
         for n in 1 2 3 4 5 6 7 8 9; do echo x > to/new; echo x > to/file; done; wait; test -s to/new",
    ] {
        assert_ne!(runs(&inside, &format!("{{ {attempt}; }} 2> /dev/null")).await, Some(0), "{attempt}");
        let names: Vec<_> = out.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["file"], "{attempt}");
        assert_eq!(std::fs::read_to_string(out.join("file")).unwrap(), "as it was", "{attempt}");
    }
    // The program that starts it is not confined.
    std::fs::write(out.join("ours"), "").unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn root_keeps_nothing_that_goes_round_the_sandbox() {
    use rustix::thread::CapabilitySet;
    let temp = tempfile::tempdir().unwrap();
    let inside = temp.path().canonicalize().unwrap();
    if check().is_err() {
        assert!(!keeps_apart(), "nothing is confined here");
        return;
    }
    assert_eq!(runs(&inside, "exec sh -c 'grep ^Cap /proc/self/status > held'").await, Some(0));
    let held = std::fs::read_to_string(inside.join("held")).unwrap();
    for kind in ["CapPrm", "CapEff", "CapInh", "CapAmb"] {
        let line = held.lines().find(|line| line.starts_with(kind)).unwrap();
        let bits = u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap();
        let held = CapabilitySet::from_bits_retain(bits);
        for way_round in [
            CapabilitySet::DAC_READ_SEARCH,
            CapabilitySet::SYS_MODULE,
            CapabilitySet::SYS_RAWIO,
            CapabilitySet::SYS_PTRACE,
            CapabilitySet::SYS_ADMIN,
            CapabilitySet::SYS_BOOT,
            CapabilitySet::SYS_TTY_CONFIG,
            CapabilitySet::MKNOD,
            CapabilitySet::PERFMON,
            CapabilitySet::BPF,
            CapabilitySet::CHECKPOINT_RESTORE,
        ] {
            assert!(!held.intersects(way_round), "{kind}: {way_round:?}");
        }
    }
}

#[tokio::test]
async fn what_is_to_be_written_has_to_be_there() {
    let gone = Path::new("/nowhere/at/all");
    let spec = AgentSpec {
        command: "true".into(),
        args: Vec::new(),
        env: Vec::new(),
        cwd: std::env::temp_dir(),
        inherited: Inherited::default(),
        sandbox: Some(Sandbox { writable: vec![gone.to_owned()], ..Sandbox::default() }),
    };
    let why = spawn(&spec).err().unwrap().to_string();
    assert!(why.contains("/nowhere/at/all") || why.contains("leave the sandbox out"), "{why}");
}

/// Where programs and what they need are, as far as they are here.
fn system() -> Vec<std::path::PathBuf> {
    let all = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/nix"].map(Path::new);
    all.into_iter().filter(|path| path.exists()).map(Path::to_owned).collect()
}

#[tokio::test]
async fn a_program_reads_what_it_is_given_and_nothing_else_whatever_it_tries() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().canonicalize().unwrap();
    let (inside, out, given) = (dir.join("in"), dir.join("out"), dir.join("given"));
    for made in [&inside, &out, &given] {
        std::fs::create_dir(made).unwrap();
    }
    std::fs::write(out.join("secret"), "the secret").unwrap();
    std::fs::write(given.join("file"), "the gift").unwrap();
    if check().is_err() {
        assert!(check().unwrap_err().to_string().contains("leave the sandbox out"));
        return;
    }
    let sandbox = || Sandbox {
        writable: vec![inside.clone()],
        readable: Some(system().into_iter().chain([given.clone()]).collect()),
        ..Sandbox::default()
    };
    let line = "echo x > a && cat a ../given/file > b && ls . ../given > /dev/null && grep -q gift b && head -c 1 /dev/zero > c";
    assert_eq!(runs_in(&inside, sandbox(), line).await, Some(0));
    for attempt in [
        "cat ../out/secret > got",
        "ls ../out > got",
        "cd ../out && cat secret > ../in/got",
        "ln ../out/secret here && cat here > got",
        "ln -s ../out/secret link && cat link > got",
        "cp -r ../out got",
        "mv ../out got",
        "tar cf got ../out/secret",
        "cat /proc/self/root$OLDPWD/../out/secret > got",
        "exec 3< ../out/secret && cat <&3 > got",
        "(setsid sh -c 'cat ../out/secret > got') && test -s got",
        "echo x > ../given/file",
        "cat /proc/$PPID/environ > got",
    ] {
        assert_ne!(
            runs_in(&inside, sandbox(), &format!("rm -rf got; {{ {attempt}; }} 2> /dev/null")).await,
            Some(0),
            "{attempt}"
        );
        let got = std::fs::read_to_string(inside.join("got")).unwrap_or_default();
        assert!(!got.contains("secret"), "{attempt}: {got}");
        assert_eq!(std::fs::read_to_string(given.join("file")).unwrap(), "the gift", "{attempt}");
    }
    // A directory of which the names can be told by trying is not one that can be listed; what is not there stays so.
    assert!(out.join("secret").exists());
}

/// A line that ends well when this port takes a connection; bash has sockets of its own.
fn connecting(port: u16) -> String {
    format!("exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}' 2> /dev/null")
}

#[tokio::test]
async fn a_program_connects_to_ports_that_it_is_given_and_waits_on_no_other() {
    let temp = tempfile::tempdir().unwrap();
    let inside = temp.path().canonicalize().unwrap();
    if check_ports().is_err() {
        let sandbox = Sandbox { connects: Some(Vec::new()), ..Sandbox::default() };
        let spec = AgentSpec {
            command: "true".into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: inside,
            inherited: Inherited::default(),
            sandbox: Some(sandbox),
        };
        let said = spawn(&spec).err().unwrap().to_string();
        assert!(said.contains("sandbox_connect") || said.contains("leave the sandbox out"), "{said}");
        return;
    }
    let [one, other] = [(); 2].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let [one, other] = [&one, &other].map(|listener| listener.local_addr().unwrap().port());
    let all = Sandbox { writable: vec![inside.clone()], ..Sandbox::default() };
    assert_eq!(runs_in(&inside, all.clone(), &connecting(other)).await, Some(0), "the test's own way to connect");
    let given = Sandbox { connects: Some(vec![one]), ..all.clone() };
    assert_eq!(runs_in(&inside, given.clone(), &connecting(one)).await, Some(0));
    for attempt in [
        connecting(other),
        format!("(setsid sh -c \"{}\")", connecting(other)),
        format!("exec bash -c 'exec 3<>/dev/tcp/localhost/{other}' 2> /dev/null"),
    ] {
        assert_ne!(runs_in(&inside, given.clone(), &attempt).await, Some(0), "{attempt}");
    }
    let none = Sandbox { connects: Some(Vec::new()), ..all };
    assert_ne!(runs_in(&inside, none, &connecting(one)).await, Some(0));
}

/// What connects while it sends, or by a protocol that is TCP by another name. The calls are made by the thread itself, so
/// that no program is needed that can make them.
#[cfg(all(target_os = "linux", feature = "remote"))]
#[test]
fn no_other_way_to_connect_leads_to_a_port_that_is_not_given() {
    use socket2::{Domain, MsgHdr, Protocol, SockAddr, Socket, Type};
    use std::io::Result;
    const MPTCP: i32 = 262;
    const SMC: i32 = 43;
    const FAST_OPEN: i32 = 0x2000_0000;
    let temp = tempfile::tempdir().unwrap();
    let inside = temp.path().canonicalize().unwrap();
    let Ok(()) = check_ports() else { return };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let to = SockAddr::from(listener.local_addr().unwrap());
    let tcp = || Socket::new(Domain::IPV4, Type::STREAM, None);
    let plain = || tcp()?.connect(&to);
    let by_mptcp = || Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::from(MPTCP)))?.connect(&to);
    let sent = || tcp()?.send_to_with_flags(b"x", &to, FAST_OPEN).map(drop);
    let sent_as_message = || {
        let parts = [std::io::IoSlice::new(b"x")];
        tcp()?.sendmsg(&MsgHdr::new().with_addr(&to).with_buffers(&parts), FAST_OPEN).map(drop)
    };
    let by_smc = || Socket::new(Domain::from(SMC), Type::STREAM, None).map(drop);
    let ways: [(&str, &(dyn Fn() -> Result<()> + Sync)); 5] =
        [("connect", &plain), ("MPTCP", &by_mptcp), ("sendto", &sent), ("sendmsg", &sent_as_message), ("SMC", &by_smc)];
    let all = Sandbox { writable: vec![inside], ..Sandbox::default() };
    let none = Sandbox { connects: Some(Vec::new()), ..all.clone() };
    for (name, way) in ways {
        let known = within(Some(&all), way).unwrap();
        assert!(known.is_ok() || ["MPTCP", "SMC"].contains(&name), "the test's own way: {name}: {known:?}");
        assert!(within(Some(&none), way).unwrap().is_err(), "{name}");
    }
    // Waiting without having asked for a port, which Landlock does not see: not where there are no ports at all.
    let waits = || tcp()?.listen(1);
    let no_listening = Sandbox { listens: Some(Vec::new()), ..all };
    within(Some(&no_listening), waits).unwrap().unwrap();
    let none = Sandbox { connects: Some(Vec::new()), ..no_listening };
    assert!(within(Some(&none), waits).unwrap().is_err());
    assert!(within(Some(&none), || Socket::new(Domain::IPV6, Type::STREAM, None).map(drop)).unwrap().is_err());
    within(Some(&none), || Socket::new(Domain::IPV4, Type::DGRAM, None).map(drop)).unwrap().unwrap();
    // What has nothing to do with ports goes on.
    let pair = || std::os::unix::net::UnixStream::pair().map(drop);
    within(Some(&none), pair).unwrap().unwrap();
}

/// With sockets of the program's own, since what is within is the thread.
#[cfg(target_os = "linux")]
#[test]
fn with_no_ports_at_all_nothing_is_connected_or_bound_and_with_some_only_those() {
    use std::io::ErrorKind::PermissionDenied;
    use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
    if let Err(why) = check_ports() {
        assert!(why.to_string().contains("sandbox_connect") || why.to_string().contains("leave the sandbox out"));
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    let all = Sandbox { writable: vec![temp.path().canonicalize().unwrap()], ..Sandbox::default() };
    let [one, other] = [(); 2].map(|()| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
    let [one, other] = [&one, &other].map(|listener| listener.local_addr().unwrap().port());
    let free = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let connects = |sandbox: &Sandbox, port: u16| {
        let connected = within(Some(sandbox), || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).map(drop)).unwrap();
        connected.map_err(|error| error.kind())
    };
    let binds = |sandbox: &Sandbox, port: u16| {
        let bound = within(Some(sandbox), || TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map(drop)).unwrap();
        bound.map_err(|error| error.kind())
    };
    assert_eq!((connects(&all, one), binds(&all, 0)), (Ok(()), Ok(())), "no port is limited");

    let none = Sandbox { connects: Some(Vec::new()), listens: Some(Vec::new()), ..all.clone() };
    assert_eq!(connects(&none, one), Err(PermissionDenied));
    assert_eq!([0, free()].map(|port| binds(&none, port)), [Err(PermissionDenied); 2]);
    // There is not even a socket, of either family.
    let sixth = || TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).map(drop).map_err(|error| error.kind());
    if sixth().is_ok() {
        assert_eq!(within(Some(&none), sixth).unwrap(), Err(PermissionDenied));
    }
    TcpStream::connect((Ipv4Addr::LOCALHOST, one)).expect("the thread that starts it is not confined");

    let own = free();
    let some = Sandbox { connects: Some(vec![one]), listens: Some(vec![own]), ..all.clone() };
    assert_eq!((connects(&some, one), binds(&some, own)), (Ok(()), Ok(())), "those that are listed");
    assert_eq!((connects(&some, other), binds(&some, 0)), (Err(PermissionDenied), Err(PermissionDenied)));
    // Either alone.
    let silent = Sandbox { connects: Some(Vec::new()), ..all.clone() };
    assert_eq!((connects(&silent, one), binds(&silent, 0)), (Err(PermissionDenied), Ok(())));
    let shut = Sandbox { listens: Some(Vec::new()), ..all };
    assert_eq!((connects(&shut, one), binds(&shut, 0)), (Ok(()), Err(PermissionDenied)));
}

/// What a program outside has made: a socket without a file, and a process.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_signal_and_no_connection_to_an_abstract_socket_gets_out() {
    use rustix::process::{Pid, test_kill_process};
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
    use std::os::unix::process::CommandExt as _;
    if check().is_err() {
        assert!(!keeps_apart(), "nothing is confined here");
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    let inside = temp.path().canonicalize().unwrap();
    let sandbox = Sandbox { writable: vec![inside.clone()], ..Sandbox::default() };
    let name = format!("acp-tui-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _listener = UnixListener::bind_addr(&address).unwrap();
    UnixStream::connect_addr(&address).unwrap();
    let mut other = std::process::Command::new("sleep").arg("1000").process_group(0).spawn().unwrap();
    let pid = Pid::from_child(&other);
    // What is within is the thread, so that no program is needed that can do it.
    let reached = within(Some(&sandbox), || UnixStream::connect_addr(&address).is_ok()).unwrap();
    let seen = within(Some(&sandbox), || test_kill_process(pid).is_ok()).unwrap();
    assert_eq!((reached, seen), (!keeps_apart(), !keeps_apart()), "doctor says otherwise");
    let own = "sleep 1000 & kill -TERM $!; wait $!; test $? -gt 128";
    assert_eq!(runs_in(&inside, sandbox.clone(), own).await, Some(0), "it ends what it has started");
    if keeps_apart() {
        // A socket of its own is reached.
        let own = SocketAddr::from_abstract_name(format!("{name}-own")).unwrap();
        let both = || UnixListener::bind_addr(&own).and_then(|_listener| UnixStream::connect_addr(&own).map(drop));
        within(Some(&sandbox), both).unwrap().unwrap();
        let pid = other.id();
        for attempt in [
            format!("kill -KILL {pid}"),
            format!("kill -TERM {pid}"),
            format!("kill -STOP {pid}"),
            format!("setsid sh -c 'kill -KILL {pid}'"),
            format!("exec bash -c 'kill -KILL {pid}'"),
            format!("kill -KILL -- -{pid}"),
            "kill -CONT $PPID".to_owned(),
        ] {
            let ended = runs_in(&inside, sandbox.clone(), &format!("{{ {attempt}; }} 2> /dev/null")).await;
            assert_ne!(ended, Some(0), "{attempt}");
            assert!(other.try_wait().unwrap().is_none(), "{attempt}");
        }
    }
    other.kill().unwrap();
    other.wait().unwrap();
}

/// With a limit of its time or of its files a process is ended or kept from its work, though no signal reaches it.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_is_confined_sets_its_own_limits_and_those_of_nobody_else() {
    use rustix::process::{Pid, Resource, Rlimit, getpid, getrlimit, prlimit, setrlimit};
    let temp = tempfile::tempdir().unwrap();
    let inside = temp.path().canonicalize().unwrap();
    let sandbox = Sandbox { writable: vec![inside.clone()], ..Sandbox::default() };
    if check().is_err() {
        assert!(!keeps_apart(), "nothing is confined here");
        return;
    }
    let mut other = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let pid = Pid::from_child(&other);
    let as_it_is = getrlimit(Resource::Core);
    let none = || Rlimit { current: Some(0), maximum: as_it_is.maximum };
    prlimit(Some(pid), Resource::Core, none()).unwrap();
    for of in [pid, getpid()] {
        let set = within(Some(&sandbox), || prlimit(Some(of), Resource::Core, none())).unwrap();
        assert_eq!(set.err(), Some(rustix::io::Errno::PERM), "{of:?}");
    }
    other.kill().unwrap();
    other.wait().unwrap();
    // Its own ones by no name, and all may be read.
    within(Some(&sandbox), || setrlimit(Resource::Core, as_it_is)).unwrap().unwrap();
    let line =
        "ulimit -c 0 && test \"$(ulimit -c)\" = 0 && (ulimit -t 5; exec true) && cat /proc/$PPID/limits > /dev/null";
    assert_eq!(runs(&inside, line).await, Some(0));
}
