//! Records, as they are read: names, and bases that are A, C, G, T or no base.

use crate::allocation;
use crate::error::{Error, Result};
use crate::options::Options;

/// The end of a record in a text of many.
pub const END: u8 = 0;

/// What matches nothing. It is above [`END`], so that the suffixes that end sort first, and below
/// all bases.
pub const NO_BASE: u8 = 1;

/// The least byte that matches.
pub const LEAST_BASE: u8 = 2;

/// Bytes of memory for each byte of the text of records while its suffixes are sorted, and while
/// the walk of their intervals keeps lists of them.
pub const SORTING: u64 = 13;

/// On which strands things are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strands {
    /// As the sequences are given.
    Forward,
    /// And their reverse complements.
    #[default]
    Both,
}

/// Records of nucleotides, numbered from 0.
#[derive(Clone, Debug, Default)]
pub struct Sequences {
    names: Vec<u8>,
    name_ends: Vec<usize>,
    bases: Vec<u8>,
    ends: Vec<usize>,
    /// Bytes of their text above which they are counted alone.
    most: Option<u64>,
    /// Those that were counted alone, and their bases.
    counted: Option<Counted>,
}

/// Records of which nothing is kept.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    records: usize,
    bases: u64,
}

impl Sequences {
    /// No records yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// No records yet. Where there come more of them than can be searched within the memory that
    /// options allow, they are counted and nothing is kept: any search of them is an error, which
    /// says what memory would do.
    #[must_use]
    pub fn within(options: &Options) -> Self {
        Sequences { most: Some(options.memory_limit() / SORTING), ..Self::default() }
    }

    /// True if records are counted alone, since there is no memory to search them.
    #[must_use]
    pub fn are_too_many(&self) -> bool {
        self.counted.is_some()
    }

    /// Adds a record, which may be empty. It takes a byte of memory for each of its bases.
    ///
    /// # Errors
    /// [`Error::Io`] where there is no memory.
    pub fn add(&mut self, name: &[u8], bases: &[u8]) -> Result<()> {
        let size = self.total() + self.len() as u64 + bases.len() as u64 + 1;
        if self.counted.is_none() && self.most.is_some_and(|most| size > most) {
            let counted = Counted { records: self.len(), bases: self.total() };
            *self = Sequences { most: self.most, counted: Some(counted), ..Self::default() };
        }
        if let Some(counted) = &mut self.counted {
            counted.records += 1;
            counted.bases += bases.len() as u64;
            return Ok(());
        }
        let room = allocation::reserve(&mut self.names, name.len())
            .and(allocation::reserve(&mut self.bases, bases.len()))
            .and(allocation::reserve(&mut self.name_ends, 1))
            .and(allocation::reserve(&mut self.ends, 1));
        room.ok_or_else(|| Error::out_of_memory("for the sequences"))?;
        self.names.extend_from_slice(name);
        self.name_ends.push(self.names.len());
        self.bases.extend(bases.iter().map(|&byte| base(byte)));
        self.ends.push(self.bases.len());
        Ok(())
    }

    /// How many records there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counted.map_or(self.ends.len(), |counted| counted.records)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bases of all records.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counted.map_or(self.bases.len() as u64, |counted| counted.bases)
    }

    /// A record's name.
    ///
    /// # Panics
    /// If there is no such record, or nothing was kept of them.
    #[must_use]
    pub fn name(&self, record: u32) -> &[u8] {
        let n = record as usize;
        &self.names[n.checked_sub(1).map_or(0, |n| self.name_ends[n])..self.name_ends[n]]
    }

    /// A record's bases: capital A, C, G and T; 1 where there is something else.
    ///
    /// # Panics
    /// If there is no such record, or nothing was kept of them.
    #[must_use]
    pub fn bases(&self, record: u32) -> &[u8] {
        let n = record as usize;
        &self.bases[n.checked_sub(1).map_or(0, |n| self.ends[n])..self.ends[n]]
    }
}

fn base(byte: u8) -> u8 {
    match byte.to_ascii_uppercase() {
        b'U' => b'T',
        base @ (b'A' | b'C' | b'G' | b'T') => base,
        _ => NO_BASE,
    }
}

/// The base that stands opposite.
pub fn complement(base: u8) -> u8 {
    match base {
        b'A' => b'T',
        b'C' => b'G',
        b'G' => b'C',
        b'T' => b'A',
        none => none,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{longest_common, read_overlaps};
    use super::*;

    #[test]
    fn records_for_which_there_is_no_memory_are_counted() {
        let options = Options::new().memory(SORTING * 100);
        let mut all = Sequences::within(&options);
        for n in 0..30 {
            assert_eq!(all.are_too_many(), n > 10, "{n}");
            all.add(b"x", b"ACGTACGTA").unwrap();
        }
        assert_eq!((all.len(), all.total(), all.bases.capacity()), (30, 270, 0));
        let none = Sequences::new();
        for (a, b) in [(&all, &none), (&none, &all)] {
            let found = longest_common(a, b, Strands::Both, &options);
            assert!(matches!(found, Err(Error::Limit { needed, .. }) if needed >= SORTING * 300));
        }
        assert!(matches!(
            read_overlaps(&all, 5, Strands::Both, &options),
            Err(Error::Limit { .. })
        ));
    }

    #[test]
    fn records_are_kept_as_bases() {
        let mut all = Sequences::new();
        all.add(b"x", b"acgtuNRy-").unwrap();
        all.add(b"", b"").unwrap();
        all.add(b"z", b"A").unwrap();
        assert_eq!((all.len(), all.total()), (3, 10));
        assert_eq!((all.name(0), all.bases(0)), (&b"x"[..], &b"ACGTT\x01\x01\x01\x01"[..]));
        assert_eq!((all.name(1), all.bases(1)), (&b""[..], &b""[..]));
        assert_eq!((all.name(2), all.bases(2)), (&b"z"[..], &b"A"[..]));
    }
}
