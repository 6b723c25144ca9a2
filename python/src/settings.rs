//! Keyword arguments as [`bwz::Options`].

use crate::errors;
use bwz::{Device, Effort, Letters, Options};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBool, PyDict};

/// The options that `arguments` ask for; one that is `None` is as if it were not there.
///
/// # Errors
/// `TypeError` for a name that is none of an option, `UsageError` for a value that makes no sense.
pub fn options(py: Python<'_>, arguments: Option<&Bound<'_, PyDict>>) -> PyResult<Options> {
    let mut options = Options::new();
    for (name, value) in arguments.into_iter().flat_map(|arguments| arguments.iter()) {
        if !value.is_none() {
            let name: String = name.extract()?;
            options = set(py, options, &name, &value)?;
        }
    }
    Ok(options)
}

fn set(
    py: Python<'_>,
    options: Options,
    name: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<Options> {
    let set = match name {
        "level" => options.level(number(value, "level")?),
        "block_size" => options.with_block_size(number(value, "block_size")?),
        "split_at" => Ok(options.split_at(byte(value)?)),
        "effort" => Ok(options.effort(effort(value.extract()?)?)),
        "threads" => Ok(options.threads(number(value, "threads")?)),
        "memory" => Ok(options.memory(number(value, "memory")?)),
        "limit_output" => Ok(options.limit_output(number(value, "limit_output")?)),
        "device" => value.extract::<String>()?.parse::<Device>().map(|on| options.device(on)),
        "index" if value.is_instance_of::<PyBool>() => match value.extract()? {
            true => options.index(bwz::DEFAULT_SAMPLE_RATE),
            false => Ok(options),
        },
        "index" => options.index(number(value, "index")?),
        "require_sequences" => Ok(options.require_sequences(value.extract()?)),
        "index_of_bytes" => Ok(options.index_of_bytes(value.extract()?)),
        "match_case" => Ok(options.match_case(value.extract()?)),
        "letters" => Ok(options.letters(letters(value.extract()?)?)),
        "mismatches" => options.max_mismatches(number(value, "mismatches")?),
        "verify" => Ok(options.verify(value.extract()?)),
        _ => return Err(PyTypeError::new_err(format!("{name} is no option of bwz"))),
    };
    set.map_err(|e| errors::raise(py, e))
}

/// A number that must fit its option.
fn number<'py, T>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    value.extract().map_err(|e: PyErr| match e.is_instance_of::<PyTypeError>(value.py()) {
        true => PyTypeError::new_err(format!("{name} is a whole number, not {value:?}")),
        false => PyValueError::new_err(format!("{name} of {value} is out of range")),
    })
}

/// The one byte of `bytes`.
fn byte(value: &Bound<'_, PyAny>) -> PyResult<u8> {
    match value.extract::<PyBackedBytes>().as_deref() {
        Ok(&[byte]) => Ok(byte),
        _ => Err(PyValueError::new_err(format!("split_at is one byte, as b'\\n', not {value:?}"))),
    }
}

fn letters(name: &str) -> PyResult<Letters> {
    match name {
        "nucleotides" => Ok(Letters::Nucleotides),
        "iupac" => Ok(Letters::Iupac),
        "exact" => Ok(Letters::Exact),
        _ => {
            let said = format!("letters {name:?} is none of nucleotides, iupac and exact");
            Err(PyValueError::new_err(said))
        }
    }
}

fn effort(name: &str) -> PyResult<Effort> {
    match name {
        "fast" => Ok(Effort::Fast),
        "default" => Ok(Effort::Default),
        "best" => Ok(Effort::Best),
        _ => {
            let said = format!("effort {name:?} is none of fast, default and best");
            Err(PyValueError::new_err(said))
        }
    }
}
