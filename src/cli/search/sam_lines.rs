//! The hits of reads, in SAM (samtools.github.io/hts-specs/SAMv1.pdf).
//!
//! | field | content |
//! |---|---|
//! | QNAME | the name up to the first blank, without `/1` or `/2` at its end |
//! | FLAG | 16 on the reverse strand; 256 for all hits of a read but the primary one; 4 if it has none. Of a pair: 1, 2 if proper, 64 and 128 for the first and second read, 8 and 32 if the mate has no hit or is reversed |
//! | MAPQ | 60 if the read has one hit, else -10 log10(1 - 1/n) of n hits, rounded |
//! | CIGAR | the whole read as matching |
//! | RNEXT, PNEXT | the place of the mate's primary hit; a read without a hit gets its mate's place |
//! | TLEN | in primary lines, number of bases from the first base of both reads to the last, if both are in one record |
//! | SEQ, QUAL | the read and its qualities, on the strand of the hit; `*` in hits that are not the primary one |
//! | NM, MD | the number of differing bases, and which; letters other than ACGTU count as differing |
//!
//! The primary hit is the first one. For the reads of a pair it is the hit in [`closest_pair`], if
//! there is such a pair.

use crate::cli::search::mate_pairs::{Hit, Read, closest_pair};
use crate::cli::search::pattern_batch::Mate;
use crate::cli::search::unique_names::NameOrder;
use bwz::{Error, RecordInfo, Result};
use std::io::{self, Write};

/// Maximum bytes of a read's name in SAM.
const LONGEST_NAME: usize = 254;

/// The settings for reads in SAM.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SamSettings {
    /// True if records of one name get different names.
    pub rename_duplicates: bool,
    /// Maximum number of bases from the first to the last base of a proper pair.
    pub longest_pair: u64,
}

/// Appends the header lines, and renames the records to the names in the header.
///
/// # Errors
/// [`Error::Usage`] if two records have one name, or if SAM does not allow a record's name.
pub(crate) fn header(
    text: &mut Vec<u8>,
    records: &mut [RecordInfo],
    settings: SamSettings,
) -> Result<()> {
    let shown: Vec<usize> = (0..records.len())
        .filter(|&n| records[n].length > 0)
        .collect();
    let names = records
        .iter()
        .map(|record| &record.name[..])
        .collect();
    let names = NameOrder::new(names, shown.clone());
    if !settings.rename_duplicates {
        names.check("records", "SAM")?;
    }
    for (n, name) in names.renamed() {
        records[n].name = name;
    }
    text.extend_from_slice(b"@HD\tVN:1.6\tSO:unsorted\tGO:query\n");
    for &n in &shown {
        let RecordInfo { name, length, .. } = &records[n];
        if matches!(name[..], [] | [b'*' | b'=', ..]) {
            let number = n + 1;
            let name = String::from_utf8_lossy(name);
            let what = format!(
                "record {number} is called `{name}`: SAM's names are not empty and begin with neither \
                 * nor =; without --sam it is searched as it is"
            );
            return Err(Error::Usage(what.into()));
        }
        text.extend_from_slice(b"@SQ\tSN:");
        text.extend_from_slice(name);
        writeln!(text, "\tLN:{length}")?;
    }
    Ok(writeln!(
        text,
        "@PG\tID:bwz\tPN:bwz\tVN:{}",
        env!("CARGO_PKG_VERSION")
    )?)
}

/// Returns the name of a read without `/1` or `/2` at its end, which tells it from its mate.
pub(crate) fn template_name(name: &[u8]) -> &[u8] {
    match name {
        [start @ .., b'/', b'1' | b'2'] if !start.is_empty() => start,
        _ => name,
    }
}

