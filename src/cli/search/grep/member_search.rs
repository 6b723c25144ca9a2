//! The search of the files in a tar archive, each of which is a text of its own.
//!
//! If the archive has an index, it is asked which lines can match, and only the members that hold
//! one of these are searched. Blocks without such a member are not decoded. A thread decodes ahead
//! of the search, and its blocks come through a channel.

use crate::cli::files::input_name::Name;
use crate::cli::files::job_thread::job_thread;
use crate::cli::files::member_names;
use crate::cli::search::grep::indexed_search::IndexedSearch;
use crate::cli::search::grep::text_search::TextSearch;
use bwz::{Archive, Error, Member, MemberKind, Options, Result};
use crossbeam_channel::{Receiver, Sender, bounded};
use globset::GlobMatcher;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::thread;

/// Pieces of blocks that wait for the search.
const WAITING: usize = 4;

/// Maximum size of a file with holes that is searched. Its holes are one long line.
const LARGEST_WITH_HOLES: u64 = 1 << 30;

/// The files of an archive, in order.
pub(crate) struct SearchedMembers {
    pub archive: Archive<File>,
    pub members: Vec<Member>,
    /// For each member, whether it may have a line that matches.
    may_match: Vec<bool>,
}

impl SearchedMembers {
    /// Opens a file if its content is a tar archive.
    pub(crate) fn open(
        path: &Path,
        wanted: &[GlobMatcher],
        options: &Options,
    ) -> Result<Option<Self>> {
        let mut start = [0; bwz::MAGIC.len()];
        let mut file = File::open(path)?;
        if file.read_exact(&mut start).is_err() || start != bwz::MAGIC {
            return Ok(None);
        }
        let mut archive = match Archive::open(file, options) {
            Ok(archive) => archive,
            // A damaged file is read from its start, as far as it goes, unless members are named.
            Err(_) if wanted.is_empty() => return Ok(None),
            Err(e) => return Err(e),
        };
        if !archive.is_tar()? {
            return Ok(None);
        }
        let mut members = archive.members()?;
        members.retain(|member| {
            let is_wanted = |glob| member_names::matches(glob, member);
            member.kind.is_file() && (wanted.is_empty() || wanted.iter().any(is_wanted))
        });
        Ok(Some(SearchedMembers {
            may_match: vec![true; members.len()],
            archive,
            members,
        }))
    }

    /// Asks the index which members may have lines that match.
    pub(crate) fn ask(&mut self, indexed: &IndexedSearch) -> Result<()> {
        let Some(regions) = indexed.regions(&mut self.archive)? else {
            return Ok(());
        };
        for (member, may_match) in self.members.iter().zip(&mut self.may_match) {
            let behind = regions.partition_point(|region| region.range.end <= member.data.start);
            *may_match = regions
                .get(behind)
                .is_some_and(|region| region.range.start < member.data.end);
        }
        Ok(())
    }

    /// Calls `search` for each member with its text, or without if no line of it can match. Ends
    /// when `search` returns false.
    pub(crate) fn each(
        self,
        mut search: impl FnMut(&Member, Option<MemberText>) -> Result<bool>,
    ) -> Result<()> {
        let SearchedMembers {
            mut archive,
            members,
            may_match,
        } = self;
        let broken = archive.tar_breaks_off();
        let is_streamed = |member: &Member| member.kind != MemberKind::Sparse;
        let wanted = members
            .iter()
            .zip(&may_match)
            .filter(|(member, may_match)| **may_match && is_streamed(member))
            .map(|(member, _)| member.offset..member.data.end);
        let blocks = blocks_of(&archive, wanted);
        let (sender, pieces) = bounded(WAITING);
        thread::scope(|scope| {
            let decoder = job_thread(scope)?;
            let job = move || decode(&mut archive, &blocks, &sender);
            if decoder.send(Box::new(job)).is_err() {
                return Err(io::Error::other("the thread that decodes has ended").into());
            }
            drop(decoder);
            let mut stream = BlockStream::new(pieces);
            for (member, may_match) in members.iter().zip(may_match) {
                let text = match (may_match, is_streamed(member)) {
                    (false, _) => None,
                    (true, false) => Some(MemberText::WithHoles),
                    (true, true) => {
                        let mut headers = Vec::new();
                        let place = member.offset..member.data.start;
                        stream.text(place)?.read_to_end(&mut headers)?;
                        if !member.is_confirmed_by(&headers) {
                            return Err(unconfirmed(member));
                        }
                        Some(MemberText::Stream(stream.text(member.data.clone())?))
                    }
                };
                if !search(member, text)? {
                    break;
                }
            }
            Ok(())
        })?;
        // The members before the break were searched. The rest could not be.
        broken.map_or(Ok(()), |at| Err(member_names::broken(at)))
    }
}

