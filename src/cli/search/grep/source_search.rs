//! The search of one source: a file or a pipe, plain or compressed. Its first bytes tell which it
//! is. A .bwz file is asked by its index, and scanned if that costs less.

use crate::cli::arguments::shared_args::Talk;
use crate::cli::arguments::size;
use crate::cli::files::content::Content;
use crate::cli::files::foreign_input::ForeignInput;
use crate::cli::files::input::InputSource;
use crate::cli::files::input_name::Name;
use crate::cli::files::stoppable_input::Stop;
use crate::cli::search::grep::file_report::FileReport;
use crate::cli::search::grep::indexed_search::{self, IndexedAnswer, IndexedSearch};
use crate::cli::search::grep::scan_queue::ScanQueue;
use crate::cli::search::grep::text_search::TextSearch;
use bwz::{Archive, Options, Result};
use std::fs::File;
use std::time::Instant;

/// The search of one source.
pub(crate) struct SourceSearch<'s, 'r> {
    pub queue: &'s mut ScanQueue,
    pub report: &'s mut FileReport<'r>,
    pub options: Options,
    pub threads: usize,
    pub indexed: Option<&'s IndexedSearch>,
    pub name: &'s Name,
    pub talk: Talk,
    /// Maximum number of bytes of a line.
    pub longest_line: u64,
}

impl SourceSearch<'_, '_> {
    /// Searches a .bwz file by its index. Returns false if the text is to be scanned.
    pub(crate) fn ask_index(&mut self) -> Result<bool> {
        let (Some(indexed), Name::File(path)) = (self.indexed, self.name) else {
            return Ok(false);
        };
        match indexed.open(File::open(path)?, &self.options) {
            Some(archive) => self.by_index(indexed, archive),
            None => Ok(false),
        }
    }

    /// Searches by an index. Returns false if the text is to be scanned.
    fn by_index(&mut self, indexed: &IndexedSearch, mut archive: Archive<File>) -> Result<bool> {
        let started = Instant::now();
        let is_answered = match indexed.ask(&mut archive)? {
            IndexedAnswer::Scan => false,
            IndexedAnswer::Numbers(numbers) => {
                self.report
                    .take_numbers(numbers.selected, numbers.matches);
                true
            }
            IndexedAnswer::Regions(regions) => {
                let mut search = TextSearch::new(self.queue, self.report, self.longest_line, false);
                indexed_search::scan_regions(&mut archive, regions, &mut search)?;
                self.report.searched(archive.raw_size());
                true
            }
        };
        let next = if is_answered { "" } else { ", then scanned" };
        self.talk.report(
            self.name,
            format_args!(
                "by its index: {}, {:.3} s{next}",
                size::read_cost(archive.search_cost()),
                started.elapsed().as_secs_f64()
            ),
        );
        Ok(is_answered)
    }

    /// The size of the text, if that is known before it is read.
    fn text_size(&self, content: &Content) -> Option<u64> {
        let Name::File(path) = self.name else {
            return None;
        };
        match content {
            Content::Foreign(_) => None,
            Content::Plain => {
                let about = path.metadata().ok()?;
                about.is_file().then_some(about.len())
            }
            Content::Bwz => {
                let archive = Archive::open(File::open(path).ok()?, &self.options);
                archive.ok().map(|archive| archive.raw_size())
            }
        }
    }

    /// Searches all of the source.
    pub(crate) fn all(mut self, source: InputSource, stop: Option<Stop>) -> Result<()> {
        let (content, mut input) = Content::sniff(source)?;
        if self.report.has_columns() {
            let size = self.text_size(&content);
            self.report.set_columns(size);
        }
        let is_live = matches!(content, Content::Plain) && stop.is_some();
        if matches!(content, Content::Bwz) && stop.is_none() && self.ask_index()? {
            return Ok(());
        }
        if matches!(content, Content::Bwz) {
            input.get_mut().1.read_beside(self.threads);
        }
        let mut search = TextSearch::new(self.queue, self.report, self.longest_line, is_live);
        match content {
            Content::Plain => search.read_from(input)?,
            Content::Foreign(format) => {
                let foreign = ForeignInput::open(input, format)?;
                let state = foreign.state();
                search
                    .read_from(foreign)
                    .map_err(|e| state.explain(e.into()))?;
            }
            Content::Bwz => match bwz::decompress(input, &mut search, &self.options) {
                Ok(_) => search.finish()?,
                Err(_) if search.is_done() => {}
                Err(e) => return Err(e),
            },
        }
        Ok(())
    }
}
