//! A block in device memory: its text, and where its transform goes.

use crate::gpu::runtime::{Array, Gpu, kernel_structs};

/// What one sort goes over.
#[derive(Clone, Copy, Debug)]
pub struct DeviceBlock<'m> {
    /// n bytes, and the padding behind them, which is zero.
    pub text: Array<'m, u8>,
    /// n positions: the suffix array. `default` writes all of it only where `whole_sa` says so.
    pub sa: Array<'m, u32>,
    pub whole_sa: bool,
    /// n + 1 rows: the last column, but for its first row and that of the whole text.
    pub rows: Array<'m, u8>,
    /// The rows of the suffixes at multiples of 2^`log_rate`.
    pub samples: Array<'m, u32>,
    pub log_rate: u32,
}

/// `struct Text` of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TextStruct {
    bytes: u64,
    n: u32,
}

impl TextStruct {
    /// The first n bytes of a text, which has its padding behind them.
    pub fn new(text: Array<u8>, n: u32) -> Self {
        TextStruct { bytes: text.address(), n }
    }
}

/// `struct Out` of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OutStruct {
    sa: u64,
    rows: u64,
    samples: u64,
    host_flags: u64,
    rate_mask: u32,
    log_rate: u32,
    whole_sa: u32,
}

impl OutStruct {
    /// The results of a block.
    pub fn new(gpu: &Gpu, block: DeviceBlock) -> Self {
        let DeviceBlock { sa, rows, samples, log_rate, whole_sa, .. } = block;
        assert!(rows.len() > sa.len() && samples.len() > (sa.len() - 1) >> log_rate);
        OutStruct {
            sa: sa.address(),
            rows: rows.address(),
            samples: samples.address(),
            host_flags: gpu.host_flags(),
            rate_mask: (1 << log_rate) - 1,
            log_rate,
            whole_sa: whole_sa.into(),
        }
    }
}

kernel_structs!(TextStruct, OutStruct);
