//! Standard input and output, as whoever started us left them.
//!
//! They may be closed (`bwz -l x.bwz >&-`). Rust's runtime opens /dev/null in the place of those
//! that are, for both ways, and `std::io` takes the error of a closed descriptor for success: what
//! is written would be lost without a message. That it is the runtime's /dev/null cannot be seen
//! later, since other programs give their children one that is open both ways too. So [`occupy`] is
//! there first and opens it the wrong way round, as gnulib's `stdopen` does: to read from or write
//! to it is the error of a closed descriptor, and no file that is opened later gets its number.
//! Closed standard error stays silent.

use super::io_errors::while_writing;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// Standard input, unless it cannot be read from.
pub fn stdin() -> io::Result<File> {
    opened_for(libc::O_RDONLY, io::stdin().as_fd())
}

/// Standard output, unless it cannot be written to. There is no buffer.
pub fn stdout() -> io::Result<File> {
    let file = opened_for(libc::O_WRONLY, io::stdout().as_fd());
    file.map_err(|e| while_writing("standard output", e))
}

/// Lets a pipe hold more than the usual 64 KiB, so that whoever reads it is woken up less often:
/// pipes are 6 % faster by it.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub fn widen(file: &File) {
    const WIDE: libc::c_int = 1 << 20;
    let descriptor = file.as_raw_fd();
    // SAFETY: the descriptor is open. Where it is no pipe, or the system allows no more, nothing
    // happens.
    unsafe {
        if (0..WIDE).contains(&libc::fcntl(descriptor, libc::F_GETPIPE_SZ)) {
            libc::fcntl(descriptor, libc::F_SETPIPE_SZ, WIDE);
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub fn widen(_file: &File) {}

/// Lets this process have as many files open as the system allows it to ask for.
#[allow(unsafe_code)]
pub fn allow_many() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointers are to a struct of ours that lives through the calls. Where the limit
    // cannot be raised, it stays.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

#[allow(unsafe_code)]
fn opened_for(way: libc::c_int, descriptor: BorrowedFd) -> io::Result<File> {
    // SAFETY: this reads the flags of a descriptor and touches no memory.
    let flags = unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_GETFL) };
    match flags & libc::O_ACCMODE {
        _ if flags < 0 => Err(io::Error::last_os_error()),
        open if open == way || open == libc::O_RDWR => {
            descriptor.try_clone_to_owned().map(File::from)
        }
        _ => Err(io::Error::from_raw_os_error(libc::EBADF)),
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
