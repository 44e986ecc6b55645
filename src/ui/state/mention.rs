//! Files that are named in a prompt with `@`: the list while one is typed, and those that were chosen.
//!
//! Looks at no disk: a worker puts in what it found. Invariant: only what was chosen from the list becomes a link.

use crate::base::paths;
use crate::model::event::Link;
use crate::ui::composer::Composer;
use crate::ui::keys::Action;
use std::collections::BTreeSet;
use std::path::Path;

/// The most characters that are looked for.
const MAX_TEXT: usize = 200;
/// The most files that are remembered as chosen.
const MAX_CHOSEN: usize = 1000;

#[derive(Clone, Debug, Default)]
pub struct Mentions {
    /// What was found for which text, with sizes.
    found: Option<(String, Vec<(String, u64)>)>,
    pub selected: usize,
    /// The text at which the person closed the list.
    closed_at: Option<String>,
    chosen: BTreeSet<String>,
    /// Where the cursor was behind the blank after the last one, and how long the text was, in bytes.
    behind: Option<(usize, usize)>,
}

/// What is typed behind the `@` before the cursor; `None` when the cursor is not in such a word.
pub fn typed(composer: &Composer) -> Option<&str> {
    if composer.is_shell() || composer.buffer().is_behind_chip() {
        return None;
    }
    let before = composer.text().get(..composer.buffer().cursor())?;
    let start =
        before.rfind(char::is_whitespace).map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    let text = before.get(start..)?.strip_prefix('@')?;
    (text.chars().count() <= MAX_TEXT).then_some(text)
}

impl Mentions {
    /// What is to be looked for.
    pub fn wanted<'a>(&self, composer: &'a Composer) -> Option<&'a str> {
        let text = typed(composer)?;
        let is_done = self.closed_at.as_deref() == Some(text) || self.chosen.contains(without_lines(text).0);
        (!is_done).then_some(text)
    }

    pub fn find(&mut self, text: String, paths: Vec<(String, u64)>) {
        // More was found of what was asked for before: who has gone down in the list stays on the same name.
        let before = self.found.take().filter(|(of, _)| *of == text && self.selected > 0);
        let name = before.and_then(|(_, paths)| paths.into_iter().nth(self.selected));
        self.selected = name.and_then(|(name, _)| paths.iter().position(|(path, _)| *path == name)).unwrap_or(0);
        self.found = Some((text, paths));
    }

    /// What is listed now: what was found last, until something else is.
    pub fn listed(&self, composer: &Composer) -> &[(String, u64)] {
        match (&self.found, self.wanted(composer)) {
            (Some((_, paths)), Some(_)) => paths,
            _ => &[],
        }
    }

    /// Whether it was looked for what is typed, and there is no such file.
    pub fn has_none(&self, composer: &Composer) -> bool {
        let wanted = self.wanted(composer).filter(|text| !text.is_empty());
        matches!((&self.found, wanted), (Some((of, paths)), Some(text)) if paths.is_empty() && of == text)
    }

    pub fn close(&mut self, composer: &Composer) {
        self.closed_at = typed(composer).map(str::to_owned);
    }

    /// Writes the highlighted name in place of what was typed; nothing while the list is still about another text.
    pub fn choose(&mut self, composer: &mut Composer) {
        if self.found.as_ref().map(|(text, _)| text.as_str()) != typed(composer) {
            return;
        }
        let Some((path, _)) = self.listed(composer).get(self.selected).cloned() else { return };
        let Some(typed) = typed(composer).map(str::len) else { return };
        let start = composer.buffer().cursor() - typed;
        while composer.buffer().cursor() > start {
            // Only what was typed is taken away.
            let _ = composer.apply(Action::Backspace);
        }
        let is_dir = path.ends_with('/');
        composer.paste(&path);
        if !is_dir {
            composer.paste(" ");
            self.behind = Some((composer.buffer().cursor(), composer.text().len()));
            if self.chosen.len() < MAX_CHOSEN {
                self.chosen.insert(path);
            }
        }
        self.found = None;
    }

    /// The blank behind a name that has just been chosen gives way to the lines that are named next.
    pub fn lines_follow(&mut self, composer: &mut Composer) {
        let here = (composer.buffer().cursor(), composer.text().len());
        if self.behind.take() == Some(here) {
            let _ = composer.apply(Action::Backspace);
        }
    }

    /// Links to the chosen files that the text names, with the lines that stand behind them.
    pub fn links(&self, text: &str, cwd: &str) -> Vec<Link> {
        let mut links = Vec::new();
        for word in text.split_whitespace().filter_map(|word| word.strip_prefix('@')) {
            let (path, lines) = without_lines(word);
            if !self.chosen.contains(path) {
                continue;
            }
            let mut uri = paths::file_uri(&Path::new(cwd).join(path));
            if let Some((first, last)) = lines {
                uri = format!("{uri}#L{first}-L{last}");
            }
            let link = Link::new(word.to_owned(), uri);
            if !links.contains(&link) {
                links.push(link);
            }
        }
        links
    }
}

