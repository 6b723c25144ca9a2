//! Small FASTA and FASTQ files with every oddity, compared with a reader that follows the rules of
//! FORMAT.md section 12.8 line by line. It is so simple that it is hardly wrong.

use crate::common::cases;
use crate::common::rounds::rounds;
use bwz::{Archive, Event, Options};
use std::io::Cursor;
use std::sync::{Arc, Mutex};

/// A record as the naive reader finds it.
#[derive(Default)]
struct Truth {
    name: Vec<u8>,
    /// The bytes of its sequence as they are in the file, and the raw offset of each.
    written: Vec<u8>,
    offsets: Vec<u64>,
    /// Raw offset of its first line of qualities, and the number of qualities.
    quality_start: Option<u64>,
    qualities: usize,
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0B | 0x0C)
}

fn is_residue(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || b"*-.".contains(&byte)
}

fn header_name(line: &[u8], mark: u8) -> Option<Vec<u8>> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    let rest = line.strip_prefix(&[mark])?;
    let word = rest
        .split(|&byte| is_blank(byte))
        .find(|word| !word.is_empty());
    Some(word.unwrap_or_default().to_vec())
}

/// The records of a file, and the bytes of its sequences that are no residues.
fn naive(raw: &[u8], mark: u8) -> (Vec<Truth>, usize) {
    let mut records: Vec<Truth> = Vec::new();
    let mut start = 0;
    let mut are_qualities = false;
    let mut odd = 0;
    for line in raw.split_inclusive(|&byte| byte == b'\n') {
        let offset = start as u64;
        start += line.len();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let symbols = line
            .iter()
            .zip(offset..)
            .filter(|(byte, _)| !is_blank(**byte));
        if let Some(record) = records.last_mut().filter(|_| are_qualities) {
            let count = symbols.count();
            if count > 0 {
                record.quality_start.get_or_insert(offset);
            }
            record.qualities += count;
            are_qualities = record.qualities < record.written.len();
            continue;
        }
        if let Some(name) = header_name(line, mark) {
            records.push(Truth {
                name,
                ..Truth::default()
            });
            continue;
        }
        let Some(record) = records.last_mut() else {
            continue;
        };
        match (mark, line.first()) {
            (b'>', Some(b';')) => {}
            (b'@', Some(b'+')) => are_qualities = !record.written.is_empty(),
            _ if mark == b'@' && record.qualities > 0 => {}
            _ => {
                for (&byte, offset) in symbols {
                    record.written.push(byte);
                    record.offsets.push(offset);
                    odd += usize::from(!is_residue(byte));
                }
            }
        }
    }
    (records, odd)
}

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as usize % below
    }

    fn pick<'a>(&mut self, of: &[&'a [u8]]) -> &'a [u8] {
        of[self.roll(of.len())]
    }
}

fn front(dice: &mut Dice) -> Vec<u8> {
    let fronts: [&[u8]; 8] = [
        b"",
        b"",
        b"",
        b"\xEF\xBB\xBF",
        b"\n",
        b" \t\n\n",
        b"#head\n",
        b";c\r\n\xEF\xBB\xBF",
    ];
    dice.pick(&fronts).to_vec()
}

fn header(dice: &mut Dice, mark: u8) -> Vec<u8> {
    let headers: [&[u8]; 8] = [
        b"a",
        b"b x y",
        b"  a\tx",
        b"\xC3\xA9|1",
        b"",
        b"c\x00\x01",
        b"long name of many words that goes on and on and on, for as long as it likes",
        b"one_word_that_is_longer_than_half_of_a_block_is_and_so_may_be_torn_by_its_end",
    ];
    [&[mark], dice.pick(&headers)].concat()
}

/// A line of bases, with other bytes among them.
fn bases(dice: &mut Dice, len: usize) -> Vec<u8> {
    const ODD: [&[u8]; 14] = [
        b" ",
        b"\t",
        b"\r",
        b"\x0B",
        b"1",
        b"?",
        b"~",
        b"\xC2\xA0",
        b"\x00",
        b"\xFF",
        b"  ",
        b">",
        b"#",
        b"N",
    ];
    let mut line = Vec::new();
    let is_odd = dice.roll(4) == 0;
    let is_small = dice.roll(5) == 0;
    let is_rna = dice.roll(9) == 0;
    while line.len() < len {
        let base = b"ACGTACGTACGTACGTACGTRYNK"[dice.roll(24)];
        let base = if is_rna && base == b'T' { b'U' } else { base };
        line.push(if is_small {
            base.to_ascii_lowercase()
        } else {
            base
        });
        if is_odd && dice.roll(30) == 0 {
            line.extend(dice.pick(&ODD));
        }
    }
    line
}

