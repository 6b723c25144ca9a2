//! Stand-in for the GPU code in a build without CUDA: it has the same types, finds no devices, and
//! opens nothing.

mod absent_network;
#[allow(dead_code, reason = "the GPU code alone reads the arrays of an index")]
mod interface;
mod lcp_chunk;
mod peers;
#[cfg(test)]
mod test_data;
mod text_parts;

pub(crate) use absent_network::encode_jointly;
pub use absent_network::{JointSorter, NcclId, NcclProcessor, RankSorter};
pub use interface::{
    Built, DeviceInfo, JointReport, JointlyEncoded, LcpReport, LcpRows, LcpView, MOST_BYTES,
    MOST_INVERTED, MOST_NARROW, MOST_PINNED, MOST_SEARCHED, MOST_SORTED, MinimaArrays, Report,
    SortedBlock, SortedText, Transferred,
};
pub(crate) use interface::{IndexArrays, KmerArrays, RankArrays, SampleArrays};

pub use lcp_chunk::LcpChunk;
pub use peers::Peers;
pub use text_parts::{PartRows, PartTask, PartText, TextParts};

pub(crate) mod process_ranks;

use crate::base::error::Result;
use crate::coder::{CodedBwt, SliceLimits};
use absent_network::{absent, uncallable};
use interface::SortedBlockView;
use std::convert::Infallible;
use std::io::{self, Read};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Returns true if this build contains CUDA code.
pub const fn is_built() -> bool {
    false
}

/// CUDA version and architectures of the kernels in this build: none.
pub const BUILT: &Built = &Built {
    cuda: "",
    archs: &[],
};

/// Returns true if this build can use an NVIDIA driver: never.
pub fn has_driver() -> bool {
    false
}

/// The GPUs of this machine: always none in this build.
///
/// # Errors
/// None.
pub fn devices() -> Result<Vec<DeviceInfo>> {
    Ok(Vec::new())
}

/// Gives unused device memory back: there is none in this build.
pub(crate) fn trim_memory(_number: u32) {}

/// Sorts blocks on a GPU: not in this build.
#[derive(Debug)]
pub struct GpuSorter(Infallible);

/// Inverts BWTs on a GPU: not in this build.
#[derive(Debug)]
pub struct GpuInverse(Infallible);

/// Encodes BWTs on a GPU: not in this build.
#[derive(Debug)]
pub struct BwtEncoder(Infallible);

/// Decodes BWTs on a GPU: not in this build.
#[derive(Debug)]
pub struct BwtDecoder(Infallible);

/// Bytes in the memory of a GPU, borrowed from their owner: not in this build.
#[derive(Debug)]
pub struct DeviceSlice<'m>(Infallible, PhantomData<&'m mut [u8]>);

/// Reads bytes in the memory of a GPU: not in this build.
#[derive(Debug)]
pub struct DeviceReader<'m>(Infallible, PhantomData<&'m ()>);

/// Memory of a GPU that bwz has allocated: not in this build.
#[derive(Debug)]
pub struct DeviceBuffer(Infallible);

/// Bytes in the memory of a GPU: not in this build.
#[derive(Debug)]
pub struct DeviceSpan(Infallible);

/// Part of a text that a GPU restores, and its place in device memory.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "the GPU code alone reads it")]
pub(crate) struct TextTarget<'a> {
    pub from: u32,
    pub len: u32,
    pub span: &'a DeviceSpan,
    pub at: usize,
}

/// Slices that a GPU has coded: none in this build.
#[derive(Debug)]
pub struct EncodedSlices {
    pub(crate) byte_counts: [u32; 256],
    pub(crate) ended: Instant,
}

/// Searches on a GPU: not in this build.
#[derive(Debug)]
pub struct GpuSearch(Infallible);

/// Builds LCP arrays on a GPU: not in this build.
#[derive(Debug)]
pub struct GpuLcpSorter(Infallible);

/// Answers LCP queries on a GPU: not in this build.
#[derive(Debug)]
pub struct ExtensionQueries(Infallible);

/// # Errors
/// # Panics
/// As with CUDA.
#[allow(missing_docs, reason = "documented in builds with CUDA")]
impl GpuSorter {
    /// # Errors
    /// `Error::Device` always.
    pub fn new(_number: u32) -> Result<Self> {
        absent("sorter")
    }

