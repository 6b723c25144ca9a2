//! The models of adaptive rANS: run lengths and MTF ranks <-> slots.
//!
//! Each number is an exp-Golomb bucket, which a [`MeanCdf`] codes in its contexts, and extra bits:
//! the highest eight through models of their own, the others with equal probabilities.

use super::adaptive_cdf::{ContextPair, MeanCdf};
use super::cdf_simd::{CdfBaseline, CdfVector};
use super::exp_golomb::{self, DIRECT, ExpGolomb, LAST_BUCKET, LAST_BUCKET_WIDTH};
use super::initial_cdfs;
use super::rans::RansStream::{self, MtfRanks, RunLengths};
use super::rans::{RansDecoder, RansEncoder, Slots};
use super::rle::BwtRun;
use super::run_context::{
    AROUND_MTF_RANK_CONTEXTS, AROUND_RUN_CONTEXTS, ModelState, OWN_CONTEXTS, QUANTISED_MTF_RANKS,
    QUANTISED_OWN, QUANTISED_RUN_LENGTHS, WIDTH_CONTEXTS,
};
use crate::error::Flaw;
use std::sync::LazyLock;

/// The most bits of equal probability that one symbol holds.
const PLAIN: u32 = 8;

/// All adaptive CDFs of a segment.
#[derive(Clone)]
pub struct AdaptiveModels {
    run_length: MeanCdf<OWN_CONTEXTS, AROUND_RUN_CONTEXTS>,
    mtf_rank: MeanCdf<OWN_CONTEXTS, AROUND_MTF_RANK_CONTEXTS>,
    extra: [ExtraBits; 2],
    width: MeanCdf<WIDTH_CONTEXTS, WIDTH_CONTEXTS>,
}

/// The extra bits of one stream: the highest four by width and symbol, the next four by width and
/// the highest.
#[derive(Clone)]
struct ExtraBits {
    high: MeanCdf<{ 16 * 256 }, 16>,
    next: MeanCdf<{ 16 * 16 }, 16>,
}

/// The models that every segment starts with, made once and copied: to make them takes longer than
/// to code a short segment.
static INITIAL: LazyLock<AdaptiveModels> = LazyLock::new(AdaptiveModels::initial);

impl AdaptiveModels {
    pub fn new() -> Self {
        INITIAL.clone()
    }

    fn initial() -> Self {
        let extra = || ExtraBits {
            high: MeanCdf::flat(|at| at >> 8, |width| width),
            next: MeanCdf::flat(|at| (at >> 4).saturating_sub(4), |width| width.saturating_sub(4)),
        };
        AdaptiveModels {
            run_length: MeanCdf::new(
                |at| initial_cdfs::OWN_RUN_LENGTHS[at % QUANTISED_OWN],
                |at| initial_cdfs::RUN_LENGTHS[(at % 16).min(QUANTISED_RUN_LENGTHS - 1)],
                initial_cdfs::RUN_LENGTH_RATES,
            ),
            mtf_rank: MeanCdf::new(
                |at| initial_cdfs::OWN_MTF_RANKS[at % QUANTISED_OWN],
                |at| initial_cdfs::MTF_RANKS[at / 4 % QUANTISED_MTF_RANKS],
                initial_cdfs::MTF_RANK_RATES,
            ),
            extra: [extra(), extra()],
            width: MeanCdf::flat(|_| 4, |_| 4),
        }
    }
}

impl AdaptiveModels {
    #[inline(always)]
    pub fn put_run_length<V: CdfVector>(
        &mut self,
        coder: &mut RansEncoder,
        state: &mut ModelState,
        run: BwtRun,
    ) {
        let split = exp_golomb::split(run.len - 1);
        let at = state.run_length_contexts(run.symbol);
        coder.put(RunLengths, self.run_length.encode::<V>(at, split.bucket));
        if split.bucket >= DIRECT {
            self.put_long_run(coder, state, run.symbol, split);
        }
    }

    #[inline(always)]
    pub fn put_mtf_rank<V: CdfVector>(
        &mut self,
        coder: &mut RansEncoder,
        state: &ModelState,
        run: BwtRun,
        mtf_rank: u32,
    ) {
        let split = exp_golomb::split(mtf_rank - 1);
        let at = state.mtf_rank_contexts(run);
        coder.put(MtfRanks, self.mtf_rank.encode::<V>(at, split.bucket));
        if split.bucket >= DIRECT {
            self.put_extra(coder, MtfRanks, run.symbol, split);
        }
    }

    #[cold]
    fn put_long_run(
        &mut self,
        coder: &mut RansEncoder,
        state: &mut ModelState,
        symbol: u8,
        split: ExpGolomb,
    ) {
        if split.bucket == LAST_BUCKET {
            let excess = (split.width - LAST_BUCKET_WIDTH) as usize;
            let at = state.width_contexts(symbol, 0);
            coder.put(RunLengths, self.width.encode::<CdfBaseline>(at, excess.min(15)));
            if excess >= 15 {
                let at = state.width_contexts(symbol, 1);
                coder.put(RunLengths, self.width.encode::<CdfBaseline>(at, excess - 15));
            }
            state.add_width(symbol, split.width);
        }
        self.put_extra(coder, RunLengths, symbol, split);
    }

