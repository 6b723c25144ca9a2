//! Files restored to the memory of a GPU, and data compressed from it.
//!
//! A call waits for the streams of the memory it is given, and returns after its own work on the
//! GPU has ended. If a signal ends it, its threads are waited for, since they write to memory of
//! the caller.

use crate::bytes::{Lent, NewBytes};
use crate::dlpack::{self, Memory};
use crate::one_shot::Stoppable;
use crate::source::{Input, SharedStop, Source};
use crate::wait::{self, Stop};
use crate::{errors, settings};
use bwz::Options;
use bwz::cuda::{self, DeviceSlice, GpuRead};
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex};

/// A GPU that restores files to its memory, and keeps its working memory between calls.
#[pyclass(frozen, module = "bwz._bwz")]
pub struct GpuDecoder(Arc<cuda::GpuDecoder>);

#[pymethods]
impl GpuDecoder {
    #[new]
    #[pyo3(signature = (device = 0))]
    fn new(py: Python<'_>, device: u32) -> PyResult<Self> {
        open(py, device).map(GpuDecoder)
    }

    #[getter]
    fn device(&self) -> u32 {
        self.0.gpu()
    }
}

fn open(py: Python<'_>, number: u32) -> PyResult<Arc<cuda::GpuDecoder>> {
    let opened = py.detach(|| cuda::GpuDecoder::new(number));
    opened
        .map(Arc::new)
        .map_err(|e| errors::raise(py, e))
}

/// The decoder that is given, or a new one on this GPU.
fn decoder_on(
    py: Python<'_>,
    decoder: Option<&Bound<'_, GpuDecoder>>,
    number: u32,
) -> PyResult<Arc<cuda::GpuDecoder>> {
    match decoder {
        Some(decoder) => Ok(Arc::clone(&decoder.get().0)),
        None => open(py, number),
    }
}

/// Restored bytes in memory of a GPU that they own.
#[pyclass(frozen, module = "bwz._bwz")]
pub struct DeviceBuffer {
    buffer: Arc<cuda::DeviceBuffer>,
    read: GpuRead,
}

#[pymethods]
impl DeviceBuffer {
    #[getter]
    fn device(&self) -> u32 {
        self.buffer.gpu()
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.buffer.len()
    }

    /// Numbers of blocks: restored on the GPU, and by the host.
    #[getter]
    fn blocks(&self) -> (u64, u64) {
        (self.read.on_gpu, self.read.by_host)
    }

    fn __len__(&self) -> usize {
        self.buffer.len()
    }

    fn __dlpack_device__(&self) -> (i32, u32) {
        (2, self.buffer.gpu())
    }

    /// The bytes are complete, so no stream has to wait for them.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<&Bound<'py, PyAny>>,
        dl_device: Option<(i32, u32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = (stream, max_version);
        if copy == Some(true) || dl_device.is_some_and(|on| on != self.__dlpack_device__()) {
            return Err(PyBufferError::new_err("bwz makes no copies of this memory"));
        }
        let owner = Arc::clone(&self.buffer);
        dlpack::export(py, owner.gpu(), owner.address(), owner.len(), owner)
    }

    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("shape", (self.buffer.len(),))?;
        interface.set_item("typestr", "|u1")?;
        let address = if self.buffer.is_empty() {
            0
        } else {
            self.buffer.address()
        };
        interface.set_item("data", (address, false))?;
        interface.set_item("strides", py.None())?;
        interface.set_item("stream", py.None())?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }
}

/// A file: bytes, or something that is read by position.
enum FileBytes {
    Bytes(Stoppable<Cursor<Lent>>),
    File(Input),
}

impl FileBytes {
    fn of(file: &Bound<'_, PyAny>, stop: &Stop) -> PyResult<Self> {
        if let Ok(bytes) = Lent::of(file) {
            return Ok(FileBytes::Bytes(Stoppable(
                Cursor::new(bytes),
                stop.clone(),
            )));
        }
        let source = Source::of(file, true)?;
        let shared = SharedStop::new(Mutex::new(stop.clone()));
        Ok(FileBytes::File(Input::new(source, shared)))
    }
}

impl Read for FileBytes {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            FileBytes::Bytes(bytes) => bytes.read(out),
            FileBytes::File(file) => file.read(out),
        }
    }
}

impl Seek for FileBytes {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            FileBytes::Bytes(bytes) => bytes.seek(to),
            FileBytes::File(file) => file.seek(to),
        }
    }
}

