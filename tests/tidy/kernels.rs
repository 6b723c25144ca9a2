//! Kernels and the host files that launch them.

use crate::source::{file_name, files, root, stem};
use std::collections::BTreeSet;
use std::fs;

#[test]
fn kernels_and_their_host_files_are_pairs() {
    let kernels = files("kernels", "cu");
    assert!(kernels.len() > 5, "the kernels were not found");
    for (path, text) in kernels.iter().chain(&files("kernels", "cuh")) {
        assert!(
            text.starts_with("// "),
            "{path} does not open with what it is"
        );
    }
    let papers = files("src/papers", "rs");
    let mut stems = BTreeSet::new();
    for (path, text) in &kernels {
        let stem = stem(path);
        assert!(
            stems.insert(stem),
            "{path}: kernels go by the names of their files"
        );
        let host = host_of(path, &papers);
        assert!(root().join(&host).is_file(), "{path} has no {host}");
        if file_name(path) == "cub.cu" {
            continue;
        }
        // A kernel that nothing launches is dead, and a kernel launched from another file has lost
        // its pair.
        let host = fs::read_to_string(root().join(host)).unwrap();
        for name in kernel_names(text) {
            let launched = host.contains(&format!("\"{stem}/{name}\""));
            assert!(launched, "{path}: nothing launches {name}");
        }
    }
}

/// The path of the file that launches a kernel file. The kernels of `papers` are in one folder, and
/// their host files in several.
fn host_of(kernels: &str, papers: &[(String, String)]) -> String {
    let named = papers
        .iter()
        .find(|(path, _)| stem(path) == stem(kernels));
    match named.filter(|_| kernels.starts_with("kernels/papers/")) {
        Some((path, _)) => path.clone(),
        None => kernels
            .replace("kernels/", "src/gpu/")
            .replace(".cu", ".rs"),
    }
}

/// The kernels that a file defines, except those that a macro composes.
fn kernel_names(text: &str) -> impl Iterator<Item = &str> {
    text.split("__global__ void")
        .skip(1)
        .filter_map(|rest| {
            let rest = rest
                .split_once("__(")
                .map_or(rest, |(before, after)| {
                    if before.trim() == "__launch_bounds" {
                        after.split_once(')').unwrap().1
                    } else {
                        rest
                    }
                });
            let name = rest.split('(').next()?.trim();
            (!name.contains("##")).then_some(name)
        })
}
