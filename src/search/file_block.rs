//! A block of a file that is searched: its header, its place in the file, and how to decode it. The
//! text that is searched in it is that of a `ByteBlock` or of a `SequenceBlock`.

use super::shared_input::SharedInput;
use crate::base::error::{Error, Flaw, Result, Unreadable};
use crate::base::shortage;
use crate::bwt::CpuInverse;
use crate::engine::decode::{self, Decoded, SliceGpus};
use crate::engine::memory::Plan;

use crate::frame::{BlockHeader, BlockInfo, BlockKind, contents};
use crate::options::Options;
use std::sync::Arc;

/// Bytes of memory per located position: its row, and the position itself, once in the list of all
/// and once in the list of its pattern.
pub(super) const PER_POSITION: u64 = 24;

/// A block of which nothing has been read but its entry in the seek table.
pub(crate) struct FileBlock<'a> {
    pub input: &'a SharedInput<'a>,
    pub info: &'a BlockInfo,
    pub number: u64,
    pub options: &'a Options,
    /// The GPUs that may decode its slices, if the CPU does not have to do it alone.
    pub gpus: Option<Arc<SliceGpus>>,
}

impl<'a> FileBlock<'a> {
    /// Block `number` of the file.
    pub(crate) fn new(
        input: &'a SharedInput<'a>,
        info: &'a BlockInfo,
        number: u64,
        options: &'a Options,
    ) -> Self {
        FileBlock {
            input,
            info,
            number,
            options,
            gpus: None,
        }
    }

    /// Reads the header of the block.
    pub(crate) fn header(&self) -> Result<BlockHeader> {
        self.input
            .with_input(|input| contents::read_block_header(input, self.info))
            .map_err(|e| self.locate(e))
    }

    /// The kind of the block.
    pub(crate) fn kind(&self) -> BlockKind {
        self.info.shape.kind
    }

    /// Bytes of the raw block.
    pub(crate) fn raw_size(&self) -> u64 {
        self.info.raw.end - self.info.raw.start
    }

    /// The error for what cannot be read in the block.
    pub(crate) fn unreadable(&self, why: Unreadable) -> Error {
        why.at(Some(self.number), self.info.coded.start, self.info.needed)
    }

    /// Checks that `needed` bytes are allowed for the index of the block. A small file may claim a
    /// block whose index alone is very large.
    ///
    /// # Errors
    /// [`Error::Limit`].
    pub(crate) fn check_index_memory(&self, needed: u64) -> Result<()> {
        let what = || format!("the index of a block of {} bytes", self.raw_size());
        shortage::check(needed, self.options.memory_limit(), what)
    }

    /// Checks that `count` positions in the block may be held in memory.
    ///
    /// # Errors
    /// [`Error::Limit`].
    pub(crate) fn check_positions(&self, count: u64) -> Result<()> {
        let number = self.number;
        shortage::check(
            count.saturating_mul(PER_POSITION),
            self.options.memory_limit(),
            || {
                format!(
                    "locating {count} occurrences in block {number} (ask for fewer, or allow more)"
                )
            },
        )
    }

    /// Adds the block's number and offset to an error.
    pub(crate) fn locate(&self, error: Error) -> Error {
        error.at(self.number, self.info.coded.start)
    }

    /// The error for a flaw of the block.
    pub(crate) fn flaw(&self, flaw: Flaw) -> Error {
        flaw.at(Some(self.number), self.info.coded.start)
    }

    /// Reads the whole block, restores its raw bytes and checks them.
    pub(crate) fn restore(&self) -> Result<Vec<u8>> {
        self.decoded(|decoded| self.finish(decoded))
    }

    /// Restores the raw bytes of the decoded block and checks them.
    pub(crate) fn finish(&self, decoded: Decoded) -> Result<Vec<u8>> {
        decode::finish(
            decoded,
            &CpuInverse::new(self.options.run.narrow),
            &self.plan()?,
        )
    }

    /// The plan for decoding the block.
    fn plan(&self) -> Result<Plan> {
        self.options
            .plan_to_decode(self.raw_size())
            .map_err(|e| self.locate(e))
    }

