//! A BWT in segments: how large they are, and how they are coded side by side.
//! FORMAT.md chapter 13.
//!
//! Segments are coded in parallel, those that take longest first. Often one block is all the work
//! that there is, and a few dozen segments are few for 16 threads: a long segment that begins last
//! keeps one thread busy while the others wait. Longest first, 16 threads code and decode a block
//! of 32 MiB 12 to 14 times as fast as one; in the order of the BWT, 7 to 11 times.
//!
//! Which threads do the work is the caller's choice: [`encode_segments`] and [`decode_segments`]
//! use the current rayon pool, [`encode_segments_with`] and [`decode_segments_with`] the executor
//! that they are given.

use super::{Effort, decode, encode, rle};
use crate::error::Flaw;
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::OnceLock;

/// The binary logarithms of the smallest and the largest segment size.
const SEGMENT_LOGS: Range<u8> = 20..25;
/// Models learn during their first runs; a segment of this many loses little by starting anew.
const ENOUGH_RUNS: usize = 1 << 18;
/// The number of runs is estimated from one of so many pieces of a segment.
const SAMPLED: usize = 8;
/// Bytes of such a piece.
const SAMPLE: usize = 4 << 10;

/// The binary logarithm of the segment size that suits `bwt`, the BWT of a block: 20 to 25.
///
/// It is the smallest one with which an average segment has enough runs to learn from. Data with
/// long runs gets larger segments, which cost no more time than small ones of other data.
pub fn segment_log(bwt: &[u8], effort: Effort) -> u8 {
    let wanted = ENOUGH_RUNS << (u32::from(effort == Effort::Best));
    let runs = rle::count(bwt).max(1);
    let enough = |log: &u8| (runs << log) / bwt.len().max(1) >= wanted;
    SEGMENT_LOGS.clone().find(enough).unwrap_or(SEGMENT_LOGS.end)
}

/// Codes a whole BWT in segments of 2^`log` bytes, in parallel on the current rayon pool.
pub fn encode_segments(bwt: &[u8], log: u8, effort: Effort) -> Vec<Vec<u8>> {
    encode_segments_with(current_pool, bwt, log, effort)
}

/// Fills `bwt` with what [`encode_segments`] has coded, in parallel on the current rayon pool.
///
/// # Errors
/// A [`Flaw`] where there are fewer or more segments than `bwt` takes, or one of them is damaged.
pub fn decode_segments<S: AsRef<[u8]>>(
    log: u8,
    segments: &[S],
    bwt: &mut [u8],
) -> Result<(), Flaw> {
    decode_segments_with(current_pool, log, segments, bwt)
}

/// The work on one segment.
pub(crate) type Task<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Does all tasks on the current rayon pool.
pub(crate) fn current_pool(tasks: Vec<Task>) {
    rayon::scope_fifo(|scope| tasks.into_iter().for_each(|task| scope.spawn_fifo(|_| task())));
}

/// [`encode_segments`] by `execute`, which does all tasks, begins with the first, and waits.
pub(crate) fn encode_segments_with(
    execute: impl FnOnce(Vec<Task>),
    bwt: &[u8],
    log: u8,
    effort: Effort,
) -> Vec<Vec<u8>> {
    let mut coded = vec![Vec::new(); bwt.len().div_ceil(1 << log)];
    let pairs = bwt.chunks(1 << log).zip(&mut coded).collect();
    let runs = |(segment, _): &(&[u8], _)| estimated_runs(segment);
    longest_first(execute, pairs, runs, |(segment, coded)| encode(segment, effort, coded));
    coded
}

/// [`decode_segments`] by `execute`, as above. After a flaw no more segments are begun.
pub(crate) fn decode_segments_with<S: AsRef<[u8]>>(
    execute: impl FnOnce(Vec<Task>),
    log: u8,
    segments: &[S],
    bwt: &mut [u8],
) -> Result<(), Flaw> {
    if segments.len() != bwt.len().div_ceil(1 << log) {
        return Err(Flaw("the number of segments does not fit the block"));
    }
    let pairs = segments.iter().map(AsRef::as_ref).zip(bwt.chunks_mut(1 << log)).collect();
    let size = |(coded, _): &(&[u8], _)| coded.len();
    let flaw = OnceLock::new();
    longest_first(execute, pairs, size, |(coded, segment)| {
        if flaw.get().is_none()
            && let Err(found) = decode(coded, segment)
        {
            // Another thread may have set one meanwhile, which is as good.
            let _ = flaw.set(found);
        }
    });
    flaw.into_inner().map_or(Ok(()), Err)
}

/// Gives `execute` the work on all items, in the order of falling `cost`.
fn longest_first<T: Send>(
    execute: impl FnOnce(Vec<Task>),
    mut items: Vec<T>,
    cost: impl Fn(&T) -> usize,
    work: impl Fn(T) + Sync,
) {
    items.sort_by_cached_key(|item| Reverse(cost(item)));
    let work = &work;
    execute(items.into_iter().map(|item| Box::new(move || work(item)) as Task).collect());
}

fn estimated_runs(segment: &[u8]) -> usize {
    segment.chunks(SAMPLE).step_by(SAMPLED).map(rle::count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// A long run, a short segment's worth of noise and one of text: 2^20 bytes each but the last.
    fn bwt() -> Vec<u8> {
        let noise = (0..1 << 20).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 13) as u8);
        let text = (0..1 << 19).map(|i: u32| b"aabbbbccd"[i as usize % 9]);
        vec![7; 1 << 20].into_iter().chain(noise).chain(text).collect()
    }

    fn one_by_one(tasks: Vec<Task>) {
        tasks.into_iter().for_each(|task| task());
    }

    #[test]
    fn segments_of_most_runs_are_begun_first() {
        let bwt = bwt();
        let order = Mutex::new(Vec::new());
        let segments: Vec<&[u8]> = bwt.chunks(1 << 20).collect();
        let begin = |segment: &[u8]| order.lock().unwrap().push(segment[0]);
        longest_first(one_by_one, segments, |segment| estimated_runs(segment), begin);
        assert_eq!(order.into_inner().unwrap(), [bwt[1 << 20], b'a', 7]);
    }

    #[test]
    fn segments_come_back_whatever_their_order() {
        let bwt = bwt();
        let coded = encode_segments(&bwt, 20, Effort::Fast);
        assert_eq!(coded, encode_segments_with(one_by_one, &bwt, 20, Effort::Fast));
        let backwards = |mut tasks: Vec<Task>| {
            tasks.reverse();
            one_by_one(tasks);
        };
        let mut out = vec![0; bwt.len()];
        decode_segments(20, &coded, &mut out).unwrap();
        assert!(out == bwt);
        out.fill(0);
        decode_segments_with(backwards, 20, &coded, &mut out).unwrap();
        assert!(out == bwt);
    }

    #[test]
    fn too_many_too_few_and_damaged_ones_are_flaws() {
        let bwt = bwt();
        let mut coded = encode_segments(&bwt, 20, Effort::Default);
        let mut out = vec![0; bwt.len()];
        assert!(decode_segments(20, &coded[1..], &mut out).is_err());
        assert!(decode_segments(19, &coded, &mut out).is_err());
        coded[2].pop();
        assert!(decode_segments(20, &coded, &mut out).is_err());
    }
}
