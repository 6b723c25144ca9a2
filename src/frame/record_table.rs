//! The table Records of a frame, FORMAT.md section 5.2: the names of its records and the numbers of
//! their `.fai` lines. A reader gets both without decoding a block.
//!
//! The numbers are stored in columns. Each number is stored as its difference from a prediction
//! that is made from the columns before it; zstd makes these differences small.

use super::field_bytes::ensure;
use super::table_form::{from_form, to_form};
use crate::base::error::Flaw;
use crate::base::leb128;
use crate::filter::sequence::{Kind, ListedRecord, MOST_LISTED};

/// Maximum size of all names together, in bytes.
const MOST_NAMES: usize = 4 << 20;

/// The table is at most one part in `SHARE` of the bytes before it in the frame.
const SHARE: u64 = 16;

/// Maximum size of a table in plain form: the names with their ends, and six numbers per record.
const MOST_PLAIN: usize = 1 + 6 + MOST_NAMES + MOST_LISTED * (1 + 6 * 6);

/// Longest content of a table.
pub(crate) const LONGEST: u64 = 1 + MOST_PLAIN as u64;

const MISFIT: Flaw = Flaw("the frame's table of records is not valid");

/// True if `records` records with names of `name_bytes` bytes in all may be listed.
pub(crate) fn may_be_listed(records: usize, name_bytes: usize) -> bool {
    records <= MOST_LISTED && name_bytes <= MOST_NAMES
}

/// True if the table is small enough for a frame that has `frame_size` bytes so far.
pub(crate) fn fits(content: &[u8], frame_size: u64) -> bool {
    content.len() as u64 <= frame_size / SHARE
}

/// The content of the table of `records`. `None` if these records cannot have a table.
pub(crate) fn to_bytes(records: &[ListedRecord], kind: Kind) -> Option<Vec<u8>> {
    let (form, coded) = to_form(plain(records, kind)?);
    Some([&[form][..], &coded].concat())
}

/// The table in plain form. `None` if there are no records, or if a number of a record is too
/// large.
fn plain(records: &[ListedRecord], kind: Kind) -> Option<Vec<u8>> {
    let mut plain = Vec::new();
    leb128::write(records.len(), &mut plain);
    for record in records {
        plain.extend_from_slice(&record.name);
        plain.push(b'\n');
    }
    let mut put = |number: Option<u64>| -> Option<()> {
        leb128::write(
            number.filter(|&number| number < 1 << 40)? as usize,
            &mut plain,
        );
        Some(())
    };
    records
        .iter()
        .try_for_each(|record| put(Some(record.length)))?;
    records
        .iter()
        .try_for_each(|record| put(Some(record.line_bases)))?;
    records
        .iter()
        .try_for_each(|record| put(record.line_width.checked_sub(record.line_bases)))?;
    let mut before = 0;
    for record in records {
        put(Some(zigzag(record.offset, before)))?;
        before = end(record)?;
    }
    if kind == Kind::Fastq {
        for record in records {
            put(Some(zigzag(
                record.quality_offset?,
                expected_quality(record)?,
            )))?;
        }
    }
    records
        .iter()
        .try_for_each(|record| put(Some(u64::from(!record.is_regular))))?;
    (!records.is_empty()).then_some(plain)
}

/// Bytes of a record's lines of residues, line ends included, if the record is regular.
fn lines_size(record: &ListedRecord) -> Option<u64> {
    if record.line_bases == 0 {
        return Some(record.length);
    }
    let lines = record.length.div_ceil(record.line_bases);
    let end = record.line_width - record.line_bases;
    lines.checked_mul(end)?.checked_add(record.length)
}

/// The expected offset of the next header. Qualities are in lines as residues are.
fn end(record: &ListedRecord) -> Option<u64> {
    let start = record.quality_offset.unwrap_or(record.offset);
    start.checked_add(lines_size(record)?)
}

/// The expected offset of the qualities: behind the residues and a line of `+`.
fn expected_quality(record: &ListedRecord) -> Option<u64> {
    let plus = 1 + record.line_width - record.line_bases;
    record
        .offset
        .checked_add(lines_size(record)?)?
        .checked_add(plus)
}

/// Parses the content of the table of a frame of `kind`. Takes memory for at most as many records
/// as a table may have.
pub(crate) fn from_bytes(content: &[u8], kind: Kind) -> Result<Vec<ListedRecord>, Flaw> {
    let (&form, coded) = content.split_first().ok_or(MISFIT)?;
    ensure(form <= 1, MISFIT.0)?;
    let plain = from_form(form == 1, coded, MOST_PLAIN, MISFIT)?;
    let mut rest = &plain[..];
    let count = leb128::read(&mut rest).map_err(|_| MISFIT)?;
    ensure((1..=MOST_LISTED).contains(&count), MISFIT.0)?;
    columns(rest, count, kind)
}

