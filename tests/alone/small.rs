//! Small streams are processed by the calling thread alone.

use bwz::{Effort, Options};
use std::collections::BTreeSet;
use std::fs;
use std::io;

#[test]
fn small_streams_start_no_threads() {
    let _alone = crate::alone();
    let Ok(before) = threads() else {
        println!("skipped: only /proc tells how many threads there are");
        return;
    };
    let text: Vec<u8> = (0..60_000u32)
        .map(|n| (n * n / 7 % 251) as u8)
        .collect();
    let usual = Options::new().threads(4);
    let indexed = usual.clone().index(8).unwrap();
    let [fast, best] = [Effort::Fast, Effort::Best].map(|effort| usual.clone().effort(effort));
    for options in [usual, indexed, fast, best] {
        for len in [0, 1, 5000, text.len()] {
            let mut file = Vec::new();
            let mut back = Vec::new();
            bwz::compress(&text[..len], &mut file, &options).unwrap();
            bwz::decompress(&file[..], &mut back, &options).unwrap();
            assert!(back == text[..len]);
        }
    }
    let begun: Vec<_> = threads()
        .unwrap()
        .difference(&before)
        .cloned()
        .collect();
    assert!(begun.is_empty(), "{begun:?}");
}

/// Numbers and names of this process's threads, without those of tests that wait for their turn.
fn threads() -> io::Result<BTreeSet<(String, String)>> {
    let mut threads = BTreeSet::new();
    let own = fs::read_to_string("/proc/thread-self/comm")?;
    for entry in fs::read_dir("/proc/self/task")? {
        let entry = entry?;
        let Ok(name) = fs::read_to_string(entry.path().join("comm")) else {
            continue;
        };
        // A thread without a name has the name of the thread that started it.
        if name == own || name.starts_with("bwz") {
            threads.insert((entry.file_name().to_string_lossy().into_owned(), name));
        }
    }
    Ok(threads)
}
