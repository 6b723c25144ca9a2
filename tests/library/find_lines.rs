//! Regions of lines around literals, compared with a search line by line.

use crate::common::{cases, options};
use bwz::{Archive, LinePiece, LineRegion, LineRequest};
use std::io::Cursor;
use std::ops::Range;

/// Bytes of a block. Reading a line by the index costs less than decoding a block of this size.
const BLOCK: usize = 1 << 18;

/// Ranges of the lines of a text, with their terminators.
fn lines(text: &[u8]) -> Vec<Range<usize>> {
    let mut start = 0;
    let line = |line: &[u8]| {
        start += line.len();
        start - line.len()..start
    };
    text.split_inclusive(|&byte| byte == b'\n')
        .map(line)
        .collect()
}

/// A text in which `literal` is rare: here and there, and in lines that cross the boundary of two
/// blocks, at several distances from it.
fn text_with(literal: &[u8], blocks: usize, line_of: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    let mut text: Vec<u8> = (0..)
        .flat_map(|n| [line_of(n), b"\n".to_vec()].concat())
        .take(blocks * BLOCK + 12_345)
        .collect();
    let mut put = |at: usize| text[at..at + literal.len()].copy_from_slice(literal);
    put(3 * BLOCK / 2);
    for n in 1..blocks {
        put(n * BLOCK + n - literal.len());
    }
    put(0);
    text
}

fn compressed(text: &[u8]) -> Vec<u8> {
    let options = options(BLOCK as u32).index(64).unwrap();
    let mut file = Vec::new();
    bwz::compress(text, &mut file, &options).unwrap();
    file
}

/// The text of a region.
fn text_of(region: &LineRegion, archive: &mut Archive<Cursor<&[u8]>>) -> Vec<u8> {
    let mut text = Vec::new();
    for piece in &region.pieces {
        match piece {
            LinePiece::Text(piece) => text.extend_from_slice(piece),
            LinePiece::Block(number) => {
                let read = archive.read_blocks(&[*number], |_, bytes| {
                    text.extend_from_slice(bytes);
                    Ok(())
                });
                read.unwrap();
            }
        }
    }
    text
}

/// Checks the regions of a request, and returns the number of their bytes.
#[track_caller]
fn check(text: &[u8], file: &[u8], request: &LineRequest) -> usize {
    let mut archive = Archive::open(Cursor::new(file), &options(BLOCK as u32)).unwrap();
    let Some(regions) = archive.find_lines(request).unwrap() else {
        return text.len();
    };
    let lines = lines(text);
    let mut covered = vec![false; lines.len()];
    for region in &regions {
        let range = region.range.start as usize..region.range.end as usize;
        assert!(
            text_of(region, &mut archive) == text[range.clone()],
            "{range:?}"
        );
        let inside = |line: &Range<usize>| range.start <= line.start && line.end <= range.end;
        let first = lines.partition_point(|line| line.start < range.start);
        assert_eq!(lines[first].start, range.start);
        assert!(lines.iter().any(|line| line.end == range.end));
        let wanted = request.numbered.then_some(first as u64 + 1);
        assert_eq!(region.first_line, wanted);
        for (n, line) in lines.iter().enumerate() {
            covered[n] |= inside(line);
        }
    }
    assert!(regions.is_sorted_by(|a, b| a.range.end < b.range.start));
    let holds = |line: &Range<usize>, set: &Vec<Vec<u8>>| {
        set.iter().any(|literal| {
            text[line.clone()]
                .windows(literal.len())
                .any(|at| at == literal)
        })
    };
    let [before, after] = request.context.map(|lines| lines as usize);
    for (n, line) in lines.iter().enumerate() {
        if request.sets.iter().all(|set| holds(line, set)) {
            let context = n.saturating_sub(before)..(n + after + 1).min(lines.len());
            assert!(covered[context].iter().all(|covered| *covered), "line {n}");
        }
    }
    let size = |region: &LineRegion| (region.range.end - region.range.start) as usize;
    regions.iter().map(size).sum()
}

