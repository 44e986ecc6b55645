use super::*;
use crate::host::process::{AgentSpec, spawn};
use std::path::Path;

/// What a line of a shell that is confined to `inside` ends with.
async fn runs(inside: &Path, line: &str) -> Option<i64> {
    let spec = AgentSpec {
        command: "sh".into(),
        args: vec!["-c".into(), line.into()],
        env: Vec::new(),
        cwd: inside.to_owned(),
        sandbox: Some(Sandbox { writable: vec![inside.to_owned()] }),
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
    ] {
        assert_ne!(runs(&inside, &format!("{{ {attempt}; }} 2> /dev/null")).await, Some(0), "{attempt}");
        let names: Vec<_> = out.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["file"], "{attempt}");
        assert_eq!(std::fs::read_to_string(out.join("file")).unwrap(), "as it was", "{attempt}");
    }
    // The program that starts it is not confined.
    std::fs::write(out.join("ours"), "").unwrap();
}

#[tokio::test]
async fn what_is_to_be_written_has_to_be_there() {
    let gone = Path::new("/nowhere/at/all");
    let spec = AgentSpec {
        command: "true".into(),
        args: Vec::new(),
        env: Vec::new(),
        cwd: std::env::temp_dir(),
        sandbox: Some(Sandbox { writable: vec![gone.to_owned()] }),
    };
    let why = spawn(&spec).err().unwrap().to_string();
    assert!(why.contains("/nowhere/at/all") || why.contains("leave the sandbox out"), "{why}");
}
