//! One word of a shell line: what it says for certain, and what only shows when it runs.
//!
//! The quoting is read here rather than by the parser's own reading of words, which misses substitutions after a tilde
//! and takes what it cannot read for text. Knows nothing of rules. Invariants: a substitution is always found, or the
//! word is in doubt; what shells read differently is in doubt.

use super::Doubt;

/// Stands for the name of a variable where something is made of what a command prints.
pub(super) const OUTPUT: &str = "(";

/// What one word may become by its expansions.
const MAX_OTHERS: usize = 32;

/// What follows the known text of a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rest {
    #[default]
    Nothing,
    /// Text of the same word.
    Text,
    /// Any number of words, or none.
    Words,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// What the word begins with; all of it when nothing follows.
    pub(super) text: String,
    pub(super) rest: Rest,
    /// What follows are names of files.
    pub(super) is_glob: bool,
    /// What follows is split at blanks: further words may begin with anything.
    pub(super) is_split: bool,
    /// What follows may lead out of the directory that the text begins with.
    pub(super) is_free: bool,
    /// Begins with a `~` that the shell replaces.
    pub(super) is_tilde: bool,
    /// Variables that what follows is made of; [`OUTPUT`] for what a command prints.
    pub(super) made_of: Vec<String>,
    /// Where something follows, all that stands there, with `*` for what only shows when it runs.
    pub(super) shape: String,
}

impl Word {
    /// Any words, or none.
    pub(super) fn any() -> Self {
        Self { rest: Rest::Words, is_split: true, is_free: true, ..Self::default() }
    }

    pub(super) fn is_known(&self) -> bool {
        self.rest == Rest::Nothing
    }

    /// The text, or what it may become.
    pub(super) fn looks(&self) -> &str {
        if self.is_known() { &self.text } else { &self.shape }
    }

    /// The text, if all of it is known.
    pub(super) fn known(&self) -> Option<&str> {
        self.is_known().then_some(self.text.as_str())
    }

    /// Whether it may turn out to be an option.
    pub(super) fn could_be_option(&self) -> bool {
        !self.is_known() && (self.is_split || self.text.is_empty() || self.text.starts_with(['-', '+']))
    }

    /// Whether it may turn out to be an option, and which one is not known.
    pub(super) fn could_be_another_option(&self) -> bool {
        let is_known_one = self.text.starts_with("--") && self.text.contains('=') && !self.is_split;
        self.could_be_option() && !is_known_one
    }

    /// Whether it is known to be the name of a file below the directory, with anything behind it: neither an option nor
    /// a subcommand nor an address.
    pub(super) fn is_below(&self) -> bool {
        !self.is_split
            && self.text.starts_with(|c: char| c == '.' || c.is_ascii_alphanumeric())
            && self.text.contains('/')
            && !self.text.contains([':', '='])
    }
}

/// What was found in a word beside its text.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The lines of substitutions.
    pub(super) lines: Vec<String>,
    pub(super) doubts: Vec<Doubt>,
    /// What the word may become where expansions put words of their own into it, with `*` for what is not known.
    pub(super) texts: Vec<String>,
    /// There are more of them than are looked at.
    pub(super) has_more: bool,
}

/// Reads a word as it stands in the line.
pub(super) fn read(raw: &str, found: &mut Found) -> Word {
    let chars: Vec<char> = raw.chars().collect();
    let word = Word::default();
    let mut reader = Reader { chars: &chars, at: 0, word, shape: String::new(), others: Vec::new(), last: '/', found };
    reader.unquoted();
    let Reader { mut word, shape, others, .. } = reader;
    found.texts.extend(others);
    if !word.is_known() {
        word.shape = shape;
    }
    word
}

/// The substitutions in the body of a here-document.
pub(super) fn read_document(body: &str, found: &mut Found) {
    let chars: Vec<char> = body.chars().collect();
    let word = Word::default();
    let mut reader = Reader { chars: &chars, at: 0, word, shape: String::new(), others: Vec::new(), last: '/', found };
    reader.quoted(None);
    let others = reader.others;
    found.texts.extend(others);
}

