//! The rules of the house, as far as a program can check them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Rooms from the ground up: one may use those above it in this list, and those on its own line.
const ROOMS: [&[&str]; 13] = [
    &["error", "pipeline", "allocation", "device"],
    &["coder"],
    &["memory"],
    &["options", "events", "gpu"],
    &["threads", "bwt", "raw"],
    &["filter", "device_pool"],
    &["frame", "fm_index"],
    &["sorters", "contents"],
    &["block"],
    &["compress", "decompress", "search", "recover"],
    &["archive"],
    &["lib", "internals"],
    &["main", "cli"],
];

/// The rooms inside src/gpu and kernels in the same way: one may use those above it, and none on
/// its own line.
const GPU_ROOMS: [&[&str]; 9] = [
    &["interface", "test_data"],
    &["runtime"],
    &["testing", "absent"],
    &["primitives"],
    &["block", "inverse", "search"],
    &["papers"],
    &["sort"],
    &["algorithm"],
    &["sorter", "inverse_bwt", "pattern_batches"],
];

/// Lines that a file may have: a file is a room with one job.
const MOST_LINES: usize = 400;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All files below `dir` with the given ending, with their text.
fn files(dir: &Path, ending: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|e| e == ending) {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
    found
}

/// The room that a source file belongs to: the first part of its path below `src`.
fn room(path: &Path) -> String {
    let below = path.strip_prefix(root().join("src")).unwrap();
    Path::new(below.iter().next().unwrap()).file_stem().unwrap().to_str().unwrap().to_owned()
}

fn rank(room: &str) -> Option<usize> {
    ROOMS.iter().position(|rooms| rooms.contains(&room))
}

#[test]
fn dependencies_point_one_way() {
    let mut seen = 0;
    for (path, text) in files(&root().join("src"), "rs") {
        let here = rank(&room(&path)).unwrap_or_else(|| panic!("{path:?} is in no known room"));
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for used in code.flat_map(|line| line.split("crate::").skip(1)) {
            let name: String =
                used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            // Names in capitals are re-exports of the rooms they come from.
            if let Some(there) = rank(&name) {
                assert!(there <= here, "{path:?} uses the room {name} above it");
                seen += 1;
            }
        }
    }
    assert!(seen > 30, "the sources were not found");
}

#[test]
fn files_are_rooms_not_halls() {
    let folders = ["src", "tests", "benches", "kernels", "fuzz/fuzz_targets"];
    let sources: Vec<_> = folders.iter().flat_map(|dir| files(&root().join(dir), "rs")).collect();
    assert!(sources.len() > 20, "the sources were not found");
    for (path, text) in sources {
        let lines = text.lines().count();
        assert!(lines <= MOST_LINES, "{path:?} has {lines} lines");
    }
}

#[test]
fn kernels_and_their_host_files_are_pairs() {
    let kernels = files(&root().join("kernels"), "cu");
    assert!(kernels.len() > 5, "the kernels were not found");
    let headers = files(&root().join("kernels"), "cuh");
    for (path, text) in kernels.iter().chain(&headers) {
        assert!(text.starts_with("// "), "{path:?} does not open with what it is");
        assert!(text.lines().count() <= MOST_LINES, "{path:?} is too long");
    }
    let mut stems = BTreeSet::new();
    for (path, text) in kernels {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        assert!(stems.insert(stem.to_owned()), "{path:?}: kernels go by the names of their files");
        let below = path.strip_prefix(root().join("kernels")).unwrap();
        let host = root().join("src/gpu").join(below).with_extension("rs");
        assert!(host.is_file(), "{path:?} has no {host:?}");
        if path.ends_with("cub.cu") {
            continue;
        }
        // A kernel that nothing launches is dead, and one launched from elsewhere has lost its
        // pair.
        let host = fs::read_to_string(host).unwrap();
        for name in kernel_names(&text) {
            let launched = host.contains(&format!("\"{stem}/{name}\""));
            assert!(launched, "{path:?}: nothing launches {name}");
        }
    }
}

/// The kernels that a file defines, but for those that a macro pastes together.
fn kernel_names(text: &str) -> impl Iterator<Item = &str> {
    text.split("__global__ void").skip(1).filter_map(|rest| {
        let rest = rest.split_once("__(").map_or(rest, |(before, after)| {
            if before.trim() == "__launch_bounds" { after.split_once(')').unwrap().1 } else { rest }
        });
        let name = rest.split('(').next()?.trim();
        (!name.contains("##")).then_some(name)
    })
}

#[test]
fn every_module_says_what_it_is() {
    for (path, text) in files(&root().join("src"), "rs") {
        assert!(text.starts_with("//! "), "{path:?} does not open with its module doc");
    }
}

