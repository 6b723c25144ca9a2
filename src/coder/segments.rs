//! A transform in segments: how large they are, and in which order they are coded.
//!
//! Segments are coded side by side. One block is all that there is to do now and then, and with a
//! few dozen segments for 16 threads it matters who is last: those that take longest are begun
//! first. One block of 32 MiB is then coded and decoded 12 to 14 times as fast by 16 threads as by
//! one, where it was 7 to 11 times in the order of the text.

use super::{Effort, decode, encode, rle};
use crate::error::Flaw;
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::OnceLock;

/// Segments are at least this large, as a power of two, and at most that.
const SEGMENT_LOGS: Range<u8> = 20..25;
/// Models learn during their first runs; a segment of this many loses little by starting anew.
const ENOUGH_RUNS: usize = 1 << 18;
/// Runs are estimated by one in so many pieces of a segment, and pieces of so many bytes.
const SAMPLED: usize = 8;
const SAMPLE: usize = 4 << 10;

/// The binary logarithm of the segment size that suits `bwt`, the transform of a block: 20 to 25.
///
/// The smallest that makes an average segment have enough runs to learn from. Data with long runs
/// gets larger segments, which cost no more time than small ones of other data.
pub fn segment_log(bwt: &[u8], effort: Effort) -> u8 {
    let wanted = ENOUGH_RUNS << (u32::from(effort == Effort::Best));
    let runs = rle::count(bwt).max(1);
    let enough = |log: &u8| (runs << log) / bwt.len().max(1) >= wanted;
    SEGMENT_LOGS.clone().find(enough).unwrap_or(SEGMENT_LOGS.end)
}

/// Codes a whole transform in segments of 2^`log` bytes, side by side on the current rayon pool.
pub fn encode_segments(bwt: &[u8], log: u8, effort: Effort) -> Vec<Vec<u8>> {
    let mut coded = vec![Vec::new(); bwt.len().div_ceil(1 << log)];
    let pairs = pairs_to_encode(log, bwt, &mut coded);
    side_by_side(pairs, |(segment, coded)| encode(segment, effort, coded));
    coded
}

/// Fills `bwt` with what [`encode_segments`] has coded, segments side by side.
///
/// # Errors
/// A [`Flaw`] where there are fewer or more segments than `bwt` takes, or one of them is damaged.
pub fn decode_segments<S: AsRef<[u8]>>(
    log: u8,
    segments: &[S],
    bwt: &mut [u8],
) -> Result<(), Flaw> {
    let flaw = OnceLock::new();
    side_by_side(pairs_to_decode(log, segments, bwt)?, |pair| decode_unless(&flaw, pair));
    flaw.into_inner().map_or(Ok(()), Err)
}

/// A coded segment and the place for it.
type Pair<'a> = (&'a [u8], &'a mut [u8]);

/// Decodes one of [`pairs_to_decode`], unless another one is known to be damaged.
pub(crate) fn decode_unless(flaw: &OnceLock<Flaw>, (coded, segment): Pair) {
    if flaw.get().is_none()
        && let Err(found) = decode(coded, segment)
    {
        // Another thread's may be there by now, and is as good.
        let _ = flaw.set(found);
    }
}

fn side_by_side<T: Send>(pairs: Vec<T>, work: impl Fn(T) + Sync) {
    let work = &work;
    rayon::scope_fifo(|scope| {
        for pair in pairs {
            scope.spawn_fifo(move |_| work(pair));
        }
    });
}

/// Each segment and the place for its coded form, as they are best begun.
pub(crate) fn pairs_to_encode<'a>(
    log: u8,
    bwt: &'a [u8],
    coded: &'a mut [Vec<u8>],
) -> Vec<(&'a [u8], &'a mut Vec<u8>)> {
    let mut pairs: Vec<_> = bwt.chunks(1 << log).zip(coded).collect();
    let pieces = |segment: &'a [u8]| segment.chunks(SAMPLE).step_by(SAMPLED);
    pairs
        .sort_by_cached_key(|(segment, _)| Reverse(pieces(segment).map(rle::count).sum::<usize>()));
    pairs
}

/// The coded form of each segment and the place for it, as they are best begun.
///
/// # Errors
/// A [`Flaw`] where there are fewer or more segments than `bwt` takes.
pub(crate) fn pairs_to_decode<'a, S: AsRef<[u8]>>(
    log: u8,
    segments: &'a [S],
    bwt: &'a mut [u8],
) -> Result<Vec<Pair<'a>>, Flaw> {
    if segments.len() != bwt.len().div_ceil(1 << log) {
        return Err(Flaw("the number of segments does not fit the block"));
    }
    let mut pairs: Vec<_> =
        segments.iter().map(AsRef::as_ref).zip(bwt.chunks_mut(1 << log)).collect();
    pairs.sort_by_key(|(coded, _)| Reverse(coded.len()));
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A long run, a short segment's worth of noise and one of text: 2^20 bytes each but the last.
    fn transform() -> Vec<u8> {
        let noise = (0..1 << 20).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 13) as u8);
        let text = (0..1 << 19).map(|i: u32| b"aabbbbccd"[i as usize % 9]);
        vec![7; 1 << 20].into_iter().chain(noise).chain(text).collect()
    }

    #[test]
    fn segments_come_back_whatever_their_order() {
        let bwt = transform();
        let mut coded = vec![Vec::new(); 3];
        let pairs = pairs_to_encode(20, &bwt, &mut coded);
        let order: Vec<u8> = pairs.iter().map(|(segment, _)| segment[0]).collect();
        assert_eq!(order, [bwt[1 << 20], b'a', 7]);
        let coded = encode_segments(&bwt, 20, Effort::Fast);
        let mut out = vec![0; bwt.len()];
        let pairs = pairs_to_decode(20, &coded, &mut out).unwrap();
        assert!(pairs.is_sorted_by_key(|(coded, _)| Reverse(coded.len())));
        decode_segments(20, &coded, &mut out).unwrap();
        assert!(out == bwt);
    }

    #[test]
    fn too_many_too_few_and_damaged_ones_are_flaws() {
        let bwt = transform();
        let mut coded = encode_segments(&bwt, 20, Effort::Default);
        let mut out = vec![0; bwt.len()];
        assert!(decode_segments(20, &coded[1..], &mut out).is_err());
        assert!(decode_segments(19, &coded, &mut out).is_err());
        coded[2].pop();
        assert!(decode_segments(20, &coded, &mut out).is_err());
    }
}