#[test]
fn regions_have_all_lines_that_hold_a_literal_with_their_context() {
    let literal = b"<NEEDLE>";
    let words = cases::text(1 << 16);
    let word_lines = |n: usize| {
        let line = words[n * 131 % 60_000..]
            .iter()
            .take(20 + n * 37 % 150);
        line.filter(|&&byte| byte != b'\n')
            .copied()
            .collect()
    };
    let text = text_with(literal, 5, word_lines);
    let file = compressed(&text);
    let sets = [
        vec![vec![literal.to_vec()]],
        vec![vec![literal.to_vec(), b"<NEEDLES>".to_vec()]],
        vec![vec![b" ".to_vec()], vec![b"NEEDLE".to_vec()]],
        vec![vec![b"nowhere".to_vec()]],
        vec![vec![b"DLE".to_vec(), b"<NE".to_vec()]],
    ];
    for set in sets {
        for context in [[0, 0], [2, 0], [0, 3], [40, 40]] {
            for numbered in [false, true] {
                let mut request = LineRequest::new(set.clone());
                request.context = context;
                request.numbered = numbered;
                let size = check(&text, &file, &request);
                // For some lines of context a block as small as these is decoded.
                let is_read = numbered || context[0] + context[1] > 2 || size < text.len() / 8;
                assert!(is_read, "{set:?}, {context:?}: {size} bytes");
            }
        }
    }
    // A literal of nearly all lines.
    assert_eq!(
        check(&text, &file, &LineRequest::new(vec![vec![b"e".to_vec()]])),
        text.len()
    );
}

/// Lines are as long as several blocks, or longer than what is read at once.
#[test]
fn long_lines_stay_whole() {
    let literal = b"<NEEDLE>";
    for size in [5000, BLOCK / 2, 2 * BLOCK + 77] {
        let words = cases::text(3 * BLOCK);
        let long = |n: usize| {
            let line = words.iter().skip(n * 31 % 100).take(size);
            line.filter(|&&byte| byte != b'\n')
                .copied()
                .collect()
        };
        let text = text_with(literal, 6, long);
        let file = compressed(&text);
        for context in [[0, 0], [1, 2]] {
            let mut request = LineRequest::new(vec![vec![literal.to_vec()]]);
            request.context = context;
            check(&text, &file, &request);
            request.numbered = true;
            check(&text, &file, &request);
        }
    }
}

#[test]
fn without_an_index_or_literals_all_is_to_be_scanned() {
    let text = cases::text(100_000);
    let mut file = Vec::new();
    bwz::compress(&text[..], &mut file, &options(BLOCK as u32)).unwrap();
    let needle = LineRequest::new(vec![vec![b"needle".to_vec()]]);
    let mut archive = Archive::open(Cursor::new(&file[..]), &options(BLOCK as u32)).unwrap();
    assert_eq!(archive.find_lines(&needle).unwrap(), None);
    let file = compressed(&text);
    let mut archive = Archive::open(Cursor::new(&file[..]), &options(BLOCK as u32)).unwrap();
    for sets in [
        vec![],
        vec![vec![]],
        vec![vec![vec![]]],
        vec![vec![vec![b'a'; 200]]],
    ] {
        let request = LineRequest::new(sets);
        assert_eq!(archive.find_lines(&request).unwrap(), None);
    }
    assert_eq!(archive.find_lines(&needle).unwrap(), Some(vec![]));
    assert!(archive.read_blocks(&[7], |_, _| Ok(())).is_err());
}

#[test]
fn a_scan_is_chosen_if_the_first_block_holds_enough_lines() {
    let line = |n: usize| match n {
        0..100 => format!("needle {n}"),
        _ => format!("hay {n}"),
    };
    let text: String = (0..)
        .map(|n| line(n) + "\n")
        .take(3 * BLOCK / 8)
        .collect();
    let file = compressed(text.as_bytes());
    let mut archive = Archive::open(Cursor::new(&file[..]), &options(BLOCK as u32)).unwrap();
    assert!(archive.blocks().len() > 1);
    let mut request = LineRequest::new(vec![vec![b"needle".to_vec()]]);
    let all = archive.find_lines(&request).unwrap();
    request.most = 6;
    assert_eq!(archive.find_lines(&request).unwrap(), None);
    request.most = 7;
    assert_eq!(archive.find_lines(&request).unwrap(), all);
}
