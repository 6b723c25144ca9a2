//! Segment kind 1, adaptive rANS: run lengths and MTF ranks through adaptive models.
//!
//! For each run its length is coded, then, unless the segment is full, the MTF rank of its symbol
//! (see `mtf`).

use super::adaptive_models::AdaptiveModels;
use super::cdf_simd::{CdfBaseline, CdfVector};
use super::mtf::{self, MtfList};
use super::rans::{RansDecoder, RansEncoder};
use super::rle;
use super::run_context::ModelState;
use super::simd_dispatch::widest;
use crate::error::Flaw;

/// Runs per rANS batch. A batch costs about 6 bytes; its symbols fit in the L2 cache.
const BATCH: usize = 1 << 15;

/// The coded runs of `segment`, or `None` where they take as many bytes as it.
pub fn encode(segment: &[u8]) -> Option<Vec<u8>> {
    widest!(encode_with::<super::cdf_simd::CdfAvx2, CdfBaseline>(segment: &[u8]) -> Option<Vec<u8>>)
}

#[inline(always)]
fn encode_with<V: CdfVector>(segment: &[u8]) -> Option<Vec<u8>> {
    let (mut steps, symbols) = mtf::encode(segment);
    let mut out = vec![(symbols.len() - 1) as u8];
    out.extend_from_slice(&symbols);
    let (mut models, mut state) = (AdaptiveModels::new(), ModelState::new());
    let mut coder = RansEncoder::default();
    let mut pos = 0;
    while pos < segment.len() {
        for _ in 0..BATCH {
            let step = steps.pop().expect("a step for each run");
            let run = rle::read_short(segment, pos, step.len);
            pos += run.len as usize;
            models.put_run_length::<V>(&mut coder, &mut state, run);
            if pos == segment.len() {
                break;
            }
            let mtf_rank = step.mtf_rank.into();
            models.put_mtf_rank::<V>(&mut coder, &state, run, mtf_rank);
            state.add(run, mtf_rank);
        }
        coder.flush(&mut out);
        if out.len() >= segment.len() {
            return None;
        }
    }
    Some(out)
}

/// Fills `out` with the runs that `coded` holds.
pub fn decode(coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
    widest!(
        decode_with::<super::cdf_simd::CdfAvx2, CdfBaseline>(coded: &[u8], out: &mut [u8])
            -> Result<(), Flaw>
    )
}

#[inline(always)]
fn decode_with<V: CdfVector>(coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
    let (symbols, coded) = mtf::take_symbols(coded)?;
    let mut list = MtfList::of(symbols);
    let (mut models, mut state) = (AdaptiveModels::new(), ModelState::new());
    let mut coder = RansDecoder::new(coded);
    let mut pos = 0;
    let mut symbol = list.front();
    while pos < out.len() {
        coder.begin()?;
        for _ in 0..BATCH {
            let run = models.take_run_length::<V>(&mut coder, &mut state, symbol)?;
            pos = rle::write(out, pos, run)?;
            if pos == out.len() {
                break;
            }
            // The next symbol is known before the MTF rank is.
            symbol = list.second();
            let mtf_rank = models.take_mtf_rank::<V>(&mut coder, &state, run);
            if mtf_rank as usize >= symbols.len() {
                return Err(Flaw("a segment puts a symbol behind the end of its list"));
            }
            list.put_back(mtf_rank as u8);
            state.add(run, mtf_rank);
        }
    }
    coder.finish()
}
