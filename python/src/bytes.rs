//! The bytes of a Python object, lent to a thread, and Python's of ours.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3::{Bound, ffi};
use std::io::{self, Write};
use std::{ptr, slice};

/// The bytes of an object, which stays alive and keeps its size meanwhile.
pub struct Lent(Box<ffi::Py_buffer>);

// SAFETY: the bytes are only read, and the object that owns them is let go with the GIL.
unsafe impl Send for Lent {}
// SAFETY: as above.
unsafe impl Sync for Lent {}

impl Lent {
    /// The bytes of anything that has some in one stretch, whatever their type and their number:
    /// `bytes`, `bytearray`, `array.array`, an array of numpy.
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
        // Where Python is shutting down, nobody needs what stays lent.
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
        // nor moves before it is released. Who changes them meanwhile, from another thread, changes
        // what is compressed, as with every compressor that lets go of the GIL.
        unsafe { slice::from_raw_parts(self.0.buf.cast(), len) }
    }
}

/// The bytes of an object that are to be filled.
pub fn to_fill(buffer: &mut PyBuffer<u8>) -> PyResult<&mut [u8]> {
    if buffer.readonly() || !buffer.is_c_contiguous() {
        return Err(PyValueError::new_err("the buffer is not writable, or not one stretch"));
    }
    if buffer.len_bytes() == 0 {
        return Ok(&mut []);
    }
    // SAFETY: as above; and whoever lends a buffer to be filled does not use it meanwhile.
    Ok(unsafe { slice::from_raw_parts_mut(buffer.buf_ptr().cast(), buffer.len_bytes()) })
}

/// A new `bytes` object, which a thread fills before anybody else has it. What it has no room for
/// goes into memory that grows.
pub struct NewBytes {
    object: Py<PyBytes>,
    /// The bytes of the object, and how many there are; none is read before it was written.
    start: *mut u8,
    room: usize,
    filled: usize,
    rest: Vec<u8>,
}

// SAFETY: the object is this one's alone where it has room (an empty one may be everybody's, and no
// byte of it is written), and moving the address of its bytes to another thread makes no second way
// to them.
unsafe impl Send for NewBytes {}

impl NewBytes {
    /// With room for so many bytes; for none where there is no memory for them.
    pub fn with_room(py: Python<'_>, room: usize) -> PyResult<Self> {
        let (object, room) = match new_object(py, room) {
            Ok(object) => (object, room),
            Err(_) => (new_object(py, 0)?, 0),
        };
        // SAFETY: it is a `bytes` object, which owns room for its length from this address on.
        let start = unsafe { ffi::PyBytes_AsString(object.as_ptr()).cast::<u8>() };
        Ok(NewBytes { object: object.unbind(), start, room, filled: 0, rest: Vec::new() })
    }

    /// The object of all bytes that were written.
    pub fn finish(self, py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
        let object = self.object.into_bound(py);
        if self.filled == self.room && self.rest.is_empty() {
            return Ok(object);
        }
        // SAFETY: so many were written.
        let first = unsafe { slice::from_raw_parts(self.start, self.filled) };
        PyBytes::new_with(py, self.filled + self.rest.len(), |all| {
            let (front, behind) = all.split_at_mut(self.filled);
            front.copy_from_slice(first);
            behind.copy_from_slice(&self.rest);
            Ok(())
        })
    }
}

/// A `bytes` object of so many bytes that nobody has written.
fn new_object(py: Python<'_>, size: usize) -> PyResult<Bound<'_, PyBytes>> {
    let size = ffi::Py_ssize_t::try_from(size)?;
    // SAFETY: this gives a new object or sets an exception; `NewBytes` writes its bytes before
    // others have it.
    let object = unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(ptr::null(), size))?
    };
    Ok(object.cast_into::<PyBytes>()?)
}

impl Write for NewBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (now, rest) = bytes.split_at(bytes.len().min(self.room - self.filled));
        // SAFETY: there is room for so many behind those that are filled, in memory of an object
        // that nobody else has.
        unsafe { self.start.add(self.filled).copy_from_nonoverlapping(now.as_ptr(), now.len()) };
        self.filled += now.len();
        self.rest.extend_from_slice(rest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
