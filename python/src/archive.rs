//! Ranges, search and records of a file.
//!
//! Calls of one archive wait for each other. A call that a signal interrupted may still be running,
//! and no caller waits for it; the next call does.

use crate::source::{Input, SharedStop, Source};
use crate::wait::{self, Stop};
use crate::{errors, settings};
use bwz::{BlockInfo, FrameInfo, Member, MemberKind, Note, Options, ReadCost};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyDict};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Ranges longer than this, in bytes, are decoded block by block.
const SHORT: u64 = 1 << 20;

/// An open [`bwz::Archive`], for threads that work on it one after the other.
#[derive(Clone)]
pub struct Handle {
    archive: Arc<Mutex<bwz::Archive<Input>>>,
    stop: SharedStop,
    source: Source,
}

impl Handle {
    /// Reads the tables of a file.
    pub fn open(py: Python<'_>, source: Source, options: Options) -> PyResult<Self> {
        let stop = Stop::default();
        let shared = SharedStop::new(Mutex::new(stop.clone()));
        let input = Input::new(source.clone(), Arc::clone(&shared));
        let opened = wait::on_thread(py, &stop, move || bwz::Archive::open(input, &options));
        let opened = opened.inspect_err(|_| source.interrupt())?;
        let archive = Arc::new(Mutex::new(opened.map_err(|e| errors::raise(py, e))?));
        Ok(Handle {
            archive,
            stop: shared,
            source,
        })
    }

    /// Does `work` with the archive, on another thread.
    pub fn work<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut bwz::Archive<Input>) -> bwz::Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let stop = Stop::default();
        let Handle {
            archive,
            stop: shared,
            source,
        } = self.clone();
        let mine = stop.clone();
        let done = wait::on_thread(py, &stop, move || {
            let mut archive = archive
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *shared
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = mine;
            work(&mut archive)
        });
        done.inspect_err(|_| source.interrupt())?
            .map_err(|e| errors::raise(py, e))
    }
}

/// A frame: its range in the file and in the raw stream, the number of its blocks and their maximum
/// size in bytes, the CRC-32 of its raw bytes, whether it is indexed, the distance of the positions
/// that the index keeps, whether the index is one of sequences, what is said about it, and who made
/// it if its content is private.
type Frame = (
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u32,
    bool,
    Option<u32>,
    bool,
    Vec<Note>,
    Option<u32>,
);

fn frame(frame: &FrameInfo) -> Frame {
    let coded = &frame.coded;
    let raw = &frame.raw;
    let rate = frame.index.and_then(|index| index.sample_rate);
    let blocks = frame.blocks;
    let size = frame.block_size;
    let indexed = frame.index.is_some();
    let of_sequences = frame
        .index
        .is_some_and(|index| index.of_sequences);
    let sum = frame.checksum;
    (
        raw.start,
        raw.end,
        coded.start,
        coded.end,
        blocks,
        size,
        sum,
        indexed,
        rate,
        of_sequences,
        frame.notes.clone(),
        frame.private,
    )
}

/// A block: its range in the raw stream and its range in the file.
fn block(block: &BlockInfo) -> (u64, u64, u64, u64) {
    (
        block.raw.start,
        block.raw.end,
        block.coded.start,
        block.coded.end,
    )
}

/// A record: its name, and the numbers of its line in a `.fai` file.
type Record = (Vec<u8>, u64, u64, u64, u64, Option<u64>, bool);

/// For each pattern, the number of its occurrences and their positions.
type Found = Vec<(u64, Vec<u64>)>;

/// A file that is read by position and searched.
#[pyclass(frozen, module = "bwz._bwz")]
pub struct Archive {
    handle: Handle,
    source: Source,
    /// The members of a tar archive, once they were asked for.
    members: Mutex<Option<Arc<[Member]>>>,
    /// The cost of reading ranges. The archive itself counts the cost of searches.
    cost: Mutex<ReadCost>,
}

#[pymethods]
impl Archive {
    #[new]
    #[pyo3(signature = (file, /, **options))]
    fn new(file: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let options = settings::options(file.py(), options)?;
        let source = Source::of(file, true)?;
        let handle = Handle::open(file.py(), source.clone(), options)?;
        Ok(Archive {
            handle,
            source,
            members: Mutex::default(),
            cost: Mutex::default(),
        })
    }

    fn frames(&self, py: Python<'_>) -> PyResult<Vec<Frame>> {
        self.handle.work(py, |archive| {
            Ok(archive.frames().iter().map(frame).collect())
        })
    }

