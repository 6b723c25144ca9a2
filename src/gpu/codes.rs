//! The text as a stream of code bits, and what is known of it before it is sorted: the host side of `kernels/codes.cu`.

use super::buffers::Array;
use super::device::Gpu;
use super::ties::Ground;
use super::tuning::{COUNTS, KEY_TILE, TEXT_PADDING, THREADS};
use crate::error::Result;

/// Bytes that a CTA counts at least, and CTAs of a multiprocessor that count at most.
const COUNTED: u32 = 16384;
const COUNTING: u32 = 2;

/// About one position in 2^8 is looked at for repeats, or fewer, so that there are no more than 2^16 of them in all.
const LOG_EVERY: u32 = 8;
const LOG_MOST_LOOKED: u32 = 16;

/// Entries of a table of what was met: twice as many as are looked at, or a few more.
fn entries(n: u32) -> u32 {
    2 << (n.ilog2() + 1).saturating_sub(LOG_EVERY).min(LOG_MOST_LOOKED)
}

/// Words of `counts` for n bytes and their repeats.
pub fn counts_and_tables(n: u32) -> usize {
    (COUNTS + 2 * entries(n)) as usize
}

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

/// Counts the bytes of each value among the first n, and waits for the counts. `counts` has [`COUNTS`] words, or
/// [`counts_and_tables`]: then repeats are looked for too.
#[allow(unsafe_code)]
pub fn count_bytes(gpu: &Gpu, text: Array<u8>, n: u32, counts: Array<u32>) -> Result<Counts> {
    let entries = if counts.len() == COUNTS { 0 } else { entries(n) };
    assert!(text.len() >= n + TEXT_PADDING && counts.len() == COUNTS + 2 * entries);
    let log_every = LOG_EVERY.max((n.ilog2() + 1).saturating_sub(LOG_MOST_LOOKED));
    gpu.zero(counts)?;
    gpu.arm();
    let ctas = n.div_ceil(COUNTED).min(COUNTING * gpu.processors());
    let [n, entries, log_every] = [n, entries, log_every].map(Into::into);
    let arguments = [text.into(), n, counts.into(), entries, log_every, gpu.mailbox().into()];
    // SAFETY: `text` has n items and its padding, and `counts` two for each entry of a table behind the others.
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
            let mut memory = memory(&gpu, padded.len() + (2 << 20));
            let mut carver = memory.carve();
            let text_there = upload(&gpu, &mut carver, &padded);
            let counts: Array<u32> = carver.take(counts_and_tables(n));
            let found = count_bytes(&gpu, text_there, n, counts).unwrap();
            let each = |byte| text.iter().filter(|&&b| b == byte).count() as u32;
            assert_eq!(found.bytes, std::array::from_fn(|byte| each(byte as u8)));
            let near = |found: u32, expected: u32| found.abs_diff(expected) < Repeats::ALL / 20;
            let repeats = found.repeats;
            assert!(
                near(repeats.short, short) && near(repeats.long, long),
                "{n} bytes: {repeats:?}"
            );
            let counted = count_bytes(&gpu, text_there, n, counts.first(COUNTS)).unwrap();
            assert_eq!(counted.repeats, Repeats { short: 0, long: 0 });
        }
    }
}
