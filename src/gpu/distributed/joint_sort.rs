//! A sort of one text by several GPUs, each of which has a part of the text and gets a part of the
//! rows, as a `PartSorter` runs it.
//!
//! The product sorts in this way by [`ByDoubling`] alone. The published sort that it is compared
//! with is in `papers`.

use super::device_exchange::DeviceExchange;
use super::joint_doubling::JointDoubling;
use super::part_keys::PartBytes;
use crate::base::error::Result;
use crate::gpu::runtime::kernel_structs::RowsView;
use crate::gpu::runtime::{ArenaAllocator, Array, Gpu, measure};
use crate::gpu::text_parts::TextParts;
use std::fmt::Debug;

/// A text that several GPUs sort, as one of them sees it.
#[derive(Clone, Copy, Debug)]
pub struct OwnPart<'m> {
    /// Division of the text among the GPUs.
    pub parts: TextParts,
    /// The part of this GPU.
    pub bytes: PartBytes<'m>,
    /// Arrays for the rows of this GPU.
    pub(crate) rows: RowsView,
}

/// A way to sort a text on several GPUs.
pub trait JointSort: Debug + Sync {
    /// Bytes of device memory that GPU `number` needs, beside the arrays of its part.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the text is too long or the GPU fails.
    fn memory(&self, gpu: &Gpu, parts: TextParts, number: usize) -> Result<usize>;

    /// Sorts, and writes the rows of this GPU. `memory` has as many bytes as [`JointSort::memory`]
    /// says. `left` gets the amount of work that is left after each round.
    ///
    /// # Errors
    /// As [`JointSort::memory`], and if another GPU or the network fails.
    fn run<'m, E: DeviceExchange>(
        &self,
        gpu: &Gpu,
        memory: Array<'m, u8>,
        exchange: &mut E,
        part: OwnPart<'m>,
        left: &mut Vec<u64>,
    ) -> Result<()>;
}

/// Prefix doubling: see [`JointDoubling`].
#[derive(Debug)]
pub(crate) struct ByDoubling;

impl JointSort for ByDoubling {
    fn memory(&self, gpu: &Gpu, parts: TextParts, number: usize) -> Result<usize> {
        measure(|arena| JointDoubling::allocate(gpu, arena, parts, number))
    }

    fn run<'m, E: DeviceExchange>(
        &self,
        gpu: &Gpu,
        memory: Array<'m, u8>,
        exchange: &mut E,
        part: OwnPart<'m>,
        left: &mut Vec<u64>,
    ) -> Result<()> {
        let OwnPart { parts, bytes, rows } = part;
        let mut arena = ArenaAllocator::within(memory);
        let doubling = JointDoubling::allocate(gpu, &mut arena, parts, exchange.number())?;
        doubling.run(gpu, exchange, bytes, rows, left)
    }
}
