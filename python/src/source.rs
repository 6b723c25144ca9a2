//! Files and Python's file objects as `Read`, `Seek` and `Write`, used from our threads.
//!
//! A file is a duplicate of its descriptor, read by position without the GIL. For a file object,
//! the methods `read`, `seek`, `write` and `flush` are called. One thread calls them at a time,
//! though not always the same one. Once the object is released, no thread calls it any more.

use crate::wait::{self, Stop};
use pyo3::exceptions::{PyBlockingIOError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyInt};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum number of bytes read or written in one call of an object.
const MOST: usize = 4 << 20;

/// The time to wait for a call after an interruption.
const GRACE: Duration = Duration::from_millis(200);

/// A file or a file object, shared by threads. Positions count from its position at the start.
#[derive(Clone)]
pub struct Source(Arc<Inner>);

struct Inner {
    kind: Kind,
    /// Its position at the start. `None` if it cannot be read by position.
    origin: Option<u64>,
    /// True if nothing is read or written any more.
    released: AtomicBool,
    /// True if a signal has ended the wait for a call, which may never return.
    interrupted: AtomicBool,
}

enum Kind {
    File(File),
    /// The object, or `None` once it is released.
    Object(Mutex<Option<Py<PyAny>>>),
}

impl Source {
    /// Takes a descriptor or an object. Its position is queried only if it is to be read by
    /// position.
    pub fn of(object: &Bound<'_, PyAny>, by_position: bool) -> PyResult<Self> {
        if let Ok(descriptor) = object.extract::<i32>() {
            // SAFETY: the caller's file object, which holds it open, outlives this call.
            let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
            let mut file = File::from(borrowed.try_clone_to_owned()?);
            let origin = if by_position {
                Some(file.stream_position()?)
            } else {
                None
            };
            return Ok(Source::new(Kind::File(file), origin));
        }
        let origin = match by_position {
            true => Some(position(&object.call_method0("tell")?, "tell")?),
            false => None,
        };
        let kind = Kind::Object(Mutex::new(Some(object.clone().unbind())));
        Ok(Source::new(kind, origin))
    }

    fn new(kind: Kind, origin: Option<u64>) -> Self {
        let released = false.into();
        let interrupted = false.into();
        Source(Arc::new(Inner {
            kind,
            origin,
            released,
            interrupted,
        }))
    }

    /// Reports that a signal has ended the wait for a read or a write.
    pub fn interrupt(&self) {
        self.0.interrupted.store(true, Ordering::Relaxed);
    }

    fn is_released(&self) -> bool {
        self.0.released.load(Ordering::Relaxed)
    }

    /// True if it is read by position.
    pub fn is_seekable(&self) -> bool {
        self.0.origin.is_some()
    }

    /// Waits until no thread is in a call of the object, and keeps all threads from it from then
    /// on. The wait is short if a signal has ended such a wait before.
    pub fn release(&self, py: Python<'_>) -> PyResult<()> {
        self.0.released.store(true, Ordering::Relaxed);
        let Kind::Object(object) = &self.0.kind else {
            return Ok(());
        };
        let is_interrupted = self.0.interrupted.load(Ordering::Relaxed);
        let patience = Instant::now() + GRACE;
        let taken = wait::until(py, |time| match object.try_lock() {
            Ok(mut object) => Some(object.take()),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner().take()),
            Err(TryLockError::WouldBlock) if is_interrupted && Instant::now() > patience => {
                Some(None)
            }
            Err(TryLockError::WouldBlock) => {
                thread::sleep(time / 50);
                None
            }
        })?;
        drop(taken);
        Ok(())
    }

    fn read(&self, position: u64, out: &mut [u8]) -> io::Result<usize> {
        match (&self.0.kind, self.0.origin) {
            (Kind::File(file), Some(origin)) => file.read_at(out, origin + position),
            (Kind::File(file), None) => {
                while !is_ready(file)? {
                    if self.is_released() {
                        return Err(closed());
                    }
                }
                (&*file).read(out)
            }
            (Kind::Object(object), origin) => self.call(object, |object| {
                if let Some(origin) = origin {
                    let wanted = origin + position;
                    let reached = object.call_method1("seek", (wanted,))?;
                    // Objects older than `io` return `None`.
                    if !reached.is_none() && self::position(&reached, "seek")? != wanted {
                        let said =
                            format!("seek({wanted}) of the file object went to {reached} instead");
                        return Err(PyValueError::new_err(said));
                    }
                }
                read_object(object, out)
            }),
        }
    }

    /// Number of bytes in it.
    fn size(&self) -> io::Result<u64> {
        let end = match &self.0.kind {
            Kind::File(file) => file.metadata()?.len(),
            Kind::Object(object) => self.call(object, |object| {
                let end = object.call_method1("seek", (0, 2))?;
                let end = if end.is_none() {
                    object.call_method0("tell")?
                } else {
                    end
                };
                position(&end, "seek")
            })?,
        };
        Ok(end.saturating_sub(self.0.origin.unwrap_or(0)))
    }

    /// Calls an object that is not released, with the GIL held.
    fn call<T>(
        &self,
        object: &Mutex<Option<Py<PyAny>>>,
        work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> io::Result<T> {
        let object = object
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(object) = object.as_ref().filter(|_| !self.is_released()) else {
            return Err(closed());
        };
        let ending = || io::Error::other("Python is shutting down");
        let done = Python::try_attach(|py| work(object.bind(py)));
        done.ok_or_else(ending)?.map_err(io::Error::other)
    }
}

