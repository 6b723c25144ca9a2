//! `bwz._bwz`: the compiled part of the Python package `bwz`.
//!
//! The Python files beside it (`python/bwz`) contain the public names, their documentation and
//! their types. This part reads, writes, compresses and searches. All work is done by threads
//! without the GIL. A waiting caller checks for signals ([`wait`]), so that Ctrl-C ends the wait at
//! once.
//!
//! | file | job |
//! |---|---|
//! | [`wait`] | waiting for threads, which a signal can end |
//! | [`progress`] | a callable of Python that is told how many bytes are done |
//! | [`errors`] | a [`bwz::Error`] as a Python exception |
//! | [`settings`] | keyword arguments as [`bwz::Options`] |
//! | [`bytes`] | the bytes of a Python object, lent to a thread |
//! | [`source`] | files and file objects as `Read`, `Seek` and `Write` |
//! | [`one_shot`] | `compress` and `decompress` |
//! | [`feed`] | bytes passed between threads |
//! | [`writer`], [`reader`] | the writer and the reader behind `bwz.open` |
//! | [`stepwise`] | `Compressor` and `Decompressor` |
//! | [`archive`] | ranges, search and records of a file |
//! | [`dlpack`] | memory of a GPU that passes between libraries: DLPack, and the CUDA array interface |
//! | [`device`] | files restored to the memory of a GPU, and data compressed from it |

mod archive;
mod bytes;
mod device;
mod dlpack;
mod errors;
mod feed;
mod one_shot;
mod progress;
mod reader;
mod settings;
mod source;
mod stepwise;
mod wait;
mod writer;

use pyo3::prelude::*;

#[pymodule]
fn _bwz(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("CUDA_BUILT", bwz::cuda::is_built())?;
    module.add("DEFAULT_LEVEL", bwz::DEFAULT_LEVEL)?;
    module.add("DEFAULT_SAMPLE_RATE", bwz::DEFAULT_SAMPLE_RATE)?;
    module.add("FOOTER_SIZE", stepwise::FOOTER)?;
    module.add_function(wrap_pyfunction!(stepwise::is_footer, module)?)?;
    module.add_function(wrap_pyfunction!(one_shot::compress, module)?)?;
    module.add_function(wrap_pyfunction!(one_shot::decompress, module)?)?;
    module.add_function(wrap_pyfunction!(device::decompress_into, module)?)?;
    module.add_function(wrap_pyfunction!(device::decompress_to_device, module)?)?;
    module.add_function(wrap_pyfunction!(device::compress_from_device, module)?)?;
    module.add_class::<device::GpuDecoder>()?;
    module.add_class::<device::DeviceBuffer>()?;
    module.add_class::<archive::Archive>()?;
    module.add_class::<reader::Reader>()?;
    module.add_class::<writer::Writer>()?;
    module.add_class::<stepwise::Compressor>()?;
    module.add_class::<stepwise::Decompressor>()
}
