//! Keyword arguments as [`bwz::Options`].

use crate::errors;
use bwz::{Device, Effort, Letters, MAX_THREADS, Options, StreamCheck};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBool, PyDict};

/// The options in `arguments`. An argument with the value `None` is ignored.
///
/// # Errors
/// `TypeError` for a name that is no option, `UsageError` for a value that makes no sense.
pub fn options(py: Python<'_>, arguments: Option<&Bound<'_, PyDict>>) -> PyResult<Options> {
    let mut options = Options::new();
    for (name, value) in arguments
        .into_iter()
        .flat_map(|arguments| arguments.iter())
    {
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
        "effort" => Ok(options.effort(effort(&word(value, "effort")?)?)),
        "threads" => Ok(options.threads(threads(value)?)),
        "memory" => Ok(options.memory(number(value, "memory")?)),
        "limit_output" => Ok(options.limit_output(number(value, "limit_output")?)),
        "device" => word(value, "device")?
            .parse::<Device>()
            .map(|on| options.device(on)),
        "index" if value.is_instance_of::<PyBool>() => match value.extract()? {
            true => Ok(options.searchable()),
            false => Ok(options),
        },
        "index" => options.index(number(value, "index")?),
        "require_sequences" => Ok(options.require_sequences(truth(value, "require_sequences")?)),
        "index_of_bytes" => Ok(options.index_of_bytes(truth(value, "index_of_bytes")?)),
        "match_case" => Ok(options.match_case(truth(value, "match_case")?)),
        "ignore_case" => Ok(options.ignore_case(truth(value, "ignore_case")?)),
        "letters" => Ok(options.letters(letters(&word(value, "letters")?)?)),
        "mismatches" => options.max_mismatches(number(value, "mismatches")?),
        "verify" => Ok(options.verify(truth(value, "verify")?)),
        "trust_gpus" => Ok(options.trust_gpus(truth(value, "trust_gpus")?)),
        "notes" => notes(options, value)?,
        "content_size" => options.content_size(number(value, "content_size")?),
        "stream_check" => Ok(options.stream_check(check(&word(value, "stream_check")?)?)),
        _ => return Err(PyTypeError::new_err(format!("{name} is no option of bwz"))),
    };
    set.map_err(|e| errors::raise(py, e))
}

/// A number of threads, as the command takes it.
fn threads(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    let said = || format!("threads of {value} is out of range: 0 to {MAX_THREADS}");
    let asked: usize = number(value, "threads").map_err(|e: PyErr| {
        if e.is_instance_of::<PyValueError>(value.py()) {
            PyValueError::new_err(said())
        } else {
            e
        }
    })?;
    if asked > MAX_THREADS {
        return Err(PyValueError::new_err(said()));
    }
    Ok(asked)
}

/// A number that must fit its option or argument.
pub fn number<'py, T>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    value.extract().map_err(
        |e: PyErr| match e.is_instance_of::<PyTypeError>(value.py()) {
            true => PyTypeError::new_err(format!("{name} is a whole number, not {value:?}")),
            false => PyValueError::new_err(format!("{name} of {value} is out of range")),
        },
    )
}

fn word(value: &Bound<'_, PyAny>, name: &str) -> PyResult<String> {
    value
        .extract()
        .map_err(|_| PyTypeError::new_err(format!("{name} is a str, not {value:?}")))
}

fn truth(value: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    let said = || PyTypeError::new_err(format!("{name} is True or False, not {value:?}"));
    value.extract().map_err(|_| said())
}

/// The options with the notes of a dict.
fn notes(mut options: Options, value: &Bound<'_, PyAny>) -> PyResult<bwz::Result<Options>> {
    let said = || PyTypeError::new_err(format!("notes is a dict of str, not {value:?}"));
    let notes = value.cast::<PyDict>().map_err(|_| said())?;
    for (key, value) in notes {
        let key: String = key.extract().map_err(|_| said())?;
        let value: String = value.extract().map_err(|_| said())?;
        match options.note(&key, &value) {
            Ok(more) => options = more,
            Err(e) => return Ok(Err(e)),
        }
    }
    Ok(Ok(options))
}

/// The one byte of `bytes`.
fn byte(value: &Bound<'_, PyAny>) -> PyResult<u8> {
    match value.extract::<PyBackedBytes>().as_deref() {
        Ok(&[byte]) => Ok(byte),
        _ => Err(PyValueError::new_err(format!(
            "split_at is one byte, as b'\\n', not {value:?}"
        ))),
    }
}

fn letters(name: &str) -> PyResult<Letters> {
    match name {
        "nucleotides" => Ok(Letters::Nucleotides),
        "iupac" => Ok(Letters::Iupac),
        "exact" => Ok(Letters::Exact),
        _ => {
            let said = format!("letters {name:?} is not nucleotides, iupac or exact");
            Err(PyValueError::new_err(said))
        }
    }
}

fn check(name: &str) -> PyResult<StreamCheck> {
    match name {
        "crc32" => Ok(StreamCheck::Crc32),
        "xxh3" => Ok(StreamCheck::Xxh3),
        "blake3" => Ok(StreamCheck::Blake3),
        _ => {
            let said = format!("stream_check {name:?} is not crc32, xxh3 or blake3");
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
            let said = format!("effort {name:?} is not fast, default or best");
            Err(PyValueError::new_err(said))
        }
    }
}
