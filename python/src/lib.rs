//! `bwz._bwz`: the part of the Python package `bwz` that is compiled.
//!
//! The Python files beside it (`python/bwz`) have the names that people use, their documentation
//! and their types; here is what reads, writes, compresses and searches. All work is done by
//! threads without the GIL, and whoever waits for it looks for signals meanwhile ([`wait`]), so
//! that Ctrl-C ends it at once.
//!
//! | file | job |
//! |---|---|
//! | [`wait`] | waiting that a signal ends |
//! | [`errors`] | a [`bwz::Error`] as a Python exception |
//! | [`settings`] | keyword arguments as [`bwz::Options`] |
//! | [`bytes`] | the bytes of a Python object, lent to a thread |
//! | [`source`] | files and file objects as `Read`, `Seek` and `Write` |
//! | [`one_shot`] | `compress` and `decompress` |
//! | [`feed`] | bytes handed from thread to thread |
//! | [`writer`], [`reader`] | what `bwz.open` writes and reads with |
//! | [`stepwise`] | `Compressor` and `Decompressor` |
//! | [`archive`] | ranges, search and records of a file |

mod archive;
mod bytes;
mod errors;
mod feed;
mod one_shot;
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
    module.add_class::<archive::Archive>()?;
    module.add_class::<reader::Reader>()?;
    module.add_class::<writer::Writer>()?;
    module.add_class::<stepwise::Compressor>()?;
    module.add_class::<stepwise::Decompressor>()
}
