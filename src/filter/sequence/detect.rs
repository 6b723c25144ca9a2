//! Detection of blocks and files of sequences, and the cut between two blocks.

use super::line_state::{LineState, Role};
use super::lines::{self, Kind, Lines, is_blank, is_blank_line, is_residues};

/// Number of windows of a block that are examined.
const WINDOWS: usize = 16;
/// Bytes per window.
const WINDOW: usize = 4096;

/// Line widths that make sequences likely.
const WIDTHS: std::ops::RangeInclusive<usize> = 16..=1024;

/// Number of bytes at the start of a file by which its kind is decided.
const BEGINNING: usize = 1 << 20;

/// Returns the kind of sequences in the block if they are most of it. The block may be anywhere in
/// a file.
pub fn detect(block: &[u8]) -> Option<Kind> {
    let step = (block.len() / WINDOWS).max(WINDOW);
    let windows = || {
        block
            .chunks(step)
            .map(|chunk| &chunk[..chunk.len().min(WINDOW)])
    };
    let size = windows().map(<[u8]>::len).sum::<usize>();
    let is_most = |count: fn(&[u8]) -> usize| windows().map(count).sum::<usize>() > size / 2;
    match () {
        () if is_most(in_fasta) => Some(Kind::Fasta),
        () if is_most(in_fastq) => Some(Kind::Fastq),
        () => None,
    }
}

/// Counts the bytes of a window that look like FASTA. These are lines of residues that follow a
/// header, or a line of residues of the same length, and headers in front of such lines.
fn in_fasta(window: &[u8]) -> usize {
    let mut total = 0;
    let mut lines = Lines(window);
    let Some(mut before) = lines.next() else {
        return 0;
    };
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

/// Counts the bytes of a window that are in whole records of FASTQ.
fn in_fastq(window: &[u8]) -> usize {
    let mut lines = Lines(window);
    let mut total = 0;
    while !lines.0.is_empty() {
        if let Some(rest) = lines::behind_record(lines) {
            total += lines.0.len() - rest.0.len();
            lines = rest;
        } else {
            lines.next();
        }
    }
    total
}

/// Returns the kind of a file that begins with `block`, if all of it is sequences. `goes_on` is
/// true if the file is longer. Blank lines and comments may be in front of the first record.
pub fn decide(block: &[u8], goes_on: bool) -> Option<Kind> {
    let is_comment = |line: &lines::Line| line.begins(b'#') || line.begins(b';');
    let begins = Lines(block).find(|line| !is_blank_line(line.bytes) && !is_comment(line))?;
    let beginning = &block[..block.len().min(BEGINNING)];
    match () {
        () if begins.is_header(b'>') => is_fasta(beginning).then_some(Kind::Fasta),
        () if begins.is_header(b'@') => {
            let is_sound = is_fastq(beginning).unwrap_or_else(|| is_long_record(block, goes_on));
            is_sound.then_some(Kind::Fastq)
        }
        () => None,
    }
}

/// Returns true if nine in ten bytes of the sequences are residues. Blanks within a line count as
/// other bytes, so that words of a text are not taken for residues. Blanks around a line do not
/// count. A file of headers alone is not accepted.
fn is_fasta(beginning: &[u8]) -> bool {
    let mut residues = 0;
    let mut others = 0;
    let mut state = LineState::default();
    for line in Lines(beginning) {
        match state.next(Kind::Fasta, &line) {
            Role::Sequence | Role::Stray => {
                let start = line
                    .bytes
                    .iter()
                    .position(|&byte| !is_blank(byte))
                    .unwrap_or(0);
                let end = line
                    .bytes
                    .iter()
                    .rposition(|&byte| !is_blank(byte))
                    .unwrap_or(0);
                let trimmed = &line.bytes[start..=end];
                let here = lines::residues(trimmed);
                residues += here;
                others += trimmed.len() - here;
            }
            Role::Record | Role::Other | Role::Qualities => {}
        }
    }
    residues > 0 && residues / 9 >= others
}

/// Returns true if nine in ten bytes are in whole records. Comments in front of the first record do
/// not count, nor does the last record, which may be cut off. `None` if no record is known to be
/// whole.
fn is_fastq(beginning: &[u8]) -> Option<bool> {
    let records = behind_front(beginning);
    let end = last_record(records, LineState::default());
    let whole = &records[..end.unwrap_or(records.len())];
    let total = in_fastq(whole);
    // Without a line end the last record may be whole all the same.
    (end.is_some() || total > 0).then_some(total > 0 && total * 10 >= whole.len() * 9)
}

/// Returns true if the block is FASTQ, and its first record is longer than the part examined first,
/// or than the block.
fn is_long_record(block: &[u8], goes_on: bool) -> bool {
    is_fastq(block).unwrap_or_else(|| goes_on && is_part_of_record(behind_front(block)))
}

/// Returns the lines from the first header of FASTQ on.
fn behind_front(beginning: &[u8]) -> &[u8] {
    let mut lines = Lines(beginning);
    let mut rest = lines;
    while rest
        .next()
        .is_some_and(|line| !line.is_header(b'@'))
    {
        lines = rest;
    }
    lines.0
}

/// Returns true if a text is the start of one record of FASTQ. Nine in ten bytes of its sequence so
/// far must be residues.
fn is_part_of_record(text: &[u8]) -> bool {
    let mut residues = 0;
    let mut others = 0;
    let mut records = 0;
    let mut state = LineState::default();
    for line in Lines(text) {
        match state.next(Kind::Fastq, &line) {
            Role::Record => records += 1,
            Role::Sequence => {
                let here = lines::residues(line.bytes);
                residues += here;
                others += lines::symbols(line.bytes) - here;
            }
            Role::Stray => return false,
            Role::Other | Role::Qualities => {}
        }
    }
    records == 1 && residues > 0 && residues / 9 >= others
}

/// Returns the position at which a block that goes on behind these bytes is cut. No record of
/// FASTQ, or else no line, is torn there, and the cut is in the second half. Failing that, a line
/// end is not torn. `None` if there is no such place. `start` is the state at the start of the
/// bytes.
pub fn cut(bytes: &[u8], kind: Kind, start: LineState) -> Option<usize> {
    let half = bytes.len() / 2;
    let last = memchr::memrchr(b'\n', bytes).map_or(0, |feed| feed + 1);
    let record = match kind {
        Kind::Fasta => None,
        Kind::Fastq => last_record(bytes, start).filter(|&end| end > half),
    };
    let line = (last > half).then_some(last);
    // At least the line end is not torn.
    let whole_end = || {
        bytes
            .ends_with(b"\r")
            .then(|| bytes.len() - 1)
            .filter(|&at| at > 0)
    };
    record.or(line).or_else(whole_end)
}

/// Returns the end of the last record of FASTQ that is known to be whole.
fn last_record(bytes: &[u8], mut state: LineState) -> Option<usize> {
    let mut lines = Lines(bytes);
    let mut end = None;
    while let Some(line) = lines.next() {
        state.next(Kind::Fastq, &line);
        if state.is_between_records() {
            end = Some(bytes.len() - lines.0.len());
        }
    }
    end
}
