//! The table Members of a frame, FORMAT.md section 5.4: the files of the tar archive that its raw
//! stream is. A reader lists them and finds one of them without decoding a block.
//!
//! Strings and numbers are stored in columns, which zstd makes small. The writer adds each member
//! to the columns as its header passes, so that a long list takes little memory.

use super::field_bytes::ensure;
use super::record_table::{unzigzag, zigzag};
use super::table_form::{from_form, to_form};
use crate::base::error::Flaw;
use crate::base::leb128;
use crate::base::tar::{Member, MemberKind, UNIT};
use std::borrow::Cow;

/// Maximum number of members.
const MOST_MEMBERS: usize = 1 << 20;

/// Maximum size of all strings together, in bytes.
const MOST_STRINGS: usize = 32 << 20;

/// The table is at most one part in `SHARE` of the bytes before it in the frame.
const SHARE: u64 = 16;

/// Columns of strings: names, links, users, groups.
const STRINGS: usize = 4;

/// Columns of numbers: kind, mode, size, stored, headers, gap, time.
const NUMBERS: usize = 7;

/// Maximum size of the table in plain form: the strings with their ends, and the numbers.
const MOST_PLAIN: usize = 6 + MOST_STRINGS + MOST_MEMBERS * (STRINGS + NUMBERS * 6);

/// Longest content of a table.
pub(crate) const LONGEST: u64 = 1 + MOST_PLAIN as u64;

const MISFIT: Flaw = Flaw("the frame's table of members is not valid");

/// The table of the members so far.
#[derive(Debug, Default)]
pub(crate) struct MemberColumns {
    count: usize,
    strings: [Vec<u8>; STRINGS],
    numbers: [Vec<u8>; NUMBERS],
    /// Where the next member begins if nothing is between.
    expected: u64,
    /// Time of the last member.
    modified: i64,
}

impl MemberColumns {
    /// Adds the next member. `None` if a table cannot hold it.
    pub(crate) fn add(&mut self, member: &Member) -> Option<()> {
        let Member {
            name,
            kind,
            size,
            mode,
            modified,
            user,
            group,
            link,
            offset,
            data,
        } = member;
        let strings = [name, link, user, group];
        let before: usize = self.strings.iter().map(Vec::len).sum();
        let bytes: usize = strings.iter().map(|string| string.len()).sum();
        self.count += 1;
        let is_long = before + bytes > MOST_STRINGS + self.count * STRINGS;
        let has_zeros = strings.iter().any(|string| string.contains(&0));
        if self.count > MOST_MEMBERS || is_long || has_zeros {
            return None;
        }
        for (column, string) in self.strings.iter_mut().zip(strings) {
            column.extend_from_slice(string);
            column.push(0);
        }
        let stored = data.end - data.start;
        let headers = (data.start - offset) / UNIT;
        let gap = (offset - self.expected) / UNIT;
        let numbers = [
            u64::from(kind.flag()),
            u64::from(*mode),
            *size,
            zigzag(stored, *size),
            headers - 1,
            gap,
            zigzag(*modified as u64, self.modified as u64),
        ];
        for (column, number) in self.numbers.iter_mut().zip(numbers) {
            if number >= 1 << 40 {
                return None;
            }
            leb128::write(number as usize, column);
        }
        self.expected = data.end.checked_next_multiple_of(UNIT)?;
        self.modified = *modified;
        Some(())
    }

    /// The content of the table. `None` if there are no members.
    fn into_bytes(self) -> Option<Vec<u8>> {
        let mut plain = Vec::new();
        leb128::write(self.count, &mut plain);
        for column in self.strings.into_iter().chain(self.numbers) {
            plain.extend(column);
        }
        let (form, coded) = to_form(plain);
        (self.count > 0).then(|| [&[form][..], &coded].concat())
    }

    /// The content of the table, unless it is too large for a frame that has `frame_size` bytes so
    /// far.
    pub(crate) fn table(self, frame_size: u64) -> Option<Vec<u8>> {
        self.into_bytes()
            .filter(|content| content.len() as u64 <= frame_size / SHARE)
    }
}

/// The content of a table in plain form.
pub(crate) struct PlainMembers<'a> {
    plain: Cow<'a, [u8]>,
    /// Number of members.
    pub count: usize,
}

impl<'a> PlainMembers<'a> {
    /// Restores the plain form of `content`, if that takes up to `most` bytes.
    pub(crate) fn from_content(content: &'a [u8], most: u64) -> Result<Self, Flaw> {
        let (&form, coded) = content.split_first().ok_or(MISFIT)?;
        ensure(form <= 1, MISFIT.0)?;
        let most = usize::try_from(most).map_or(MOST_PLAIN, |most| most.min(MOST_PLAIN));
        let plain = from_form(form == 1, coded, most, MISFIT)?;
        let mut rest = &plain[..];
        let count = leb128::read(&mut rest).map_err(|_| MISFIT)?;
        // The shortest member takes a byte in each column.
        let is_possible = (1..=MOST_MEMBERS).contains(&count);
        ensure(
            is_possible && rest.len() >= count * (STRINGS + NUMBERS),
            MISFIT.0,
        )?;
        Ok(PlainMembers { plain, count })
    }

    /// The members of a frame of `raw_size` raw bytes.
    pub(crate) fn members(&self, raw_size: u64) -> Result<Vec<Member>, Flaw> {
        let mut rest = &self.plain[..];
        leb128::read(&mut rest).map_err(|_| MISFIT)?;
        columns(rest, self.count, raw_size)
    }
}

