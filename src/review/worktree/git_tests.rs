//! What git has lost or goes by, and what it does all day, with git itself.

use super::*;

const LOST: &str = "git has lost this";
const CHANGED: &str = "settings and hooks of git that have changed: ";
const BEGUN: &str = "begun, changed or ended in git: ";
const IGNORED: &str = "what is ignored has changed: ";

/// Of a file.
type Harm = fn(&Path);

/// A repository in which something of all kinds is, and which has been looked at, with what it may link to.
fn looked_at(before: &str) -> (Place, ReviewSession) {
    let place = with_history();
    sh(&place, before);
    let mut review = place.review(&[]);
    review.keep_all();
    (place, review)
}

fn said(review: &ReviewSession) -> String {
    review.uncovered().join("\n")
}

/// The lines of that kind.
fn line<'a>(said: &'a str, begins: &str) -> &'a str {
    said.lines().find(|line| line.starts_with(begins)).unwrap_or_default()
}

#[test]
fn what_is_lost_in_a_way_that_leaves_its_file_is_said() {
    let lfs = format!("mkdir -p .git/lfs/objects/ab/cd; echo large > .git/lfs/objects/ab/cd/{}", "ab".repeat(32));
    let feature = "git checkout -qb feature; echo w > w; git add w; $git commit -qm feature; git checkout -q -";
    let stashes = "echo older > f1; $git stash -q; echo newer > f1; $git stash -q";
    for (before, harm, lost) in [
        (&*lfs, "rm -rf .git/lfs", ".git/lfs/objects"),
        (&*lfs, "echo something else > $(find .git/lfs -type f)", ".git/lfs/objects/ab/cd/"),
        ("mkdir -p .git/annex/objects/a; echo l > .git/annex/objects/a/k", "rm -rf .git/annex", ".git/annex/objects"),
        (stashes, "git stash drop -q stash@{1}", ".git/logs/refs/stash"),
        (stashes, "git stash drop -q", ".git/logs/refs/stash"),
        (&*format!("{stashes}; git gc -q"), "git stash drop -q stash@{1}", ".git/logs/refs/stash"),
        (feature, "echo 0000000000000000000000000000000000000001 > .git/refs/heads/feature", ".git/refs/heads/feature"),
        (feature, "echo junk > .git/refs/heads/feature", ".git/refs/heads/feature"),
        (
            &*format!("{feature}; git gc -q"),
            "rm .git/logs/refs/heads/feature; git rev-parse HEAD~1 > .git/refs/heads/feature",
            ".git/refs/heads/feature",
        ),
        (feature, "git branch -qf feature HEAD~1; rm .git/logs/refs/heads/feature", ".git/refs/heads/feature"),
        (
            &*format!("{feature}; git pack-refs --all"),
            "sed -i 's/^[0-9a-f]* \\(refs.heads.feature\\)/0000000000000000000000000000000000000001 \\1/' .git/packed-refs",
            ".git/refs/heads/feature",
        ),
        ("true", "echo junk > .git/HEAD", ".git/HEAD"),
        ("git checkout -q --detach", "echo 0000000000000000000000000000000000000001 > .git/HEAD", ".git/HEAD"),
        (
            "git worktree add -q --detach ../wt; echo w > ../wt/w; git -C ../wt add w",
            "rm -rf .git/worktrees",
            ".git/worktrees/wt/",
        ),
        ("true", "rm .git/index", ".git/index"),
        ("true", "echo junk > .git/index", ".git/index"),
        (
            "git clone -q --shared . ../other; mv .git ../was; mv ../other/.git .git; mv ../was ../other/.git; sed -i 's/ws/other/' .git/objects/info/alternates",
            "rm .git/objects/info/alternates",
            ".git/objects/info/alternates",
        ),
        (
            "echo lone > lone; git add lone; $git commit -qm lone",
            "o=.git/objects/$(git rev-parse HEAD | sed 's/^../&\\//'); chmod u+w $o; printf XXXXXXXX | dd of=$o bs=1 seek=4 conv=notrunc 2> ../err",
            ".git/objects/",
        ),
    ] {
        let (place, mut review) = looked_at(before);
        assert_eq!(line(&said(&review), LOST), "", "{harm}: before");
        turn(&mut review, |_| sh(&place, harm));
        let said = said(&review);
        assert!(line(&said, LOST).contains(lost), "{harm}: {said}");
    }
}

