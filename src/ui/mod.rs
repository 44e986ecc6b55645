//! The full-screen front end: everything the person sees and presses. Only `run` holds the engine; all the rest
//! works on a hand-made [`crate::model::Model`].

pub mod agent_picker;
pub mod autosave;
pub mod cells;
pub mod composer;
pub mod editor_session;
#[cfg(test)]
pub(crate) mod fixtures;
pub mod frame;
pub mod keys;
pub mod labels;
pub mod md;
pub mod message_file;
pub mod msg;
#[cfg(test)]
mod naughty_tests;
pub mod notify;
pub mod pace;
mod paint;
pub mod past;
#[cfg(test)]
mod pictures_tests;
#[cfg(test)]
mod random_tests;
pub mod run;
pub mod screen;
pub mod session_picker;
pub mod state;
pub mod status_line;
pub mod transcript;
pub mod tty;
pub mod update;
pub mod view;
pub mod work;
