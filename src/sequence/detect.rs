//! Whether a block is one of sequences, and where one may be cut.

use super::lines::{self, Kind, Lines, is_residues};

/// The part of a block that is looked at: so many windows of so many bytes.
const WINDOWS: usize = 16;
const WINDOW: usize = 4096;

/// Widths of lines that make sequences likely.
const WIDTHS: std::ops::RangeInclusive<usize> = 16..=1024;

/// The part of a file that says whether it is one of sequences.
const BEGINNING: usize = 1 << 20;

/// What the block holds, wherever in a file it stands, if most of it are sequences in lines.
pub fn detect(block: &[u8]) -> Option<Kind> {
    let step = (block.len() / WINDOWS).max(WINDOW);
    let windows = || block.chunks(step).map(|chunk| &chunk[..chunk.len().min(WINDOW)]);
    let size = windows().map(<[u8]>::len).sum::<usize>();
    let is_most = |count: fn(&[u8]) -> usize| windows().map(count).sum::<usize>() > size / 2;
    match () {
        () if is_most(in_fasta) => Some(Kind::Fasta),
        () if is_most(in_fastq) => Some(Kind::Fastq),
        () => None,
    }
}

/// Bytes in lines of residues that follow a header, or a line of residues as long, and in headers
/// that such lines follow.
fn in_fasta(window: &[u8]) -> usize {
    let mut total = 0;
    let mut lines = Lines(window);
    let Some(mut before) = lines.next() else { return 0 };
    for line in lines {
        if is_residues(line.bytes) {
            let len = line.bytes.len();
            if before.begins(b'>') {
                total += before.bytes.len() + len;
            } else if len == before.bytes.len() && WIDTHS.contains(&len) {
                total += len;
            }
        }
        before = line;
    }
    total
}

/// Bytes in whole records of FASTQ.
fn in_fastq(window: &[u8]) -> usize {
    let (mut lines, mut total) = (Lines(window), 0);
    while !lines.0.is_empty() {
        let behind = lines::read(lines).map(|(_, rest)| rest);
        if let Some(rest) = behind {
            total += lines.0.len() - rest.0.len();
            lines = rest;
        } else {
            lines.next();
        }
    }
    total
}

/// What a file that begins with `block` holds, where it is one of sequences as a whole.
pub fn decide(block: &[u8]) -> Option<Kind> {
    let begins = Lines(block).find(|line| !line.bytes.is_empty())?;
    let beginning = &block[..block.len().min(BEGINNING)];
    if begins.begins(b'@') {
        // The last record may be cut off.
        let whole = &beginning[..cut(beginning, Kind::Fastq).unwrap_or(beginning.len())];
        let total = in_fastq(whole);
        return (total > 0 && total * 10 >= whole.len() * 9).then_some(Kind::Fastq);
    }
    let (mut residues, mut others) = (0, 0);
    for line in Lines(beginning) {
        match () {
            () if line.begins(b'>') || line.begins(b';') => {}
            () if is_residues(line.bytes) => residues += line.bytes.len(),
            () => others += line.bytes.len(),
        }
    }
    // One line in ten may be something else; a file of headers alone is none of sequences.
    let is_whole = residues > 0 && residues / 9 >= others;
    ((begins.begins(b'>') || begins.begins(b';')) && is_whole).then_some(Kind::Fasta)
}

/// Where a block that goes on behind these bytes is cut, so that no line or record of FASTQ is
/// torn: in its second half, if there is such a place.
pub fn cut(bytes: &[u8], kind: Kind) -> Option<usize> {
    let half = bytes.len() / 2;
    let line_start = |end| memchr::memrchr(b'\n', &bytes[..end]).map_or(0, |feed| feed + 1);
    let last = Some(line_start(bytes.len())).filter(|&last| last > half)?;
    if kind == Kind::Fastq {
        let mut start = last;
        for _ in 0..LINES_OF_TWO_RECORDS {
            let Some(before) = start.checked_sub(1) else { break };
            start = line_start(before);
            if let Some((_, rest)) = lines::read(Lines(&bytes[start..last])) {
                let end = last - rest.0.len();
                return Some(if end > half { end } else { last });
            }
        }
    }
    Some(last)
}

/// The last whole record ends in these last lines, wherever they are cut.
const LINES_OF_TWO_RECORDS: usize = 8;
