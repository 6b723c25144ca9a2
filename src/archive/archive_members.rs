//! The members of an archive whose raw stream is a tar archive: their list, and the content of one
//! of them.
//!
//! A table lists the members of a frame, so that no block is decoded for the list. Without it the
//! headers are looked for in the blocks; most of those that hold nothing but content are passed
//! over. The content of a member is read only if its own header says the same as the list.

use super::archive_file::Archive;
use crate::base::error::{Error, Flaw, Result};
use crate::base::shortage;
use crate::base::tar::{
    self, End, FoundMember, Member, MemberKind, SparseOutput, SparseParts, TarWalk, UNIT,
};
use crate::frame::{FrameInfo, LONGEST_MEMBERS, PlainMembers, read_table};
use crate::search::ReadCost;
use std::io::{Read, Seek, Write};

/// Memory of a member with its strings in the list, in bytes, for most members.
const MEMBER: u64 = 512;

/// Maximum size of the headers of one member, in bytes.
const LONGEST_HEADERS: u64 = 64 << 20;

/// Bytes that are read first of a content that begins with the list of its parts.
const FIRST_PARTS: u64 = 64 << 10;

const WRONG_MEMBERS: Flaw = Flaw("the table of members does not match the member's own header");
const CUT_MEMBER: Flaw = Flaw("the tar archive ends within this member");
const WRONG_PARTS: Flaw = Flaw("the parts of a file with holes do not match its content");

impl<R: Read + Seek + Send> Archive<R> {
    /// The members of the tar archive that the raw stream is, in order. As with `tar -i`, several
    /// archives one after the other are one.
    ///
    /// If the archive breaks off, this returns the members before that place, with a warning to
    /// the listener of the options; [`Archive::tar_breaks_off`] tells where. If the options ask for
    /// verification, the members are looked for in the blocks even if there is a table.
    ///
    /// ```
    /// use bwz::{Archive, Options};
    /// use std::io::Cursor;
    ///
    /// # let mut header = vec![0; 512];
    /// # header[..5].copy_from_slice(b"a.txt");
    /// # header[100..107].copy_from_slice(b"0000644");
    /// # header[124..135].copy_from_slice(b"00000000005");
    /// # header[136..147].copy_from_slice(b"00000000000");
    /// # header[148..156].fill(b' ');
    /// # let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    /// # header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    /// # let tar = [&header[..], b"hello", &[0; 507 + 1024]].concat();
    /// // `tar` holds the bytes of a tar archive.
    /// let options = Options::new();
    /// let mut file = Vec::new();
    /// bwz::compress(&tar[..], &mut file, &options)?;
    ///
    /// let mut archive = Archive::open(Cursor::new(file), &options)?;
    /// let members = archive.members()?;
    /// assert_eq!((&members[0].name[..], members[0].size), (&b"a.txt"[..], 5));
    ///
    /// let mut content = Vec::new();
    /// archive.read_member(&members[0], &mut content)?;
    /// assert_eq!(content, b"hello");
    /// # Ok::<(), bwz::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] if it does not begin with the header of a member. [`Error::Limit`] if the
    /// list needs more memory than the options allow. Otherwise as [`Archive::extract`].
    pub fn members(&mut self) -> Result<Vec<Member>> {
        self.contents.check_supported()?;
        let frames: Vec<FrameInfo> = self
            .frames()
            .iter()
            .filter(|frame| frame.blocks > 0)
            .cloned()
            .collect();
        let mut members = Vec::new();
        for frame in &frames {
            let listed = match self.options.verify {
                true => None,
                false => self.listed_members(frame, members.len())?,
            };
            let Some(listed) = listed else {
                return self.walk_members();
            };
            let start = frame.raw.start;
            members.extend(
                listed
                    .into_iter()
                    .map(|member| moved(member, start)),
            );
        }
        match frames.is_empty() {
            true => Err(no_archive()),
            false => Ok(members),
        }
    }

    /// True if the raw stream is a tar archive: if tables list the members of all frames, or if it
    /// begins with the header of a member. The first block is decoded only if there is no table
    /// and the raw stream has the size of an archive, a multiple of 512.
    ///
    /// # Errors
    /// As [`Archive::extract`].
    pub fn is_tar(&mut self) -> Result<bool> {
        let mut frames = self
            .frames()
            .iter()
            .filter(|frame| frame.blocks > 0);
        if self.raw_size() > 0 && frames.all(|frame| frame.members.is_some()) {
            return Ok(true);
        }
        if self.raw_size() < UNIT || !self.raw_size().is_multiple_of(UNIT) {
            return Ok(false);
        }
        let mut first = Vec::new();
        self.read_range(0..UNIT, &mut first)?;
        Ok(first.first_chunk().is_some_and(tar::is_header))
    }