fn fasta(dice: &mut Dice) -> Vec<u8> {
    let mut raw = front(dice);
    for _ in 0..1 + dice.roll(4) {
        let end: &[u8] = if dice.roll(5) == 0 { b"\r\n" } else { b"\n" };
        raw.extend(header(dice, b'>'));
        raw.extend(end);
        let width = 1 + dice.roll(60);
        for _ in 0..dice.roll(6) {
            let len = if dice.roll(5) == 0 {
                dice.roll(70)
            } else {
                width
            };
            raw.extend(bases(dice, len));
            raw.extend(end);
            if dice.roll(15) == 0 {
                raw.extend(dice.pick(&[b"\n", b";comment\n", b" \r\n"]));
            }
        }
    }
    finished(raw, dice)
}

fn fastq(dice: &mut Dice) -> Vec<u8> {
    let mut raw = front(dice);
    for _ in 0..1 + dice.roll(5) {
        let end: &[u8] = if dice.roll(5) == 0 { b"\r\n" } else { b"\n" };
        raw.extend(header(dice, b'@'));
        raw.extend(end);
        let count = dice.roll(90);
        let sequence = bases(dice, count);
        let width = if dice.roll(2) == 0 {
            count.max(1)
        } else {
            1 + dice.roll(50)
        };
        for line in sequence.chunks(width) {
            raw.extend(line);
            raw.extend(end);
        }
        raw.extend(dice.pick(&[b"+", b"+", b"+name"]));
        raw.extend(end);
        let count = sequence
            .iter()
            .filter(|&&byte| !is_blank(byte))
            .count();
        let qualities: Vec<u8> = (0..count)
            .map(|_| b'!' + dice.roll(94) as u8)
            .collect();
        for line in qualities.chunks(width) {
            raw.extend(line);
            raw.extend(end);
        }
        if dice.roll(9) == 0 {
            raw.extend(b"\n");
        }
    }
    finished(raw, dice)
}

/// Perhaps removes the last line end.
fn finished(mut raw: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    if dice.roll(3) == 0 {
        raw.pop();
    }
    raw
}

/// A function that makes a text.
type Make = fn(&mut Dice) -> Vec<u8>;

/// A text that was cut off somewhere, or in which a line is missing or doubled.
fn broken(dice: &mut Dice) -> Vec<u8> {
    let mark = [b'>', b'@'][dice.roll(2)];
    let raw = if mark == b'>' {
        fasta(dice)
    } else {
        fastq(dice)
    };
    let begin = raw
        .iter()
        .position(|&byte| byte == mark)
        .unwrap_or(0);
    if dice.roll(2) == 0 {
        let end = begin + 2 + dice.roll(raw.len() - begin);
        return raw[..end.min(raw.len())].to_vec();
    }
    let mut lines: Vec<&[u8]> = raw
        .split_inclusive(|&byte| byte == b'\n')
        .collect();
    let header = raw[..begin]
        .iter()
        .filter(|&&byte| byte == b'\n')
        .count();
    if lines.len() - header > 3 {
        // Bases follow the header of the broken record; otherwise its kind could not be recognised.
        let at = header + 2 + dice.roll(lines.len() - header - 2);
        let line = lines.remove(at);
        lines.splice(at..at, [line, line].into_iter().take(2 * dice.roll(2)));
    }
    lines.concat()
}

/// Checks texts. Returns the number of those that have an index of sequences.
fn check_all(number: usize, mark: Option<u8>, make: Make) -> usize {
    let warnings: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&warnings);
    let options = |block_size: u64| {
        let heard = Arc::clone(&heard);
        let options = Options::new()
            .with_block_size(block_size)
            .unwrap()
            .threads(1);
        options
            .memory(1 << 30)
            .index(8)
            .unwrap()
            .on_event(move |event| {
                if let Event::Warning(what) = event {
                    heard.lock().unwrap().push(what);
                }
            })
    };
    let sizes = [64, 1 << 16, 200].map(options);
    let [small, large, middle] = sizes;
    let sizes = [small.clone(), large, middle, small.split_at(b'\n')];
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15 ^ u64::from(mark.unwrap_or(0)));
    let mut by_sequence = 0;
    for n in 0..number {
        let raw = make(&mut dice);
        let mut file = Vec::new();
        warnings.lock().unwrap().clear();
        bwz::compress(&raw[..], &mut file, &sizes[n % 4]).unwrap();
        let said = warnings.lock().unwrap().concat();
        let mut restored = Vec::new();
        bwz::decompress(&file[..], &mut restored, &sizes[n % 4]).unwrap();
        assert!(restored == raw, "{:?}", String::from_utf8_lossy(&raw));
        let mut archive = Archive::open(Cursor::new(file), &sizes[n % 4]).unwrap();
        if archive.has_sequences() {
            by_sequence += 1;
            check(&mut archive, &raw, mark, &said, &mut dice);
        } else {
            let is_said = ["it begins like FASTA, but", "it begins like FASTQ, but"];
            let is_said = is_said.iter().any(|begin| said.contains(begin));
            assert!(
                is_said,
                "nothing is said of {:?}",
                String::from_utf8_lossy(&raw)
            );
        }
    }
    by_sequence
}

