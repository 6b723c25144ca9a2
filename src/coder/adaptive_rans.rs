//! Kind 1 of segments: runs and places through adaptive models.
//!
//! For each run its length is coded, then, unless the segment is full, the place of its symbol (see
//! `mtf`).

use super::adaptive_models::Models;
use super::cdf_simd::{self, Lanes, Usual, widest};
use super::mtf::{self, List};
use super::rans::{Decoder, Encoder};
use super::rle;
use super::run_context::Memory;
use crate::error::Flaw;

/// Runs per batch of the entropy coder. A batch costs about 6 bytes; its symbols fit in the L2
/// cache.
const BATCH: usize = 1 << 15;

/// The coded runs of `segment`, or `None` where they take as many bytes as it.
pub fn encode(segment: &[u8]) -> Option<Vec<u8>> {
    widest!(encode_with::<cdf_simd::cdf_avx2::Lanes, Usual>(segment: &[u8]) -> Option<Vec<u8>>)
}

#[inline(always)]
fn encode_with<L: Lanes>(segment: &[u8]) -> Option<Vec<u8>> {
    let (mut steps, symbols) = mtf::encode(segment);
    let mut out = vec![(symbols.len() - 1) as u8];
    out.extend_from_slice(&symbols);
    let (mut models, mut memory) = (Models::new(), Memory::new());
    let mut coder = Encoder::default();
    let mut pos = 0;
    while pos < segment.len() {
        for _ in 0..BATCH {
            let step = steps.pop().expect("a step for each run");
            let run = rle::read_short(segment, pos, step.len);
            pos += run.len as usize;
            models.put_run::<L>(&mut coder, &mut memory, run);
            if pos == segment.len() {
                break;
            }
            let place = step.place.into();
            models.put_place::<L>(&mut coder, &memory, run, place);
            memory.add(run, place);
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
        decode_with::<cdf_simd::cdf_avx2::Lanes, Usual>(coded: &[u8], out: &mut [u8]) -> Result<(), Flaw>
    )
}

#[inline(always)]
fn decode_with<L: Lanes>(coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
    let (symbols, coded) = mtf::take_symbols(coded)?;
    let mut list = List::of(symbols);
    let (mut models, mut memory) = (Models::new(), Memory::new());
    let mut coder = Decoder::new(coded);
    let mut pos = 0;
    let mut symbol = list.front();
    while pos < out.len() {
        coder.begin()?;
        for _ in 0..BATCH {
            let run = models.take_run::<L>(&mut coder, &mut memory, symbol)?;
            pos =
                rle::write(out, pos, run).ok_or(Flaw("a segment holds a run that does not fit"))?;
            if pos == out.len() {
                break;
            }
            // The next symbol is known before the place is.
            symbol = list.second();
            let place = models.take_place::<L>(&mut coder, &memory, run);
            if place as usize >= symbols.len() {
                return Err(Flaw("a segment puts a symbol behind the end of its list"));
            }
            list.put_back(place as u8);
            memory.add(run, place);
        }
    }
    coder.finish()
}