struct Reader<'a> {
    chars: &'a [char],
    at: usize,
    word: Word,
    /// What it may become, with `*` for what is not known.
    shape: String,
    /// The same with what expansions may put there.
    others: Vec<String>,
    /// What was last read as text of the word.
    last: char,
    found: &'a mut Found,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek(0);
        self.at += usize::from(next.is_some());
        next
    }

    fn show(&mut self, c: char) {
        self.shape.push(c);
        self.others.iter_mut().for_each(|other| other.push(c));
    }

    fn push(&mut self, c: char) {
        self.show(c);
        if self.word.is_known() {
            self.word.text.push(c);
        } else if c == '.' && self.last == '.' {
            self.word.is_free = true;
        }
        self.last = c;
    }

    fn open(&mut self, rest: Rest) {
        self.show('*');
        self.word.rest = self.word.rest.max(rest);
        self.word.is_split |= rest == Rest::Words;
        self.word.is_free = true;
    }

    fn doubt(&mut self, doubt: Doubt) {
        self.found.doubts.push(doubt);
    }

    fn is_made_of(&mut self, name: &str) {
        self.word.made_of.push(name.to_owned());
    }

    fn unquoted(&mut self) {
        if self.chars == ['['] {
            return self.push('[');
        }
        while let Some(c) = self.next() {
            match c {
                '\\' => match self.next() {
                    Some('\n') => {}
                    Some(c) => self.push(c),
                    None => self.doubt(Doubt::Unreadable),
                },
                '\'' => self.single(),
                '"' => self.quoted(Some('"')),
                '$' => self.dollar(false),
                '`' => self.backquoted(false),
                '*' | '?' => self.glob(c),
                '[' if self.chars[self.at..].contains(&']') => self.glob(c),
                '{' => self.brace(),
                '~' if self.at == 1 => {
                    self.word.is_tilde = true;
                    if matches!(self.peek(0), Some('+' | '-' | '[' | '0'..='9')) {
                        self.doubt(Doubt::Dialect);
                    }
                    self.push('~');
                }
                // One shell puts the program's path there.
                '=' if self.at == 1 => {
                    self.doubt(Doubt::Dialect);
                    self.push('=');
                }
                // The parser would have ended the word here, or it is a pattern of one shell that may run commands.
                '(' | ')' | '<' | '>' | '|' | '&' | ';' | ' ' | '\t' | '\n' => {
                    self.doubt(Doubt::Dialect);
                    self.open(Rest::Words);
                    self.nested_text(self.at - 1);
                }
                c => self.push(c),
            }
        }
    }

    fn glob(&mut self, mark: char) {
        self.show(mark);
        // `.*` may be the directory above.
        self.word.is_free |= self.last == '.';
        self.word.is_glob = true;
        self.word.rest = Rest::Words;
    }

    fn brace(&mut self) {
        let rest = &self.chars[self.at..];
        // What stands behind the last `}` makes no list of it: `@{u}..`.
        let end = rest.iter().rposition(|c| *c == '}').unwrap_or(0);
        let inner = &rest[..end];
        if inner.contains(&',') || inner.windows(2).any(|two| two == ['.', '.']) {
            self.glob('{');
            self.word.is_free = true;
        } else {
            self.push('{');
        }
    }

    fn single(&mut self) {
        loop {
            match self.next() {
                Some('\'') => return,
                Some(c) => self.push(c),
                None => return self.doubt(Doubt::Unreadable),
            }
        }
    }

    /// Inside double quotes, or a here-document, which has no end.
    fn quoted(&mut self, end: Option<char>) {
        while let Some(c) = self.next() {
            match c {
                c if Some(c) == end => return,
                '\\' => match self.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '\\')) => self.push(c),
                    Some('"') if end.is_some() => self.push('"'),
                    Some(c) => {
                        self.push('\\');
                        self.push(c);
                    }
                    None => self.push('\\'),
                },
                '$' => self.dollar(true),
                '`' => self.backquoted(true),
                c => self.push(c),
            }
        }
        if end.is_some() {
            self.doubt(Doubt::Unreadable);
        }
    }

    fn dollar(&mut self, is_quoted: bool) {
        let split = if is_quoted { Rest::Text } else { Rest::Words };
        match self.peek(0) {
            Some('(') => {
                self.at += 1;
                let inner = self.until(')');
                match inner.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
                    Some(sum) if sum.chars().all(is_of_sum) => self.open(Rest::Text),
                    Some(sum) => {
                        // Names are evaluated again and may hold commands; or it is a group of commands after all.
                        self.doubt(Doubt::Arithmetic);
                        self.is_made_of(OUTPUT);
                        read_document(sum, self.found);
                        self.found.lines.push(inner);
                        self.open(split);
                    }
                    None => {
                        self.found.lines.push(inner);
                        self.is_made_of(OUTPUT);
                        self.open(split);
                    }
                }
            }
            Some('{') => {
                self.at += 1;
                let inner = self.until('}');
                let end = inner.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(inner.len());
                // Of an empty name it is not known what it is.
                self.is_made_of(inner.get(..end).filter(|name| !name.is_empty()).unwrap_or(OUTPUT));
                if !is_plain_parameter(&inner) {
                    self.doubt(Doubt::Parameter);
                    read_document(&inner, self.found);
                }
                let before: Vec<String> = std::iter::once(&self.shape).chain(&self.others).cloned().collect();
                self.open(if inner.starts_with(['@', '*']) { Rest::Words } else { split });
                self.put(&before, &inner);
            }
            Some('\'') if !is_quoted => {
                // A shell without this quoting ends it at another place.
                self.doubt(Doubt::Dialect);
                self.at += 1;
                self.escaped();
            }
            Some('"') if !is_quoted => self.doubt(Doubt::Dialect),
            Some('[') => {
                self.doubt(Doubt::Arithmetic);
                self.open(split);
            }
            Some('@') => {
                self.at += 1;
                self.is_made_of("@");
                self.open(Rest::Words);
            }
            Some('*') => {
                self.at += 1;
                self.is_made_of("@");
                self.open(split);
            }
            Some('#' | '?' | '$' | '!' | '-') => {
                self.at += 1;
                self.open(Rest::Text);
            }
            Some('0'..='9') => {
                self.at += 1;
                self.is_made_of("@");
                self.open(split);
            }
            Some(c) if c == '_' || c.is_ascii_alphabetic() => {
                let start = self.at;
                while self.peek(0).is_some_and(|c| c == '_' || c.is_ascii_alphanumeric()) {
                    self.at += 1;
                }
                let name: String = self.chars[start..self.at].iter().collect();
                self.is_made_of(&name);
                // One shell reads an index here, and evaluates it.
                if self.peek(0) == Some('[') {
                    self.doubt(Doubt::Dialect);
                }
                self.open(split);
            }
            _ => self.push('$'),
        }
    }

    /// What an expansion may put behind each of what stands before it.
    fn put(&mut self, before: &[String], inner: &str) {
        let words: Vec<String> = put_by(inner).flat_map(|text| pieces(text, self.found)).collect();
        let all = before.iter().flat_map(|before| words.iter().map(move |word| format!("{before}{word}")));
        let room = MAX_OTHERS.saturating_sub(self.others.len());
        self.found.has_more |= before.len() * words.len() > room;
        self.others.extend(all.take(room));
        self.found.texts.extend(words);
    }

    /// After `$'`.
    fn escaped(&mut self) {
        while let Some(c) = self.next() {
            match c {
                '\'' => return,
                '\\' => {
                    let c = match self.next() {
                        Some('n') => '\n',
                        Some('t') => '\t',
                        Some('x') => self.number(16, 2),
                        Some('u') => self.number(16, 4),
                        Some('U') => self.number(16, 8),
                        Some('0'..='7') => {
                            self.at -= 1;
                            self.number(8, 3)
                        }
                        Some(c) => c,
                        None => break,
                    };
                    self.push(c);
                }
                c => self.push(c),
            }
        }
        self.doubt(Doubt::Unreadable);
    }

    fn number(&mut self, radix: u32, digits: usize) -> char {
        let mut number = 0;
        for _ in 0..digits {
            let Some(digit) = self.peek(0).and_then(|c| c.to_digit(radix)) else { break };
            number = number * radix + digit;
            self.at += 1;
        }
        char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn backquoted(&mut self, is_quoted: bool) {
        let mut inner = String::new();
        loop {
            match self.next() {
                Some('`') => break,
                // Which of them count differs between shells.
                Some('\\') => {
                    self.doubt(Doubt::Dialect);
                    inner.extend(self.next());
                }
                Some(c) => inner.push(c),
                None => {
                    self.doubt(Doubt::Unreadable);
                    break;
                }
            }
        }
        self.found.lines.push(inner);
        self.is_made_of(OUTPUT);
        self.open(if is_quoted { Rest::Text } else { Rest::Words });
    }

    /// What stands before the closing character that belongs to the opening one before `at`.
    fn until(&mut self, close: char) -> String {
        let start = self.at;
        let end = closing(self.chars, start, close);
        let inner: String = self.chars[start..end.unwrap_or(self.chars.len())].iter().collect();
        match end {
            Some(end) => self.at = end + 1,
            None => {
                self.at = self.chars.len();
                self.doubt(Doubt::Unreadable);
            }
        }
        // What closes what is not as plain there as it looks.
        if close == ')' && (inner.contains("<<") || inner.contains('#') || inner.contains("case")) {
            self.doubt(Doubt::Dialect);
        }
        inner
    }

    /// What is unsure may still hold a command that is denied.
    fn nested_text(&mut self, from: usize) {
        let rest: String = self.chars[from..].iter().filter(|c| !matches!(c, '(' | ')')).collect();
        self.found.lines.push(rest);
        self.at = self.chars.len();
    }
}

