//! Every oddity comes back, and every map agrees with a list of all bytes.

use super::lines::Lines;
use super::*;
use crate::cases;

/// Blocks of every kind, and with every oddity.
fn blocks() -> Vec<(Kind, Vec<u8>)> {
    let fasta: &[&[u8]] = &[
        b">a\nACGT\nACGT\nAC\n>b\nAC\n",
        b">a\nACGT",
        b">a",
        b">",
        b"\n",
        b"\n\n>a\n\nAC\n\nGT\n\n",
        b">a\n>b\n>c\nA\n>d\n",
        b">a\r\nACGT\r\nACGT\r\nA\r\n",
        b">a\r\nACGT\nACGT\r\nA\n>b\nA\r\n\r\n",
        b"ACGT\r",
        b"ACGT\r\n",
        b"\nACGT\nACGTA\nACG\nAC\nACG\n",
        b";comment\n>a\n;comment\nMKV*\nM-K\n;c\nMK.V\n",
        b">a\nacgtACGTnnnnNN\nACG-tttt-gg-AA\n",
        b">a\nAC GT\nACGT \n12 ACGT\n\tA\n",
        b"ead of a header\nACGT\nAC\n>a\nA",
        b"GT\n>a\nACGT\n",
        b">\xC3\xA9t\xC3\xA9 \x00\x01\x02\x7F\x80\xFF\nACGT\n>\xFF\nA\n",
        b">a\n\xC3\xA9\xC3\xA9\n",
        b">a\nA\n>a\nA\n>a\nA\n>a\nA\n>bb\nA\n>bb\nA\n",
        b"ACGT>AC\nA\n",
        b"@@\n++\n",
        b"\xEF\xBB\xBF>a\nACGT\nAC\n\xEF\xBB\xBF> b\nA\n",
        b"\n#text\n;c\n \n>a\nACGT \nACGT \nAC \n>b\nACGT\nACG \nAC\n",
        b">a\n\tAC GT\x0B\x0C\rA\n  \nACGT\n>b\nACGT\nACGT \n>c\nA C\nA C\n",
        b">a\nACGT1\n?CGT\nA\xC2\xA0T\n\x00\x01~\x7F\n>b\nACGT  \nACGT  \nACGTT\n",
        b">a\nAC  \nAC  \nAC    \n>b\nAC  \nAC  \nAC\n>c\nAC\nAC\nA \n",
    ];
    let fastq: &[&[u8]] = &[
        b"@a\nACGT\n+\nIIII\n@b\nAC\n+\n@@\n",
        b"@a\nACGT\n+\nIIII\n@b\nAC\n+\n@+",
        b"@a\nACGT\n+a\nIIII\n@b\nAC\n+b\n@+\n@c\nA\n",
        b"@a\nACGT\n+\nII\n@b\nAC\n+\n@+\n",
        b"@a\nACGT\n+\nII",
        b"@a\nACGT\n+",
        b"@a\nACGT",
        b"@a\n\n+\n\n@b\nA\n+\nI\n",
        b"@a\n\n+\n",
        b"@a\r\nacgN\r\n+\r\nIIII\r\n@b\r\nAC\n+\r\nII\n",
        b"GT\n+\nIIII\n@b\nAC\n+\nII\n",
        b"II\n@b\nAC\n+\nII\n@c\nA",
        b"@@@@\n@b\nAC\n+\nII\n@c",
        b"header\nACGT\n+\nIIII\n@b\nAC\n+\nII\n@",
        b"@a\nACGT\n+\nII\xFFI\n@\x00\nAC\n+\nI\x01\n",
        b"no lines at all",
        b"@a\n@b\n@c\n",
        b"@a\nACGT\nACGT\nAC\n+\nIIII\n@III\n+I\n@b\nAC\n+\nII\n",
        b"\xEF\xBB\xBF@ a x\nAC GT\nAC\n+\n@I I\n+I \nI\n\n@b\nAC1T\n+\nIIII\n",
        b"#x\n@a\nACGT \n+\nIIII\n@b\n\nAC\n\n+\n\nI\nI\n@c\n+\n@d\nAC\nG\n@e\nA\n+\nI\n",
        b"ACGT\nACGT\n+\nIIII\nIIII\n@b\nAC\n+\nII\n@c\nAC\n+\nII\n",
    ];
    let mut blocks: Vec<(Kind, Vec<u8>)> = Vec::new();
    blocks.extend(
        fasta
            .iter()
            .map(|block| (Kind::Fasta, block.to_vec())),
    );
    blocks.extend(
        fastq
            .iter()
            .map(|block| (Kind::Fastq, block.to_vec())),
    );
    blocks.extend(mutations(&blocks));
    blocks
}

