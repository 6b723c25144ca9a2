//! Stretches of records as people name them: as samtools does, `chrIV:1,000-2,000`, or in BED
//! files.

use bwz::{Error, Result};
use std::ops::Range;
use std::path::Path;

/// A stretch of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// What the output calls it.
    pub title: Vec<u8>,
    pub name: Vec<u8>,
    /// From 0, without the end.
    pub range: Range<u64>,
    pub reverse: bool,
}

impl Region {
    /// Reads samtools' notation: `NAME`, `NAME:START`, `NAME:START-` and `NAME:START-END`, from 1
    /// and with the end. A name may have colons: where all of it is one, it is.
    pub fn parse(text: &[u8], is_name: impl Fn(&[u8]) -> bool) -> Result<Self> {
        let whole = Region {
            title: text.to_vec(),
            name: text.to_vec(),
            range: 0..u64::MAX,
            reverse: false,
        };
        let colon = text.iter().rposition(|&byte| byte == b':');
        match colon {
            Some(at) if !is_name(text) && is_name(&text[..at]) => {
                let range = range(&text[at + 1..]).ok_or_else(|| {
                    let shown = String::from_utf8_lossy(text);
                    let what = format!("`{shown}` is no region: write NAME:START-END, from 1");
                    Error::Usage(what.into())
                })?;
                Ok(Region { name: text[..at].to_vec(), range, ..whole })
            }
            Some(at) if !is_name(text) && range(&text[at + 1..]).is_some() => {
                Ok(Region { name: text[..at].to_vec(), ..whole })
            }
            _ => Ok(whole),
        }
    }

    /// The title with the mark that samtools gives to the other strand.
    pub fn title(&self) -> Vec<u8> {
        let mark: &[u8] = if self.reverse { b"/rc" } else { b"" };
        [&self.title, mark].concat()
    }
}

/// `START`, `START-` or `START-END`.
fn range(text: &[u8]) -> Option<Range<u64>> {
    let text: String = str::from_utf8(text).ok()?.chars().filter(|&c| c != ',').collect();
    let number = |digits: &str| match digits.bytes().all(|byte| byte.is_ascii_digit()) {
        true => digits.parse::<u64>().ok(),
        false => None,
    };
    let (start, end) = text.split_once('-').unwrap_or((&text, ""));
    let end = if end.is_empty() { u64::MAX } else { number(end)? };
    let start = number(start)?.saturating_sub(1);
    (start <= end).then_some(start..end)
}

/// The regions of a BED file: name, start from 0, end that is not included; a sixth field of `-` is
/// the other strand.
pub fn read_bed(text: &[u8], path: &Path) -> Result<Vec<Region>> {
    let mut regions = Vec::new();
    for (line, number) in text.split(|&byte| byte == b'\n').zip(1..) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let passed = [&b"#"[..], b"track", b"browser"];
        if line.is_empty() || passed.iter().any(|start| line.starts_with(start)) {
            continue;
        }
        let region = bed_line(line).ok_or_else(|| {
            let path = path.display();
            let what = format!("{path}: line {number} is not NAME, START and END, parted by tabs");
            Error::Usage(what.into())
        })?;
        regions.push(region);
    }
    Ok(regions)
}

fn bed_line(line: &[u8]) -> Option<Region> {
    let fields: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
    let [name, start, end, ..] = fields[..] else { return None };
    let number = |field: &[u8]| str::from_utf8(field).ok()?.parse::<u64>().ok();
    let (start, end) = (number(start)?, number(end)?);
    let title = [name, format!(":{}-{end}", start + 1).as_bytes()].concat();
    let reverse = fields.get(5) == Some(&&b"-"[..]);
    (start <= end).then(|| Region { title, name: name.to_vec(), range: start..end, reverse })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_those_of_samtools() {
        let is_name = |name: &[u8]| [&b"chr1"[..], b"HLA:A*01:01", b"HLA:A*01"].contains(&name);
        for (text, name, range) in [
            ("chr1", "chr1", 0..u64::MAX),
            ("chr1:1000-2000", "chr1", 999..2000),
            ("chr1:1,000-2,000", "chr1", 999..2000),
            ("chr1:1000", "chr1", 999..u64::MAX),
            ("chr1:1000-", "chr1", 999..u64::MAX),
            ("chr1:0-5", "chr1", 0..5),
            ("HLA:A*01:01", "HLA:A*01:01", 0..u64::MAX),
            ("HLA:A*01:01:3-4", "HLA:A*01:01", 2..4),
            ("HLA:A*01:7", "HLA:A*01", 6..u64::MAX),
            ("absent:5-6", "absent", 0..u64::MAX),
            ("absent", "absent", 0..u64::MAX),
        ] {
            let region = Region::parse(text.as_bytes(), is_name).unwrap();
            assert_eq!(String::from_utf8(region.name).unwrap(), name, "{text}");
            assert_eq!(region.range, range, "{text}");
        }
        for text in ["chr1:", "chr1:x", "chr1:9-3", "chr1:1-2-3", "chr1:-5"] {
            assert!(Region::parse(text.as_bytes(), is_name).is_err(), "{text}");
        }
    }

    #[test]
    fn bed_counts_from_0() {
        let bed = b"# c\ntrack x\nchr1\t999\t2000\nchr2\t0\t5\tn\t0\t-\r\n\n";
        let regions = read_bed(bed, Path::new("x.bed")).unwrap();
        assert_eq!(
            (&regions[0].title()[..], regions[0].range.clone()),
            (&b"chr1:1000-2000"[..], 999..2000)
        );
        assert_eq!((&regions[1].title()[..], regions[1].reverse), (&b"chr2:1-5/rc"[..], true));
        for bad in ["chr1 1 2\n", "chr1\t5\n", "chr1\t5\t4\n", "chr1\ta\tb\n"] {
            assert!(read_bed(bad.as_bytes(), Path::new("x.bed")).is_err(), "{bad}");
        }
    }
}
