//! The last steps back: a decoded block -> its text -> the raw bytes, checked.

use super::decoded::{Decoded, DecodedText, Inverted, Origin, decode_slices};
use crate::base::error::{Error, Flaw, Result};
use crate::base::threads::Threads;
use crate::bwt::{Bwt, CpuInverse};
use crate::engine::memory::Plan;
use crate::filter::{self, Filtered};
use crate::frame::{self, CodedBlock};

/// Decodes and restores a block on the CPU, for a block that comes alone.
pub(crate) fn restore(block: CodedBlock, plan: &Plan) -> Result<Vec<u8>> {
    finish(
        decode_slices(block, plan)?,
        &CpuInverse::new(plan.narrow),
        plan,
    )
}

/// Inverts a block's transform, undoes its filters and checks the bytes, on the CPU, within a
/// block's share of the plan's memory.
pub(crate) fn finish(decoded: Decoded, inverse: &CpuInverse, plan: &Plan) -> Result<Vec<u8>> {
    let mut share = SideShare::new(plan, decoded.origin.header.raw_size);
    let inverted = decoded.invert(|bwt| inverse.invert(bwt))?;
    // It does not wait for other blocks, since their threads may be its own.
    let side_room = |needed| share.next(needed, || inverse.free_tables(), || None);
    let (origin, raw) = inverted.unfilter(&Threads::Calling, side_room)?;
    check(&origin, raw)
}

impl Decoded {
    /// Inverts the transform, from which the text follows. A stored block has none.
    pub(super) fn invert(self, inverse: impl FnOnce(Bwt) -> Result<Vec<u8>>) -> Result<Inverted> {
        let Decoded {
            origin,
            text,
            index,
            steps,
        } = self;
        let text = match text {
            DecodedText::Bwt(bwt) => {
                inverse(bwt).map_err(|e| e.at(origin.number, origin.offset))?
            }
            DecodedText::Stored(raw) => raw,
        };
        Ok(Decoded {
            origin,
            text,
            index,
            steps,
        })
    }
}

impl Inverted {
    pub(super) fn is_filtered(&self) -> bool {
        !self.steps.is_empty()
    }

    /// Undoes the filters. The caller must not be a thread of the `pool`. The bytes are not checked
    /// yet. `side_room` is described in [`filter::undo_on`].
    pub(super) fn unfilter(
        self,
        pool: &Threads,
        side_room: impl FnMut(Option<u64>) -> Result<u64>,
    ) -> Result<(Origin, Vec<u8>)> {
        let Decoded {
            origin,
            text,
            index,
            steps,
        } = self;
        let sound = index.as_ref().map_or(Ok(()), |index| {
            index.check_edges(&text[..index.searched as usize])
        });
        sound.map_err(|flaw| origin.error(flaw))?;
        if steps.is_empty() {
            return Ok((origin, text));
        }
        let filtered = Filtered { text, steps };
        let size = origin.header.raw_size as usize;
        let raw = filter::undo_on(filtered, size, pool, side_room)
            .map_err(|e: Error| e.at(origin.number, origin.offset))?;
        Ok((origin, raw))
    }
}

/// Checks the raw bytes.
pub(super) fn check(origin: &Origin, raw: Vec<u8>) -> Result<Vec<u8>> {
    if !frame::raw_checksum_holds(origin.header.raw_checksum, &raw) {
        return Err(origin.error(Flaw::WRONG_RAW_BYTES));
    }
    Ok(raw)
}

/// Memory that the side structures of one block may take.
pub(super) struct SideShare<'p> {
    plan: &'p Plan,
    raw_size: u64,
    /// Number of times that more memory was needed.
    asked: usize,
}

impl<'p> SideShare<'p> {
    pub(super) fn new(plan: &'p Plan, raw_size: u64) -> Self {
        SideShare {
            plan,
            raw_size,
            asked: 0,
        }
    }

    /// Returns the number of bytes that the side structures may take. At first it is the plan's
    /// share. If more are `needed`, the inverse frees its tables, and their bytes are added. If
    /// these are not enough, it is all that can be had.
    ///
    /// # Errors
    /// [`Error::Limit`] if none of these is enough.
    pub(super) fn next(
        &mut self,
        needed: Option<u64>,
        free_tables: impl FnOnce(),
        take_all: impl FnOnce() -> Option<u64>,
    ) -> Result<u64> {
        let Some(needed) = needed else {
            return Ok(self.plan.side_share);
        };
        self.asked += 1;
        let more = match self.asked {
            1 => {
                free_tables();
                Some(self.plan.side_share + Plan::freed_for_side(self.raw_size))
            }
            // The block's text and its raw bytes are part of it.
            2 => take_all().map(|all| all.saturating_sub(2 * self.raw_size)),
            _ => None,
        };
        more.ok_or_else(|| self.plan.side_shortage(self.raw_size, needed))
    }
}
