//! Passes over what of a journal cannot have what is looked for, by a look at its bytes.
//!
//! Decides turn by turn: the messages of a turn are read when one of them may have it. Invariant: no piece of a message is
//! looked at without what was before it.

use super::Query;
use super::clues::{Clues, unescape};
use crate::agent::codec::SharedCodec;
use crate::agent::codec::stored::{self, Called, Look, Origin};
use crate::model::ids::AgentKey;
use crate::store::lines::{self, Row, What};
use crate::store::messages::{Known, Message, Reader, Role};
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// Bytes of a turn that are held until it is known whether they have to be read.
const MAX_HELD: usize = 32 << 20;
/// Streams of a turn that are told apart.
const MAX_STREAMS: usize = 1000;

static ANNOUNCES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("subagent_update"));
static ASKED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("user_message"));
static METHOD: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"method\""));
/// What is in every piece of a history.
static TELLS: LazyLock<[Finder<'static>; 3]> = LazyLock::new(|| ["_message", "_thought", "tool_call"].map(Finder::new));

fn is_told(frame: &str) -> bool {
    TELLS.iter().any(|finder| finder.find(frame.as_bytes()).is_some())
}

/// Holds a turn until it is known whether it is to be read.
pub struct Sieve<'a> {
    query: &'a Query,
    codec: SharedCodec,
    /// Turns of one session do not overlap.
    is_alone: bool,
    /// Frames one behind the other, and what each is.
    held: String,
    rows: Vec<Held>,
    is_wanted: bool,
    streams: Vec<Stream>,
    room: Vec<u8>,
    /// A session is loaded in what is held.
    loads: bool,
    /// A command is run in what is held.
    runs: bool,
    reader: Reader<'a>,
}

struct Held {
    t: f64,
    agent: AgentKey,
    kind: Kind,
    /// A session is loaded by it.
    is_load: bool,
    /// A command is run by it, which may end in a later turn.
    runs: bool,
    /// Where its frame ends.
    end: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sent,
    Heard,
    Fact,
}

/// Pieces of a message or of what a command printed.
struct Stream {
    agent: u32,
    of: [String; 3],
    /// What of it may still matter.
    text: Vec<u8>,
}

impl<'a> Sieve<'a> {
    pub fn new(query: &'a Query, codec: SharedCodec, is_alone: bool) -> Self {
        Self {
            query,
            codec,
            is_alone,
            held: String::new(),
            rows: Vec::new(),
            is_wanted: false,
            streams: Vec::new(),
            room: Vec::new(),
            loads: false,
            runs: false,
            reader: Reader::default().with_host(),
        }
    }

    /// The same where what was said before is left out of what is told late.
    pub fn knowing(self, known: Known<'a>) -> Self {
        Self { reader: Reader::knowing(known).with_host(), ..self }
    }

    pub fn take(&mut self, line: &[u8], out: &mut impl FnMut(Message)) {
        let Some(row) = lines::row(line) else { return };
        let (agent, frame, kind) = match row.what {
            What::Sent(agent, frame) => (agent, frame, Kind::Sent),
            What::Heard(agent, frame) => (agent, frame, Kind::Heard),
            What::Fact(_, fact) if Reader::tells(fact) => (AgentKey::FIRST, fact, Kind::Fact),
            _ => return,
        };
        let called = if kind == Kind::Sent { self.codec.called(frame) } else { None };
        let is_prompt = matches!(called, Some((_, Called::Prompt { .. })));
        if self.held.len() > MAX_HELD {
            self.finish(out);
        } else if is_prompt && self.is_alone {
            self.let_go(out);
        }
        self.is_wanted = self.is_wanted || self.may_have(line, &row);
        if is_prompt && !self.is_wanted {
            // Turns are counted whether they are read or not.
            self.reader.take(&self.codec, &row, out);
            return;
        }
        let is_load = matches!(called, Some((_, Called::Open { origin: Origin::Loaded, .. })));
        self.loads |= is_load;
        let runs = match kind {
            Kind::Sent => called.is_none() && stored::may_have_run(frame),
            Kind::Heard => stored::may_run(frame),
            Kind::Fact => false,
        };
        self.runs |= runs;
        self.held.push_str(frame);
        self.rows.push(Held { t: row.t, agent, kind, is_load, runs, end: self.held.len() });
    }

    pub fn finish(&mut self, out: &mut impl FnMut(Message)) {
        self.let_go(out);
        self.reader.finish(out);
    }

