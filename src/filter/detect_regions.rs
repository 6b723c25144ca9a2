//! Detection of the regions of a block that are tables, sound or machine code, for
//! [`super::regions`].
//!
//! The middle 2 to 4 KiB of every 16 KiB are looked at. Text is left alone at once. Code is known
//! by its calls. A stride at which bytes are equal, or close, far more often than at others means
//! records. Neighbouring chunks that agree become regions. Filters for records are then tried out,
//! each stride by itself: a sample is filtered in each likely way, and if that lowers its order-1
//! cost, sorted and coded. A filter that does not win clearly is not used.
//!
//! Detection takes 0.1 ns a byte on text, 1 ns on binary data, and for a region of records at most
//! a tenth of the time that compressing it takes.

use super::bcj::{is_arm64, is_x86};
use super::delta::Records;
use super::likeness::{MAX_STRIDE, all_likeness, count};
use super::order1;
use super::regions::{FilterRegion, RegionKind};
use crate::base::threads::Threads;
use crate::coder;
use crate::filter::fields;
use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes that get one kind.
const CHUNK: usize = 16 << 10;
/// Bytes per task.
const TASK: usize = 64 * CHUNK;
/// Bytes of a chunk in which a stride is looked for.
const LOOK: usize = 2 << 10;
/// Bytes of a chunk in which code is looked for.
const LOOK_FOR_CODE: usize = 4 << 10;
/// A sample, which is sorted to try a filter, is one part in this many of a region of records.
const SAMPLE_PART: usize = 32;
/// Bounds of a sample's size in bytes.
const SAMPLE: Range<usize> = 16 << 10..128 << 10;
/// Maximum length in bytes of an image row that is looked for.
const MAX_ROW: usize = 12 << 10;
/// Number of regions of a stride for which a filter must be good before it is used for the others
/// untried.
const TRUSTED: usize = 2;
/// A region of at least this many bytes is tried even if the smaller ones of its stride had no good
/// filter.
const LARGE: usize = 128 << 10;
/// Minimum size of a region of records in bytes.
const LEAST_RECORDS: usize = 32 << 10;

/// The likely kind of a chunk's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChunkKind {
    Plain,
    /// Records of this many bytes, or of a multiple.
    Records(usize),
    X86,
    Arm64,
}

/// The regions of `text`, which is plain outside of `searched`; empty if all of it is plain. Code
/// is looked for only if `code` is true.
pub(super) fn detect(
    text: &[u8],
    searched: Range<usize>,
    code: bool,
    pool: &Threads,
) -> Vec<FilterRegion> {
    let before = searched.start;
    let behind = text.len() - searched.end;
    let text = &text[searched];
    let guesses = pool.map(text.chunks(TASK), |text| {
        text.chunks(CHUNK).map(guess).collect::<Vec<_>>()
    });
    let mut stretches = stretches(text.len(), &guesses.concat(), code);
    try_records(text, &mut stretches, pool);
    let found = stretches
        .into_iter()
        .map(|stretch| (stretch.range.len(), stretch.kind));
    let plain = |size| [(size, RegionKind::Plain)];
    let mut regions: Vec<FilterRegion> = Vec::new();
    for (size, kind) in plain(before)
        .into_iter()
        .chain(found)
        .chain(plain(behind))
    {
        match regions.last_mut() {
            Some(last) if last.kind == kind => last.size += size,
            _ if size > 0 => regions.push(FilterRegion { size, kind }),
            _ => {}
        }
    }
    if matches!(
        regions[..],
        [FilterRegion {
            kind: RegionKind::Plain,
            ..
        }]
    ) {
        regions.clear();
    }
    regions
}

/// Neighbouring chunks with the same guess.
struct Stretch {
    range: Range<usize>,
    guess: ChunkKind,
    /// The strides guessed for its chunks.
    strides: Vec<usize>,
    /// The filter chosen; plain until one is known.
    kind: RegionKind,
}

fn stretches(len: usize, guesses: &[ChunkKind], code: bool) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for (n, &guess) in guesses.iter().enumerate() {
        let (guess, kind) = match guess {
            ChunkKind::X86 if code => (guess, RegionKind::X86),
            ChunkKind::Arm64 if code => (guess, RegionKind::Arm64),
            ChunkKind::Records(_) => (guess, RegionKind::Plain),
            _ => (ChunkKind::Plain, RegionKind::Plain),
        };
        let range = n * CHUNK..len.min((n + 1) * CHUNK);
        if !stretches
            .last()
            .is_some_and(|last| goes_on(last.guess, guess))
        {
            stretches.push(Stretch {
                range: range.clone(),
                guess,
                strides: Vec::new(),
                kind,
            });
        }
        let last = stretches.last_mut().expect("just pushed");
        last.range.end = range.end;
        if let ChunkKind::Records(stride) = guess {
            last.strides.push(stride);
        }
    }
    stretches
}

