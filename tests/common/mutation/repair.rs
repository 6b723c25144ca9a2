//! Makes a damaged file look sound: repairs the sizes and offsets that depend on others, and the
//! checksums.

use super::parts::{Kind, Part, block_at};
use super::random::Random;
use std::ops::Range;

/// The checksums that are made right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    All,
    /// Two of three checksums.
    Some,
    None,
}

impl Care {
    fn taken(self, random: &mut Random) -> bool {
        match self {
            Care::All => true,
            Care::Some => !random.one_in(3),
            Care::None => false,
        }
    }
}

/// Compresses the tables that were decompressed.
pub fn pack(parts: &mut [Part]) {
    for at in 0..parts.len() {
        pack_table(parts, at);
    }
}

/// Compresses the table at `at`, if it was decompressed, and sets Form to 1 if that made it
/// smaller.
fn pack_table(parts: &mut [Part], at: usize) {
    if !parts[at].packed {
        return;
    }
    parts[at].packed = false;
    let coded = zstd::bulk::compress(&parts[at].bytes, 6).unwrap();
    let smaller = coded.len() < parts[at].bytes.len();
    if smaller {
        parts[at].bytes = coded;
    }
    let (owner, form) = match parts[at].kind {
        Kind::Entries => (Kind::TableHeader, 8),
        _ => (Kind::IndexHeader, 0),
    };
    if let Some(header) = parts[..at]
        .iter_mut()
        .rev()
        .find(|part| part.kind == owner)
    {
        header.set(form, 1, smaller.into());
    }
}

fn size(parts: &[Part]) -> u64 {
    parts
        .iter()
        .map(|part| part.bytes.len() as u64)
        .sum()
}

/// The first part of a kind in `range`.
fn find(parts: &[Part], range: Range<usize>, kind: Kind) -> Option<usize> {
    range.into_iter().find(|&n| parts[n].kind == kind)
}

/// The sizes of all parts of a kind in `range`.
fn sizes_of(parts: &[Part], range: Range<usize>, kind: Kind) -> Vec<u64> {
    let found = parts[range]
        .iter()
        .filter(|part| part.kind == kind);
    found
        .map(|part| part.bytes.len() as u64)
        .collect()
}

/// The structures met so far in a walk through a frame.
#[derive(Default)]
struct Met {
    /// Number of the part that is its header, and the header's offset in the file.
    header: usize,
    start: u64,
    raw_size: u64,
    /// Raw_Offset and Frame_Offset of each block.
    entries: Vec<(u64, u64)>,
    /// CRC-32 of the raw bytes, if the checksums of the blocks are right.
    stream: crc32fast::Hasher,
}

/// Makes the sizes, counts and offsets of all structures right.
pub fn sizes(parts: &mut [Part]) {
    let mut met = Met::default();
    let mut offset = 0;
    for at in 0..parts.len() {
        match parts[at].kind {
            Kind::FrameHeader => {
                met = Met {
                    header: at,
                    start: offset,
                    ..Met::default()
                }
            }
            Kind::BlockHeader => {
                let block = block_at(parts, at);
                block_sizes(parts, block);
                parts[at].set(26, 8, met.raw_size);
                met.entries
                    .push((met.raw_size, offset - met.start));
                met.raw_size = met.raw_size.wrapping_add(parts[at].get(12, 5));
            }
            Kind::TableHeader => table_sizes(parts, at, &met),
            Kind::Footer => footer_sizes(parts, at, &met, offset),
            Kind::TablesSize => tables_sizes(parts, at),
            _ => {}
        }
        offset += parts[at].bytes.len() as u64;
    }
}

/// Repairs Tables_Size at `at`, and the sizes of the tables behind it.
fn tables_sizes(parts: &mut [Part], at: usize) {
    let is_table = |part: &Part| matches!(part.kind, Kind::TypedTable | Kind::Content);
    let count = parts[at + 1..]
        .iter()
        .take_while(|part| is_table(part))
        .count();
    let tables = at + 1..at + 1 + count;
    let all = size(&parts[tables.clone()]);
    parts[at].set(0, 5, all);
    for n in tables
        .filter(|&n| parts[n].kind == Kind::TypedTable)
        .collect::<Vec<_>>()
    {
        let content = parts
            .get(n + 1)
            .filter(|part| part.kind == Kind::Content);
        let content = content.map_or(0, |part| part.bytes.len() as u64);
        parts[n].set(1, 5, content);
    }
}