#[test]
fn what_git_does_all_day_is_no_loss() {
    for (before, daily) in [
        ("true", "echo 2 > f1; git add f1; $git commit -qm more; $git commit -q --amend -m again"),
        ("true", "git checkout -qb other; echo 3 > f1; $git commit -qam other; git checkout -q --detach HEAD~1"),
        ("git branch other; git pack-refs --all", "git branch -f other HEAD~2; git pack-refs --all"),
        (
            "echo 2 > f1; $git stash -q",
            "echo 3 > f1; $git stash -q; echo 4 > f1; $git stash -q; git stash pop -q stash@{1}",
        ),
        (
            "git clone -q . ../up; git remote add up ../up",
            "cd ../up; $git commit -q --allow-empty -m up; cd ../ws; git fetch -q up",
        ),
        (
            "git clone -q . ../up; git remote add up ../up; git fetch -q up",
            "cd ../up; $git commit -q --amend -m up; cd ../ws; git fetch -q up; git gc -q",
        ),
        (
            "for i in 1 2 3; do echo $i > n$i; git add -A; $git commit -qm $i; done; git rm -qr --cached n3",
            "$git stash -q; git gc -q; echo 5 > n1; $git commit -qam gc; git gc -q --aggressive; git prune-packed",
        ),
        (
            "git checkout -qb b HEAD~1; echo b > b; git add b; $git commit -qm b",
            "$git rebase -q master || $git rebase -q main; git gc -q",
        ),
        (
            "git bisect start > ../out; git bisect bad >> ../out; git bisect good HEAD~2 >> ../out",
            "git bisect reset 2> ../out",
        ),
        ("true", "git worktree add -q ../wt; echo w > ../wt/w; git -C ../wt add w; git worktree remove -f ../wt"),
        ("true", "git reset -q --hard HEAD~1; git tag v1; $git tag -am v2 v2; git gc -q; git update-index --refresh"),
        (
            "git config index.version 4",
            "git rm -q f1; $git commit -qm removed; git update-index --split-index; git status",
        ),
    ] {
        let (place, mut review) = looked_at(&format!("git config gc.auto 0; {before}"));
        turn(&mut review, |_| sh(&place, daily));
        let now = said(&review);
        assert_eq!(line(&now, LOST), "", "{before}: {daily}");
        assert!(!now.contains("is not known whether git has lost"), "{daily}: {now}");
    }
}

#[test]
fn what_may_be_the_copy_of_what_is_lost_stays_and_else_goes() {
    let name = "2e4f1ff4b9d9e5e6bd9d5c8c7e9a6b8cd5b7a9f0a1b2c3d4e5f60718293a4b5c";
    let before = format!(
        "mkdir -p .git/lfs/objects/ab/cd .git/annex/objects/x; echo content > .git/lfs/objects/ab/cd/{name}; \
         printf large > large; mkdir -p .git/lfs/objects/1/2; cp large .git/lfs/objects/1/2/$(sha256sum large | cut -c-64); rm large; \
         echo annexed > .git/annex/objects/x/key; head -c 300000 /dev/urandom > big; git add big; $git commit -qm big"
    );
    for (harm, is_lost) in [("rm -rf .git/lfs .git/annex", true), ("true", false)] {
        let (place, mut review) = looked_at(&before);
        turn(&mut review, |_| {
            sh(
                &place,
                &format!(
                    "cp -a .git/lfs store; cp -a .git/annex kept; echo other > new; echo 12345678 > {name}; printf large > renamed; \
                     printf Large > other; tar cz .git | split -b 100000 - bk.; cp bk.ab notes.ab; {harm}"
                ),
            );
        });
        let said = said(&review);
        let done = rewind(&mut review);
        let of_lfs = format!("store/objects/ab/cd/{name}");
        for (copy, stays) in [
            (&*of_lfs, is_lost),
            ("kept/objects/x/key", is_lost),
            ("renamed", is_lost),
            ("bk.aa", is_lost),
            ("bk.ab", is_lost),
            ("bk.ac", is_lost),
            ("notes.ab", false),
            ("other", false),
            (name, false),
            ("new", false),
        ] {
            assert_eq!(place.root.join(copy).exists(), stays, "{harm}: {copy}: {said}");
            let is_named = done.iter().any(|one| one.path == Path::new(copy) && one.outcome == RewindOutcome::Failed);
            assert_eq!(is_named, stays, "{harm}: {copy}: {done:?}");
        }
        assert_eq!(said.contains("leaves new files alone that have the name and size of it"), is_lost, "{said}");
    }
}

