//! Standard input and output, as whoever started us left them.
//!
//! They may be closed (`bwz -l x.bwz >&-`). Rust's runtime opens /dev/null in the place of those
//! that are, for both ways, and `std::io` takes the error of a closed descriptor for success: what
//! is written would be lost without a message. That it is the runtime's /dev/null cannot be seen
//! later, since other programs give their children one that is open both ways too. So [`occupy`] is
//! there first and opens it the wrong way round, as gnulib's `stdopen` does: to read from or write
//! to it is the error of a closed descriptor, and no file that is opened later gets its number.
//! Closed standard error stays silent.

use crate::cli::report::io_errors::while_writing;
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Standard input, unless it cannot be read from.
pub fn stdin() -> io::Result<File> {
    opened_for(OFlags::RDONLY, io::stdin().as_fd())
}

/// Standard output, unless it cannot be written to. There is no buffer.
pub fn stdout() -> io::Result<File> {
    let file = opened_for(OFlags::WRONLY, io::stdout().as_fd());
    file.map_err(|e| while_writing("standard output", e))
}

/// Lets a pipe hold more than the usual 64 KiB, so that whoever reads it is woken up less often:
/// pipes are 6 % faster by it. Where it is no pipe, or the system allows no more, nothing happens.
#[cfg(target_os = "linux")]
pub fn widen(file: &File) {
    use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};
    const WIDE: usize = 1 << 20;
    if fcntl_getpipe_size(file).is_ok_and(|size| size < WIDE) {
        let _ = fcntl_setpipe_size(file, WIDE);
    }
}

#[cfg(not(target_os = "linux"))]
pub fn widen(_file: &File) {}

/// Lets this process have as many files open as the system allows it to ask for. Where the limit
/// cannot be raised, it stays.
pub fn allow_many() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

fn opened_for(way: OFlags, descriptor: BorrowedFd) -> io::Result<File> {
    let open = fcntl_getfl(descriptor)? & OFlags::ACCMODE;
    if open == way || open == OFlags::RDWR {
        descriptor.try_clone_to_owned().map(File::from)
    } else {
        Err(io::Error::from_raw_os_error(libc::EBADF))
    }
}

/// Called before `main` and Rust's runtime, as constructors are.
#[used]
#[allow(unsafe_code)]
// SAFETY: the section holds pointers to functions of this type.
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static BEFORE_MAIN: extern "C" fn() = occupy;

/// Opens /dev/null on each closed one of the three, for what it is not used for.
#[allow(unsafe_code)]
extern "C" fn occupy() {
    for (descriptor, way) in [(0, libc::O_WRONLY), (1, libc::O_RDONLY), (2, libc::O_RDONLY)] {
        // SAFETY: both are plain system calls; the path ends with a zero. A file gets the lowest
        // number that is free.
        unsafe {
            if libc::fcntl(descriptor, libc::F_GETFD) < 0 {
                libc::open(c"/dev/null".as_ptr(), way);
            }
        }
    }
}
