//! Takes copied texts to the programs of the system that have a clipboard, one text at a time.
//!
//! Knows neither the terminal nor which programs there are. Invariants: a program that is not there, fails or takes too
//! long is passed over; what came of a text arrives later.

use super::programs::Run;
use crate::ui::msg::What;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Programs that take a text do so at once, and go on by themselves where they have to stay.
const PATIENCE: Duration = Duration::from_secs(2);

/// Writes bytes into a file of this name, or a text into the one for texts, and says where that is.
pub type ToFile = Arc<dyn Fn(Option<&str>, &[u8]) -> io::Result<PathBuf> + Send + Sync>;

/// What can take a text besides the terminal.
#[derive(Clone, Default)]
pub struct Tools {
    /// Programs with their arguments, which read the text, the best first.
    pub programs: Vec<Vec<String>>,
    pub run: Option<Run>,
    /// For a text that is too long for the terminal.
    pub file: Option<ToFile>,
    /// The most bytes that are not too long.
    pub max: usize,
}

/// A text that was to be copied.
#[derive(Debug)]
pub struct Copied {
    pub what: What,
    pub went: Went,
}

#[derive(Debug)]
pub enum Went {
    /// The program has taken it.
    To(String),
    IntoFile(PathBuf),
    /// No program has; the terminal is left.
    Nowhere(String),
    /// As it was wished; nothing when it could not be written.
    Saved(Option<PathBuf>),
}

/// What the loop of the screen holds.
pub struct Copier {
    tools: Tools,
    running: Option<JoinHandle<Copied>>,
    /// Copied meanwhile; an older one that still waits is forgotten, as a clipboard does.
    waiting: Option<(What, String)>,
}

impl Copier {
    pub fn new(tools: Tools) -> Self {
        Self { tools, running: None, waiting: None }
    }

    /// Must be called inside the runtime.
    pub fn copy(&mut self, what: What, text: String) {
        if self.running.is_some() {
            self.waiting = Some((what, text));
            return;
        }
        let tools = self.tools.clone();
        self.running = Some(tokio::spawn(async move { Copied { what, went: take(&tools, text).await } }));
    }

    /// Writes a text into a file. What else is under way is not waited for.
    pub fn save(&mut self, what: What, text: String) {
        let file = self.tools.file.clone();
        self.write(what, move || file.and_then(|file| file(None, text.as_bytes()).ok()));
    }

    /// The same with bytes under a name, which are made beside the screen.
    pub fn save_as(&mut self, what: What, content: impl FnOnce() -> Option<(String, Vec<u8>)> + Send + 'static) {
        let file = self.tools.file.clone();
        self.write(what, move || {
            let (name, bytes) = content()?;
            file.and_then(|file| file(Some(&name), &bytes).ok())
        });
    }

    fn write(&mut self, what: What, write: impl FnOnce() -> Option<PathBuf> + Send + 'static) {
        self.running = Some(tokio::spawn(async move {
            let went = Went::Saved(tokio::task::spawn_blocking(write).await.ok().flatten());
            Copied { what, went }
        }));
    }

    /// What came of the next text. May be dropped and called again.
    pub async fn next(&mut self) -> Copied {
        let Some(running) = &mut self.running else { return std::future::pending().await };
        let copied = running.await;
        self.running = None;
        if let Some((what, text)) = self.waiting.take() {
            self.copy(what, text);
        }
        match copied {
            Ok(copied) => copied,
            Err(_) => std::future::pending().await,
        }
    }
}

async fn take(tools: &Tools, text: String) -> Went {
    for words in &tools.programs {
        if let Some(run) = &tools.run
            && run(words.clone(), text.clone().into_bytes(), PATIENCE).await.is_ok()
        {
            return Went::To(words.first().cloned().unwrap_or_default());
        }
    }
    if let Some(file) = tools.file.clone().filter(|_| text.len() > tools.max) {
        let kept = text.clone();
        if let Ok(Ok(path)) = tokio::task::spawn_blocking(move || file(None, kept.as_bytes())).await {
            return Went::IntoFile(path);
        }
    }
    Went::Nowhere(text)
}
