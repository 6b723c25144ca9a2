//! The bytes of a Python object, lent to a thread, and Python's of ours.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::slice;

/// The bytes of an object, which stays alive and keeps its size meanwhile.
pub struct Lent(PyBuffer<u8>);

impl Lent {
    /// The bytes of anything that has some in one stretch: `bytes`, `bytearray`, `array.array`, an
    /// array of numpy.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(buffer) = PyBuffer::<u8>::get(object)
            && buffer.is_c_contiguous()
        {
            return Ok(Lent(buffer));
        }
        let view = object.py().import("builtins")?.getattr("memoryview")?.call1((object,))?;
        let bytes = view.call_method1("cast", ("B",))?;
        PyBuffer::get(&bytes).map(Lent)
    }
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        if self.0.len_bytes() == 0 {
            return &[];
        }
        // SAFETY: the buffer is one stretch of that many bytes, which its owner neither frees nor
        // moves before the buffer is released. Who changes them meanwhile, from another thread,
        // changes what is compressed, as with every compressor that lets go of the GIL.
        unsafe { slice::from_raw_parts(self.0.buf_ptr().cast(), self.0.len_bytes()) }
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