/// Each block three times, with some bytes changed, taken out or put in, and cut at both ends.
fn mutations(blocks: &[(Kind, Vec<u8>)]) -> Vec<(Kind, Vec<u8>)> {
    const BYTES: &[u8] = b"\n\n\r>@+ACGTacgt;*-. \t 1?~\x00\x01\x0B\x7F\x80\xFF";
    let mut changed = Vec::new();
    for (number, (kind, block)) in blocks.iter().enumerate() {
        for seed in 0..60 {
            let noise = cases::random(4000, 256).split_off((number * 60 + seed) % 3900);
            let mut noise = noise.into_iter().map(usize::from);
            let mut next = |below: usize| noise.next().unwrap() % below.max(1);
            let mut block = block.repeat(1 + next(3));
            for _ in 0..next(6) {
                let at = next(block.len());
                let byte = BYTES[next(BYTES.len())];
                match next(3) {
                    0 => block.insert(at, byte),
                    1 if block.len() > 1 => drop(block.remove(at)),
                    _ => block[at] = byte,
                }
            }
            let from = if next(2) == 0 { next(block.len()) } else { 0 };
            changed.push((*kind, block.split_off(from)));
        }
    }
    changed
}

#[test]
fn any_range_is_put_together_from_parts_of_the_text() {
    for (kind, block) in blocks() {
        let (text, layout) = split(&block, kind, LineState::default()).unwrap();
        let step = 1 + block.len() / 24;
        for start in (0..=block.len()).step_by(step) {
            for end in (start..=block.len())
                .step_by(step)
                .chain([block.len()])
            {
                let parts = layout.raw_parts(start..end);
                let of = |range: &std::ops::Range<usize>| text[range.clone()].to_vec();
                let texts: Vec<Vec<u8>> = parts.texts.iter().map(of).collect();
                assert!(texts.iter().all(|text| !text.is_empty()));
                let raw = parts.join(&texts, &layout).unwrap();
                assert_eq!(raw, block[start..end], "{kind:?} {block:?}, {start}..{end}");
            }
        }
    }
}

/// Takes a block apart, and puts it together again by way of its parameters.
fn round_trip(block: &[u8], kind: Kind, start: LineState) -> (Vec<u8>, Layout) {
    let (text, layout) = split(block, kind, start).unwrap();
    let mut side = Vec::new();
    layout.write(&mut side);
    side.extend(b"more");
    let mut rest = &side[..];
    let read = Layout::read(&mut rest, block.len()).unwrap();
    assert_eq!((rest, &read), (&b"more"[..], &layout), "{block:?}");
    assert_eq!(text.len(), layout.text_size());
    let joined = join(text.clone(), &read).unwrap();
    assert!(
        joined == block,
        "{kind:?} {:?}",
        String::from_utf8_lossy(block)
    );
    (text, layout)
}

