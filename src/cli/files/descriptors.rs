//! Standard input and output, in the state in which the parent process left them.
//!
//! They may be closed (`bwz -l x.bwz >&-`). Rust's runtime opens /dev/null in place of a closed
//! one, for reading and writing, and `std::io` treats the error of a closed descriptor as success.
//! Output would then be lost without a message. Later it cannot be seen that the runtime opened
//! /dev/null, since other programs also give their children a /dev/null that is open both ways.
//!
//! So [`occupy`] runs before the runtime and opens /dev/null the wrong way round, as gnulib's
//! `stdopen` does. Reading from it or writing to it then gives the error of a closed descriptor,
//! and no file that is opened later gets its number. Closed standard error stays silent.

use crate::cli::report::io_errors::while_writing;
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Standard input. It is an error if it cannot be read from.
pub(crate) fn stdin() -> io::Result<File> {
    opened_for(OFlags::RDONLY, io::stdin().as_fd())
}

/// Standard output, without a buffer. It is an error if it cannot be written to.
pub(crate) fn stdout() -> io::Result<File> {
    let file = opened_for(OFlags::WRONLY, io::stdout().as_fd());
    file.map_err(|e| while_writing("standard output", e))
}

/// Lets a pipe hold 1 MiB instead of the usual 64 KiB, so that its reader is woken up less often.
/// Pipes are 6 % faster with it. If the file is no pipe, or the system does not allow this size,
/// nothing happens.
#[cfg(target_os = "linux")]
pub(crate) fn widen(file: &File) {
    use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};
    const WIDE: usize = 1 << 20;
    if fcntl_getpipe_size(file).is_ok_and(|size| size < WIDE) {
        let _ = fcntl_setpipe_size(file, WIDE);
    }
}

#[cfg(not(target_os = "linux"))]
pub fn widen(_file: &File) {}

/// Raises the limit of open files of this process to the most that the system allows. If the limit
/// cannot be raised, it stays.
pub(crate) fn allow_many() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: maximum,
            maximum,
        },
    );
}

fn opened_for(way: OFlags, descriptor: BorrowedFd) -> io::Result<File> {
    let open = fcntl_getfl(descriptor)? & OFlags::ACCMODE;
    if open == way || open == OFlags::RDWR {
        descriptor.try_clone_to_owned().map(File::from)
    } else {
        Err(io::Error::from_raw_os_error(libc::EBADF))
    }
}

/// Runs before `main` and Rust's runtime, as constructors do.
#[used]
#[allow(unsafe_code)]
// SAFETY: the section holds pointers to functions of this type.
#[cfg_attr(
    target_vendor = "apple",
    unsafe(link_section = "__DATA,__mod_init_func")
)]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static BEFORE_MAIN: extern "C" fn() = occupy;

/// Opens /dev/null on each of the three descriptors that is closed, in the direction in which it is
/// not used.
#[allow(unsafe_code)]
extern "C" fn occupy() {
    for (descriptor, way) in [
        (0, libc::O_WRONLY),
        (1, libc::O_RDONLY),
        (2, libc::O_RDONLY),
    ] {
        // SAFETY: both are plain system calls; the path ends with a zero. An opened file gets the
        // lowest free descriptor.
        unsafe {
            if libc::fcntl(descriptor, libc::F_GETFD) < 0 {
                libc::open(c"/dev/null".as_ptr(), way);
            }
        }
    }
}