    /// The members of a frame by its table, with offsets within the frame. `None` if there is no
    /// sound table. `before` members are listed already.
    fn listed_members(&mut self, frame: &FrameInfo, before: usize) -> Result<Option<Vec<Member>>> {
        let Some(place) = frame
            .members
            .filter(|place| place.size <= LONGEST_MEMBERS)
        else {
            return Ok(None);
        };
        let memory = self.options.memory_limit();
        shortage::check(place.size, memory, || "a table of members".into())?;
        let raw_size = frame.raw.end - frame.raw.start;
        let members = match read_table(&mut self.input, place)? {
            Err(flaw) => Err(flaw),
            Ok(content) => match PlainMembers::from_content(&content, memory / 4) {
                Err(flaw) => Err(flaw),
                Ok(plain) => {
                    self.check_members(before + plain.count)?;
                    plain.members(raw_size)
                }
            },
        };
        if let Err(Flaw(what)) = &members {
            self.options.run.listener.warn(format!(
                "{what}: the members are looked for in the blocks, which takes longer"
            ));
        }
        Ok(members.ok())
    }

    /// Finds the members by their headers.
    fn walk_members(&mut self) -> Result<Vec<Member>> {
        let mut walk = TarWalk::default();
        let mut members = Vec::new();
        let memory = self.options.memory_limit();
        let mut needed = 0_u64;
        let mut ahead = 1;
        while let Some(at) = walk.wanted().filter(|&at| at < self.raw_size()) {
            let first = self.blocks_of(&(at..at + 1)).start;
            let end = self.blocks().len().min(first + ahead);
            let mut pos = self.blocks()[first].raw.start;
            let numbers: Vec<u64> = (first as u64..end as u64).collect();
            self.restore_blocks(&numbers, |block, _, _| {
                let range = pos..pos + block.raw.len() as u64;
                pos = range.end;
                let read = |at: usize, out: &mut [u8]| block.raw.read_at(at, out);
                walk.feed(range, read, |found| {
                    needed += memory_of(&found.member);
                    members.push(found.member);
                    needed <= memory
                });
                Ok(())
            })?;
            let what = || format!("a list of {} members or more", members.len());
            shortage::check(needed, memory, what)?;
            // Large contents are passed over.
            let is_dense = walk
                .wanted()
                .is_some_and(|at| self.blocks_of(&(at..at + 1)).start <= end);
            ahead = if is_dense {
                self.options.thread_count()
            } else {
                1
            };
        }
        let is_over = walk.wanted().is_none();
        match walk.finish(self.raw_size()) {
            // An archive without members is two units of zeros or more.
            End::Whole if members.is_empty() && (is_over || self.raw_size() < 2 * UNIT) => {
                return Err(no_archive());
            }
            End::Broken(_) if members.is_empty() => return Err(no_archive()),
            End::Broken(at) => {
                self.tar_end = Some(at);
                self.options.run.listener.warn(format!(
                    "the tar archive breaks off at byte {at} of {}: only what is before that is read",
                    self.raw_size()
                ));
            }
            End::Whole => {}
        }
        Ok(members)
    }

    /// Where the tar archive breaks off, if [`Archive::members`] has found that it does.
    pub fn tar_breaks_off(&self) -> Option<u64> {
        self.tar_end
    }

    fn check_members(&self, count: usize) -> Result<()> {
        let what = || format!("a list of {count} members");
        shortage::check(count as u64 * MEMBER, self.options.memory_limit(), what)
    }

