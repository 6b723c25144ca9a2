//! Inputs with very large side data: layouts of sequences, templates and columns, lists of records.
//! None takes more memory than is allowed, in any way of reading its file.

use crate::common::{cases, options};
use crate::watched_memory::measured;
use bwz::{Archive, Error, Options};
use std::io::Cursor;

const SIZE: usize = 4 << 20;

/// Bytes that may be used beyond the memory limit.
const BESIDE: u64 = 16 << 20;

/// Texts of about [`SIZE`] bytes.
fn texts() -> Vec<(&'static str, Vec<u8>)> {
    let repeated = |piece: &[u8]| piece.repeat(SIZE / piece.len());
    let numbered = |line: &dyn Fn(usize) -> String| {
        let mut text = Vec::new();
        (0..)
            .map(line)
            .take_while(|line| {
                text.extend_from_slice(line.as_bytes());
                text.len() < SIZE
            })
            .for_each(drop);
        text
    };
    let dna = cases::dna(SIZE);
    let bases = |n: usize, len: usize| {
        let at = n * 7919 % (SIZE - len);
        String::from_utf8_lossy(&dna[at..at + len]).into_owned()
    };
    vec![
        (
            "small letters by twos",
            [b">a\n".to_vec(), repeated(b"acGT")].concat(),
        ),
        ("a record for each base", repeated(b">\nA\n")),
        (
            "records of ever other lengths",
            numbered(&|n| format!(">{n}\n{}\n", bases(n, 1 + n % 97))),
        ),
        (
            "line ends of both kinds",
            repeated(b">a\r\nAC\n>b\nG\r\nT\n"),
        ),
        (
            "blanks between bases",
            [b">a\n".to_vec(), repeated(b"A C\tG\n")].concat(),
        ),
        ("empty lines", repeated(b">a\n\nA\n\n")),
        (
            "lines of ever other widths",
            [b">a\n".to_vec(), numbered(&|n| bases(n, 1 + n % 5) + "\n")].concat(),
        ),
        (
            "reads of ever other lengths",
            numbered(&|n| {
                let len = 1 + n % 61;
                format!(
                    "@{n}\n{}\n+\n{}\n",
                    bases(n, len),
                    "I~#".repeat(21)[..len].to_owned()
                )
            }),
        ),
        (
            "bytes that are escaped",
            [b">a\nA\n".to_vec(), repeated(b">\xFF\xFE\nA\n")].concat(),
        ),
        (
            "a template for each line",
            numbered(&|n| format!("{n} a{} b{}\n", "x ".repeat(n % 50), n * n)),
        ),
        (
            "columns of numbers",
            numbered(&|n| format!("{},{},{},{}\n", n, n * 7919 % 1013, n / 3, n * n)),
        ),
        (
            "a column for each word",
            numbered(&|n| "1 ".repeat(1 + n % 400) + "\n"),
        ),
    ]
}

/// Does `work` under a limit, which may be too tight for it, and checks its memory beyond the
/// limit.
fn within<T>(name: &str, memory: u64, work: impl FnOnce(&Options) -> bwz::Result<T>) {
    let limited = options(1 << 20).threads(2).memory(memory);
    let (done, _, peak) = measured(|| work(&limited).map(drop));
    if let Err(e) = &done {
        assert!(matches!(e, Error::Limit { .. }), "{name}: {e}");
        assert!(e.to_string().contains("allowed"), "{name}: {e}");
    }
    assert!(
        peak as u64 <= memory + BESIDE,
        "{name}: {peak} bytes, {memory} allowed"
    );
}

#[test]
fn what_stands_beside_the_bytes_is_counted() {
    let _alone = crate::alone();
    for (name, text) in texts() {
        for index in [false, true] {
            let wide = options(SIZE as u32).memory(2 << 30);
            let wide = if index {
                wide.index(256).unwrap()
            } else {
                wide
            };
            let mut file = Vec::new();
            bwz::compress(&text[..], &mut file, &wide).unwrap();
            for memory in [8 << 20, 24 << 20, 48 << 20] {
                let case = format!("{name}, index {index}");
                within(&case, memory, |options| {
                    bwz::decompress(&file[..], std::io::sink(), options)
                });
                let open = |options: &Options| Archive::open(Cursor::new(&file[..]), options);
                within(&case, memory, |options| {
                    open(options)?.locate(&["AC", "A", "1"], 20_000)
                });
                within(&case, memory, |options| {
                    open(options)?.records().map(<[_]>::len)
                });
                within(&case, memory, |options| open(options)?.extract(100..200));
                within(&case, memory, |options| {
                    bwz::recover(Cursor::new(&file[..]), std::io::sink(), options)
                });
            }
        }
    }
}
