//! Text for standard output. A file or a pipe gets all bytes unchanged. For a terminal, characters
//! that move the cursor, change colours or turn the direction of text are escaped, and so are bytes
//! that are not UTF-8. Names in files may contain such bytes.

use crate::cli::files::descriptors;
use crate::cli::report::console::is_control;
use rustix::termios::tcgetwinsize;
use serde::Serialize;
use std::env;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;

/// Maximum bytes of a UTF-8 character.
const LONGEST: usize = 4;

/// An output that may be a terminal.
pub(crate) struct Screen<W> {
    out: W,
    form: Escapes,
    /// The first bytes of a character whose other bytes are still to come.
    rest: Vec<u8>,
}

/// The form of escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escapes {
    /// The output is no terminal, so nothing is escaped.
    None,
    /// As `\xNN`.
    Text,
    /// As `\uNNNN`, which stands for the character in JSON.
    Json,
}

impl<W: Write> Screen<W> {
    /// Creates a screen for text with lines and tabs.
    pub(crate) fn text(out: W, is_terminal: bool) -> Self {
        let form = if is_terminal {
            Escapes::Text
        } else {
            Escapes::None
        };
        Screen {
            out,
            form,
            rest: Vec::new(),
        }
    }

    /// Creates a screen for values of JSON.
    pub(crate) fn json(out: W, is_terminal: bool) -> Self {
        let form = if is_terminal {
            Escapes::Json
        } else {
            Escapes::None
        };
        Screen {
            out,
            form,
            rest: Vec::new(),
        }
    }

    /// Writes the bytes kept so far and then `bytes`, escaped. Bytes at the end that may start a
    /// character are kept for the next call, unless `is_over`.
    fn escape(&mut self, bytes: &[u8], is_over: bool) -> io::Result<()> {
        let all = [&std::mem::take(&mut self.rest), bytes].concat();
        let mut shown = Vec::with_capacity(all.len());
        let mut left = all.len();
        for chunk in all.utf8_chunks() {
            for c in chunk.valid().chars() {
                self.push(&mut shown, c);
            }
            left -= chunk.valid().len() + chunk.invalid().len();
            let may_go_on = left == 0 && !is_over && is_start(chunk.invalid());
            match may_go_on {
                true => self.rest = chunk.invalid().to_vec(),
                false => chunk
                    .invalid()
                    .iter()
                    .for_each(|&byte| push_hex(&mut shown, byte)),
            }
        }
        self.out.write_all(&shown)
    }

    fn push(&self, shown: &mut Vec<u8>, c: char) {
        let mut utf8 = [0; LONGEST];
        let utf8 = c.encode_utf8(&mut utf8).as_bytes();
        match (c, self.form) {
            ('\n' | '\t', _) => shown.extend_from_slice(utf8),
            (c, Escapes::Json) if is_control(c) => {
                shown.extend_from_slice(format!("\\u{:04x}", u32::from(c)).as_bytes());
            }
            (c, _) if is_control(c) => utf8
                .iter()
                .for_each(|&byte| push_hex(shown, byte)),
            _ => shown.extend_from_slice(utf8),
        }
    }
}

/// True if the bytes are no character, but may become one with the bytes that follow.
fn is_start(bytes: &[u8]) -> bool {
    let error = str::from_utf8(bytes).err();
    bytes.len() < LONGEST && error.is_some_and(|error| error.error_len().is_none())
}

fn push_hex(text: &mut Vec<u8>, byte: u8) {
    text.extend_from_slice(format!("\\x{byte:02x}").as_bytes());
}

impl Screen<File> {
    /// Opens standard output for text.
    pub(crate) fn stdout() -> io::Result<Self> {
        let out = descriptors::stdout()?;
        let is_terminal = out.is_terminal();
        Ok(Screen::text(out, is_terminal))
    }

    /// Opens standard output for JSON.
    pub(crate) fn json_stdout() -> io::Result<Self> {
        let out = descriptors::stdout()?;
        let is_terminal = out.is_terminal();
        Ok(Screen::json(out, is_terminal))
    }
}

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.form == Escapes::None {
            return self.out.write(bytes);
        }
        self.escape(bytes, false)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.rest.is_empty() {
            self.escape(b"", true)?;
        }
        self.out.flush()
    }
}

/// The width of a terminal in columns, or 80 if it is none.
pub(crate) fn columns(terminal: impl AsFd) -> u16 {
    let columns = tcgetwinsize(terminal).map_or(0, |size| size.ws_col);
    if columns == 0 { 80 } else { columns }
}

/// True if an output may have colours.
pub(crate) fn has_colors(is_terminal: bool) -> bool {
    is_terminal && env::var_os("NO_COLOR").is_none_or(|no| no.is_empty())
}

/// Prints a value as JSON on standard output.
pub(crate) fn print_json(value: &impl Serialize) -> io::Result<()> {
    let mut out = BufWriter::new(Screen::json_stdout()?);
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the bytes in pieces of each size, which all give the same output.
    fn shown(new: impl Fn(Vec<u8>) -> Screen<Vec<u8>>, bytes: &[u8]) -> String {
        let pieces = |size: usize| {
            let mut screen = new(Vec::new());
            for piece in bytes.chunks(size) {
                screen.write_all(piece).unwrap();
            }
            screen.flush().unwrap();
            screen.out
        };
        let whole = pieces(bytes.len().max(1));
        for size in 1..bytes.len() {
            assert_eq!(pieces(size), whole, "{size}");
        }
        String::from_utf8_lossy(&whole).into_owned()
    }

    #[test]
    fn terminals_are_shown_what_they_would_obey() {
        let on_terminal = |bytes: &[u8]| shown(|out| Screen::text(out, true), bytes);
        for (bytes, wanted) in [
            (&b"a\tb\n"[..], "a\tb\n"),
            (b"\x1b[31mred\x07", r"\x1b[31mred\x07"),
            (b"\r\x00\x7f", r"\x0d\x00\x7f"),
            ("größe 漢 😀".as_bytes(), "größe 漢 😀"),
            ("\u{9b}1m".as_bytes(), r"\xc2\x9b1m"),
            ("x\u{202e}y".as_bytes(), r"x\xe2\x80\xaey"),
            (b"x\xffy\xc3", r"x\xffy\xc3"),
            (b"\xe2\x82", r"\xe2\x82"),
            (b"\xe2\x82z\xf0\x9f\x98", r"\xe2\x82z\xf0\x9f\x98"),
            (b"", ""),
        ] {
            assert_eq!(on_terminal(bytes), wanted);
            assert_eq!(
                shown(|out| Screen::text(out, false), bytes),
                String::from_utf8_lossy(bytes)
            );
        }
    }

    #[test]
    fn json_stays_json() {
        let on_terminal = |bytes: &[u8]| shown(|out| Screen::json(out, true), bytes);
        assert_eq!(
            on_terminal("{\n \"\u{9b}\u{7f}ö\"}".as_bytes()),
            "{\n \"\\u009b\\u007fö\"}"
        );
    }
}
