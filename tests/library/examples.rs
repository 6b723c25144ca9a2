//! Runs the programs of `examples/`: their functions are called on small files.

use crate::common;
use crate::common::cases;
use bwz::Error;
use std::io::Cursor;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

macro_rules! example {
    ($name:ident, $path:literal) => {
        #[path = $path]
        #[allow(dead_code, reason = "its `main` is not called here")]
        mod $name;
    };
}
example!(compress_stream, "../../examples/compress_stream.rs");
example!(count_and_locate, "../../examples/count_and_locate.rs");
example!(
    decompress_untrusted,
    "../../examples/decompress_untrusted.rs"
);
example!(fasta_regions, "../../examples/fasta_regions.rs");
example!(progress_and_cancel, "../../examples/progress_and_cancel.rs");
example!(read_range, "../../examples/read_range.rs");

#[test]
fn streams_come_back_within_a_limit() {
    let text = cases::text(9000);
    let mut file = Vec::new();
    let summary = compress_stream::compress_stream(&text[..], &mut file).unwrap();
    assert_eq!(
        (summary.raw_size, summary.coded_size),
        (9000, file.len() as u64)
    );

    let mut restored = Vec::new();
    let restore = |limit, restored: &mut Vec<u8>| {
        decompress_untrusted::decompress_untrusted(&file[..], restored, limit)
    };
    assert_eq!(restore(9000, &mut restored).unwrap(), 9000);
    assert!(restored == text);
    let error = restore(8999, &mut Vec::new()).unwrap_err();
    assert!(matches!(
        error,
        Error::OutputLimit {
            needed: 9000,
            allowed: 8999,
            ..
        }
    ));
    let said = decompress_untrusted::explain(&error);
    assert!(said.starts_with("the file is refused: "), "{said}");
}

#[test]
fn a_range_takes_the_blocks_that_hold_it() {
    let text = cases::text(9000);
    let file = Cursor::new(common::compressed(&text, 1000));
    let mut range = Vec::new();
    assert_eq!(
        read_range::read_range(file.clone(), 3500, 1000, &mut range).unwrap(),
        2
    );
    assert!(range == text[3500..4500]);
    let mut behind = Vec::new();
    assert_eq!(
        read_range::read_range(file, 10_000, 5, &mut behind).unwrap(),
        0
    );
    assert!(behind.is_empty());
}

#[test]
fn patterns_are_counted_and_located() {
    let text = b"she sells sea shells ".repeat(50);
    let file = Cursor::new(common::indexed(&text, 1 << 20, Some(16)));
    let patterns = ["sea".to_owned(), "shore".to_owned()];
    let found = count_and_locate::count_and_locate(file, &patterns).unwrap();
    assert_eq!((found[0].count, found[0].positions.len()), (50, 5));
    assert!(found[0].positions.iter().all(|at| at % 21 == 10));
    assert_eq!((found[1].count, found[1].positions.len()), (0, 0));
}

#[test]
fn regions_count_from_one() {
    let genome = b">one\nACGTac\ngtAC\n>two\nTTT\n";
    let file = Cursor::new(common::indexed(genome, 1 << 20, Some(16)));
    let regions = |regions: &[&str]| {
        let regions: Vec<String> = regions
            .iter()
            .map(|&region| region.to_owned())
            .collect();
        fasta_regions::fasta_regions(file.clone(), &regions)
    };
    assert_eq!(
        regions(&["one:5-8", "two:1-3"]).unwrap(),
        [&b"acgt"[..], b"TTT"]
    );
    for wrong in ["one", "one:5", "one:0-3", "three:1-2"] {
        assert!(regions(&[wrong]).is_err(), "{wrong}");
    }
}

#[test]
fn progress_names_each_block_and_cancelling_ends_the_work() {
    let text = cases::text(3 << 20);
    let compress = |cancelled: &AtomicBool| {
        let (tell, told) = mpsc::channel();
        let tell = Mutex::new(tell);
        let written = move |block| tell.lock().unwrap().send(block).unwrap();
        let input = progress_and_cancel::Cancellable {
            input: &text[..],
            cancelled,
        };
        let end = progress_and_cancel::compress_with_progress(input, Vec::new(), written);
        (end, told.into_iter().collect::<Vec<u64>>())
    };
    let cancelled = AtomicBool::new(false);
    let (end, blocks) = compress(&cancelled);
    assert_eq!(end.unwrap().raw_size, text.len() as u64);
    assert_eq!(blocks, [0, 1, 2]);
    cancelled.store(true, Ordering::Relaxed);
    let error = compress(&cancelled).0.unwrap_err();
    assert!(
        matches!(&error, Error::Io(e) if e.to_string() == "cancelled"),
        "{error}"
    );
}
