//! The records of an archive of sequences: by number, by name, and the bases and qualities of
//! regions. Tables of records are read if there are any, and compared with the blocks; otherwise
//! the blocks are read.

use super::archive_file::{Archive, RecordTable};
use crate::base::error::{Error, Result};
use crate::frame::FrameInfo;
use crate::search::{FileSearch, Place, RecordInfo};
use std::collections::{BTreeSet, HashMap};
use std::io::{Read, Seek};
use std::mem;
use std::ops::Range;

/// Maximum number of records that [`Archive::places`] compares with their blocks.
const CONFIRMED: usize = 8;

/// Pairs records with a map from each name to the number of the first record that has it.
fn named(records: Vec<RecordInfo>) -> RecordTable {
    let mut numbers = HashMap::new();
    for (n, record) in records.iter().enumerate() {
        numbers.entry(record.name.clone()).or_insert(n);
    }
    (records, numbers)
}

impl<R: Read + Seek + Send> Archive<R> {
    /// Returns true if any frame holds sequences. In such frames patterns are found across line
    /// ends and in either case.
    pub fn has_sequences(&self) -> bool {
        self.frames()
            .iter()
            .any(FrameInfo::is_by_sequence)
    }

    /// Returns true if all frames hold sequences, so that no pattern is searched byte by byte.
    pub fn has_sequences_alone(&self) -> bool {
        let is_sequence = |frame: &FrameInfo| frame.blocks == 0 || frame.sequences.is_some();
        self.has_sequences() && self.frames().iter().all(is_sequence)
    }

    /// The records of all frames that hold sequences, in order, with the numbers of a `.fai` file.
    ///
    /// A frame of up to 65,536 records has a table of them, unless the table would be larger than a
    /// sixteenth of the frame. If there is a table, only the table is read; otherwise the records
    /// are read from the blocks.
    ///
    /// ```
    /// use std::io::Cursor;
    ///
    /// let options = bwz::Options::new().index(bwz::DEFAULT_SAMPLE_RATE)?;
    /// let mut file = Vec::new();
    /// bwz::compress(&b">chr1 first\nACGTac\ngtAC\n>chr2\nTTT\n"[..], &mut file, &options)?;
    ///
    /// let mut genome = bwz::Archive::open(Cursor::new(file), &options)?;
    /// let chr1 = &genome.records()?[0];
    /// assert_eq!((&chr1.name[..], chr1.length, chr1.offset), (&b"chr1"[..], 10, 12));
    /// assert_eq!((chr1.line_bases, chr1.line_width, chr1.is_regular), (6, 7, true));
    ///
    /// // Bases 4 to 7 of it, across the line end, as they stand in the file.
    /// assert_eq!(genome.region("chr1", 4..8)?, b"acgt");
    ///
    /// // A match is at a raw offset, which is a base of a record.
    /// let found = genome.locate(&["ACGTAC"], 10)?;
    /// assert_eq!(found[0].positions, [12, 16]);
    /// assert_eq!(genome.places(&found[0].positions)?[1].base, Some((0, 4)));
    /// # Ok::<(), bwz::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Archive::extract`].
    pub fn records(&mut self) -> Result<&[RecordInfo]> {
        Ok(&self.named_records()?.0)
    }

    fn named_records(&mut self) -> Result<&RecordTable> {
        if self.records.is_none() {
            self.records = Some(named(self.file_search().records()?));
        }
        Ok(self.records.as_ref().expect("just read"))
    }

    /// The number of the first record with a given name.
    ///
    /// # Errors
    /// As [`Archive::records`].
    pub fn find_record(&mut self, name: impl AsRef<[u8]>) -> Result<Option<usize>> {
        Ok(self.find_records(&[name])?[0])
    }

    /// The number of the first record of each name, like [`Archive::find_record`].
    ///
    /// The entries of a table of records are compared with the blocks. If an entry is wrong, all
    /// records are read from the blocks, which takes longer. The same happens if the table lacks a
    /// name and the indexes of the blocks do not rule the name out.
    ///
    /// # Errors
    /// As [`Archive::records`].
    pub fn find_records<N: AsRef<[u8]>>(&mut self, names: &[N]) -> Result<Vec<Option<usize>>> {
        let found = self.look_up(names)?;
        let known: Vec<usize> = found.iter().flatten().copied().collect();
        let has_tables = !self.layouts.names_from_blocks
            && self
                .frames()
                .iter()
                .any(|frame| frame.records.is_some());
        if !has_tables {
            return Ok(found);
        }
        if self.confirm(&known)? {
            let pairs = names.iter().zip(&found);
            let unknown = pairs
                .filter(|(_, found)| found.is_none())
                .map(|(name, _)| name.as_ref());
            let unknown: Vec<&[u8]> = unknown.collect();
            if unknown.is_empty() || self.file_search().are_absent(&unknown)? {
                return Ok(found);
            }
        }
        self.read_records_from_blocks()?;
        self.look_up(names)
    }

