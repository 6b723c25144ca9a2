//! The walk from one header of a tar archive to the next.
//!
//! The walk says which bytes it wants, and passes over the content of members. So a writer feeds it
//! the blocks of a stream as they come, and a reader only those that hold headers. The cost is that
//! of the headers: 512 bytes or more for each member.

use super::UNIT;
use super::header::{self, LONG_LINK, LONG_NAME, PAX, PAX_FOR_ALL, PAX_OF_SOLARIS};
use super::long_fields::LongFields;
use super::member::{Member, MemberKind};
use super::sparse::SparseParts;
use std::mem;
use std::ops::Range;
use tar::Header;

/// Maximum size of a long name, or of the records of one pax header, in bytes.
const LONGEST_EXTENSION: u64 = 1 << 20;

/// Maximum number of units of zeros before the first member. More of them begin an empty disk, and
/// no archive.
const MOST_ZEROS: u64 = 2048;

/// A walk over the members of an archive.
#[derive(Debug)]
pub(crate) struct TarWalk {
    /// Offset of the next byte that is wanted.
    at: u64,
    /// The bytes that were wanted last, as far as they have come.
    got: Vec<u8>,
    /// Number of bytes that are wanted.
    size: usize,
    step: Step,
    /// Fields that pax states for all members from here on.
    for_all: LongFields,
    /// Fields for the next member.
    for_next: LongFields,
    /// Where the first header of the next member began, if it is another than the one to come.
    begun: Option<u64>,
    /// Units of zeros right before. They end an archive.
    zeros: u64,
    /// True once a member was found.
    has_members: bool,
}

/// The purpose of the bytes that are wanted.
#[derive(Debug)]
enum Step {
    Header,
    /// The content of a header with this type flag that belongs to a later one.
    Extension(u8),
    /// More parts of this member, which has holes.
    Parts(Box<FoundMember>),
    Ended(End),
}

/// The end of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The archive's own end, or the end of the stream where a member ends.
    Whole,
    /// At this offset there should have been a header or the rest of a member.
    Broken(u64),
}

/// A member that was found.
#[derive(Clone, Debug)]
pub(crate) struct FoundMember {
    pub member: Member,
    /// Its parts, if it has holes. `None` if they are the front of its content.
    pub parts: Option<SparseParts>,
}

impl FoundMember {
    /// The member whose headers these are.
    pub(crate) fn in_headers(headers: &[u8]) -> Option<Self> {
        let mut found = None;
        TarWalk::default().feed(
            0..headers.len() as u64,
            |at, out| out.copy_from_slice(&headers[at..at + out.len()]),
            |member| {
                found = Some(member);
                false
            },
        );
        found.filter(|found| found.member.data.start == headers.len() as u64)
    }

    /// True if this member, whose headers were read alone, is `member` of the whole archive.
    pub(crate) fn is_like(&self, member: &Member) -> bool {
        let own = &self.member;
        let stored = member.data.end.checked_sub(member.data.start);
        own.name == member.name
            && own.link == member.link
            && (own.kind, own.size) == (member.kind, member.size)
            && stored == Some(own.data.end - own.data.start)
    }
}

impl Member {
    /// True if `headers`, the raw bytes from [`Member::offset`] to the start of [`Member::data`],
    /// say the same of its name, kind, sizes and link.
    pub fn is_confirmed_by(&self, headers: &[u8]) -> bool {
        let found = FoundMember::in_headers(headers);
        found.is_some_and(|found| found.is_like(self))
    }
}

impl Default for TarWalk {
    /// A walk from the start of an archive, which is at offset 0.
    fn default() -> Self {
        TarWalk {
            at: 0,
            got: Vec::new(),
            size: UNIT as usize,
            step: Step::Header,
            for_all: LongFields::default(),
            for_next: LongFields::default(),
            begun: None,
            zeros: 0,
            has_members: false,
        }
    }
}

impl TarWalk {
    /// The offset of the next byte that is wanted. `None` if the walk has ended.
    pub(crate) fn wanted(&self) -> Option<u64> {
        (!matches!(self.step, Step::Ended(_))).then_some(self.at)
    }

    /// Takes what it wants of `range` of the raw stream, whose bytes `read` copies from an offset
    /// in it. Calls `found` for each member, and ends when that returns false. The ranges must come
    /// in order.
    pub(crate) fn feed(
        &mut self,
        range: Range<u64>,
        read: impl Fn(usize, &mut [u8]),
        mut found: impl FnMut(FoundMember) -> bool,
    ) {
        while let Some(at) = self.wanted().filter(|at| range.contains(at)) {
            let before = self.got.len();
            let missing = (self.size - before) as u64;
            let now = missing.min(range.end - at) as usize;
            self.got.resize(before + now, 0);
            read((at - range.start) as usize, &mut self.got[before..]);
            self.at += now as u64;
            if self.got.len() == self.size {
                let bytes = mem::take(&mut self.got);
                self.size = UNIT as usize;
                let start = self.at - bytes.len() as u64;
                match self.take(&bytes) {
                    Some(Some(member)) => {
                        if !found(member) {
                            self.step = Step::Ended(End::Broken(start));
                        }
                    }
                    Some(None) => {}
                    None => self.step = Step::Ended(self.end_at(start)),
                }
                self.got = bytes;
                self.got.clear();
            }
        }
    }

