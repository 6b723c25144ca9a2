//! Stand-in for the sorters that use several GPUs, in a build without CUDA.

use super::interface::{JointReport, JointlyEncoded, SortedText, Transferred};
use super::peers::Peers;
use super::text_parts::{PartRows, PartTask};
use crate::base::error::{Error, Result};
use crate::coder::{SliceCuts, SliceLimits};
use std::convert::Infallible;
use std::marker::PhantomData;

/// Error of every constructor: this build has no CUDA.
pub(super) fn absent<T>(what: &str) -> Result<T> {
    Err(Error::Device(
        format!("this build of bwz has no CUDA {what}").into(),
    ))
}

/// Methods that can never be called, because no value of their type exists.
macro_rules! uncallable {
    ($self:ident: $(
        $(#[$meta:meta])*
        $vis:vis fn $name:ident $([$($generics:tt)*])? ($($arguments:tt)*) $(-> $output:ty)?;
    )*) => {
        $($(#[$meta])*
        $vis fn $name $(<$($generics)*>)? ($($arguments)*) $(-> $output)? {
            match $self.0 {}
        })*
    };
}
pub(super) use uncallable;

/// Sorts texts on several GPUs: not in this build.
#[derive(Debug)]
pub struct JointSorter(Infallible);

/// Sorts one part of a text, the other parts being sorted by other processes: not in this build.
#[derive(Debug)]
pub struct RankSorter(Infallible);

/// Identity of a network of GPUs: none exists in this build.
#[derive(Clone, Copy, Debug)]
pub struct NcclId(Infallible);

/// A GPU of a network: not in this build.
#[derive(Debug)]
pub struct NcclProcessor<'p>(Infallible, PhantomData<&'p Peers>);

/// # Errors
/// As with CUDA.
#[allow(missing_docs, reason = "documented in builds with CUDA")]
impl JointSorter {
    /// # Errors
    /// `Error::Device` always.
    pub fn new(_numbers: &[u32]) -> Result<Self> {
        absent("sorter")
    }

    uncallable! { self:
        pub fn by_doubling(self) -> Self;
        #[must_use]
        pub fn by_nccl(self) -> Self;
        pub fn sort(&mut self, _text: &[u8], _sample_rate: u32) -> Result<SortedText>;
        pub fn free(&mut self) -> Result<()>;
        pub fn report(&self) -> &JointReport;
        #[cfg(test)]
        pub fn fail_after(&mut self, _gpu: usize, _launches: u32);
    }
}

/// Encodes a BWT on several GPUs: not in this build.
///
/// # Errors
/// `Error::Device` always.
pub(crate) fn encode_jointly(
    _numbers: &[u32],
    _bwt: &[u8],
    _cuts: &SliceCuts,
    _limits: SliceLimits,
    _threads: usize,
) -> Result<JointlyEncoded> {
    absent("coder")
}

impl NcclId {
    /// # Errors
    /// `Error::Device` always.
    pub fn new() -> Result<Self> {
        absent("network of GPUs")
    }

    /// # Errors
    /// `Error::Device` always.
    pub fn from_bytes(_bytes: [u8; 128]) -> Result<Self> {
        absent("network of GPUs")
    }

    uncallable! { self:
        /// As with CUDA.
        pub fn to_bytes(self) -> [u8; 128];
    }
}

/// # Errors
/// As with CUDA.
#[allow(missing_docs, reason = "documented in builds with CUDA")]
impl RankSorter {
    /// # Errors
    /// `Error::Device` always.
    pub fn new(_gpu: u32) -> Result<Self> {
        absent("sorter")
    }

    uncallable! { self:
        pub fn sort[T](
            &mut self,
            _network: NcclId,
            _task: PartTask,
            _peers: &Peers,
            _settle: impl FnOnce(PartRows) -> Result<T>,
        ) -> Result<T>;
    }
}

/// # Errors
/// As with CUDA.
#[allow(missing_docs, reason = "documented in builds with CUDA")]
impl<'p> NcclProcessor<'p> {
    pub fn join(
        _gpu: u32,
        id: NcclId,
        _number: usize,
        _count: usize,
        _peers: &'p Peers,
    ) -> Result<Self> {
        match id.0 {}
    }

    uncallable! { self:
        pub fn number(&self) -> usize;
        pub fn count(&self) -> usize;
        pub fn transferred(&self) -> Transferred;
        pub fn all_to_all(&mut self, _messages: Vec<Vec<u64>>) -> Result<Vec<Vec<u64>>>;
    }
}
