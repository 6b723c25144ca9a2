//! Damaged files are errors: never a panic, a hang, a huge allocation or a wrong byte passed as
//! right. Here bytes are changed, cut and exchanged at random, so that checksums detect most of it,
//! and recovery of the undamaged parts is tested. `damaged.rs` changes fields and signs them again.

use crate::common::{cases, compressed, decompressed, options};
use bwz::{Archive, Decoder, Effort, Error, Event, Lost, Step};
use std::io::{self, Cursor, Read};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Small files of every kind: empty, stored, text, several blocks, several frames.
fn small_files() -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    let file = |name, raw: &[u8], block| (name, raw.to_vec(), compressed(raw, block));
    let one = cases::text(500);
    let two = cases::random(40, 256);
    let frames = [
        compressed(&one, 300),
        compressed(b"", 1),
        compressed(&two, 64),
    ]
    .concat();
    vec![
        file("empty", b"", 1),
        file("stored", &cases::random(60, 256), 100),
        file("text", &cases::text(900), 1000),
        file("run", &[b'a'; 5000], 5000),
        file("blocks", &cases::text(1000), 300),
        ("frames", [one, two].concat(), frames),
    ]
}

/// A damaged file may output a prefix of the raw bytes, never anything else.
fn assert_rejected(name: &str, damage: &str, file: &[u8], raw: &[u8]) {
    let (restored, end) = decompressed(file);
    assert!(
        raw.starts_with(&restored),
        "{name}, {damage}: wrong bytes were given out"
    );
    match end {
        Err(Error::Format { .. } | Error::Version { .. }) => {}
        Err(Error::Limit { .. }) => {}
        other => panic!("{name}, {damage}: {other:?}"),
    }
}

#[test]
fn every_truncation_is_an_error() {
    for (name, raw, file) in small_files() {
        let archive = Archive::open(Cursor::new(&file), &options(1)).unwrap();
        // A cut between two frames leaves a whole file.
        let ends: Vec<_> = archive
            .frames()
            .iter()
            .map(|frame| frame.coded.end as usize)
            .collect();
        for size in (0..file.len()).filter(|size| !ends.contains(size)) {
            assert_rejected(name, &format!("cut to {size}"), &file[..size], &raw);
        }
    }
}

#[test]
fn every_flipped_bit_is_an_error() {
    for (name, raw, file) in small_files() {
        for bit in 0..file.len() * 8 {
            let mut bad = file.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_rejected(name, &format!("bit {bit} flipped"), &bad, &raw);
        }
    }
}

#[test]
fn every_flipped_byte_is_noticed_by_an_archive_too() {
    for (name, raw, file) in small_files() {
        for at in 0..file.len() {
            let mut bad = file.clone();
            bad[at] ^= 0xFF;
            let mut out = Vec::new();
            let end = Archive::open(Cursor::new(&bad), &options(1))
                .and_then(|mut archive| archive.read_range(0..archive.raw_size(), &mut out));
            let intact = end.is_ok() && out == raw;
            assert!(
                intact || raw.starts_with(&out),
                "{name}, byte {at}: wrong bytes"
            );
            // An archive does not notice damage in parts that it does not read (the stream's
            // checksum). It notices all other damage.
            assert!(end.is_err() || intact, "{name}, byte {at}");
        }
    }
}

#[test]
fn garbage_of_any_kind_is_an_error() {
    let file = compressed(&cases::text(100), 100);
    for tail in [
        &b"\0\0\x01"[..],
        b"garbage",
        b"\xF7bw",
        b"\xF7bwx0123456789abcdef",
        b"BZh9",
    ] {
        let (restored, end) = decompressed(&[&file[..], tail].concat());
        assert_eq!(restored, cases::text(100));
        assert!(matches!(end, Err(Error::Format { offset, .. }) if offset >= file.len() as u64));
    }
    for (name, raw) in cases::named() {
        assert!(decompressed(&raw).1.is_err(), "{name} is no bwz file");
        assert!(
            Archive::open(Cursor::new(&raw), &options(1)).is_err(),
            "{name} is no bwz file"
        );
        assert!(
            bwz::recover(Cursor::new(&raw), Vec::new(), &options(1)).is_err(),
            "{name}"
        );
    }
}

#[test]
fn an_error_names_block_and_offset() {
    let raw = cases::text(100_000);
    let mut file = compressed(&raw, 10_000);
    let archive = Archive::open(Cursor::new(&file), &options(1)).unwrap();
    let block = archive.blocks()[4].coded.clone();
    file[(block.start + block.end) as usize / 2] ^= 4;
    let (restored, end) = decompressed(&file);
    assert!(
        restored == raw[..40_000],
        "what came before the damage is given out"
    );
    let Err(Error::Format {
        block: Some(4),
        offset,
        ..
    }) = end
    else {
        panic!("{end:?}")
    };
    assert_eq!(offset, block.start);
}

