//! The progress bar. It is shown only on a terminal, and only if the work takes longer than half a
//! second.
//!
//! The bar counts bytes of the input that belong to finished blocks, and parts of those that are
//! under way ([`WorkEstimate`]); [`CountedReads`] counts the bytes read.

use crate::cli::arguments::args::Talk;
use crate::cli::files::input::InputSource;
use crate::cli::files::input_name::Name;
use crate::cli::report::console::printable;
use crate::cli::report::io_errors::while_reading;
use crate::cli::report::screen::columns;
use crate::cli::report::work_estimate::{Direction, WorkEstimate};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IoSliceMut, IsTerminal, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Time after which the bar is shown.
const PATIENCE: Duration = Duration::from_millis(500);
/// Largest input, in bytes, for which no thread is started: it is done before a bar would be seen.
const SOON_DONE: u64 = 256 << 10;
const REFRESH: Duration = Duration::from_millis(200);

/// A bar that shows itself after a while, and is removed when it is dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
    read: Arc<AtomicU64>,
    steps: WorkEstimate,
    /// Dropped to end the thread that shows the bar.
    waiter: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Starts to count towards `total` bytes. `clear_view` is true if nothing else is written to
    /// the terminal.
    pub(crate) fn start(name: &Name, total: Option<u64>, talk: Talk, clear_view: bool) -> Self {
        let wanted = !talk.quiet
            && !talk.no_progress
            && !talk.wants_blocks()
            && clear_view
            && total.is_none_or(|total| total > SOON_DONE)
            && io::stderr().is_terminal();
        let bar = ProgressBar::hidden();
        let read = Arc::default();
        let steps = WorkEstimate::default();
        if !wanted {
            return Progress {
                bar,
                read,
                steps,
                waiter: None,
            };
        }
        let bar = bar
            .with_style(style(total))
            .with_message(printable(&name.to_string()));
        total.inspect(|&total| bar.set_length(total));
        let source = Arc::<AtomicU64>::clone(&read);
        let blocks = steps.clone();
        let done = move || blocks.done_of(source.load(Ordering::Relaxed));
        let waiter = show_later(bar.clone(), total.is_some().then_some(done));
        Progress {
            bar,
            read,
            steps,
            waiter,
        }
    }

    /// The counter for steps of blocks, to which the events of the work must come.
    pub(crate) fn steps(&self, direction: Direction) -> WorkEstimate {
        self.steps.expect(direction);
        self.steps.clone()
    }

    /// Shows the time taken by work whose progress is unknown.
    pub(crate) fn wait(what: &Name, talk: Talk) -> Self {
        let progress = Progress::start(what, None, talk, true);
        let style = ProgressStyle::with_template("{msg} {spinner} {elapsed}");
        progress
            .bar
            .set_style(style.expect("the template is well formed"));
        progress
    }

    /// Returns a function that sets the amount done and the total.
    pub(crate) fn teller(&self) -> impl Fn(u64, u64) + Send + Sync + use<> {
        let bar = self.bar.clone();
        move |done, total| {
            bar.set_length(total);
            bar.set_position(done);
        }
    }

    /// Counts the bytes read from `inner`.
    pub(crate) fn count<R>(&self, inner: R) -> CountedReads<R> {
        let counting = self
            .bar
            .length()
            .is_none()
            .then(|| self.bar.clone());
        CountedReads {
            inner,
            read: Arc::clone(&self.read),
            bar: counting,
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((call_off, thread)) = self.waiter.take() {
            drop(call_off);
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

/// Starts the thread that shows the bar after [`PATIENCE`]. If no thread can be started, there is
/// no bar.
fn show_later(
    bar: ProgressBar,
    done: Option<impl Fn() -> u64 + Send + 'static>,
) -> Option<(Sender<()>, JoinHandle<()>)> {
    let (call_off, called_off) = mpsc::channel();
    let wait = move || {
        if called_off.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        bar.set_draw_target(ProgressDrawTarget::stderr());
        bar.enable_steady_tick(REFRESH);
        let Some(done) = done else { return };
        loop {
            // The bar never moves backwards, though blocks may differ in size.
            bar.set_position(done().max(bar.position()));
            if called_off.recv_timeout(REFRESH) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    };
    let thread = thread::Builder::new()
        .name("bwz-progress".into())
        .spawn(wait)
        .ok()?;
    Some((call_off, thread))
}

/// The bar's layout, by the width of the terminal. It has no colours that NO_COLOR would turn off.
fn style(total: Option<u64>) -> ProgressStyle {
    let template = match (total, columns(io::stderr())) {
        (Some(_), 120..) => {
            "{msg:20!} [{wide_bar}] {percent:>3} % {bytes}/{total_bytes} {bytes_per_sec} ETA {eta}"
        }
        (Some(_), 80..) => "{msg:20!} [{wide_bar}] {percent:>3} % {bytes_per_sec} ETA {eta}",
        (Some(_), 40..) => "{msg:10!} [{wide_bar}] {percent:>3} % ETA {eta}",
        (Some(_), _) => "{percent:>3} % ETA {eta}",
        (None, 80..) => "{msg:20!} {bytes} {bytes_per_sec} {elapsed}",
        (None, _) => "{bytes} {elapsed}",
    };
    let style = ProgressStyle::with_template(template).expect("the template is well formed");
    style.progress_chars("=> ")
}

/// A reader that reports its progress to the bar. Its errors are worded as those of reading, to
/// tell them from a writer's.
pub(crate) struct CountedReads<R> {
    inner: R,
    read: Arc<AtomicU64>,
    /// A bar that shows the bytes read, if the total is unknown.
    bar: Option<ProgressBar>,
}

impl CountedReads<&mut InputSource> {
    /// Waits for bytes as [`InputSource::wait`] does.
    pub(crate) fn wait(&self, time: Option<Duration>) -> io::Result<bool> {
        self.inner.wait(time).map_err(while_reading)
    }
}

impl<R: Read> Read for CountedReads<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.read_vectored(&mut [IoSliceMut::new(bytes)])
    }

    fn read_vectored(&mut self, buffers: &mut [IoSliceMut]) -> io::Result<usize> {
        let read = self
            .inner
            .read_vectored(buffers)
            .map_err(while_reading)?;
        self.read
            .fetch_add(read as u64, Ordering::Relaxed);
        if let Some(bar) = &self.bar {
            bar.inc(read as u64);
        }
        Ok(read)
    }
}

impl<R: Seek> Seek for CountedReads<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = self.inner.seek(to).map_err(while_reading)?;
        self.read.store(position, Ordering::Relaxed);
        Ok(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_read_are_counted() {
        let talk = Talk {
            verbose: 0,
            quiet: true,
            no_progress: true,
        };
        let progress = Progress::start(&Name::Stdin, Some(5), talk, true);
        let mut text = String::new();
        progress
            .count(&b"bytes"[..])
            .read_to_string(&mut text)
            .unwrap();
        assert_eq!(
            (text.as_str(), progress.read.load(Ordering::Relaxed)),
            ("bytes", 5)
        );
    }
}
