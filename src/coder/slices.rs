//! A BWT in slices, which are coded in parallel; `slice_cuts` cuts it. FORMAT.md chapter 13.
//!
//! Slices have a given number of runs, so that each is the same amount of work for a thread, for
//! the warp of a GPU and for a search that decodes one. A limit in bytes bounds a slice of long
//! runs.
//!
//! The caller chooses the threads: [`encode_slices`] and [`decode_slices`] use the current rayon
//! pool, [`encode_slices_on`] and [`decode_slices_on`] the executor that they are given.

use super::models::{Models, SymbolCounts};
use super::slice_cuts::{SliceCuts, SliceLimits, cut};
use super::slice_symbols::SliceSymbols;
use super::static_encoder::SliceEncoder;
use super::static_rans::SliceJob;
use super::{Coding, context_mixing, static_rans};
use crate::base::error::Flaw;
use crate::base::tasks::{Executor, Task};
use std::cmp::Reverse;
use std::mem;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A coded BWT, or some neighbouring slices of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodedBwt<S = Vec<u8>> {
    /// The models that all slices share.
    pub models: Vec<u8>,
    /// The size of each decoded slice in bytes.
    pub raw_sizes: Vec<u32>,
    /// The coded slices; one that is as long as the decoded slice is stored.
    pub slices: Vec<S>,
}

impl<S> CodedBwt<S> {
    /// Size of the BWT in bytes.
    pub fn raw_size(&self) -> u64 {
        let sizes = self.raw_sizes.iter();
        sizes.map(|&size| u64::from(size)).sum()
    }
}

impl<S: AsRef<[u8]>> CodedBwt<S> {
    /// Size of the models and the coded slices in bytes.
    pub fn size(&self) -> usize {
        self.models.len()
            + self
                .slices
                .iter()
                .map(|slice| slice.as_ref().len())
                .sum::<usize>()
    }
}

/// The cuts of a BWT into slices of static rANS.
pub(crate) fn static_cuts(on: Executor, bwt: &[u8], limits: SliceLimits) -> SliceCuts {
    cut(on, bwt, limits, 1)
}

/// Codes a whole BWT in slices, in parallel on the current rayon pool.
pub fn encode_slices(bwt: &[u8], limits: SliceLimits, coding: Coding) -> CodedBwt {
    encode_slices_on(Executor::current_pool(), bwt, limits, coding)
}

/// Does [`encode_slices`] on the given executor.
pub(crate) fn encode_slices_on(
    on: Executor,
    bwt: &[u8],
    limits: SliceLimits,
    coding: Coding,
) -> CodedBwt {
    let step = match coding {
        Coding::StaticRans => 1,
        // A slice takes so long that two threads should have equally many.
        Coding::ContextMixing => 2,
    };
    let slices = cut(on, bwt, limits, step)
        .slices
        .into_iter()
        .map(|range| &bwt[range]);
    let slices: Vec<&[u8]> = slices.collect();
    let mut coded = vec![Vec::new(); slices.len()];
    let mut models = Vec::new();
    match coding {
        Coding::StaticRans => encode_static(on, &slices, &mut models, &mut coded),
        Coding::ContextMixing => each(on, &slices, &mut coded, |slice, coded| {
            *coded = context_mixing::encode(slice).unwrap_or_else(|| slice.to_vec());
        }),
    }
    let raw_sizes = slices
        .iter()
        .map(|slice| slice.len() as u32)
        .collect();
    CodedBwt {
        models,
        raw_sizes,
        slices: coded,
    }
}

/// Counts the symbols of all slices, makes the models, and codes the slices.
fn encode_static(on: Executor, slices: &[&[u8]], models: &mut Vec<u8>, coded: &mut [Vec<u8>]) {
    let counts = Mutex::new(SymbolCounts::new());
    let mut symbols: Vec<Option<SliceSymbols>> = slices.iter().map(|_| None).collect();
    each(on, slices, &mut symbols, |slice, symbols| {
        let mut own = SymbolCounts::new();
        *symbols = Some(SliceSymbols::of(slice, &mut own));
        counts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(&own);
    });
    let counts = counts
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let coder = SliceEncoder::new(&Models::encode(&counts, models));
    let mut work: Vec<_> = symbols.into_iter().zip(coded).collect();
    each(on, slices, &mut work, |slice, (symbols, coded)| {
        let symbols = symbols.take().expect("every slice was read");
        **coded = coder
            .encode(&symbols, slice.len())
            .unwrap_or_else(|| slice.to_vec());
    });
}