/// Appends the lines of a read, or of both reads of a pair.
///
/// # Errors
/// [`Error::Usage`] if the name of a read is longer than SAM allows.
pub(crate) fn template(
    text: &mut Vec<u8>,
    reads: &mut [Read],
    records: &[RecordInfo],
    settings: SamSettings,
) -> Result<()> {
    for read in &mut *reads {
        // A read without bases has no hits.
        if read.len() == 0 {
            (read.hits, read.count) = (Vec::new(), 0);
        }
    }
    let mut proper = false;
    if let [first, second] = reads
        && let Some(pair) = closest_pair([first, second], settings.longest_pair)
    {
        proper = true;
        first.take_first(pair.hits[0], pair.reverse == 0);
        second.take_first(pair.hits[1], pair.reverse == 1);
    }
    for (n, read) in reads.iter().enumerate() {
        let mate = if reads.len() == 2 {
            reads.get(1 - n)
        } else {
            None
        };
        ReadLines {
            read,
            mate,
            proper,
            records,
        }
        .write(text)?;
    }
    Ok(())
}

/// The lines of a read. The first hit is the primary one, for the read and for its mate.
struct ReadLines<'r> {
    read: &'r Read,
    mate: Option<&'r Read>,
    /// True if both primary hits are a proper pair.
    proper: bool,
    records: &'r [RecordInfo],
}

impl ReadLines<'_> {
    fn write(&self, text: &mut Vec<u8>) -> Result<()> {
        let ReadLines { read, records, .. } = self;
        if read.hits.is_empty() {
            return self.unmapped(text);
        }
        for (n, hit) in read.hits.iter().enumerate() {
            let bases = &read.strands[usize::from(hit.reverse)];
            let primary = n == 0;
            let strand = if hit.reverse { 0x10 } else { 0 };
            let proper = if self.proper && primary { 0x2 } else { 0 };
            let flag = self.flag() | strand | proper | if primary { 0 } else { 0x100 };
            self.name(text)?;
            write!(text, "\t{flag}\t")?;
            text.extend_from_slice(&records[hit.record].name);
            let quality = quality(read.count);
            write!(text, "\t{}\t{quality}\t{}M\t", hit.base + 1, bases.len())?;
            self.mate_fields(text, hit, primary)?;
            if primary {
                self.bases(text, hit.reverse);
            } else {
                text.extend_from_slice(b"*\t*");
            }
            text.push(b'\t');
            differences(text, bases, hit.reference.as_deref().unwrap_or(bases))?;
            text.push(b'\n');
        }
        Ok(())
    }

    /// Appends the line of a read without a hit, which gets the place of its mate.
    fn unmapped(&self, text: &mut Vec<u8>) -> Result<()> {
        self.name(text)?;
        write!(text, "\t{}\t", self.flag() | 0x4)?;
        match self.mate_hit() {
            Some(Hit { record, base, .. }) => {
                text.extend_from_slice(&self.records[*record].name);
                let position = base + 1;
                write!(text, "\t{position}\t0\t*\t=\t{position}\t0\t")?;
            }
            None => text.extend_from_slice(b"*\t0\t0\t*\t*\t0\t0\t"),
        }
        self.bases(text, false);
        text.push(b'\n');
        Ok(())
    }

    /// Appends the name. The text after a blank was cut off when the name was read.
    fn name(&self, text: &mut Vec<u8>) -> Result<()> {
        let name = template_name(&self.read.name);
        if name.len() > LONGEST_NAME {
            let size = name.len();
            let name = String::from_utf8_lossy(name);
            let what = format!(
                "the name of read `{name}` has {size} bytes, and SAM allows {LONGEST_NAME}: shorten it"
            );
            return Err(Error::Usage(what.into()));
        }
        text.extend_from_slice(if name.is_empty() { b"*" } else { name });
        Ok(())
    }

    /// Returns the flags that do not depend on the hit.
    fn flag(&self) -> u16 {
        let Some(mate) = self.mate else { return 0 };
        let which = if self.read.mate == Mate::First {
            0x40
        } else {
            0x80
        };
        let opposite = match mate.hits.first() {
            None => 0x8,
            Some(hit) if hit.reverse => 0x20,
            Some(_) => 0,
        };
        0x1 | which | opposite
    }

    fn mate_hit(&self) -> Option<&Hit> {
        self.mate.and_then(|mate| mate.hits.first())
    }

    /// Appends RNEXT, PNEXT and TLEN of a hit. A mate without a hit gets the place of the primary
    /// hit.
    fn mate_fields(&self, text: &mut Vec<u8>, hit: &Hit, primary: bool) -> io::Result<()> {
        let Some(mate) = self.mate else {
            text.extend_from_slice(b"*\t0\t0\t");
            return Ok(());
        };
        let next = mate.hits.first().unwrap_or(&self.read.hits[0]);
        if next.record == hit.record {
            text.push(b'=');
        } else {
            text.extend_from_slice(&self.records[next.record].name);
        }
        let is_together = primary && !mate.hits.is_empty() && next.record == hit.record;
        let length = if is_together {
            self.template_length(hit, mate, next)
        } else {
            0
        };
        write!(text, "\t{}\t{length}\t", next.base + 1)
    }

    /// Returns the number of bases from the first base of both reads to the last. It is negative
    /// for the read that begins later; if both begin together, for the second read.
    fn template_length(&self, hit: &Hit, mate: &Read, next: &Hit) -> i64 {
        let end = (hit.base + self.read.len()).max(next.base + mate.len());
        let length = (end - hit.base.min(next.base)) as i64;
        let is_first = self.read.mate == Mate::First;
        match hit.base < next.base || hit.base == next.base && is_first {
            true => length,
            false => -length,
        }
    }

    /// Appends SEQ and QUAL on a strand.
    fn bases(&self, text: &mut Vec<u8>, reverse: bool) {
        let Read {
            strands, qualities, ..
        } = self.read;
        let bases = &strands[usize::from(reverse)];
        text.extend_from_slice(if bases.is_empty() { b"*" } else { bases });
        text.push(b'\t');
        match (&qualities[..], reverse) {
            ([], _) => text.push(b'*'),
            (qualities, false) => text.extend_from_slice(qualities),
            (qualities, true) => text.extend(qualities.iter().rev()),
        }
    }
}

