//! Repairs everything in a damaged file that can be repaired: sizes, checksums (also those of raw
//! bytes), the fields of an index, and the line feeds of a seek table.
//!
//! If every decoder gets the same bytes from such a file, it is no longer damaged but another file.
//! Here it is decoded by the library's stages, which proves nothing: `decoder.py` must agree.

use crate::common::mutation::parts::{self, Kind, Part, block_at};
use crate::common::mutation::random::Random;
use crate::common::mutation::repair::{self, Care};
use bwz::bwt::{self, Bwt};
use bwz::internals::coder::{self, Coding};
use bwz::internals::counts_content;
use bwz::internals::filter::{self, Filtered, Step};
use std::ops::Range;

/// Maximum block size in bytes; larger blocks are not repaired.
const MOST: usize = 1 << 20;

/// `file` with every checksum made right that can be.
pub fn vouch(file: &[u8]) -> Vec<u8> {
    let mut parts = parts::parse(file);
    for at in (0..parts.len())
        .filter(|&n| parts[n].kind == Kind::BlockHeader)
        .collect::<Vec<_>>()
    {
        let block = block_at(&parts, at);
        if let Some((bwt, text, raw)) = restore(&parts, block.clone()) {
            parts[at].set(22, 4, crc32fast::hash(&raw).into());
            parts[at].count = raw.iter().filter(|&&byte| byte == b'\n').count();
            let sizes = raw_sizes(&parts[block.clone()], bwt.len());
            vouch_index(&mut parts[block], &bwt, &sizes, &text);
        }
    }
    repair::sizes(&mut parts);
    repair::sign(&mut parts, Care::All, &mut Random::new(0));
    parts::join(&parts)
}

/// The transform, the text and the raw bytes of a block of bwt kind.
fn restore(parts: &[Part], block: Range<usize>) -> Option<(Vec<u8>, Vec<u8>, Vec<u8>)> {
    let header = &parts[block.start];
    let payload = || parts[block.clone()].iter();
    let first = |kind: Kind| payload().find(|part| part.kind == kind);
    let raw_size = header.get(12, 5) as usize;
    let steps = steps(&parts[block.clone()]);
    let text_size = steps
        .last()
        .map_or(raw_size, |step| step.output_size);
    let samples: Vec<u64> = first(Kind::Samples)?.values();
    let rate_log = header.get(11, 1);
    let coding = header.get(9, 1);
    let fits = (1..=MOST).contains(&text_size) && raw_size <= MOST;
    if !fits || !(3..=16).contains(&rate_log) || coding > 1 {
        return None;
    }
    let slices = payload().filter(|part| part.kind == Kind::Slice);
    let slices: Vec<&[u8]> = slices.map(|part| &part.bytes[..]).collect();
    let models = first(Kind::Models).map_or(&[][..], |part| &part.bytes);
    let coding = [Coding::StaticRans, Coding::ContextMixing][coding as usize];
    let sizes = raw_sizes(&parts[block.clone()], text_size);
    let mut bytes = vec![0; text_size];
    let decoder = coder::SliceDecoder::new(coding, models).ok()?;
    coder::decode_slices(&decoder, &sizes, &slices, &mut bytes).ok()?;
    if samples.len() != text_size.div_ceil(1 << rate_log) {
        return None;
    }
    let bwt = Bwt {
        bytes: bytes.clone(),
        sample_rate: 1 << rate_log,
        samples,
    };
    let text = bwt::invert(bwt).ok()?;
    let filtered = Filtered {
        text: text.clone(),
        steps,
    };
    Some((bytes, text, filter::undo(filtered, raw_size).ok()?))
}

/// The filters of a block.
fn steps(block: &[Part]) -> Vec<Step> {
    let of = |kind: Kind| block.iter().filter(move |part| part.kind == kind);
    let lists = of(Kind::FilterId)
        .zip(of(Kind::FilteredSize))
        .enumerate();
    let step = |(number, (id, size)): (usize, (&Part, &Part))| Step {
        filter: id.get(0, 1) as u8,
        output_size: size.varint() as usize,
        side: block
            .iter()
            .filter(|part| part.kind.is_side() && part.count == number)
            .flat_map(|part| part.bytes.clone())
            .collect(),
    };
    lists.map(step).collect()
}

/// BWT bytes of each slice of a block.
fn raw_sizes(block: &[Part], text_size: usize) -> Vec<u32> {
    let sizes = block
        .iter()
        .find(|part| part.kind == Kind::RawSizes);
    let mut sizes = sizes.map_or_else(Vec::new, Part::values);
    sizes.push((text_size as u64).saturating_sub(sizes.iter().sum()));
    sizes
        .into_iter()
        .map(|size| size as u32)
        .collect()
}

/// Repairs Head, Tail and Counts of an indexed block, if they have a valid form.
fn vouch_index(block: &mut [Part], bwt: &[u8], raw_sizes: &[u32], text: &[u8]) {
    let searched = block
        .iter()
        .find(|part| part.kind == Kind::SequenceSize);
    let searched = searched.map_or(text.len(), |part| parts::from_varint(&part.bytes));
    let text = &text[..searched.min(text.len())];
    let edge = text.len().min(128);
    let edges = [&text[..edge], &text[text.len() - edge..]];
    let places = block
        .iter_mut()
        .filter(|part| part.kind == Kind::Edge);
    places
        .zip(edges)
        .for_each(|(part, edge)| part.bytes = edge.to_vec());
    if let Some(counts) = block
        .iter_mut()
        .find(|part| part.kind == Kind::Counts)
    {
        counts.bytes = counts_of(bwt, raw_sizes);
    }
}

/// Counts, by FORMAT.md chapter 10.
fn counts_of(mut bwt: &[u8], raw_sizes: &[u32]) -> Vec<u8> {
    let count = |slice: &[u8], c: u8| slice.iter().filter(|&&byte| byte == c).count() as u32;
    let used: Vec<u8> = (0..=255).filter(|c| bwt.contains(c)).collect();
    let mut bytes = vec![0; 32];
    used.iter()
        .for_each(|c| bytes[usize::from(c / 8)] |= 1 << (c % 8));
    let slices: Vec<&[u8]> = raw_sizes
        .iter()
        .map_while(|&size| bwt.split_off(..size as usize))
        .collect();
    let row = |&c: &u8| {
        slices
            .iter()
            .map(|slice| count(slice, c))
            .collect()
    };
    let rows: Vec<Vec<u32>> = used.iter().map(row).collect();
    bytes.extend(counts_content(&rows));
    bytes
}
