//! The person's own prompts: one file each, `prompts/NAME.md` beside the configuration.
//!
//! Knows nothing of what they are sent to. Invariants: what is read is bounded; a file that cannot be used is named and
//! costs only itself.

use super::load;
use crate::base::toml_doc::Warning;
use std::ffi::OsStr;
use std::path::Path;

/// The most files that are read, and the most bytes of one.
const MAX_FILES: usize = 500;
const MAX_BYTES: usize = 64 << 10;
const MAX_NAME: usize = 64;

/// Names with their texts, by name, and what is wrong with some of the files. No directory is no prompt.
pub fn read(dir: &Path) -> (Vec<(String, String)>, Vec<Warning>) {
    let mut warnings = Vec::new();
    let mut wrong = |file: &str, message: String| {
        warnings.push(Warning { file: format!("prompts/{file}"), line: None, message });
    };
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return (Vec::new(), Vec::new()),
        Err(error) => {
            wrong("", format!("cannot be read: {error}"));
            return (Vec::new(), warnings);
        }
    };
    let is_ours = |name: &OsStr| Path::new(name).extension() == Some(OsStr::new("md"));
    let mut names: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.file_name())).filter(|n| is_ours(n)).collect();
    names.sort_unstable();
    let mut prompts = Vec::new();
    for file in names {
        let shown = file.to_string_lossy();
        let name = shown.strip_suffix(".md").unwrap_or(&shown).to_owned();
        if prompts.len() == MAX_FILES {
            wrong(&shown, format!("not read: there are more than {MAX_FILES} prompts"));
            break;
        }
        if !is_name(&name) {
            wrong(&shown, "left out: a name has letters, digits, `-`, `_` and `.`, at most 64".to_owned());
            continue;
        }
        match load::read(&dir.join(&file)) {
            Ok(Some(text)) if text.len() > MAX_BYTES => wrong(&shown, "left out: it is larger than 64 KiB".to_owned()),
            Ok(Some(text)) if text.trim().is_empty() => wrong(&shown, "left out: it is empty".to_owned()),
            Ok(Some(text)) => prompts.push((name, text)),
            Ok(None) => {}
            Err(reason) => wrong(&shown, format!("left out: {reason}")),
        }
    }
    (prompts, warnings)
}

fn is_name(name: &str) -> bool {
    let is_sign = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_is_a_prompt_and_what_cannot_be_one_is_named_and_costs_only_itself() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(&dir.path().join("none")), (Vec::new(), Vec::new()));
        let put = |name: &str, text: &[u8]| std::fs::write(dir.path().join(name), text).unwrap();
        put("review.md", b"# Look for faults\nin $ARGUMENTS\n");
        put("fix-it.md", b"fix it");
        put("fix-it.md.md", b"another one");
        put("notes.txt", b"no prompt");
        put("two words.md", b"x");
        put("empty.md", b" \n");
        put("large.md", &vec![b'x'; MAX_BYTES + 1]);
        put("bytes.md", b"\xff");
        std::fs::create_dir(dir.path().join("dir.md")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", dir.path().join("endless.md")).unwrap();
        let (prompts, warnings) = read(dir.path());
        let names: Vec<&str> = prompts.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["fix-it", "fix-it.md", "review"]);
        let files: Vec<&str> = warnings.iter().map(|warning| warning.file.as_str()).collect();
        let wrong = ["bytes", "dir", "empty", "endless", "large", "two words"].map(|name| format!("prompts/{name}.md"));
        assert_eq!(files, wrong);
    }
}
