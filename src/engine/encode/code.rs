//! A block's text and its transform -> the coded block. FORMAT.md chapter 4.

use super::filtered_block::{BlockForm, FilteredBlock};
use crate::base::error::Result;
use crate::base::tasks::Executor;
use crate::bwt::Bwt;
use crate::coder::{self, CodedBwt, Coding, SliceLimits};
use crate::engine::coded_transform::{CodedTransform, Sorted};
use crate::engine::raw::Spare;
use crate::engine::slice_facts::slice_facts;
use crate::filter;
use crate::frame::{
    BlockHeader, BlockIndex, BlockKind, BwtPayload, CodedBlock, FilterList, NEEDED, Shape,
};
use crate::options::MAX_SAMPLE_RATE;

/// Codes a block's slices side by side, or stores the block if that is not longer.
pub(crate) fn code(
    block: FilteredBlock,
    sorted: Sorted,
    form: BlockForm,
    on: Executor,
    spare: &Spare,
) -> Result<CodedBlock> {
    let BlockForm {
        coding,
        limits,
        indexed,
        spares_samples,
    } = form;
    let FilteredBlock {
        filtered,
        sequences,
        place,
        raw_size,
        checksum,
        line_feeds,
    } = block;
    let mut index = None;
    let (coded, sample_rate, samples) = match sorted {
        Sorted::Coded(CodedTransform {
            coded,
            sample_rate,
            samples,
        }) => (coded, sample_rate, samples),
        Sorted::Bwt(Bwt {
            bytes,
            sample_rate,
            samples,
        }) => {
            let by_sequence = indexed && filtered.has(filter::SEQUENCES);
            let limits = match (by_sequence, coding) {
                (true, Coding::StaticRans) => SliceLimits::of_sequences(bytes.len()),
                _ => limits,
            };
            let coded = coder::encode_slices_on(on, &bytes, limits, coding);
            if indexed {
                let facts = slice_facts(on, &bytes, &coded.raw_sizes, &coded.slices);
                index = Some(BlockIndex::new(filtered.searched()?, samples[0], &facts));
            }
            // The BWT is freed before the payload is built, since that is the peak of memory.
            (coded, sample_rate, samples)
        }
    };
    let CodedBwt {
        models,
        raw_sizes,
        slices,
    } = coded;
    let (sample_rate, samples) = match spares_samples {
        true => {
            let coded_size = models.len() + slices.iter().map(Vec::len).sum::<usize>();
            thinned(sample_rate, samples, coded_size)
        }
        false => (sample_rate, samples),
    };
    let side = filtered
        .steps
        .iter()
        .map(|step| &step.side[..])
        .collect::<Vec<_>>()
        .concat();
    let (payload, sizes) = BwtPayload {
        filters: FilterList::of(&filtered.steps),
        raw_sizes,
        index,
        models: &models,
        samples,
        side: &side,
        slices: slices.iter().map(Vec::as_slice).collect(),
    }
    .to_bytes(coding)?;
    drop(slices);
    let is_filtered = !filtered.steps.is_empty();
    let sample_rate_log = sample_rate.ilog2() as u8;
    let (kind, payload) = if payload.len() < raw_size {
        spare.keep(filtered.text);
        (
            BlockKind::Bwt(Shape {
                coding,
                filtered: is_filtered,
                // An index is the only table of a block that this version writes.
                tables: indexed,
                indexed,
                sample_rate_log,
            }),
            payload,
        )
    } else {
        drop(payload);
        (BlockKind::Stored, filter::undo(filtered, raw_size)?)
    };
    let has_index = matches!(kind, BlockKind::Bwt(shape) if shape.indexed);
    let header = BlockHeader {
        kind,
        raw_size: raw_size as u64,
        coded_size: payload.len() as u64,
        raw_checksum: checksum,
        raw_offset: place.offset,
        payload_checksum: crc32fast::hash(&payload),
    };
    Ok(CodedBlock {
        header,
        payload,
        sequences,
        front_size: if has_index {
            (BlockHeader::SIZE + sizes.front) as u64
        } else {
            0
        },
        index_size: if has_index { sizes.index as u64 } else { 0 },
        line_feeds,
        needed: NEEDED,
        number: place.number,
        offset: 0,
    })
}

/// Coded bytes of a block that allow for one byte of samples.
const CODED_PER_SAMPLES: usize = 12;

/// Leaves out samples until a block of `coded_size` bytes without them allows for the rest, or
/// until they are as far apart as a search allows. Returns their distance too.
///
/// A search then walks farther to each place, or restores the block if that takes less time.
fn thinned(mut rate: u32, mut samples: Vec<u64>, coded_size: usize) -> (u32, Vec<u64>) {
    let bits = samples
        .iter()
        .max()
        .map_or(0, |most| u64::BITS - most.leading_zeros()) as usize;
    let mut step = 1;
    while samples.len().div_ceil(step) * bits / 8 > coded_size / CODED_PER_SAMPLES
        && rate < MAX_SAMPLE_RATE
    {
        rate *= 2;
        step *= 2;
    }
    if step > 1 {
        samples = samples.into_iter().step_by(step).collect();
    }
    (rate, samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_take_a_twelfth_at_most() {
        // 10,000 samples of 22 bits, at every 256th of 2,560,000 bytes.
        let samples: Vec<u64> = (0..10_000).map(|n| 2_560_000 - n * 256).collect();
        let bytes = |count: usize| count * 22 / 8;
        let thin = |coded_size| thinned(256, samples.clone(), coded_size);
        assert_eq!(thin(12 * bytes(10_000)), (256, samples.clone()));
        let (rate, fewer) = thin(12 * bytes(10_000) - 1);
        assert_eq!((rate, fewer.len()), (512, 5000));
        assert!(fewer.iter().eq(samples.iter().step_by(2)));
        let (rate, fewer) = thin(0);
        assert_eq!(
            (rate, fewer.len()),
            (MAX_SAMPLE_RATE, 10_000_usize.div_ceil(64))
        );
        assert_eq!(fewer[0], samples[0]);
    }
}
