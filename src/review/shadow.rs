//! Placeholder.
use super::error::ReviewError;
use super::state::{Change, Oid, State};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
#[derive(Default)]
pub struct Limits;
pub struct Shadow { dir: PathBuf, root: PathBuf, map: BTreeMap<PathBuf, State>, first: bool }
fn hash(b: &[u8]) -> Oid { let mut o=[0;20]; for i in 0..2u8 { let mut h=std::hash::DefaultHasher::new(); i.hash(&mut h); b.hash(&mut h); o[i as usize*8..i as usize*8+8].copy_from_slice(&h.finish().to_be_bytes()); } Oid(o) }
impl Shadow {
    pub fn create(dir: &Path, root: &Path, _l: Limits) -> Result<Self, ReviewError> { std::fs::create_dir_all(dir).unwrap(); Ok(Self { dir: dir.into(), root: root.into(), map: BTreeMap::new(), first: true }) }
    pub fn open(dir: &Path, root: &Path, _l: Limits) -> Result<Self, ReviewError> {
        let map = std::fs::read(dir.join("map")).ok().map(|b| serde_json::from_slice::<Vec<(PathBuf, State)>>(&b).unwrap().into_iter().collect()).unwrap_or_default();
        Ok(Self { dir: dir.into(), root: root.into(), map, first: false }) }
    fn save(&self) { std::fs::write(self.dir.join("map"), serde_json::to_vec(&self.map.iter().collect::<Vec<_>>()).unwrap()).unwrap(); }
    fn walk(&self, at: &Path, out: &mut Vec<PathBuf>) { for e in std::fs::read_dir(at).unwrap().flatten() { let p=e.path(); if e.file_name()==".git" {continue;} let t=e.file_type().unwrap(); if t.is_dir() { self.walk(&p,out) } else { out.push(p.strip_prefix(&self.root).unwrap().to_owned()) } } }
    pub fn scan(&mut self) -> Result<Vec<Change>, ReviewError> {
        let mut paths=vec![]; self.walk(&self.root.clone(), &mut paths); paths.extend(self.map.keys().cloned()); paths.sort(); paths.dedup();
        let first=self.first; self.first=false;
        let c=self.look(&paths)?; Ok(if first {vec![]} else {c})
    }
    pub fn look(&mut self, paths: &[PathBuf]) -> Result<Vec<Change>, ReviewError> {
        let mut out=vec![];
        for p in paths { let (s,c)=self.peek(p)?; if let Some(c)=c { self.keep(&c)?; } let b=self.state(p); if s!=b { out.push(Change{path:p.clone(),before:b,after:s}); self.map.insert(p.clone(),s); } }
        self.save(); Ok(out)
    }
    pub fn state(&self, path: &Path) -> State { self.map.get(path).copied().unwrap_or_default() }
    pub fn peek(&self, path: &Path) -> Result<(State, Option<Vec<u8>>), ReviewError> {
        let full=self.root.join(path);
        let Ok(m)=std::fs::symlink_metadata(&full) else { return Ok((State::Absent,None)) };
        if m.is_symlink() { let t=std::fs::read_link(&full).unwrap().as_os_str().as_bytes().to_vec(); return Ok((State::Link{oid:hash(&t),size:t.len() as u64},Some(t))) }
        if !m.is_file() { return Ok((State::Absent,None)) }
        let b=std::fs::read(&full).unwrap(); let _=m.mtime();
        Ok((State::File{oid:hash(&b),mode:m.permissions().mode()&0o7777,size:b.len() as u64},Some(b)))
    }
    pub fn content(&self, state: &State) -> Result<Vec<u8>, ReviewError> { std::fs::read(self.dir.join(state.oid().unwrap().to_string())).map_err(|e| ReviewError::io(&self.dir,e)) }
    pub fn keep(&mut self, bytes: &[u8]) -> Result<Oid, ReviewError> { let o=hash(bytes); std::fs::write(self.dir.join(o.to_string()),bytes).unwrap(); Ok(o) }
    pub fn set(&mut self, path: &Path, state: State) -> Result<(), ReviewError> { self.map.insert(path.to_owned(),state); self.save(); Ok(()) }
    pub fn uncovered(&self) -> Vec<String> { vec![] }
    pub fn root(&self) -> &Path { &self.root }
}
