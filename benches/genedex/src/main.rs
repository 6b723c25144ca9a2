//! Search in memory, compared with the FM-index of genedex on the same text, in one run.
//!
//! `cargo run --release --manifest-path benches/genedex/Cargo.toml -- [-n RUNS] FILE...` cuts
//! 100,000 patterns of 20 and of 100 symbols out of each file, counts all of them, and locates up
//! to 100 occurrences of each. Without files a text is generated. Both indexes take turns in every
//! round on the same threads and must find the same. Prints the best of all rounds in millions of
//! symbols or positions per second, and the bits of memory per symbol of text.

#[path = "../../../tests/common/cases.rs"]
#[allow(dead_code, reason = "only the text generator is used")]
mod cases;

use bwz::bwt::Sorter;
use bwz::fm_index::FmIndex;
use genedex::text_with_rank_support::TextWithRankSupport;
use genedex::{Alphabet, FmIndexCondensed64, FmIndexConfig, FmIndexFlat64};
use rayon::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

const PATTERNS: usize = 100_000;
const LIMIT: usize = 100;
const CHUNK: usize = 1024;

/// A symbol that is rarer than one in `RARE` symbols of the text cannot be part of a query to
/// genedex: its table would have no room for it.
const RARE: usize = 10_000;

/// An allocator that counts live bytes, which gives the size of an index.
struct Counted;

static LIVE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

fn main() {
    let mut runs = 5;
    let mut files = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-n" => runs = args.next().and_then(|n| n.parse().ok()).expect("-n takes a number"),
            _ => files.push(arg),
        }
    }
    if files.is_empty() {
        report("generated text", &cases::text(4 << 20), runs);
    }
    for file in files {
        report(&file, &std::fs::read(&file).expect("a readable file"), runs);
    }
}

/// A text, the symbols that patterns may have, and the other symbols.
struct Text<'t> {
    bytes: &'t [u8],
    common: Vec<u8>,
    rare: Vec<u8>,
}

fn report(name: &str, bytes: &[u8], runs: usize) {
    let mut counts = [0; 256];
    bytes.iter().for_each(|&c| counts[usize::from(c)] += 1);
    let present: BTreeSet<u8> = bytes.iter().copied().collect();
    let small = present.len() <= 16;
    let (rare, common) =
        present.into_iter().partition(|&c| small && counts[usize::from(c)] * RARE < bytes.len());
    let text = Text { bytes, common, rare };

    let (index, size) = sized(bytes.len(), || {
        let rate = bwz::bwt::sample_rate(bytes.len());
        let bwt = Sorter::Cpu.sort(bytes, rate).expect("memory to sort");
        FmIndex::new(bwt).and_then(|index| index.with_sample_rate(8)).expect("an intact transform")
    });
    // Larger tables are not useful. genedex counts symbols here, not bytes of memory.
    let depth = (1..=8).rev().find(|&d| text.common.len().pow(d) <= 2_000_000).unwrap_or(1);
    let (default, default_size) =
        sized(bytes.len(), || genedex::<FmIndexCondensed64<i32>>(&text, depth as usize));
    let (fastest, fastest_size) =
        sized(bytes.len(), || genedex::<FmIndexFlat64<i32>>(&text, depth as usize));
    println!(
        "{name}: {} bytes, {} symbols, lookup depth of genedex {depth}",
        bytes.len(),
        text.common.len()
    );
    println!("{:<22}{:>10}{:>20}{:>20}", "", "bwz", "genedex default", "genedex flat");
    let sizes = [size, default_size, fastest_size];
    println!("{:<22}{:>10.1}{:>20.1}{:>20.1}", "bits per symbol", sizes[0], sizes[1], sizes[2]);
    for len in [20, 100] {
        let patterns = text.patterns(len);
        let count = || patterns.len() * len;
        let ours = || {
            let mut intervals = vec![0..0; patterns.len()];
            index.search(&patterns, &mut intervals);
            intervals.iter().map(|interval| interval.len()).sum()
        };
        let theirs = || count_all(&default, &patterns);
        let flat = || count_all(&fastest, &patterns);
        row(&format!("count, {len} symbols"), count(), runs, [&ours, &theirs, &flat]);
        let ours = || locate(&index, &patterns);
        let theirs = || locate_all(&default, &patterns);
        let flat = || locate_all(&fastest, &patterns);
        row(&format!("locate, {len} symbols"), ours(), runs, [&ours, &theirs, &flat]);
    }
}

