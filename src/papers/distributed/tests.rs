//! `bsp` and `doubling` on virtual processors: compared with the suffix array by its definition and
//! by libsais. The cost of `bsp` is compared with the paper.

use super::*;
use crate::base::error::Result;
use crate::cases;
use crate::gpu::testing::random;
use libsais::SuffixArrayConstruction;

const PROCESSORS: [usize; 7] = [1, 2, 3, 4, 7, 16, 64];

/// Returns a processor's block of the suffix array of a text, and its supersteps.
pub(super) async fn sort_text<E: Exchange>(
    exchange: E,
    text: &[u8],
) -> Result<(Vec<u64>, Vec<Superstep>)> {
    let mut processor = Processor::new(exchange);
    let own = Blocks::new(text.len(), processor.count()).range(processor.number());
    let symbols = text[own.clone()]
        .iter()
        .map(|&byte| u64::from(byte) + 1)
        .collect();
    let block = suffix_array(&mut processor, symbols, text.len()).await?;
    assert_eq!(block.len(), own.len());
    Ok((block, processor.into_supersteps()))
}

/// Returns the suffix array from `count` virtual processors, and their supersteps.
fn bsp(text: &[u8], count: usize) -> (Vec<u64>, Vec<Superstep>) {
    let parts = run_virtual(count, async |exchange| sort_text(exchange, text).await);
    let (blocks, supersteps): (Vec<_>, Vec<_>) = parts.unwrap().into_iter().unzip();
    (blocks.concat(), h_relations(&supersteps))
}

/// Returns a processor's block of the suffix array by `doubling`.
pub(super) async fn double_text<E: Exchange>(exchange: E, text: &[u8]) -> Result<Vec<u64>> {
    let mut processor = Processor::new(exchange);
    let own = Blocks::new(text.len(), processor.count()).range(processor.number());
    sort_by_doubling(&mut processor, &text[own], text.len()).await
}

/// Returns the suffix array by `doubling` from `count` virtual processors.
fn doubling(text: &[u8], count: usize) -> Vec<u64> {
    run_virtual(count, async |exchange| double_text(exchange, text).await)
        .unwrap()
        .concat()
}

/// Sorts the suffixes as strings.
fn by_definition(text: &[u8]) -> Vec<u64> {
    let mut sa: Vec<usize> = (0..text.len()).collect();
    sa.sort_by_key(|&pos| &text[pos..]);
    sa.into_iter().map(|pos| pos as u64).collect()
}

pub(super) fn by_libsais(text: &[u8]) -> Vec<u64> {
    let sa = SuffixArrayConstruction::for_text(text)
        .in_owned_buffer32()
        .single_threaded()
        .run();
    sa.unwrap()
        .into_vec()
        .into_iter()
        .map(|pos| u64::from(pos.cast_unsigned()))
        .collect()
}

/// Returns 1 to 80 random symbols of an alphabet of 1 to 4.
pub(super) fn small_string(seed: u64) -> Vec<u8> {
    let numbers = random(82, 1 << 40, seed);
    let alphabet = numbers[0] % 4 + 1;
    let len = numbers[1] % 80 + 1;
    numbers[2..][..len as usize]
        .iter()
        .map(|number| (number % alphabet) as u8 * 85)
        .collect()
}

/// Checks all cases. Large ones are sorted by a few processors and by many, and the same shapes,
/// smaller, by any number.
fn check_named_cases(algorithm: impl Fn(&[u8], usize) -> Vec<u64>) {
    for (name, text) in cases::all()
        .into_iter()
        .chain(cases::shapes(2500))
    {
        let expected = by_libsais(&text);
        for count in PROCESSORS {
            if text.len() < 5000 || [3, 16].contains(&count) {
                assert!(
                    algorithm(&text, count) == expected,
                    "{name} on {count} processors"
                );
            }
        }
    }
}

#[test]
fn the_named_cases_are_sorted_by_bsp() {
    check_named_cases(|text, count| bsp(text, count).0);
}

#[test]
fn the_named_cases_are_sorted_by_doubling() {
    check_named_cases(doubling);
}

/// There are 10,000 strings in all, most of them on few processors, which take less time.
/// `BWZ_SMALL_STRINGS` sets another number of strings for each number of processors.
#[test]
fn small_strings() {
    let tries = std::env::var("BWZ_SMALL_STRINGS")
        .ok()
        .and_then(|n| n.parse().ok());
    let mut seed = 0;
    for (count, few) in PROCESSORS
        .into_iter()
        .zip([2000, 2000, 2000, 1500, 1200, 900, 400])
    {
        for _ in 0..tries.unwrap_or(few) {
            let text = small_string(seed);
            let expected = by_definition(&text);
            assert_eq!(bsp(&text, count).0, expected, "bsp: {text:?} on {count}");
            assert_eq!(
                doubling(&text, count),
                expected,
                "doubling: {text:?} on {count}"
            );
            seed += 1;
        }
    }
}

/// Symbols need not be bytes, nor be few.
#[test]
fn words_are_sorted_as_bytes_are() {
    let text: Vec<u8> = cases::text(3000);
    let wide: Vec<u64> = text
        .iter()
        .map(|&byte| (u64::from(byte) << 32) + 1)
        .collect();
    let blocks = run_virtual(3, async |exchange| {
        let own = Blocks::new(text.len(), 3).range(exchange.number());
        suffix_array(
            &mut Processor::new(exchange),
            wide[own].to_vec(),
            text.len(),
        )
        .await
    });
    assert_eq!(blocks.unwrap().concat(), by_libsais(&text));
}

/// Number of supersteps in a level.
const SUPERSTEPS: usize = 39;
/// Number of supersteps in the last level.
const SUPERSTEPS_ALONE: usize = 2;
/// Maximum number of words that a processor sends and receives in a level, divided by the paper's v
/// n / p, if n >= p^4.5.
const WORDS: f64 = 24.0;

/// Each level takes a constant number of supersteps and O(v n / p) words, and there are O(log log
/// p) levels. The Fibonacci word repeats itself enough that no level is left out.
#[test]
fn supersteps_and_words_grow_as_in_the_paper() {
    for count in [4, 16] {
        let words = [1 << 18, 1 << 20].map(|n| {
            let (suffixes, supersteps) = bsp(&cases::fibonacci(n), count);
            assert!(suffixes == by_libsais(&cases::fibonacci(n)));
            let levels = levels(n, count);
            let deepest = levels.len() - 1;
            assert!(deepest as f64 <= critical_round(count).ceil() + 2.0);
            assert_eq!(supersteps.len(), deepest * SUPERSTEPS + SUPERSTEPS_ALONE);
            let mut all = 0;
            for level in levels {
                let of_level = supersteps
                    .iter()
                    .filter(|step| step.level == level.number);
                let words: u64 = of_level
                    .map(|step| step.sent + step.received)
                    .sum();
                let most = WORDS * level.words(count);
                assert!(
                    (words as f64) < most,
                    "{words} words, {most} at most, in {level:?}"
                );
                all += words;
            }
            all as f64
        });
        assert!(
            (words[1] / words[0] - 4.0).abs() < 0.4,
            "{words:?} for 4 times the symbols"
        );
    }
}
