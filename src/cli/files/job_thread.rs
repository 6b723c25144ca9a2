//! A thread for one job, such as reading or printing beside a search.

use bwz::{Error, Result};
use crossbeam_channel::{Sender, bounded};
use std::io;
use std::thread::{self, Scope};
use std::time::Duration;

/// The job of a thread.
pub(crate) type Job<'s> = Box<dyn FnOnce() + Send + 's>;

/// Starts a thread of `scope` that does the job it is sent.
///
/// A thread that has ended takes up its place in the system for a moment longer. If the system
/// refuses to start a thread, this tries again for a second.
///
/// # Errors
/// [`Error::Io`] if the system allows no more threads.
pub(crate) fn job_thread<'s>(scope: &'s Scope<'s, '_>) -> Result<Sender<Job<'s>>> {
    const PAUSES: [u64; 4] = [10, 90, 400, 500];
    let mut pauses = PAUSES.into_iter().map(Duration::from_millis);
    loop {
        let (sender, jobs) = bounded::<Job>(1);
        let work = move || jobs.into_iter().for_each(|job| job());
        match thread::Builder::new().spawn_scoped(scope, work) {
            Ok(_) => return Ok(sender),
            Err(e) => match pauses.next() {
                Some(pause) => thread::sleep(pause),
                None => return Err(no_thread(e)),
            },
        }
    }
}

fn no_thread(e: io::Error) -> Error {
    let said = format!(
        "cannot start a thread: the system allows this user no more threads (ulimit -u); raise \
         that limit, or end other processes: {e}"
    );
    io::Error::new(e.kind(), said).into()
}
