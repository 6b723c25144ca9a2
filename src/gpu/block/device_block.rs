//! A block in device memory: its text and the arrays for its BWT.

use crate::gpu::runtime::kernel_structs::{OutputView, TextView};
use crate::gpu::runtime::tuning::TEXT_PADDING;
use crate::gpu::runtime::{Array, Gpu};

/// Arrays that one sort works on.
#[derive(Clone, Copy, Debug)]
pub struct DeviceBlock<'m> {
    /// The n bytes, and behind them the padding, which is zero.
    pub text: Array<'m, u8>,
    /// The suffix array: n positions. `default` writes all of it only if `whole_sa` is true.
    pub sa: Array<'m, u32>,
    pub whole_sa: bool,
    /// The last column: n + 1 rows, of which the first and that of the whole text are not written.
    pub rows: Array<'m, u8>,
    /// The rows of the suffixes at multiples of 2^`log_rate`.
    pub samples: Array<'m, u32>,
    pub log_rate: u32,
}

/// Returns true if a text has n bytes and the padding behind them.
pub(crate) fn is_padded(text: Array<u8>, n: u32) -> bool {
    text.size() >= n as usize + TEXT_PADDING as usize
}

/// View for kernels of the first n bytes of a text with its padding.
pub(crate) fn text_view(text: Array<u8>, n: u32) -> TextView {
    TextView {
        bytes: text.address(),
        n,
    }
}

impl DeviceBlock<'_> {
    /// View for kernels of the arrays that take the results.
    pub(crate) fn output_view(&self, gpu: &Gpu) -> OutputView {
        let DeviceBlock {
            sa,
            rows,
            samples,
            log_rate,
            whole_sa,
            ..
        } = *self;
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
