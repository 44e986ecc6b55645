//! Earlier sessions for the list on the screen, from the journals and from what agents tell.
//!
//! Reads, remembers and removes, opens none. Invariant: a session that an acp-tui has open is never removed.

use super::args::Common;
use super::conversations;
use super::export;
use super::launch::Surroundings;
use super::resume::{self, Resumed};
use super::trees;
use super::usage::Usage;
use crate::base::date;
use crate::base::paths::visible;
use crate::base::threads;
use crate::config::agents;
use crate::config::schema::Config;
use crate::host::process::Git;
use crate::host::worktrees;
use crate::model::agent::Told;
use crate::store::branch;
use crate::store::claims;
use crate::store::preview::{self, Message};
use crate::store::search::{self, Matcher, Role};
use crate::store::sessions::{self, Known, State};
use crate::ui::cells::{self, Places};
use crate::ui::past::{Archive, Lease};
use crate::ui::state::session_list::{End, Hit, PastSession, Query, Said, Starts, Which, Who};
use crate::ui::state::standing::Standing;
use crate::ui::state::trees::{Fate, Made, Making, Tree, Trees};
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// How long files that are in no commit are counted.
const COUNTING: Duration = Duration::from_secs(2);
/// Places that are shown of what was found.
const MAX_HITS: usize = 500;
/// So many sessions are made ready to be shown by two threads.
const WORTH_A_THREAD: usize = 1000;

pub(super) struct Journals {
    state: PathBuf,
    config: Config,
    /// How many could not be read when they were listed last.
    unread: AtomicUsize,
}

impl Journals {
    /// `state` is acp-tui's directory for state.
    pub fn new(state: PathBuf, config: Config) -> Self {
        Self { state, config, unread: AtomicUsize::new(0) }
    }
}

/// As the screen shows them.
fn shown(sessions: Vec<Known>, configured: &[agents::Listed]) -> Vec<PastSession> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let starts = |known: &Known| {
        let Some(words) = known.argv() else { return Starts::Unknown };
        let Some((command, args)) = words.split_first() else { return Starts::Unknown };
        let is_it = |listed: &&agents::Listed| listed.agent.command == *command && listed.agent.args == args;
        match configured.iter().find(is_it) {
            // By this name it is among those that can be added.
            Some(listed) => Starts::Configured(listed.agent.name.clone()),
            None => Starts::Recorded(words),
        }
    };
    let mut gone: HashMap<PathBuf, bool> = HashMap::new();
    let mut commands: HashMap<String, Starts> = HashMap::new();
    let mut ours: HashMap<PathBuf, bool> = HashMap::new();
    // What this process has open is listed by its window, which knows better.
    let mut is_ours = |known: &Known| {
        let mut open = known.journals.iter().filter(|journal| sessions::is_open(journal));
        let writes = |journal: &Path| claims::writer_of(journal).is_some_and(|holder| holder.is_me());
        open.all(|one| *ours.entry(one.clone()).or_insert_with_key(|one| writes(one)))
    };
    let past = |known: Known| {
        let is_gone = *gone.entry(known.cwd.clone()).or_insert_with(|| !known.cwd.is_dir());
        let starts = commands.entry(known.command.clone()).or_insert_with(|| starts(&known)).clone();
        let age = now.saturating_sub(known.updated).as_secs();
        let end = match known.state {
            State::Open if is_ours(&known) => End::Ended,
            State::Open => End::Open,
            State::Interrupted => End::Interrupted,
            State::Ended => End::Ended,
        };
        // Where no time is known none is shown.
        let told = known.used_as_told.clone().or_else(|| known.updated.is_zero().then(String::new));
        let goes_on = known.can.load || known.can.resume;
        let (forks, is_named, is_held) = (known.can.fork, known.is_named, known.is_held);
        let changed = known.changed();
        let one = PastSession::clean(known.session_id, &known.agent, known.command, starts, known.cwd);
        let one = one.about(known.title.as_deref(), known.first_prompt.as_deref(), known.last_prompt.as_deref());
        let one = one.on_branch(known.branch.as_deref()).also(known.also);
        let one = one.told(told.as_deref(), forks, is_named).going_on(goes_on).changing(changed);
        let one = one.of_thread(known.thread, known.created).held(is_held);
        one.used(age, known.turns, end, known.journals, is_gone)
    };
    sessions.into_iter().map(past).collect()
}