/// The bases in upper case, with T for U.
fn folded(bases: &[u8]) -> Vec<u8> {
    let fold = |byte: &u8| match byte.to_ascii_uppercase() {
        b'U' => b'T',
        byte => byte,
    };
    bases.iter().map(fold).collect()
}

fn check(
    archive: &mut Archive<Cursor<Vec<u8>>>,
    raw: &[u8],
    mark: Option<u8>,
    said: &str,
    dice: &mut Dice,
) {
    let what = || format!("{:?}", String::from_utf8_lossy(raw));
    // Broken texts are checked only for the messages about them.
    let Some(mark) = mark else { return };
    let (truths, odd) = naive(raw, mark);
    assert_eq!(
        said.contains("is not a residue"),
        odd > 0,
        "{said} {}",
        what()
    );
    if odd > 0 {
        assert!(
            said.contains(&format!("({odd} such byte")),
            "{said} {odd} {}",
            what()
        );
    }
    let records = archive.records().unwrap().to_vec();
    assert_eq!(records.len(), truths.len(), "{}", what());
    for (record, truth) in records.iter().zip(&truths) {
        assert_eq!(record.name, truth.name, "{}", what());
        assert_eq!(record.length, truth.written.len() as u64, "{}", what());
        if truth.qualities > 0 {
            assert_eq!(record.quality_offset, truth.quality_start, "{}", what());
        }
        for (base, offset) in (0..)
            .zip(&truth.offsets)
            .filter(|_| record.is_regular)
        {
            let line = base / record.line_bases * record.line_width;
            assert_eq!(
                record.offset + line + base % record.line_bases,
                *offset,
                "{}",
                what()
            );
        }
    }
    let mut patterns = Vec::new();
    for (record, truth) in truths
        .iter()
        .enumerate()
        .filter(|(_, t)| !t.written.is_empty())
    {
        let start = dice.roll(truth.written.len());
        let end = truth.written.len().min(start + 2 + dice.roll(9));
        let part = &truth.written[start..end];
        let residues = part
            .iter()
            .copied()
            .filter(|&byte| is_residue(byte));
        let pattern = folded(&residues.collect::<Vec<u8>>());
        if !pattern.is_empty() {
            patterns.push(pattern);
        }
        let range = start as u64..end as u64;
        assert_eq!(
            archive.regions(&[(record, range)]).unwrap(),
            [part],
            "{}",
            what()
        );
    }
    let found = archive.locate(&patterns, usize::MAX).unwrap();
    let counts = archive.count(&patterns).unwrap();
    for (n, pattern) in patterns.iter().enumerate() {
        let mut wanted = Vec::new();
        for truth in &truths {
            let upper = folded(&truth.written);
            let windows = upper.windows(pattern.len()).zip(&truth.offsets);
            wanted.extend(
                windows
                    .filter(|(window, _)| window == pattern)
                    .map(|(_, &at)| at),
            );
        }
        let of = || format!("{:?} in {}", String::from_utf8_lossy(pattern), what());
        assert_eq!(counts[n], wanted.len() as u64, "{}", of());
        assert_eq!(found[n].positions, wanted, "{}", of());
    }
}

#[test]
fn every_oddity_is_searched_as_a_naive_reader_reads_it() {
    let rounds = rounds(1000, 5000);
    let fasta = check_all(rounds, Some(b'>'), fasta);
    let fastq = check_all(rounds, Some(b'@'), fastq);
    assert!(
        fasta.min(fastq) > rounds / 4 * 3,
        "{fasta} and {fastq} of {rounds} are searched by sequence"
    );
}

#[test]
fn what_is_searched_by_its_bytes_says_why() {
    let by_sequence = check_all(1000, None, broken);
    assert!(
        (100..1000).contains(&by_sequence),
        "{by_sequence} are searched by sequence"
    );
}