/// Checks the maps for each byte of the searched text against the bytes of `block`.
fn agree(block: &[u8], text: &[u8], layout: &Layout) {
    let searched = &text[..layout.sequence_size()];
    assert!(
        text[layout.sequence_size()..]
            .iter()
            .all(|&byte| byte > 127)
    );
    let mut record = 0;
    let mut offset = 0;
    let mut last = None;
    let mut is_small = vec![false; searched.len()];
    layout
        .small(0..searched.len())
        .flatten()
        .for_each(|at| is_small[at] = true);
    for (position, &byte) in searched.iter().enumerate() {
        let raw = layout.raw_offset(position).unwrap();
        assert!(last.is_none_or(|last| last < raw));
        last = Some(raw);
        if byte == b'\n' {
            (record, offset) = (record + 1, 0);
            assert!(b">@\xEF".contains(&block[raw]));
            assert_eq!(layout.base(position), None);
            continue;
        }
        let base = Base { record, offset };
        assert_eq!(layout.base(position), Some(base));
        assert_eq!(layout.position(base), Some(position));
        let small = is_small[position] && byte.is_ascii_uppercase();
        assert_eq!(
            block[raw],
            if small {
                byte.to_ascii_lowercase()
            } else {
                byte
            }
        );
        assert_eq!(layout.text_position(raw), Some(position));
        offset += 1;
    }
    assert_eq!(record, layout.records());
    assert_eq!(layout.position(Base { record, offset }), None);
    assert_eq!(layout.raw_offset(searched.len()), None);
    let found = (0..block.len())
        .filter_map(|raw| layout.text_position(raw))
        .count();
    assert_eq!(found, searched.len() - layout.records());
    (0..=layout.records()).for_each(|number| record_agrees(block, text, layout, number));
    assert_eq!(layout.record(layout.records() + 1), None);
}

fn record_agrees(block: &[u8], text: &[u8], layout: &Layout, number: usize) {
    let Some(record) = layout.record(number) else {
        panic!("no record {number}")
    };
    let plain = |range: std::ops::Range<usize>| -> Vec<u8> {
        text[range]
            .iter()
            .map(|byte| byte & 0x7F)
            .collect()
    };
    if number > 0 {
        let start = layout
            .raw_offset(record.residues.start - 1)
            .unwrap();
        let header = Lines(&block[start..]).next().unwrap().bytes;
        if header.iter().all(|byte| (2..128).contains(byte)) {
            assert_eq!(plain(record.header.clone()), header);
        }
        assert!(record.raw_start > start);
    }
    let residues = &text[record.residues.clone()];
    assert!(!residues.contains(&b'\n'));
    let by_lines = |(at, _): (usize, &u8)| {
        let raw = record.raw_start + at / record.line_bases * record.line_width;
        raw + at % record.line_bases
    };
    let raw: Vec<usize> = record
        .residues
        .clone()
        .map(|p| layout.raw_offset(p).unwrap())
        .collect();
    if let [first, .., last] = raw[..] {
        assert!(
            block[record.raw_start..first]
                .iter()
                .all(|&byte| lines::is_blank(byte))
        );
        let regular: Vec<usize> = residues
            .iter()
            .enumerate()
            .map(by_lines)
            .collect();
        let line_end = block[last..]
            .iter()
            .position(|&byte| byte == b'\n');
        let lines = &block[first..line_end.map_or(block.len(), |len| last + len)];
        let has_blanks = lines
            .iter()
            .any(|&byte| lines::is_blank(byte) && byte != b'\n');
        let what = format!("{:?} {record:?}", String::from_utf8_lossy(block));
        assert!(!record.is_regular || regular == raw, "{what}");
        assert!(record.is_regular || regular != raw || has_blanks, "{what}");
    }
    if !record.qualities.is_empty() {
        let start = record.quality_start.unwrap();
        let count = lines::symbols(&plain(record.qualities.clone()));
        let raw: Vec<u8> = block[start..]
            .iter()
            .copied()
            .filter(|&b| b != b'\n')
            .collect();
        if raw.iter().all(|byte| (2..128).contains(byte)) {
            let symbols = |bytes: &[u8]| -> Vec<u8> {
                bytes
                    .iter()
                    .copied()
                    .filter(|&byte| !lines::is_blank(byte))
                    .collect()
            };
            let qualities = symbols(&plain(record.qualities.clone()));
            assert_eq!(qualities, symbols(&raw)[..count]);
        }
    }
}