/// The error of a member whose own header says something else.
fn unconfirmed(member: &Member) -> Error {
    let name = String::from_utf8_lossy(&member.name);
    let said = format!(
        "the table of members has {name}, which its own header does not confirm; --verify does \
         without the table"
    );
    Error::Usage(said.into())
}

/// The text of a member.
pub(crate) enum MemberText<'s> {
    Stream(io::Take<&'s mut BlockStream>),
    /// It has holes, which [`Archive::read_member`] fills.
    WithHoles,
}

/// Searches the text of a member of the file `path`.
pub(crate) fn search(
    text: MemberText,
    member: &Member,
    path: &Path,
    options: &Options,
    search: &mut TextSearch,
) -> Result<()> {
    match text {
        MemberText::Stream(text) => search.read_from(text)?,
        MemberText::WithHoles if member.size > LARGEST_WITH_HOLES => {
            let said = format!(
                "{} has holes and {} bytes, too many to search; bwz cat --member writes them",
                String::from_utf8_lossy(&member.name),
                member.size
            );
            return Err(Error::Usage(said.into()));
        }
        MemberText::WithHoles => {
            let mut archive = Archive::open(File::open(path)?, options)?;
            match archive.read_member(member, &mut *search) {
                Ok(_) => search.finish()?,
                Err(_) if search.is_done() => {}
                Err(e) => return Err(e),
            }
        }
    }
    Ok(())
}

/// The name of a member in an archive, as a result of the search shows it.
pub(crate) fn name_in(archive: &Name, member: &Member) -> Name {
    let name = [archive.bytes(), b":", &member.name].concat();
    Name::File(OsString::from_vec(name).into())
}

/// The blocks that hold ranges in order, as their number and the offset of their raw bytes.
fn blocks_of(archive: &Archive<File>, ranges: impl Iterator<Item = Range<u64>>) -> Vec<(u64, u64)> {
    let all = archive.blocks();
    let mut blocks: Vec<(u64, u64)> = Vec::new();
    for range in ranges {
        let mut number = all.partition_point(|block| block.raw.end <= range.start);
        if let Some(&(last, _)) = blocks.last() {
            number = number.max(last as usize + 1);
        }
        while let Some(block) = all
            .get(number)
            .filter(|block| block.raw.start < range.end)
        {
            blocks.push((number as u64, block.raw.start));
            number += 1;
        }
    }
    blocks
}

/// A part of the raw stream, with its offset.
type Piece = Result<(u64, Vec<u8>)>;

/// Decodes blocks, until nobody wants them any more.
fn decode(archive: &mut Archive<File>, blocks: &[(u64, u64)], pieces: &Sender<Piece>) {
    let numbers: Vec<u64> = blocks.iter().map(|&(number, _)| number).collect();
    let mut next = blocks.iter();
    let mut current = None;
    let mut offset = 0;
    let mut is_wanted = true;
    let read = archive.read_blocks(&numbers, |number, bytes| {
        if current != Some(number) {
            current = Some(number);
            offset = next.next().map_or(offset, |&(_, start)| start);
        }
        let piece = Ok((offset, bytes.to_vec()));
        offset += bytes.len() as u64;
        pieces.send(piece).map_err(|_| {
            is_wanted = false;
            io::Error::other("the search needs no more")
        })
    });
    if let Err(e) = read
        && is_wanted
    {
        let _ = pieces.send(Err(e));
    }
}

/// The decoded blocks, read in order.
pub(crate) struct BlockStream {
    pieces: Receiver<Piece>,
    piece: Vec<u8>,
    /// Bytes of the piece that were read.
    read: usize,
    /// Offset of the end of the piece.
    end: u64,
}

impl BlockStream {
    fn new(pieces: Receiver<Piece>) -> Self {
        BlockStream {
            pieces,
            piece: Vec::new(),
            read: 0,
            end: 0,
        }
    }

    /// The text of a range, which begins at or behind what was read.
    fn text(&mut self, range: Range<u64>) -> io::Result<io::Take<&mut Self>> {
        let size = range.end - range.start;
        while size > 0 && self.end <= range.start {
            if !self.receive()? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        if size > 0 {
            self.read = self.piece.len() - (self.end - range.start) as usize;
        }
        Ok(self.take(size))
    }

    /// Receives the next piece. Returns false if there is none.
    fn receive(&mut self) -> io::Result<bool> {
        let Ok(piece) = self.pieces.recv() else {
            return Ok(false);
        };
        let (offset, bytes) = piece?;
        self.end = offset + bytes.len() as u64;
        self.piece = bytes;
        self.read = 0;
        Ok(true)
    }
}

impl Read for BlockStream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.read == self.piece.len() {
            if !self.receive()? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let rest = &self.piece[self.read..];
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.read += count;
        Ok(count)
    }
}