    /// The number of the first record of a name, as [`Archive::records`] lists it. If there is a
    /// table of records, this reads no block.
    ///
    /// The name is not compared with the blocks, but [`Archive::regions`] returns the bases that
    /// the blocks have. A caller that reports these bases under the name must call
    /// [`Archive::find_records`] too.
    ///
    /// # Errors
    /// As [`Archive::records`].
    pub fn find_listed(&mut self, name: impl AsRef<[u8]>) -> Result<Option<usize>> {
        Ok(self.look_up(&[name])?[0])
    }

    fn look_up<N: AsRef<[u8]>>(&mut self, names: &[N]) -> Result<Vec<Option<usize>>> {
        let numbers = &self.named_records()?.1;
        Ok(names
            .iter()
            .map(|name| numbers.get(name.as_ref()).copied())
            .collect())
    }

    /// Compares the listed records that are not yet checked with the blocks. Returns true if all of
    /// them are right.
    fn confirm(&mut self, numbers: &[usize]) -> Result<bool> {
        let Archive {
            input,
            options,
            contents,
            cost,
            layouts,
            records,
            ..
        } = self;
        let Some((records, _)) = records else {
            return Ok(true);
        };
        let numbers: BTreeSet<usize> = numbers.iter().copied().collect();
        let unchecked = |number: &&usize| {
            records
                .get(**number)
                .is_some_and(|r| r.is_unchecked)
        };
        let numbers: Vec<usize> = numbers
            .iter()
            .filter(unchecked)
            .copied()
            .collect();
        if numbers.is_empty() {
            return Ok(true);
        }
        let some: Vec<&RecordInfo> = numbers
            .iter()
            .map(|&number| &records[number])
            .collect();
        let mut search = FileSearch {
            input,
            options,
            contents,
            cost,
            layouts,
        };
        let are_right = search.are_as_in_blocks(&some)?;
        for number in numbers {
            records[number].is_unchecked = !are_right;
        }
        Ok(are_right)
    }

    /// Reads the records from the blocks. Warns if the tables were wrong.
    fn read_records_from_blocks(&mut self) -> Result<()> {
        let old = self.records.take();
        let warned = mem::replace(&mut self.layouts.names_from_blocks, true);
        let new = self.file_search().records()?;
        let is_same = old.is_some_and(|(old, _)| {
            let pairs = old.iter().zip(&new);
            old.len() == new.len()
                && pairs
                    .into_iter()
                    .all(|(old, new)| old.is_like(new))
        });
        self.layouts.names_from_blocks = warned;
        if !is_same {
            self.file_search().warn_of_records();
        }
        self.layouts.names_from_blocks = true;
        self.records = Some(named(new));
        Ok(())
    }

    /// Returns the bases of a record as they are in the file. The range counts from 0 and excludes
    /// its end; positions beyond the end of the record are ignored. Uses the index if the range is
    /// short; otherwise decodes the blocks that hold it.
    ///
    /// # Errors
    /// [`Error::Usage`] if no record has that name; otherwise as [`Archive::extract`].
    pub fn region(&mut self, name: impl AsRef<[u8]>, range: Range<u64>) -> Result<Vec<u8>> {
        Ok(self.named_regions(&[(name, range)])?.concat())
    }

