//! The table of processes as `/proc` shows it; the only reader of it.
//!
//! Sends no signal. Invariant: a name may hold anything, parentheses and blanks included, and shifts no field.

/// What the system says of a process.
#[derive(Debug)]
pub struct Stat {
    pub pid: i32,
    pub name: String,
    pub state: char,
    pub parent: i32,
    pub group: i32,
    pub session: i32,
    /// When it was started, in ticks since the system was: with its number it names a process for good.
    pub started: u64,
}

impl Stat {
    /// Dead, and at most not yet waited for.
    pub fn is_dead(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }
}

/// All of them; those that end meanwhile may be missing.
pub fn processes() -> Vec<Stat> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| {
            let pid = entry.ok()?.file_name().to_str()?.parse().ok()?;
            read(pid)
        })
        .collect()
}

/// One of them; `None` when there is none.
pub fn read(pid: i32) -> Option<Stat> {
    let text = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse(pid, &String::from_utf8_lossy(&text))
}

/// The name stands in parentheses and may hold anything, parentheses and blanks included.
fn parse(pid: i32, text: &str) -> Option<Stat> {
    let (before, after) = text.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let mut fields = after.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    // Field 22 of the file is the start time; those above are 3 to 6.
    let session = fields.next()?.parse().ok()?;
    let started = fields.nth(15)?.parse().ok()?;
    Some(Stat { pid, name: name.to_owned(), state, parent, group, session, started })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let text = "12 (a) b (c) S 1 12 3 0 -1 4 5 6 7 8 9 10 11 12 13 14 15 16 777 18";
        let stat = parse(12, text).unwrap();
        assert_eq!((stat.name.as_str(), stat.state, stat.parent, stat.group), ("a) b (c", 'S', 1, 12));
        assert_eq!((stat.session, stat.started), (3, 777));
        assert!(parse(1, "1 (x) S 1").is_none());
    }
}
