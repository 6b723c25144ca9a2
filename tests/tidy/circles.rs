//! Inside a room the files use each other in one direction too.

use crate::rooms::room;
use crate::source::{Modules, is_parent_of};
use std::collections::{BTreeMap, BTreeSet};

/// The circles that there still are: files that use each other, by way of others of their line.
const CIRCLES: &[&[&str]] = &[
    &[
        "src/cli/allocator.rs",
        "src/cli/args.rs",
        "src/cli/bench.rs",
        "src/cli/bench_args.rs",
        "src/cli/bench_inverse.rs",
        "src/cli/bench_search.rs",
        "src/cli/bench_sort.rs",
        "src/cli/console.rs",
        "src/cli/descriptors.rs",
        "src/cli/devices.rs",
        "src/cli/exit.rs",
        "src/cli/files.rs",
        "src/cli/input.rs",
        "src/cli/output.rs",
        "src/cli/search_args.rs",
        "src/cli/shared_args.rs",
        "src/cli/temporary.rs",
    ],
    &["src/cli/list.rs", "src/cli/transform.rs"],
    &["src/fm_index/counted.rs", "src/fm_index/occ.rs", "src/fm_index/planes.rs"],
    &["src/sorters/inverses.rs", "src/sorters/open.rs"],
];

/// The parents that still use children which use what they define: this would stand better in a
/// file of its own.
const PARENTS: &[&str] = &[
    "src/bwt/halves/mod.rs",
    "src/bwt/inverse/mod.rs",
    "src/bwt/phrases/mod.rs",
    "src/bwt/runs/mod.rs",
    "src/coder/eight.rs",
    "src/coder/lanes.rs",
    "src/coder/mod.rs",
    "src/fm_index/mod.rs",
    "src/recover/mod.rs",
    "src/search/mod.rs",
    "src/sorters/mod.rs",
];

type Uses<'f> = BTreeMap<&'f str, BTreeSet<&'f str>>;

fn uses_inside_rooms(modules: &Modules) -> Uses<'_> {
    let mut uses = modules.uses();
    assert!(uses.len() > 100 && uses.values().flatten().count() > 200, "sources were not found");
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
    let is_parent = |file: &str| files.iter().any(|child| is_parent_of(file, child));
    uses.retain(|file, _| !is_parent(file));
    uses.values_mut().for_each(|used| used.retain(|file| !is_parent(file)));
    let found = circles(&uses);
    let expected: BTreeSet<BTreeSet<&str>> =
        CIRCLES.iter().map(|circle| circle.iter().copied().collect()).collect();
    assert!(found == expected, "the circles that there are: {found:#?}");
}

#[test]
fn parents_do_not_use_what_uses_them() {
    let modules = Modules::read();
    let uses = uses_inside_rooms(&modules);
    let is_used_back = |parent: &str| {
        let reached = reached(&uses, parent);
        reached.iter().any(|child| is_parent_of(parent, child) && uses[child].contains(parent))
    };
    let found: BTreeSet<&str> = uses.keys().copied().filter(|file| is_used_back(file)).collect();
    let expected: BTreeSet<&str> = PARENTS.iter().copied().collect();
    assert!(found == expected, "the parents that there are: {found:#?}");
}

/// The sets of two and more files of which each uses, by way of others, each.
fn circles<'f>(uses: &Uses<'f>) -> BTreeSet<BTreeSet<&'f str>> {
    let reached: BTreeMap<_, _> = uses.keys().map(|file| (*file, reached(uses, file))).collect();
    let circle = |file: &str| -> BTreeSet<&'f str> {
        let others = reached[file].iter().copied();
        others.filter(|other| reached[other].contains(file)).collect()
    };
    uses.keys().map(|file| circle(file)).filter(|circle| !circle.is_empty()).collect()
}

/// The files that `file` uses, by way of others too.
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
