//! What reads came to, in SAM (samtools.github.io/hts-specs/SAMv1.pdf).
//!
//! | field | what it says |
//! |---|---|
//! | FLAG | 0, or 16 on the reverse strand; 256 more for all hits of a read but its first; 4 where it has none |
//! | MAPQ | 60 where the read has one hit, else -10 log10(1 - 1/n) of n hits, rounded |
//! | CIGAR | all of the read matches |
//! | SEQ | the read, on the strand of the hit; `*` in hits that are not the first |
//! | NM, MD | how many bases differ, and which; letters that are none of ACGT count as differing |

use bwz::RecordInfo;
use std::io::{self, Write};

/// A place of a read: the record, the base from 0, and the strand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    pub record: usize,
    pub base: u64,
    pub reverse: bool,
    /// The bases that stand there, where they may differ from the read's.
    pub reference: Option<Vec<u8>>,
}

/// Appends the header lines.
pub fn header(text: &mut Vec<u8>, records: &[RecordInfo]) -> io::Result<()> {
    text.extend_from_slice(b"@HD\tVN:1.6\tSO:unsorted\tGO:query\n");
    for record in records.iter().filter(|record| record.length > 0) {
        text.extend_from_slice(b"@SQ\tSN:");
        text.extend_from_slice(&record.name);
        writeln!(text, "\tLN:{}", record.length)?;
    }
    writeln!(text, "@PG\tID:bwz\tPN:bwz\tVN:{}", env!("CARGO_PKG_VERSION"))
}

/// Appends the lines of a read, which stands `count` times in all records.
pub fn read(
    text: &mut Vec<u8>,
    name: &[u8],
    strands: [&[u8]; 2],
    (hits, count): (&[Hit], u64),
    records: &[RecordInfo],
) -> io::Result<()> {
    let name = if name.is_empty() { b"*" } else { name };
    let sequence = |bytes| if <[u8]>::is_empty(bytes) { b"*" } else { bytes };
    if hits.is_empty() {
        text.extend_from_slice(name);
        text.extend_from_slice(b"\t4\t*\t0\t0\t*\t*\t0\t0\t");
        text.extend_from_slice(sequence(strands[0]));
        text.extend_from_slice(b"\t*\n");
    }
    for (n, hit) in hits.iter().enumerate() {
        let flag = if hit.reverse { 16 } else { 0 } + if n > 0 { 256 } else { 0 };
        let bases = strands[usize::from(hit.reverse)];
        text.extend_from_slice(name);
        write!(text, "\t{flag}\t")?;
        text.extend_from_slice(&records[hit.record].name);
        write!(text, "\t{}\t{}\t{}M\t*\t0\t0\t", hit.base + 1, quality(count), bases.len())?;
        text.extend_from_slice(if n > 0 { b"*" } else { sequence(bases) });
        text.extend_from_slice(b"\t*\t");
        differences(text, bases, hit.reference.as_deref().unwrap_or(bases))?;
        text.push(b'\n');
    }
    Ok(())
}

/// Appends the tags NM and MD (samtools.github.io/hts-specs/SAMtags.pdf).
fn differences(text: &mut Vec<u8>, read: &[u8], reference: &[u8]) -> io::Result<()> {
    let same = |a: u8, b: u8| a.eq_ignore_ascii_case(&b) && b"ACGTacgt".contains(&a);
    let (mut differing, mut matching, mut shown) = (0, 0, Vec::new());
    for (&base, &other) in read.iter().zip(reference) {
        if same(base, other) {
            matching += 1;
        } else {
            write!(shown, "{matching}{}", char::from(other.to_ascii_uppercase()))?;
            (differing, matching) = (differing + 1, 0);
        }
    }
    write!(text, "NM:i:{differing}\tMD:Z:")?;
    text.extend_from_slice(&shown);
    write!(text, "{matching}")
}

/// MAPQ of a read with so many hits.
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
        assert_eq!(tags(b"ACGT", b"cCGN"), "NM:i:2\tMD:Z:0C2N0");
        assert_eq!(tags(b"ANNT", b"ANNT"), "NM:i:2\tMD:Z:1N0N1");
        assert_eq!(tags(b"", b""), "NM:i:0\tMD:Z:0");
    }

    #[test]
    fn many_hits_tell_little() {
        assert_eq!([1, 2, 3, 4, 5, 10].map(quality), [60, 3, 2, 1, 1, 0]);
    }
}
