//! Kinds 1 and 3 of segments: runs and places through adaptive models.
//!
//! For each run its length is coded, then, unless the segment is full, the place of its symbol (see
//! `mtf`). Kind 1 learns how much to trust each of its models; kind 3 trusts them alike, which is
//! faster and 0.4 % larger.

use super::context::Memory;
use super::entropy::Models;
use super::lanes::{self, Lanes, Usual};
use super::mtf::{self, List};
use super::rans::{Decoder, Encoder};
use super::rle;
use crate::error::Flaw;

/// Runs per batch of the entropy coder. A batch costs about 6 bytes; its symbols fit in the L2
/// cache.
const BATCH: usize = 1 << 15;

/// The coded runs of `segment`, or `None` where they take as many bytes as it.
pub fn encode<const LEARNS: bool>(segment: &[u8]) -> Option<Vec<u8>> {
    #[cfg(target_arch = "x86_64")]
    if lanes::avx2::is_there() {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
        fn with_avx2<const LEARNS: bool>(segment: &[u8]) -> Option<Vec<u8>> {
            encode_with::<lanes::avx2::Lanes, LEARNS>(segment)
        }
        // SAFETY: the processor has all that the function asks for.
        #[allow(unsafe_code)]
        return unsafe { with_avx2::<LEARNS>(segment) };
    }
    encode_with::<Usual, LEARNS>(segment)
}

#[inline(always)]
fn encode_with<L: Lanes, const LEARNS: bool>(segment: &[u8]) -> Option<Vec<u8>> {
    let (mut places, symbols) = mtf::encode(segment);
    let mut out = vec![(symbols.len() - 1) as u8];
    out.extend_from_slice(&symbols);
    let (mut models, mut memory) = (Models::<LEARNS>::new(), Memory::new());
    let mut coder = Encoder::default();
    let mut pos = 0;
    while pos < segment.len() {
        for _ in 0..BATCH {
            let run = rle::read(segment, pos);
            pos += run.len as usize;
            models.put_run::<L>(&mut coder, &mut memory, run);
            if pos == segment.len() {
                break;
            }
            let place = places.pop().expect("a place for each run").into();
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
pub fn decode<const LEARNS: bool>(coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
    #[cfg(target_arch = "x86_64")]
    if lanes::avx2::is_there() {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
        fn with_avx2<const LEARNS: bool>(coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
            decode_with::<lanes::avx2::Lanes, LEARNS>(coded, out)
        }
        // SAFETY: as in `encode`.
        #[allow(unsafe_code)]
        return unsafe { with_avx2::<LEARNS>(coded, out) };
    }
    decode_with::<Usual, LEARNS>(coded, out)
}

#[inline(always)]
fn decode_with<L: Lanes, const LEARNS: bool>(coded: &[u8], out: &mut [u8]) -> Result<(), Flaw> {
    let (symbols, coded) = take_symbols(coded)?;
    let mut list = List::of(symbols);
    let (mut models, mut memory) = (Models::<LEARNS>::new(), Memory::new());
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

/// Splits off the segment's symbols, in the order of first appearance.
fn take_symbols(coded: &[u8]) -> Result<(&[u8], &[u8]), Flaw> {
    let early = Flaw("a segment's coded bytes end too early");
    let (last, coded) = coded.split_first().ok_or(early)?;
    let (symbols, coded) = coded.split_at_checked(usize::from(*last) + 1).ok_or(early)?;
    let mut seen = [false; 256];
    if symbols.iter().any(|&symbol| std::mem::replace(&mut seen[usize::from(symbol)], true)) {
        return Err(Flaw("a segment lists a symbol twice"));
    }
    Ok((symbols, coded))
}