/// Does `work` with each slice and its item.
fn each<T: Send>(
    on: Executor,
    slices: &[&[u8]],
    items: &mut [T],
    work: impl Fn(&[u8], &mut T) + Sync,
) {
    on.each(slices.iter().zip(items), |(slice, item)| work(slice, item));
}

/// The decoder of the slices of a block.
#[derive(Debug)]
pub struct SliceDecoder(Option<Box<Models>>);

impl SliceDecoder {
    /// Reads the models that all slices share.
    ///
    /// # Errors
    /// A [`Flaw`] if they are damaged.
    pub fn new(coding: Coding, models: &[u8]) -> Result<Self, Flaw> {
        match coding {
            Coding::StaticRans => Ok(SliceDecoder(Some(Box::new(Models::decode(models)?)))),
            Coding::ContextMixing if models.is_empty() => Ok(SliceDecoder(None)),
            Coding::ContextMixing => Err(Flaw("a block of context mixing has models")),
        }
    }

    /// Fills `out` with the slice whose coded form is all of `coded`.
    ///
    /// Any input gives a slice or a [`Flaw`], in time bounded by the length of `out`. After a flaw
    /// the contents of `out` are unspecified.
    pub fn decode(&self, coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
        if coded.len() >= out.len() {
            return copy_stored(coded, out);
        }
        match &self.0 {
            Some(models) => static_rans::decode(models, SliceJob { coded, out }),
            None => context_mixing::decode(coded, out),
        }
    }

    /// Decodes each of several slices as [`SliceDecoder::decode`] does. Two slices take less time
    /// together than one after the other.
    pub(crate) fn decode_each(&self, coded: &[Vec<u8>], out: &mut [Vec<u8>]) -> Result<(), Flaw> {
        let jobs = coded
            .iter()
            .zip(out)
            .map(|(coded, out)| SliceJob { coded, out });
        self.decode_few(jobs.collect())
    }

    /// Does [`SliceDecoder::decode`] for one slice or two.
    fn decode_few(&self, jobs: Vec<SliceJob>) -> Result<(), Flaw> {
        match (&self.0, <[SliceJob; 2]>::try_from(jobs)) {
            (Some(models), Ok(jobs))
                if jobs
                    .iter()
                    .all(|job| job.coded.len() < job.out.len()) =>
            {
                let [first, second] = static_rans::decode_two(models, jobs);
                first.and(second)
            }
            (_, Ok(jobs)) => jobs
                .into_iter()
                .try_for_each(|job| self.decode(job.coded, job.out)),
            (_, Err(jobs)) => jobs
                .into_iter()
                .try_for_each(|job| self.decode(job.coded, job.out)),
        }
    }
}

/// Decodes a stored slice.
fn copy_stored(coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
    if coded.len() != out.len() {
        return Err(Flaw("a slice has more coded bytes than bytes"));
    }
    out.copy_from_slice(coded);
    Ok(())
}

/// Fills `bwt` with slices of these raw sizes, in parallel on the current rayon pool.
///
/// # Errors
/// A [`Flaw`] if the slices do not fill `bwt`, or one of them is damaged.
pub fn decode_slices<S: AsRef<[u8]>>(
    decoder: &SliceDecoder,
    raw_sizes: &[u32],
    slices: &[S],
    bwt: &mut [u8],
) -> Result<(), Flaw> {
    decode_slices_on(Executor::current_pool(), decoder, raw_sizes, slices, bwt)
}

