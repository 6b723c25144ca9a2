//! `ARCHITECTURE.md` names the folders and files that exist.

use crate::source::root;
use std::collections::BTreeSet;
use std::fs;

/// The names in the first column of a table of `ARCHITECTURE.md`, by the table's head.
fn named_below(head: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let table = text
        .split_once(head)
        .unwrap_or_else(|| panic!("no table begins with {head}"))
        .1;
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let names = rows.map(|row| {
        row.split('`')
            .nth(1)
            .expect("a name in the first cell")
            .to_owned()
    });
    names.collect()
}

/// The folders in `folder`.
fn folders(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(root().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap());
    let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    folders
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

#[test]
fn the_folders_of_the_code_map_exist() {
    let named = named_below("| folder | content |");
    assert!(named.len() > 5, "the table was not read: {named:?}");
    let folders = folders("");
    let missing: Vec<_> = named.difference(&folders).collect();
    assert!(
        missing.is_empty(),
        "ARCHITECTURE.md names folders that are not there: {missing:?}"
    );
}

#[test]
fn the_code_map_names_the_rooms() {
    let named = named_below("| room | job |");
    let rooms = folders("src");
    let unnamed: Vec<_> = rooms.difference(&named).collect();
    assert!(
        unnamed.is_empty(),
        "rooms that ARCHITECTURE.md does not name: {unnamed:?}"
    );
    let missing: Vec<_> = named.difference(&rooms).collect();
    assert!(
        missing.is_empty(),
        "ARCHITECTURE.md names rooms that are not there: {missing:?}"
    );
}