fn columns(mut rest: &[u8], count: usize, kind: Kind) -> Result<Vec<ListedRecord>, Flaw> {
    // The shortest record takes six bytes.
    ensure(rest.len() >= 6 * count, MISFIT.0)?;
    let mut records = vec![ListedRecord::default(); count];
    for record in &mut records {
        let end = memchr::memchr(b'\n', rest).ok_or(MISFIT)?;
        record.name = rest[..end].to_vec();
        rest = &rest[end + 1..];
    }
    let mut number = || {
        leb128::read(&mut rest)
            .map(|number| number as u64)
            .map_err(|_| MISFIT)
    };
    for record in &mut records {
        record.length = number()?;
    }
    for record in &mut records {
        record.line_bases = number()?;
        ensure(record.line_bases <= record.length, MISFIT.0)?;
    }
    for record in &mut records {
        record.line_width = record.line_bases + number()?;
    }
    let gaps = (0..count)
        .map(|_| number())
        .collect::<Result<Vec<_>, _>>()?;
    let has_qualities = kind == Kind::Fastq;
    let quality_gaps = (0..if has_qualities { count } else { 0 }).map(|_| number());
    let quality_gaps = quality_gaps.collect::<Result<Vec<_>, _>>()?;
    let mut before = 0;
    for (n, record) in records.iter_mut().enumerate() {
        record.offset = unzigzag(gaps[n], before)?;
        if let Some(&gap) = quality_gaps.get(n) {
            let expected = expected_quality(record).ok_or(MISFIT)?;
            record.quality_offset = Some(unzigzag(gap, expected)?);
        }
        before = end(record).ok_or(MISFIT)?;
    }
    for record in &mut records {
        let irregular = number()?;
        ensure(irregular <= 1, MISFIT.0)?;
        record.is_regular = irregular == 0;
    }
    ensure(rest.is_empty(), MISFIT.0)?;
    Ok(records)
}

/// `number` minus `expected`, folded to a number that is small if both are near.
pub(super) fn zigzag(number: u64, expected: u64) -> u64 {
    let difference = number.wrapping_sub(expected) as i64;
    ((difference << 1) ^ (difference >> 63)) as u64
}

pub(super) fn unzigzag(coded: u64, expected: u64) -> Result<u64, Flaw> {
    let difference = (coded >> 1) as i64 ^ -((coded & 1) as i64);
    expected
        .checked_add_signed(difference)
        .ok_or(MISFIT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::sequence::{BlockRecords, LineState, RecordList};

    fn list(kind: Kind, count: u64) -> Vec<ListedRecord> {
        let mut raw = Vec::new();
        for n in 0..count {
            let bases = [b'A'].repeat((n * 37 % 200) as usize);
            match kind {
                Kind::Fasta => {
                    raw.extend(format!(">r{n} text\n").bytes());
                    for line in bases.chunks(60) {
                        raw.extend([line, b"\n"].concat());
                    }
                }
                Kind::Fastq => {
                    raw.extend(format!("@r{n}/1\n").bytes());
                    raw.extend([&bases[..], b"\n+\n", &bases, b"\n"].concat());
                }
            }
        }
        let (text, layout) =
            crate::filter::sequence::split(&raw, kind, LineState::default()).unwrap();
        let mut list = RecordList::default();
        list.add(100, BlockRecords::listed(&layout, &text, false).unwrap());
        list.finish(kind)
    }

    fn read(content: &[u8], kind: Kind) -> Result<Vec<ListedRecord>, Flaw> {
        from_bytes(content, kind)
    }

    #[test]
    fn a_table_survives_in_both_forms() {
        for kind in [Kind::Fasta, Kind::Fastq] {
            for count in [1, 2, 500] {
                let records = list(kind, count);
                let content = to_bytes(&records, kind).unwrap();
                assert_eq!(read(&content, kind).unwrap(), records, "{kind:?} {count}");
                assert!(content.len() < 30 + 8 * count as usize, "{}", content.len());
                for cut in 0..content.len() {
                    assert!(read(&content[..cut], kind).is_err());
                }
                assert!(read(&[&content[..], &[0]].concat(), kind).is_err());
            }
        }
    }

    #[test]
    fn a_table_is_a_sixteenth_of_the_frame_at_most() {
        assert!(fits(&[0; 100], SHARE * 100) && !fits(&[0; 100], SHARE * 100 - 1));
    }

    #[test]
    fn changed_bytes_are_read_or_refused() {
        for kind in [Kind::Fasta, Kind::Fastq] {
            let plain = plain(&list(kind, 9), kind).unwrap();
            let content = [&[0][..], &plain].concat();
            for at in 0..content.len() {
                for byte in [0, 1, 0x7F, 0x80, 0xFF] {
                    let mut changed = content.clone();
                    changed[at] = byte;
                    let _ = read(&changed, kind);
                }
            }
        }
    }
}
