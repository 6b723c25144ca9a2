//! Decodes the slices of blocks that are searched, on leased GPUs, into the host's memory.
//!
//! A block is cut into portions of whole slices, and each portion takes a lease of its own. Any
//! number of blocks are cut at a time. While some portions are decoded, others are copied. A block
//! may therefore be larger than a GPU's memory: each lease takes the device memory of two portions
//! and the pinned memory of one. If a GPU fails with a portion or refuses it, the CPU decodes it,
//! so that a damaged block has the same error on every device. `decoded` checks the result.
//!
//! Portions are tasks of the current rayon pool, and wait in it for their leases. A task that holds
//! a lease does nothing through the pool before it gives the lease back. The pool could otherwise
//! hand it another portion, which would wait for that same lease.

use crate::base::error::{Flaw, Result};
use crate::base::tasks::Executor;
use crate::coder::{self, CodedBwt, Coding, SliceDecoder};
use crate::engine::device_pool::{DevicePool, Opener, Rates};
use crate::frame::{BlockKind, Shape};
use crate::gpu;
use crate::options::Options;
use crate::options::events::Listener;
use std::sync::OnceLock;
use std::time::Instant;

/// Number of leases per GPU. A slice takes long by itself, and a portion has fewer slices than a
/// GPU decodes at a time.
const LEASES: usize = 8;

/// Maximum number of bytes that a portion decodes to. The CPU decodes a larger slice.
const PORTION: usize = 32 << 20;

#[cfg(test)]
type FakeDecoder = Box<dyn FnMut(&CodedBwt<&[u8]>, &mut [u8]) -> Result<bool> + Send>;

/// A GPU that decodes portions.
pub(crate) enum DecodingGpu {
    Cuda(Box<gpu::BwtDecoder>),
    /// A test's stand-in for a GPU.
    #[cfg(test)]
    Fake(FakeDecoder),
}

impl DecodingGpu {
    /// Opens GPU `number`, with memory for portions.
    fn open(number: u32) -> Result<Self> {
        let mut decoder = gpu::BwtDecoder::new(number)?;
        decoder.reserve(PORTION as u32)?;
        Ok(DecodingGpu::Cuda(Box::new(decoder)))
    }

    #[cfg(test)]
    pub(crate) fn fake(
        decode: impl FnMut(&CodedBwt<&[u8]>, &mut [u8]) -> Result<bool> + Send + 'static,
    ) -> Self {
        DecodingGpu::Fake(Box::new(decode))
    }

    /// Decodes slices into memory of their length, without the thread pool. Returns true if all are
    /// sound.
    fn decode(&mut self, coded: &CodedBwt<&[u8]>, out: &mut [u8]) -> Result<bool> {
        match self {
            DecodingGpu::Cuda(decoder) => {
                let decoded = decoder.decode(coded)?;
                decoded.inspect(|decoded| out.copy_from_slice(decoded));
                Ok(decoded.is_some())
            }
            #[cfg(test)]
            DecodingGpu::Fake(decode) => decode(coded, out),
        }
    }
}

/// Neighbouring slices, and the memory that they are decoded into.
struct Portion<'a> {
    coded: CodedBwt<&'a [u8]>,
    out: &'a mut [u8],
}

/// The GPUs that decode blocks for a search.
pub(crate) struct SliceGpus {
    gpus: DevicePool<DecodingGpu>,
    portion: usize,
}

impl SliceGpus {
    /// Creates the pool of the GPUs that the options name.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if this build has no decoder for the device that is
    /// asked for.
    pub(crate) fn new(options: &Options, listener: Listener) -> Result<Self> {
        let threads = options.thread_count();
        let opener = Opener::new(options.device, threads, LEASES, DecodingGpu::open)?;
        let gpus = DevicePool::new(opener, Rates::DECODE, threads, listener);
        Ok(SliceGpus {
            gpus,
            portion: PORTION,
        })
    }

    /// Creates a pool of GPUs that are open from the start and used for every block, for portions
    /// of `portion` bytes.
    #[cfg(test)]
    pub(crate) fn of(gpus: Vec<DecodingGpu>, portion: usize, listener: Listener) -> Self {
        SliceGpus {
            gpus: DevicePool::new(Opener::of(gpus), Rates::DECODE, 4, listener),
            portion,
        }
    }