    /// The member of a name, as `tar -x` leaves it: the last of several, and for a hard link the
    /// file that it is a link to, or the link itself if that file is not there. `./` before a name
    /// and `/` behind it make no difference.
    ///
    /// # Errors
    /// [`Error::Format`] if the own header of a hard link does not say the same as `members`.
    /// Otherwise as [`Archive::read_range`].
    pub fn find_member<'a>(
        &mut self,
        members: &'a [Member],
        name: &[u8],
    ) -> Result<Option<&'a Member>> {
        let mut wanted = name;
        let mut before = members;
        let mut found = None;
        while let Some(number) = before
            .iter()
            .rposition(|member| bare(&member.name) == bare(wanted))
        {
            let member = &before[number];
            found = Some(member);
            if member.kind != MemberKind::HardLink {
                break;
            }
            self.read_headers(member)?;
            wanted = &member.link;
            before = &before[..number];
        }
        Ok(found)
    }

    /// The content of a member in memory.
    ///
    /// # Errors
    /// [`Error::Limit`] if it is larger than the memory that the options allow. Otherwise as
    /// [`Archive::read_member`].
    pub fn member_content(&mut self, member: &Member) -> Result<Vec<u8>> {
        let what = || format!("the member {}", String::from_utf8_lossy(&member.name));
        shortage::check(member.size, self.options.memory_limit(), what)?;
        let mut content = Vec::new();
        self.read_member(member, &mut content)?;
        Ok(content)
    }

    /// Compares a member with its own header. Its content is then [`Member::data`] of the raw
    /// stream, unless it has holes.
    ///
    /// # Errors
    /// As [`Archive::read_member`].
    pub fn check_member(&mut self, member: &Member) -> Result<ReadCost> {
        check_is_file(member)?;
        Ok(self.read_headers(member)?.1)
    }

    /// Writes the content of a member, with zeros for holes. Only the blocks that hold it are
    /// decoded.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is a link, which [`Archive::find_member`] follows, or has no content
    /// for another reason. [`Error::Format`] if the member's own header does not say the same as
    /// `member`. Otherwise as [`Archive::read_range`].
    pub fn read_member<W: Write>(&mut self, member: &Member, output: W) -> Result<ReadCost> {
        check_is_file(member)?;
        let what = || format!("the member {}", String::from_utf8_lossy(&member.name));
        self.options.check_output(0, member.size, what)?;
        let mut data = member.data.clone();
        let (found, mut cost) = self.read_headers(member)?;
        if member.kind != MemberKind::Sparse {
            cost += self.read_range(data, output)?;
            return Ok(cost);
        }
        let parts = match found.parts {
            Some(parts) => parts,
            None => {
                let (parts, size, read) = self.read_parts(member)?;
                cost += read;
                data.start += size;
                parts
            }
        };
        if data.start > data.end
            || parts
                .stored()
                .is_none_or(|size| size > data.end - data.start)
        {
            return Err(self.wrong(WRONG_PARTS, member));
        }
        let mut output = SparseOutput::new(output, parts, member.size);
        cost += self.read_range(data, &mut output)?;
        output.finish()?;
        Ok(cost)
    }

    /// Reads the headers of a member, and compares them with it.
    fn read_headers(&mut self, member: &Member) -> Result<(FoundMember, ReadCost)> {
        let headers = member.offset..member.data.start;
        headers
            .end
            .checked_sub(headers.start)
            .filter(|&size| size <= LONGEST_HEADERS && headers.end <= self.raw_size())
            .ok_or_else(|| self.wrong(WRONG_MEMBERS, member))?;
        let mut bytes = Vec::new();
        let cost = self.read_range(headers, &mut bytes)?;
        let found = FoundMember::in_headers(&bytes).filter(|found| found.is_like(member));
        let found = found.ok_or_else(|| self.wrong(WRONG_MEMBERS, member))?;
        match member.data.end <= self.raw_size() {
            true => Ok((found, cost)),
            false => Err(self.wrong(CUT_MEMBER, member)),
        }
    }

    /// Reads the list of parts in front of a content. Returns it and its size.
    fn read_parts(&mut self, member: &Member) -> Result<(SparseParts, u64, ReadCost)> {
        let mut cost = ReadCost::default();
        let stored = member.data.end - member.data.start;
        let mut size = FIRST_PARTS.min(stored);
        loop {
            let mut front = Vec::new();
            let start = member.data.start;
            cost += self.read_range(start..start + size, &mut front)?;
            if let Some((parts, size)) = SparseParts::from_content(&front) {
                return Ok((parts, size, cost));
            }
            let is_list = |byte: &u8| byte.is_ascii_digit() || *byte == b'\n';
            if size == stored.min(LONGEST_HEADERS) || !front.iter().all(is_list) {
                return Err(self.wrong(WRONG_PARTS, member));
            }
            size = (size * 8).min(stored).min(LONGEST_HEADERS);
        }
    }

    /// The error of a member, at the block that holds its header.
    fn wrong(&self, flaw: Flaw, member: &Member) -> Error {
        let block = self
            .blocks_of(&(member.offset..member.offset.saturating_add(1)))
            .start;
        let offset = self
            .blocks()
            .get(block)
            .map_or(self.coded_size(), |block| block.coded.start);
        flaw.at(Some(block as u64), offset)
    }
}

/// A name without `./` before it and `/` behind it.
fn bare(mut name: &[u8]) -> &[u8] {
    while let Some(rest) = name.strip_prefix(b"./") {
        name = rest;
    }
    name.strip_suffix(b"/").unwrap_or(name)
}

/// Memory of a member in the list, in bytes.
fn memory_of(member: &Member) -> u64 {
    let strings = [&member.name, &member.link, &member.user, &member.group];
    MEMBER
        + strings
            .map(|string| string.len() as u64)
            .iter()
            .sum::<u64>()
}

/// A member whose offsets are counted from `start` bytes before.
fn moved(mut member: Member, start: u64) -> Member {
    member.offset += start;
    member.data = member.data.start + start..member.data.end + start;
    member
}

/// Refuses a member without content.
fn check_is_file(member: &Member) -> Result<()> {
    let what = match member.kind {
        kind if kind.is_file() => return Ok(()),
        MemberKind::HardLink | MemberKind::SymbolicLink => {
            format!("a link to {}", String::from_utf8_lossy(&member.link))
        }
        MemberKind::Directory => "a directory".into(),
        _ => "no file".into(),
    };
    let name = String::from_utf8_lossy(&member.name);
    Err(Error::Usage(format!("{name} is {what}").into()))
}

fn no_archive() -> Error {
    Error::Usage("holds no tar archive: it does not begin with the header of a member".into())
}