#[test]
fn a_decoder_that_failed_stays_so() {
    let mut file = compressed(&cases::text(1000), 100);
    let middle = file.len() / 2;
    file[middle] ^= 1;
    let mut decoder = bwz::Decoder::new(&file[..], &options(1));
    assert!(decoder.read_to_end(&mut Vec::new()).is_err());
    assert!(
        decoder.read(&mut [0; 10]).is_err(),
        "an end would make a part look like the whole"
    );
}

/// Two stored blocks of the same size, swapped. Each is sound, but in the wrong place.
#[test]
fn swapped_blocks_are_noticed_by_every_reader() {
    let raw = cases::random(3_000, 256);
    let mut file = compressed(&raw, 1_000);
    let first = 23..1_064;
    let second = 1_064..2_105;
    let moved = [&file[second], &file[first.clone()]].concat();
    file[first.start..first.start + moved.len()].copy_from_slice(&moved);
    assert!(decompressed(&file).1.is_err());
    let mut archive = Archive::open(Cursor::new(&file), &options(1)).unwrap();
    assert!(
        archive
            .read_range(1_000..2_000, Vec::new())
            .is_err()
    );
    assert!(
        archive
            .read_range(2_000..3_000, Vec::new())
            .is_ok()
    );
}

#[test]
fn recover_saves_every_other_block() {
    let raw = cases::text(100_000);
    let file = [compressed(&raw, 10_000), compressed(&raw[..25_000], 10_000)].concat();
    let archive = Archive::open(Cursor::new(&file), &options(1)).unwrap();
    let all = [&raw[..], &raw[..25_000]].concat();
    for (n, block) in archive.blocks().iter().enumerate() {
        for at in [
            block.coded.start,
            block.coded.start + 20,
            block.coded.end - 1,
        ] {
            let mut bad = file.clone();
            bad[at as usize] ^= 0x10;
            let mut saved = Vec::new();
            let recovery = bwz::recover(Cursor::new(bad), &mut saved, &options(1)).unwrap();
            let lost = block.raw.start as usize..block.raw.end as usize;
            assert_eq!(
                recovery.lost,
                [Lost {
                    start: block.raw.start,
                    end: Some(block.raw.end)
                }],
                "block {n}"
            );
            assert!(
                saved == [&all[..lost.start], &all[lost.end..]].concat(),
                "block {n}"
            );
            assert_eq!(recovery.blocks as usize, archive.blocks().len() - 1);
        }
    }
}

#[test]
fn recover_tells_of_a_cut_and_of_a_hole() {
    let raw = cases::text(50_000);
    let file = compressed(&raw, 10_000);
    let blocks = Archive::open(Cursor::new(&file), &options(1))
        .unwrap()
        .blocks()
        .to_vec();
    let recover = |file: &[u8]| {
        let mut saved = Vec::new();
        let recovery = bwz::recover(Cursor::new(file), &mut saved, &options(1)).unwrap();
        (saved, recovery.lost)
    };
    let (saved, lost) = recover(&file[..blocks[3].coded.start as usize + 50]);
    assert!(saved == raw[..30_000]);
    assert_eq!(
        lost,
        [
            Lost {
                start: 30_000,
                end: Some(40_000)
            },
            Lost {
                start: 40_000,
                end: None
            }
        ]
    );

    let from = blocks[1].coded.start as usize + 9;
    let to = blocks[3].coded.start as usize + 60;
    let (saved, lost) = recover(&[&file[..from], &file[to..]].concat());
    assert!(saved == [&raw[..10_000], &raw[40_000..]].concat());
    assert_eq!(
        lost,
        [Lost {
            start: 10_000,
            end: Some(40_000)
        }]
    );

    let (saved, lost) = recover(&file[100..]);
    assert!(saved == raw[10_000..]);
    assert_eq!(
        lost,
        [Lost {
            start: 0,
            end: Some(10_000)
        }]
    );
}

