//! Run lengths: a slice as runs of equal bytes.
//!
//! The BWT puts bytes of similar contexts side by side: text averages 2.3 bytes per run, markup 9,
//! and files full of copies hundreds. All later stages work on runs and never on bytes, which makes
//! repetitive data fast.
//!
//! `each_run` visits all runs and takes about 1 ns per run. `start` and `run_end` find single
//! borders, eight bytes a step: about 3 ns per run, and 0.1 ns per byte of a long run.

use super::run_borders::borders;
use crate::base::error::Flaw;

/// Bytes of a long run that are compared together.
const PIECE: usize = 128;

/// One run: `len` times `byte`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BwtRun {
    pub byte: u8,
    pub len: u32,
}

/// The run that starts at `pos`.
pub(super) fn read(slice: &[u8], pos: usize) -> BwtRun {
    BwtRun {
        byte: slice[pos],
        len: (run_end(slice, pos) - pos) as u32,
    }
}

/// Writes `run` at `pos` of `out` and returns the position behind it.
///
/// Most runs are short, so 16 bytes are written for any run up to that length; later runs overwrite
/// the surplus.
#[inline(always)]
pub(super) fn write(out: &mut [u8], pos: usize, run: BwtRun) -> Result<usize, Flaw> {
    const DOES_NOT_FIT: Flaw = Flaw("a slice holds a run that does not fit");
    let next = pos + run.len as usize;
    let room = out.get_mut(pos..).ok_or(DOES_NOT_FIT)?;
    if let Some(head) = room.first_chunk_mut::<16>()
        && run.len <= 16
    {
        *head = [run.byte; 16];
    } else {
        fill(
            room.get_mut(..run.len as usize)
                .ok_or(DOES_NOT_FIT)?,
            run.byte,
        );
    }
    Ok(next)
}

/// Not inlined, so that the compiler does not call `memset` for short runs too.
#[inline(never)]
fn fill(out: &mut [u8], byte: u8) {
    out.fill(byte);
}

/// The length of the run of `byte` at the end of `bytes`.
pub(crate) fn run_before(bytes: &[u8], byte: u8) -> usize {
    let pieces = bytes.as_rchunks::<PIECE>().1.iter().rev();
    let whole = PIECE
        * pieces
            .take_while(|piece| **piece == [byte; PIECE])
            .count();
    let rest = bytes.len() - whole;
    bytes.len() - start(bytes, rest, byte)
}

/// The start of the run of `byte` that ends at `end` (exclusive).
#[inline(always)]
pub(super) fn start(slice: &[u8], mut end: usize, byte: u8) -> usize {
    while let Some(head) = end.checked_sub(8) {
        let other = word(slice, head) ^ splat(byte);
        if other != 0 {
            return end - (other.leading_zeros() / 8) as usize;
        }
        end = head;
    }
    while end > 0 && slice[end - 1] == byte {
        end -= 1;
    }
    end
}

/// The end (exclusive) of the run of equal bytes at `pos`.
pub(crate) fn run_end(slice: &[u8], mut pos: usize) -> usize {
    let byte = slice[pos];
    if slice.get(pos + PIECE - 1) == Some(&byte) {
        let pieces = slice[pos..].as_chunks::<PIECE>().0.iter();
        pos += PIECE
            * pieces
                .take_while(|piece| **piece == [byte; PIECE])
                .count();
    }
    while pos + 8 <= slice.len() {
        let other = word(slice, pos) ^ splat(byte);
        if other != 0 {
            return pos + (other.trailing_zeros() / 8) as usize;
        }
        pos += 8;
    }
    while pos < slice.len() && slice[pos] == byte {
        pos += 1;
    }
    pos
}

fn word(bytes: &[u8], pos: usize) -> u64 {
    u64::from_le_bytes(
        bytes[pos..pos + 8]
            .try_into()
            .expect("eight bytes"),
    )
}

fn splat(byte: u8) -> u64 {
    u64::from(byte) * 0x0101_0101_0101_0101
}

/// Number of runs in `bytes`. One comparison per byte, which compiles to vector code.
pub(super) fn count(bytes: &[u8]) -> usize {
    let borders = |tile: &[u8], next: &[u8]| -> usize {
        let sum: u8 = tile
            .iter()
            .zip(next)
            .map(|(a, b)| u8::from(a != b))
            .sum();
        sum.into()
    };
    let Some((_, next)) = bytes.split_first() else {
        return 0;
    };
    // Tiles of constant size, so that each is a few vectors.
    let (tiles, rest) = bytes[..next.len()].as_chunks::<PIECE>();
    let (nexts, rest_next) = next.as_chunks::<PIECE>();
    let whole = tiles
        .iter()
        .zip(nexts)
        .map(|(a, b)| borders(a, b))
        .sum::<usize>();
    1 + whole + borders(rest, rest_next)
}

