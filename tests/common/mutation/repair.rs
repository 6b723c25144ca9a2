//! Makes a damaged file look sound: repairs the sizes and offsets that depend on others, and the
//! checksums.

use super::parts::{self, Kind, Part, block_at, width_of};
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
    /// The facts about each block that a seek table has.
    blocks: Vec<Entry>,
    features: u64,
    /// CRC-32 of the raw bytes, if the checksums of the blocks are right.
    stream: crc32fast::Hasher,
}

/// A block in a seek table.
struct Entry {
    shape: Vec<u8>,
    raw_size: u64,
    stored_size: u64,
    front_size: u64,
    line_feeds: u64,
}

/// Makes the sizes, counts and offsets of all structures right.
pub fn sizes(parts: &mut Vec<Part>) {
    let mut met = Met::default();
    let mut offset = 0;
    let mut at = 0;
    while at < parts.len() {
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
                block_sizes(parts, block.clone());
                parts[at].set(26, 7, met.raw_size);
                met.features |= features(parts, block.clone());
                let entry = entry(parts, block);
                met.raw_size = met.raw_size.wrapping_add(entry.raw_size);
                met.blocks.push(entry);
            }
            Kind::SeekMarker => seek_sizes(parts, at, &met.blocks),
            Kind::Footer => footer_sizes(parts, at, &met, offset),
            Kind::TablesSize => tables_sizes(parts, at),
            _ => {}
        }
        offset += parts[at].bytes.len() as u64;
        at += 1;
    }
}

/// The bits of Features for a block, section 3.1.
fn features(parts: &[Part], block: Range<usize>) -> u64 {
    const OTHER: u64 = 1 << 15;
    let header = &parts[block.start];
    let wide = u64::from(header.get(12, 5) > 256 << 20) << 6;
    let of_kind = match (header.get(8, 1), header.get(9, 1)) {
        (0, _) => 0,
        (1, coding @ 0..=1) => 1 << coding | (header.get(10, 1) >> 2 & 1) << 16,
        _ => OTHER,
    };
    let filters = parts[block]
        .iter()
        .filter(|part| part.kind == Kind::FilterId);
    let of_filters = filters.map(|part| match part.get(0, 1) {
        id @ 1..=4 => 2 << id,
        _ => OTHER,
    });
    of_filters.fold(wide | of_kind, |all, bit| all | bit)
}

fn entry(parts: &[Part], block: Range<usize>) -> Entry {
    let header = &parts[block.start];
    let mut shape = header
        .bytes
        .get(8..12)
        .unwrap_or_default()
        .to_vec();
    let is_known = header.get(8, 1) == 1 && header.get(9, 1) < 2;
    let flags = if is_known { header.get(10, 1) } else { 0 };
    if flags & 1 != 0 {
        let filters = parts[block.clone()]
            .iter()
            .filter(|part| matches!(part.kind, Kind::FilterCount | Kind::FilterId));
        shape.extend(filters.flat_map(|part| &part.bytes));
    }
    let behind = |part: &Part| {
        let kind = part.kind;
        matches!(kind, Kind::Samples | Kind::Slice) || kind.is_side()
    };
    let front = block
        .clone()
        .find(|&n| behind(&parts[n]))
        .unwrap_or(block.end);
    Entry {
        shape,
        raw_size: header.get(12, 5),
        stored_size: size(&parts[block.clone()]),
        front_size: match flags & 4 {
            0 => 0,
            _ => size(&parts[block.start..front]),
        },
        line_feeds: header.count as u64,
    }
}

/// Repairs Tables_Size at `at`, and the sizes of the tables behind it.
fn tables_sizes(parts: &mut [Part], at: usize) {
    let is_table = |part: &Part| {
        let kind = part.kind;
        matches!(
            kind,
            Kind::TableType | Kind::TableSize | Kind::TableChecksum
        ) || kind.is_content()
    };
    let count = parts[at + 1..]
        .iter()
        .take_while(|part| is_table(part))
        .count();
    let tables = at + 1..at + 1 + count;
    for n in tables.clone() {
        if parts[n].kind == Kind::TableSize {
            let content = size(&parts[content(parts, n)]);
            parts[n].set_varint(content);
        }
    }
    let all = size(&parts[tables]);
    parts[at].set_varint(all);
}

/// The content of the table one of whose first parts is `at`.
fn content(parts: &[Part], at: usize) -> Range<usize> {
    let is_head = |part: &&Part| matches!(part.kind, Kind::TableSize | Kind::TableChecksum);
    let head = parts[at + 1..].iter().take_while(is_head).count();
    let start = at + 1 + head;
    let count = parts[start..]
        .iter()
        .take_while(|part| part.kind.is_content())
        .count();
    start..start + count
}