#[test]
fn every_oddity_comes_back_and_every_map_agrees() {
    for (kind, block) in blocks()
        .into_iter()
        .filter(|(_, block)| !block.is_empty())
    {
        for start in [LineState::default(), LineState::guess(&block, kind)] {
            let (text, layout) = round_trip(&block, kind, start);
            agree(&block, &text, &layout);
        }
    }
}

#[test]
fn the_text_is_residues_then_all_else() {
    let (text, layout) = split(
        b"gt\n>a b\nACgt\nAC\n;c\n>d\n\nT",
        Kind::Fasta,
        LineState::within_fasta(),
    )
    .unwrap();
    assert_eq!(text, b"GT\nACGTAC\nT\xBE\xE1\xA0\xE2\xBB\xE3\xBE\xE4");
    assert_eq!((layout.records(), layout.sequence_size()), (2, 11));
    let start = LineState::default();
    let (text, layout) = split(b">a\n A1 \xA0\n", Kind::Fasta, start).unwrap();
    assert_eq!(text, b"\nA1\xA0\xBE\xE1\xA0\xA0");
    assert_eq!((layout.records(), layout.sequence_size()), (1, 4));
    let (text, _) = split(b"@a\nAC\n+\n~\"\n@b\nG\n+x\n#\n", Kind::Fastq, start).unwrap();
    assert_eq!(text, b"\nAC\nG\xC0\xE1\xAB\xC0\xE2\xAB\xF8\xFE\xA2\xA3");
}

#[test]
fn equal_records_take_no_more_than_one() {
    let block = b">read\nACGTACGT\n".repeat(100_000);
    let (_, layout) = round_trip(&block, Kind::Fasta, LineState::default());
    let mut side = Vec::new();
    layout.write(&mut side);
    assert!(side.len() < 40, "{}", side.len());
    let middle = layout.record(50_000).unwrap();
    assert_eq!((middle.raw_start, middle.line_bases), (49_999 * 15 + 6, 8));
}

#[test]
fn any_layout_is_survived() {
    let blocks = blocks();
    for (kind, block) in blocks
        .iter()
        .filter(|(_, block)| !block.is_empty())
        .step_by(7)
    {
        let (text, layout) = split(block, *kind, LineState::guess(block, *kind)).unwrap();
        let mut side = Vec::new();
        layout.write(&mut side);

        let read = |side: &[u8], size| {
            let (signed, _) = side.split_at(side.len() - 4);
            let sealed = [signed, &crc32fast::hash(signed).to_le_bytes()].concat();
            Layout::read(&mut &sealed[..], size)
        };
        for bit in 0..(side.len() - 4) * 8 {
            side[bit / 8] ^= 1 << (bit % 8);
            assert!(
                Layout::read(&mut &side[..], block.len()).is_err(),
                "bit {bit}"
            );
            if let Ok(damaged) = read(&side, block.len()) {
                if let Ok(block) = join(text.clone(), &damaged) {
                    assert_eq!(block.len(), damaged.raw_size());
                }
                for number in 0..block.len() + 2 {
                    let _ = (damaged.raw_offset(number), damaged.text_position(number));
                    let _ = (damaged.base(number), damaged.record(number));
                }
            }
            side[bit / 8] ^= 1 << (bit % 8);
        }
        for cut in 0..side.len() {
            assert!(Layout::read(&mut &side[..cut], block.len()).is_err());
        }
        for size in [block.len() - 1, block.len() + 1] {
            assert!(read(&side, size).is_err());
        }
    }
}

