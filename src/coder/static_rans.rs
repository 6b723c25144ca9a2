//! Static rANS: run lengths and MTF ranks, coded by tables that are made from counts before coding.
//! FORMAT.md section 14.6.
//!
//! A slice is coded as its runs: for each the length, and the MTF rank of its byte after it. The
//! context of each (see `run_context`) selects one of the block's tables (see `models`). Run
//! lengths and MTF ranks have a rANS state each, which do not wait for each other, and the next
//! run's byte is known before the MTF rank is; so a processor works on several runs at once.
//!
//! This is the decoder; the encoder's passes are `slice_symbols` and `static_encoder`.

use super::exp_golomb::{self, DIRECT, LAST_BUCKET};
use super::list_head::ListHead;
use super::models::{Models, extra_table};
use super::mtf::MtfList;
use super::rans::RansDecoder;
use super::rans::RansStream::{self, MtfRanks, RunLengths};
use super::rle::{self, BwtRun};
use super::run_context::ModelState;
use super::slot_search::{SearchBaseline, SlotSearch};
use crate::base::error::Flaw;
use crate::base::simd_dispatch::widest;

/// After the last run no byte is put back.
const LAST_RANK: Flaw = Flaw("a slice continues after its last run");

/// Bits that code the exp-Golomb width of a very long run, less the minimum.
pub(super) const WIDTH_BITS: u32 = 5;

/// Decodes the list of a slice.
fn take_list(coder: &mut RansDecoder, alphabet: &[u8]) -> Vec<u8> {
    let mut left = alphabet.to_vec();
    let count = coder.take_even(MtfRanks, alphabet.len() as u32) + 1;
    (0..count)
        .map(|_| left.remove(coder.take_even(MtfRanks, left.len() as u32) as usize))
        .collect()
}

/// A slice that is being decoded.
struct SliceRuns<'a, H> {
    coder: RansDecoder<'a>,
    state: ModelState<'a>,
    list: MtfList<H>,
    /// Number of bytes in the list.
    list_len: u32,
    /// Byte of the current run.
    byte: u8,
    /// Start of the current run.
    pos: usize,
}

impl<'a, H: ListHead> SliceRuns<'a, H> {
    fn new(models: &'a Models, coded: &'a [u8]) -> Result<Self, Flaw> {
        let mut coder = RansDecoder::new(coded)?;
        let bytes = take_list(&mut coder, &models.alphabet);
        let list = MtfList::of(&bytes);
        let state = ModelState::new(&models.own);
        let byte = list.front();
        Ok(SliceRuns {
            coder,
            state,
            list,
            list_len: bytes.len() as u32,
            byte,
            pos: 0,
        })
    }

    /// Decodes a run into `out`, and returns true if it was the last.
    #[inline(always)]
    fn step<S: SlotSearch<Head = H>>(
        &mut self,
        models: &Models,
        out: &mut [u8],
    ) -> Result<bool, Flaw> {
        let [run_class, rank_context] = self.state.contexts(self.byte);
        let run_table = &models.runs.tables[run_class];
        let rank_table = &models.ranks.tables[usize::from(models.rank_classes[rank_context])];
        let [run_slot, rank_slot] = [RunLengths, MtfRanks].map(|stream| self.coder.slot(stream));
        // Decided from the slots, so that the processor knows it as early as possible.
        let large = run_table.reaches(DIRECT, run_slot) || rank_table.reaches(DIRECT, rank_slot);
        let (mut len, run_slots) = run_table.find::<S>(run_slot);
        let (mut mtf_rank, rank_slots) = rank_table.find::<S>(rank_slot);
        self.coder.take_both([run_slots, rank_slots]);
        // Most runs are short and not at the end.
        if !large
            && mtf_rank + 1 < self.list_len
            && let Some(room) = out
                .get_mut(self.pos..)
                .and_then(|out| out.first_chunk_mut::<16>())
        {
            // The run has at most ten bytes and there is room for 16, so it is not the last one.
            *room = [self.byte; 16];
            self.pos += len as usize + 1;
            self.turn(len, mtf_rank as u8);
            return Ok(false);
        }
        if len >= DIRECT as u32 {
            len = take_long(&mut self.coder, len, models)?;
        }
        if mtf_rank >= DIRECT as u32 {
            mtf_rank = take_extra::<S>(&mut self.coder, MtfRanks, mtf_rank - 8, models);
        }
        let run = BwtRun {
            byte: self.byte,
            len: len + 1,
        };
        self.pos = rle::write(out, self.pos, run)?;
        if self.pos == out.len() {
            return if mtf_rank == 0 {
                Ok(true)
            } else {
                Err(LAST_RANK)
            };
        }
        if mtf_rank + 1 >= self.list_len {
            return Err(Flaw("a slice puts a byte past the end of its list"));
        }
        self.turn(len, mtf_rank as u8);
        Ok(false)
    }

    /// Moves on to the next run. Both numbers are less one.
    #[inline(always)]
    fn turn(&mut self, len: u32, mtf_rank: u8) {
        let byte = self.byte;
        self.byte = self.list.second();
        self.list.put_back(mtf_rank + 1);
        self.state.add(byte, len.min(255) as u8, mtf_rank);
    }

    /// Decodes the remaining runs.
    #[inline(always)]
    fn rest<S: SlotSearch<Head = H>>(
        &mut self,
        models: &Models,
        out: &mut [u8],
    ) -> Result<(), Flaw> {
        while !self.step::<S>(models, out)? {}
        self.coder.finish()
    }
}