/// Calls `run` with the byte and the length of each run.
///
/// The borders of 64 bytes are found at once: a run does not wait for the one before.
#[inline(always)]
pub(super) fn each_run(slice: &[u8], mut run: impl FnMut(u8, u32)) {
    let mut start = 0;
    let mut at = 0;
    while let Some(tile) = slice
        .get(at..)
        .and_then(|rest| rest.first_chunk::<65>())
    {
        let mut borders = borders(tile);
        while borders != 0 {
            let end = at + borders.trailing_zeros() as usize + 1;
            run(slice[end - 1], (end - start) as u32);
            start = end;
            borders &= borders - 1;
        }
        at += 64;
    }
    for end in at + 1..=slice.len() {
        if slice.get(end) != Some(&slice[end - 1]) {
            run(slice[end - 1], (end - start) as u32);
            start = end;
        }
    }
}

/// The end of the first `runs` runs of `bytes`, or the end of `bytes` if there are fewer.
pub(super) fn end_of_runs(bytes: &[u8], mut runs: usize) -> usize {
    const STEP: usize = 64 * PIECE;
    let mut pos = 0;
    // A step and the byte behind it give the borders behind each of its bytes.
    while let Some(step) = bytes.get(pos..=pos + STEP)
        && let borders = count(step) - 1
        && borders < runs
    {
        runs -= borders;
        pos += STEP;
    }
    while runs > 0 && pos < bytes.len() {
        pos = run_end(bytes, pos);
        runs -= 1;
    }
    pos
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes() -> Vec<Vec<u8>> {
        let mut shapes = vec![vec![7], b"ab".repeat(100), b"aab".repeat(77), vec![0; 1000]];
        for len in [
            7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 257, 511,
        ] {
            shapes.push([vec![1; len], vec![2; 3], vec![255; len], vec![0; 1]].concat());
        }
        shapes
    }

    fn split(slice: &[u8]) -> Vec<BwtRun> {
        let mut runs = Vec::new();
        let mut pos = 0;
        while pos < slice.len() {
            runs.push(read(slice, pos));
            pos += runs[runs.len() - 1].len as usize;
        }
        runs
    }

    #[test]
    fn runs_rebuild_the_slice() {
        for slice in shapes() {
            let mut out = vec![99; slice.len()];
            let end = split(&slice)
                .into_iter()
                .fold(0, |pos, run| write(&mut out, pos, run).unwrap());
            assert_eq!((end, &out), (slice.len(), &slice));
        }
    }

    #[test]
    fn each_run_is_found() {
        for slice in shapes() {
            let mut runs = Vec::new();
            each_run(&slice, |byte, len| runs.push(BwtRun { byte, len }));
            assert_eq!(runs, split(&slice));
        }
        each_run(&[], |_, _| panic!("a run of nothing"));
    }

    #[test]
    fn backwards_finds_the_same_borders() {
        for slice in shapes() {
            let mut pos = slice.len();
            for run in split(&slice).into_iter().rev() {
                assert_eq!(slice[pos - 1], run.byte);
                let begin = start(&slice, pos, run.byte);
                assert_eq!(pos - begin, run.len as usize);
                pos = begin;
            }
            assert_eq!(pos, 0);
        }
    }

    #[test]
    fn count_agrees() {
        assert_eq!(count(&[]), 0);
        for slice in shapes() {
            assert_eq!(count(&slice), split(&slice).len());
        }
    }

    #[test]
    fn so_many_runs_end_where_they_do() {
        let noise = (0..40_000u32).map(|i| (i.wrapping_mul(i) >> 7) as u8 % 3);
        for bytes in shapes()
            .into_iter()
            .chain([noise.collect(), vec![5; 50_000]])
        {
            let mut pos = 0;
            let mut runs = 0;
            while pos < bytes.len() {
                assert_eq!(end_of_runs(&bytes, runs), pos, "{runs}");
                pos = run_end(&bytes, pos);
                runs += 1;
            }
            assert_eq!(
                [runs, runs + 1].map(|runs| end_of_runs(&bytes, runs)),
                [pos; 2]
            );
        }
    }

    #[test]
    fn a_run_that_does_not_fit_is_refused() {
        let run = BwtRun { byte: 1, len: 5 };
        assert_eq!(write(&mut [0; 10], 5, run), Ok(10));
        assert!(write(&mut [0; 10], 6, run).is_err());
    }
}
