//! The person's repositories: where they are, how they are set, whether what they keep of a file can be believed.
//!
//! Reads only, takes no lock, and opens nothing that `plain` has not looked at. Invariants: a file of git's that cannot
//! be used counts as none; an index is believed only where no conversion can stand between a file and its blob.

use super::git_index::{self, Index};
use super::plain::{self, Links, Odd};
use super::rules;
use super::walk::{self, RelPath, Stat};
use crate::base::paths;
use gix::bstr::{BString, ByteSlice as _};
use gix::config::file::Metadata;
use gix::config::file::init::Options;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Attributes that make a file differ from its blob.
const CONVERTING: &[&str] = &["filter", "text", "eol", "ident", "working-tree-encoding", "crlf"];
/// Larger files of attributes are not read: they count as converting.
const ATTRIBUTES: u64 = 1 << 20;
/// Larger settings are not read.
const CONFIG: u64 = 1 << 20;
/// Files of settings that are read of one repository, with those that they include.
const CONFIGS: usize = 64;
/// Stores of objects that one leads to.
const STORES: usize = 16;
/// A file that says where something else is.
const POINTER: u64 = 8 << 10;

// ---- where it is

/// The directories of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Dirs {
    git: PathBuf,
    /// That of the main working tree, when this is another one.
    common: PathBuf,
}

/// Those of the repository that begins in `dir`, if one does.
fn dirs(dir: &Path) -> Result<Option<Dirs>, (PathBuf, Odd)> {
    let mut git = dir.join(".git");
    match git.metadata() {
        Err(_) => return Ok(None),
        Ok(meta) if meta.is_dir() => {}
        Ok(_) => match pointer(&git).map_err(|odd| (git.clone(), odd))? {
            Some(line) => {
                let Some(to) = line.strip_prefix(b"gitdir:") else { return Err((git, Odd::Broken)) };
                git = dir.join(walk::path(to.trim()));
            }
            None => return Ok(None),
        },
    }
    let place = git.join("commondir");
    let common = match pointer(&place).map_err(|odd| (place, odd))? {
        Some(to) => git.join(walk::path(&to)),
        None => git.clone(),
    };
    Ok(Some(Dirs { git, common }))
}

/// The first line of a small file.
fn pointer(path: &Path) -> Result<Option<Vec<u8>>, Odd> {
    let text = plain::read(path, Links::Followed, POINTER)?;
    Ok(text.and_then(|text| text.lines().next().map(|line| line.trim().to_vec())))
}

/// The rules that only the repository which begins in `dir` has.
pub(crate) fn exclude(dir: &Path) -> Option<PathBuf> {
    Some(dirs(dir).ok()??.common.join("info").join("exclude"))
}

/// The directory of the person's settings for git.
fn settings() -> Option<PathBuf> {
    let dir = set("XDG_CONFIG_HOME").or_else(|| Some(home()?.join(".config")));
    dir.map(|dir| dir.join("git"))
}

fn home() -> Option<PathBuf> {
    set("HOME")
}

