//! Searches collections larger than memory. The texts are cut into parts. Each part is searched for
//! copies of the parts before it, one after the other, and then for copies of itself. Two parts are
//! in memory at a time.
//!
//! A part is a range of windows. Behind its last window it has the N - 1 more units that this
//! window needs. The marks of a part are kept while the parts before it are searched, so a window's
//! original is in the first part that has one. The bytes read grow with the square of the number of
//! parts.

use super::equal_windows::{Frequent, Marks};
use super::repeated_ranges::{FileRepeats, MostFrequent, Repeats};
use super::search_texts::{TextSearch, expected_memory};
use super::settings::Search;
use super::texts::Texts;
use super::window_marks::{WindowMarks, subtract};
use super::window_minimizers::MOST_UNITS;
use crate::base::error::{Bound, Error, Result};
use crate::options::Options;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that the program takes for a search of any size.
const BASE: u64 = 8 << 20;
const THREAD: u64 = 1 << 20;

/// Bytes kept for each text of any size: by the search, and by the program that reads it and prints
/// the result.
const TEXT: u64 = 1 << 10;

/// Size in bytes of a part that takes the whole collection.
const WHOLE: u64 = 1 << 62;

/// Minimum size of a part in bytes. Shorter parts take too long.
const SHORTEST_PART: u64 = 1 << 20;

/// A range of bytes of a text: the windows that begin in it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    file: usize,
    range: Range<u64>,
}

type PieceList = Vec<Piece>;

/// Number of parts up to which no warning is given. Each part is searched once for each part.
const FEW_PARTS: usize = 3;

/// A search of texts whose ranges `load` reads, within a limit of memory.
pub(super) struct PartSearch<'s, L> {
    search: &'s Search,
    sizes: Vec<u64>,
    load: L,
    /// Memory budget in bytes, without the bytes kept for all texts.
    memory: u64,
    /// Parts whose windows are originals, and parts whose windows are copies. Both are the same
    /// parts unless the search is across.
    sources: Vec<PieceList>,
    targets: Vec<PieceList>,
}

/// A part in memory.
struct Loaded<'a> {
    texts: Vec<Cow<'a, [u8]>>,
    bytes: u64,
}