fn block_sizes(parts: &mut [Part], block: Range<usize>) {
    let payload = block.start + 1..block.end;
    let of_side = [Kind::Side, Kind::SequenceSize, Kind::LayoutChecksum];
    let sizes = of_side.map(|kind| {
        sizes_of(parts, payload.clone(), kind)
            .iter()
            .sum::<u64>()
    });
    let side_size = sizes.iter().sum();
    slice_sizes(parts, payload.clone());
    if let Some(at) = find(parts, payload.clone(), Kind::FilterSizes) {
        parts[at].set(5, 5, side_size);
    }
    index_sizes(parts, payload.clone());
    let coded_size = size(&parts[payload.clone()]);
    let stored = find(parts, payload, Kind::Stored).is_some();
    let header = &mut parts[block.start];
    header.set(17, 5, coded_size);
    if stored {
        header.set(12, 5, coded_size);
    }
}

/// Repairs Slice_Count, Models_Size and Coded_Sizes, if they are present.
fn slice_sizes(parts: &mut [Part], payload: Range<usize>) {
    let coded = sizes_of(parts, payload.clone(), Kind::Slice);
    let models = sizes_of(parts, payload.clone(), Kind::Models);
    let others = &coded[..coded.len().saturating_sub(1)];
    for (kind, values) in [
        (Kind::SliceCount, &[coded.len() as u64][..]),
        (Kind::ModelsSize, &models),
        (Kind::CodedSizes, others),
    ] {
        if let Some(at) = find(parts, payload.clone(), kind)
            && !values.is_empty()
        {
            let needed = values
                .iter()
                .map(|size| 64 - size.leading_zeros())
                .max()
                .unwrap_or(1);
            parts[at].set_values(needed.max(1) as u8, values);
        }
    }
}

/// Repairs Counts_Size and Primary_Index of an Index.
fn index_sizes(parts: &mut [Part], payload: Range<usize>) {
    let Some(index) = find(parts, payload.clone(), Kind::IndexHeader) else {
        return;
    };
    if let Some(counts) = find(parts, payload.clone(), Kind::Counts) {
        parts[index].set(2, 5, parts[counts].bytes.len() as u64);
    }
    let samples = find(parts, payload, Kind::Samples).map(|n| parts[n].values());
    if let Some(primary) = samples.and_then(|values| values.first().copied()) {
        parts[index].set(7, 5, primary);
    }
}

fn table_sizes(parts: &mut [Part], at: usize, met: &Met) {
    parts[at].set(10, 5, met.entries.len() as u64);
    let Some(entries) = parts
        .get_mut(at + 1)
        .filter(|part| part.kind == Kind::Entries)
    else {
        return;
    };
    let fields = met
        .entries
        .iter()
        .flat_map(|(raw, coded)| [*raw, *coded]);
    entries.bytes = fields.flat_map(u64::to_le_bytes).collect();
    entries.packed = true;
    pack_table(parts, at + 1);
    parts[at].set(15, 5, parts[at + 1].bytes.len() as u64);
}

fn footer_sizes(parts: &mut [Part], at: usize, met: &Met, offset: u64) {
    let table = parts[..at]
        .iter()
        .rposition(|part| part.kind == Kind::TableHeader)
        .unwrap_or(at);
    let table_size = size(&parts[table..at]);
    parts[at].set(0, 8, met.raw_size);
    parts[at].set(8, 7, offset + 32 - met.start);
    parts[at].set(15, 5, table_size);
    if met.entries.len() < 2 && parts[met.header].kind == Kind::FrameHeader {
        parts[met.header].set(7, 5, met.raw_size);
    }
}

