//! The vocabulary of a script: one step each, as written in TOML under `do = "…"`.
//!
//! Only shapes and their defaults; what a step does is in `play.rs` and `serve.rs`.
//! Invariant: an unknown step or field is refused, so that a typing mistake cannot make a test pass.

use serde::Deserialize;
use serde_json::Value;

/// A JSON-RPC error, whose `data` may be anything.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorSpec {
    pub code: i64,
    pub message: String,
    #[serde(default)]
    pub data: Option<Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// A thought, streamed in chunks.
    Thought(Stream),
    /// A piece of the answer, streamed in chunks.
    Say(Stream),
    /// The person's own words, played back.
    Echo(Stream),
    /// The whole plan, with the states it has now.
    Plan(Plan),
    Tool(Tool),
    ToolUpdate(Tool),
    /// The announcement of a call, word for word a second time.
    Duplicate(Duplicate),
    Permission(Permission),
    /// Waits for the answers to everything that was asked with `wait = false`.
    #[serde(alias = "settle")]
    AwaitAnswers,
    /// Takes back, with `$/cancel_request`, everything that was asked with `wait = false`.
    Withdraw,
    Seed(Seed),
    Read(Read),
    Write(Write),
    Edit(Edit),
    Terminal(Terminal),
    Usage(Usage),
    Mode(Mode),
    Commands(Commands),
    Title(Title),
    Notice(Notice),
    /// Any other `session/update`.
    Update(Update),
    Wait(Wait),
    Stop(Stop),
    Error(ErrorSpec),
    /// Ends the turn with exactly this result.
    Result(Answer),
    Raw(Raw),
    RawBytes(RawBytes),
    Notify(Message),
    Request(Message),
    Stderr(Text),
    Repeat(Repeat),
    Flood(Flood),
    Die(Die),
    CloseStdout,
    Hang(Hang),
    Late(Steps),
}

