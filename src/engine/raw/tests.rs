//! Blocks as they are read, and memory that is reused.

use super::*;
use crate::options::Options;

/// An input that has more bytes after it reported its end.
struct Growing<'a>(Vec<&'a [u8]>);

impl Read for Growing<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let Some(part) = self.0.first_mut() else {
            return Ok(0);
        };
        let read = part.read(out)?;
        if read == 0 {
            self.0.remove(0);
        }
        Ok(read)
    }
}

#[test]
fn memory_is_used_again_unless_it_is_too_small_or_much_too_large() {
    let spare = Spare::default();
    let from = |kept: usize, len: usize| {
        spare.keep(vec![7; kept]);
        spare.take_len(len).unwrap()
    };
    assert_eq!(from(100, 100), [7; 100]);
    assert_eq!(from(120, 100), [7; 100]);
    assert_eq!(from(100, 101), [0; 101]);
    assert_eq!(from(200, 100), [0; 100]);
}

/// Bytes that are read into several buffers, at most `most` at a time.
struct AtOnce<'a> {
    left: &'a [u8],
    most: usize,
    reads: usize,
}

impl Read for AtOnce<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.read_vectored(&mut [IoSliceMut::new(out)])
    }

    /// Every third read is interrupted.
    fn read_vectored(&mut self, out: &mut [IoSliceMut]) -> io::Result<usize> {
        self.reads += 1;
        if self.reads.is_multiple_of(3) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let read = (&self.left[..self.most.min(self.left.len())]).read_vectored(out)?;
        self.left = &self.left[read..];
        Ok(read)
    }
}

/// Returns the blocks of `bytes`, and the number of reads that they took.
fn blocks_of(
    bytes: &[u8],
    most: usize,
    ahead: usize,
    size: u64,
    cut: BlockCut,
) -> (Vec<Vec<u8>>, usize) {
    let input = AtOnce {
        left: bytes,
        most,
        reads: 0,
    };
    let mut blocks = RawBlocks::new(input, size, cut, Listener::default());
    blocks.ahead = ahead;
    let all = blocks.by_ref().map(|block| {
        let RawBlock { raw, .. } = block.unwrap();
        let mut bytes = vec![1; raw.len()];
        raw.read_at(0, &mut bytes);
        assert_eq!(matches!(raw, Raw::Run(_)), Run::of(&bytes).is_some());
        bytes
    });
    (all.collect(), blocks.input.reads)
}

fn letters(n: usize) -> Vec<u8> {
    (0..n).map(|i| (i * i % 251) as u8).collect()
}

#[test]
fn blocks_that_are_read_at_once_are_those_that_are_read_one_by_one() {
    let zeros_between = [letters(33), vec![0; 70], letters(41)].concat();
    for bytes in [
        letters(100),
        letters(90),
        letters(7),
        letters(0),
        zeros_between,
    ] {
        let whole: Vec<_> = bytes.chunks(10).map(<[u8]>::to_vec).collect();
        for (most, ahead) in [1, 9, 10, 25, 1000]
            .into_iter()
            .flat_map(|most| (0..5).map(move |ahead| (most, ahead)))
        {
            let read = |cut| blocks_of(&bytes, most, ahead, 10, cut).0;
            assert!(read(BlockCut::default()) == whole, "{most}, {ahead}");
            let at_sevens = || BlockCut::new(&Options::new().split_at(7));
            let one_by_one = blocks_of(&bytes, 1000, 0, 10, at_sevens()).0;
            assert_eq!(one_by_one.concat(), bytes);
            assert!(read(at_sevens()) == one_by_one, "{most}, {ahead}");
        }
    }
}

#[test]
fn large_blocks_that_are_read_at_once_take_fewer_reads() {
    const SIZE: usize = 300_000;
    let bytes = letters(10 * SIZE + 3);
    let reads = |most, ahead| {
        let (blocks, reads) = blocks_of(&bytes, most, ahead, SIZE as u64, BlockCut::default());
        assert!(
            blocks
                .iter()
                .map(Vec::as_slice)
                .eq(bytes.chunks(SIZE)),
            "{most}, {ahead}"
        );
        reads
    };
    let few = [0, 1, 4].map(|ahead| [reads(SIZE + SIZE / 2, ahead), reads(usize::MAX, ahead)]);
    assert!(few[0][1] > few[1][1] && few[1][1] > few[2][1], "{few:?}");
}

#[test]
fn an_input_that_goes_on_behind_its_end_is_not_read_again() {
    for first in [&b""[..], b"abc", b"abcd", b"abcdefg", b"aaaaa"] {
        let input = Growing(vec![first, b"more", b"and more"]);
        let blocks = RawBlocks::new(input, 4, BlockCut::default(), Listener::default());
        let lens: Vec<usize> = blocks
            .map(|block| block.unwrap().raw.len())
            .collect();
        let expected: Vec<usize> = first.chunks(4).map(<[u8]>::len).collect();
        assert_eq!(lens, expected);
    }
}