    /// Returns true if GPUs decode such blocks: those of static rANS with an index, from which
    /// `decoded` knows the correct result.
    pub(crate) fn take(kind: BlockKind) -> bool {
        let indexed = |shape: Shape| shape.indexed && shape.coding == Coding::StaticRans;
        matches!(kind, BlockKind::Bwt(shape) if indexed(shape))
    }

    /// Announces that a block of `coded_size` coded bytes, of a kind that GPUs take, will be
    /// decoded.
    pub(crate) fn expect(&self, coded_size: u64) {
        self.gpus.expect(coded_size);
    }

    /// Returns true if a GPU may be leased for blocks that were expected.
    pub(crate) fn may_decode(&self) -> bool {
        self.gpus.may_lease()
    }

    /// Warns that a GPU decoded a block wrongly.
    pub(crate) fn warn(&self, failure: &str) {
        self.gpus.warn(failure);
    }

    /// Fills `bwt` with slices, as [`coder::decode_slices`] does.
    pub(crate) fn decode(
        &self,
        decoder: &SliceDecoder,
        models: &[u8],
        raw_sizes: &[u32],
        slices: &[&[u8]],
        bwt: &mut [u8],
    ) -> Result<(), Flaw> {
        let sum: u64 = raw_sizes
            .iter()
            .map(|&size| u64::from(size))
            .sum();
        if raw_sizes.len() != slices.len() || sum != bwt.len() as u64 {
            return coder::decode_slices(decoder, raw_sizes, slices, bwt);
        }
        let portions = self.portions(models, raw_sizes, slices, bwt);
        // All threads work on each portion, and on the others meanwhile.
        let threads = (rayon::current_num_threads() / portions.len().max(1)).max(1);
        let flaw = OnceLock::new();
        Executor::current_pool().each(portions, |portion| {
            if flaw.get().is_none()
                && let Err(found) = self.decode_portion(decoder, portion, threads)
            {
                // Another thread may have set a flaw meanwhile, which is as good.
                let _ = flaw.set(found);
            }
        });
        flaw.into_inner().map_or(Ok(()), Err)
    }

    /// Cuts slices, which together decode to all of `bwt`, into portions.
    fn portions<'a>(
        &self,
        models: &[u8],
        mut raw_sizes: &[u32],
        mut slices: &[&'a [u8]],
        mut bwt: &'a mut [u8],
    ) -> Vec<Portion<'a>> {
        let mut portions = Vec::new();
        while !slices.is_empty() {
            let mut len = 0;
            let mut fits = |&&size: &&u32| {
                len += size as usize;
                len <= self.portion
            };
            let count = raw_sizes
                .iter()
                .take_while(|size| fits(size))
                .count()
                .max(1);
            let (sizes, more_sizes) = raw_sizes.split_at(count);
            let (some, more) = slices.split_at(count);
            (raw_sizes, slices) = (more_sizes, more);
            let len = sizes.iter().map(|&size| size as usize).sum();
            let out = bwt.split_off_mut(..len).expect("slices fill it");
            let models = models.to_vec();
            let raw_sizes = sizes.to_vec();
            let slices = some.to_vec();
            portions.push(Portion {
                coded: CodedBwt {
                    models,
                    raw_sizes,
                    slices,
                },
                out,
            });
        }
        portions
    }

    fn decode_portion(
        &self,
        decoder: &SliceDecoder,
        portion: Portion,
        threads: usize,
    ) -> Result<(), Flaw> {
        let Portion { coded, out } = portion;
        let size = coded.size() as u64;
        let lease = (out.len() <= self.portion)
            .then(|| self.gpus.lease(size, threads))
            .flatten();
        if let Some(mut lease) = lease
            && let Some(Ok(true)) = lease.run(|gpu| gpu.decode(&coded, out))
        {
            return Ok(());
        }
        let from = Instant::now();
        let decoded = coder::decode_slices(decoder, &coded.raw_sizes, &coded.slices, out);
        self.gpus
            .done_on_cpu(size, threads, from.elapsed());
        decoded
    }
}

/// Does on this thread what a GPU would do.
#[cfg(test)]
pub(crate) fn decode_as_gpu(coded: &CodedBwt<&[u8]>, mut out: &mut [u8]) -> Result<bool> {
    let decoder = SliceDecoder::new(Coding::StaticRans, &coded.models)?;
    let mut slices = coded.slices.iter().zip(&coded.raw_sizes);
    Ok(slices.all(|(slice, &size)| {
        let out = out
            .split_off_mut(..size as usize)
            .expect("room for all slices");
        decoder.decode(slice, out).is_ok()
    }))
}

#[cfg(test)]
mod tests;
