//! The progress bar: on a terminal only, and only when work takes long enough to wonder about.
//!
//! It counts bytes of the input as they are read, through [`CountedReads`].

use super::args::Talk;
use super::console::printable;
use super::input_name::Name;
use super::io_errors::while_reading;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IoSliceMut, IsTerminal, Read, Seek, SeekFrom};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Work that is done sooner gets no bar.
const PATIENCE: Duration = Duration::from_millis(500);
/// Of an input up to this size none would be seen, so that no thread is started for one.
const SOON_DONE: u64 = 256 << 10;
const REFRESH: Duration = Duration::from_millis(200);

/// A bar that shows itself after a while and goes when it is dropped.
pub struct Progress {
    bar: ProgressBar,
    /// Dropped to call the thread off that shows the bar.
    waiter: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Starts to count towards `total`. `clear_view` says that nothing else is written to the
    /// terminal.
    pub fn start(name: &Name, total: Option<u64>, talk: Talk, clear_view: bool) -> Self {
        let wanted = !talk.quiet
            && !talk.no_progress
            && !talk.wants_blocks()
            && clear_view
            && total.is_none_or(|total| total > SOON_DONE)
            && io::stderr().is_terminal();
        let bar = ProgressBar::hidden();
        if !wanted {
            return Progress { bar, waiter: None };
        }
        let bar = bar.with_style(style(total)).with_message(printable(&name.to_string()));
        total.inspect(|&total| bar.set_length(total));
        Progress { waiter: show_later(bar.clone()), bar }
    }

    /// Starts to show how long work takes of which nobody knows how much is done.
    pub fn wait(what: &Name, talk: Talk) -> Self {
        let progress = Progress::start(what, None, talk, true);
        let style = ProgressStyle::with_template("{msg} {spinner} {elapsed}");
        progress.bar.set_style(style.expect("the template is well formed"));
        progress
    }

    /// Tells the bar how much is done, of how much there is to do.
    pub fn teller(&self) -> impl Fn(u64, u64) + Send + Sync + use<> {
        let bar = self.bar.clone();
        move |done, total| {
            bar.set_length(total);
            bar.set_position(done);
        }
    }

    /// Counts what is read from `inner`.
    pub fn count<R>(&self, inner: R) -> CountedReads<R> {
        CountedReads { inner, bar: self.bar.clone() }
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

/// Without a thread there is no bar, and nothing worse.
fn show_later(bar: ProgressBar) -> Option<(Sender<()>, JoinHandle<()>)> {
    let (call_off, called_off) = mpsc::channel();
    let wait = move || {
        if called_off.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(REFRESH);
        }
    };
    let thread = thread::Builder::new().name("bwz-progress".into()).spawn(wait).ok()?;
    Some((call_off, thread))
}

/// No colours, so there are none for NO_COLOR to turn off.
fn style(total: Option<u64>) -> ProgressStyle {
    let template = match total {
        Some(_) => "{msg:20!} [{wide_bar}] {bytes}/{total_bytes} {bytes_per_sec} ETA {eta}",
        None => "{msg:20!} {bytes} {bytes_per_sec} {elapsed}",
    };
    let style = ProgressStyle::with_template(template).expect("the template is well formed");
    style.progress_chars("=> ")
}

/// A reader that tells the bar how far it is, and its errors apart from a writer's.
pub struct CountedReads<R> {
    inner: R,
    bar: ProgressBar,
}

impl<R: Read> Read for CountedReads<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.read_vectored(&mut [IoSliceMut::new(bytes)])
    }

    fn read_vectored(&mut self, buffers: &mut [IoSliceMut]) -> io::Result<usize> {
        let read = self.inner.read_vectored(buffers).map_err(while_reading)?;
        self.bar.inc(read as u64);
        Ok(read)
    }
}

impl<R: Seek> Seek for CountedReads<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = self.inner.seek(to).map_err(while_reading)?;
        self.bar.set_position(position);
        Ok(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_read_are_counted() {
        let talk = Talk { verbose: 0, quiet: true, no_progress: true };
        let progress = Progress::start(&Name::Stdin, Some(5), talk, true);
        let mut text = String::new();
        progress.count(&b"bytes"[..]).read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), progress.bar.position()), ("bytes", 5));
    }
}
