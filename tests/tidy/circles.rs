//! Inside a room, files use each other in one direction too.

use crate::remains::assert_remains;
use crate::rooms::room;
use crate::source::{Modules, is_parent_of};
use std::collections::{BTreeMap, BTreeSet};

type Uses<'f> = BTreeMap<&'f str, BTreeSet<&'f str>>;

fn uses_inside_rooms(modules: &Modules) -> Uses<'_> {
    let mut uses = modules.uses();
    assert!(
        uses.len() > 100 && uses.values().flatten().count() > 200,
        "sources were not found"
    );
    for (file, used) in &mut uses {
        used.retain(|used| room(used) == room(file));
    }
    uses
}

#[test]
fn files_of_a_room_form_no_circles() {
    let modules = Modules::read();
    let mut uses = uses_inside_rooms(&modules);
    let files: Vec<&str> = uses.keys().copied().collect();
    let is_parent = |file: &str| {
        files
            .iter()
            .any(|child| is_parent_of(file, child))
    };
    uses.retain(|file, _| !is_parent(file));
    uses.values_mut()
        .for_each(|used| used.retain(|file| !is_parent(file)));
    let line = |circle: BTreeSet<&str>| circle.into_iter().collect::<Vec<_>>().join(" ");
    assert_remains("circles", circles(&uses).into_iter().map(line));
}

/// Code that both a parent and its children use belongs in a file of its own.
#[test]
fn parents_do_not_use_what_uses_them() {
    let modules = Modules::read();
    let uses = uses_inside_rooms(&modules);
    let is_used_back = |parent: &str| {
        let reached = reached(&uses, parent);
        reached
            .iter()
            .any(|child| is_parent_of(parent, child) && uses[child].contains(parent))
    };
    let found = uses.keys().filter(|file| is_used_back(file));
    assert_remains("parents", found.map(|file| file.to_string()));
}

/// The sets of two or more files in which each file uses each other one, directly or through
/// others.
fn circles<'f>(uses: &Uses<'f>) -> BTreeSet<BTreeSet<&'f str>> {
    let reached: BTreeMap<_, _> = uses
        .keys()
        .map(|file| (*file, reached(uses, file)))
        .collect();
    let circle = |file: &str| -> BTreeSet<&'f str> {
        let others = reached[file].iter().copied();
        others
            .filter(|other| reached[other].contains(file))
            .collect()
    };
    uses.keys()
        .map(|file| circle(file))
        .filter(|circle| !circle.is_empty())
        .collect()
}

/// The files that `file` uses, directly or through others.
fn reached<'f>(uses: &Uses<'f>, file: &str) -> BTreeSet<&'f str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&'f str> = uses[file].iter().copied().collect();
    while let Some(file) = next.pop() {
        if reached.insert(file) {
            next.extend(&uses[file]);
        }
    }
    reached
}