#[test]
fn what_git_is_to_go_on_with_is_named_when_it_has_come_or_changed() {
    let rebase = "mkdir .git/rebase-merge; echo 'exec evil' > .git/rebase-merge/git-rebase-todo";
    for (before, change, named) in [
        ("true", rebase, ".git/rebase-merge;"),
        ("true", "mkdir .git/sequencer; echo 'pick x' > .git/sequencer/todo", ".git/sequencer;"),
        ("true", "mkdir .git/rebase-apply; echo x > .git/rebase-apply/0001", ".git/rebase-apply;"),
        (rebase, "echo 'exec worse' >> .git/rebase-merge/git-rebase-todo", ".git/rebase-merge;"),
        (rebase, "echo evil > .git/rebase-merge/strategy", ".git/rebase-merge;"),
        (rebase, "rm -r .git/rebase-merge", ".git/rebase-merge;"),
        ("git rev-parse HEAD~1 > .git/MERGE_HEAD", "rm .git/MERGE_HEAD", ".git/MERGE_HEAD;"),
        (
            "git init -q --bare .git/modules/a",
            "mkdir .git/modules/a/sequencer; echo x > .git/modules/a/sequencer/todo",
            ".git/modules/a/sequencer;",
        ),
        (
            "git worktree add -q ../wt",
            "mkdir .git/worktrees/wt/rebase-merge; echo x > .git/worktrees/wt/rebase-merge/git-rebase-todo",
            ".git/worktrees/wt/rebase-merge;",
        ),
    ] {
        let (place, mut review) = looked_at(before);
        assert_eq!(line(&said(&review), BEGUN), "", "{change}: before");
        turn(&mut review, |_| sh(&place, change));
        let dir = review.dir().to_owned();
        let now = said(&review);
        drop(review);
        for now in [now, said(&ReviewSession::open(&dir).unwrap())] {
            assert!(line(&now, BEGUN).contains(named), "{change}: {now}");
        }
    }
}

#[test]
fn what_git_goes_by_is_compared_wherever_it_is_settings_first() {
    let evil = "git config -f .git/m/config core.fsmonitor evil";
    let module = "git init -q --bare .git/modules/a/b; mkdir -p .git/modules/a/b/m";
    for (before, change, named) in [
        ("true", &*format!("mkdir .git/m; cp .git/config .git/m; {evil}; echo m > .git/commondir"), ".git/commondir"),
        (module, "echo m > .git/modules/a/b/commondir", ".git/modules/a/b/commondir"),
        (module, "git config -f .git/modules/a/b/config core.fsmonitor evil", ".git/modules/a/b/config"),
        (
            "git config include.path local.inc; echo > .git/local.inc",
            "git config -f .git/local.inc core.fsmonitor evil",
            ".git/local.inc",
        ),
        (
            "git config includeIf.gitdir:/.path ../../outside",
            "git config -f ../outside core.fsmonitor evil",
            "/outside",
        ),
        ("true", "mkdir -p .git/info; echo 'f1 filter=x' > .git/info/attributes", ".git/info/attributes"),
        ("true", "mkdir -p .git/info; git rev-parse HEAD > .git/info/grafts", ".git/info/grafts"),
        ("true", "git rev-parse HEAD > .git/shallow", ".git/shallow"),
        (
            "git config core.hooksPath .husky/_; mkdir -p .husky/_; echo '*' > .husky/_/.gitignore; echo x > .husky/_/pre-commit",
            "echo evil > .husky/_/pre-commit; echo evil > .husky/_/post-commit",
            ".husky/_/post-commit, .husky/_/pre-commit;",
        ),
        ("true", "echo /elsewhere > .git/objects/info/alternates", ".git/objects/info/alternates"),
        ("true", "git replace HEAD HEAD~1", ".git/refs/replace"),
        ("mkdir -p .git/branches", "mkdir .git/remotes; echo 'URL: evil' > .git/remotes/origin", ".git/remotes;"),
        ("mkdir -p .git/branches", "echo evil > .git/branches/x", ".git/branches;"),
        ("true", "git replace HEAD HEAD~1; git pack-refs --all", ".git/refs/replace"),
        (
            "git worktree add -q ../wt",
            "echo [x] > .git/worktrees/wt/config.worktree",
            ".git/worktrees/wt/config.worktree",
        ),
        (
            "true",
            "for i in a b c d e f g h i j k; do echo x > .git/hooks/0$i; done; echo x > .git/hooks/post-checkout; git config core.fsmonitor evil",
            ".git/config, .git/hooks/post-checkout, .git/hooks/0a",
        ),
        (
            "true",
            "for i in $(seq 2001); do : > .git/hooks/x$i; done; echo x > .git/hooks/update; git config core.fsmonitor evil",
            ".git/config, .git/hooks/update;",
        ),
    ] {
        let (place, mut review) = looked_at(before);
        assert_eq!(line(&said(&review), CHANGED), "", "{change}: before");
        turn(&mut review, |_| sh(&place, change));
        let dir = review.dir().to_owned();
        let now = said(&review);
        drop(review);
        for now in [now, said(&ReviewSession::open(&dir).unwrap())] {
            assert!(line(&now, CHANGED).contains(named), "{change}: {now}");
            assert_eq!(now.contains("too many to compare"), change.contains("2001"), "{now}");
        }
    }
    let (place, mut review) = looked_at("git branch b; git replace HEAD HEAD~1; git worktree add -q ../wt");
    turn(&mut review, |_| {
        sh(
            &place,
            "echo 2 > f1; $git commit -qam 2; $git stash -q || true; git checkout -q b; git gc -q; git worktree prune",
        );
    });
    assert_eq!(line(&said(&review), CHANGED), "", "{}", said(&review));
}

