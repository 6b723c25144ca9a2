//! Writes regions of records as FASTA or FASTQ, for `bwz extract`.

use crate::cli::arguments::search_args::ExtractArgs;
use crate::cli::files::input_name::Name;
use crate::cli::files::output::Output;
use crate::cli::report::screen::Screen;
use crate::cli::search::pattern_batch::{is_rna, reverse_complement};
use crate::cli::search::record_regions::{Region, RegionFile};
use bwz::{Archive, Error, Result};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::ffi::OsStrExt;

/// Bases in a line of FASTA. samtools uses the same number.
const COLUMNS: usize = 60;

/// Number of bases that are extracted together: a block is decoded once for all of them.
const TOGETHER: u64 = 64 << 20;
/// Maximum number of regions that are extracted together.
const AT_ONCE: usize = 1 << 16;

/// Writes the regions that the arguments name, in their order. If one cannot be read, the regions
/// before it are still written.
pub(crate) fn write_regions(
    args: &ExtractArgs,
    file: &Name,
    archive: &mut Archive<File>,
    output: &mut Output,
) -> Result<()> {
    if !archive.has_sequences() {
        return Err(Error::Usage(
            "has no index of sequences, which --region needs; bwz --index of FASTA or FASTQ makes \
             one"
            .into(),
        ));
    }
    let is_terminal = output.is_terminal();
    let out = BufWriter::with_capacity(1 << 18, Screen::text(output, is_terminal));
    let mut writer = RegionWriter {
        args,
        file,
        archive,
        out,
        some: Vec::new(),
        size: 0,
        total: 0,
    };
    let added = writer.add_all();
    writer.write()?;
    writer.out.flush()?;
    added
}

struct RegionWriter<'a, W: Write> {
    args: &'a ExtractArgs,
    file: &'a Name,
    archive: &'a mut Archive<File>,
    out: BufWriter<Screen<W>>,
    /// Regions to write next.
    some: Vec<Region>,
    /// Number of bases of these regions.
    size: u64,
    /// Number of bases of all regions so far.
    total: u64,
}

