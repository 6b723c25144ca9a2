//! A block's text and its transform -> the coded block. FORMAT.md chapter 4.

use super::filtered_block::{BlockForm, FilteredBlock};
use crate::base::error::Result;
use crate::base::tasks::Executor;
use crate::bwt::{self, Bwt};
use crate::coder::{self, CodedBwt, Coding, SliceLimits};
use crate::engine::coded_transform::{CodedTransform, Sorted};
use crate::engine::raw::Spare;
use crate::engine::slice_facts::slice_facts;
use crate::filter;
use crate::frame::{self, BlockHeader, BlockIndex, BlockKind, BwtPayload, CodedBlock, Shape};

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
    } = form;
    let FilteredBlock {
        filtered,
        sequences,
        place,
        raw_size,
        checksum,
    } = block;
    let mut index = None;
    let (coded, sample_rate, samples) = match sorted {
        Sorted::Coded(CodedTransform {
            coded,
            sample_rate,
            samples,
        }) => (coded, sample_rate, bwt::wide(samples)),
        Sorted::Bwt(Bwt {
            bytes,
            sample_rate,
            samples,
        }) => {
            let by_sequence = indexed && filtered.flags == filter::SEQUENCES;
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
    let text_size = filtered.text.len() as u64;
    let payload = BwtPayload {
        tables: None,
        filtered: (filtered.flags != 0).then_some(frame::FilterFields {
            text_size,
            side: &filtered.side,
        }),
        samples,
        raw_sizes,
        index,
        models: &models,
        slices: slices.iter().map(Vec::as_slice).collect(),
    }
    .to_bytes(coding)?;
    drop(slices);
    let filters = filtered.flags;
    let sample_rate_log = sample_rate.ilog2() as u8;
    let (kind, payload) = if payload.len() < raw_size {
        spare.keep(filtered.text);
        // This draft of the format defines no table of a block (FORMAT.md section 8.2).
        let tables = false;
        (
            BlockKind::Bwt(Shape {
                filters,
                sample_rate_log,
                coding,
                indexed,
                tables,
            }),
            payload,
        )
    } else {
        drop(payload);
        (BlockKind::Stored, filter::undo(filtered, raw_size)?)
    };
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
        number: place.number,
        offset: 0,
    })
}