    uncallable! { self:
        pub fn most_bytes(&self) -> u32;
        pub fn reserve(&mut self, _n: u32, _sample_rate: u32) -> Result<()>;
        pub fn reserve_output(&mut self, _n: u32) -> Result<()>;
        pub fn sort(&mut self, _block: &[u8], _sample_rate: u32) -> Result<SortedBlock>;
        pub fn input(&mut self, _len: usize) -> Result<&mut [u8]>;
        pub fn sort_input(&mut self, _sample_rate: u32) -> Result<SortedBlockView<'_>>;
        pub fn reserve_encoder(
            &self,
            _encoder: &mut BwtEncoder,
            _n: u32,
            _limits: SliceLimits,
        ) -> Result<()>;
        pub fn sort_and_encode(
            &mut self,
            _sample_rate: u32,
            _encoder: &mut BwtEncoder,
            _limits: SliceLimits,
        ) -> Result<(EncodedSlices, &[u32])>;
        pub fn suffix_array(&mut self, _block: &[u8]) -> Result<Vec<u32>>;
        pub fn lend_to[T](
            &mut self,
            _inverse: &mut GpuInverse,
            _work: impl FnOnce(&mut GpuInverse) -> T,
        ) -> T;
        pub fn report(&self) -> &Report;
        #[cfg(test)]
        pub fn fail_after(&self, _launches: u32);
    }
}

/// # Errors
/// As with CUDA.
#[allow(missing_docs, reason = "documented in builds with CUDA")]
impl GpuInverse {
    /// # Errors
    /// `Error::Device` always.
    pub fn new(_number: u32) -> Result<Self> {
        absent("inverse")
    }

    uncallable! { self:
        pub fn reserve(&mut self, _n: u32, _samples: u32) -> Result<()>;
        pub fn input(&mut self, _len: usize) -> Result<&mut [u8]>;
        pub fn reserve_portions(&mut self, _n: u64, _samples: u32) -> Result<()>;
        pub fn invert_input(&mut self, _sample_rate: u32, _samples: &[u64]) -> Result<&[u8]>;
        pub fn invert_coded[S: AsRef<[u8]>](
            &mut self,
            _decoder: &mut BwtDecoder,
            _coded: &CodedBwt<S>,
            _sample_rate: u32,
            _samples: &[u64],
        ) -> Result<Option<(Instant, &[u8])>>;
        pub(crate) fn invert_coded_to[S: AsRef<[u8]>](
            &mut self,
            _decoder: &mut BwtDecoder,
            _coded: &CodedBwt<S>,
            _sample_rate: u32,
            _samples: &[u64],
            _target: &TextTarget,
        ) -> Result<Option<(Instant, u32)>>;
        pub fn invert_portions(
            &mut self,
            _n: u64,
            _sample_rate: u32,
            _samples: &[u64],
            _fill: impl FnMut(Range<u64>, &mut [u8]),
            _take: impl FnMut(Range<u64>, &[u8]),
        ) -> Result<()>;
        pub fn invert_coded_portions[S: AsRef<[u8]>](
            &mut self,
            _decoder: &mut BwtDecoder,
            _coded: &CodedBwt<S>,
            _sample_rate: u32,
            _samples: &[u64],
            _take: impl FnMut(Range<u64>, &[u8]),
        ) -> Result<Option<Instant>>;
        pub fn memory(&self) -> usize;
        #[cfg(test)]
        pub fn fail_after(&self, _launches: u32);
    }
}

/// # Errors
/// As with CUDA.
#[allow(missing_docs, reason = "documented in builds with CUDA")]
impl BwtEncoder {
    /// # Errors
    /// `Error::Device` always.
    pub fn new(_number: u32) -> Result<Self> {
        absent("coder")
    }

    uncallable! { self:
        pub fn take(&mut self, _encoded: EncodedSlices, _threads: usize) -> Result<CodedBwt>;
    }
}

#[allow(missing_docs, reason = "documented in builds with CUDA")]
impl BwtDecoder {
    /// # Errors
    /// `Error::Device` always.
    pub fn new(_number: u32) -> Result<Self> {
        absent("decoder")
    }

    uncallable! { self:
        pub fn reserve(&mut self, _n: u32) -> Result<()>;
        pub fn decode[S: AsRef<[u8]>](&mut self, _coded: &CodedBwt<S>) -> Result<Option<&[u8]>>;
        #[cfg(test)]
        pub fn fail_after(&self, _launches: u32);
    }
}

