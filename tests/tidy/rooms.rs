//! Rooms use each other in one direction.

use crate::remains::assert_remains;
use crate::source::{Modules, files, identifiers, root, shipped_code};
use std::collections::BTreeSet;
use std::fs;

/// The rooms inside src/gpu and kernels. A room may use the rooms on the lines above its own, and
/// no other on its own line.
const GPU_ROOMS: [&[&str]; 17] = [
    &["interface", "lcp_chunk", "peers", "test_data"],
    &["runtime", "text_parts"],
    &["testing", "absent_network"],
    &["absent"],
    &["primitives"],
    &["block", "inverse", "search", "coder", "device_memory"],
    &["lcp"],
    &["sort"],
    &["distributed"],
    &["gpu_sort"],
    &["bwt_encoder", "bwt_decoder"],
    &["inverse_bwt", "joint_encoder"],
    &[
        "sorter",
        "pattern_batches",
        "gpu_lcp",
        "extension_queries",
        "nccl_processor",
    ],
    &["part_sorter"],
    &["joint_sorter", "rank_sorter"],
    &["process_ranks"],
    // Kernels alone: their host files are in `src/papers`.
    &["papers"],
];

/// The room that a file of `src` is in.
pub fn room(path: &str) -> &str {
    path.strip_prefix("src/")
        .unwrap()
        .split(['/', '.'])
        .next()
        .unwrap()
}

/// The order that `src/lib.rs` states. Rooms between the same two `<` may not use each other.
fn order() -> Vec<Vec<String>> {
    let lib = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let doc: String = lib
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .collect();
    let list = doc
        .split("uses only what stands left of it: `")
        .nth(1)
        .expect("the order of rooms");
    let list = list.split('`').next().unwrap();
    let rooms = |part: &str| {
        part.split(',')
            .map(|room| room.trim().to_owned())
            .collect()
    };
    list.split('<').map(rooms).collect()
}

/// A reader who looks for the file of a job finds it in the table of its room.
#[test]
fn tables_of_files_name_all_files() {
    let tables = files("src", "rs")
        .into_iter()
        .filter_map(|(path, text)| {
            let rows: Vec<&str> = text
                .lines()
                .filter(|line| line.starts_with("//! |"))
                .collect();
            let is_of_files = rows
                .iter()
                .any(|row| ["file", "room"].contains(&cell(row)));
            is_of_files.then(|| (path, rows.join("\n").to_lowercase(), shipped_code(&text)))
        });
    let mut missing = Vec::new();
    for (path, table, code) in tables {
        let named = identifiers(&table);
        let children = code
            .lines()
            .filter_map(|line| line.split_once("mod ")?.1.strip_suffix(';'));
        let unnamed = children.filter(|child| !named.contains(child));
        missing.extend(unnamed.map(|child| format!("{path}: {child}")));
    }
    assert!(
        missing.is_empty(),
        "files that the table of their room does not name: {missing:#?}"
    );
}

/// The first cell of a row.
fn cell(row: &str) -> &str {
    row.trim_start_matches("//! |")
        .split('|')
        .next()
        .unwrap()
        .trim()
}

#[test]
fn rooms_are_used_in_one_direction() {
    let order = order();
    let place = |room: &str| match room {
        "main" => order.len(),
        room => {
            let at = order
                .iter()
                .position(|rooms| rooms.iter().any(|name| name == room));
            at.unwrap_or_else(|| panic!("{room} is not in the order of src/lib.rs"))
        }
    };
    let modules = Modules::read();
    let mut against = BTreeSet::new();
    let mut seen = 0;
    for (file, used) in modules.uses() {
        for used in used
            .into_iter()
            .filter(|used| room(used) != room(file))
        {
            seen += 1;
            if place(room(used)) >= place(room(file)) {
                against.insert(format!("{} uses {}", room(file), room(used)));
            }
        }
    }
    assert!(seen > 100, "the sources were not found");
    assert_remains("rooms", against);
}

/// The line of [`GPU_ROOMS`] that a file below `folder` stands on, and its room.
fn gpu_room<'p>(path: &'p str, folder: &str) -> Option<(usize, &'p str)> {
    let room = path
        .strip_prefix(folder)?
        .split(['/', '.'])
        .next()
        .unwrap();
    let line = GPU_ROOMS
        .iter()
        .position(|rooms| rooms.contains(&room));
    (room != "mod").then(|| {
        (
            line.unwrap_or_else(|| panic!("{path} is in no known room")),
            room,
        )
    })
}

#[test]
fn gpu_rooms_are_used_in_one_direction() {
    let mut seen = 0;
    let mut check = |file: &str, used: &str, folder: &str| {
        let (Some(here), Some(there)) = (gpu_room(file, folder), gpu_room(used, folder)) else {
            return;
        };
        assert!(
            here.1 == there.1 || there.0 < here.0,
            "{file} uses {used}, which is not below it"
        );
        seen += usize::from(here.1 != there.1);
    };
    for (file, used) in Modules::read().uses() {
        used.iter()
            .for_each(|used| check(file, used, "src/gpu/"));
    }
    for ending in ["cu", "cuh", "h"] {
        for (path, text) in files("kernels", ending) {
            let included = text
                .split("#include \"")
                .skip(1)
                .filter(|rest| rest.contains('/'));
            for rest in included {
                let used = format!("kernels/{}", rest.split('"').next().unwrap());
                check(&path, &used, "kernels/");
            }
        }
    }
    assert!(seen > 60, "the sources were not found");
}
