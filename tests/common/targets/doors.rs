//! The public entry points, with their pools and pipelines.

use bwz::{Archive, Decoder, Effort, Encoder, Options, internals};
use std::io::{Cursor, Read, Write};

/// Maximum raw size of a file that is searched by sequence, in bytes.
const LARGEST: u64 = 1 << 16;

/// An input that begins as a file is read as one. For any other input, the first byte chooses the
/// test.
pub fn doors(input: &[u8]) {
    match input.split_first() {
        Some((first, _)) if *first == bwz::MAGIC[0] => decompress(input),
        Some((first, rest)) if first % 2 == 0 => roundtrip(rest),
        Some((_, rest)) => search(rest),
        None => decompress(input),
    }
}

/// Any bytes as a file, through every entry point that reads one, under small limits: never a
/// panic, a hang or much memory.
fn decompress(file: &[u8]) {
    let options = Options::new().threads(1).memory(20 << 20);
    let mut raw = Vec::new();
    if let Ok(summary) = bwz::decompress(file, &mut raw, &options) {
        let padding = file
            .iter()
            .rev()
            .take_while(|&&byte| byte == 0)
            .count();
        let coded = file.len() - padding;
        assert_eq!(
            (summary.raw_size, summary.coded_size),
            (raw.len() as u64, coded as u64)
        );
    }
    if let Ok(mut archive) = Archive::open(Cursor::new(file), &options) {
        let size = archive.raw_size();
        let mut whole = Vec::new();
        if archive.read_range(0..size, &mut whole).is_ok() {
            assert_eq!(whole.len() as u64, size);
        }
        if archive.has_sequences() && size <= LARGEST {
            let _ = sequences(archive);
        }
    }
    let _ = bwz::recover(Cursor::new(file), std::io::sink(), &options);
}

/// Matches of a search by sequence are at bases of records, and these are where their records
/// state.
fn sequences(mut archive: Archive<Cursor<&[u8]>>) -> bwz::Result<()> {
    for found in archive.locate(&["A", "gt"], 3)? {
        for place in archive.places(&found.positions)? {
            assert!(place.offset <= archive.raw_size());
        }
    }
    let records = archive.records()?.to_vec();
    for record in [records.first(), records.last()]
        .into_iter()
        .flatten()
    {
        let bases = archive.region(&record.name, 0..3)?;
        assert!(bases.len() as u64 <= record.length.min(3) || records.len() > 1);
        assert!(archive.find_record(&record.name)?.is_some());
    }
    Ok(())
}

/// Any bytes under any options are restored, by the library's two pairs of entry points.
fn roundtrip(input: &[u8]) {
    let Some((choice, bytes)) = input.split_at_checked(5) else {
        return;
    };
    let raw = bytes.repeat(usize::from(choice[0] % 16) + 1);
    let piece = usize::from(u16::from_le_bytes([choice[1], choice[2]])) + 1;
    let block_size = u32::from(choice[3]) << (choice[4] % 8) | 1;
    let options = Options::new()
        .threads(usize::from(choice[4] % 3) + 1)
        .memory(256 << 20);
    let effort = [Effort::Default, Effort::Best, Effort::Fast][usize::from(choice[0] / 16 % 3)];
    let block_size = block_size.max(raw.len() as u32 / 64 + 1);
    let options = options
        .effort(effort)
        .with_block_size(block_size.into())
        .unwrap();

    let mut file = Vec::new();
    bwz::compress(&raw[..], &mut file, &options).unwrap();
    let mut restored = Vec::new();
    bwz::decompress(&file[..], &mut restored, &options).unwrap();
    assert!(restored == raw);
    let mut wide = Vec::new();
    bwz::decompress(&file[..], &mut wide, &internals::wide(options.clone())).unwrap();
    assert!(wide == raw);

    let mut encoder = Encoder::new(Vec::new(), &options);
    raw.chunks(piece)
        .for_each(|piece| encoder.write_all(piece).unwrap());
    assert!(encoder.finish().unwrap().0 == file);
    let mut pulled = Vec::new();
    Decoder::new(&file[..], &options)
        .read_to_end(&mut pulled)
        .unwrap();
    assert!(pulled == raw);
}

/// Search finds the same as a plain search. In any bytes as a file, it finds something or fails.
fn search(input: &[u8]) {
    let Some((choice, bytes)) = input.split_at_checked(4) else {
        return;
    };
    let options = Options::new()
        .threads(usize::from(choice[0] % 3) + 1)
        .memory(20 << 20);
    let options = if choice[0] > 127 {
        internals::wide(options)
    } else {
        options
    };
    let pattern = &bytes[..bytes.len().min(usize::from(choice[1] % 24))];
    let patterns = [pattern, &pattern[..pattern.len() / 2], &[choice[3]], b"aa"];
    if choice[2] == 255 {
        if let Ok(mut archive) = Archive::open(Cursor::new(bytes), &options) {
            let _ = archive.locate(&patterns, 5);
            let _ = archive.count(&patterns[2..3]);
            let head = 0..archive.raw_size().min(100);
            let _ = archive.extract(head);
        }
        return;
    }
    let raw = bytes.repeat(usize::from(choice[3] % 8) + 1);
    let rate = [None, Some(0), Some(8), Some(64)][usize::from(choice[2] % 4)];
    let block_size = (u32::from(choice[2]) << (choice[0] % 6)).max(raw.len() as u32 / 64 + 1);
    let options = options
        .with_block_size(block_size.into())
        .unwrap();
    let options = rate.map_or(options.clone(), |rate| options.index(rate).unwrap());
    let mut file = Vec::new();
    bwz::compress(&raw[..], &mut file, &options).unwrap();
    let mut archive = Archive::open(Cursor::new(file), &options).unwrap();
    for (pattern, found) in patterns
        .iter()
        .zip(archive.locate(&patterns, usize::MAX).unwrap())
    {
        let starts = |at: &u64| raw[*at as usize..].starts_with(pattern);
        let wanted: Vec<u64> = (0..=raw.len() as u64).filter(starts).collect();
        assert_eq!(
            (found.count, found.positions),
            (wanted.len() as u64, wanted),
            "{pattern:?}"
        );
    }
    let part = raw.len() as u64 / 3..raw.len() as u64 / 2;
    let wanted = &raw[part.start as usize..part.end as usize];
    assert_eq!(archive.extract(part).unwrap(), wanted);
}
