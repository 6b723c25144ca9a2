//! The threads that compute.

use crate::error::{Error, Result};
use crate::options::Options;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::io;

/// A pool of as many threads as the options say. All computing is installed in it, so no more run at a time.
pub(crate) fn pool(options: &Options) -> Result<ThreadPool> {
    ThreadPoolBuilder::new()
        .num_threads(options.thread_count())
        .thread_name(|n| format!("bwz-{n}"))
        .build()
        .map_err(|e| Error::Io(io::Error::other(format!("cannot start threads: {e}"))))
}
