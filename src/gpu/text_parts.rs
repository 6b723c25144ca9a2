//! Division of a text, its ranks and its rows among several GPUs, and the BWT assembled from the
//! rows of all. All parts have one size, except that the last ones may be smaller or empty.

use super::interface::SortedText;
use crate::base::allocation;
use crate::base::error::{Error, Result};
use std::ops::Range;
use std::{mem, thread};

/// Maximum number of bytes by which a suffix is first sorted. A GPU takes this many bytes behind
/// its part.
pub(super) const KEY_BYTES: u64 = 64;

/// Division of `n` items (bytes or rows) among several GPUs.
#[derive(Clone, Copy, Debug)]
pub struct TextParts {
    n: u64,
    gpus: usize,
    size: u64,
}

impl TextParts {
    /// Divides `n` items among `gpus` GPUs.
    pub fn new(n: u64, gpus: usize) -> Self {
        TextParts {
            n,
            gpus,
            size: n.div_ceil(gpus as u64).max(1),
        }
    }

    /// Number of all items.
    #[allow(clippy::len_without_is_empty, reason = "a text is never empty")]
    pub fn len(self) -> u64 {
        self.n
    }

    /// Number of parts.
    pub fn gpus(self) -> usize {
        self.gpus
    }

    /// Items in a whole part: GPU i / size holds item i.
    pub fn size(self) -> u64 {
        self.size
    }

    /// Range of the items of a GPU.
    pub fn range(self, gpu: usize) -> Range<u64> {
        let border = |gpu: u64| gpu.saturating_mul(self.size).min(self.n);
        border(gpu as u64)..border(gpu as u64 + 1)
    }

    /// Number of the items of a GPU.
    pub fn part_len(self, gpu: usize) -> u64 {
        let range = self.range(gpu);
        range.end - range.start
    }

    /// Number of bytes that a GPU takes from the host: its part and up to 64 bytes behind it.
    pub fn taken_len(self, gpu: usize) -> u64 {
        let range = self.range(gpu);
        self.n.min(range.end + KEY_BYTES) - range.start
    }
}

/// The bytes of a text that one GPU takes from the host.
#[derive(Clone, Copy, Debug)]
pub struct PartText<'t> {
    /// Its part, and up to 64 bytes behind it.
    pub bytes: &'t [u8],
    /// The byte before the part; 0 for the first part.
    pub before: u8,
}

impl<'t> PartText<'t> {
    /// Cuts the bytes of one GPU out of a whole text.
    pub fn of(text: &'t [u8], parts: TextParts, gpu: usize) -> Self {
        let first = parts.range(gpu).start as usize;
        let before = if first > 0 { text[first - 1] } else { 0 };
        PartText {
            bytes: &text[first..][..parts.taken_len(gpu) as usize],
            before,
        }
    }
}

/// One GPU's part in the sort of a text.
#[derive(Clone, Copy, Debug)]
pub struct PartTask<'t> {
    /// Division of the text.
    pub parts: TextParts,
    /// Number of this part.
    pub number: usize,
    /// The bytes of this part.
    pub text: PartText<'t>,
    /// Distance between sampled positions, a power of two.
    pub sample_rate: u32,
}

/// Result of one of the GPUs.
#[derive(Clone, Debug)]
pub struct PartRows<'r> {
    /// Range of its rows. The first of all rows is 0; the empty suffix has none.
    pub rows: Range<u64>,
    /// The byte before each row's suffix. For the suffix that is the whole text it can be any byte.
    pub bytes: &'r [u8],
    /// Pairs of a sampled position and its row, counted from 1, in any order.
    pub samples: &'r [(u64, u64)],
}

impl SortedText {
    /// Assembles the BWT of a text of `n` bytes that ends with `last`, from the results of all GPUs
    /// in order.
    ///
    /// # Errors
    /// [`Error::Device`] if the results contradict each other; [`Error::Io`] if memory runs out.
    pub fn of_parts(last: u8, n: u64, sample_rate: u32, parts: &[PartRows]) -> Result<SortedText> {
        let wrong = || Error::Device("GPUs gave rows that are not those of a text".into());
        let no_memory = || Error::out_of_memory("for a transform");
        let mut border = 0;
        for part in parts {
            let len = part.rows.end.checked_sub(part.rows.start);
            if part.rows.start != border || len != Some(part.bytes.len() as u64) {
                return Err(wrong());
            }
            border = part.rows.end;
        }
        let rate = u64::from(sample_rate);
        let mut samples = allocation::zeroed(n.div_ceil(rate) as usize).ok_or_else(no_memory)?;
        for &(position, row) in parts.iter().flat_map(|part| part.samples) {
            *samples
                .get_mut((position / rate) as usize)
                .ok_or_else(wrong)? = row;
        }
        if border != n || !samples.iter().all(|row| (1..=n).contains(row)) {
            return Err(wrong());
        }
        let mut bytes = allocation::zeroed(n as usize).ok_or_else(no_memory)?;
        bytes[0] = last;
        copy_rows(&mut bytes[1..], samples[0] - 1, parts);
        Ok(SortedText { bytes, samples })
    }
}

