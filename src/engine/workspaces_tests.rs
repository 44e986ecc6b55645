//! Which sessions share a review, and what each of them may reach.

use super::*;

#[test]
fn sessions_of_one_directory_and_below_it_share_a_review_and_no_roots() {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    for below in ["a/b", "ab", "c"] {
        std::fs::create_dir_all(base.join(below)).unwrap();
    }
    std::os::unix::fs::symlink(base.join("a"), base.join("link")).unwrap();
    let mut all = Workspaces::new(Private::default());
    let keys: Vec<SessionKey> = (0..6).map(SessionKey).collect();
    let news: Vec<bool> =
        keys.iter().zip(["a", "a", "a/b", "ab", "link", "c"]).map(|(at, to)| all.join(*at, &base.join(to))).collect();
    assert_eq!(news, [true, false, false, true, false, true]);
    assert_eq!(all.beside(keys[0]), [keys[0], keys[1], keys[2], keys[4]]);
    assert_eq!(all.beside(keys[3]), [keys[3]]);
    let file = |to: &str| base.join(to).to_string_lossy().into_owned();
    std::fs::write(base.join("a/x"), "").unwrap();
    assert!(all.roots(keys[0]).check(file("a/x")).is_ok());
    assert!(all.roots(keys[2]).check(file("a/x")).is_err(), "the inner session stays inside");
    assert!(all.roots(SessionKey(9)).check(file("a/x")).is_err(), "no place, no files");
}
