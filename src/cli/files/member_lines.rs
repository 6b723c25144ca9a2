//! `-l --members`: the members of tar archives, one a line, as `tar -t` and `tar -tv` show them.

use crate::cli::arguments::args::FileArgs;
use crate::cli::files::input;
use crate::cli::files::input_name::Name;
use crate::cli::files::member_names;
use crate::cli::files::named_files::{self, Directories};
use crate::cli::report::console::{self, Activity, is_control};
use crate::cli::report::event_lines::EventLines;
use crate::cli::report::exit::Exit;
use crate::cli::report::json_bytes::{hex_unless_text, text};
use crate::cli::report::screen::{self, Screen};
use bwz::{Archive, Member, MemberKind, Options, Result};
use jiff::{Timestamp, tz::TimeZone};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Prints the members of each file, or all of them as JSON. If there are several files, each has a
/// title, unless -q is given.
pub(crate) fn list(
    args: &FileArgs,
    files: &[PathBuf],
    directories: Directories,
    options: &Options,
) -> Exit {
    let event_lines = EventLines::default();
    let mut listed = Vec::new();
    let has_titles = (files.len() > 1 || args.recursive) && !args.talk.quiet;
    let mut before = "";
    let exit = named_files::each(files, directories, args.talk, Activity::Reading, |name| {
        let options = event_lines.add_to(options, name, args.talk, None);
        let mut archive = Archive::open(input::open_seekable(name)?, &options)?;
        let members = archive.members()?;
        match args.json {
            true => listed.push(ListedMembers::of(name, &members)),
            false => {
                let title = match has_titles {
                    true => format!("{before}==> {name} <==\n"),
                    false => String::new(),
                };
                print(&members, args.talk.verbose > 0, &title)?;
                before = "\n";
            }
        }
        archive
            .tar_breaks_off()
            .map_or(Ok(()), |at| Err(member_names::broken(at)))
    });
    if !args.json {
        return exit;
    }
    match screen::print_json(&listed) {
        Ok(()) => exit,
        Err(e) => exit.max(console::fail(&e.into())),
    }
}

/// Prints the names of members, or all about them, behind `title`.
fn print(members: &[Member], is_long: bool, title: &str) -> Result<()> {
    let mut out = BufWriter::new(Screen::stdout()?);
    out.write_all(title.as_bytes())?;
    let mut width = LEAST_WIDTH;
    for member in members {
        let name = escaped(&member.name);
        match is_long {
            true => writeln!(out, "{} {name}{}", facts(member, &mut width), link(member))?,
            false => writeln!(out, "{name}")?,
        }
    }
    Ok(out.flush()?)
}

/// The least width of a line's owner, group and size, as in GNU tar. A wider line makes all that
/// follow as wide.
const LEAST_WIDTH: usize = 18;

/// Type and permissions, owner and group, size, and time of the last change.
fn facts(member: &Member, width: &mut usize) -> String {
    let size = match member.kind {
        MemberKind::CharDevice | MemberKind::BlockDevice => text(&member.link).into_owned(),
        _ => member.size.to_string(),
    };
    let owner = format!("{}/{}", text(&member.user), text(&member.group));
    *width = (*width).max(owner.len() + size.len());
    let size_width = *width - owner.len();
    let mode = mode(member);
    let time = time(member.modified);
    format!("{mode} {owner} {size:>size_width$} {time}")
}

fn link(member: &Member) -> String {
    match member.kind {
        MemberKind::SymbolicLink => format!(" -> {}", escaped(&member.link)),
        MemberKind::HardLink => format!(" link to {}", escaped(&member.link)),
        MemberKind::Other(b'V') => "--Volume Header--".into(),
        _ => String::new(),
    }
}

/// The letter of a member's kind.
fn letter(kind: MemberKind) -> char {
    match kind {
        MemberKind::File | MemberKind::Sparse => '-',
        MemberKind::HardLink => 'h',
        MemberKind::SymbolicLink => 'l',
        MemberKind::CharDevice => 'c',
        MemberKind::BlockDevice => 'b',
        MemberKind::Directory | MemberKind::Other(b'D') => 'd',
        MemberKind::Fifo => 'p',
        MemberKind::Other(b'7') => 'C',
        MemberKind::Other(flag @ (b'V' | b'M')) => flag.into(),
        _ => '?',
    }
}

