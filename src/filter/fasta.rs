//! FASTA unwrap: sequences that are wrapped into lines of one width lose the line breaks. FORMAT.md
//! section 12.8.
//!
//! A break every so many letters says nothing about the letters, but stands in the contexts of its
//! neighbours and tears long repeats apart wherever a letter was inserted. Without them a genome
//! loses 8 % of its coded size, a collection of similar ones more than a third.
//!
//! The text is cut at its line feeds. Where a line of exactly the width is followed by one of at
//! most that width, the two are joined, and so on; a decoder breaks every line that is longer than
//! the width. Lines that were longer from the start, such as headers, are listed. One pass each
//! way.

use crate::allocation;
use crate::error::Flaw;
use crate::leb128;
use std::iter;

/// Widths worth looking for.
const WIDTHS: std::ops::RangeInclusive<usize> = 16..=1024;

/// The part of a block that is looked at: so many windows of so many bytes.
const WINDOWS: usize = 16;
const WINDOW: usize = 4096;

/// The width of the lines, if most of the block is wrapped sequences.
pub(super) fn detect(block: &[u8]) -> Option<usize> {
    let step = (block.len() / WINDOWS).max(WINDOW);
    let windows = block.chunks(step).map(|chunk| &chunk[..chunk.len().min(WINDOW)]);
    let mut votes = vec![0; WIDTHS.end() + 1];
    for window in windows.clone() {
        let lines: Vec<&[u8]> = window.split(|&byte| byte == b'\n').collect();
        for pair in lines.windows(2).skip(1) {
            let width = pair[0].len();
            if WIDTHS.contains(&width) && width == pair[1].len() && pair[0].iter().all(is_residue) {
                votes[width] += width;
            }
        }
    }
    let width = (0..votes.len()).max_by_key(|&width| votes[width])?;
    (votes[width] > windows.map(<[u8]>::len).sum::<usize>() / 2).then_some(width)
}

/// Whether `byte` may stand for a base or an amino acid.
fn is_residue(byte: &u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'*' | b'-')
}

/// Joins the lines of `width` bytes and appends to `side` what undoes it.
pub(crate) fn encode(block: &[u8], width: usize, side: &mut Vec<u8>) -> Result<Vec<u8>, Flaw> {
    let mut text = allocation::with_capacity(block.len()).ok_or(Flaw::NO_MEMORY)?;
    let mut long = Vec::new();
    let mut lines = block.split(|&byte| byte == b'\n').peekable();
    for number in 0.. {
        let Some(mut line) = lines.next() else { break };
        if number > 0 {
            text.push(b'\n');
        }
        if line.len() > width {
            long.push(number);
        }
        text.extend_from_slice(line);
        while line.len() == width
            && let Some(next) = lines.next_if(|next| (1..=width).contains(&next.len()))
        {
            text.extend_from_slice(next);
            line = next;
        }
    }
    leb128::write(width, side);
    write_ascending(&long, side);
    Ok(text)
}

/// Breaks the lines of `text` again, which makes `size` bytes.
///
/// # Errors
/// A [`Flaw`] where `side` does not say how, or another size comes out.
pub(super) fn decode(text: &[u8], side: &mut &[u8], size: usize) -> Result<Vec<u8>, Flaw> {
    const SIZE: Flaw = Flaw("a block's lines do not add up to the block");
    let width = leb128::read(side)?;
    if width == 0 {
        return Err(Flaw("a block's lines are 0 bytes wide"));
    }
    let mut long = read_ascending(side)?.peekable();
    let mut block = allocation::with_capacity(size).ok_or(Flaw::NO_MEMORY)?;
    for (number, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let stays = long.next_if_eq(&number).is_some();
        if number > 0 {
            block.push(b'\n');
        }
        let (first, rest) = line.split_at(if stays { line.len() } else { width.min(line.len()) });
        block.extend_from_slice(first);
        if block.len() + rest.len() + rest.len().div_ceil(width) > size {
            return Err(SIZE);
        }
        for part in rest.chunks(width) {
            block.push(b'\n');
            block.extend_from_slice(part);
        }
    }
    if block.len() == size && long.next().is_none() { Ok(block) } else { Err(SIZE) }
}

/// Appends an ascending list: how many runs of equal steps there are, and of each the step and its
/// number.
fn write_ascending(list: &[usize], out: &mut Vec<u8>) {
    let steps = iter::once(0).chain(list.iter().copied()).zip(list).map(|(a, b)| b - a);
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for step in steps {
        match runs.last_mut() {
            Some(run) if run.0 == step => run.1 += 1,
            _ => runs.push((step, 1)),
        }
    }
    leb128::write(runs.len(), out);
    for (step, count) in runs {
        leb128::write(step, out);
        leb128::write(count, out);
    }
}

/// Takes such a list off the front of `bytes`. It is read as it is used, so that any length of it
/// takes no memory.
fn read_ascending<'a>(bytes: &mut &'a [u8]) -> Result<impl Iterator<Item = usize> + use<'a>, Flaw> {
    let count = leb128::read(bytes)?;
    let mut coded = *bytes;
    for _ in 0..2 * count {
        leb128::read(bytes)?;
    }
    let runs = (0..count)
        .map_while(move |_| Some((leb128::read(&mut coded).ok()?, leb128::read(&mut coded).ok()?)));
    let steps = runs.flat_map(|(step, count)| iter::repeat_n(step, count));
    Ok(steps.scan(0, |at, step| {
        *at += step;
        Some(*at)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(block: &[u8], width: usize) -> Vec<u8> {
        let mut side = Vec::new();
        let text = encode(block, width, &mut side).unwrap();
        assert!(text.len() <= block.len());
        let mut rest = &side[..];
        assert!(decode(&text, &mut rest, block.len()).unwrap() == block, "width {width}");
        assert!(rest.is_empty());
        for size in [block.len().wrapping_sub(1), block.len() + 1] {
            assert!(decode(&text, &mut &side[..], size).is_err());
        }
        for cut in 0..side.len() {
            assert!(decode(&text, &mut &side[..cut], block.len()).is_err());
        }
        text
    }

    #[test]
    fn wrapped_sequences_lose_their_breaks() {
        let block = b">first\nACGT\nACGT\nAC\n>a long header\nACGT\nACGT\n>two\nA\n\nACGT";
        assert_eq!(
            round_trip(block, 4),
            b">first\nACGTACGTAC\n>a long header\nACGTACGT>twoA\n\nACGT".as_slice()
        );
    }

    #[test]
    fn any_lines_come_back() {
        let mut blocks =
            vec![&b"\n"[..], b"\n\n\n", b"abcd", b"abcd\n", b"abcd\nabcd", b"abcd\nabcde\nabcd"];
        let noise: Vec<u8> = super::super::cases::random(5000, 6)
            .iter()
            .map(|b| b"ab\ncd\n"[usize::from(*b)])
            .collect();
        blocks.push(&noise);
        for block in blocks {
            for width in 1..9 {
                round_trip(block, width);
            }
        }
    }
}