/// Copies the rows of all GPUs, one thread for each. The row of the whole text is left out.
fn copy_rows(mut bytes: &mut [u8], primary: u64, parts: &[PartRows]) {
    thread::scope(|scope| {
        for part in parts.iter().filter(|part| !part.bytes.is_empty()) {
            let [split, behind] = match part.rows.contains(&primary) {
                true => [0, 1].map(|more| (primary - part.rows.start) as usize + more),
                false => [part.bytes.len(); 2],
            };
            let [before, behind] = [&part.bytes[..split], &part.bytes[behind..]];
            let own;
            (own, bytes) = mem::take(&mut bytes).split_at_mut(before.len() + behind.len());
            scope.spawn(move || {
                let (own_before, own_behind) = own.split_at_mut(before.len());
                own_before.copy_from_slice(before);
                own_behind.copy_from_slice(behind);
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(
        rows: Range<u64>,
        bytes: &'static [u8],
        samples: &'static [(u64, u64)],
    ) -> PartRows<'static> {
        PartRows {
            rows,
            bytes,
            samples,
        }
    }

    /// banana: suffixes 5 3 1 0 4 2, and the bytes before them n n b - a a.
    #[test]
    fn rows_are_put_together_without_that_of_the_text() {
        let whole = SortedText {
            bytes: b"annbaa".to_vec(),
            samples: vec![4, 6, 5],
        };
        let all = [(4, 5), (0, 4), (2, 6)];
        let join = |parts: &[PartRows]| SortedText::of_parts(b'a', 6, 2, parts);
        assert_eq!(
            join(&[part(0..6, b"nnb-aa", &[(4, 5), (0, 4), (2, 6)])]).unwrap(),
            whole
        );
        for cut in 0..=6 {
            let bytes = b"nnb-aa";
            let parts = [
                PartRows {
                    rows: 0..cut,
                    bytes: &bytes[..cut as usize],
                    samples: &all,
                },
                PartRows {
                    rows: cut..6,
                    bytes: &bytes[cut as usize..],
                    samples: &[],
                },
            ];
            assert_eq!(join(&parts).unwrap(), whole, "cut at {cut}");
        }
        for wrong in [
            vec![],
            vec![part(0..5, b"nnb-a", &[(4, 5), (0, 4), (2, 1)])],
            vec![part(0..6, b"nnb-aa", &[(4, 5), (0, 4)])],
            vec![part(0..6, b"nnb-aa", &[(4, 5), (0, 4), (2, 7)])],
            vec![part(0..6, b"nnb-aa", &[(4, 5), (0, 4), (6, 6)])],
            vec![part(0..6, b"nnb-a", &[(4, 5), (0, 4), (2, 6)])],
            vec![part(1..6, b"nb-aa", &[(4, 5), (0, 4), (2, 6)])],
        ] {
            assert!(matches!(join(&wrong), Err(Error::Device(_))), "{wrong:?}");
        }
    }

    #[test]
    fn parts_are_of_one_size_but_the_last() {
        let parts = TextParts::new(10, 4);
        assert_eq!(
            [0, 1, 2, 3].map(|gpu| parts.range(gpu)),
            [0..3, 3..6, 6..9, 9..10]
        );
        assert_eq!([0, 3].map(|gpu| parts.taken_len(gpu)), [10, 1]);
        let text = PartText::of(b"abcdefghij", parts, 1);
        assert_eq!((text.bytes, text.before), (&b"defghij"[..], b'c'));
        // More GPUs than bytes.
        let few = TextParts::new(2, 4);
        assert_eq!([1, 2, 3].map(|gpu| few.range(gpu)), [1..2, 2..2, 2..2]);
        assert_eq!(PartText::of(b"ab", few, 3).bytes, b"");
    }
}