/// Where the group that begins at `at` ends.
fn closing(chars: &[char], mut at: usize, close: char) -> Option<usize> {
    let mut stack = vec![close];
    while let Some(&c) = chars.get(at) {
        let top = *stack.last()?;
        match (top, c) {
            (_, '\\') if top != '\'' => at += 1,
            _ if c == top => {
                stack.pop();
                if stack.is_empty() {
                    return Some(at);
                }
            }
            ('\'', _) => {}
            ('"', '$') if matches!(chars.get(at + 1), Some('(')) => {
                stack.push(')');
                at += 1;
            }
            ('"', '$') if matches!(chars.get(at + 1), Some('{')) => {
                stack.push('}');
                at += 1;
            }
            (_, '`') => stack.push('`'),
            ('"', _) => {}
            (_, '\'' | '"') => stack.push(c),
            (_, '(') => stack.push(')'),
            (_, '$') if matches!(chars.get(at + 1), Some('{')) => {
                stack.push('}');
                at += 1;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

fn is_of_sum(c: char) -> bool {
    c.is_ascii_digit() || " +-*/%()".contains(c)
}

/// The texts that an expansion may put in the place of its variable: what stands behind its operator, and of a replacement
/// also what stands behind each `/`.
fn put_by(inner: &str) -> impl Iterator<Item = &str> {
    let name = inner.trim_start_matches(['!', '#', '@', '*', '?', '$']);
    let rest = name.trim_start_matches(|c: char| c == '_' || c.is_ascii_alphanumeric());
    let rest = rest.strip_prefix('[').map_or(rest, |index| index.split_once(']').map_or(index, |(_, rest)| rest));
    let given = rest.strip_prefix(':').unwrap_or(rest).strip_prefix(['-', '+', '=', '?']);
    let replaced =
        rest.strip_prefix('/').into_iter().flat_map(|text| text.match_indices('/').map(|(at, _)| &text[at + 1..]));
    given.into_iter().chain(replaced)
}

/// The words of such a text, and what each may become.
fn pieces(text: &str, found: &mut Found) -> Vec<String> {
    let mut all = Vec::new();
    for piece in text.split_whitespace() {
        // What is doubtful in it is found where all of the expansion is read.
        let mut inside = Found::default();
        all.push(read(piece, &mut inside).looks().to_owned());
        all.append(&mut inside.texts);
        found.has_more |= inside.has_more;
    }
    all
}

/// `NAME`, `#NAME`, or `NAME` with a plain default or a plain pattern to cut off.
fn is_plain_parameter(inner: &str) -> bool {
    let inner = inner.strip_prefix('#').unwrap_or(inner);
    if matches!(inner, "@" | "*" | "?" | "#" | "$" | "!") {
        return true;
    }
    let end = inner.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(inner.len());
    let (name, rest) = inner.split_at(end);
    let is_name = !name.is_empty() && (!name.starts_with(|c: char| c.is_ascii_digit()) || name.parse::<u32>().is_ok());
    let plain = |rest: &str| rest.chars().all(|c| c.is_ascii_alphanumeric() || "_./*-".contains(c));
    let tail = ["%%", "%", "##", "#", ":-", "-", ":+", "+"].iter().find_map(|op| rest.strip_prefix(op));
    is_name && (rest.is_empty() || tail.is_some_and(plain))
}