    /// Returns bases like [`Archive::region`], for records given by number. A block that holds
    /// several regions is opened once for all of them.
    ///
    /// ```
    /// # use std::io::Cursor;
    /// # let options = bwz::Options::new().index(bwz::DEFAULT_SAMPLE_RATE)?;
    /// # let mut file = Vec::new();
    /// # bwz::compress(&b">chr1 first\nACGTac\ngtAC\n>chr2\nTTT\n"[..], &mut file, &options)?;
    /// # let mut genome = bwz::Archive::open(Cursor::new(file), &options)?;
    /// assert_eq!(genome.regions(&[(1, 0..9), (0, 4..8)])?, [&b"TTT"[..], b"acgt"]);
    /// # Ok::<(), bwz::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] if no record has the number; otherwise as [`Archive::extract`].
    pub fn regions(&mut self, regions: &[(usize, Range<u64>)]) -> Result<Vec<Vec<u8>>> {
        if let Some(bases) = self.regions_if_right(regions)? {
            return Ok(bases);
        }
        self.read_records_from_blocks()?;
        let bases = self.regions_if_right(regions)?;
        Ok(bases.expect("records of the blocks are right"))
    }

    /// Returns bases like [`Archive::regions`], for records given by name. A name means the first
    /// record that has it. The names are compared with the blocks in the same pass.
    ///
    /// # Errors
    /// As [`Archive::region`].
    pub fn named_regions<N: AsRef<[u8]>>(
        &mut self,
        regions: &[(N, Range<u64>)],
    ) -> Result<Vec<Vec<u8>>> {
        let names: Vec<&[u8]> = regions
            .iter()
            .map(|(name, _)| name.as_ref())
            .collect();
        let listed = self.look_up(&names)?;
        if let Some(numbers) = listed.into_iter().collect::<Option<Vec<usize>>>() {
            let ranges = regions.iter().map(|(_, range)| range.clone());
            let numbered: Vec<(usize, Range<u64>)> = numbers.into_iter().zip(ranges).collect();
            if let Some(bases) = self.regions_if_right(&numbered)? {
                return Ok(bases);
            }
        }
        // A table lacks a name, or an entry is wrong.
        let found = self.find_records(&names)?;
        let mut numbered = Vec::with_capacity(regions.len());
        for (number, (name, range)) in found.into_iter().zip(regions) {
            let Some(number) = number else {
                let name = String::from_utf8_lossy(name.as_ref()).into_owned();
                return Err(Error::Usage(format!("there is no record `{name}`").into()));
            };
            numbered.push((number, range.clone()));
        }
        self.regions(&numbered)
    }

    /// Returns the bases of records, or `None` if the blocks contradict the entry of one of them.
    fn regions_if_right(
        &mut self,
        regions: &[(usize, Range<u64>)],
    ) -> Result<Option<Vec<Vec<u8>>>> {
        self.named_records()?;
        let Archive {
            input,
            options,
            contents,
            cost,
            layouts,
            records,
            ..
        } = self;
        let records = &mut records.as_mut().expect("just read").0;
        let within = |(number, range): &(usize, Range<u64>)| {
            let Some(record) = records.get(*number) else {
                return Err(Error::Usage(
                    format!("there is no record of number {number}").into(),
                ));
            };
            let end = range.end.min(record.length);
            Ok((record, range.start.min(end)..end))
        };
        let wanted = regions
            .iter()
            .map(within)
            .collect::<Result<Vec<_>>>()?;
        let numbers: BTreeSet<usize> = regions
            .iter()
            .map(|(number, _)| *number)
            .collect();
        let named = numbers.iter().map(|&number| &records[number]);
        let unchecked: Vec<&RecordInfo> = named
            .filter(|record| record.is_unchecked)
            .collect();
        let mut search = FileSearch {
            input,
            options,
            contents,
            cost,
            layouts,
        };
        let bases = search.bases(&wanted, &unchecked)?;
        if bases.is_some() {
            for number in numbers {
                records[number].is_unchecked = false;
            }
        }
        Ok(bases)
    }