    fn blocks(&self, py: Python<'_>) -> PyResult<Vec<(u64, u64, u64, u64)>> {
        self.handle.work(py, |archive| {
            Ok(archive.blocks().iter().map(block).collect())
        })
    }

    /// Numbers of blocks: indexed by sequences, by bytes, stored, and others.
    fn indexed_blocks(&self, py: Python<'_>) -> PyResult<(u64, u64, u64, u64)> {
        self.handle.work(py, |archive| {
            let indexed = archive.info();
            Ok((
                indexed.sequences,
                indexed.bytes,
                indexed.stored,
                indexed.none,
            ))
        })
    }

    fn has_sequences(&self, py: Python<'_>) -> PyResult<bool> {
        self.handle
            .work(py, |archive| Ok(archive.has_sequences()))
    }

    fn read_range<'py>(
        &self,
        start: &Bound<'py, PyAny>,
        end: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let py = start.py();
        let (start, end) = bounds(start, end)?;
        let (bytes, cost) = self
            .handle
            .work(py, move |archive| range(archive, start..end))?;
        *self
            .cost
            .lock()
            .unwrap_or_else(PoisonError::into_inner) += cost;
        Ok(PyBytes::new(py, &bytes))
    }

    fn extract<'py>(
        &self,
        py: Python<'py>,
        ranges: Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let bounds = ranges
            .iter()
            .map(|(start, end)| bounds(start, end));
        let range = |bounds: PyResult<(u64, u64)>| bounds.map(|(start, end)| start..end);
        let ranges: Vec<Range<u64>> = bounds.map(range).collect::<PyResult<_>>()?;
        let found = self
            .handle
            .work(py, move |archive| archive.extract_all(&ranges))?;
        Ok(found
            .iter()
            .map(|bytes| PyBytes::new(py, bytes))
            .collect())
    }

    fn count(&self, patterns: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
        let py = patterns.py();
        let patterns = all_patterns(patterns)?;
        self.handle
            .work(py, move |archive| archive.count(&patterns))
    }

    /// All positions if `limit` is `None`.
    fn locate(
        &self,
        patterns: &Bound<'_, PyAny>,
        limit: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Found> {
        let limit: u64 = limit.map_or(Ok(u64::MAX), |limit| settings::number(limit, "limit"))?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let py = patterns.py();
        let patterns = all_patterns(patterns)?;
        let found = self
            .handle
            .work(py, move |archive| archive.locate(&patterns, limit))?;
        Ok(found
            .into_iter()
            .map(|matches| (matches.count, matches.positions))
            .collect())
    }

    fn records(&self, py: Python<'_>) -> PyResult<Vec<Record>> {
        let records = self
            .handle
            .work(py, |archive| archive.records().map(<[_]>::to_vec))?;
        let record = |record: bwz::RecordInfo| {
            let bwz::RecordInfo {
                name,
                length,
                offset,
                line_bases,
                line_width,
                ..
            } = record;
            let quality = record.quality_offset;
            let regular = record.is_regular;
            (
                name, length, offset, line_bases, line_width, quality, regular,
            )
        };
        Ok(records.into_iter().map(record).collect())
    }

    fn members(&self, py: Python<'_>) -> PyResult<Vec<ListedMember>> {
        Ok(self.all_members(py)?.iter().map(member).collect())
    }

    /// The raw range of the content of a member, and the content itself if it has holes. It is the
    /// member whose header is at `offset`, if that is given.
    fn open_member<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
        offset: Option<u64>,
    ) -> PyResult<(u64, u64, Option<Bound<'py, PyBytes>>)> {
        let name = pattern(name)?;
        let members = self.all_members(py)?;
        let opened = self.handle.work(py, move |archive| {
            let mut before = &members[..];
            if let Some(offset) = offset {
                let listed = members
                    .iter()
                    .position(|member| member.offset == offset);
                before = &members[..listed.map_or(0, |number| number + 1)];
            }
            let Some(member) = archive.find_member(before, name.as_ref())? else {
                return Ok(Err(String::from_utf8_lossy(name.as_ref()).into_owned()));
            };
            let content = match member.kind {
                MemberKind::Sparse => Some(archive.member_content(member)?),
                _ => archive.check_member(member).map(|_| None)?,
            };
            Ok(Ok((member.data.clone(), content)))
        })?;
        match opened {
            Ok((data, content)) => {
                let content = content.map(|content| PyBytes::new(py, &content));
                Ok((data.start, data.end, content))
            }
            Err(name) => Err(PyKeyError::new_err(format!("no member {name}"))),
        }
    }

    fn region<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
        start: &Bound<'py, PyAny>,
        end: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (start, end) = bounds(start, end)?;
        let name = pattern(name)?;
        let bases = self
            .handle
            .work(py, move |archive| archive.region(&name, start..end))?;
        Ok(PyBytes::new(py, &bases))
    }

    fn places(
        &self,
        py: Python<'_>,
        offsets: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Option<(u64, u64)>>> {
        let offset = |offset| settings::number(offset, "an offset");
        let offsets: Vec<u64> = offsets
            .iter()
            .map(offset)
            .collect::<PyResult<_>>()?;
        let places = self
            .handle
            .work(py, move |archive| archive.places(&offsets))?;
        Ok(places
            .into_iter()
            .map(|place| place.base)
            .collect())
    }

    /// Numbers of bytes read from the file and of slices and blocks decoded so far.
    fn cost(&self, py: Python<'_>) -> PyResult<(u64, u64, u64)> {
        let mut cost = self
            .handle
            .work(py, |archive| Ok(archive.search_cost()))?;
        cost += *self
            .cost
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Ok((cost.coded_bytes, cost.slices, cost.blocks))
    }

    fn release(&self, py: Python<'_>) -> PyResult<()> {
        self.source.release(py)
    }
}

