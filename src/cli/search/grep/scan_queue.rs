//! Scans parts side by side, and gives them back in order. The threads are started when a text
//! has a second part, and kept for all files of a run.
//!
//! As in a pipeline of blocks, a part carries its own reply channel, and the receiving ends wait in
//! the order of the parts.

use crate::cli::search::grep::line_scan::{Found, LineScanner};
use crate::cli::search::grep::text_part::TextPart;
use crossbeam_channel::{Receiver, Sender, bounded};
use std::collections::VecDeque;
use std::thread;

/// A part, and what was found in it.
pub(crate) type ScannedPart = (TextPart, Found);

/// Parts per thread that wait or are scanned.
const PER_THREAD: usize = 2;

/// The threads that scan, and the parts that were given to them.
pub(crate) struct ScanQueue {
    scanner: LineScanner,
    threads: usize,
    jobs: Option<Sender<(TextPart, Sender<ScannedPart>)>>,
    replies: VecDeque<Receiver<ScannedPart>>,
    /// The first part of a text. It is scanned here if no other one comes.
    first: Option<TextPart>,
    /// True if the text has had no part yet.
    is_new: bool,
}

impl ScanQueue {
    /// Creates a queue for up to `threads` threads.
    pub(crate) fn new(scanner: LineScanner, threads: usize) -> Self {
        ScanQueue {
            scanner,
            threads,
            jobs: None,
            replies: VecDeque::new(),
            first: None,
            is_new: true,
        }
    }

    pub(crate) fn scanner(&self) -> &LineScanner {
        &self.scanner
    }

    /// Scans a part here and now. No other part may be under way.
    pub(crate) fn scan(&self, mut part: TextPart) -> ScannedPart {
        let found = self.scanner.scan(&mut part);
        (part, found)
    }

    /// Adds a part. Parts come back by [`ScanQueue::next`].
    pub(crate) fn submit(&mut self, part: TextPart) {
        match self.first.take() {
            None if self.is_new => self.first = Some(part),
            None => self.send(part),
            Some(first) => {
                self.send(first);
                self.send(part);
            }
        }
        self.is_new = false;
    }

    /// Returns the oldest part, if it is scanned, or if too many are under way. If `all`, waits for
    /// it in any case, and returns `None` only if there is none.
    pub(crate) fn next(&mut self, all: bool) -> Option<ScannedPart> {
        if let Some(first) = self.first.take_if(|_| all) {
            return Some(self.scan(first));
        }
        let oldest = self.replies.front()?;
        let must_wait = all || self.replies.len() >= PER_THREAD * self.threads;
        if !must_wait && oldest.is_empty() {
            return None;
        }
        let scanned = self.replies.pop_front()?.recv();
        Some(scanned.unwrap_or_else(|_| panic!("a thread that scans lines has panicked")))
    }

    /// Forgets all parts, for the next text.
    pub(crate) fn clear(&mut self) {
        self.is_new = true;
        self.first = None;
        self.replies.clear();
    }

    fn send(&mut self, part: TextPart) {
        let (reply, scanned) = bounded(1);
        self.replies.push_back(scanned);
        if self.threads < 2 {
            let _ = reply.send(self.scan(part));
            return;
        }
        let jobs = match &self.jobs {
            Some(jobs) => jobs,
            None => self
                .jobs
                .insert(start(&self.scanner, self.threads)),
        };
        if let Err(refused) = jobs.send((part, reply)) {
            let (part, reply) = refused.0;
            let _ = reply.send(self.scan(part));
        }
    }
}

/// Starts threads that scan, as many as the system allows.
fn start(scanner: &LineScanner, threads: usize) -> Sender<(TextPart, Sender<ScannedPart>)> {
    let (jobs, to_do) = bounded::<(TextPart, Sender<ScannedPart>)>(PER_THREAD * threads);
    for _ in 0..threads {
        // Each thread has a matcher of its own: threads that share one wait for each other.
        let scanner = scanner.clone();
        let to_do = to_do.clone();
        let work = move || {
            for (mut part, reply) in to_do {
                let found = scanner.scan(&mut part);
                let _ = reply.send((part, found));
            }
        };
        let started = thread::Builder::new()
            .name("bwz-grep".into())
            .spawn(work);
        if started.is_err() {
            break;
        }
    }
    jobs
}
