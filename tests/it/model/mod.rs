//! What the client does with what an agent says: through the core, from lines to lines and to the transcript.

mod addresses;
mod asked;
mod cancel;
mod children;
mod codec;
mod envelope;
mod gate;
mod invariants;
mod journal;
mod later;
mod lifecycle;
mod loading;
mod login;
mod options;
mod permission;
mod prompt;
mod recalled;
mod retold;
mod review;
mod ruling;
mod service;
mod stored;
mod terminal;
mod tool;
mod traps;
mod update;