impl Archive for Journals {
    fn spent(&self) -> Option<f64> {
        super::spent::today(&self.state, &self.config)
    }

    fn standing(&self, dir: &Path) -> Option<Standing> {
        let branch = branch::of(dir)?;
        // What is staged is compared with commits, which only git reads. In a large tree the branch has to do.
        let git = Git::at(dir).until(Instant::now() + COUNTING);
        let listed = git.run(&[
            "status",
            "--porcelain",
            "-z",
            "--no-renames",
            "--untracked-files=all",
            "--ignore-submodules=dirty",
        ]);
        let files = |listed: Vec<u8>| listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()).count();
        Some(Standing { branch, uncommitted: listed.ok().map(files) })
    }

    fn list(&self) -> Result<Vec<PastSession>, String> {
        let listing = sessions::list(&self.state).map_err(|error| error.to_string())?;
        self.unread.store(listing.problems.len(), Ordering::Relaxed);
        let configured = agents::list(&self.config);
        let mut first: Vec<Known> = listing.sessions.into_iter().filter(|known| !known.is_empty()).collect();
        if first.len() < WORTH_A_THREAD {
            return Ok(shown(first, &configured));
        }
        let second = first.split_off(first.len() / 2);
        let (second, mut all) = threads::both(|| shown(second, &configured), || shown(first, &configured));
        all.extend(second.unwrap_or_default());
        Ok(all)
    }

    fn unread(&self) -> usize {
        self.unread.load(Ordering::Relaxed)
    }

    fn claim(&self, past: &PastSession) -> Result<Option<Lease>, String> {
        // It may have ended since it was listed.
        let open = past.journals.iter().rev().find(|journal| sessions::is_open(journal));
        let open = open.filter(|_| past.end == End::Open);
        let claim = resume::claimed(Some(&self.state), &past.command, &past.id, open.map(PathBuf::as_path));
        Ok(claim?.map(|claim| -> Lease { Box::new(claim) }))
    }

    fn busy(&self, past: &PastSession) -> Option<String> {
        if !past.journals.is_empty() {
            return None;
        }
        // All that is known of it is its agent's word.
        let place = visible(past.cwd.as_os_str());
        if !past.cwd.is_dir() {
            return Some(format!("its directory is gone: {place}"));
        }
        resume::is_too_wide(&past.cwd).then(|| {
            format!("its agent says that it was had in {place}; name its directory: acp-tui --resume ID --cwd DIR")
        })
    }

    fn held(&self, past: &PastSession) -> Option<String> {
        // Before its agent is asked to delete it, which cannot be taken back.
        let copies = || conversations::copies_of(&self.state, |known| is_it(known, &past.which()));
        conversations::held(&past.journals, false).or_else(copies)
    }

    fn forget(&self, past: &PastSession) -> Result<(), String> {
        let row = self.row(&past.which())?;
        conversations::remove(&self.state, &row)
    }

    fn end_of(&self, past: &PastSession) -> Result<Vec<Said>, String> {
        let said = preview::end_of(&self.state, &past.journals, &past.id).map_err(|error| error.to_string())?;
        let (roots, home) = ([past.cwd.clone()], conversations::home());
        let places = Places { roots: &roots, home: home.as_deref() };
        Ok(said.iter().map(|message| Said::new(who(message.role), &words(message, places))).collect())
    }

    fn find(&self, query: &Query) -> Result<(Vec<Hit>, bool), String> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut sessions: HashMap<(PathBuf, String), Arc<PastSession>> = HashMap::new();
        for one in self.list()?.into_iter().map(Arc::new) {
            for journal in &one.journals {
                sessions.insert((journal.clone(), one.id.clone()), Arc::clone(&one));
            }
        }
        let (cwd, origins) = (query.below.clone(), worktrees::origins(&self.state));
        let wanted = search::Query { cwd, origins, ..wanted(&query.text)? };
        let (mut hits, mut more) = (Vec::new(), false);
        let found = search::search(&self.state, &wanted, |found| {
            for one in found {
                if hits.len() >= MAX_HITS {
                    more = true;
                    return false;
                }
                let session = sessions.get(&(one.journal.clone(), one.session_id.clone()));
                hits.extend(session.map(|session| hit(Arc::clone(session), &one, now)));
            }
            true
        });
        found.map_err(|error| error.to_string())?;
        Ok((hits, more))
    }

    fn rename(&self, which: &Which, name: Option<&str>) -> Result<(), String> {
        let row = self.row(which)?;
        sessions::rename(&self.state, &row.known, name.map(str::to_owned)).map_err(|error| error.to_string())
    }

    fn export(&self, which: &Which) -> Result<String, String> {
        let row = self.row(which)?;
        let file = export::beside(&self.state, &row.known).map_err(|why| why.0)?;
        Ok(visible(file.as_os_str()))
    }

    fn trees(&self) -> Trees {
        trees::all(&self.state)
    }

    fn make(&self, making: &Making) -> Result<Vec<Made>, String> {
        trees::make(making)
    }

    fn decide(&self, tree: &Tree, fate: &Fate) -> Result<String, String> {
        trees::decide(&self.state, tree, fate)
    }

    fn learn(&self, told: &Told) -> Result<(), String> {
        sessions::remember(&self.state, told).map_err(|error| error.to_string())
    }
}