#[test]
fn only_the_command_knows_its_crates() {
    for (path, text) in files(&root().join("src"), "rs") {
        if !["cli", "main"].contains(&room(&path).as_str()) {
            for name in ["clap", "indicatif", "signal_hook", "tempfile::", "println!", "eprintln!"]
            {
                // Unit tests may use what tests use.
                let shipped = text.split("#[cfg(test)]").next().unwrap().lines();
                let code = shipped.filter(|line| !line.trim_start().starts_with("//"));
                let uses = code.filter(|line| line.contains(name)).count();
                assert_eq!(uses, 0, "{path:?} uses {name}");
            }
        }
    }
}

#[test]
fn unsafe_code_says_why_it_is_safe() {
    for (path, text) in files(&root().join("src"), "rs") {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (n, line) in lines.iter().enumerate() {
            if line.contains("unsafe {") || line.starts_with("unsafe impl") {
                let above = &lines[n.saturating_sub(6)..n];
                let said = above.iter().any(|line| line.contains("// SAFETY:"));
                assert!(said, "{path:?}, line {}: unsafe without a SAFETY line", n + 1);
            }
        }
    }
}

/// The names that follow `prefix` in the code of a file: `b` and `d` of `a::b::c` and `a::d` for
/// `a::`.
fn names_after<'t>(text: &'t str, prefix: &'t str) -> impl Iterator<Item = &'t str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(move |line| line.split(prefix).skip(1)).map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if end == 0 { &rest[..1] } else { &rest[..end] }
    })
}

/// The room of src/gpu or kernels that a file is in, and its name in that room.
fn gpu_place(path: &Path, folder: &str) -> (String, String) {
    let below = path.strip_prefix(root().join(folder)).unwrap();
    let first = Path::new(below.iter().next().unwrap()).file_stem().unwrap().to_str().unwrap();
    let stem = path.file_stem().unwrap().to_str().unwrap();
    (first.to_owned(), stem.to_owned())
}

fn gpu_rank(room: &str) -> Option<usize> {
    GPU_ROOMS.iter().position(|rooms| rooms.contains(&room))
}

#[test]
fn gpu_rooms_point_one_way() {
    let mut seen = 0;
    let mut check = |path: &Path, folder: &str, used: &str| {
        let (here, _) = gpu_place(path, folder);
        let rank = gpu_rank(&here).unwrap_or_else(|| panic!("{path:?} is in no known room"));
        if let Some(there) = gpu_rank(used).filter(|_| used != here) {
            assert!(there < rank, "{path:?} uses the room {used}, which is not below it");
            seen += 1;
        }
    };
    let sources = files(&root().join("src/gpu"), "rs");
    for (path, text) in sources.iter().filter(|(path, _)| *path != root().join("src/gpu/mod.rs")) {
        // A file beside the rooms reaches them by `super` too.
        let beside = path.parent().is_some_and(|dir| dir == root().join("src/gpu"));
        let nearby = names_after(text, "super::").filter(|_| beside);
        for used in names_after(text, "crate::gpu::").chain(nearby) {
            check(path, "src/gpu", used);
        }
    }
    for ending in ["cu", "cuh", "h"] {
        for (path, text) in files(&root().join("kernels"), ending) {
            names_after(&text, "#include \"").for_each(|used| check(&path, "kernels", used));
        }
    }
    assert!(seen > 60, "the sources were not found");
}

#[test]
fn gpu_files_form_no_circles() {
    let mut uses: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (path, text) in files(&root().join("src/gpu"), "rs") {
        let (room, name) = gpu_place(&path, "src/gpu");
        if name == "mod" || name == "tests" || room == name {
            continue;
        }
        let used: Vec<_> = names_after(&text, "super::").filter(|name| *name != "*").collect();
        for name in &used {
            let file = name.starts_with(char::is_lowercase);
            assert!(file, "{path:?} reaches into its parent: super::{name}");
        }
        let used = used.into_iter().map(|name| (room.clone(), name.to_owned())).collect();
        assert!(uses.insert((room, name), used).is_none());
    }
    assert!(uses.len() > 25, "the sources were not found");
    // What uses nothing more is taken away, again and again; a circle stays.
    loop {
        let done: Vec<_> = uses.iter().filter(|(_, used)| used.is_empty()).collect();
        let done: BTreeSet<_> = done.into_iter().map(|(file, _)| file.clone()).collect();
        if done.is_empty() {
            break;
        }
        uses.retain(|file, _| !done.contains(file));
        uses.values_mut().for_each(|used| used.retain(|file| !done.contains(file)));
    }
    assert!(uses.is_empty(), "these files use each other in circles: {:?}", uses.keys());
}