    /// The end of the walk in a stream that ends at `size`.
    pub(crate) fn finish(&self, size: u64) -> End {
        match self.step {
            Step::Ended(end) => end,
            Step::Header if self.begun.is_none() => match self.got.iter().all(|&byte| byte == 0) {
                true if self.at <= size => End::Whole,
                _ => self.end_at(size.min(self.at - self.got.len() as u64)),
            },
            _ => End::Broken(size),
        }
    }

    /// The end of the walk at bytes that are no header. Behind zeros the archive has ended before.
    fn end_at(&self, at: u64) -> End {
        match self.zeros > 0 && self.begun.is_none() {
            true => End::Whole,
            false => End::Broken(at),
        }
    }

    /// Takes the bytes that were wanted. `None` if they are not valid.
    fn take(&mut self, bytes: &[u8]) -> Option<Option<FoundMember>> {
        match mem::replace(&mut self.step, Step::Header) {
            Step::Header => self.take_header(bytes.first_chunk()?),
            Step::Extension(flag) => {
                self.at = self.at.checked_next_multiple_of(UNIT)?;
                let name = bytes
                    .split(|&byte| byte == 0)
                    .next()
                    .unwrap_or_default();
                match flag {
                    LONG_NAME => self.for_next.name = Some(name.to_vec()),
                    LONG_LINK => self.for_next.link = Some(name.to_vec()),
                    PAX_FOR_ALL => self.for_all.add_pax(bytes)?,
                    _ => self.for_next.add_pax(bytes)?,
                }
                Some(None)
            }
            Step::Parts(mut found) => match found.parts.as_mut()?.add_header(bytes)? {
                true => {
                    self.step = Step::Parts(found);
                    Some(None)
                }
                false => self.go_on_behind(*found),
            },
            Step::Ended(_) => None,
        }
    }

    fn take_header(&mut self, bytes: &[u8; UNIT as usize]) -> Option<Option<FoundMember>> {
        if bytes.iter().all(|&byte| byte == 0) {
            self.zeros += 1;
            let is_over = self.zeros > MOST_ZEROS && !self.has_members;
            return (self.begun.is_none() && !is_over).then_some(None);
        }
        let start = self.at - UNIT;
        let header = header::header(bytes)?;
        self.zeros = 0;
        match header::flag(header) {
            flag @ (PAX | PAX_OF_SOLARIS | PAX_FOR_ALL | LONG_NAME | LONG_LINK) => {
                let size = header::size(header)?;
                if size > LONGEST_EXTENSION {
                    return None;
                }
                self.begun = self.begun.or(Some(start));
                if size > 0 {
                    self.size = size as usize;
                    self.step = Step::Extension(flag);
                }
                Some(None)
            }
            _ => {
                let fields = mem::take(&mut self.for_next).or(&self.for_all);
                let start = self.begun.take().unwrap_or(start);
                let found = self.member(header, start, fields)?;
                let is_extended = header
                    .as_gnu()
                    .is_some_and(|gnu| header::flag(header) == b'S' && gnu.is_extended());
                if is_extended {
                    self.step = Step::Parts(Box::new(found));
                    return Some(None);
                }
                self.go_on_behind(found)
            }
        }
    }

    /// The member of a header that ends here. Its data is placed by [`TarWalk::go_on_behind`].
    fn member(&self, header: &Header, start: u64, fields: LongFields) -> Option<FoundMember> {
        let LongFields { sparse, .. } = fields;
        let own = sparse.name.clone().or(fields.name);
        let name = own.unwrap_or_else(|| header.path_bytes().into_owned());
        let mut kind = header::kind(header, &name);
        let mut parts = None;
        let stored = match (kind, fields.size) {
            // Archives of before 1990 state the size of what is linked.
            (MemberKind::HardLink, None) => 0,
            (_, size) => size.or_else(|| header::size(header))?,
        };
        let mut size = stored;
        if let (MemberKind::Sparse, Some(gnu)) = (kind, header.as_gnu()) {
            size = gnu.real_size().ok()?;
            parts = Some(SparseParts::of_header(gnu)?);
        } else if kind == MemberKind::File && sparse.is_there() {
            kind = MemberKind::Sparse;
            size = sparse.size?;
            parts = sparse.parts.filter(|_| !sparse.in_content);
        }
        let link = fields
            .link
            .filter(|_| matches!(kind, MemberKind::HardLink | MemberKind::SymbolicLink));
        let member = Member {
            kind,
            size,
            mode: header.mode().unwrap_or(0) & 0o7777,
            modified: fields
                .modified
                .unwrap_or_else(|| header::modified(header)),
            user: header::owner(
                (fields.user, fields.user_number),
                header.username_bytes(),
                header.uid(),
            ),
            group: header::owner(
                (fields.group, fields.group_number),
                header.groupname_bytes(),
                header.gid(),
            ),
            link: link.unwrap_or_else(|| header::link(header, kind)),
            offset: start,
            data: 0..stored,
            name,
        };
        Some(FoundMember { member, parts })
    }

    /// Places the data of a member here, and goes on behind it.
    fn go_on_behind(&mut self, mut found: FoundMember) -> Option<Option<FoundMember>> {
        let data = &mut found.member.data;
        let end = self.at.checked_add(data.end)?;
        *data = self.at..end;
        self.has_members = true;
        self.at = end.checked_next_multiple_of(UNIT)?;
        Some(Some(found))
    }
}