impl<W: Write> RegionWriter<'_, W> {
    fn add_all(&mut self) -> Result<()> {
        let args = self.args;
        for text in &args.region {
            let region = Region::parse(text.as_bytes(), &mut |name| has(self.archive, name));
            let added = region.and_then(|region| self.add(region, None));
            self.go_on(added)?;
        }
        for path in &args.regions {
            let mut regions = RegionFile::open(path)?;
            loop {
                match regions.next(&mut |name| has(self.archive, name)) {
                    Ok(None) => break,
                    Ok(Some(region)) => {
                        let added = self.add(region, Some(&regions));
                        self.go_on(added)?;
                    }
                    Err(e) => self.go_on(Err(e))?,
                }
            }
        }
        Ok(())
    }

    /// With `--continue`, turns the error of a region that cannot be read into a warning.
    fn go_on(&self, added: Result<()>) -> Result<()> {
        match added {
            Err(Error::Usage(what)) if self.args.go_on => {
                self.args.reading.talk.warn(self.file, what);
                Ok(())
            }
            added => added,
        }
    }

    /// Adds a region from `of`, a file of regions, or from the command line.
    fn add(&mut self, mut region: Region, of: Option<&RegionFile>) -> Result<()> {
        if self.args.ignore_strand {
            region.reverse = false;
        }
        region.reverse ^= self.args.reverse_complement;
        // A name is looked up in the blocks here only if the table lacks it. The other names are
        // compared with the blocks later, for all regions together.
        let number = match self.archive.find_listed(&region.name)? {
            None => self.archive.find_record(&region.name)?,
            listed => listed,
        };
        let Some(number) = number else {
            return Err(self.no_record(&region.name, of));
        };
        let record = &self.archive.records()?[number];
        if self.args.fastq && record.quality_offset.is_none() {
            let name = String::from_utf8_lossy(&region.name);
            let what =
                format!("record `{name}` has no qualities: without --fastq it is written as FASTA");
            return Err(Error::Usage(what.into()));
        }
        let length = record.length;
        let end = region.range.end.min(length);
        let bases = end.saturating_sub(region.range.start);
        self.warn(&region, length);
        self.total += bases;
        let allowed = self
            .args
            .reading
            .limits
            .limit_output
            .unwrap_or(u64::MAX);
        if self.total > allowed {
            let what = "the request".into();
            return Err(Error::OutputLimit {
                what,
                needed: self.total,
                allowed,
            });
        }
        self.some.push(region);
        self.size += bases;
        match self.size >= TOGETHER || self.some.len() >= AT_ONCE {
            true => self.write(),
            false => Ok(()),
        }
    }

    fn no_record(&self, name: &[u8], of: Option<&RegionFile>) -> Error {
        let name = String::from_utf8_lossy(name);
        let place = of.map_or(String::new(), |file| format!(" ({})", file.place()));
        let file = self.file;
        let what = format!("has no record `{name}`{place}; bwz -l --records {file} lists them");
        Error::Usage(what.into())
    }

    /// Warns of a region that was given with start 0, that is empty, or that reaches beyond the end
    /// of its record.
    fn warn(&self, region: &Region, length: u64) {
        let talk = self.args.reading.talk;
        let file = self.file;
        let title = String::from_utf8_lossy(&region.title);
        let range = &region.range;
        if region.from_0 {
            talk.warn(
                file,
                format_args!("{title}: positions count from 1, so 0 is taken as 1"),
            );
        }
        if range.start >= length.min(range.end) {
            talk.warn(
                file,
                format_args!("{title} is empty: its record has {length} bases"),
            );
        } else if range.end > length && range.end != u64::MAX {
            talk.warn(
                file,
                format_args!("{title} is cut at the {length} bases of its record"),
            );
        }
    }

    /// Writes the regions that were added.
    fn write(&mut self) -> Result<()> {
        let some = std::mem::take(&mut self.some);
        self.size = 0;
        let named = some
            .iter()
            .map(|region| (&region.name, region.range.clone()));
        let all_bases = self
            .archive
            .named_regions(&named.collect::<Vec<_>>())?;
        let mut all_qualities = match self.args.fastq {
            true => self.qualities(&some)?.into_iter(),
            false => Vec::new().into_iter(),
        };
        for (region, mut bases) in some.into_iter().zip(all_bases) {
            if region.reverse {
                let of_rna = is_rna(&bases);
                reverse_complement(&mut bases, of_rna);
            }
            let Some(mut qualities) = all_qualities.next() else {
                self.lines(b">", &region.title(), &bases)?;
                continue;
            };
            if region.reverse {
                qualities.reverse();
            }
            self.lines(b"@", &region.title(), &bases)?;
            self.lines(b"+", b"", &qualities)?;
        }
        Ok(())
    }

    /// Returns the qualities of some regions.
    fn qualities(&mut self, some: &[Region]) -> Result<Vec<Vec<u8>>> {
        let names: Vec<&Vec<u8>> = some.iter().map(|region| &region.name).collect();
        let numbers = self.archive.find_records(&names)?;
        let mut ranges = Vec::with_capacity(some.len());
        for (region, number) in some.iter().zip(numbers) {
            let Some(number) = number else {
                return Err(self.no_record(&region.name, None));
            };
            ranges.push((number, region.range.clone()));
        }
        self.archive.qualities(&ranges)
    }

    /// Writes a title line with its mark, then the lines of bases or qualities.
    fn lines(&mut self, mark: &[u8], title: &[u8], all: &[u8]) -> Result<()> {
        let columns = self
            .args
            .line_length
            .unwrap_or(if self.args.fastq { 0 } else { COLUMNS });
        self.out
            .write_all(&[mark, title, b"\n"].concat())?;
        // A record of FASTQ has a line between its marks, even an empty one.
        if self.args.fastq && all.is_empty() {
            self.out.write_all(b"\n")?;
        }
        for line in all.chunks(if columns == 0 { usize::MAX } else { columns }) {
            self.out.write_all(line)?;
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }
}

fn has(archive: &mut Archive<File>, name: &[u8]) -> Result<bool> {
    Ok(archive.find_listed(name)?.is_some())
}