/// Memory of another library as the library takes it, after all its streams.
fn slice_of(number: u32, memory: &Memory) -> bwz::Result<DeviceSlice<'_>> {
    let streams = memory.streams.iter().copied().map(Some);
    let mut slice = None;
    for stream in std::iter::once(None).chain(streams) {
        // SAFETY: the object that owns the memory is kept alive by `memory`. Its owner lends it
        // for the call, which is documented.
        slice = Some(unsafe { DeviceSlice::new(number, memory.address, memory.len, stream)? });
    }
    Ok(slice.expect("it is made at least once"))
}

/// The GPU that the memory is on. An empty one may have no address.
fn gpu_of(py: Python<'_>, memory: &Memory) -> PyResult<u32> {
    if memory.len == 0 {
        return Ok(0);
    }
    DeviceSlice::gpu_of(memory.address).map_err(|e| errors::raise(py, e))
}

/// Restores a file, or a range of its raw bytes, to memory of the caller. Returns the number of
/// bytes, and the numbers of blocks that were restored on the GPU and by the host.
#[pyfunction]
#[pyo3(signature = (file, out, decoder, range, stream, /, **options))]
pub fn decompress_into(
    file: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    decoder: Option<&Bound<'_, GpuDecoder>>,
    range: Option<(u64, u64)>,
    stream: Option<u64>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<(u64, u64, u64)> {
    let py = file.py();
    let options = settings::options(py, options)?;
    let stop = Stop::default();
    let file = FileBytes::of(file, &stop)?;
    let memory = Memory::of(out, stream, true)?;
    let number = gpu_of(py, &memory)?;
    let decoder = decoder_on(py, decoder, number)?;
    let work = move || {
        let mut archive = bwz::Archive::open(file, &options)?;
        let (start, end) = range.unwrap_or((0, archive.raw_size()));
        let mut slice = slice_of(number, &memory)?;
        let read = archive.read_range_to_gpu(&decoder, start..end, &mut slice)?;
        Ok((end - start, read.on_gpu, read.by_host))
    };
    let done: bwz::Result<_> = wait::on_thread_to_end(py, &stop, work)?;
    done.map_err(|e| errors::raise(py, e))
}

/// Restores a file, or a range of its raw bytes, to new memory on a GPU.
#[pyfunction]
#[pyo3(signature = (file, decoder, device, range, /, **options))]
pub fn decompress_to_device(
    file: &Bound<'_, PyAny>,
    decoder: Option<&Bound<'_, GpuDecoder>>,
    device: u32,
    range: Option<(u64, u64)>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<DeviceBuffer> {
    let py = file.py();
    let options = settings::options(py, options)?;
    let stop = Stop::default();
    let file = FileBytes::of(file, &stop)?;
    let decoder = decoder_on(py, decoder, device)?;
    let work = move || {
        let mut archive = bwz::Archive::open(file, &options)?;
        let (start, end) = range.unwrap_or((0, archive.raw_size()));
        let size = end.saturating_sub(start);
        // A range that is too long is an error before memory is taken.
        let size = size.min(archive.raw_size());
        let mut buffer = cuda::DeviceBuffer::new(decoder.gpu(), size as usize)?;
        let read = archive.read_range_to_gpu(&decoder, start..end, &mut buffer.slice())?;
        Ok(DeviceBuffer {
            buffer: Arc::new(buffer),
            read,
        })
    };
    let done: bwz::Result<_> = wait::on_thread_to_end(py, &stop, work)?;
    done.map_err(|e| errors::raise(py, e))
}

/// Compresses bytes in the memory of a GPU, which are copied to the host piece by piece.
#[pyfunction]
#[pyo3(signature = (data, stream, /, **options))]
pub fn compress_from_device<'py>(
    data: &Bound<'py, PyAny>,
    stream: Option<u64>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = data.py();
    let options: Options = settings::options(py, options)?;
    let memory = Memory::of(data, stream, false)?;
    let number = gpu_of(py, &memory)?;
    let mut out = NewBytes::with_room(py, 0)?;
    let stop = Stop::default();
    let there = stop.clone();
    let work = move || {
        let slice = slice_of(number, &memory)?;
        let input = Stoppable(slice.reader(), there.clone());
        bwz::compress(input, Stoppable(&mut out, there), &options).map(|_| out)
    };
    let done: bwz::Result<_> = wait::on_thread_to_end(py, &stop, work)?;
    done.map_err(|e| errors::raise(py, e))?.finish(py)
}
