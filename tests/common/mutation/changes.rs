//! Changes to a file's parts: to fields, to values of tables, to bytes, and to whole parts, blocks
//! and frames.

use super::parts::{Kind, Part, block_at, frame_at};
use super::random::Random;
use std::ops::Range;

/// Offset and size of the fields of a structure.
fn fields(kind: Kind) -> &'static [(usize, usize)] {
    match kind {
        Kind::FrameHeader => &[
            (0, 4),
            (4, 1),
            (5, 1),
            (6, 1),
            (7, 1),
            (8, 2),
            (10, 4),
            (14, 5),
            (19, 4),
        ],
        Kind::BlockHeader => &[
            (0, 8),
            (8, 1),
            (9, 1),
            (10, 1),
            (11, 1),
            (12, 5),
            (17, 5),
            (22, 4),
            (26, 7),
            (33, 4),
            (37, 4),
        ],
        Kind::FilterCount | Kind::FilterId | Kind::SeekFlags => &[(0, 1)],
        Kind::TableType => &[(0, 2)],
        Kind::TableChecksum | Kind::SeekChecksum => &[(0, 4)],
        Kind::IndexHeader => &[(0, 4), (4, 4), (8, 5), (13, 5)],
        Kind::SeekMarker => &[(0, 8)],
        Kind::Shape => &[(0, 1), (1, 1), (2, 1), (3, 1)],
        Kind::Footer => &[
            (0, 7),
            (7, 5),
            (12, 4),
            (16, 4),
            (20, 7),
            (27, 1),
            (28, 4),
            (32, 4),
        ],
        _ => &[],
    }
}

/// True if a part is one varint.
fn is_varint(kind: Kind) -> bool {
    use Kind::{FilteredSize, SeekNumber, SeekSize, SideSize, TableSize, TablesSize};
    [
        FilteredSize,
        SideSize,
        TablesSize,
        TableSize,
        SeekSize,
        SeekNumber,
    ]
    .contains(&kind)
}

/// One change, of any kind.
pub fn any(parts: &mut Vec<Part>, random: &mut Random) {
    match random.below(8) {
        0 => field(parts, random),
        1 => whole(parts, random),
        2 => values(parts, random),
        3 => slice(parts, random),
        4 => side(parts, random),
        _ => {
            let at = random.below(parts.len());
            if let Some(part) = parts.get_mut(at) {
                bytes(&mut part.bytes, random);
            }
        }
    }
}

/// Gives another value to one field of a structure.
pub fn field(parts: &mut [Part], random: &mut Random) {
    let has_fields = |part: &Part| !fields(part.kind).is_empty() || is_varint(part.kind);
    let Some(at) = pick(parts, random, has_fields) else {
        return;
    };
    if is_varint(parts[at].kind) {
        return varint_part(&mut parts[at], random);
    }
    let all = fields(parts[at].kind);
    let (offset, size) = all[random.below(all.len())];
    let old = parts[at].get(offset, size);
    let lender = pick(parts, random, |part| part.kind == parts[at].kind).unwrap_or(at);
    let lent = parts[lender].get(offset, size);
    let new = other_number(old, lent, 8 * size as u32, random);
    parts[at].set(offset, size, new);
}

/// A number of up to `bits` bits to try in place of `old`.
fn other_number(old: u64, lent: u64, bits: u32, random: &mut Random) -> u64 {
    let most = u64::MAX >> (64 - bits);
    let new = match random.below(10) {
        0 => 0,
        1 => 1,
        2 => most >> random.below(2),
        3 => old.wrapping_add(1),
        4 => old.wrapping_sub(1),
        5 => 1 << random.below(bits as usize),
        6 => random.next() >> random.below(64),
        7 => old ^ 1 << random.below(bits as usize),
        8 => old
            .wrapping_add(random.next() % 64)
            .wrapping_sub(32),
        _ => lent,
    };
    new & most
}

/// A part for which `is` holds.
fn pick(parts: &[Part], random: &mut Random, is: impl Fn(&Part) -> bool) -> Option<usize> {
    let found: Vec<usize> = (0..parts.len())
        .filter(|&n| is(&parts[n]))
        .collect();
    found.get(random.below(found.len())).copied()
}

/// Changes the values of a table: one is changed, two are swapped, one is added or removed, or all
/// are written at another width.
fn values(parts: &mut [Part], random: &mut Random) {
    let is_table = |part: &Part| match part.kind {
        Kind::Samples | Kind::SliceCount | Kind::RawSizes | Kind::ModelsSize | Kind::CodedSizes => {
            part.count > 0 && !part.bytes.is_empty()
        }
        Kind::Column => part.count > 0,
        Kind::SliceChecksums | Kind::Counts => part.bytes.len() >= 4,
        _ => false,
    };
    let Some(at) = pick(parts, random, is_table) else {
        return;
    };
    let part = &mut parts[at];
    if part.kind == Kind::Column {
        return column_values(part, random);
    }
    if part.count == 0 {
        let size = 4;
        let offset = random.below(part.bytes.len() / size) * size;
        let old = part.get(offset, size);
        let lent = random.below(part.bytes.len() / size) * size;
        let new = other_number(old, part.get(lent, size), 8 * size as u32, random);
        return part.set(offset, size, new);
    }
    let mut values = part.values();
    let mut width = part.bytes[0];
    let a = random.below(values.len());
    let b = random.below(values.len());
    match random.below(6) {
        0 => values.swap(a, b),
        1 => width = [0, 1, 31, 32, 33, 40, 41, 255][random.below(8)],
        2 => values.push(values[a]),
        3 => drop(values.remove(a)),
        _ => values[a] = other_number(values[a], values[b], 32, random),
    }
    let needed = values
        .iter()
        .map(|value| 64 - value.leading_zeros())
        .max()
        .unwrap_or(1) as u8;
    let wide_enough = (1..40).contains(&width) && random.below(4) > 0;
    part.set_values(
        if wide_enough {
            width.max(needed)
        } else {
            width
        },
        &values,
    );
}