impl Archive {
    fn all_members(&self, py: Python<'_>) -> PyResult<Arc<[Member]>> {
        let lock = || {
            self.members
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let known = lock().clone();
        if let Some(members) = known {
            return Ok(members);
        }
        let members: Arc<[Member]> = self
            .handle
            .work(py, bwz::Archive::members)?
            .into();
        *lock() = Some(Arc::clone(&members));
        Ok(members)
    }
}

/// A member of a tar archive: name, link, owner and group; kind in a word; size, permissions, time
/// of the last change; offset of its header, and range of what the archive stores of its content.
type ListedMember = ([Vec<u8>; 4], &'static str, u64, u32, i64, u64, u64, u64);

fn member(member: &Member) -> ListedMember {
    let kind = match member.kind {
        MemberKind::File => "file",
        MemberKind::Sparse => "sparse file",
        MemberKind::HardLink => "hard link",
        MemberKind::SymbolicLink => "symbolic link",
        MemberKind::CharDevice => "character device",
        MemberKind::BlockDevice => "block device",
        MemberKind::Directory => "directory",
        MemberKind::Fifo => "fifo",
        _ => "other",
    };
    let strings = [&member.name, &member.link, &member.user, &member.group];
    (
        strings.map(Vec::clone),
        kind,
        member.size,
        member.mode,
        member.modified,
        member.offset,
        member.data.start,
        member.data.end,
    )
}

/// The start and the end of a range of bytes or bases.
fn bounds(start: &Bound<'_, PyAny>, end: &Bound<'_, PyAny>) -> PyResult<(u64, u64)> {
    Ok((
        settings::number(start, "start")?,
        settings::number(end, "end")?,
    ))
}

/// The bytes of a range. A short range is read through the index if there is one; the archive
/// itself then counts the cost.
fn range(archive: &mut bwz::Archive<Input>, range: Range<u64>) -> bwz::Result<(Vec<u8>, ReadCost)> {
    if range.end.saturating_sub(range.start) <= SHORT {
        return Ok((archive.extract(range)?, ReadCost::default()));
    }
    let mut bytes = Vec::new();
    let cost = archive.read_range(range, &mut bytes)?;
    Ok((bytes, cost))
}

/// Patterns from any iterable of patterns. A single pattern is refused: its letters are no
/// patterns.
fn all_patterns(patterns: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<u8>>> {
    if pattern(patterns).is_ok() {
        let said = "patterns are a list of bytes or str, not one of them: give [pattern]";
        return Err(PyTypeError::new_err(said));
    }
    patterns
        .try_iter()?
        .map(|each| pattern(&each?))
        .collect()
}

/// The bytes of `bytes`, `bytearray`, or `str` in UTF-8.
fn pattern(pattern: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = pattern.extract::<PyBackedBytes>() {
        return Ok(bytes.to_vec());
    }
    match pattern.extract::<PyBackedStr>() {
        Ok(text) => Ok(text.as_bytes().to_vec()),
        Err(_) => {
            let said = format!("a pattern is bytes or str, not {}", pattern.get_type());
            Err(PyTypeError::new_err(said))
        }
    }
}
