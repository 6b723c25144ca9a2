//! The text as a stream of code bits, and what is known of it before it is sorted: the host side of `kernels/codes.cu`.

use super::buffers::Array;
use super::device::Gpu;
use super::ties::Ground;
use super::tuning::{KEY_TILE, TEXT_PADDING, THREADS};
use crate::error::Result;

/// Bytes that a CTA counts at least, and CTAs of a multiprocessor that count at most.
const COUNTED: u32 = 16384;
const COUNTING: u32 = 2;

/// Words of `counts`: one for each byte, and four more.
pub const COUNTS: usize = 260;

/// Bytes of a text for each entry of a table of what was met, or up to twice as many. One in 256 positions is entered.
const BYTES_PER_ENTRY: u32 = 32;

/// What is counted in a text.
#[derive(Debug)]
pub struct Counts {
    /// How often each byte value occurs.
    pub bytes: [u32; 256],
    /// How much of the text was met before in it, of [`Repeats::ALL`]. An estimate, from few positions.
    pub repeats: Repeats,
}

/// Of so many suffixes, those that begin with as many bytes as one before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// With [`REPEAT_SHORT`](super::tuning::REPEAT_SHORT) bytes.
    pub short: u32,
    /// With about [`REPEAT_LONG`](super::tuning::REPEAT_LONG) bytes.
    pub long: u32,
}

impl Repeats {
    /// All suffixes.
    pub const ALL: u32 = 1024;
}

/// Counts the bytes of each value among the first n, and waits for the counts. Repeats are looked for where there are
/// `tables` for them, which take n / 16 items at most.
#[allow(unsafe_code)]
pub fn count_bytes(
    gpu: &Gpu,
    text: Array<u8>,
    n: u32,
    counts: Array<u32>,
    tables: Array<u32>,
) -> Result<Counts> {
    assert!(text.len() >= n + TEXT_PADDING && counts.len() as usize == COUNTS);
    let entries = (n / BYTES_PER_ENTRY).min(tables.len() / 2).checked_ilog2().map_or(0, |b| 1 << b);
    gpu.zero(counts)?;
    if entries > 0 {
        gpu.zero(tables.first(2 * entries))?;
    }
    gpu.arm();
    let ctas = n.div_ceil(COUNTED).min(COUNTING * gpu.processors());
    let [text, counts, tables] = [text.into(), counts.into(), tables.into()];
    let arguments = [text, n.into(), counts, tables, entries.into(), gpu.mailbox().into()];
    // SAFETY: `text` has n items and its padding, `counts` one for each byte and four more, and `tables` two for each entry.
    unsafe { gpu.launch("codes/count_bytes", ctas, THREADS, &arguments)? };
    let (short, long) = gpu.told()?;
    Ok(Counts { bytes: gpu.byte_counts(), repeats: Repeats { short, long } })
}

/// Gives slot p the suffix at p; its key is the first 56 bits of its code and the byte before it.
#[allow(unsafe_code)]
pub fn code_keys(gpu: &Gpu, ground: &Ground, keys: Array<u64>, suffixes: Array<u32>) -> Result<()> {
    let (n, text) = (ground.len(), ground.block.text);
    assert!(keys.len() >= n && suffixes.len() >= n && text.len() >= n + TEXT_PADDING);
    let arguments = [text.into(), n.into(), ground.codes.into(), keys.into(), suffixes.into()];
    // SAFETY: `keys` and `suffixes` have n items, and `text` its padding.
    unsafe { gpu.launch("codes/code_keys", n.div_ceil(KEY_TILE), THREADS, &arguments) }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{gpu, memory, random, upload};
    use super::*;

    #[test]
    fn counts_and_repeats() {
        let Some(gpu) = gpu() else { return };
        let bytes = |len, seed| -> Vec<u8> {
            random(len, 200, seed).into_iter().map(|byte| byte as u8).collect()
        };
        let (once, words) = (bytes(1_400_000, 1), bytes(350_000, 2));
        // Half of it is phrases, each of which comes four times.
        let phrases = words.chunks(700).cycle();
        let spread: Vec<u8> =
            once.chunks(700).zip(phrases).flat_map(|two| <[_; 2]>::from(two).concat()).collect();
        let half = Repeats::ALL / 2;
        let cases = [
            (once.clone(), 0, 0),
            (once.repeat(2), half, half),
            (spread, half * 3 / 4, 0),
            (vec![7; 1_000_000], 0, 0),
            (bytes(1000, 3), 0, 0),
        ];
        for (text, short, long) in cases {
            let (n, padded) =
                (text.len() as u32, [&text[..], &[0; TEXT_PADDING as usize]].concat());
            let mut memory = memory(&gpu, 20 * padded.len() + 4096);
            let mut carver = memory.carve();
            let text_there = upload(&gpu, &mut carver, &padded);
            let counts = carver.take(COUNTS);
            let tables = carver.take(n as usize);
            let found = count_bytes(&gpu, text_there, n, counts, tables).unwrap();
            let each = |byte| text.iter().filter(|&&b| b == byte).count() as u32;
            assert_eq!(found.bytes, std::array::from_fn(|byte| each(byte as u8)));
            let near = |found: u32, expected: u32| found.abs_diff(expected) < Repeats::ALL / 20;
            let repeats = found.repeats;
            assert!(
                near(repeats.short, short) && near(repeats.long, long),
                "{n} bytes: {repeats:?}"
            );
            let counted = count_bytes(&gpu, text_there, n, counts, Array::none()).unwrap();
            assert_eq!(counted.repeats, Repeats { short: 0, long: 0 });
        }
    }
}
