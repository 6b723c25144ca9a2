//! A block in device memory: its text, and where its transform goes.

use crate::gpu::runtime::kernel_structs::{OutputView, TextView};
use crate::gpu::runtime::tuning::TEXT_PADDING;
use crate::gpu::runtime::{Array, Gpu};

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

/// Whether a text has n bytes and its padding behind them.
pub fn is_padded(text: Array<u8>, n: u32) -> bool {
    text.size() >= n as usize + TEXT_PADDING as usize
}

/// The first n bytes of a text, which has its padding behind them, as kernels take them.
pub fn text_view(text: Array<u8>, n: u32) -> TextView {
    TextView { bytes: text.address(), n }
}

impl DeviceBlock<'_> {
    /// Where the results go, as kernels take it.
    pub fn output_view(&self, gpu: &Gpu) -> OutputView {
        let DeviceBlock { sa, rows, samples, log_rate, whole_sa, .. } = *self;
        assert!(rows.len() > sa.len() && samples.len() > (sa.len() - 1) >> log_rate);
        OutputView {
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