impl<'s, 'a, L> PartSearch<'s, L>
where
    L: FnMut(usize, Range<u64>, u64) -> Result<Cow<'a, [u8]>>,
{
    /// Plans the parts.
    ///
    /// # Errors
    /// [`Error::Limit`] if there is no memory for two parts of 1 MiB, or for a few windows.
    pub(super) fn new(
        search: &'s Search,
        sizes: Vec<u64>,
        load: L,
        options: &Options,
    ) -> Result<Self> {
        let all = sizes.iter().sum();
        let width = search.unit.size() as u64;
        let originals = if search.keeps_originals {
            all / width / 8
        } else {
            0
        };
        let of_texts = TEXT * sizes.len() as u64;
        let fixed = BASE + THREAD * options.thread_count() as u64 + originals + of_texts;
        // With more memory there are more threads.
        let idle_threads = options.asked_threads() - options.thread_count();
        let fixed_with_all = fixed + THREAD * idle_threads as u64;
        let memory = options.memory_limit().saturating_sub(fixed);
        let part_size = match search.part_size {
            Some(size) => size,
            None if needed(search, all) <= memory && all / width < MOST_UNITS => WHOLE,
            None => {
                let (most, shortest) = part_sizes(search, memory);
                if most < shortest {
                    let needed = part_need(search, shortest) + fixed_with_all;
                    let what = format!(
                        "a search of {} texts in parts of {shortest} bytes",
                        sizes.len()
                    );
                    let allowed = options.memory_limit();
                    let by = Bound::Memory;
                    return Err(Error::Limit {
                        what: what.into(),
                        needed,
                        allowed,
                        by,
                    });
                }
                most
            }
        };
        let part_size = part_size.next_multiple_of(width);
        let first = if search.is_across {
            sizes.len().min(1)
        } else {
            sizes.len()
        };
        let cut =
            |files: Range<usize>| cut(files.map(|file| (file, sizes[file])), part_size, width);
        let sources = cut(0..first);
        let targets = if search.is_across {
            cut(first..sizes.len())
        } else {
            sources.clone()
        };
        if sources.len() > FEW_PARTS {
            let parts = sources.len();
            let needed = needed(search, all).saturating_add(fixed_with_all);
            options.run.listener.warn(format!(
                "{all} bytes are searched in {parts} parts, each against all others, which takes \
                 many times as long; with --memory {}M (-M) they are searched together",
                needed.div_ceil(1 << 20)
            ));
        }
        Ok(PartSearch {
            search,
            sizes,
            load,
            memory,
            sources,
            targets,
        })
    }

    /// Searches all pairs of parts.
    pub(super) fn run(&mut self) -> Result<Repeats> {
        let files = self.sizes.iter().map(|&size| FileRepeats {
            size,
            ..FileRepeats::default()
        });
        let mut files: Vec<FileRepeats> = files.collect();
        let progress = self.progress();
        let pairs = self.pairs();
        let mut originals = Vec::new();
        originals.resize_with(self.sources.len(), WindowMarks::default);
        let mut frequent = None;
        for pairs in pairs.chunk_by(|a, b| a.1 == b.1) {
            let target = pairs[0].1;
            let loaded = self.load(&self.targets[target].clone(), 0)?;
            let copies = WindowMarks::new(self.units(&self.targets[target]))?;
            for &(source, _) in pairs {
                let (found, window) = self.pair(source, target, &loaded, &copies, &progress)?;
                frequent = window.map(|window| self.place(source, window));
                if self.search.keeps_originals {
                    if originals[source].is_empty() {
                        originals[source] = WindowMarks::new(self.units(&self.sources[source]))?;
                    }
                    originals[source].add_from(0, &found);
                }
            }
            self.add_ranges(&self.targets[target], &copies, |file, range| {
                join(&mut files[file].ranges, range);
            });
        }
        if self.search.keeps_originals {
            self.cut_originals(&originals, &mut files);
        }
        let parts = self.targets.len()
            + if self.search.is_across {
                self.sources.len()
            } else {
                0
            };
        Ok(Repeats {
            files,
            most_frequent: frequent.filter(|_| pairs.len() == 1),
            parts,
        })
    }

    /// The pairs of parts to search for copies of each other: source and target. Pairs with the
    /// same target are consecutive.
    fn pairs(&self) -> Vec<(usize, usize)> {
        let sources = |target| {
            if self.search.is_across {
                self.sources.len()
            } else {
                target + 1
            }
        };
        let targets = 0..self.targets.len();
        targets
            .flat_map(|target| (0..sources(target)).map(move |source| (source, target)))
            .collect()
    }

    /// Searches two parts, of which `loaded` is one, or that part alone. Returns the originals and
    /// the most frequent window.
    fn pair(
        &mut self,
        source: usize,
        target: usize,
        loaded: &Loaded,
        copies: &WindowMarks,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(WindowMarks, Option<Frequent>)> {
        let is_other = self.search.is_across || source != target;
        let other = match is_other {
            true => Some(self.load(&self.sources[source].clone(), loaded.bytes)?),
            false => None,
        };
        let mut texts = Texts::new(self.search.unit.size());
        for text in other.iter().flat_map(|other| &other.texts) {
            texts.add(text, true, false);
        }
        texts.align();
        let target_start = texts.end;
        loaded
            .texts
            .iter()
            .for_each(|text| texts.add(text, !is_other, true));
        let marks = Marks {
            copies: WindowMarks::new(texts.end)?,
            originals: WindowMarks::new(texts.end)?,
        };
        marks.copies.add(target_start, copies);
        let used =
            loaded.bytes + other.as_ref().map_or(0, |other| other.bytes) + texts.end as u64 / 4;
        let memory = self.memory.saturating_sub(used) as usize;
        let search = TextSearch {
            texts: &texts,
            len: self.search.len,
            memory,
            progress,
        };
        let frequent = search.run(&marks)?;
        copies.add_from(target_start, &marks.copies);
        Ok((marks.originals, frequent))
    }

    /// Reads a part, beside `others` bytes of another part.
    fn load(&mut self, part: &[Piece], others: u64) -> Result<Loaded<'a>> {
        let mut loaded = Loaded {
            texts: Vec::new(),
            bytes: 0,
        };
        let needed: u64 = part
            .iter()
            .map(|piece| self.text(piece))
            .map(|text| text.end - text.start)
            .sum();
        let memory = self.memory.saturating_sub(others + needed);
        for piece in part {
            let range = self.text(piece);
            loaded.bytes += range.end - range.start;
            loaded
                .texts
                .push((self.load)(piece.file, range, memory)?);
        }
        Ok(loaded)
    }

    /// The bytes of the windows of a piece.
    fn text(&self, piece: &Piece) -> Range<u64> {
        let more = (self.search.len as u64 - 1) * self.search.unit.size() as u64;
        piece.range.start..self.sizes[piece.file].min(piece.range.end + more)
    }

    /// The whole units of a piece.
    fn piece_units(&self, piece: &Piece) -> usize {
        let text = self.text(piece);
        (text.end - text.start) as usize / self.search.unit.size()
    }

    fn units(&self, part: &[Piece]) -> usize {
        part.iter()
            .map(|piece| self.piece_units(piece))
            .sum()
    }

    /// The place of a window of a part in its file.
    fn place(&self, source: usize, window: Frequent) -> MostFrequent {
        let mut left = window.at.0;
        let copies = window.copies as u64;
        let pieces = &self.sources[source];
        let holds = |piece: &&Piece| {
            let units = self.piece_units(piece);
            let is_in = left < units;
            left -= if is_in { 0 } else { units };
            is_in
        };
        let piece = pieces
            .iter()
            .find(holds)
            .expect("a window is in a piece");
        let offset = piece.range.start + (left * self.search.unit.size()) as u64;
        MostFrequent {
            file: piece.file,
            offset,
            copies,
        }
    }

    /// Calls `add` with the bytes of marked windows of a part, in order, by file.
    fn add_ranges(
        &self,
        part: &[Piece],
        marks: &WindowMarks,
        mut add: impl FnMut(usize, Range<u64>),
    ) {
        let mut start = 0;
        let len = self.search.len;
        for piece in part {
            let units = self.piece_units(piece);
            let byte =
                |unit: usize| piece.range.start + ((unit - start) * self.search.unit.size()) as u64;
            for covered in marks.covered(start..start + (units + 1).saturating_sub(len), len) {
                add(piece.file, byte(covered.start)..byte(covered.end));
            }
            start += units;
        }
    }

    /// Finds the parts of the copies that belong to no original.
    fn cut_originals(&self, originals: &[WindowMarks], files: &mut [FileRepeats]) {
        let mut kept = vec![Vec::new(); files.len()];
        for (part, originals) in self.sources.iter().zip(originals) {
            if !originals.is_empty() {
                self.add_ranges(part, originals, |file, range| join(&mut kept[file], range));
            }
        }
        for (file, kept) in files.iter_mut().zip(&kept) {
            file.later_copies = subtract(&file.ranges, kept);
        }
    }

    /// Reports finished units to the search's listener.
    fn progress(&self) -> impl Fn(u64) + Sync + use<L> {
        let done = AtomicU64::new(0);
        let tell = self.search.progress.clone();
        let width = self.search.unit.size() as u64;
        let bytes = |part: &PieceList| {
            part.iter()
                .map(|piece| piece.range.end - piece.range.start)
                .sum()
        };
        let pair_bytes = |&(source, target): &(usize, usize)| -> u64 {
            let other = self.search.is_across || source != target;
            let source: u64 = if other {
                bytes(&self.sources[source])
            } else {
                0
            };
            source + bytes(&self.targets[target])
        };
        let total = self.pairs().iter().map(pair_bytes).sum();
        move |units| {
            let before = done.fetch_add(units * width, Ordering::Relaxed);
            tell((before + units * width).min(total), total);
        }
    }
}