    /// Returns qualities of FASTQ records, with the record numbers and ranges of
    /// [`Archive::regions`].
    ///
    /// ```
    /// # use std::io::Cursor;
    /// # let options = bwz::Options::new().index(bwz::DEFAULT_SAMPLE_RATE)?;
    /// # let mut file = Vec::new();
    /// # bwz::compress(&b"@r\nACGTAC\n+\nIIII##\n@s\nGG\n+\nAB\n"[..], &mut file, &options)?;
    /// # let mut reads = bwz::Archive::open(Cursor::new(file), &options)?;
    /// assert_eq!(reads.qualities(&[(1, 0..9), (0, 3..5)])?, [&b"AB"[..], b"I#"]);
    /// # Ok::<(), bwz::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] if no record has the number, or the record has no qualities; otherwise as
    /// [`Archive::extract`].
    pub fn qualities(&mut self, regions: &[(usize, Range<u64>)]) -> Result<Vec<Vec<u8>>> {
        let raw_size = self.raw_size();
        let mut ranges = Vec::with_capacity(regions.len());
        for (number, range) in regions {
            let Some(record) = self.records()?.get(*number) else {
                return Err(Error::Usage(
                    format!("there is no record of number {number}").into(),
                ));
            };
            let Some(first) = record.quality_offset else {
                let name = String::from_utf8_lossy(&record.name);
                return Err(Error::Usage(
                    format!("record `{name}` has no qualities").into(),
                ));
            };
            let end = range.end.min(record.length);
            let start = range.start.min(end);
            // Qualities of several lines are read as a whole, whatever the line width.
            let raw = match record.length <= record.line_bases {
                true => first + start..first + end,
                false => first..first,
            };
            ranges.push((raw, start..end, record.length));
        }
        let tight: Vec<_> = ranges
            .iter()
            .map(|(raw, ..)| raw.start.min(raw_size)..raw.end.min(raw_size))
            .collect();
        let mut all = self.extract_all(&tight)?;
        for (qualities, (raw, wanted, length)) in all.iter_mut().zip(ranges) {
            if raw.is_empty() && !wanted.is_empty() {
                let lines = self.quality_lines(raw.start, length)?;
                let within = wanted.start as usize..wanted.end as usize;
                *qualities = lines.get(within).unwrap_or_default().to_vec();
            }
        }
        Ok(all)
    }

    /// Returns the qualities of a record that start at raw offset `start`, without line ends.
    fn quality_lines(&mut self, start: u64, length: u64) -> Result<Vec<u8>> {
        let raw_size = self.raw_size();
        let mut size = length + length / 32 + 2;
        loop {
            let end = start.saturating_add(size).min(raw_size);
            let mut qualities = self.extract(start.min(end)..end)?;
            qualities.retain(|byte| !byte.is_ascii_whitespace());
            if qualities.len() as u64 >= length || end == raw_size {
                qualities.truncate(length as usize);
                return Ok(qualities);
            }
            size = size.saturating_mul(2);
        }
    }

    /// Finds the place of the byte at each raw offset: its record, and the number of its base
    /// there.
    ///
    /// # Errors
    /// As [`Archive::extract`].
    pub fn places(&mut self, offsets: &[u64]) -> Result<Vec<Place>> {
        let places = self.file_search().places(offsets)?;
        if self.records.is_some() {
            let numbers = places.iter().filter_map(|place| place.base);
            let some: BTreeSet<usize> = numbers.map(|(n, _)| n as usize).collect();
            let some: Vec<usize> = some.into_iter().take(CONFIRMED).collect();
            if !self.confirm(&some)? {
                self.read_records_from_blocks()?;
            }
        }
        Ok(places)
    }

    /// Returns the raw offset just behind each stretch, such as a match. A stretch is given by its
    /// raw offset and its length. If a base is at the offset, the length counts bases, and bytes
    /// between bases are skipped. Otherwise it counts bytes.
    ///
    /// ```
    /// # use std::io::Cursor;
    /// # let options = bwz::Options::new().index(bwz::DEFAULT_SAMPLE_RATE)?;
    /// # let mut file = Vec::new();
    /// # bwz::compress(&b">chr1\nACGTac\ngtAC\n"[..], &mut file, &options)?;
    /// # let mut genome = bwz::Archive::open(Cursor::new(file), &options)?;
    /// let start = genome.locate(&["ACGTAC"], 1)?[0].positions[0];
    /// assert_eq!(genome.ends(&[(start, 6), (start, 8), (0, 5)])?, [12, 15, 5]);
    /// # Ok::<(), bwz::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Archive::extract`]. [`Error::Format`] if a stretch goes beyond the last record.
    pub fn ends(&mut self, stretches: &[(u64, u64)]) -> Result<Vec<u64>> {
        self.file_search().ends(stretches)
    }

    /// Compares the tables of records and of residues with the blocks, for all frames that are
    /// searched by sequence. Decodes the blocks for that.
    ///
    /// [`decompress`](crate::decompress()) restores nothing from these tables, so it does not look
    /// at them. A search detects most errors in a table, and then works without it.
    ///
    /// # Errors
    /// [`Error::Format`] if a table contradicts the blocks; otherwise as [`Archive::count`].
    pub fn check_tables(&mut self) -> Result<()> {
        self.file_search().check_tables()
    }
}