/// True if a read of a pipe or a terminal would not block. Waits for that for a short time.
fn is_ready(file: &File) -> io::Result<bool> {
    let mut one = libc::pollfd {
        fd: file.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let wait = wait::TICK.as_millis() as libc::c_int;
    // SAFETY: it is a list of one entry.
    match unsafe { libc::poll(&mut one, 1, wait) } {
        -1 => match io::Error::last_os_error() {
            e if e.kind() == io::ErrorKind::Interrupted => Ok(false),
            e => Err(e),
        },
        found => Ok(found > 0),
    }
}

fn closed() -> io::Error {
    io::Error::other("the file is closed")
}

fn read_object(object: &Bound<'_, PyAny>, out: &mut [u8]) -> PyResult<usize> {
    let asked = out.len().min(MOST);
    let read = object.call_method1("read", (asked,))?;
    if read.is_none() {
        let said = "read() of the file object gave None: it has nothing to read for now";
        return Err(PyBlockingIOError::new_err(said));
    }
    let Ok(bytes) = read.extract::<PyBackedBytes>() else {
        let said = format!(
            "read() of the file object gave {}, not bytes",
            read.get_type()
        );
        return Err(PyTypeError::new_err(said));
    };
    match out
        .get_mut(..bytes.len())
        .filter(|_| bytes.len() <= asked)
    {
        Some(out) => out.copy_from_slice(&bytes),
        None => {
            let said = format!(
                "read({asked}) of the file object gave {} bytes, more than it was asked for",
                bytes.len()
            );
            return Err(PyValueError::new_err(said));
        }
    }
    Ok(bytes.len())
}

/// The number of bytes that `write()` reports as taken, out of `given`.
///
/// # Errors
/// `BlockingIOError` for `None`, which means that none could be taken now. `TypeError` and
/// `ValueError` for a value that cannot be such a number: the number of written bytes is then
/// unknown.
fn taken(written: &Bound<'_, PyAny>, given: usize) -> PyResult<usize> {
    if written.is_none() {
        return Err(PyBlockingIOError::new_err(
            "write() of the file object gave None, not how many bytes it took: it must block, and \
             say that",
        ));
    }
    if !written.is_instance_of::<PyInt>() {
        let said = format!(
            "write() of the file object gave {}, not int",
            written.get_type()
        );
        return Err(PyTypeError::new_err(said));
    }
    match written.extract::<usize>() {
        Ok(count) if (1..=given).contains(&count) => Ok(count),
        _ => Err(PyValueError::new_err(format!(
            "write() of the file object said that it took {written} of {given} bytes"
        ))),
    }
}

/// A position that `tell()` or `seek()` of the file object returned.
fn position(given: &Bound<'_, PyAny>, method: &str) -> PyResult<u64> {
    given.extract().map_err(|_| {
        let said = format!("{method}() of the file object gave {given:?}, which is no position");
        PyTypeError::new_err(said)
    })
}

/// Reads a [`Source`] until it is stopped; by position if possible.
pub struct Input {
    source: Source,
    position: u64,
    stop: SharedStop,
}

/// The stop of the current work.
pub type SharedStop = Arc<Mutex<Stop>>;

impl Input {
    pub fn new(source: Source, stop: SharedStop) -> Self {
        Input {
            source,
            position: 0,
            stop,
        }
    }
}

impl Read for Input {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self
            .stop
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_stopped()
        {
            return Err(io::Error::other("stopped"));
        }
        let read = self.source.read(self.position, out)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for Input {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => self.source.size()?.checked_add_signed(by),
        };
        let before = || io::Error::new(io::ErrorKind::InvalidInput, "a position before the start");
        self.position = position.ok_or_else(before)?;
        Ok(self.position)
    }
}

/// Writes to a file or an object.
pub struct Output(pub Source);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(MOST)];
        match &self.0.0.kind {
            Kind::File(_) if self.0.is_released() => Err(closed()),
            Kind::File(file) => (&*file).write(bytes),
            Kind::Object(object) => self.0.call(object, |object| {
                let written = object.call_method1("write", (PyBytes::new(object.py(), bytes),))?;
                taken(&written, bytes.len())
            }),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &self.0.0.kind {
            Kind::File(_) => Ok(()),
            Kind::Object(object) => self.0.call(object, |object| {
                if object.hasattr("flush")? {
                    object.call_method0("flush")?;
                }
                Ok(())
            }),
        }
    }
}
