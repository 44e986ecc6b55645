//! A registry as it was read now, or the copy of it that was kept.
//!
//! Invariant: a copy is kept only of what is a registry, and one that serves in place of the registry says so.

use super::fetch;
use super::place::Place;
use crate::base::digest::digest;
use crate::base::human;
use crate::cli::launch::now;
use crate::registry::{self, PUBLIC, Registry};
use crate::store::private::{make_private_dir, open};
use crate::store::replace::{Durability, Replacement};
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Registries of which a copy is kept.
const MAX_COPIES: usize = 20;

#[derive(Debug)]
pub(super) struct Found {
    /// The address of the registry; an agent is this and its id.
    pub source: String,
    pub place: Place,
    pub registry: Registry,
    /// What is to be said of it.
    pub remarks: Vec<String>,
}

impl Found {
    /// The directory of its agents.
    pub fn directory(&self) -> String {
        directory(&self.source)
    }

    fn new(place: Place, registry: Registry, mut remarks: Vec<String>) -> Self {
        remarks.extend(registry.remarks.iter().cloned());
        if registry.is_later {
            remarks.push("the registry has a later format than this client knows: its agents are only shown".into());
        }
        Self { source: place.address(), place, registry, remarks }
    }
}

fn directory(source: &str) -> String {
    if source == PUBLIC { "public".to_owned() } else { format!("{:016x}", digest(&[source.as_bytes()])) }
}

/// The registry that is named; where it cannot be read the copy of it.
///
/// # Errors
/// Says why there is none.
pub(super) async fn named(home: &Path, name: &str, path: &OsStr) -> Result<Found, String> {
    let place = Place::of_registry(name)?;
    let mut bytes = Vec::new();
    let read = match fetch::fetch(&place, registry::MAX_BYTES, path, &mut bytes).await {
        Ok(()) => {
            let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned());
            let read = text.and_then(|text| registry::read(&text).map(|registry| (text, registry)));
            read.map_err(|why| format!("{}: {why}", place.address()))
        }
        Err(why) => Err(why),
    };
    let copy = copies(home).join(format!("{}.json", directory(&place.address())));
    match read {
        Ok((text, registry)) => {
            let kept = keep(&copy, &place.address(), &text);
            let remarks = kept.err().map(|error| format!("no copy of the registry can be kept: {error}"));
            Ok(Found::new(place, registry, remarks.into_iter().collect()))
        }
        Err(why) => match kept(&copy) {
            Some(found) => Ok(Found { remarks: [vec![why, served(&copy)], found.remarks].concat(), ..found }),
            None => Err(why),
        },
    }
}

/// The copy of the registry that was read last.
pub(super) fn newest(home: &Path) -> Option<Found> {
    let all = all_copies(home);
    let copy = all.last()?;
    let found = kept(copy)?;
    Some(Found { remarks: [vec![served(copy)], found.remarks].concat(), ..found })
}

fn copies(home: &Path) -> PathBuf {
    home.join("registries")
}

/// The oldest first.
fn all_copies(home: &Path) -> Vec<PathBuf> {
    let mut all: Vec<(SystemTime, PathBuf)> = std::fs::read_dir(copies(home))
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|end| end == "json"))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    all.sort();
    all.into_iter().map(|(_, path)| path).collect()
}

/// The first line is the address, what follows is the text as it was read.
fn kept(copy: &Path) -> Option<Found> {
    let text = read_copy(copy)?;
    let (address, text) = text.split_once('\n')?;
    Some(Found::new(Place::of_address(address).ok()?, registry::read(text).ok()?, Vec::new()))
}

fn read_copy(copy: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let max = registry::MAX_BYTES + (64 << 10);
    std::io::Read::read_to_end(&mut std::io::Read::take(open(copy).ok()?, max), &mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}

fn keep(copy: &Path, address: &str, text: &str) -> std::io::Result<()> {
    let Some(dir) = copy.parent() else { return Ok(()) };
    make_private_dir(dir)?;
    let mut out = Replacement::of(copy)?;
    out.write_all(address.as_bytes())?;
    out.write_all(b"\n")?;
    out.write_all(text.as_bytes())?;
    out.finish(Durability::None)?;
    let all = dir.parent().map(all_copies).unwrap_or_default();
    for old in all.iter().take(all.len().saturating_sub(MAX_COPIES)) {
        // One that stays is only one too many.
        let _ = std::fs::remove_file(old);
    }
    Ok(())
}

/// That it is a copy, and how old.
fn served(copy: &Path) -> String {
    let since = copy.metadata().and_then(|meta| meta.modified()).ok();
    let since = since.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    let age = since.and_then(|since: Duration| now().checked_sub(since)).unwrap_or_default();
    format!("the registry is the copy that was kept {}; --registry reads it again", human::ago(age.as_secs()))
}