/// Changes a byte of models, or of a coded slice, on which all else depends: states, symbols or
/// weights.
fn slice(parts: &mut [Part], random: &mut Random) {
    let is = |part: &Part| matches!(part.kind, Kind::Models | Kind::Slice);
    let Some(at) = pick(parts, random, is) else {
        return;
    };
    let coded = &mut parts[at].bytes;
    let (from, size) = [(0, 4), (4, 4), (0, 32), (8, 40), (32, 60)][random.below(5)];
    let Some(place) = coded.get_mut(from + random.below(size)) else {
        return;
    };
    *place = match random.below(4) {
        0 => random.below(5) as u8,
        1 => place.wrapping_add(1),
        2 => *place ^ 1 << random.below(8),
        _ => random.next() as u8,
    };
}

/// Changes a field of Side: another number, one field more, or one less.
fn side(parts: &mut Vec<Part>, random: &mut Random) {
    let Some(at) = pick(parts, random, |part| part.kind == Kind::Side) else {
        return;
    };
    match random.below(8) {
        0 => drop(parts.remove(at)),
        1 => parts.insert(at, parts[at].clone()),
        2 => bytes(&mut parts[at].bytes, random),
        _ if parts[at].bytes.len() > 5 => bytes(&mut parts[at].bytes, random),
        _ => varint_part(&mut parts[at], random),
    }
}

/// Gives another value to a varint.
fn varint_part(part: &mut Part, random: &mut Random) {
    let bits = 7 * part.bytes.len() as u32;
    let lent = random.below(300) as u64;
    part.set_varint(other_number(part.varint(), lent, bits.clamp(8, 42), random));
}

/// Changes the values of a Column, or its width alone.
fn column_values(part: &mut Part, random: &mut Random) {
    let mut values = part.column();
    let a = random.below(values.len());
    let b = random.below(values.len());
    match random.below(6) {
        0 => values.swap(a, b),
        1 => return bytes(&mut part.bytes, random),
        2 => values.push(values[a]),
        3 => drop(values.remove(a)),
        _ => values[a] = other_number(values[a], values[b], 32, random),
    }
    part.set_column(&values);
}

/// Changes a whole part, block or frame: it is removed, repeated, swapped with another, moved, or
/// put in place of another.
fn whole(parts: &mut Vec<Part>, random: &mut Random) {
    let scale = random.below(3);
    let Some((a, b)) = group(parts, scale, random).zip(group(parts, scale, random)) else {
        return;
    };
    let copy = parts[a.clone()].to_vec();
    match random.below(5) {
        0 => drop(parts.drain(a)),
        1 => drop(parts.splice(a.end..a.end, copy)),
        2 => drop(parts.splice(b.start..b.start, copy)),
        3 => drop(parts.splice(b, copy)),
        _ => {
            let (first, second) = if a.start <= b.start { (a, b) } else { (b, a) };
            if first.end <= second.start {
                let moved = parts[second.clone()].to_vec();
                let copy: Vec<Part> = parts
                    .splice(second, parts[first.clone()].to_vec())
                    .collect();
                debug_assert_eq!(copy.len(), moved.len());
                parts.splice(first, moved);
            }
        }
    }
}

/// The range of a part, a block or a frame.
fn group(parts: &[Part], scale: usize, random: &mut Random) -> Option<Range<usize>> {
    match scale {
        0 => pick(parts, random, |_| true).map(|n| n..n + 1),
        1 => pick(parts, random, |part| part.kind == Kind::BlockHeader).map(|n| block_at(parts, n)),
        _ => pick(parts, random, |part| part.kind == Kind::FrameHeader).map(|n| frame_at(parts, n)),
    }
}

/// Makes one change to bytes of unknown structure.
pub fn bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.place(bytes.len());
    let len = bytes.len();
    let to = len.min(at + 1 + random.place(len));
    let from = random.below(len);
    let noise = random.next();
    match random.below(10) {
        0 => bytes.truncate(at),
        1 => bytes.extend((0..noise % 40).map(|n| (noise >> (n % 64)) as u8)),
        2 => drop(bytes.drain(at..to.max(at))),
        3 => drop(bytes.splice(at..at, noise.to_le_bytes().into_iter().take(1 + from % 8))),
        4 => bytes.extend_from_within(at..to.max(at)),
        5 if len > 0 => bytes.swap(at, from),
        6 if len > 0 => bytes[at..to].fill([0, 0xFF, noise as u8][(noise >> 8) as usize % 3]),
        7 if len > 0 => bytes[at] = noise as u8,
        _ if len > 0 => bytes[at] ^= 1 << (noise % 8),
        _ => bytes.push(noise as u8),
    }
}