fn set(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The person's settings, the strongest first; then those of the system.
fn global_configs() -> Vec<PathBuf> {
    let mut files = match set("GIT_CONFIG_GLOBAL") {
        Some(file) => vec![file],
        None => [home().map(|home| home.join(".gitconfig")), settings().map(|dir| dir.join("config"))]
            .into_iter()
            .flatten()
            .collect(),
    };
    match set("GIT_CONFIG_SYSTEM") {
        Some(file) => files.push(file),
        None if set("GIT_CONFIG_NOSYSTEM").is_some() => {}
        None => files.extend(SYSTEM.iter().map(|dir| Path::new(dir).join("gitconfig"))),
    }
    files.retain(|file| !is_nothing(file));
    files
}

/// What is named, or linked to, where there is to be no file.
const NOTHING: &str = "/dev/null";

fn is_nothing(file: &Path) -> bool {
    file.canonicalize().is_ok_and(|real| real == Path::new(NOTHING))
}

/// Where the system's settings may be.
const SYSTEM: &[&str] = &["/etc", "/usr/etc", "/usr/local/etc", "/opt/homebrew/etc"];

/// The file of rules that holds in all of the person's repositories.
pub(crate) fn global_exclude() -> Option<PathBuf> {
    let said = global_configs().iter().find_map(|file| {
        let config = read_config(file).ok()??;
        Some(expand(config.string("core.excludesFile")?, file))
    });
    said.or_else(|| settings().map(|dir| dir.join("ignore"))).filter(|file| !is_nothing(file))
}

// ---- how it is set

fn read_config(file: &Path) -> Result<Option<gix::config::File>, Odd> {
    let Some(text) = plain::read(file, Links::Followed, CONFIG)? else { return Ok(None) };
    let read = gix::config::File::from_bytes_no_includes(&text, Metadata::api(), Options::default());
    read.map(Some).map_err(|_| Odd::Broken)
}

/// A path in settings: below the person's directory, or from the file that it stands in.
fn expand(value: BString, from: &Path) -> PathBuf {
    let path = match value.strip_prefix(b"~/") {
        Some(rest) => home().unwrap_or_default().join(walk::path(rest)),
        None => walk::path(&value).to_owned(),
    };
    from.parent().map_or(path.clone(), |dir| dir.join(path))
}

/// The directory of hooks that the settings in a directory of git's name; from the working tree that it lies in.
pub(crate) fn hooks_named(git: &Path) -> Option<PathBuf> {
    let set = |name| read_config(&git.join(name)).ok()??.string("core.hooksPath");
    let named = expand(["config.worktree", "config"].into_iter().find_map(set)?, git);
    // Elsewhere it is not known where that is.
    (git.ends_with(".git") || !named.starts_with(git.parent()?)).then_some(named)
}

/// All settings that may hold, those with conditions too.
#[derive(Default)]
struct Config {
    files: Vec<(PathBuf, gix::config::File)>,
    /// Files that are to be read, whether they are there or not.
    named: Vec<PathBuf>,
    /// There are some that are not known.
    unclear: bool,
}

impl Config {
    fn read(files: Vec<PathBuf>) -> Self {
        let mut config = Self { unclear: std::env::var_os("GIT_CONFIG_COUNT").is_some(), ..Self::default() };
        let mut todo = files;
        let mut seen = 0;
        while let Some(file) = todo.pop() {
            seen += 1;
            if seen > CONFIGS {
                config.unclear = true;
                break;
            }
            config.named.push(file.clone());
            match read_config(&file) {
                Ok(None) => {}
                Err(_) => config.unclear = true,
                Ok(Some(read)) => {
                    let sections = read.sections().filter(|s| {
                        let name = s.header().name();
                        name.eq_ignore_ascii_case(b"include") || name.eq_ignore_ascii_case(b"includeIf")
                    });
                    let more = sections.flat_map(|section| section.values("path")).map(|path| expand(path, &file));
                    todo.extend(more.collect::<Vec<_>>());
                    config.files.push((file, read));
                }
            }
        }
        config
    }

    fn all(&self, key: &'static str) -> impl Iterator<Item = (&Path, BString)> {
        self.files.iter().flat_map(move |(file, config)| {
            config.strings(key).unwrap_or_default().into_iter().map(|value| (file.as_path(), value))
        })
    }
}

/// The files of settings that one includes, also under conditions, with those that these include.
pub(crate) fn included(file: &Path) -> Vec<PathBuf> {
    let text = plain::read(file, Links::Followed, CONFIG).ok().flatten().unwrap_or_default();
    if text.to_ascii_lowercase().find(b"[include").is_none() {
        return Vec::new();
    }
    let named = Config::read(vec![file.to_owned()]).named;
    named.into_iter().filter(|other| other != file).collect()
}

/// A repository of the person's.
pub(crate) struct Repo {
    dirs: Dirs,
    work: PathBuf,
    config: Config,
}

impl Repo {
    /// The repository that the tree at `root` belongs to, if git and we can work with it.
    pub(crate) fn find(root: &Path) -> Option<Self> {
        let (top, dirs) = find(root).ok()??;
        let own = dirs.common.join("config");
        // Without it it is unknown how the names of objects are made.
        let config = read_config(&own).ok()?;
        let word = |key| config.as_ref().and_then(|config| config.string(key));
        if word("extensions.objectFormat").is_some_and(|format| !format.eq_ignore_ascii_case(b"sha1")) {
            return None;
        }
        let work = match word("core.worktree") {
            Some(place) => dirs.git.join(walk::path(&place)),
            None => top,
        };
        let mut files = global_configs();
        files.extend([own, dirs.git.join("config.worktree")]);
        Some(Self { work: work.canonicalize().ok()?, config: Config::read(files), dirs })
    }

    /// The directory of its objects.
    pub(crate) fn objects(&self) -> PathBuf {
        let dir = self.dirs.common.join("objects");
        dir.canonicalize().unwrap_or(dir)
    }

    fn index_path(&self) -> PathBuf {
        self.dirs.git.join("index")
    }

    /// What the system says of its index, which is not opened for it.
    pub(crate) fn index_stat(&self) -> Option<Stat> {
        Some(Stat::of_meta(&self.index_path().metadata().ok()?))
    }

    /// Its index, as far as it is about the tree at `root`.
    pub(crate) fn index(&self, root: &Path) -> Option<Index> {
        let mut prefix = walk::bytes(root.strip_prefix(&self.work).ok()?).to_vec();
        if !prefix.is_empty() {
            prefix.push(b'/');
        }
        Index::read(&self.index_path(), prefix)
    }

    /// Whether a file may differ from its blob. `attributes` are the files of that name in the tree.
    pub(crate) fn converts(&self, root: &Path, index: &Index, attributes: &BTreeSet<RelPath>) -> bool {
        let plain = |value: &BString| [&b"false"[..], b"no", b"off", b"0"].contains(&value.as_slice());
        let trust = gix::sec::Trust::from_path_ownership(&self.dirs.git);
        if self.config.unclear
            || !trust.is_ok_and(|trust| trust == gix::sec::Trust::Full)
            || self.config.all("core.autocrlf").any(|(_, value)| !plain(&value))
        {
            return true;
        }
        let mut files = vec![self.dirs.common.join("info").join("attributes")];
        files.extend(SYSTEM.iter().map(|dir| Path::new(dir).join("gitattributes")));
        files.extend(self.config.all("core.attributesFile").map(|(from, value)| expand(value, from)));
        files.extend(settings().map(|dir| dir.join("attributes")));
        // Those above the root, up to the top of the working tree.
        let above = root.ancestors().skip(1).take(index.prefix().split(|byte| *byte == b'/').count() - 1);
        files.extend(above.map(|dir| dir.join(".gitattributes")));
        files.extend(attributes.iter().map(|key| root.join(walk::path(key))));
        files.iter().filter(|file| *file != Path::new(NOTHING)).any(|file| converting(file))
            || index.hides_attributes(attributes)
    }
}

/// Where the repository begins that the tree at `root` belongs to, and its directories.
fn find(root: &Path) -> Result<Option<(PathBuf, Dirs)>, (PathBuf, Odd)> {
    for dir in root.ancestors() {
        match dirs(dir)? {
            Some(dirs) if dirs.common.join("objects").is_dir() => return Ok(Some((dir.to_owned(), dirs))),
            _ => {}
        }
    }
    Ok(None)
}

/// What the system says of the index of the repository that begins in `dir`, which is not opened for it.
pub(crate) fn index_stat(dir: &Path) -> Option<Stat> {
    let index = dirs(dir).ok()??.git.join("index");
    Some(Stat::of_meta(&index.metadata().ok()?))
}

/// The files of rules in the directories above the tree at `root`, up to where its repository begins.
pub(crate) fn rules_above(root: &Path) -> Vec<PathBuf> {
    let Ok(Some((top, _))) = find(root) else { return Vec::new() };
    root.ancestors().skip(1).take_while(|dir| dir.starts_with(&top)).map(|dir| dir.join(rules::NAME)).collect()
}

/// The directories that git has of the repository which begins in `dir`: real paths.
pub(crate) fn own_dirs(dir: &Path) -> BTreeSet<PathBuf> {
    let Ok(Some(Dirs { git, common })) = dirs(dir) else { return BTreeSet::new() };
    [git, common].iter().filter_map(|dir| dir.canonicalize().ok()).collect()
}

/// The files that git tracks in the repository which begins in `dir`, by absolute paths. Where that cannot be told, the
/// directories in which it may track any.
pub(crate) fn tracked(dir: &Path, each: &mut dyn FnMut(&Path)) -> Vec<PathBuf> {
    let Ok(Some(Dirs { git, common })) = dirs(dir) else { return Vec::new() };
    let config = read_config(&common.join("config"));
    let word = |key| config.as_ref().ok()?.as_ref()?.string(key);
    let mut tops = vec![dir.to_owned()];
    tops.extend(word("core.worktree").and_then(|place| git.join(walk::path(&place)).canonicalize().ok()));
    let is_long = word("extensions.objectFormat").is_some_and(|format| format.eq_ignore_ascii_case(b"sha256"));
    let mut found = |name: &[u8]| tops.iter().for_each(|top| each(&top.join(walk::path(name))));
    if git_index::names(&git.join("index"), is_long, &mut found).is_err() { tops } else { Vec::new() }
}

/// The list of other stores that cannot be used, of this store or of one that it leads to.
fn other_stores(objects: &Path) -> Result<(), (PathBuf, Odd)> {
    let (mut todo, mut seen) = (vec![objects.to_owned()], BTreeSet::new());
    while let Some(dir) = todo.pop() {
        let file = dir.join("info").join("alternates");
        if seen.len() > STORES {
            return Err((file, Odd::Broken));
        }
        if !seen.insert(dir.clone()) {
            continue;
        }
        match plain::read(&file, Links::Followed, POINTER) {
            Ok(text) => todo.extend(text.unwrap_or_default().lines().map(|line| dir.join(walk::path(line)))),
            Err(odd) => return Err((file, odd)),
        }
    }
    Ok(())
}

/// What of git's own files, and of the rules outside of the tree at `root`, is not made use of, in words. `tops` are
/// the directories below in which a repository begins.
pub(crate) fn odd(root: &Path, tops: &[PathBuf]) -> Vec<String> {
    const NO_RULES: &str = "its rules are not applied";
    const NOT_USED: &str = "what this repository has is copied instead of being read from there";
    let mut out = Vec::new();
    let mut name = |file: &Path, odd: Option<Odd>, then: &str| {
        let Some(odd) = odd else { return };
        let file = paths::visible(file.strip_prefix(root).unwrap_or(file).as_os_str());
        out.push(format!("{file}: {odd}, {then}"));
    };
    let found = find(root).unwrap_or_else(|(file, odd)| {
        name(&file, Some(odd), NOT_USED);
        None
    });
    if let Some((_, dirs)) = &found {
        let (config, index) = (dirs.common.join("config"), dirs.git.join("index"));
        name(&config, read_config(&config).err(), NOT_USED);
        name(&index, git_index::why_not(&index), "so ignored files that git tracks are not known to be tracked");
        for file in rules_above(root) {
            name(&file, rules::why_not(&file, Links::Refused), NO_RULES);
        }
    }
    let mut tops: BTreeSet<&Path> = tops.iter().map(PathBuf::as_path).collect();
    tops.extend(found.as_ref().map(|(top, _)| top.as_path()));
    for top in tops {
        match dirs(top) {
            Ok(Some(dirs)) => {
                let exclude = dirs.common.join("info").join("exclude");
                name(&exclude, rules::why_not(&exclude, Links::Followed), NO_RULES);
                if let Err((file, odd)) = other_stores(&dirs.common.join("objects")) {
                    name(&file, Some(odd), NOT_USED);
                }
            }
            // That of the root's repository is named above.
            Err((file, odd)) if top != root => name(&file, Some(odd), NOT_USED),
            _ => {}
        }
    }
    for file in global_configs() {
        name(&file, read_config(&file).err(), "what it says is not known");
    }
    if let Some(file) = global_exclude() {
        name(&file, rules::why_not(&file, Links::Followed), NO_RULES);
    }
    out
}

/// Whether a path names a file of attributes.
pub(crate) fn is_attributes(path: &[u8]) -> bool {
    path.rsplit(|byte| *byte == b'/').next() == Some(b".gitattributes")
}

/// Whether a file of attributes speaks of conversion. One that is not there does not.
pub(crate) fn converting(file: &Path) -> bool {
    let text = match plain::read(file, Links::Followed, ATTRIBUTES) {
        Ok(Some(text)) => text,
        Ok(None) => return false,
        Err(_) => return true,
    };
    text.lines().map(|line| line.trim()).filter(|line| !line.starts_with(b"#")).any(|line| {
        // An attribute that is taken away (`-text`, `!eol`) converts nothing.
        line.fields().skip(1).any(|word| {
            let name = word.split_once_str("=").map_or(word, |(name, _)| name);
            CONVERTING.iter().any(|given| given.as_bytes() == name)
        })
    })
}
