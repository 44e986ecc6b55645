//! The patterns of a list that are for paths, by the names written out with which they begin.
//!
//! Matches nothing. Invariants: a rule that is left out for a path is neither for it nor for anything below it; the depth of
//! the tree is bounded.

use super::marks::{self, MARKS, may_be};
use super::pattern::{Base, PathSpec};
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// Names of a pattern that are looked at.
const MAX_DEPTH: usize = 8;

#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    /// By where paths begin, each with the node for that first; nothing where no rule begins there.
    bases: [Vec<Node>; Base::ALL.len()],
}

/// Rules by their place in the list.
#[derive(Clone, Debug, Default)]
struct Node {
    children: HashMap<String, usize>,
    /// Those of which no further name is written out, or looked at.
    here: Vec<usize>,
    /// Those of the nodes below.
    below: Vec<usize>,
}

/// What the bases of patterns stand for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bases<'a> {
    pub(super) roots: &'a [PathBuf],
    pub(super) home: Option<&'a Path>,
}

/// Which rules may be for paths.
#[derive(Debug, Default)]
pub(super) struct Found<'t> {
    /// Those that have to be looked at; one may be there twice.
    pub(super) near: Vec<usize>,
    /// Those that are for something below a path.
    pub(super) below: Vec<&'t [usize]>,
}

impl<'a> Bases<'a> {
    fn of(self, base: Base) -> impl Iterator<Item = &'a Path> {
        let (roots, other) = match base {
            Base::Roots => (self.roots, None),
            Base::Top => (&[][..], Some(Path::new("/"))),
            Base::Home => (&[][..], self.home),
        };
        roots.iter().map(AsRef::as_ref).chain(other)
    }
}

impl Tree {
    pub(super) fn push(&mut self, spec: &PathSpec, at: usize) {
        let Some(nodes) = self.bases.get_mut(spec.base() as usize) else { return };
        if nodes.is_empty() {
            nodes.push(Node::default());
        }
        let mut here = 0;
        for name in spec.beginning().take(MAX_DEPTH) {
            let next = nodes.len();
            let Some(node) = nodes.get_mut(here) else { return };
            node.below.push(at);
            here = *node.children.entry(name.to_owned()).or_insert(next);
            if here == next {
                nodes.push(Node::default());
            }
        }
        if let Some(node) = nodes.get_mut(here) {
            node.here.push(at);
        }
    }

    /// Adds what may be for a path, or with `is_above` for something below it.
    pub(super) fn find<'t>(&'t self, path: &Path, is_above: bool, bases: Bases<'_>, found: &mut Found<'t>) {
        for (base, nodes) in self.filled() {
            for base in bases.of(base) {
                match path.strip_prefix(base) {
                    Ok(rest) => walk(nodes, rest, is_above, found),
                    Err(_) if is_above && base.starts_with(path) => {
                        let first = nodes.first().into_iter();
                        found.below.extend(first.flat_map(|node| [&*node.here, &*node.below]));
                    }
                    Err(_) => {}
                }
            }
        }
    }

    /// The same for what a shell may make of a path with marks in it.
    pub(super) fn find_shape(&self, shape: &Path, bases: Bases<'_>) -> Vec<usize> {
        let mut found = Vec::new();
        for (base, nodes) in self.filled() {
            for base in bases.of(base) {
                match shape.strip_prefix(base) {
                    Ok(rest) => {
                        let names = rest.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
                        walk_shape(nodes, 0, &names.collect::<Vec<_>>(), &mut found);
                    }
                    // A mark may stand for a name of the base.
                    Err(_) if shape.to_string_lossy().contains(MARKS) => {
                        found.extend(nodes.first().into_iter().flat_map(Node::all));
                    }
                    Err(_) => {}
                }
            }
        }
        found
    }

    fn filled(&self) -> impl Iterator<Item = (Base, &[Node])> {
        Base::ALL
            .into_iter()
            .zip(&self.bases)
            .map(|(base, nodes)| (base, &**nodes))
            .filter(|(_, nodes)| !nodes.is_empty())
    }
}

impl Node {
    fn all(&self) -> impl Iterator<Item = usize> {
        self.here.iter().chain(&self.below).copied()
    }
}

fn walk<'t>(nodes: &'t [Node], path: &Path, is_above: bool, found: &mut Found<'t>) {
    let Some(mut node) = nodes.first() else { return };
    found.near.extend(&node.here);
    for part in path.components() {
        let name = if let Component::Normal(name) = part { name.to_str() } else { None };
        let Some(name) = name else {
            // What is no text, or leads elsewhere, is left to the patterns.
            return found.near.extend(&node.below);
        };
        let Some(next) = node.children.get(name).and_then(|next| nodes.get(*next)) else { return };
        node = next;
        found.near.extend(&node.here);
    }
    if is_above {
        found.below.push(&node.below);
    }
}

fn walk_shape(nodes: &[Node], at: usize, names: &[String], found: &mut Vec<usize>) {
    let Some(node) = nodes.get(at) else { return };
    let Some((name, rest)) = names.split_first() else { return found.extend(node.all()) };
    found.extend(&node.here);
    if marks::is_plain(name) {
        if let Some(next) = node.children.get(name) {
            walk_shape(nodes, *next, rest, found);
        }
        return;
    }
    for (_, next) in node.children.iter().filter(|(child, _)| may_be(name, child)) {
        walk_shape(nodes, *next, rest, found);
    }
}