fn block_sizes(parts: &mut [Part], block: Range<usize>) {
    let payload = block.start + 1..block.end;
    slice_sizes(parts, payload.clone());
    filter_sizes(parts, payload.clone());
    index_sizes(parts, payload.clone());
    if let Some(tables) = find(parts, payload.clone(), Kind::TablesSize) {
        tables_sizes(parts, tables);
    }
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
            let needed = values.iter().map(|&size| width_of(size)).max();
            parts[at].set_values(needed.unwrap_or(1).max(1), values);
        }
    }
}

/// Repairs Filter_Count, and the Side_Size of each filter.
fn filter_sizes(parts: &mut [Part], payload: Range<usize>) {
    let ids = sizes_of(parts, payload.clone(), Kind::FilterId);
    if let Some(at) = find(parts, payload.clone(), Kind::FilterCount) {
        parts[at].set(0, 1, ids.len() as u64);
    }
    let filters: Vec<usize> = payload
        .clone()
        .filter(|&n| parts[n].kind == Kind::SideSize)
        .collect();
    for (number, at) in filters.into_iter().enumerate() {
        let side = parts[payload.clone()]
            .iter()
            .filter(|part| part.kind.is_side() && part.count == number);
        let side_size = side.map(|part| part.bytes.len() as u64).sum();
        parts[at].set_varint(side_size);
    }
}

/// Repairs Primary_Index and Searched of an Index.
fn index_sizes(parts: &mut [Part], payload: Range<usize>) {
    let Some(index) = find(parts, payload.clone(), Kind::IndexHeader) else {
        return;
    };
    let samples = find(parts, payload.clone(), Kind::Samples).map(|n| parts[n].values());
    if let Some(primary) = samples.and_then(|values| values.first().copied()) {
        parts[index].set(8, 5, primary);
    }
    if let Some(at) = find(parts, payload, Kind::SequenceSize) {
        let searched = parts[at].varint();
        parts[index].set(13, 5, searched);
    }
}

/// Writes the seek table at `at` anew, for these blocks. It has line feeds if it had them.
fn seek_sizes(parts: &mut Vec<Part>, at: usize, blocks: &[Entry]) {
    let is_head = |part: &&Part| matches!(part.kind, Kind::SeekSize | Kind::SeekChecksum);
    let head = parts[at + 1..].iter().take_while(is_head).count();
    let start = at + 1 + head;
    let count = parts[start..]
        .iter()
        .take_while(|part| part.kind.is_seek_content())
        .count();
    let old = start..start + count;
    let flags = find(parts, old.clone(), Kind::SeekFlags).map_or(0, |n| parts[n].get(0, 1));
    let has_line_feeds = flags & 1 != 0 && !blocks.is_empty();
    let has_tables = parts
        .get(old.end)
        .is_some_and(|part| part.kind == Kind::TablesSize);
    let flags = u8::from(has_line_feeds) | u8::from(has_tables) << 1;
    let content = seek_content(blocks, flags);
    let content_size = size(&content);
    parts.splice(old, content);
    if let Some(at) = find(parts, at..start, Kind::SeekSize) {
        parts[at].set_varint(content_size);
    }
}

fn seek_content(blocks: &[Entry], flags: u8) -> Vec<Part> {
    let number = |value: usize| Part::new(Kind::SeekNumber, &parts::varint(value as u64));
    let mut content = vec![number(blocks.len()), Part::new(Kind::SeekFlags, &[flags])];
    if blocks.is_empty() {
        return content;
    }
    let mut shapes: Vec<&[u8]> = Vec::new();
    let mut numbers = Vec::new();
    for block in blocks {
        let known = shapes
            .iter()
            .position(|shape| *shape == block.shape);
        numbers.push(known.unwrap_or(shapes.len()) as u64);
        if known.is_none() {
            shapes.push(&block.shape);
        }
    }
    content.push(number(shapes.len()));
    content.extend(
        shapes
            .iter()
            .map(|shape| Part::new(Kind::Shape, shape)),
    );
    let others = &blocks[..blocks.len() - 1];
    let mut column = |is_there: bool, values: Vec<u64>| {
        if is_there && !values.is_empty() {
            content.push(parts::column(&values));
        }
    };
    column(shapes.len() > 1, numbers);
    column(
        true,
        others
            .iter()
            .map(|block| block.raw_size)
            .collect(),
    );
    column(
        true,
        others
            .iter()
            .map(|block| block.stored_size)
            .collect(),
    );
    let fronts: Vec<u64> = blocks
        .iter()
        .map(|block| block.front_size)
        .collect();
    column(fronts.iter().any(|&front| front > 0), fronts);
    let line_feeds = blocks
        .iter()
        .map(|block| block.line_feeds)
        .collect();
    column(flags & 1 != 0, line_feeds);
    content
}