    /// Returns the error of decoding the block for search, if there is too little memory.
    pub(crate) fn shortage_of_index(&self) -> Option<Error> {
        let plan = self.options.plan_to_index(self.raw_size());
        plan.err().map(|e| self.locate(e))
    }

    /// Reads the whole block, decodes its slices and does `work` with them. If the checks or `work`
    /// find damage in slices that a GPU decoded, the CPU decodes them again.
    pub(crate) fn decoded<T>(&self, work: impl Fn(Decoded) -> Result<T>) -> Result<T> {
        self.decoded_by(&self.plan()?, work)
    }

    /// Like [`FileBlock::decoded`], without restoring the block, which takes less memory.
    pub(crate) fn decoded_for_index<T>(&self, work: impl Fn(Decoded) -> Result<T>) -> Result<T> {
        let plan = self.options.plan_to_index(self.raw_size());
        self.decoded_by(&plan.map_err(|e| self.locate(e))?, work)
    }

    fn decoded_by<T>(&self, plan: &Plan, work: impl Fn(Decoded) -> Result<T>) -> Result<T> {
        let gpus = self
            .gpus
            .as_deref()
            .filter(|_| SliceGpus::take(self.kind()));
        match (self.decode(plan, gpus).and_then(&work), gpus) {
            (Err(Error::Format { .. }), Some(gpus)) => {
                let done = work(self.decode(plan, None)?)?;
                gpus.warn(&format!("a GPU decoded block {} wrongly", self.number));
                Ok(done)
            }
            (done, _) => done,
        }
    }

    fn decode(&self, plan: &Plan, gpus: Option<&SliceGpus>) -> Result<Decoded> {
        if let Some(gpus) = gpus {
            // The GPUs are opened while the block is read.
            gpus.expect(self.info.coded.end - self.info.coded.start);
        }
        let block = self
            .input
            .with_input(|input| contents::read_block(input, self.info, self.number))?;
        let decoded = match gpus {
            Some(gpus) => decode::decode_slices_on_gpus(gpus, block, plan)?,
            None => decode::decode_slices(block, plan)?,
        };
        self.input
            .block_decoded(self.info.coded.end - self.info.coded.start);
        Ok(decoded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;
    use crate::engine::decode::{DecodingGpu, decode_as_gpu};
    use crate::frame::contents::Contents;
    use crate::options::events::Listener;
    use std::io::Cursor;
    use std::sync::Mutex;

    /// A GPU that decodes correctly and then changes each portion.
    fn changing(change: impl Fn(&mut [u8]) + Send + 'static) -> DecodingGpu {
        DecodingGpu::fake(move |coded, out| {
            let sound = decode_as_gpu(coded, out)?;
            change(out);
            Ok(sound)
        })
    }

    /// The second change keeps the counts of bytes, which the index stores.
    #[test]
    fn what_a_gpu_decodes_wrongly_the_cpu_decodes() {
        let raw = cases::text(900_000);
        let mut file = Vec::new();
        let options = Options::new().index(16).unwrap();
        crate::compress(&raw[..], &mut file, &options).unwrap();
        let mut file = Cursor::new(file);
        let contents = Contents::read(&mut file, u64::MAX).unwrap();
        let file = Mutex::new(file);
        let input = SharedInput::new(&file);
        let info = &contents.blocks[0];
        let wrong: [DecodingGpu; 2] = [
            changing(|out| out[77] ^= 1),
            changing(|out| {
                let other = out
                    .iter()
                    .position(|&byte| byte != out[0])
                    .unwrap();
                out.swap(0, other);
            }),
        ];
        for gpu in wrong {
            let (listener, warnings) = Listener::of_warnings();
            let mut block = FileBlock::new(&input, info, 0, &options);
            block.gpus = Some(Arc::new(SliceGpus::of(vec![gpu], 300_000, listener)));
            assert!(block.restore().unwrap() == raw);
            let warning = "a GPU decoded block 0 wrongly; searching on the CPU";
            assert_eq!(*warnings.lock().unwrap(), [warning]);
        }
    }
}
