//! Converts a [`bwz::Error`] to a Python exception of `bwz._errors`, by the party that must act.
//!
//! An exception raised by a file object comes out unchanged.

use bwz::Error;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io;

/// The ends of the library's messages for a file that ends too early: behind its first byte, or
/// before it. The library has no error variant for this.
const ENDS_TOO_EARLY: [&str; 2] = ["it was cut off", "it is empty"];

/// The exception for an error of the library.
pub fn raise(py: Python<'_>, error: Error) -> PyErr {
    let said = error.to_string();
    let made = match error {
        Error::Io(e) => return os_error(py, e),
        Error::Format {
            what,
            block,
            offset,
        } if ENDS_TOO_EARLY
            .iter()
            .any(|end| what.ends_with(end)) =>
        {
            make(py, "TruncatedError", &said, block, Some(offset))
        }
        Error::Format { block, offset, .. } => make(py, "FormatError", &said, block, Some(offset)),
        Error::Unsupported { block, offset, .. } => {
            make(py, "UnsupportedError", &said, block, Some(offset))
        }
        Error::Version { offset, .. } => make(py, "VersionError", &said, None, Some(offset)),
        Error::Limit {
            needed, allowed, ..
        } => {
            let made = make(py, "LimitError", &said, None, None);
            made.and_then(|made| sizes(made, needed, allowed))
        }
        Error::OutputLimit {
            needed, allowed, ..
        } => {
            let made = make(py, "OutputLimitError", &said, None, None);
            made.and_then(|made| sizes(made, needed, allowed))
        }
        Error::Usage(_) => make(py, "UsageError", &said, None, None),
        Error::Device(_) => make(py, "DeviceError", &said, None, None),
        _ => make(py, "BwzError", &said, None, None),
    };
    made.map_or_else(|e| e, PyErr::from_value)
}

fn make<'py>(
    py: Python<'py>,
    class: &str,
    said: &str,
    block: Option<u64>,
    offset: Option<u64>,
) -> PyResult<Bound<'py, PyAny>> {
    let fields = PyDict::new(py);
    fields.set_item("block", block)?;
    fields.set_item("offset", offset)?;
    py.import("bwz._errors")?
        .getattr(class)?
        .call((said,), Some(&fields))
}

fn sizes(made: Bound<'_, PyAny>, needed: u64, allowed: u64) -> PyResult<Bound<'_, PyAny>> {
    made.setattr("needed", needed)?;
    made.setattr("allowed", allowed)?;
    Ok(made)
}

/// The exception of an I/O error: one that travelled through `std::io`, an `OSError`, or a
/// `MemoryError`.
fn os_error(py: Python<'_>, e: io::Error) -> PyErr {
    match e.downcast::<PyErr>() {
        Ok(raised) => raised.clone_ref(py),
        Err(e) if e.kind() == io::ErrorKind::OutOfMemory => {
            pyo3::exceptions::PyMemoryError::new_err(e.to_string())
        }
        Err(e) => e.into(),
    }
}