/// Makes the checksums right that `care` selects, from the inside out.
pub fn sign(parts: &mut [Part], care: Care, random: &mut Random) {
    let mut met = Met::default();
    sign_tables(parts, care, random);
    for at in 0..parts.len() {
        match parts[at].kind {
            Kind::FrameHeader => {
                met = Met::default();
                seal(&mut parts[at], 12, care, random);
            }
            Kind::BlockHeader => {
                let block = block_at(parts, at);
                sign_layout(parts, block.clone(), care, random);
                sign_index(parts, block.clone(), care, random);
                let sum = hash(&parts[at + 1..block.end]);
                if find(parts, block, Kind::Stored).is_some() {
                    put(&mut parts[at], 22, sum, care, random);
                }
                put(&mut parts[at], 34, sum, care, random);
                seal(&mut parts[at], 38, care, random);
                let raw_size = parts[at].get(12, 5);
                let sum = parts[at].get(22, 4) as u32;
                met.stream
                    .combine(&crc32fast::Hasher::new_with_initial_len(sum, raw_size));
            }
            Kind::TableHeader => {
                let entries = find(parts, block_at(parts, at), Kind::Entries);
                let sum = entries.map_or(0, |n| crc32fast::hash(&parts[n].bytes));
                put(&mut parts[at], 20, sum, care, random);
                seal(&mut parts[at], 24, care, random);
            }
            Kind::Footer => {
                put(
                    &mut parts[at],
                    20,
                    met.stream.clone().finalize(),
                    care,
                    random,
                );
                seal(&mut parts[at], 24, care, random);
            }
            _ => {}
        }
    }
}

/// Repairs the checksums of tables, section 8.2.
fn sign_tables(parts: &mut [Part], care: Care, random: &mut Random) {
    for at in 0..parts.len() {
        if parts[at].kind == Kind::TypedTable {
            let mut hasher = crc32fast::Hasher::new();
            hasher.update(parts[at].bytes.get(..6).unwrap_or_default());
            if let Some(content) = parts
                .get(at + 1)
                .filter(|part| part.kind == Kind::Content)
            {
                hasher.update(&content.bytes);
            }
            put(&mut parts[at], 6, hasher.finalize(), care, random);
        }
    }
}

/// Repairs Layout_Checksum, section 12.8.
fn sign_layout(parts: &mut [Part], block: Range<usize>, care: Care, random: &mut Random) {
    let first = find(parts, block.clone(), Kind::SequenceSize);
    let (Some(first), Some(at)) = (first, find(parts, block, Kind::LayoutChecksum)) else {
        return;
    };
    if first < at {
        let sum = hash(&parts[first..at]);
        put(&mut parts[at], 0, sum, care, random);
    }
}

/// Repairs the checksums of an Index, chapter 10.
fn sign_index(parts: &mut [Part], block: Range<usize>, care: Care, random: &mut Random) {
    let Some(index) = find(parts, block.clone(), Kind::IndexHeader) else {
        return;
    };
    let slices = block
        .clone()
        .filter(|&n| parts[n].kind == Kind::Slice);
    let sums: Vec<u8> = slices
        .flat_map(|n| crc32fast::hash(&parts[n].bytes).to_le_bytes())
        .collect();
    if let Some(at) = find(parts, block.clone(), Kind::SliceChecksums)
        && parts[at].bytes.len() == sums.len()
        && care.taken(random)
    {
        parts[at].bytes = sums;
    }
    if let Some(samples) = find(parts, block.clone(), Kind::Samples) {
        let sum = crc32fast::hash(&parts[samples].bytes);
        put(&mut parts[index], 12, sum, care, random);
    }
    let sizes = find(parts, block.start..index, Kind::SliceCount).unwrap_or(index);
    let end = find(parts, index..block.end, Kind::Slice).unwrap_or(block.end);
    let mut hasher = crc32fast::Hasher::new();
    for kind in [Kind::FilterSizes, Kind::SequenceSize] {
        let field = find(parts, block.clone(), kind);
        field
            .into_iter()
            .for_each(|n| hasher.update(&parts[n].bytes));
    }
    parts[sizes..index]
        .iter()
        .for_each(|part| hasher.update(&part.bytes));
    hasher.update(parts[index].bytes.get(..16).unwrap_or_default());
    parts[index + 1..end]
        .iter()
        .for_each(|part| hasher.update(&part.bytes));
    put(&mut parts[index], 16, hasher.finalize(), care, random);
}

fn hash(parts: &[Part]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    parts
        .iter()
        .for_each(|part| hasher.update(&part.bytes));
    hasher.finalize()
}

fn put(part: &mut Part, at: usize, sum: u32, care: Care, random: &mut Random) {
    if care.taken(random) {
        part.set(at, 4, sum.into());
    }
}

/// Repairs the checksum at `at`, which covers the bytes before it.
fn seal(part: &mut Part, at: usize, care: Care, random: &mut Random) {
    let sum = part.bytes.get(..at).map_or(0, crc32fast::hash);
    put(part, at, sum, care, random);
}