impl Text<'_> {
    /// Patterns from all parts of the text.
    fn patterns(&self, len: usize) -> Vec<&[u8]> {
        let mut state = 88_172_645_463_325_252_u64;
        let next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let at = state as usize % (self.bytes.len() - len);
            &self.bytes[at..at + len]
        };
        let askable = |pattern: &&[u8]| !pattern.iter().any(|c| self.rare.contains(c));
        std::iter::repeat_with(next).filter(askable).take(PATTERNS).collect()
    }
}

type Genedex<R> = genedex::FmIndex<i32, R>;

/// The operations that all variants of genedex share.
trait Variant: Sized {
    fn build(text: &[u8], alphabet: Alphabet, depth: usize) -> Self;
}

impl<R: TextWithRankSupport<i32>> Variant for Genedex<R> {
    fn build(text: &[u8], alphabet: Alphabet, depth: usize) -> Self {
        FmIndexConfig::<i32, R>::new().lookup_table_depth(depth).construct_index([text], alphabet)
    }
}

fn genedex<V: Variant>(text: &Text, depth: usize) -> V {
    let symbols = text.common.iter().chain(&text.rare);
    V::build(text.bytes, Alphabet::from_io_symbols(symbols, text.rare.len()), depth)
}

fn count_all<R: TextWithRankSupport<i32> + Sync>(index: &Genedex<R>, patterns: &[&[u8]]) -> usize {
    let count = |chunk: &[&[u8]]| index.count_many(chunk.iter().copied()).sum::<usize>();
    patterns.par_chunks(CHUNK).map(count).sum()
}

fn locate_all<R: TextWithRankSupport<i32> + Sync>(index: &Genedex<R>, patterns: &[&[u8]]) -> usize {
    let locate = |chunk: &[&[u8]]| -> usize {
        let hits = index.locate_many(chunk.iter().copied());
        hits.map(|hits| hits.take(LIMIT).map(|hit| std::hint::black_box(hit.position)).count())
            .sum()
    };
    patterns.par_chunks(CHUNK).map(locate).sum()
}

fn locate(index: &FmIndex, patterns: &[&[u8]]) -> usize {
    let mut intervals = vec![0..0; patterns.len()];
    index.search(patterns, &mut intervals);
    let rows: Vec<u32> = intervals.into_iter().flat_map(|rows| rows.take(LIMIT)).collect();
    std::hint::black_box(index.positions(&rows).expect("an intact transform")).len()
}

/// An index, and its bits per symbol.
fn sized<T>(symbols: usize, build: impl FnOnce() -> T) -> (T, f64) {
    let before = LIVE.load(Ordering::Relaxed);
    let index = build();
    let size = LIVE.load(Ordering::Relaxed) - before;
    (index, size as f64 * 8.0 / symbols as f64)
}

/// Times all three in turn, and checks that they find the same.
fn row(name: &str, units: usize, runs: usize, works: [&dyn Fn() -> usize; 3]) {
    let found = works.map(|work| work());
    assert!(found.iter().all(|&n| n == found[0]), "{name}: {found:?}");
    let mut times = [(); 3].map(|()| Vec::new());
    for _ in 0..runs {
        for (work, times) in works.iter().zip(&mut times) {
            let start = Instant::now();
            std::hint::black_box(work());
            times.push(start.elapsed().as_secs_f64());
        }
    }
    let [ours, default, flat] =
        times.map(|times| units as f64 / 1e6 / times.into_iter().fold(f64::INFINITY, f64::min));
    let beside = |other: f64| format!("{other:.3} ({:.2}x)", ours / other);
    println!("{name:<22}{ours:>10.3}{:>20}{:>20}", beside(default), beside(flat));
}