#[test]
fn rules_that_no_working_tree_has_are_said_to_have_changed() {
    for (change, named) in [
        ("mkdir -p .git/info; echo 'evil*' >> .git/info/exclude", ".git/info/exclude"),
        ("git init -q src; mkdir -p src/.git/info; echo '*' > src/.git/info/exclude", "src/.git/info/exclude"),
        ("mkdir -p .git/info; echo '# nothing' >> .git/info/exclude; git init -q src", ""),
    ] {
        let (place, mut review) = looked_at("true");
        turn(&mut review, |_| sh(&place, change));
        let said = said(&review);
        assert!(line(&said, IGNORED).contains(named), "{change}: {said}");
        assert_eq!(line(&said, IGNORED).is_empty(), named.is_empty(), "{change}: {said}");
    }
}

#[test]
fn a_record_of_what_git_had_that_is_gone_or_changed_is_said_and_everything_that_may_be_a_copy_stays() {
    let harms: [(&str, Harm); 4] = [
        ("removed", |file| fs::remove_file(file).unwrap()),
        ("emptied", |file| fs::write(file, "").unwrap()),
        ("cut", |file| fs::write(file, &fs::read(file).unwrap()[..100]).unwrap()),
        ("other", |file| {
            let mut bytes = fs::read(file).unwrap();
            bytes[20] ^= 1;
            fs::write(file, bytes).unwrap();
        }),
    ];
    for (what, harm) in harms {
        let (place, mut review) = looked_at("true");
        turn(&mut review, |review| {
            sh(&place, "tar czf git.tgz .git; rm -rf .git; git init -q; echo 2 > f1");
            harm(&review.dir().join("store/repositories"));
        });
        assert_eq!(review.damage().is_some(), what == "removed", "{what}: it still knows");
        let dir = review.dir().to_owned();
        drop(review);
        for _ in 0..2 {
            let mut review = ReviewSession::open(&dir).unwrap();
            assert!(review.damage().is_some_and(|words| words.contains("what git had here")), "{what}");
            rewind(&mut review);
            assert!(place.root.join("git.tgz").exists(), "{what}");
            assert_eq!(place.read("f1"), "three\n", "{what}");
        }
    }
}

#[test]
fn what_was_there_and_is_left_changed_has_a_name_however_many_have_come() {
    let (place, mut review) = looked_at("git clone -q --bare . zz.git; git clone -q --bare . zy.git");
    turn(&mut review, |_| {
        sh(
            &place,
            "for i in $(seq 100 160); do mkdir -p a/$i/refs; echo 'ref: refs/heads/x' > a/$i/HEAD; done; \
             mkdir zx; cp a/100/HEAD zx; mkdir zx/refs; git config -f zx/config core.fsmonitor evil; \
             o=$(git rev-parse HEAD~1); echo $o > zz.git/refs/heads/x; echo ref: refs/heads/x > zz.git/HEAD; \
             mkdir -p a/0/config/hooks/refs; echo 'ref: refs/heads/x' > a/0/config/hooks/HEAD; git -C zy.git config a.b c; \
             echo ref: refs/heads/x > zy.git/HEAD",
        );
    });
    let said = said(&review);
    assert!(said.contains("an undo leaves what has come or changed: zy.git, zz.git, zx, a/"), "{said}");
    let done = rewind(&mut review);
    let words = |path: &str| {
        let one = done.iter().find(|one| one.path == Path::new(path)).unwrap_or_else(|| panic!("{path}: {done:?}"));
        one.remark.clone().unwrap_or_default()
    };
    assert!(words("zz.git").contains("changed and left so: HEAD"), "{}", words("zz.git"));
    assert!(words("zx").contains("git there runs"), "{}", words("zx"));
    assert!(!words("a/100").contains("git there runs"), "{}", words("a/100"));
    assert!(!words("a/0/config/hooks").contains("git there runs"), "by its form, not by its name");
}
