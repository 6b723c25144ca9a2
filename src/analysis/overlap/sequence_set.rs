//! Records, as they are read: names, and bytes that are A, C, G, T or no base.

use crate::base::allocation;
use crate::base::error::{Error, Result};
use crate::options::Options;

/// End of a record in a text of many records.
pub(super) const END: u8 = 0;

/// Byte that matches nothing. It is above [`END`], so that the suffixes that end sort first, and
/// below all bases.
pub(super) const NO_BASE: u8 = 1;

/// Least byte that matches.
pub(super) const LEAST_BASE: u8 = 2;

/// Bytes of memory for each byte of the text of records while its suffixes are sorted, and while
/// the walk of their intervals keeps lists of them.
pub(super) const SORTING: u64 = 13;

/// Strands that are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strands {
    /// The sequences as they are given.
    Forward,
    /// The sequences and their reverse complements.
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
    /// Creates a set without records.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty set, within the memory that the options allow. If more records are added than can
    /// be searched in it, they are only counted, and any search of them is an error that says how
    /// much memory would do.
    #[must_use]
    pub fn within(options: &Options) -> Self {
        Sequences {
            most: Some(options.memory_limit() / SORTING),
            ..Self::default()
        }
    }

    /// Returns true if records are only counted, since there is no memory to search them.
    #[must_use]
    pub fn are_too_many(&self) -> bool {
        self.counted.is_some()
    }

    /// Adds a record, which may be empty. It takes one byte of memory for each of its bases.
    ///
    /// # Errors
    /// [`Error::Io`] if there is no memory.
    pub fn add(&mut self, name: &[u8], bases: &[u8]) -> Result<()> {
        let size = self.total() + self.len() as u64 + bases.len() as u64 + 1;
        if self.counted.is_none() && self.most.is_some_and(|most| size > most) {
            let counted = Counted {
                records: self.len(),
                bases: self.total(),
            };
            *self = Sequences {
                most: self.most,
                counted: Some(counted),
                ..Self::default()
            };
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
        self.bases
            .extend(bases.iter().map(|&byte| base(byte)));
        self.ends.push(self.bases.len());
        Ok(())
    }

    /// Number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counted
            .map_or(self.ends.len(), |counted| counted.records)
    }

    /// Returns true if there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of bases in all records.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counted
            .map_or(self.bases.len() as u64, |counted| counted.bases)
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

    /// Bases of a record: capital A, C, G and T; 1 for anything else.
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

/// Base opposite to `base` on the other strand.
pub(super) fn complement(base: u8) -> u8 {
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
        assert_eq!(
            (all.name(0), all.bases(0)),
            (&b"x"[..], &b"ACGTT\x01\x01\x01\x01"[..])
        );
        assert_eq!((all.name(1), all.bases(1)), (&b""[..], &b""[..]));
        assert_eq!((all.name(2), all.bases(2)), (&b"z"[..], &b"A"[..]));
    }
}
