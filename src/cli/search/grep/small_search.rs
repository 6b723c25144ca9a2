//! The search of small files side by side, each on one thread and in memory. What is found is kept
//! until it is the file's turn, so that the output is that of a search of one file after the other.
//!
//! A file whose search needs more than this is left: a large one, a pipe, a tar archive, or one
//! whose search fails or prints much. It is searched in its turn by all threads, and then has the
//! output and the messages that it would have alone. Memory is bounded, since each thread keeps
//! what it found in one file.
//!
//! The index of a very small file is not asked: the file is decoded in the time that this takes.

use crate::cli::arguments::grep_args::GrepArgs;
use crate::cli::arguments::shared_args::Talk;
use crate::cli::files::content::Content;
use crate::cli::files::foreign_input::ForeignInput;
use crate::cli::files::input::{OpenInput, is_same};
use crate::cli::files::input_name::Name;
use crate::cli::search::grep::file_report::{FileOutcome, FileReport, ReportPlan};
use crate::cli::search::grep::indexed_search::IndexedSearch;
use crate::cli::search::grep::line_scan::LineScanner;
use crate::cli::search::grep::scan_queue::ScanQueue;
use crate::cli::search::grep::source_search::SourceSearch;
use crate::cli::search::grep::text_search::TextSearch;
use bwz::{Archive, Device, Event, Options, Result};
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Maximum number of bytes of a small file, and of its content.
const SMALL: u64 = 8 << 20;

/// Maximum number of bytes of the content of a file that is decoded even if it has an index.
const DECODED: u64 = 256 << 10;

/// Maximum number of bytes that are printed about a small file.
const PRINTED: usize = 1 << 20;

/// The search of small files.
pub(crate) struct SmallSearch<'a> {
    plan: &'a ReportPlan,
    scanner: &'a LineScanner,
    indexed: Option<&'a IndexedSearch>,
    talk: Talk,
    /// Options for a search on one thread.
    options: Options,
    /// The file that is the output.
    output: Metadata,
    /// Files in tar archives are searched, each as a text.
    has_members: bool,
    longest_line: u64,
    /// Number of files that are searched at a time. If it is 1, none is searched here.
    pub threads: usize,
    /// Queues, and their matchers, that no thread uses now.
    spare: Mutex<Vec<ScanQueue>>,
}

/// The results of the search of a small file.
pub(crate) struct SmallFound {
    pub printed: Vec<u8>,
    pub outcome: FileOutcome,
}

impl<'a> SmallSearch<'a> {
    /// Prepares the search of the files that the arguments mean.
    pub(crate) fn new(
        args: &GrepArgs,
        plan: &'a ReportPlan,
        scanner: &'a LineScanner,
        indexed: Option<&'a IndexedSearch>,
        options: &Options,
        output: &Metadata,
    ) -> Self {
        let resources = &args.resources;
        // Reports of costs are in the order of the work, and one GPU works for one file.
        let is_one_by_one = !plan.has_several
            || args.verbose
            || plan.form.initial_tab
            || !args.input.member.is_empty()
            || matches!(resources.device, Device::Cuda(_));
        let threads = match is_one_by_one {
            true => 1,
            false => resources.thread_count(),
        };
        let mut options = options.clone().threads(1).device(Device::Cpu);
        if resources.memory > 0 {
            options = options.memory(resources.memory / threads as u64);
        }
        SmallSearch {
            plan,
            scanner,
            indexed,
            talk: args.talk(),
            options,
            output: output.clone(),
            has_members: !args.input.no_members,
            longest_line: resources.longest_line().min(SMALL),
            threads,
            spare: Mutex::default(),
        }
    }

    /// Searches a file. Returns `None` if it is to be searched in its turn.
    pub(crate) fn search(&self, name: &Name) -> Option<SmallFound> {
        let Name::File(path) = name else {
            return None;
        };
        if self.threads < 2 {
            return None;
        }
        let is_small = |metadata: &Metadata| metadata.is_file() && metadata.len() <= SMALL;
        if !path
            .metadata()
            .is_ok_and(|metadata| is_small(&metadata))
        {
            return None;
        }
        let mut queue = self.queue();
        let found = self.search_small(name, path, &mut queue);
        self.spare().push(queue);
        // A file whose search fails is searched again, for its message.
        found.ok().flatten()
    }

    fn search_small(
        &self,
        name: &Name,
        path: &Path,
        queue: &mut ScanQueue,
    ) -> Result<Option<SmallFound>> {
        let started = Instant::now();
        let OpenInput { source, about, .. } = OpenInput::open(name, true)?;
        let is_file = |metadata| !is_same(metadata, &self.output);
        if !about.regular().is_some_and(is_file) {
            return Ok(None);
        }
        let (content, input) = Content::sniff(source)?;
        let mut printed = Printed::default();
        let mut report = FileReport::new(self.plan, self.scanner, name, None, &mut printed, false);
        let is_whole = match content {
            Content::Bwz => self.search_bwz(name, path, queue, &mut report)?,
            content => {
                let search = TextSearch::new(queue, &mut report, self.longest_line, false);
                match content {
                    Content::Foreign(format) => {
                        read_small(ForeignInput::open(input, format)?, search)?
                    }
                    _ => read_small(input, search)?,
                }
            }
        };
        if !is_whole {
            return Ok(None);
        }
        let mut outcome = report.finish()?;
        outcome.stats.elapsed = started.elapsed();
        Ok(Some(SmallFound {
            printed: printed.0,
            outcome,
        }))
    }

    /// Searches a .bwz file. Returns false if it is not small or is a tar archive, or if there is a
    /// warning.
    fn search_bwz(
        &self,
        name: &Name,
        path: &Path,
        queue: &mut ScanQueue,
        report: &mut FileReport,
    ) -> Result<bool> {
        let mut archive = Archive::open(File::open(path)?, &self.options)?;
        let size = archive.raw_size();
        if size > SMALL || self.has_members && archive.is_tar()? {
            return Ok(false);
        }
        let is_warned = Arc::new(AtomicBool::new(false));
        let warned = Arc::clone(&is_warned);
        let options = self.options.clone().on_event(move |event| {
            if let Event::Warning(_) = event {
                warned.store(true, Ordering::Relaxed);
            }
        });
        let OpenInput { source, stop, .. } = OpenInput::open(name, true)?;
        let search = SourceSearch {
            queue,
            report,
            options,
            threads: 1,
            indexed: self.indexed.filter(|_| size > DECODED),
            name,
            talk: self.talk,
            longest_line: self.longest_line,
        };
        search.all(source, stop)?;
        Ok(!is_warned.load(Ordering::Relaxed))
    }

    /// A queue that no other thread uses.
    fn queue(&self) -> ScanQueue {
        let spare = self.spare().pop();
        spare.unwrap_or_else(|| ScanQueue::new(self.scanner.clone(), 1))
    }

    fn spare(&self) -> MutexGuard<'_, Vec<ScanQueue>> {
        self.spare
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Searches a text. Returns false if it is not small.
fn read_small(text: impl Read, mut search: TextSearch) -> io::Result<bool> {
    let mut text = text.take(SMALL + 1);
    search.read_from(&mut text)?;
    Ok(text.limit() > 0)
}

/// The bytes that are printed about a file, as far as they are few.
#[derive(Default)]
struct Printed(Vec<u8>);

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > PRINTED {
            return Err(io::Error::other("this is much to keep"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
