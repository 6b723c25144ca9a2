//! The bytes of a Python object, lent to a thread, and new Python objects for our bytes.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3::{Bound, ffi};
use std::io::{self, Write};
use std::{ptr, slice};

/// The bytes of an object. The object stays alive and keeps its size while they are lent.
pub struct Lent(Box<ffi::Py_buffer>);

// SAFETY: the bytes are only read, and the object that owns them is released with the GIL held.
unsafe impl Send for Lent {}
// SAFETY: as above.
unsafe impl Sync for Lent {}

impl Lent {
    /// Borrows the bytes of any object with a contiguous buffer, of any element type and shape:
    /// `bytes`, `bytearray`, `array.array`, a numpy array.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut view = Box::new(ffi::Py_buffer::new());
        // SAFETY: the view is filled here or an exception is set, and released once, by `drop`.
        match unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &mut *view, ffi::PyBUF_SIMPLE) } {
            0 => Ok(Lent(view)),
            _ => Err(PyErr::fetch(object.py())),
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // While Python is shutting down, the buffer need not be released.
        // SAFETY: the view was filled, and is released this once, with the GIL.
        Python::try_attach(|_| unsafe { ffi::PyBuffer_Release(&mut *self.0) });
    }
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        let len = self.0.len.unsigned_abs();
        if len == 0 {
            return &[];
        }
        // SAFETY: a simple view is one stretch of that many bytes, which its owner neither frees
        // nor moves before it is released. If another thread changes them in the meantime, it
        // changes the data that is compressed, as with every compressor that releases the GIL.
        unsafe { slice::from_raw_parts(self.0.buf.cast(), len) }
    }
}

/// The bytes of an object into which a thread writes.
pub fn to_fill(buffer: &mut PyBuffer<u8>) -> PyResult<&mut [u8]> {
    if buffer.readonly() || !buffer.is_c_contiguous() {
        return Err(PyValueError::new_err(
            "the buffer is not writable, or not one stretch",
        ));
    }
    if buffer.len_bytes() == 0 {
        return Ok(&mut []);
    }
    // SAFETY: as above; and a caller that lends a buffer to be filled does not use it in the
    // meantime.
    Ok(unsafe { slice::from_raw_parts_mut(buffer.buf_ptr().cast(), buffer.len_bytes()) })
}

/// A new `bytes` object, which a thread fills before any other code has it. Bytes that do not fit
/// go into memory that grows.
pub struct NewBytes {
    object: Py<PyBytes>,
    /// Address of the object's bytes, their number, and the number of bytes written so far. No byte
    /// is read before it was written.
    start: *mut u8,
    room: usize,
    filled: usize,
    rest: Vec<u8>,
}

// SAFETY: an object with room for bytes belongs to this value alone (an empty object may be shared,
// and no byte of it is written). Moving the address of its bytes to another thread makes no second
// way to them.
unsafe impl Send for NewBytes {}

impl NewBytes {
    /// Creates an object with room for `room` bytes, or for none if there is no memory for them.
    pub fn with_room(py: Python<'_>, room: usize) -> PyResult<Self> {
        let (object, room) = match new_object(py, room) {
            Ok(object) => (object, room),
            Err(_) => (new_object(py, 0)?, 0),
        };
        // SAFETY: it is a `bytes` object, which owns room for its length from this address on.
        let start = unsafe { ffi::PyBytes_AsString(object.as_ptr()).cast::<u8>() };
        Ok(NewBytes {
            object: object.unbind(),
            start,
            room,
            filled: 0,
            rest: Vec::new(),
        })
    }

    /// The object with all bytes that were written.
    pub fn finish(self, py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
        let object = self.object.into_bound(py);
        if self.filled == self.room && self.rest.is_empty() {
            return Ok(object);
        }
        // SAFETY: `filled` bytes were written.
        let first = unsafe { slice::from_raw_parts(self.start, self.filled) };
        PyBytes::new_with(py, self.filled + self.rest.len(), |all| {
            let (front, behind) = all.split_at_mut(self.filled);
            front.copy_from_slice(first);
            behind.copy_from_slice(&self.rest);
            Ok(())
        })
    }
}

/// Creates a `bytes` object of `size` bytes that are not yet initialised.
fn new_object(py: Python<'_>, size: usize) -> PyResult<Bound<'_, PyBytes>> {
    let size = ffi::Py_ssize_t::try_from(size)?;
    // SAFETY: this returns a new object or sets an exception; `NewBytes` writes its bytes before
    // other code has it.
    let object = unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(ptr::null(), size))?
    };
    Ok(object.cast_into::<PyBytes>()?)
}

impl Write for NewBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (now, rest) = bytes.split_at(bytes.len().min(self.room - self.filled));
        // SAFETY: there is room for this many bytes behind the filled ones, in memory of an object
        // that no other code has.
        unsafe {
            self.start
                .add(self.filled)
                .copy_from_nonoverlapping(now.as_ptr(), now.len())
        };
        self.filled += now.len();
        self.rest.extend_from_slice(rest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