    fn let_go(&mut self, out: &mut impl FnMut(Message)) {
        if let Clues::Looser(looser) = &self.query.matcher.clues {
            self.is_wanted = self.is_wanted || self.streams.iter().any(|stream| looser.is_in(&stream.text));
        }
        // What is heard later of a session that the agent has begun itself is known to be of this one by what announces it.
        // So is that a session was loaded, and what was told to be asked in it. A command may end in a later turn.
        let (is_wanted, loads) = (std::mem::take(&mut self.is_wanted), std::mem::take(&mut self.loads));
        let has_run = std::mem::take(&mut self.runs);
        let announces = |frame: &str| {
            let has = |finder: &Finder<'_>| finder.find(frame.as_bytes()).is_some();
            has(&ANNOUNCES) || loads && has(&ASKED)
        };
        if is_wanted || loads || has_run || announces(&self.held) {
            let told = if loads && !is_wanted { self.cut_off() } else { self.rows.len() };
            let (mut begin, mut is_passed_over) = (0, false);
            for (at, Held { t, agent, kind, is_load, runs, end }) in self.rows.iter().enumerate() {
                let frame = self.held.get(begin..*end).unwrap_or_default();
                begin = *end;
                if is_wanted || *is_load || *runs || at >= told || announces(frame) {
                    let what = match kind {
                        Kind::Sent => What::Sent(*agent, frame),
                        Kind::Heard => What::Heard(*agent, frame),
                        Kind::Fact => What::Fact(None, frame),
                    };
                    if std::mem::take(&mut is_passed_over) {
                        self.reader.passed_over();
                    }
                    self.reader.take(&self.codec, &Row { t: *t, what }, out);
                } else {
                    is_passed_over |= loads && is_told(frame);
                }
            }
        }
        self.streams.clear();
        self.rows.clear();
        self.held.clear();
    }

    /// From which row on what is told of a history has to be known, since it may go on in the turn that follows: from its
    /// last prompt on, or all where it is told behind the answer.
    fn cut_off(&self) -> usize {
        let Some(load) = self.rows.iter().rposition(|row| row.is_load).filter(|_| self.is_alone) else {
            return self.rows.len();
        };
        let ends = |at: usize| Some(self.rows.get(at)?.end);
        let begin = |at: usize| at.checked_sub(1).and_then(ends).unwrap_or_default();
        let frame = |at: usize| ends(at).and_then(|end| self.held.get(begin(at)..end)).unwrap_or_default();
        let heard =
            || (load + 1..self.rows.len()).filter(|at| self.rows.get(*at).is_some_and(|row| row.kind == Kind::Heard));
        let answer = heard().find(|at| METHOD.find(frame(*at).as_bytes()).is_none());
        if answer.is_some_and(|answer| heard().filter(|at| *at > answer).any(|at| is_told(frame(at)))) {
            return load;
        }
        heard().rfind(|at| ASKED.find(frame(*at).as_bytes()).is_some()).unwrap_or(load)
    }

    /// Whether the line, or what ends with it, may have what is looked for.
    fn may_have(&mut self, line: &[u8], row: &Row<'_>) -> bool {
        if self.is_of_others(row) {
            return false;
        }
        if matches!(self.query.matcher.clues, Clues::None) {
            return true;
        }
        if let What::Heard(agent, frame) = row.what {
            match self.codec.look(frame) {
                Look::Piece { of, text } => return self.goes_on(agent.0, of, text),
                Look::Printed { of, text } if self.goes_on(agent.0, of, text) => return true,
                // The text may go on from another piece, or in one.
                Look::Unclear => return true,
                Look::Printed { .. } | Look::Other => {}
            }
        }
        match &self.query.matcher.clues {
            Clues::Words(words) => words.may_be_in_json(line, &mut self.room),
            Clues::Looser(looser) => looser.may_be_in_json(line, &mut self.room),
            Clues::None => true,
        }
    }

    /// Whether nobody says anything in it whose words are looked for: what was asked is sent, or told again.
    fn is_of_others(&self, row: &Row<'_>) -> bool {
        match (self.query.role, row.what) {
            (Some(Role::User), What::Heard(_, frame)) => ASKED.find(frame.as_bytes()).is_none(),
            (Some(Role::User), What::Fact(..)) => true,
            (Some(Role::Agent | Role::Thought | Role::Tool), What::Sent(..)) => true,
            _ => false,
        }
    }

    /// Whether it may be at the end of a message, now that this piece has come.
    fn goes_on(&mut self, agent: u32, of: [&str; 3], text: &str) -> bool {
        let at = self.streams.iter().rposition(|stream| stream.agent == agent && stream.of == of);
        let at = match at {
            Some(at) => at,
            None if self.streams.len() >= MAX_STREAMS => return true,
            None => {
                self.streams.push(Stream { agent, of: of.map(str::to_owned), text: Vec::new() });
                self.streams.len() - 1
            }
        };
        let whole = &mut self.streams[at].text;
        if !unescape(text.as_bytes(), whole) {
            return true;
        }
        let Clues::Words(words) = &self.query.matcher.clues else { return false };
        let is_in = words.is_in(whole);
        whole.drain(..whole.len().saturating_sub(words.reach()));
        is_in
    }
}