/// The text is large enough that bases and lines are read by the index, one slice for each step.
#[test]
fn ranges_of_odd_texts_are_read_slice_by_slice() {
    let options = Options::new()
        .threads(1)
        .memory(1 << 30)
        .index(8)
        .unwrap();
    for (mark, make) in [(b'>', fasta as Make), (b'@', fastq)] {
        let mut dice = Dice(77);
        let mut raw = Vec::new();
        while raw.len() < 600_000 {
            // Each part begins with a record.
            let part = make(&mut dice);
            if part.first() == Some(&mark) && part.ends_with(b"\n") {
                raw.extend(part);
            }
            let letters = bases(&mut dice, 3000);
            raw.extend([&[mark][..], b"long one of many\n"].concat());
            letters
                .chunks(70)
                .for_each(|line| raw.extend([line, b"\n"].concat()));
            if mark == b'@' {
                raw.extend([b"+\n", &letters[..], b"\n"].concat());
            }
        }
        let mut file = Vec::new();
        bwz::compress(&raw[..], &mut file, &options).unwrap();
        let mut archive = Archive::open(Cursor::new(file), &options).unwrap();
        assert!(archive.has_sequences());
        for _ in 0..200 {
            let start = dice.roll(raw.len() - 40);
            let end = start + dice.roll(40);
            let range = start as u64..end as u64;
            assert_eq!(
                archive.extract(range).unwrap(),
                raw[start..end],
                "{start}..{end}"
            );
        }
        let cost = archive.search_cost();
        // Few ranges are long enough for decoding the whole block to pay.
        assert!(cost.blocks < 20 && cost.slices > 1000, "{cost:?}");
        let (truths, _) = naive(&raw, mark);
        assert_eq!(archive.records().unwrap().len(), truths.len());
        let before = archive.search_cost();
        for _ in 0..200 {
            let number = dice.roll(truths.len());
            let written = &truths[number].written;
            let start = dice.roll(written.len() + 1);
            let end = written.len().min(start + dice.roll(40));
            let region = archive
                .regions(&[(number, start as u64..end as u64)])
                .unwrap();
            assert_eq!(region, [&written[start..end]], "{number}: {start}..{end}");
        }
        let cost = archive.search_cost();
        assert!(
            cost.blocks < before.blocks + 20 && cost.slices > before.slices + 1000,
            "{cost:?}"
        );
    }
}

/// Each byte value at the beginning, in the middle and at the end of a line of a sequence.
#[test]
fn any_byte_within_a_line_stands_in_the_sequence_or_is_a_blank() {
    let letters: Vec<u8> = cases::random(600, 4)
        .iter()
        .map(|&letter| b"ACGT"[usize::from(letter)])
        .collect();
    for byte in 0..=255u8 {
        for at in [0, 25, 60] {
            let mut raw = b">c of 600\n".to_vec();
            for (n, line) in letters.chunks(60).enumerate() {
                raw.extend(line);
                raw.push(b'\n');
                if n == 4 {
                    raw.insert(raw.len() - 61 + at, byte);
                }
            }
            let options = Options::new()
                .with_block_size(1 << 16)
                .unwrap()
                .threads(1);
            let options = options.memory(1 << 30).index(8).unwrap();
            let mut file = Vec::new();
            bwz::compress(&raw[..], &mut file, &options).unwrap();
            let mut archive = Archive::open(Cursor::new(file), &options).unwrap();
            assert!(
                archive.extract(0..raw.len() as u64).unwrap() == raw,
                "{byte:02X} at {at}"
            );
            assert!(archive.has_sequences());
            let (truths, _) = naive(&raw, b'>');
            let upper: Vec<Vec<u8>> = truths
                .iter()
                .map(|truth| folded(&truth.written))
                .collect();
            let around = 240 + at;
            let patterns = [
                letters[around - 30..around - 10].to_vec(),
                letters[around + 10..around + 30].to_vec(),
                letters[around - 10..around + 10].to_vec(),
            ];
            let count = |pattern: &Vec<u8>| {
                let windows = upper.iter().flat_map(|bases| bases.windows(20));
                windows.filter(|window| window == pattern).count() as u64
            };
            let wanted: Vec<u64> = patterns.iter().map(count).collect();
            assert_eq!(
                archive.count(&patterns).unwrap(),
                wanted,
                "{byte:02X} at {at}"
            );
            let lengths: Vec<u64> = archive
                .records()
                .unwrap()
                .iter()
                .map(|record| record.length)
                .collect();
            let wanted: Vec<u64> = upper
                .iter()
                .map(|bases| bases.len() as u64)
                .collect();
            assert_eq!(lengths, wanted, "{byte:02X} at {at}");
            let written = &truths[truths.len() - 1].written;
            let end = written.len() as u64;
            let last = truths.len() - 1;
            let region = archive.regions(&[(last, end - 20..end)]).unwrap();
            assert_eq!(
                region,
                [&written[written.len() - 20..]],
                "{byte:02X} at {at}"
            );
        }
    }
}