/// Kind and permissions, as `ls -l` writes them.
fn mode(member: &Member) -> String {
    let mut shown = String::from(letter(member.kind));
    for (shift, special, letter) in [(6, 0o4000, 's'), (3, 0o2000, 's'), (0, 0o1000, 't')] {
        let bits = member.mode >> shift;
        shown.push(if bits & 4 > 0 { 'r' } else { '-' });
        shown.push(if bits & 2 > 0 { 'w' } else { '-' });
        shown.push(match (member.mode & special > 0, bits & 1 > 0) {
            (true, true) => letter,
            (true, false) => letter.to_ascii_uppercase(),
            (false, true) => 'x',
            (false, false) => '-',
        });
    }
    shown
}

/// A time in this machine's zone, or its number if no calendar has it.
fn time(seconds: i64) -> String {
    match Timestamp::from_second(seconds) {
        Ok(time) => time
            .to_zoned(TimeZone::system())
            .strftime("%Y-%m-%d %H:%M")
            .to_string(),
        Err(_) => seconds.to_string(),
    }
}

/// A name as `tar -t` writes it: a backslash and whatever is no text or would move the cursor are
/// escaped, so that each name is one line.
fn escaped(name: &[u8]) -> String {
    let mut shown = String::new();
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => shown.push_str(r"\\"),
                '\n' => shown.push_str(r"\n"),
                '\t' => shown.push_str(r"\t"),
                '\r' => shown.push_str(r"\r"),
                '\u{7}' => shown.push_str(r"\a"),
                '\u{8}' => shown.push_str(r"\b"),
                '\u{B}' => shown.push_str(r"\v"),
                '\u{C}' => shown.push_str(r"\f"),
                c if is_control(c) => {
                    let mut bytes = [0; 4];
                    octal(c.encode_utf8(&mut bytes).as_bytes(), &mut shown);
                }
                c => shown.push(c),
            }
        }
        octal(chunk.invalid(), &mut shown);
    }
    shown
}

fn octal(bytes: &[u8], shown: &mut String) {
    for byte in bytes {
        // A write to a string does not fail.
        let _ = write!(shown, "\\{byte:03o}");
    }
}

/// An archive, as `--json` shows it.
#[derive(Serialize)]
struct ListedMembers {
    name: String,
    members: Vec<ListedMember>,
}

#[derive(Serialize)]
struct ListedMember {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_hex: Option<String>,
    /// As in the first column of `tar -tv`.
    kind: char,
    size: u64,
    mode: u32,
    modified: i64,
    user: String,
    group: String,
    /// The target of a link, or the numbers of a device.
    link: Option<String>,
    offset: u64,
    data_offset: u64,
    stored_size: u64,
}

impl ListedMembers {
    fn of(name: &Name, members: &[Member]) -> Self {
        ListedMembers {
            name: name.to_string(),
            members: members.iter().map(ListedMember::from).collect(),
        }
    }
}

impl From<&Member> for ListedMember {
    fn from(member: &Member) -> Self {
        ListedMember {
            name: text(&member.name).into_owned(),
            name_hex: hex_unless_text(&member.name),
            kind: letter(member.kind),
            size: member.size,
            mode: member.mode,
            modified: member.modified,
            user: text(&member.user).into_owned(),
            group: text(&member.group).into_owned(),
            link: (!member.link.is_empty()).then(|| text(&member.link).into_owned()),
            offset: member.offset,
            data_offset: member.data.start,
            stored_size: member.data.end - member.data.start,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_line_each() {
        for (name, shown) in [
            (&b"plain name"[..], "plain name"),
            (b"two\nlines\\", r"two\nlines\\"),
            (b"\x1B[31mred", r"\033[31mred"),
            ("Füße".as_bytes(), "Füße"),
            (b"latin \xFC", r"latin \374"),
        ] {
            assert_eq!(escaped(name), shown);
        }
    }
}