impl Journals {
    fn row(&self, which: &Which) -> Result<conversations::Row, String> {
        conversations::find_known(&self.state, |known| is_it(known, which))
    }
}

/// What is looked for, behind what it is looked for in: `agent:NAME`, `role:ROLE`, `tool:NAME`, `file:PATH`,
/// `since:YYYY-MM-DD` and `until:YYYY-MM-DD`. What follows `regex:` is an expression.
fn wanted(text: &str) -> Result<search::Query, String> {
    let (mut query, mut rest) = (search::Query::of(Matcher::literal("")), text);
    loop {
        let (word, behind) = rest.split_once(' ').unwrap_or((rest, ""));
        match word.split_once(':') {
            Some(("agent", name)) if !name.is_empty() => query.agent = Some(name.to_owned()),
            Some(("tool", name)) if !name.is_empty() => query.tool = Some(name.to_owned()),
            Some(("file", path)) if !path.is_empty() => query.file = Some(PathBuf::from(path)),
            Some(("role", name)) => {
                let found = Role::ALL.into_iter().find(|role| role.word() == name);
                query.role = Some(found.ok_or_else(|| format!("role: is user, agent, thought or tool, not `{name}`"))?);
            }
            Some(("since", day)) => {
                query.since = Some(date::day(day).ok_or_else(|| no_day("since", day))?);
            }
            Some(("until", day)) => {
                query.until = Some(date::day(day).ok_or_else(|| no_day("until", day))?);
            }
            _ => {
                let expression = rest.strip_prefix("regex:").map(str::trim_start);
                let sought = expression.unwrap_or(rest);
                if sought.is_empty() {
                    return Err("nothing to look for behind the options".to_owned());
                }
                query.matcher = match expression {
                    Some(sought) => Matcher::regex(sought).map_err(|why| format!("no regular expression: {why}"))?,
                    None => Matcher::literal(sought),
                };
                return Ok(query);
            }
        }
        rest = behind.trim_start();
    }
}

fn no_day(option: &str, day: &str) -> String {
    format!("{option}: takes a day as YYYY-MM-DD, not `{day}`")
}

fn is_it(known: &Known, which: &Which) -> bool {
    known.session_id == which.id
        && known.is_of(&which.command)
        && which.journals.as_ref().is_none_or(|journals| known.journals == *journals)
}

const fn who(role: Role) -> Who {
    match role {
        Role::User => Who::Person,
        Role::Agent => Who::Agent,
        Role::Thought => Who::Thought,
        Role::Tool => Who::Tool,
    }
}