/// What goes on after the person refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnReject {
    #[default]
    Continue,
    Stop,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Stream {
    pub text: String,
    /// Characters in a chunk; 0 sends the text in one piece.
    pub chunk: usize,
    pub delay_ms: u64,
    pub message_id: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub entries: Vec<PlanEntry>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanEntry {
    pub content: String,
    #[serde(default = "pending")]
    pub status: String,
    #[serde(default = "medium")]
    pub priority: String,
}

/// `tool` and `tool_update`: `name` is the script's own, made unique for each turn; `id` goes out as it stands.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tool {
    pub name: Option<String>,
    pub id: Option<String>,
    pub title: Option<String>,
    pub kind: Option<String>,
    pub status: Option<String>,
    /// `"src/main.rs"` or `"src/main.rs:12"`, relative to the session's directory.
    pub locations: Option<Vec<String>>,
    /// Shorthand for one block of text.
    pub text: Option<String>,
    pub content: Option<Vec<Value>>,
    pub raw_input: Option<Value>,
    pub raw_output: Option<Value>,
    pub meta: Option<Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Duplicate {
    pub tool: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionOption {
    pub id: String,
    pub name: String,
    pub kind: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Permission {
    /// The name or the id of a tool call; it need not exist.
    pub tool: String,
    /// Further fields of the tool call as the request shows it.
    #[serde(default)]
    pub call: Tool,
    /// The usual three when absent; may be empty.
    #[serde(default)]
    pub options: Option<Vec<PermissionOption>>,
    /// Without waiting, several can be open at once; see `await_answers` and `withdraw`.
    #[serde(default = "yes")]
    pub wait: bool,
    #[serde(default)]
    pub on_reject: OnReject,
    #[serde(default)]
    pub allowed: Vec<Step>,
    #[serde(default)]
    pub rejected: Vec<Step>,
}

/// Lays down the script's files in an empty directory, through the client.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Seed {
    pub title: String,
    /// Played, and the turn ended, when this directory is none of ours. `{why}` says why.
    pub otherwise: Vec<Step>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Read {
    pub path: String,
    #[serde(default)]
    pub line: Option<u32>,
    #[serde(default)]
    pub limit: Option<u32>,
    /// Announces a tool call of this name around it.
    #[serde(default)]
    pub tool: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Write {
    pub path: String,
    pub text: String,
    /// Announces a tool call of this name around it.
    #[serde(default)]
    pub tool: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replace {
    pub old: String,
    pub new: String,
}

/// Reads a file, shows the difference, asks, and writes it, all through the client.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    pub tool: String,
    pub path: String,
    pub replace: Vec<Replace>,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default)]
    pub options: Option<Vec<PermissionOption>>,
    #[serde(default)]
    pub on_reject: OnReject,
    #[serde(default)]
    pub allowed: Vec<Step>,
    #[serde(default)]
    pub rejected: Vec<Step>,
}

/// Whether a command needs the person's word first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    #[default]
    Assumed,
    Ask,
}

/// Who owns the terminal that shows the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TerminalVia {
    /// `terminal/create` and its companions.
    #[default]
    Client,
    /// The agent's own, its output told in `_meta`; `text` is that output.
    Meta,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terminal {
    pub tool: String,
    pub command: String,
    #[serde(default)]
    pub args: Vec<String>,
    #[serde(default)]
    pub env: std::collections::BTreeMap<String, String>,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default)]
    pub output_byte_limit: Option<u64>,
    #[serde(default)]
    pub consent: Consent,
    #[serde(default)]
    pub on_reject: OnReject,
    #[serde(default)]
    pub via: TerminalVia,
    /// The output to show with `via = "meta"`, and what is said when the client has no terminals.
    #[serde(default)]
    pub text: String,
    /// Kill it after so many milliseconds instead of waiting for its end.
    #[serde(default)]
    pub kill_after_ms: Option<u64>,
    #[serde(default = "yes")]
    pub release: bool,
    /// Played when the command did not exit with 0.
    #[serde(default)]
    pub failed: Vec<Step>,
    #[serde(default)]
    pub succeeded: Vec<Step>,
    #[serde(default)]
    pub rejected: Vec<Step>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    pub used: u64,
    pub size: u64,
    #[serde(default)]
    pub cost: Option<f64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    pub id: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commands {
    pub commands: Vec<Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Title {
    pub title: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notice {
    #[serde(default = "info")]
    pub severity: String,
    pub title: String,
    #[serde(default)]
    pub description: Option<String>,
    /// Sent even to a client that did not ask for notices.
    #[serde(default)]
    pub unasked: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Update {
    pub update: Value,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    pub ms: u64,
    /// Waits as long even when the script is played fast.
    #[serde(default)]
    pub firm: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    pub reason: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    pub result: Value,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Raw {
    pub text: String,
    /// The text so many times on the same line.
    #[serde(default = "one")]
    pub times: u64,
    #[serde(default = "yes")]
    pub newline: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawBytes {
    /// Two digits a byte; blanks between them are ignored.
    pub hex: String,
}

/// `notify` and `request`: any method. `json` takes the place of `params` where TOML cannot say it (null).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    pub method: String,
    #[serde(default)]
    pub params: Option<Value>,
    #[serde(default)]
    pub json: Option<String>,
    /// For requests: goes out instead of a number of ours, and its answer is not waited for.
    #[serde(default)]
    pub id: Option<Value>,
    #[serde(default = "yes")]
    pub wait: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    pub text: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    pub times: u64,
    pub step: Vec<Step>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steps {
    pub step: Vec<Step>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flood {
    pub chunks: u64,
    #[serde(default = "word")]
    pub text: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Die {
    #[serde(default)]
    pub code: i32,
    /// `"SIGKILL"` and the like, sent to itself.
    #[serde(default)]
    pub signal: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hang {
    #[serde(default)]
    pub ignore_cancel: bool,
    /// Said once it hangs, so that who reads it knows.
    #[serde(default)]
    pub text: Option<String>,
}

fn yes() -> bool {
    true
}

fn one() -> u64 {
    1
}

fn pending() -> String {
    "pending".to_owned()
}

fn medium() -> String {
    "medium".to_owned()
}

fn info() -> String {
    "info".to_owned()
}

fn word() -> String {
    "word ".to_owned()
}