#[test]
fn recover_does_not_take_a_stored_bwz_file_for_its_own_blocks() {
    let inner = compressed(&cases::random(9_000, 256), 1_000);
    let file = compressed(&inner, 4_000);
    let blocks = Archive::open(Cursor::new(&file), &options(1))
        .unwrap()
        .blocks()
        .to_vec();
    // A damaged payload, and a damaged header behind an undamaged block.
    for (at, lost) in [(100, 0), (blocks[1].coded.start + 20, 1)] {
        let mut bad = file.clone();
        bad[at as usize] ^= 1;
        let mut saved = Vec::new();
        let recovery = bwz::recover(Cursor::new(bad), &mut saved, &options(1)).unwrap();
        let lost: &bwz::BlockInfo = &blocks[lost];
        assert_eq!(
            recovery.lost,
            [Lost {
                start: lost.raw.start,
                end: Some(lost.raw.end)
            }]
        );
        let before = lost.raw.start as usize;
        let behind = lost.raw.end as usize;
        assert!(saved == [&inner[..before], &inner[behind..]].concat());
    }
}

#[test]
fn recover_is_not_stopped_by_a_header_that_asks_for_too_much_memory() {
    let raw = cases::text(50_000);
    let mut file = compressed(&raw, 10_000);
    let blocks = Archive::open(Cursor::new(&file), &options(1))
        .unwrap()
        .blocks()
        .to_vec();
    file.truncate(blocks[4].coded.end as usize);
    let start = blocks[2].coded.start as usize;
    file[start + 12..start + 16].copy_from_slice(&(1u32 << 30).to_le_bytes());
    let checksum = crc32fast::hash(&file[start..start + 37]).to_le_bytes();
    file[start + 37..start + 41].copy_from_slice(&checksum);
    let tight = options(1).memory(64 << 20);
    // Such a header cannot be told from a true one while its payload is undamaged.
    let end = bwz::recover(Cursor::new(&file), Vec::new(), &tight);
    assert!(matches!(end, Err(Error::Limit { .. })), "{end:?}");

    file[start + 50] ^= 1;
    let mut saved = Vec::new();
    bwz::recover(Cursor::new(&file), &mut saved, &tight).unwrap();
    assert!(saved == [&raw[..20_000], &raw[30_000..]].concat());
}

#[test]
fn recover_tells_of_frames_that_are_gone() {
    let parts: Vec<_> = (0..3)
        .map(|n| compressed(&cases::random(700 + n, 256), 300))
        .collect();
    for gone in 0..3 {
        let zeroed = |n: usize| {
            if n == gone {
                vec![0; parts[n].len()]
            } else {
                parts[n].clone()
            }
        };
        let file: Vec<u8> = (0..3).flat_map(zeroed).collect();
        let mut saved = Vec::new();
        let recovery = bwz::recover(Cursor::new(file), &mut saved, &options(1)).unwrap();
        let left: Vec<u8> = (0..3)
            .filter(|n| *n != gone)
            .flat_map(|n| cases::random(700 + n, 256))
            .collect();
        assert!(saved == left, "frame {gone}");
        // Zeros behind the last frame are padding.
        let lost = [Some(0), Some(700), None][gone].map(|start| Lost { start, end: None });
        assert_eq!(recovery.lost, Vec::from_iter(lost), "frame {gone}");
    }
}

#[test]
fn a_block_beyond_the_memory_limit_is_refused_with_the_amount_it_needs() {
    let raw = cases::text(4 << 20);
    let file = compressed(&raw, 4 << 20);
    let tight = options(4 << 20).memory(32 << 20);
    let compressing = bwz::compress(&raw[..], Vec::new(), &tight);
    let restoring = bwz::decompress(&file[..], Vec::new(), &tight);
    for end in [compressing, restoring] {
        let Err(Error::Limit {
            needed, allowed, ..
        }) = end
        else {
            panic!("{end:?}")
        };
        assert!(allowed == 32 << 20 && needed > allowed && needed < 60 << 20);
    }
}

#[test]
fn the_samples_of_an_index_count_in_the_memory_of_a_block() {
    let raw = cases::text(4 << 20);
    let tight = options(4 << 20).threads(1).memory(46 << 20);
    for rate in [0, 64] {
        let indexed = tight.clone().index(rate).unwrap();
        bwz::compress(&raw[..], Vec::new(), &indexed).unwrap();
    }
    let end = bwz::compress(&raw[..], Vec::new(), &tight.index(8).unwrap());
    // Half a million samples, of 12 bytes each.
    assert!(
        matches!(
            end,
            Err(Error::Limit {
                needed: 0x320_0000..0x330_0000,
                ..
            })
        ),
        "{end:?}"
    );
}