/// Chooses the filters of the stretches that are likely records.
fn try_records(text: &[u8], stretches: &mut [Stretch], pool: &Threads) {
    let mut by_stride: BTreeMap<usize, Vec<&mut Stretch>> = BTreeMap::new();
    for stretch in stretches
        .iter_mut()
        .filter(|stretch| stretch.range.len() >= LEAST_RECORDS)
    {
        if !stretch.strides.is_empty() {
            by_stride
                .entry(most_frequent(&stretch.strides))
                .or_default()
                .push(stretch);
        }
    }
    pool.each(by_stride, |(stride, stretches)| {
        let mut trials = Trials {
            stride,
            known: None,
            good: 0,
            bad: 0,
        };
        for stretch in stretches {
            stretch.kind = trials.records(&text[stretch.range.clone()]);
        }
    });
}

/// Returns true if a chunk of guess `next` belongs to a stretch that began with `last`.
fn goes_on(last: ChunkKind, next: ChunkKind) -> bool {
    match (last, next) {
        (ChunkKind::Records(a), ChunkKind::Records(b)) => a % b == 0 || b % a == 0,
        _ => last == next,
    }
}

fn guess(chunk: &[u8]) -> ChunkKind {
    let look = middle(chunk, LOOK);
    if chunk.len() < LOOK_FOR_CODE || is_text(look) {
        return ChunkKind::Plain;
    }
    let sample = middle(chunk, LOOK_FOR_CODE);
    if is_x86(sample) {
        ChunkKind::X86
    } else if is_arm64(sample) {
        ChunkKind::Arm64
    } else {
        stride(look).map_or(ChunkKind::Plain, ChunkKind::Records)
    }
}

/// Returns true if there are few control characters, and few bytes above ASCII unless they are
/// UTF-8.
fn is_text(sample: &[u8]) -> bool {
    let is_space = |byte| (byte == b'\t') | (byte == b'\n') | (byte == b'\r');
    let controls = count(sample, |byte| (byte < 0x20) & !is_space(byte));
    let high = count(sample, |byte| byte >= 0x80);
    controls * 50 < sample.len() && (high * 10 < sample.len() || is_utf8(sample))
}

/// Returns true if `sample` is UTF-8, except for a part of a character at either end.
fn is_utf8(sample: &[u8]) -> bool {
    let start = sample
        .iter()
        .take(3)
        .take_while(|byte| **byte & 0xC0 == 0x80)
        .count();
    match std::str::from_utf8(&sample[start..]) {
        Ok(_) => true,
        Err(e) => e.error_len().is_none(),
    }
}

/// The distance at which bytes are alike far more than at other distances.
fn stride(sample: &[u8]) -> Option<usize> {
    if coder::run_end(sample, 0) == sample.len() {
        return None; // They are alike at all.
    }
    let (equal, apart): (Vec<usize>, Vec<usize>) = all_likeness(sample).into_iter().unzip();
    let median = |values: &[usize]| {
        let mut sorted = values.to_vec();
        *sorted.select_nth_unstable(values.len() / 2).1
    };
    let most = *equal.iter().max()?;
    let least = *apart.iter().min()?;
    let found = if most * 4 > median(&equal) * 5 + sample.len() / 16 {
        equal
            .iter()
            .position(|equal| equal * 20 >= most * 19)
    } else if least * 4 < median(&apart) * 3 {
        apart
            .iter()
            .position(|apart| apart * 19 <= least * 20)
    } else {
        None
    };
    found.map(|n| n + 1)
}

/// The most frequent stride, and the smallest of several.
fn most_frequent(strides: &[usize]) -> usize {
    let mut counts = [0; MAX_STRIDE + 1];
    strides
        .iter()
        .for_each(|stride| counts[*stride] += 1);
    (1..=MAX_STRIDE)
        .rev()
        .max_by_key(|stride| counts[*stride])
        .expect("a range of some")
}

/// Trials on samples of the filters for records of one stride, with the results so far.
struct Trials {
    stride: usize,
    /// The last filter that was good.
    known: Option<Records>,
    /// Number of regions with a good filter.
    good: usize,
    /// Number of regions without one.
    bad: usize,
}

impl Trials {
    /// The best filter for a region of likely records, if one is good.
    fn records(&mut self, region: &[u8]) -> RegionKind {
        if self.bad >= 2 && region.len() < LARGE {
            return RegionKind::Plain;
        }
        let found = match self.known {
            Some(known) if self.good >= TRUSTED && self.bad == 0 => Some(known),
            Some(known) => pays(region, known).then_some(known),
            None => best(region, self.stride),
        };
        match found {
            Some(records) => {
                self.known = found;
                self.good += 1;
                RegionKind::Records(records)
            }
            None => {
                self.bad += 1;
                RegionKind::Plain
            }
        }
    }
}

/// Returns true if these records save enough of a region.
fn pays(region: &[u8], records: Records) -> bool {
    let sample = middle(region, SAMPLE.start);
    let filtered = cost(sample, Some(records));
    let plain = cost(sample, None);
    if filtered >= plain || filtered * 2 < plain {
        return filtered < plain;
    }
    let sample = middle(region, part(region));
    saves(coded_size(sample, Some(records)), coded_size(sample, None))
}