/// `a.rs:10-40` as the path and the lines, from 1.
fn without_lines(word: &str) -> (&str, Option<(u32, u32)>) {
    let lines = |text: &str| {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        Some((first.parse().ok()?, last.parse().ok()?)).filter(|(first, last)| *first > 0 && first <= last)
    };
    match word.rsplit_once(':').and_then(|(path, text)| Some((path, lines(text)?))) {
        Some((path, lines)) => (path, Some(lines)),
        None => (word, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn composer(text: &str) -> Composer {
        let mut composer = Composer::default();
        composer.set_text(text);
        composer
    }

    #[test]
    fn a_word_that_begins_with_an_at_sign_is_looked_for() {
        for (text, wanted) in [
            ("@", Some("")),
            ("see @ma", Some("ma")),
            ("a\u{3000}@ma", Some("ma")),
            ("me@host", None),
            ("@ma in", None),
            ("", None),
        ] {
            assert_eq!(typed(&composer(text)), wanted, "{text}");
        }
    }

    #[test]
    fn what_was_chosen_is_a_link_with_its_lines_and_what_was_not_is_text() {
        let mut mentions = Mentions::default();
        let mut written = composer("look at @ma");
        assert_eq!(mentions.wanted(&written), Some("ma"));
        mentions.find("ma".into(), vec![("src/a b".into(), 1), ("src/main.rs".into(), 2)]);
        mentions.selected = 1;
        mentions.choose(&mut written);
        assert_eq!(written.text(), "look at @src/main.rs ");
        assert_eq!(mentions.listed(&written), []);
        let text = "see @src/main.rs:10-40 and @src/main.rs and @other";
        let links: Vec<String> = mentions.links(text, "/p").into_iter().map(|link| link.uri).collect();
        assert_eq!(links, ["file:///p/src/main.rs#L10-L40", "file:///p/src/main.rs"]);
    }

    #[test]
    fn nothing_is_taken_from_a_list_that_is_about_another_text() {
        let mut mentions = Mentions::default();
        mentions.find("ma".into(), vec![("src/main.rs".into(), 2)]);
        let mut written = composer("@mak");
        mentions.choose(&mut written);
        assert_eq!(written.text(), "@mak");
    }

    #[test]
    fn a_directory_is_looked_into_and_a_list_that_was_closed_stays_closed() {
        let mut mentions = Mentions::default();
        let mut written = composer("@sr");
        mentions.find("sr".into(), vec![("src/".into(), 0)]);
        mentions.choose(&mut written);
        assert_eq!((written.text(), mentions.wanted(&written)), ("@src/", Some("src/")));
        mentions.close(&written);
        assert_eq!(mentions.wanted(&written), None);
    }
}
