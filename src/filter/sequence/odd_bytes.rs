//! Warning about bytes that a search by sequence does not find, or not as a residue. They are
//! counted, and the first one is named.

use super::line_state::{LineState, Role};
use super::lines::{BYTE_ORDER_MARK, Kind, Lines, is_blank, is_residue, is_residues};

/// Odd bytes and lines of the blocks that were [added](Self::add), and the state behind these
/// blocks.
#[derive(Debug, Default)]
pub struct OddBytes {
    state: LineState,
    /// Number of line feeds so far.
    lines: u64,
    /// Name of the last record. It is kept until the first odd byte is found.
    name: Vec<u8>,
    bytes: u64,
    first_byte: Option<OddByte>,
    stray_lines: u64,
    first_stray: u64,
}

#[derive(Debug)]
struct OddByte {
    byte: u8,
    line: u64,
    record: Vec<u8>,
}

impl OddBytes {
    /// Returns the state behind the blocks added so far.
    pub fn state(&self) -> LineState {
        self.state
    }

    /// Adds the next block.
    pub fn add(&mut self, block: &[u8], kind: Kind) {
        let mut header = None;
        for line in Lines(block) {
            let was_torn = self.state.is_torn();
            match self.state.next(kind, &line) {
                Role::Record => header = Some(line.bytes),
                Role::Sequence if !is_residues(line.bytes) => self.add_line(line.bytes, header),
                Role::Stray => {
                    if self.stray_lines == 0 {
                        self.first_stray = self.lines + 1;
                    }
                    self.stray_lines += u64::from(!was_torn);
                }
                Role::Other | Role::Sequence | Role::Qualities => {}
            }
            self.lines += 1;
        }
        // The last line goes on in the next block, and is counted there.
        self.lines -= u64::from(!block.is_empty() && !block.ends_with(b"\n"));
        if let Some(header) = header
            && self.first_byte.is_none()
        {
            self.name = name_in(header).to_vec();
        }
    }

    #[cold]
    fn add_line(&mut self, line: &[u8], header: Option<&[u8]>) {
        let odd = |byte: &u8| !is_residue(*byte) && !is_blank(*byte);
        let count = line.iter().filter(|byte| odd(byte)).count() as u64;
        self.bytes += count;
        if let Some(&byte) = line.iter().find(|byte| odd(byte))
            && self.first_byte.is_none()
        {
            let record = header.map_or(&self.name[..], name_in).to_vec();
            self.first_byte = Some(OddByte {
                byte,
                line: self.lines + 1,
                record,
            });
        }
    }

    /// Returns a sentence about odd bytes and lines, if there are any.
    pub fn warning(&self) -> Option<String> {
        let bytes = self.first_byte.as_ref().map(|first| {
            let OddByte { byte, line, record } = first;
            let record = String::from_utf8_lossy(record)
                .escape_debug()
                .to_string();
            format!(
                "line {line} (record {record}): byte {} is not a residue; it is kept in the \
                 sequence as it is, and no pattern of residues crosses it ({} in all)",
                shown(*byte),
                counted(self.bytes, "such byte")
            )
        });
        let stray = (self.stray_lines > 0).then(|| {
            format!(
                "line {}: it is in no record, and a search by sequence does not look there ({} in \
                 all)",
                self.first_stray,
                counted(self.stray_lines, "such line")
            )
        });
        match (bytes, stray) {
            (Some(bytes), Some(stray)) => Some(format!("{bytes}; {stray}")),
            (bytes, stray) => bytes.or(stray),
        }
    }
}

/// Returns the name in a header line: the first word behind the mark. A byte order mark may be in
/// front of the mark.
pub(crate) fn name_in(header: &[u8]) -> &[u8] {
    let header = header
        .strip_prefix(BYTE_ORDER_MARK)
        .unwrap_or(header);
    let behind = header.get(1..).unwrap_or_default();
    let start = behind
        .iter()
        .position(|&byte| !is_blank(byte))
        .unwrap_or(behind.len());
    let word = &behind[start..];
    let len = word
        .iter()
        .position(|&byte| is_blank(byte))
        .unwrap_or(word.len());
    &word[..len]
}

fn shown(byte: u8) -> String {
    if byte.is_ascii_graphic() {
        format!("'{}'", char::from(byte))
    } else {
        format!("{byte:02X}")
    }
}

fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