/// A message as the transcript says it: of what was done what was done to what.
fn words<'a>(message: &'a Message, places: Places<'_>) -> Cow<'a, str> {
    match (&message.done, message.role) {
        (Some(call), _) => cells::told(call, places).into(),
        // What a command printed and an agent of the agent's said is not told here.
        (None, Role::Tool) => format!("· {}", message.tool).into(),
        (None, _) => message.text.as_str().into(),
    }
}

fn hit(session: Arc<PastSession>, found: &search::Hit, now: Duration) -> Hit {
    let (begin, line) = found.line();
    let age = now.saturating_sub(found.time).as_secs();
    Hit::new(session, (who(found.role), found.turn), age, line, found.at.start - begin)
}

/// The session that was chosen, as the journals know it now.
pub(super) fn going(chosen: &PastSession, common: &Common, surroundings: &Surroundings) -> Result<Resumed, Usage> {
    let none = || Usage("the session is not there any more".into());
    let dirs = surroundings.dirs.as_ref().ok_or_else(none)?;
    let row = conversations::find_known(&dirs.state, |known| is_it(known, &chosen.which())).map_err(Usage)?;
    resume::going(row.known, common, surroundings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn options_stand_before_what_is_looked_for() {
        let query = wanted("agent:codex role:tool since:2026-01-02 the text: it").unwrap();
        assert_eq!((query.agent.as_deref(), query.role), (Some("codex"), Some(Role::Tool)));
        assert_eq!(
            (query.since, query.matcher.find("x the text: it").map(|at| at.start)),
            (date::day("2026-01-02"), Some(2))
        );
        for (text, why) in [
            ("role:nobody x", "nobody"),
            ("since:friday x", "YYYY-MM-DD"),
            ("role:user ", "nothing to look for"),
            ("regex:", "nothing to look for"),
            ("regex:(x", "no regular expression"),
        ] {
            assert!(wanted(text).unwrap_err().contains(why), "{text}");
        }
        let query = wanted("file:src/a.rs tool:edit until:2026-01-03 regex: f[n]\\s+\\w+").unwrap();
        assert_eq!((query.file.as_deref(), query.tool.as_deref()), (Some(Path::new("src/a.rs")), Some("edit")));
        assert_eq!((query.until, query.matcher.find("a fn  b c")), (date::day("2026-01-03"), Some(2..7)));
        assert!(wanted("std::fs").unwrap().matcher.find("use std::fs;").is_some());
    }

    #[test]
    fn what_was_done_is_told_as_the_transcript_tells_it() {
        let temp = tempfile::tempdir().unwrap();
        let dir = sessions::journals(temp.path());
        std::fs::create_dir(&dir).unwrap();
        let call = |id: &str, title: &str, kind: &str, more: Value| {
            let mut update = json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": title, "kind": kind });
            update["status"] = "completed".into();
            update.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let params = json!({ "sessionId": "s", "update": update });
            json!({ "t": 2, "dir": "agent->client", "frame": { "method": "session/update", "params": params } })
        };
        let diff = json!([{ "type": "diff", "path": "/w/src/a.rs", "oldText": "one\n", "newText": "two\nthree\n" }]);
        let named = "StrReplaceFile: {\"path\": \"/w/src/a.rs\"}";
        let prompt = json!({ "sessionId": "s", "prompt": [{ "type": "text", "text": "mend it" }] });
        let frame = json!({ "id": 1, "method": "session/prompt", "params": prompt });
        let lines = [
            json!({ "v": 2, "started": 1, "cwd": "/w", "command": "a", "codec": "acp-1" }),
            json!({ "t": 1, "dir": "client->agent", "frame": frame }),
            call("toolu_01", named, "edit", json!({ "content": diff })),
            call("toolu_02", "toolu_02", "read", json!({ "locations": [{ "path": "/w/src/b.rs" }] })),
            call(
                "toolu_03",
                "Bash",
                "execute",
                json!({ "rawInput": { "command": "cargo test" }, "rawOutput": { "exit_code": 3 } }),
            ),
        ];
        let journal = dir.join("a.jsonl");
        std::fs::write(&journal, lines.map(|line| format!("{line}\n")).concat()).unwrap();
        let archive = Journals::new(temp.path().to_owned(), Config::default());
        let past = PastSession::clean("s".into(), "A", "a".into(), Starts::Unknown, "/w".into());
        let past = past.used(1, 1, End::Ended, vec![journal], false);
        let said = archive.end_of(&past).unwrap();
        let said: Vec<&str> = said.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(said, ["mend it", "✓ edit src/a.rs +2 −1", "✓ read src/b.rs", "✗ run cargo test exit 3"]);
    }

    /// Where several share a run, its sums are those of all.
    #[test]
    fn what_a_session_has_changed_is_told_and_not_what_others_did_beside_it() {
        let temp = tempfile::tempdir().unwrap();
        let dir = sessions::journals(temp.path());
        std::fs::create_dir(&dir).unwrap();
        let frame = |dir: &str, frame: Value| json!({ "t": 1, "dir": dir, "frame": frame });
        let totals = |added: u64| json!({ "added": added, "removed": 0, "files": 1, "pending": 1 });
        let fact = |fact: Value| json!({ "t": 3, "dir": "host", "at": { "session": 0 }, "fact": fact });
        let seen = fact(json!({ "ChangesSeen": { "session": totals(9), "after": false } }));
        let own = fact(json!({ "OwnChanges": { "totals": totals(2) } }));
        let prompt = json!({ "sessionId": "s", "prompt": [{ "type": "text", "text": "hi" }] });
        let intent = json!({ "Prompt": { "text": "hi", "links": [] } });
        let lines = [
            json!({ "v": 2, "ends": true, "started": 1, "cwd": "/w", "command": "a", "codec": "acp-1" }),
            frame("client->agent", json!({ "id": 0, "method": "session/new", "params": { "cwd": "/w" } })),
            frame("agent->client", json!({ "id": 0, "result": { "sessionId": "s" } })),
            json!({ "t": 2, "dir": "person", "at": { "session": 0 }, "intent": intent }),
            frame("client->agent", json!({ "id": 1, "method": "session/prompt", "params": prompt })),
            seen,
        ];
        let mut text = lines.map(|line| format!("{line}\n")).concat();
        let archive = Journals::new(temp.path().to_owned(), Config::default());
        let mut added = |more: &str| {
            text.push_str(more);
            std::fs::write(dir.join("a.jsonl"), &text).unwrap();
            archive.list().unwrap()[0].totals.map(|totals| totals.added)
        };
        assert_eq!(added(""), Some(9), "it had the run alone");
        assert_eq!(added(&format!("{own}\n")), Some(2));
    }

    #[test]
    fn of_a_repository_the_branch_is_told_and_how_many_files_are_in_no_commit() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("shop");
        std::fs::create_dir(&dir).unwrap();
        let archive = Journals::new(temp.path().to_owned(), Config::default());
        assert_eq!(archive.standing(&dir), None);
        let git = |args: &[&str]| drop(Git::at(&dir).run(args).unwrap());
        git(&["init", "--quiet", "--initial-branch=trunk"]);
        std::fs::create_dir(dir.join("new")).unwrap();
        for name in ["a", "b", "ignored", "new/c", "new/d", ".gitignore"] {
            std::fs::write(dir.join(name), "ignored\n").unwrap();
        }
        let found = |uncommitted| Some(Standing { branch: "trunk".into(), uncommitted: Some(uncommitted) });
        assert_eq!(archive.standing(&dir), found(5));
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "--message=one"]);
        assert_eq!(archive.standing(&dir), found(0));
        std::fs::write(dir.join("a"), "other\n").unwrap();
        std::fs::remove_file(dir.join("new/c")).unwrap();
        std::fs::rename(dir.join("b"), dir.join("e")).unwrap();
        git(&["add", "a", "b", "e"]);
        assert_eq!(archive.standing(&dir.join("new")), found(4));
    }
}