/// Appends the tags NM and MD (samtools.github.io/hts-specs/SAMtags.pdf).
fn differences(text: &mut Vec<u8>, read: &[u8], reference: &[u8]) -> io::Result<()> {
    let plain = |base: u8| match base.to_ascii_uppercase() {
        b'U' => b'T',
        base => base,
    };
    let same = |a: u8, b: u8| plain(a) == plain(b) && b"ACGT".contains(&plain(a));
    let mut differing = 0;
    let mut matching = 0;
    let mut shown = Vec::new();
    for (&base, &other) in read.iter().zip(reference) {
        if same(base, other) {
            matching += 1;
        } else {
            write!(
                shown,
                "{matching}{}",
                char::from(other.to_ascii_uppercase())
            )?;
            (differing, matching) = (differing + 1, 0);
        }
    }
    write!(text, "NM:i:{differing}\tMD:Z:")?;
    text.extend_from_slice(&shown);
    write!(text, "{matching}")
}

/// Returns MAPQ of a read with `hits` hits.
fn quality(hits: u64) -> u64 {
    match hits {
        0 | 1 => 60,
        n => (-10.0 * (1.0 - 1.0 / n as f64).log10()).round() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_shown_as_samtools_does() {
        let tags = |read: &[u8], reference: &[u8]| {
            let mut text = Vec::new();
            differences(&mut text, read, reference).unwrap();
            String::from_utf8(text).unwrap()
        };
        assert_eq!(tags(b"acGT", b"ACGt"), "NM:i:0\tMD:Z:4");
        assert_eq!(tags(b"ACGU", b"ACGt"), "NM:i:0\tMD:Z:4");
        assert_eq!(tags(b"ACGT", b"cCGN"), "NM:i:2\tMD:Z:0C2N0");
        assert_eq!(tags(b"ANNT", b"ANNT"), "NM:i:2\tMD:Z:1N0N1");
        assert_eq!(tags(b"", b""), "NM:i:0\tMD:Z:0");
    }

    #[test]
    fn many_hits_tell_little() {
        assert_eq!([1, 2, 3, 4, 5, 10].map(quality), [60, 3, 2, 1, 1, 0]);
    }
}