fn columns(mut rest: &[u8], count: usize, raw_size: u64) -> Result<Vec<Member>, Flaw> {
    let mut strings: [std::vec::IntoIter<Vec<u8>>; STRINGS] = Default::default();
    for column in &mut strings {
        let column_strings: Result<Vec<_>, Flaw> = (0..count).map(|_| string(&mut rest)).collect();
        *column = column_strings?.into_iter();
    }
    let mut numbers: [std::vec::IntoIter<u64>; NUMBERS] = Default::default();
    for column in &mut numbers {
        let column_numbers: Result<Vec<_>, Flaw> = (0..count)
            .map(|_| leb128::read(&mut rest).map(|number| number as u64))
            .collect();
        *column = column_numbers.map_err(|_| MISFIT)?.into_iter();
    }
    ensure(rest.is_empty(), MISFIT.0)?;
    let mut members = Vec::with_capacity(count);
    let mut expected = 0;
    let mut before = 0;
    for _ in 0..count {
        let [name, link, user, group] = strings.each_mut().map(|column| column.next());
        let [kind, mode, size, stored, headers, gap, time] = numbers
            .each_mut()
            .map(|column| column.next().unwrap_or(0));
        let offset = expected + gap * UNIT;
        let start = offset + (headers + 1) * UNIT;
        let end = start
            .checked_add(unzigzag(stored, size)?)
            .filter(|&end| end <= raw_size)
            .ok_or(MISFIT)?;
        // Both differences wrap, so that every time can be stored.
        let modified = unfolded(time).wrapping_add(before);
        members.push(Member {
            name: name.unwrap_or_default(),
            kind: MemberKind::from_flag(u8::try_from(kind).map_err(|_| MISFIT)?),
            size,
            mode: u32::try_from(mode).map_err(|_| MISFIT)?,
            modified,
            user: user.unwrap_or_default(),
            group: group.unwrap_or_default(),
            link: link.unwrap_or_default(),
            offset,
            data: start..end,
        });
        expected = end.next_multiple_of(UNIT);
        before = modified;
    }
    Ok(members)
}

/// Takes a string off the front of `rest`.
fn string(rest: &mut &[u8]) -> Result<Vec<u8>, Flaw> {
    let end = memchr::memchr(0, rest).ok_or(MISFIT)?;
    let string = rest[..end].to_vec();
    *rest = &rest[end + 1..];
    Ok(string)
}

/// The difference that was folded to `coded`.
fn unfolded(coded: u64) -> i64 {
    (coded >> 1) as i64 ^ -((coded & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_bytes(content: &[u8], raw_size: u64) -> Result<Vec<Member>, Flaw> {
        PlainMembers::from_content(content, u64::MAX)?.members(raw_size)
    }

    fn member(number: u64) -> Member {
        let offset = number * 4096;
        let size = number * 37 % 2000;
        Member {
            name: format!("directory/file-{number}").into_bytes(),
            kind: MemberKind::from_flag(b'0' + (number % 3) as u8),
            size: size + number % 2,
            mode: 0o644,
            modified: 1_700_000_000 - number as i64 * 1000,
            user: b"root".to_vec(),
            group: Vec::new(),
            link: b"there".repeat(number as usize % 2),
            offset,
            data: offset + 512..offset + 512 + size,
        }
    }

    fn content(members: &[Member]) -> Vec<u8> {
        let mut columns = MemberColumns::default();
        for member in members {
            columns.add(member).unwrap();
        }
        columns.into_bytes().unwrap()
    }

    #[test]
    fn a_table_survives_in_both_forms() {
        for count in [1, 2, 700] {
            let members: Vec<Member> = (0..count).map(member).collect();
            let content = content(&members);
            let size = count * 4096;
            assert_eq!(from_bytes(&content, size).unwrap(), members);
            assert!(
                content.len() < 60 + 12 * count as usize,
                "{}",
                content.len()
            );
            assert!(from_bytes(&content, members.last().unwrap().data.end - 1).is_err());
            for cut in 0..content.len() {
                assert!(from_bytes(&content[..cut], size).is_err());
            }
            assert!(from_bytes(&[&content[..], &[0]].concat(), size).is_err());
        }
    }

    #[test]
    fn times_before_1970_survive_and_strange_ones_are_not_stored() {
        for modified in [-1, -1 << 38, 1 << 38] {
            let members = [
                Member {
                    modified,
                    ..member(0)
                },
                member(1),
            ];
            assert_eq!(from_bytes(&content(&members), 1 << 20).unwrap(), members);
        }
        for modified in [i64::MIN, i64::MAX, 1 << 40] {
            let strange = Member {
                modified,
                ..member(0)
            };
            assert_eq!(MemberColumns::default().add(&strange), None);
        }
    }

    #[test]
    fn changed_bytes_are_read_or_refused() {
        let members: Vec<Member> = (0..9).map(member).collect();
        let coded = content(&members);
        let plain = from_form(coded[0] == 1, &coded[1..], MOST_PLAIN, MISFIT).unwrap();
        let content = [&[0][..], &plain].concat();
        for at in 0..content.len() {
            for byte in [0, 1, 0x7F, 0x80, 0xFF] {
                let mut changed = content.clone();
                changed[at] = byte;
                let _ = from_bytes(&changed, 1 << 50);
            }
        }
    }

    #[test]
    fn a_frame_without_members_has_no_table() {
        assert_eq!(MemberColumns::default().into_bytes(), None);
    }

    #[test]
    fn a_table_is_a_sixteenth_of_the_frame_at_most() {
        let columns = || {
            let mut columns = MemberColumns::default();
            columns.add(&member(1)).unwrap();
            columns
        };
        let size = columns().table(u64::MAX).unwrap().len() as u64;
        assert!(columns().table(size * SHARE).is_some());
        assert!(columns().table(size * SHARE - 1).is_none());
    }
}