/// Does [`decode_slices`] on the given executor. After a flaw no more slices are begun.
pub(crate) fn decode_slices_on<S: AsRef<[u8]>>(
    on: Executor,
    decoder: &SliceDecoder,
    raw_sizes: &[u32],
    slices: &[S],
    mut bwt: &mut [u8],
) -> Result<(), Flaw> {
    let flaw = OnceLock::new();
    // Two slices of static rANS take less time together on one thread than one after the other.
    let together = if decoder.0.is_some() { 2 } else { 1 };
    let mut tasks: Vec<(usize, Task)> = Vec::new();
    let mut jobs = Vec::new();
    for (k, (coded, &size)) in slices.iter().zip(raw_sizes).enumerate() {
        let out = bwt
            .split_off_mut(..size as usize)
            .ok_or(Flaw::WRONG_SLICES)?;
        jobs.push(SliceJob {
            coded: coded.as_ref(),
            out,
        });
        if jobs.len() == together || k + 1 == slices.len() {
            let jobs = mem::take(&mut jobs);
            let flaw = &flaw;
            let work = jobs.iter().map(SliceJob::work).sum();
            let task = move || {
                if flaw.get().is_none()
                    && let Err(found) = decoder.decode_few(jobs)
                {
                    // Another thread may have set one meanwhile, which is as good.
                    let _ = flaw.set(found);
                }
            };
            tasks.push((work, Box::new(task)));
        }
    }
    if !bwt.is_empty() || slices.len() != raw_sizes.len() {
        return Err(Flaw::WRONG_SLICES);
    }
    // Longest first: otherwise all threads but one may wait for a long slice that was begun last.
    tasks.sort_by_key(|&(work, _)| Reverse(work));
    on.execute(tasks.into_iter().map(|(_, task)| task).collect());
    flaw.into_inner().map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: SliceLimits = SliceLimits {
        runs: 1 << 14,
        bytes: 1 << 20,
    };

    /// A long run, some noise and text.
    fn bwt() -> Vec<u8> {
        let noise = (0..1 << 16).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 13) as u8);
        let text = (0..1 << 19).map(|i: u32| b"aabbbbccd"[i as usize % 9]);
        vec![7; 1 << 21]
            .into_iter()
            .chain(noise)
            .chain(text)
            .collect()
    }

    #[test]
    fn slices_come_back_by_any_threads() {
        let bwt = bwt();
        let CodedBwt {
            models,
            raw_sizes,
            slices,
        } = encode_slices(&bwt, LIMITS, Coding::StaticRans);
        let others = encode_slices_on(Executor::CALLING, &bwt, LIMITS, Coding::StaticRans);
        assert_eq!(others.slices, slices);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(3)
            .build()
            .unwrap();
        let decoder = SliceDecoder::new(Coding::StaticRans, &models).unwrap();
        let mut out = vec![0; bwt.len()];
        decode_slices_on(
            Executor::other_pool(&pool),
            &decoder,
            &raw_sizes,
            &slices,
            &mut out,
        )
        .unwrap();
        assert!(out == bwt);
    }

    #[test]
    fn too_many_too_few_and_damaged_ones_are_flaws() {
        let bwt = bwt();
        let mut coded = encode_slices(&bwt, LIMITS, Coding::StaticRans);
        let decoder = SliceDecoder::new(Coding::StaticRans, &coded.models).unwrap();
        let mut out = vec![0; bwt.len()];
        let mut decode =
            |sizes: &[u32], slices: &[Vec<u8>]| decode_slices(&decoder, sizes, slices, &mut out);
        assert_eq!(decode(&coded.raw_sizes, &coded.slices), Ok(()));
        assert!(decode(&coded.raw_sizes[1..], &coded.slices[1..]).is_err());
        assert!(decode(&coded.raw_sizes, &coded.slices[1..]).is_err());
        let other: Vec<u32> = coded
            .raw_sizes
            .iter()
            .map(|size| size + 1)
            .collect();
        assert!(decode(&other, &coded.slices).is_err());
        coded.slices[2].pop();
        assert!(decode(&coded.raw_sizes, &coded.slices).is_err());
    }
}
