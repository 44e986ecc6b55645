//! The objects of the person's repositories that we may use, read only.
//!
//! Where the repositories are is known by `repo`, what their index says by `gitindex`. Invariant: nothing is opened for
//! writing, and no lock is taken.

pub(super) use super::gitindex::Index;
use super::repo;
pub(super) use super::repo::{Repo, is_attributes, outer_rules as rules};
use super::state::Oid;
use gix::hash::ObjectId;
use gix::objs::Find as _;
use std::path::PathBuf;
use std::sync::Arc;

fn id(oid: &Oid) -> ObjectId {
    ObjectId::Sha1(oid.0)
}

/// Object stores that are not ours.
#[derive(Clone, Default)]
pub(super) struct Theirs {
    stores: Vec<gix::odb::HandleArc>,
}

impl Theirs {
    /// Opens the stores in these directories; those that are gone or cannot be read are left out.
    pub(super) fn open(dirs: &[PathBuf]) -> Self {
        let open = |dir: &PathBuf| {
            let options = gix::odb::store::init::Options { current_dir: Some(dir.clone()), ..Default::default() };
            let store = gix::odb::Store::at_opts(dir.clone(), gix::hash::Kind::Sha1, &mut std::iter::empty(), options);
            let mut handle = Arc::new(store.ok()?).to_cache_arc();
            // Who asks for something new opens anew; asking for what is nowhere would look at the disk each time.
            handle.refresh_never();
            Some(handle)
        };
        Self { stores: dirs.iter().filter(|dir| repo::is_sound(dir)).filter_map(open).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.stores.is_empty()
    }

    /// The length of a blob, when it is there.
    pub(super) fn size(&self, oid: &Oid) -> Option<u64> {
        let id = id(oid);
        self.stores.iter().find_map(|store| {
            let header = gix::odb::Header::try_header(&**store, &id).ok()??;
            (header.kind() == gix::objs::Kind::Blob).then(|| header.size())
        })
    }

    /// The bytes of a blob.
    pub(super) fn read(&self, oid: &Oid) -> Option<Vec<u8>> {
        let id = id(oid);
        self.stores.iter().find_map(|store| {
            let mut bytes = Vec::new();
            let kind = store.try_find(&id, &mut bytes).ok()??.kind;
            (kind == gix::objs::Kind::Blob).then_some(bytes)
        })
    }
}