#[test]
fn a_block_of_best_is_refused_where_its_models_have_no_room() {
    let raw = cases::text(1 << 20);
    let mut best = Vec::new();
    bwz::compress(&raw[..], &mut best, &options(1 << 20).effort(Effort::Best)).unwrap();
    let usual = compressed(&raw, 1 << 20);
    let restored = |file: &[u8], memory: u64| {
        bwz::decompress(file, Vec::new(), &options(1).memory(memory))
            .map(|summary| summary.raw_size)
    };
    assert_eq!(restored(&usual, 26 << 20).unwrap(), 1 << 20);
    let end = restored(&best, 26 << 20);
    let Err(Error::Limit { needed, .. }) = end else {
        panic!("{end:?}")
    };
    assert!(needed < 40 << 20);
    assert_eq!(restored(&best, needed).unwrap(), 1 << 20);
}

/// An event that happens once and can be waited for.
#[derive(Clone, Default)]
struct Signal(Arc<(Mutex<bool>, Condvar)>);

impl Signal {
    fn send(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    /// False if the event does not come in time.
    fn came(&self) -> bool {
        let sent = self.0.0.lock().unwrap();
        let patience = Duration::from_secs(60);
        *self
            .0
            .1
            .wait_timeout_while(sent, patience, |sent| !*sent)
            .unwrap()
            .0
    }
}

/// A reader that delivers bytes, and then blocks until the signal.
struct Stalling(Cursor<Vec<u8>>, Signal);

impl Read for Stalling {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self.0.read(bytes)? {
            0 if !self.1.came() => panic!("nobody said that the work has failed"),
            read => Ok(read),
        }
    }
}

#[test]
fn a_failure_is_told_while_the_input_stalls() {
    let raw = cases::text(3000);
    let mut file = compressed(&raw, 1000);
    file[100] ^= 1;
    file.truncate(file.len() - 40);
    let failed = Signal::default();
    let options = |failed: &Signal| {
        let failed = failed.clone();
        options(1000).on_event(move |event| {
            if let Event::Failed = event {
                failed.send();
            }
        })
    };
    let input = Stalling(Cursor::new(file), failed.clone());
    let end = bwz::decompress(input, io::sink(), &options(&failed));
    assert!(
        matches!(end, Err(Error::Format { block: Some(0), .. })),
        "{end:?}"
    );

    let failed = Signal::default();
    let input = Stalling(Cursor::new(cases::random(5000, 256)), failed.clone());
    let mut full = [0; 2000];
    let end = bwz::compress(input, &mut full[..], &options(&failed));
    assert!(matches!(end, Err(Error::Io(_))), "{end:?}");
}

/// A reader that delivers one byte at a time. At `at` it waits for the signal and a moment more.
struct Slow<'a>(&'a [u8], usize, Signal, Arc<Mutex<usize>>);

impl Read for Slow<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut read = self.3.lock().unwrap();
        if *read == self.1 {
            assert!(self.2.came());
            std::thread::sleep(Duration::from_millis(300));
        }
        let count = (&self.0[*read..]).take(1).read(bytes)?;
        *read += count;
        Ok(count)
    }
}

#[test]
fn a_decoder_gives_what_is_ready_before_it_reads_on() {
    let file = compressed(&cases::text(20_000), 1000);
    let archive = Archive::open(Cursor::new(&file), &options(1)).unwrap();
    let ends: Vec<usize> = archive
        .blocks()
        .iter()
        .map(|b| b.coded.end as usize)
        .collect();
    let checked = Signal::default();
    let read = Arc::default();
    let signal = checked.clone();
    let options = options(1000).on_event(move |event| {
        if let Event::Done {
            block: 0,
            step: Step::Check,
            ..
        } = event
        {
            signal.send();
        }
    });
    let mut decoder = Decoder::new(
        Slow(&file, ends[0] + 20, checked, Arc::clone(&read)),
        &options,
    );
    assert_eq!(decoder.read(&mut [0; 10]).unwrap(), 10);
    let read = *read.lock().unwrap();
    assert!(
        read <= ends[1],
        "{read} bytes were read, and block 1 ends at {}",
        ends[1]
    );
}

/// A reader from the end once went round at such a footer, and took all memory.
#[test]
fn a_frame_of_another_version_with_no_bytes_is_damage() {
    const FOOTER: usize = 36;
    let frame = compressed(&cases::text(3000), 1000);
    let mut file = [&frame[..], &frame].concat();
    let seal = |file: &mut [u8], at: usize, len: usize| {
        let sum = crc32fast::hash(&file[at..at + len]);
        file[at + len..at + len + 4].copy_from_slice(&sum.to_le_bytes());
    };
    let footer = frame.len() - FOOTER;
    file[footer + 20..footer + 27].fill(0);
    seal(&mut file, footer, 28);
    file[frame.len() + 4] += 1;
    seal(&mut file, frame.len(), 19);
    let end = Archive::open(Cursor::new(&file), &options(1));
    assert!(matches!(end, Err(Error::Format { .. })), "{end:?}");
}
