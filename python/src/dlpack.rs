//! Memory of a GPU that passes between libraries, by the two protocols that they share.
//!
//! [`Memory::of`] takes bytes from an object of another library: by DLPack
//! (<https://dmlc.github.io/dlpack>) if it has `__dlpack__`, else by version 3 of the CUDA array
//! interface (`__cuda_array_interface__` of Numba's documentation). [`export`] gives bytes of ours
//! by DLPack.

use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::any::Any;
use std::ffi::{CStr, c_void};
use std::ptr;

const CUDA: i32 = 2;
const CUDA_MANAGED: i32 = 13;

/// Type codes of integers.
const INT: u8 = 0;
const UINT: u8 = 1;

const READ_ONLY: u64 = 1;

const PLAIN: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";

/// The number that stands for the legacy default stream.
const LEGACY_STREAM: u64 = 1;

/// `DLTensor` of `dlpack.h`.
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensor`.
#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
struct ManagedVersioned {
    major: u32,
    minor: u32,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut ManagedVersioned)>,
    flags: u64,
    tensor: Tensor,
}

/// Contiguous bytes in the memory of a GPU, and what keeps them there.
pub struct Memory {
    pub address: u64,
    pub len: usize,
    /// Streams whose work is waited for before the memory is used.
    pub streams: Vec<u64>,
    _keeper: Keeper,
}

#[allow(dead_code, reason = "it is dropped")]
enum Keeper {
    Object(Py<PyAny>),
    Plain(*mut Managed),
    Versioned(*mut ManagedVersioned),
}

// SAFETY: a consumer may delete a tensor on any thread.
unsafe impl Send for Keeper {}

impl Drop for Keeper {
    fn drop(&mut self) {
        // Deleters of Python libraries may take the GIL, or need it.
        Python::try_attach(|_| match *self {
            Keeper::Object(_) => (),
            // SAFETY: the tensor was taken from its capsule, and is deleted this once.
            Keeper::Plain(managed) => unsafe {
                if let Some(delete) = (*managed).deleter {
                    delete(managed);
                }
            },
            // SAFETY: as above.
            Keeper::Versioned(managed) => unsafe {
                if let Some(delete) = (*managed).deleter {
                    delete(managed);
                }
            },
        });
    }
}

impl Memory {
    /// The bytes of an object: a contiguous array of `uint8` or `int8`, of any shape. `stream` is
    /// the stream on which the caller has queued work with them. If `writes` is true, they must not
    /// be read-only.
    ///
    /// # Errors
    /// `TypeError` for an object without either protocol, `ValueError` for memory or items of
    /// another kind.
    pub fn of(object: &Bound<'_, PyAny>, stream: Option<u64>, writes: bool) -> PyResult<Self> {
        if stream == Some(0) {
            let said = "a stream of 0 is ambiguous: 1 is the legacy default stream, 2 that of the \
                        thread";
            return Err(PyValueError::new_err(said));
        }
        if object.hasattr("__dlpack__")? {
            return of_dlpack(object, stream, writes);
        }
        match object.getattr_opt("__cuda_array_interface__")? {
            Some(interface) => of_interface(object, &interface, stream, writes),
            None => Err(PyTypeError::new_err(format!(
                "{} has neither __dlpack__ nor __cuda_array_interface__",
                object.get_type()
            ))),
        }
    }
}

fn of_dlpack(object: &Bound<'_, PyAny>, stream: Option<u64>, writes: bool) -> PyResult<Memory> {
    let (kind, _): (i32, i32) = object
        .call_method0("__dlpack_device__")?
        .extract()?;
    if kind != CUDA && kind != CUDA_MANAGED {
        return Err(elsewhere());
    }
    // The producer makes this stream wait for its own work.
    let stream = stream.unwrap_or(LEGACY_STREAM);
    let capsule = capsule_of(object, stream)?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let (tensor, keeper, read_only) = take_tensor(capsule)?;
    // SAFETY: the keeper has the tensor, whose shape and strides have `ndim` items.
    let (address, len) = unsafe { bytes_of(tensor)? };
    if read_only && writes {
        return Err(unwritable());
    }
    Ok(Memory {
        address,
        len,
        streams: vec![stream],
        _keeper: keeper,
    })
}

/// Asks for a capsule of version 1, and of those before if the object knows no versions.
fn capsule_of<'py>(object: &Bound<'py, PyAny>, stream: u64) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let arguments = PyDict::new(py);
    arguments.set_item("stream", stream)?;
    arguments.set_item("max_version", (1, 0))?;
    match object.call_method("__dlpack__", (), Some(&arguments)) {
        Err(e) if e.is_instance_of::<PyTypeError>(py) => {
            arguments.del_item("max_version")?;
            object.call_method("__dlpack__", (), Some(&arguments))
        }
        capsule => capsule,
    }
}

/// Takes the tensor out of a capsule, which is marked as used. Also says if it is read-only.
fn take_tensor(capsule: &Bound<'_, PyCapsule>) -> PyResult<(*const Tensor, Keeper, bool)> {
    let raw = capsule.as_ptr();
    // SAFETY: the capsule is alive, and its name says which struct it has. The new name keeps its
    // destructor from deleting the tensor, which the keeper now does.
    unsafe {
        if ffi::PyCapsule_IsValid(raw, VERSIONED.as_ptr()) == 1 {
            let managed: *mut ManagedVersioned =
                ffi::PyCapsule_GetPointer(raw, VERSIONED.as_ptr()).cast();
            ffi::PyCapsule_SetName(raw, c"used_dltensor_versioned".as_ptr());
            let keeper = Keeper::Versioned(managed);
            if (*managed).major != 1 {
                return Err(PyBufferError::new_err(
                    "a tensor of another version of DLPack than 1",
                ));
            }
            let read_only = (*managed).flags & READ_ONLY != 0;
            return Ok((&raw const (*managed).tensor, keeper, read_only));
        }
        if ffi::PyCapsule_IsValid(raw, PLAIN.as_ptr()) == 1 {
            let managed: *mut Managed = ffi::PyCapsule_GetPointer(raw, PLAIN.as_ptr()).cast();
            ffi::PyCapsule_SetName(raw, c"used_dltensor".as_ptr());
            let keeper = Keeper::Plain(managed);
            return Ok((&raw const (*managed).tensor, keeper, false));
        }
    }
    Err(PyTypeError::new_err(
        "__dlpack__ gave a capsule that has no tensor",
    ))
}

/// Address and number of the bytes of a tensor.
///
/// # Safety
/// The tensor is alive, and its shape and strides have `ndim` items.
unsafe fn bytes_of(tensor: *const Tensor) -> PyResult<(u64, usize)> {
    // SAFETY: guaranteed by the caller.
    let tensor = unsafe { &*tensor };
    if tensor.device_type != CUDA && tensor.device_type != CUDA_MANAGED {
        return Err(elsewhere());
    }
    if !matches!(tensor.code, INT | UINT) || tensor.bits != 8 || tensor.lanes != 1 {
        return Err(other_items());
    }
    let ndim = usize::try_from(tensor.ndim).unwrap_or(0);
    let items = |start: *mut i64| {
        if start.is_null() || ndim == 0 {
            return Vec::new();
        }
        // SAFETY: guaranteed by the caller.
        unsafe { std::slice::from_raw_parts(start, ndim) }.to_vec()
    };
    let strides = (!tensor.strides.is_null()).then(|| items(tensor.strides));
    let len = contiguous(&items(tensor.shape), strides.as_deref())?;
    Ok((tensor.data as u64 + tensor.byte_offset, len))
}

fn of_interface(
    object: &Bound<'_, PyAny>,
    interface: &Bound<'_, PyAny>,
    stream: Option<u64>,
    writes: bool,
) -> PyResult<Memory> {
    let interface = interface
        .cast::<PyDict>()
        .map_err(|_| PyTypeError::new_err("__cuda_array_interface__ is not a dict"))?;
    let missing =
        |name: &str| PyTypeError::new_err(format!("__cuda_array_interface__ has no {name}"));
    let needed = |name: &str| {
        interface
            .get_item(name)?
            .ok_or_else(|| missing(name))
    };
    let optional = |name: &str| {
        let found = interface.get_item(name)?;
        PyResult::Ok(found.filter(|value| !value.is_none()))
    };
    let (address, read_only): (u64, bool) = needed("data")?.extract()?;
    if read_only && writes {
        return Err(unwritable());
    }
    let kind: String = needed("typestr")?.extract()?;
    if !matches!(kind.trim_start_matches(['|', '<', '>', '=']), "u1" | "i1") {
        return Err(other_items());
    }
    if optional("mask")?.is_some() {
        return Err(PyValueError::new_err("the array has a mask"));
    }
    let shape: Vec<i64> = needed("shape")?.extract()?;
    let strides: Option<Vec<i64>> = optional("strides")?
        .map(|strides| strides.extract())
        .transpose()?;
    let theirs: Option<u64> = optional("stream")?
        .map(|stream| stream.extract())
        .transpose()?;
    if theirs == Some(0) {
        let said = "__cuda_array_interface__ has a stream of 0, which it forbids";
        return Err(PyValueError::new_err(said));
    }
    Ok(Memory {
        address,
        len: contiguous(&shape, strides.as_deref())?,
        streams: theirs.into_iter().chain(stream).collect(),
        _keeper: Keeper::Object(object.clone().unbind()),
    })
}

/// Number of items of a shape whose items are bytes and lie one behind the other, in C order.
fn contiguous(shape: &[i64], strides: Option<&[i64]>) -> PyResult<usize> {
    let too_large = || PyValueError::new_err(format!("a shape of {shape:?} makes no sense"));
    let mut len: usize = 1;
    for &count in shape {
        let count = usize::try_from(count).map_err(|_| too_large())?;
        len = len.checked_mul(count).ok_or_else(too_large)?;
    }
    let Some(strides) = strides else {
        return Ok(len);
    };
    let mut expected = 1;
    for (&count, &stride) in shape.iter().zip(strides).rev() {
        if count > 1 && stride != expected && len > 0 {
            return Err(PyValueError::new_err(
                "the array is not contiguous in C order",
            ));
        }
        expected *= count;
    }
    Ok(len)
}

fn elsewhere() -> PyErr {
    PyValueError::new_err("the array is not in the memory of a CUDA GPU")
}

fn other_items() -> PyErr {
    PyValueError::new_err("the items are not uint8 or int8: give a view of the array's bytes")
}

fn unwritable() -> PyErr {
    PyValueError::new_err("the array is read-only")
}

/// Bytes of ours for other libraries. The memory's owner is dropped with the tensor.
struct Exported {
    managed: Managed,
    shape: [i64; 1],
    _owner: Box<dyn Any + Send>,
}

/// A DLPack capsule of `len` bytes on GPU `number`, which `owner` keeps.
pub fn export<'py>(
    py: Python<'py>,
    number: u32,
    address: u64,
    len: usize,
    owner: impl Any + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let exported = Box::into_raw(Box::new(Exported {
        managed: Managed {
            tensor: Tensor {
                data: address as *mut c_void,
                device_type: CUDA,
                device_id: number.cast_signed(),
                ndim: 1,
                code: UINT,
                bits: 8,
                lanes: 1,
                shape: ptr::null_mut(),
                strides: ptr::null_mut(),
                byte_offset: 0,
            },
            context: ptr::null_mut(),
            deleter: Some(delete),
        },
        shape: [len as i64],
        _owner: Box::new(owner),
    }));
    // SAFETY: `exported` was made above. It is freed once: by the consumer's call of `delete`, or
    // by the capsule's destructor.
    unsafe {
        (*exported).managed.tensor.shape = (&raw mut (*exported).shape).cast();
        (*exported).managed.context = exported.cast();
        let managed = &raw mut (*exported).managed;
        let capsule = ffi::PyCapsule_New(managed.cast(), PLAIN.as_ptr(), Some(delete_unused));
        if capsule.is_null() {
            delete(managed);
        }
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

/// Frees a tensor of ours.
unsafe extern "C" fn delete(managed: *mut Managed) {
    // SAFETY: the context is the box from which the tensor was made, and this is its one end.
    drop(unsafe { Box::from_raw((*managed).context.cast::<Exported>()) });
}

/// Frees the tensor of a capsule that nobody has taken.
unsafe extern "C" fn delete_unused(capsule: *mut ffi::PyObject) {
    // SAFETY: the capsule is alive, and has our tensor as long as it has its first name.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, PLAIN.as_ptr()) == 1 {
            delete(ffi::PyCapsule_GetPointer(capsule, PLAIN.as_ptr()).cast());
        }
    }
}