    fn put_extra(
        &mut self,
        coder: &mut RansEncoder,
        stream: RansStream,
        symbol: u8,
        split: ExpGolomb,
    ) {
        let models = &mut self.extra[stream as usize];
        let mut left = split.width.saturating_sub(4);
        let high = (split.extra >> left) as usize;
        let at = high_contexts(split.width, symbol);
        coder.put(stream, models.high.encode::<CdfBaseline>(at, high));
        if left > 0 {
            let bits = left.min(4);
            left -= bits;
            let next = (split.extra >> left & ((1 << bits) - 1)) as usize;
            let at = next_contexts(split.width, high);
            coder.put(stream, models.next.encode::<CdfBaseline>(at, next));
        }
        while left > 0 {
            let bits = left.min(PLAIN);
            left -= bits;
            coder.put(stream, Slots::plain(split.extra >> left & ((1 << bits) - 1), bits));
        }
    }
}

impl AdaptiveModels {
    #[inline(always)]
    pub fn take_run_length<V: CdfVector>(
        &mut self,
        coder: &mut RansDecoder,
        state: &mut ModelState,
        symbol: u8,
    ) -> Result<BwtRun, Flaw> {
        let at = state.run_length_contexts(symbol);
        let bucket = self.run_length.take::<V>(coder, RunLengths, at);
        let mut number = bucket;
        if bucket >= DIRECT as u32 {
            // The coder is passed by value, so that it stays in registers elsewhere.
            (number, *coder) = self.take_long_run(*coder, state, symbol, bucket)?;
        }
        Ok(BwtRun { symbol, len: number + 1 })
    }

    #[inline(always)]
    pub fn take_mtf_rank<V: CdfVector>(
        &mut self,
        coder: &mut RansDecoder,
        state: &ModelState,
        run: BwtRun,
    ) -> u32 {
        let at = state.mtf_rank_contexts(run);
        let bucket = self.mtf_rank.take::<V>(coder, MtfRanks, at);
        let mut number = bucket;
        if bucket >= DIRECT as u32 {
            (number, *coder) = self.take_extra::<V>(*coder, MtfRanks, run.symbol, bucket - 8);
        }
        number + 1
    }

    #[cold]
    fn take_long_run<'a>(
        &mut self,
        mut coder: RansDecoder<'a>,
        state: &mut ModelState,
        symbol: u8,
        bucket: u32,
    ) -> Result<(u32, RansDecoder<'a>), Flaw> {
        let mut width = bucket - 8;
        if bucket == LAST_BUCKET as u32 {
            width += self.take_excess(&mut coder, state, symbol);
        }
        if width > 30 {
            return Err(Flaw("a segment holds a run longer than any segment"));
        }
        if bucket == LAST_BUCKET as u32 {
            state.add_width(symbol, width);
        }
        Ok(self.take_extra::<CdfBaseline>(coder, RunLengths, symbol, width))
    }

    fn take_excess(&mut self, coder: &mut RansDecoder, state: &ModelState, symbol: u8) -> u32 {
        let mut excess = 0;
        for stage in 0..2 {
            let at = state.width_contexts(symbol, stage);
            let more = self.width.take::<CdfBaseline>(coder, RunLengths, at);
            excess += more;
            if more < 15 {
                break;
            }
        }
        excess
    }

    #[inline(always)]
    fn take_extra<'a, V: CdfVector>(
        &mut self,
        mut coder: RansDecoder<'a>,
        stream: RansStream,
        symbol: u8,
        width: u32,
    ) -> (u32, RansDecoder<'a>) {
        let models = &mut self.extra[stream as usize];
        let mut left = width.saturating_sub(4);
        let at = high_contexts(width, symbol);
        let high = models.high.take::<V>(&mut coder, stream, at);
        let mut extra = high & ((1 << width.min(4)) - 1);
        if left > 0 {
            let bits = left.min(4);
            left -= bits;
            let at = next_contexts(width, high as usize);
            let next = models.next.take::<V>(&mut coder, stream, at);
            extra = extra << bits | next & ((1 << bits) - 1);
        }
        while left > 0 {
            let bits = left.min(PLAIN);
            left -= bits;
            extra = extra << bits | coder.take_plain(stream, bits);
        }
        (exp_golomb::join(width, extra), coder)
    }
}

impl<const A: usize, const B: usize> MeanCdf<A, B> {
    /// Decodes one symbol.
    #[inline(always)]
    fn take<V: CdfVector>(
        &mut self,
        from: &mut RansDecoder,
        of: RansStream,
        at: ContextPair,
    ) -> u32 {
        let (symbol, slots) = self.decode::<V>(at, from.slot(of));
        from.take(of, slots);
        symbol as u32
    }
}

fn high_contexts(width: u32, symbol: u8) -> ContextPair {
    let width = width.min(15) as usize;
    ContextPair { first: width << 8 | usize::from(symbol), second: width }
}

fn next_contexts(width: u32, high: usize) -> ContextPair {
    let width = width.min(15) as usize;
    ContextPair { first: width << 4 | high, second: width }
}
