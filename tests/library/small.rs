//! Small streams are the calling thread's work alone.

use bwz::{Effort, Options};
use std::fs;

/// The only test here: others would bring threads of their own.
#[test]
fn small_streams_start_no_threads() {
    let Ok(before) = threads() else {
        println!("skipped: only /proc tells how many threads there are");
        return;
    };
    let text: Vec<u8> = (0..60_000u32).map(|n| (n * n / 7 % 251) as u8).collect();
    let usual = Options::new().threads(4);
    let indexed = usual.clone().index(8).unwrap();
    let [fast, best] = [Effort::Fast, Effort::Best].map(|effort| usual.clone().effort(effort));
    for options in [usual, indexed, fast, best] {
        for len in [0, 1, 5000, text.len()] {
            let (mut file, mut back) = (Vec::new(), Vec::new());
            bwz::compress(&text[..len], &mut file, &options).unwrap();
            bwz::decompress(&file[..], &mut back, &options).unwrap();
            assert!(back == text[..len]);
        }
    }
    assert_eq!(threads().unwrap(), before);
}

fn threads() -> std::io::Result<usize> {
    Ok(fs::read_dir("/proc/self/task")?.count())
}
