//! Blocks whose raw bytes go to the memory of a GPU.
//!
//! If nothing but the inverse makes a block's raw bytes, the GPU restores them where they are to
//! be, and checks their CRC-32 there. Other blocks are restored like those of any stream, and are
//! copied to the GPU: those with filters, which the CPU undoes; stored ones; those of another
//! coding than static rANS, or with an index; those above 1 GiB, which go in and out
//! of a GPU by portions. So is a block that a GPU cannot restore.

use super::{BlockDecoder, gpu_input};
use crate::base::error::Result;
use crate::engine::decode::inverting_gpu::InvertJob;
use crate::engine::raw::{Raw, Spare};
use crate::frame::{BwtPayload, CodedBlock, Shape};
use crate::gpu::{DeviceSpan, TextTarget};
use std::ops::Range;
use std::time::Duration;

/// Part of a block, and its place in the memory of a GPU.
pub(in crate::engine::decode) struct DevicePart<'a> {
    pub part: Range<usize>,
    pub span: &'a DeviceSpan,
    /// Offset of the place in the memory.
    pub at: usize,
}

/// The end of a GPU's work on a block.
enum OnDevice {
    /// The raw bytes are in place, and checked.
    Restored,
    /// The GPU found damage, which it may have made itself.
    Refused,
    /// No GPU was there, or it failed.
    NotTaken,
}

/// Bytes of a run that are copied at once.
const PIECE: usize = 1 << 20;

impl DevicePart<'_> {
    /// Copies the part from a block on the host.
    fn copy(&self, raw: &Raw) -> Result<()> {
        if let Raw::Bytes(bytes) = raw {
            return self
                .span
                .write(self.at, &bytes[self.part.clone()]);
        }
        let mut piece = vec![0; PIECE.min(self.part.len())];
        for from in self.part.clone().step_by(PIECE) {
            let len = PIECE.min(self.part.end - from);
            raw.read_at(from, &mut piece[..len]);
            self.span
                .write(self.at + from - self.part.start, &piece[..len])?;
        }
        Ok(())
    }
}

impl BlockDecoder {
    /// Restores a part of a block to the memory of a GPU. Returns true if the raw bytes were never
    /// on the host; the memory of the payload then goes to `payloads`.
    pub(in crate::engine::decode) fn decode_to(
        &self,
        block: CodedBlock,
        target: &DevicePart,
        payloads: &Spare,
    ) -> Result<bool> {
        let may_stay = self.inverter.gpus.has_gpus() && gpu_input::may_stay_on_gpu(&block.header);
        if !may_stay {
            let raw = self.raw(block)?;
            target.copy(&raw)?;
            self.spare.keep_bytes(raw);
            return Ok(false);
        }
        // The payload is checked before a lease is held, so that the GPU does not wait for it.
        let parts = BwtPayload::of(&block)?;
        let turn = self.restoring.enter(block.number)?;
        let threads = self.inverter.threads();
        let done = match parts {
            Some((shape, parts)) => self.invert_on_device(&block, shape, &parts, threads, target),
            None => OnDevice::NotTaken,
        };
        let bytes = match done {
            OnDevice::Restored => {
                payloads.keep(block.payload);
                None
            }
            OnDevice::Refused => Some(self.restore_on_cpu(&block)?),
            OnDevice::NotTaken => Some(self.restore_after_gpus(block, threads)?.0),
        };
        drop(turn);
        self.end_if_restored();
        let Some(bytes) = bytes else {
            return Ok(true);
        };
        let raw = Raw::Bytes(bytes);
        target.copy(&raw)?;
        self.spare.keep_bytes(raw);
        Ok(false)
    }

    /// Decodes and inverts a block on a GPU, to its memory. The GPU is taken if it is done sooner
    /// than `threads` threads.
    fn invert_on_device(
        &self,
        block: &CodedBlock,
        shape: Shape,
        parts: &BwtPayload,
        threads: usize,
        target: &DevicePart,
    ) -> OnDevice {
        let raw_size = block.header.raw_size;
        let Some(mut lease) = self.inverter.gpus.lease(raw_size, threads) else {
            return OnDevice::NotTaken;
        };
        // Such a block has at most `gpu::MOST_PINNED` bytes, so its positions fit in 32 bits.
        let text = TextTarget {
            from: target.part.start as u32,
            len: target.part.len() as u32,
            span: target.span,
            at: target.at,
        };
        let job = gpu_input::device_job(shape, parts, text, block.header.raw_checksum);
        match lease.run(|gpu| gpu.invert(InvertJob::ToDevice(&job))) {
            Some(Ok(timed)) => {
                self.note_decoded(&block.header, Duration::ZERO);
                self.listener.done(block.number, raw_size, timed);
                OnDevice::Restored
            }
            Some(Err(_)) => OnDevice::Refused,
            None => OnDevice::NotTaken,
        }
    }
}