/// A coded slice and the buffer for its bytes.
pub(super) struct SliceJob<'a> {
    pub coded: &'a [u8],
    pub out: &'a mut [u8],
}

impl SliceJob<'_> {
    /// The time that decoding takes, relative to other slices: it depends mostly on the number of
    /// coded bytes, and a little on the number of decoded or stored bytes.
    pub(super) fn work(&self) -> usize {
        let coded = if self.coded.len() < self.out.len() {
            self.coded.len()
        } else {
            0
        };
        coded + self.out.len() / 64
    }
}

/// Decodes a slice, or returns its flaw.
pub(super) fn decode(models: &Models, SliceJob { coded, out }: SliceJob) -> Result<(), Flaw> {
    widest!(
        decode_with::<super::slot_search::SearchAvx2, SearchBaseline>(
            models: &Models, coded: &[u8], out: &mut [u8]
        ) -> Result<(), Flaw>
    )
}

#[inline(always)]
fn decode_with<S: SlotSearch>(models: &Models, coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
    SliceRuns::<S::Head>::new(models, coded)?.rest::<S>(models, out)
}

/// Does [`decode`] for two slices at once. Each run waits only for the one before it in its own
/// slice, so this takes a third less time than one slice after the other.
pub(super) fn decode_two(models: &Models, jobs: [SliceJob; 2]) -> [Result<(), Flaw>; 2] {
    widest!(
        decode_two_with::<super::slot_search::SearchAvx2, SearchBaseline>(
            models: &Models, jobs: [SliceJob; 2]
        ) -> [Result<(), Flaw>; 2]
    )
}

#[inline(always)]
fn decode_two_with<S: SlotSearch>(models: &Models, jobs: [SliceJob; 2]) -> [Result<(), Flaw>; 2] {
    let [first, second] = jobs;
    let (mut one, mut two) = match (
        SliceRuns::<S::Head>::new(models, first.coded),
        SliceRuns::<S::Head>::new(models, second.coded),
    ) {
        (Ok(one), Ok(two)) => (one, two),
        (one, two) => {
            let rest = |runs: Result<SliceRuns<S::Head>, Flaw>, out| runs?.rest::<S>(models, out);
            return [rest(one, first.out), rest(two, second.out)];
        }
    };
    loop {
        match one.step::<S>(models, first.out) {
            Ok(false) => {}
            ended => {
                let ended = ended.and_then(|_| one.coder.finish());
                return [ended, two.rest::<S>(models, second.out)];
            }
        }
        match two.step::<S>(models, second.out) {
            Ok(false) => {}
            ended => {
                let ended = ended.and_then(|_| two.coder.finish());
                return [one.rest::<S>(models, first.out), ended];
            }
        }
    }
}

/// The run length, less one, of a bucket with extra bits.
#[inline(never)]
fn take_long(coder: &mut RansDecoder, bucket: u32, models: &Models) -> Result<u32, Flaw> {
    let mut width = bucket - 8;
    if bucket == LAST_BUCKET as u32 {
        width += coder.take_plain(RunLengths, WIDTH_BITS);
    }
    match width {
        ..=30 => Ok(take_extra::<SearchBaseline>(
            coder, RunLengths, width, models,
        )),
        _ => Err(Flaw("a slice holds a run longer than any slice")),
    }
}

/// Decodes the number with `width` extra bits.
#[inline(always)]
fn take_extra<S: SlotSearch>(
    coder: &mut RansDecoder,
    stream: RansStream,
    width: u32,
    models: &Models,
) -> u32 {
    let mut left = width.saturating_sub(4);
    let table = &models.extra[extra_table(stream, width)];
    let (high, slots) = table.find::<S>(coder.slot(stream));
    coder.take(stream, slots);
    let mut extra = high & ((1 << width.min(4)) - 1);
    while left > 0 {
        let bits = left.min(8);
        left -= bits;
        extra = extra << bits | coder.take_plain(stream, bits);
    }
    exp_golomb::join(width, extra)
}

#[cfg(test)]
mod tests {
    use super::super::{CodedBwt, Coding, SliceLimits, encode_slices};
    use super::*;

    #[test]
    fn every_processor_decodes_alike() {
        // Ranks on both sides of the list's head, and lengths with and without extra bits.
        let numbers = (0..60_000u32).map(|i| i.wrapping_mul(2_654_435_761) >> 8);
        let runs = numbers.map(|n| vec![(n % 59 % (1 + n % 31)) as u8; 1 + (n >> 8 & 3) as usize]);
        let bwt = [runs.flatten().collect(), vec![7; 300]].concat();
        let limits = SliceLimits {
            runs: usize::MAX,
            bytes: usize::MAX,
        };
        let CodedBwt { models, slices, .. } = encode_slices(&bwt, limits, Coding::StaticRans);
        assert!(slices[0].len() < bwt.len());
        let models = Models::decode(&models).unwrap();
        let mut out = [(); 2].map(|()| vec![0; bwt.len()]);
        let [fast, baseline] = &mut out;
        decode(
            &models,
            SliceJob {
                coded: &slices[0],
                out: fast,
            },
        )
        .unwrap();
        decode_with::<SearchBaseline>(&models, &slices[0], baseline).unwrap();
        assert!(out.iter().all(|out| *out == bwt));
    }
}