#[allow(missing_docs, reason = "documented in builds with CUDA")]
impl DeviceSlice<'_> {
    /// # Errors
    /// `Error::Device` always.
    ///
    /// # Safety
    /// As with CUDA.
    #[allow(unsafe_code)]
    pub unsafe fn new(
        _number: u32,
        _address: u64,
        _len: usize,
        _stream: Option<u64>,
    ) -> Result<Self> {
        absent("device memory")
    }

    /// # Errors
    /// `Error::Device` always.
    pub fn gpu_of(_address: u64) -> Result<u32> {
        absent("device memory")
    }

    uncallable! { self:
        pub fn len(&self) -> usize;
        pub fn is_empty(&self) -> bool;
        pub fn gpu(&self) -> u32;
        pub fn reader(&self) -> DeviceReader<'_>;
        pub(crate) fn span(&self) -> Arc<DeviceSpan>;
    }
}

impl Read for DeviceReader<'_> {
    uncallable! { self:
        fn read(&mut self, _out: &mut [u8]) -> io::Result<usize>;
    }
}

#[allow(missing_docs, reason = "documented in builds with CUDA")]
impl DeviceBuffer {
    /// # Errors
    /// `Error::Device` always.
    pub fn new(_number: u32, _len: usize) -> Result<Self> {
        absent("device memory")
    }

    uncallable! { self:
        pub fn address(&self) -> u64;
        pub fn len(&self) -> usize;
        pub fn is_empty(&self) -> bool;
        pub fn gpu(&self) -> u32;
        pub fn slice(&mut self) -> DeviceSlice<'_>;
    }
}

impl DeviceSpan {
    uncallable! { self:
        pub(crate) fn write(&self, _at: usize, _bytes: &[u8]) -> Result<()>;
    }
}

/// # Errors
/// # Panics
/// As with CUDA.
#[allow(missing_docs, reason = "documented in builds with CUDA")]
impl GpuSearch {
    /// # Errors
    /// `Error::Device` always.
    pub fn new(_number: u32) -> Result<Self> {
        absent("search")
    }

    uncallable! { self:
        pub(crate) fn search[P: AsRef<[u8]> + Sync, T: Send](
            &mut self,
            _arrays: &IndexArrays,
            _patterns: &[P],
            _found: &mut [T],
            _result: impl Fn(Range<u32>) -> T + Sync,
        ) -> Result<()>;
        pub(crate) fn positions(
            &mut self,
            _arrays: &IndexArrays,
            _samples: &SampleArrays,
            _rows: &[u32],
        ) -> Result<Option<Vec<u32>>>;
        pub(crate) fn can_hold(&self, _arrays: &IndexArrays) -> Result<bool>;
        #[cfg(test)]
        pub fn kept(&self) -> usize;
        #[cfg(test)]
        pub fn is_mostly_free(&self) -> bool;
        #[cfg(test)]
        pub fn make_scarce(&self);
        #[cfg(test)]
        pub fn fail_after(&self, _launches: u32);
    }
}

/// # Errors
/// As with CUDA.
#[allow(missing_docs, reason = "documented in builds with CUDA")]
impl GpuLcpSorter {
    pub const PINNED: u64 = 0;

    /// # Errors
    /// `Error::Device` always.
    pub fn new(_number: u32) -> Result<Self> {
        absent("sorter")
    }

    uncallable! { self:
        pub fn input(&mut self, _len: usize) -> Result<&mut [u8]>;
        pub fn sort_input(
            &mut self,
            _least: u8,
            _receive: impl FnMut(LcpChunk) -> Result<()> + Send,
        ) -> Result<()>;
        pub fn select_rows(&mut self, _least: u8, _wanted: LcpRows) -> Result<LcpView<'_>>;
        pub fn report(&self) -> &LcpReport;
        #[cfg(test)]
        pub fn fail_after(&self, _launches: u32);
    }
}

/// # Errors
/// # Panics
/// As with CUDA.
#[allow(missing_docs, reason = "documented in builds with CUDA")]
impl ExtensionQueries {
    /// # Errors
    /// `Error::Device` always.
    pub fn new(_number: u32) -> Result<Self> {
        absent("queries")
    }

    uncallable! { self:
        pub fn least(
            &mut self,
            _arrays: &MinimaArrays,
            _ranges: &[(u32, u32)],
            _found: &mut [u32],
        ) -> Result<()>;
        pub fn longest(
            &mut self,
            _arrays: &MinimaArrays,
            _pairs: &[(u32, u32)],
            _found: &mut [u32],
        ) -> Result<()>;
    }
}

/// Helpers of GPU tests in this build.
#[cfg(test)]
pub(crate) mod testing {
    pub(crate) use super::test_data::{lacks_memory, most_memory, one_network, random, say};

    /// Returns no GPU, and prints a note that says why.
    pub(crate) fn gpu() -> Option<()> {
        say("skipped: this build of bwz has no CUDA");
        None
    }
}