fn footer_sizes(parts: &mut [Part], at: usize, met: &Met, offset: u64) {
    let table = parts[..at]
        .iter()
        .rposition(|part| part.kind == Kind::SeekMarker)
        .filter(|&table| table > met.header)
        .unwrap_or(at);
    let table_size = size(&parts[table..at]);
    parts[at].set(0, 7, met.raw_size);
    parts[at].set(7, 5, table_size);
    parts[at].set(12, 4, met.features);
    parts[at].set(20, 7, offset + 36 - met.start);
    let head = met.header..at;
    if parts[met.header].kind != Kind::FrameHeader {
        return;
    }
    if let Some(foreign) = find(parts, head.clone(), Kind::Foreign) {
        let content_size = parts[foreign].bytes.len() as u64;
        return parts[met.header].set(14, 5, content_size);
    }
    let tables = parts.get(met.header + 1);
    let has_tables = tables.is_some_and(|part| part.kind == Kind::TablesSize);
    let flags = parts[met.header].get(6, 1) & !1 | u64::from(has_tables);
    parts[met.header].set(6, 1, flags);
    let announced = parts[met.header].get(10, 4) | met.features;
    parts[met.header].set(10, 4, announced);
    if met.blocks.len() < 2 {
        parts[met.header].set(14, 5, met.raw_size);
    }
    content_size(parts, head, met.raw_size);
}

/// Repairs the table Content_Size of a frame header, section 3.3.
fn content_size(parts: &mut [Part], frame: Range<usize>, raw_size: u64) {
    let is_it = |part: &Part| part.kind == Kind::TableType && part.get(0, 2) == 0x8010;
    if let Some(at) = frame.into_iter().find(|&n| is_it(&parts[n])) {
        let content = content(parts, at);
        if content.len() == 1 {
            parts[content.start].set(0, 7, raw_size);
        }
    }
}

/// Makes the checksums right that `care` selects, from the inside out.
pub fn sign(parts: &mut [Part], care: Care, random: &mut Random) {
    let mut met = Met::default();
    for at in 0..parts.len() {
        if parts[at].kind == Kind::BlockHeader {
            let block = block_at(parts, at);
            sign_layout(parts, block.clone(), care, random);
            sign_index(parts, block, care, random);
        }
    }
    sign_tables(parts, care, random);
    for at in 0..parts.len() {
        match parts[at].kind {
            Kind::FrameHeader => {
                met = Met::default();
                seal(&mut parts[at], 19, care, random);
            }
            Kind::Foreign => met.stream.update(&parts[at].bytes),
            Kind::BlockHeader => {
                let block = block_at(parts, at);
                let sum = hash(&parts[at + 1..block.end]);
                if find(parts, block, Kind::Stored).is_some() {
                    put(&mut parts[at], 22, sum, care, random);
                }
                put(&mut parts[at], 33, sum, care, random);
                seal(&mut parts[at], 37, care, random);
                let raw_size = parts[at].get(12, 5);
                let sum = parts[at].get(22, 4) as u32;
                met.stream
                    .combine(&crc32fast::Hasher::new_with_initial_len(sum, raw_size));
            }
            Kind::SeekChecksum => {
                let size = at.saturating_sub(1);
                let content = parts[at + 1..]
                    .iter()
                    .take_while(|part| part.kind.is_seek_content())
                    .count();
                let mut hasher = crc32fast::Hasher::new();
                hasher.update(&parts[size].bytes);
                parts[at + 1..at + 1 + content]
                    .iter()
                    .for_each(|part| hasher.update(&part.bytes));
                put(&mut parts[at], 0, hasher.finalize(), care, random);
            }
            Kind::Footer => {
                let sum = met.stream.clone().finalize();
                put(&mut parts[at], 16, sum, care, random);
                seal(&mut parts[at], 28, care, random);
            }
            _ => {}
        }
    }
}

/// Repairs the checksums of tables, section 8.2.
fn sign_tables(parts: &mut [Part], care: Care, random: &mut Random) {
    for at in 2..parts.len() {
        if parts[at].kind == Kind::TableChecksum {
            let content = content(parts, at);
            let mut hasher = crc32fast::Hasher::new();
            parts[at - 2..at]
                .iter()
                .chain(&parts[content])
                .for_each(|part| hasher.update(&part.bytes));
            put(&mut parts[at], 0, hasher.finalize(), care, random);
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
        put(&mut parts[index], 4, sum, care, random);
    }
    let tables = find(parts, block.clone(), Kind::TablesSize).unwrap_or(index);
    let mut hasher = crc32fast::Hasher::new();
    let models = find(parts, block.clone(), Kind::Models);
    let models = models.map_or(&[][..], |n| &parts[n..n + 1]);
    parts[block.start + 1..tables]
        .iter()
        .chain(models)
        .for_each(|part| hasher.update(&part.bytes));
    put(&mut parts[index], 0, hasher.finalize(), care, random);
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