#[test]
fn files_of_sequences_are_told_from_others() {
    let reads = b"@read 1\nACGTACGTAC\n+\nIIIIIIIIII\n".repeat(2000);
    assert_eq!(
        (detect(&reads), decide(&reads, false)),
        (Some(Kind::Fastq), Some(Kind::Fastq))
    );
    assert_eq!(detect(&reads[11..]), Some(Kind::Fastq));
    let genome = [&b">chr\n"[..], &b"ACGTACGTACGTACGTACGT\n".repeat(3000)].concat();
    assert_eq!(
        (detect(&genome), decide(&genome, false)),
        (Some(Kind::Fasta), Some(Kind::Fasta))
    );
    let proteins = b">one of many\nMKVLAAGIV*\n".repeat(2000);
    assert_eq!(
        (detect(&proteins), decide(&proteins, false)),
        (Some(Kind::Fasta), Some(Kind::Fasta))
    );
    assert_eq!(
        decide(&[&b"\n\n"[..], &genome].concat(), false),
        Some(Kind::Fasta)
    );
    for other in [
        &b"apple\npear\n"[..],
        b"> quoted\n> words\n",
        b"@property\ndef x(self):\n",
        b">\n",
        b"",
        b"\n",
    ] {
        assert_eq!(
            (
                detect(&other.repeat(3000)),
                decide(&other.repeat(3000), false)
            ),
            (None, None)
        );
    }
    for front in ["\u{feff}", "\n \n", ";c\n#c\n\n", " \r\n\u{feff}"] {
        for (file, kind) in [(&genome, Kind::Fasta), (&reads, Kind::Fastq)] {
            let file = [front.as_bytes(), file].concat();
            assert_eq!(decide(&file, false), Some(kind), "{front:?}");
        }
    }
    let wrapped = b"@read 1\nACGTAC\nACG\n+\n@IIIII\nIII\n".repeat(2000);
    assert_eq!(
        (detect(&wrapped), decide(&wrapped, false)),
        (Some(Kind::Fastq), Some(Kind::Fastq))
    );
    let groups = [
        &b">a\n"[..],
        &b"  ACGTACGTAC ACGTACGTAC ACGTACGTAC \n".repeat(99),
    ]
    .concat();
    assert_eq!(decide(&groups, false), Some(Kind::Fasta));
    for text in [
        "##gff-version 3\nchr1\tx\tgene\t1\t9\t.\t+\t.\tID=a\n##FASTA\n>chr1\nACGTACGTAC\n",
        "> It is quoted that\nthe words of a text have blanks between them\n",
    ] {
        assert_eq!(decide(text.as_bytes(), false), None, "{text}");
    }
    for (name, block) in cases::shapes(100_000) {
        assert_eq!(
            (detect(&block), decide(&block, false)),
            (None, None),
            "{name}"
        );
    }
}

#[test]
fn a_first_record_of_fastq_may_be_longer_than_the_first_block() {
    let long = [
        &b"@long read\n"[..],
        &b"ACGTNACGT\n".repeat(300_000),
        b"+\n",
    ]
    .concat();
    let qualities = b"@IIIIIIII\n".repeat(300_000);
    let whole = [&long[..], &qualities, b"@next\nAC\n+\nII\n"].concat();
    assert_eq!(decide(&whole, false), Some(Kind::Fastq));
    assert_eq!(decide(b"@a\nACGT\n+\nIIII", false), Some(Kind::Fastq));
    for cut in [
        20,
        500,
        2_000_000,
        long.len() - 3,
        long.len(),
        long.len() + 100,
    ] {
        assert_eq!(decide(&whole[..cut], true), Some(Kind::Fastq), "{cut}");
        assert_eq!(decide(&whole[..cut], false), None, "{cut}");
    }
    for (text, why) in [
        (&b"@name that goes on"[..], "before the first bases"),
        (b"\n@name\n", "before the first bases"),
        (b"@a\nACGT\n@b\nACGT", "line 1 has no `+`"),
        (b"@a\nACGT\n+\nIIIII\nACGT\n", "5 qualities"),
    ] {
        assert_eq!(decide(text, true), None, "{text:?}");
        assert!(why_unlike(text, true).unwrap().contains(why), "{text:?}");
    }
    for text in [
        "@startuml\nA -> B: \"1\"\n",
        "@media (print) {\na: b}\n",
        "@HD\tVN:1.6\nr1\t99\tc\t7\t30\n",
    ] {
        assert_eq!(decide(text.as_bytes(), true), None, "{text}");
        assert_eq!(why_unlike(text.as_bytes(), true), None, "{text}");
    }
}

