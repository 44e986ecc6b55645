//! A repository whose hooks, filters, drivers and monitors leave a sign when they run: of ours none does.

use super::tests::{Place, put};
use super::*;
use std::collections::BTreeSet;
use std::process::Command;

const HOOKS: &[&str] = &[
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-rewrite",
    "pre-commit",
    "reference-transaction",
    "fsmonitor-watchman",
];

/// Settings, each with what it leaves.
const PROGRAMS: &[(&str, &str)] = &[
    ("filter.x.clean", "cat"),
    ("filter.x.smudge", "cat"),
    ("filter.a=b.clean", "cat"),
    ("filter.p.process", "exit 1"),
    ("merge.x.driver", "exit 0"),
    ("diff.x.textconv", "cat"),
    ("diff.x.command", "exit 0"),
    ("diff.external", "exit 0"),
    ("core.fsmonitor", "exit 1"),
    ("core.editor", "exit 0"),
    ("core.pager", "cat"),
    ("core.sshCommand", "exit 1"),
    ("gpg.program", "exit 1"),
    ("hook.x.command", "exit 0"),
];

struct Planted {
    place: Place,
    signs: tempfile::TempDir,
}

impl Planted {
    fn new() -> Self {
        let (place, signs) = (Place::new(), tempfile::tempdir().unwrap());
        let planted = Self { place, signs };
        let (top, git) = (planted.place.top(), Git::at(&planted.place.top()));
        put(&top, ".gitattributes", "* filter=x merge=x diff=x\np filter=p\ne filter=a=b\nsub/* filter=x\n");
        put(&top, "p", "p\n");
        put(&top, "e", "e\n");
        let inner = top.join("sub");
        put(&inner, "f", "f\n");
        put(&inner, ".gitattributes", "* filter=x\n");
        git.run(&["init", "-q", "sub"]).unwrap();
        for git in [&Git::at(&inner), &git] {
            git.run(&["add", "-A"]).unwrap();
            git.run(&["commit", "-q", "-m", "more"]).unwrap();
        }
        for git in [git, Git::at(&inner)] {
            planted.plant(&git);
        }
        // Their times tell nothing, so that git has to read them.
        put(&inner, "f", "g\n");
        planted
    }

    fn plant(&self, git: &Git) {
        for (name, then) in PROGRAMS {
            git.run(&["config", name, &format!("{}; {then}", self.sign(name))]).unwrap();
        }
        for (name, value) in
            [("log.showSignature", "true"), ("commit.gpgSign", "true"), ("hook.x.event", "post-checkout")]
        {
            git.run(&["config", name, value]).unwrap();
        }
        for name in HOOKS {
            let file = git.dir().join(".git/hooks").join(name);
            // By another process, so that no child of another test has it open for writing.
            let line = "mkdir -p \"${0%/*}\" && printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod +x \"$0\"";
            let done = Command::new("sh").arg("-c").arg(line).arg(file).arg(self.sign(name)).status().unwrap();
            assert!(done.success());
        }
    }

    fn sign(&self, name: &str) -> String {
        format!("touch '{}/{name}'", self.signs.path().display())
    }

    fn signs(&self) -> BTreeSet<String> {
        let signs = fs::read_dir(self.signs.path()).unwrap().map(|sign| sign.unwrap().file_name());
        signs.map(|name| name.into_string().unwrap()).collect()
    }
}

#[test]
fn no_program_that_the_repository_names_is_run() {
    let planted = Planted::new();
    let place = &planted.place;
    let (top, state) = (place.top(), place.state());
    put(&top, "src/b", "not committed\n");
    let made = create(&state, &top, Naming::Exactly("w"), true).unwrap();
    let remark = made.remarks.iter().find(|remark| remark.contains("filters")).unwrap();
    assert!(remark.contains("a=b, p, x"), "{remark}");
    let made = made.worktree;
    put(&made.path, "a", "1\n2\n3\n4\n5\n6\n7\nEIGHT\n");
    put(&made.path, "p", "theirs\n");
    put(&made.path, "e", "theirs\n");
    put(&top, "a", "ONE\n2\n3\n4\n5\n6\n7\n8\n");
    assert_eq!(changes(&made).unwrap().files, 3);
    let part = |bytes: &str| Some(Side { mode: 0o644, bytes: bytes.into() });
    let part = Part { path: "e".into(), was: part("e\n"), is: part("theirs\n") };
    assert_eq!(Merge::of_part(&made, &part).unwrap().carry_out(|_, _| true).files, [Path::new("e")]);
    let merged = Merge::of(&made, None).unwrap().carry_out(|_, _| true);
    // The driver would have joined `a`; without it both sides have changed it.
    let left: Vec<&Path> = merged.left.iter().map(|(path, _)| path.as_path()).collect();
    assert_eq!((merged.files.as_slice(), left.as_slice()), (&[PathBuf::from("p")][..], &[Path::new("a")][..]));
    sweep_all(&state);
    discard(&made, false).unwrap();
    assert_eq!(planted.signs(), BTreeSet::new());
    // Git by itself runs them.
    for args in [&["add", "--all"][..], &["commit", "-q", "-m", "x", "--no-gpg-sign"], &["checkout", "-q", "HEAD~1"]] {
        Command::new("git").current_dir(&top).args(args).output().unwrap();
    }
    let signs = planted.signs();
    for name in ["filter.x.clean", "filter.a=b.clean", "filter.p.process", "core.fsmonitor", "post-index-change"] {
        assert!(signs.contains(name), "{name}: {signs:?}");
    }
}