/// The best filter for records of `stride` bytes, if one is good.
fn best(region: &[u8], stride: usize) -> Option<Records> {
    // A record of sound is one element, or two; the fields of larger records are not known.
    let widths: &[usize] = match stride {
        2 | 4 | 8 => &[stride, stride / 2],
        1 | 3 => &[stride],
        6 => &[3, 2],
        _ => &[1],
    };
    let first_sample = middle(region, SAMPLE.start);
    let plain = cost(first_sample, None);
    let is_likely = |records: &Records| cost(first_sample, Some(*records)) < plain;
    let untouched = Records {
        stride,
        width: 0,
        row: 0,
        transposed: false,
    };
    let alone = [
        Records {
            width: widths[0],
            ..untouched
        },
        Records {
            transposed: true,
            ..untouched
        },
    ];
    let alone: Vec<Records> = alone.into_iter().filter(is_likely).collect();
    let mut tried = sizes(first_sample, alone.iter().copied());
    if tried.is_empty() {
        return None;
    }
    let plain_size = coded_size(first_sample, None);
    if tried.iter().all(|&(size, _)| size >= plain_size) {
        return None;
    }
    let combined = widths.iter().enumerate().flat_map(|(n, &width)| {
        let apart = Records { width, ..untouched };
        let columns = Records {
            transposed: true,
            ..apart
        };
        [Some(columns), (n > 0).then_some(apart)]
            .into_iter()
            .flatten()
    });
    let sample = middle(region, part(region));
    let plain_size = if sample.len() > first_sample.len() {
        tried = sizes(sample, alone.into_iter());
        coded_size(sample, None)
    } else {
        plain_size
    };
    tried.extend(sizes(sample, combined.filter(is_likely)));
    let (mut size, mut records) = tried.into_iter().min_by_key(|&(size, _)| size)?;
    if let Some(row) = row(sample, &records) {
        let with_row = Records { row, ..records };
        let size_with_row = coded_size(sample, Some(with_row));
        if size_with_row < size {
            (size, records) = (size_with_row, with_row);
        }
    }
    saves(size, plain_size).then_some(records)
}

/// The coded sizes of a sample with each of several filters.
fn sizes(sample: &[u8], ways: impl Iterator<Item = Records>) -> Vec<(usize, Records)> {
    ways.map(|records| (coded_size(sample, Some(records)), records))
        .collect()
}

/// Number of bytes of a region that are sorted to try a filter.
fn part(region: &[u8]) -> usize {
    (region.len() / SAMPLE_PART).clamp(SAMPLE.start, SAMPLE.end)
}

/// `size` bytes from the middle of `bytes`, or all of them if they are fewer.
fn middle(bytes: &[u8], size: usize) -> &[u8] {
    let size = size.min(bytes.len());
    &bytes[((bytes.len() - size) / 2) & !3..][..size]
}

/// Returns true if a filter saves a sixteenth of a sample. A smaller gain may be a loss for the
/// whole region, from which the coder learns more.
fn saves(filtered: usize, plain: usize) -> bool {
    filtered * 16 < plain * 15
}

/// The distance in bytes to the row above if the sample is likely part of an image.
fn row(sample: &[u8], records: &Records) -> Option<usize> {
    let stride = records.stride;
    let width = records.width;
    if width == 0 || stride > 8 {
        return None;
    }
    let mask = u64::MAX >> (64 - 8 * width);
    let value = |at: usize| {
        u64::from_le_bytes(
            sample[at..at + 8]
                .try_into()
                .expect("eight bytes"),
        ) & mask
    };
    let half = sample.len() / 2 / stride * stride;
    let most = half.min(MAX_ROW);
    let apart = |distance: usize| {
        let places = (half..sample.len() - 8).step_by(stride * (half / stride / 256).max(1));
        places
            .map(|at| {
                value(at)
                    .abs_diff(value(at - distance))
                    .min(1 << 40)
            })
            .sum::<u64>()
    };
    let rows = (64 * stride..most).step_by(stride);
    let row = rows.min_by_key(|row| apart(*row))?;
    (apart(row) < apart(stride) * 2).then_some(row)
}

/// The order-1 cost of `sample` with this filter.
fn cost(sample: &[u8], records: Option<Records>) -> i64 {
    filtered(sample, records).map_or(i64::MAX, |sample| order1::cost(&sample))
}

/// The coded size of `sample` with this filter.
fn coded_size(sample: &[u8], records: Option<Records>) -> usize {
    let sample = filtered(sample, records);
    sample
        .and_then(|sample| fields::coded_size(&sample).ok())
        .unwrap_or(usize::MAX)
}

/// `sample` with this filter, if there is memory for it.
fn filtered(sample: &[u8], records: Option<Records>) -> Option<Vec<u8>> {
    let mut sample = sample.to_vec();
    records
        .is_none_or(|records| {
            records
                .encode(&mut sample, &Threads::Calling)
                .is_ok()
        })
        .then_some(sample)
}