#[test]
fn blocks_are_cut_where_nothing_is_torn() {
    let genome = b">a\nACGT\nACGT\n>b\nAC";
    assert_eq!(
        cut(genome, Kind::Fasta, LineState::default()),
        Some(genome.len() - 2)
    );
    assert_eq!(
        cut(b">a\nACGTACGTACGTACGT", Kind::Fasta, LineState::default()),
        None
    );
    let reads = b"@a\nACGT\n+\nIIII\n@b\nACGT\n+\n@+II\n".repeat(3);
    for more in 0..30 {
        let end = (reads.len() + more) / 15 * 15;
        let file = reads.repeat(2);
        assert_eq!(
            cut(
                &file[..reads.len() + more],
                Kind::Fastq,
                LineState::default()
            ),
            Some(end),
            "{more}"
        );
    }
}

/// A stream in blocks has the same records as in one block. Each block is taken apart by the state
/// behind the blocks before it.
#[test]
fn blocks_of_any_size_have_the_records_of_the_stream() {
    for (kind, stream) in blocks()
        .into_iter()
        .filter(|(_, stream)| !stream.is_empty())
    {
        // A real cut never tears a byte order mark, but these do.
        if stream.contains(&0xEF) {
            continue;
        }
        let (whole, layout) = split(&stream, kind, LineState::default()).unwrap();
        for size in [1, 2, 3, 5, 8, 13] {
            let mut text = Vec::new();
            let mut odd = OddBytes::default();
            for block in stream.chunks(size) {
                let (part, layout) = split(block, kind, odd.state()).unwrap();
                text.extend_from_slice(&part[..layout.sequence_size()]);
                odd.add(block, kind);
                let mut coded = Vec::new();
                odd.state().write(&mut coded);
                let read = LineState::read(&mut &coded[..], odd.state().symbols());
                assert_eq!(read, Ok(odd.state()));
            }
            let text = String::from_utf8_lossy(&text);
            let whole = String::from_utf8_lossy(&whole[..layout.sequence_size()]);
            assert_eq!(text, whole, "{size} {:?}", String::from_utf8_lossy(&stream));
        }
    }
}

#[test]
fn odd_bytes_are_counted_and_the_first_is_named() {
    let warning = |blocks: &[&[u8]], kind| {
        let mut odd = OddBytes::default();
        blocks
            .iter()
            .for_each(|block| odd.add(block, kind));
        odd.warning()
    };
    assert_eq!(
        warning(&[b"#x\n>a\nAC GT*-.\n;1\n", b">1 2\nacgt\r\n"], Kind::Fasta),
        None
    );
    let said = warning(&[b">a\nACGT\n> c", b"\nAC\nA1?\n", b"C1\n"], Kind::Fasta).unwrap();
    assert_eq!(
        said,
        "line 5 (record c): byte '1' is not a residue; it is kept in the sequence as it is, \
         and no pattern of residues crosses it (3 such bytes in all)"
    );
    let said = warning(&[b"@a\nA\xA0\n+\nII\nx\n"], Kind::Fastq).unwrap();
    assert!(
        said.starts_with("line 2 (record a): byte A0 is not a residue;"),
        "{said}"
    );
    assert!(
        said.contains("(1 such byte in all); line 5: it is in no record"),
        "{said}"
    );
}
