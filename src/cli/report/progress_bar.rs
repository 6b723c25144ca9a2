//! The progress bar: on a terminal only, and only when work takes long enough to wonder about.
//!
//! It counts bytes of the input as they are read, through [`CountedReads`], for the blocks that are
//! done. A block that was read and is worked on counts by its steps so far and, within a step, by
//! an estimate from the time that it has taken: the sort of a large block alone may take minutes.

use crate::cli::arguments::args::Talk;
use crate::cli::files::input_name::Name;
use crate::cli::report::console::printable;
use crate::cli::report::io_errors::while_reading;
use bwz::Step;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rustix::termios::tcgetwinsize;
use std::collections::BTreeMap;
use std::io::{self, IoSliceMut, IsTerminal, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Work that is done sooner gets no bar.
const PATIENCE: Duration = Duration::from_millis(500);
/// Of an input up to this size none would be seen, so that no thread is started for one.
const SOON_DONE: u64 = 256 << 10;
const REFRESH: Duration = Duration::from_millis(200);

/// A bar that shows itself after a while and goes when it is dropped.
pub struct Progress {
    bar: ProgressBar,
    read: Arc<AtomicU64>,
    steps: BlockSteps,
    /// Dropped to call the thread off that shows the bar.
    waiter: Option<(Sender<()>, JoinHandle<()>)>,
}

/// How far the blocks are.
#[derive(Clone, Default)]
pub struct BlockSteps(Arc<Mutex<Blocks>>);

#[derive(Default)]
struct Blocks {
    /// Numbers of blocks that were read and that were written.
    read: u64,
    written: u64,
    /// For each block in between, the share of its work that is done, and since when.
    under_way: BTreeMap<u64, (f64, Instant)>,
}

/// Time per byte after which a step is taken to be half done.
const HALF_DONE: f64 = 50e-9;

impl BlockSteps {
    /// Counts a step of a block that is done.
    pub fn count(&self, block: u64, step: Step) {
        let mut blocks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let share = match step {
            Step::Read => {
                blocks.read += 1;
                0.0
            }
            Step::Write => {
                blocks.written += 1;
                blocks.under_way.remove(&block);
                return;
            }
            Step::Sort(_) => 0.6,
            Step::Decode(_) => 0.4,
            Step::Code(_) | Step::Invert(_) => 0.9,
            _ => return,
        };
        blocks.under_way.insert(block, (share, Instant::now()));
    }

    /// How many bytes of those that were read are done.
    fn done_of(&self, read: u64) -> u64 {
        let blocks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if blocks.read == 0 {
            // A source that does not tell of its blocks.
            return read;
        }
        let size = read as f64 / blocks.read as f64;
        let mut done = blocks.written as f64;
        for (share, since) in blocks.under_way.values() {
            let took = since.elapsed().as_secs_f64();
            let of_step = took / (took + HALF_DONE * size);
            let next = if *share < 0.5 { 0.6 } else { 1.0 };
            done += share + (next - share).max(0.0) * of_step;
        }
        read.min((done * size) as u64)
    }
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
        let read = Arc::default();
        let steps = BlockSteps::default();
        if !wanted {
            return Progress { bar, read, steps, waiter: None };
        }
        let bar = bar.with_style(style(total)).with_message(printable(&name.to_string()));
        total.inspect(|&total| bar.set_length(total));
        let source = Arc::<AtomicU64>::clone(&read);
        let blocks = steps.clone();
        let done = move || blocks.done_of(source.load(Ordering::Relaxed));
        let waiter = show_later(bar.clone(), total.is_some().then_some(done));
        Progress { bar, read, steps, waiter }
    }

    /// Where steps of blocks are counted.
    pub fn steps(&self) -> BlockSteps {
        self.steps.clone()
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
        let counting = self.bar.length().is_none().then(|| self.bar.clone());
        CountedReads { inner, read: Arc::clone(&self.read), bar: counting }
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
            // Never backwards, though blocks may be of different sizes.
            bar.set_position(done().max(bar.position()));
            if called_off.recv_timeout(REFRESH) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    };
    let thread = thread::Builder::new().name("bwz-progress".into()).spawn(wait).ok()?;
    Some((call_off, thread))
}

/// No colours, so there are none for NO_COLOR to turn off.
fn style(total: Option<u64>) -> ProgressStyle {
    let template = match (total, columns()) {
        (Some(_), 80..) => "{msg:20!} [{wide_bar}] {bytes}/{total_bytes} {bytes_per_sec} ETA {eta}",
        (Some(_), 40..) => "{msg:10!} [{wide_bar}] {percent:>3} % ETA {eta}",
        (Some(_), _) => "{percent:>3} % ETA {eta}",
        (None, 80..) => "{msg:20!} {bytes} {bytes_per_sec} {elapsed}",
        (None, _) => "{bytes} {elapsed}",
    };
    let style = ProgressStyle::with_template(template).expect("the template is well formed");
    style.progress_chars("=> ")
}

/// The width of the terminal.
fn columns() -> u16 {
    let columns = tcgetwinsize(io::stderr()).map_or(0, |size| size.ws_col);
    if columns == 0 { 80 } else { columns }
}

/// A reader that tells the bar how far it is, and its errors apart from a writer's.
pub struct CountedReads<R> {
    inner: R,
    read: Arc<AtomicU64>,
    /// A bar that shows what is read, since nobody knows how much there is.
    bar: Option<ProgressBar>,
}

impl<R: Read> Read for CountedReads<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.read_vectored(&mut [IoSliceMut::new(bytes)])
    }

    fn read_vectored(&mut self, buffers: &mut [IoSliceMut]) -> io::Result<usize> {
        let read = self.inner.read_vectored(buffers).map_err(while_reading)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
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
        let talk = Talk { verbose: 0, quiet: true, no_progress: true };
        let progress = Progress::start(&Name::Stdin, Some(5), talk, true);
        let mut text = String::new();
        progress.count(&b"bytes"[..]).read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), progress.read.load(Ordering::Relaxed)), ("bytes", 5));
    }

    #[test]
    fn a_block_moves_with_its_steps() {
        let steps = BlockSteps::default();
        assert_eq!(steps.done_of(100), 100);
        steps.count(0, Step::Read);
        let sorting = steps.done_of(1 << 30);
        steps.count(0, Step::Sort(bwz::Device::Cpu));
        let coding = steps.done_of(1 << 30);
        steps.count(0, Step::Code(bwz::Device::Cpu));
        let coded = steps.done_of(1 << 30);
        assert!(sorting < 1 << 29 && coding > 1 << 29 && coded > coding && coded < 1 << 30);
        steps.count(0, Step::Write);
        assert_eq!(steps.done_of(1 << 30), 1 << 30);
    }
}