/// Cuts files into parts of about `part_size` bytes, at multiples of `width` in each file.
fn cut(files: impl Iterator<Item = (usize, u64)>, part_size: u64, width: u64) -> Vec<PieceList> {
    let mut parts = Vec::new();
    let mut left = 0;
    for (file, size) in files {
        let mut start = 0;
        while start < size {
            if left == 0 {
                parts.push(PieceList::new());
                left = part_size;
            }
            let end = size.min(start + left);
            parts
                .last_mut()
                .expect("just pushed")
                .push(Piece {
                    file,
                    range: start..end,
                });
            left -= (end - start).next_multiple_of(width);
            start = end;
        }
    }
    parts
}

/// Appends a range that starts at or behind the end of the last one. Touching ranges are joined.
fn join(ranges: &mut Vec<Range<u64>>, range: Range<u64>) {
    match ranges.last_mut() {
        Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
        _ => ranges.push(range),
    }
}

/// Memory in bytes for texts of `bytes` bytes and their search.
fn needed(search: &Search, bytes: u64) -> u64 {
    let units = bytes / search.unit.size() as u64;
    bytes + units / 4 + expected_memory(units, search.len)
}

/// Size in bytes of the parts for which [`unit_need`] is computed.
const UNIT: u64 = 1 << 30;

/// Memory for two parts of [`UNIT`] bytes, and the marks of the second one once more.
fn unit_need(search: &Search) -> u128 {
    u128::from(2 * needed(search, UNIT) + UNIT / search.unit.size() as u64 / 8)
}

/// Bytes behind the last windows of two parts.
fn behind(search: &Search) -> u64 {
    2 * (search.len * search.unit.size()) as u64
}

/// Memory for the search of two parts of `size` bytes.
fn part_need(search: &Search, size: u64) -> u64 {
    (u128::from(size) * unit_need(search) / u128::from(UNIT)) as u64 + behind(search)
}

/// Size of the largest parts that can be searched within `memory`, and of the shortest parts that
/// are searched at all.
fn part_sizes(search: &Search, memory: u64) -> (u64, u64) {
    let units = u128::from(memory.saturating_sub(behind(search))) * u128::from(UNIT);
    let size = (units / unit_need(search)) as u64;
    let shortest = SHORTEST_PART.max(2 * behind(search));
    let most = MOST_UNITS / 4 * search.unit.size() as u64;
    (
        if size < shortest {
            size
        } else {
            size.min(most)
        },
        shortest,
    )
}
