//! Counts of symbols and of pairs of symbols, from which LF squared follows.
//!
//! LF(row) = first row that starts with c + number of c in the L column before the row, with c the
//! symbol of the L column at the row. As the row ascends, the values of LF for one symbol c are
//! consecutive, so a second LF also reads the L column in order, in one stream for each c. It needs
//! a count per pair (c, symbol read in the stream of c): 65536 counters, of which text uses few.
//!
//! The rows are cut into chunks, each with its own counters, which start at the counts of all rows
//! before it. Two passes of histograms (symbols per chunk; then symbols per part of a stream)
//! compute them, each at about 0.4 ns per byte.

use crate::base::positions::Row;
use crate::base::tasks::Executor;
use crate::coder;
use std::ops::Range;

/// Minimum number of rows for a task of its own, which has to clear and sum 2 x 256 KiB of
/// counters. Tests need many chunks in short blocks.
const MIN_TASK: usize = if cfg!(any(test, fuzzing)) {
    500
} else {
    1 << 18
};

/// The L column of the sorted rotations. The sentinel has a row in it but no stored byte.
#[derive(Clone, Copy)]
pub(super) struct LColumn<'a> {
    pub bytes: &'a [u8],
    /// The row of the sentinel, which is that of the suffix at pos 0.
    pub primary: usize,
}

impl<'a> LColumn<'a> {
    /// Number of stored bytes before `row`.
    #[inline]
    pub(super) fn stored(self, row: usize) -> usize {
        row - usize::from(row > self.primary)
    }

    /// The number after that of the last row, which stands for no row.
    pub(super) fn no_row<R: Row>(self) -> R {
        R::new(self.bytes.len() + 1)
    }

    /// The stored bytes of `rows`.
    pub(super) fn of(self, rows: Range<usize>) -> &'a [u8] {
        &self.bytes[self.stored(rows.start)..self.stored(rows.end)]
    }
}

/// A range of rows, with the row that LF, and LF of LF, gives next for each symbol and pair.
pub(super) struct Chunk<R> {
    pub rows: Range<usize>,
    /// `lf[c]`: LF of the next row of this chunk whose symbol is c.
    pub lf: Box<[R; 256]>,
    /// `lf_lf[c << 8 | d]`: LF of LF of the next row whose symbol is c and whose LF has the symbol
    /// d.
    pub lf_lf: Box<[R; 1 << 16]>,
}

impl<R: Row> Chunk<R> {
    fn new(column: LColumn, rows: Range<usize>) -> Self {
        let mut lf = Box::new([R::default(); 256]);
        count(column.of(rows.clone()), &mut lf);
        // By way of a Vec: an array of this size would first be made on the stack.
        let lf_lf = vec![R::default(); 1 << 16]
            .into_boxed_slice()
            .try_into()
            .expect("65536 counters");
        Chunk { rows, lf, lf_lf }
    }

    fn pairs(&mut self, c: usize) -> &mut [R; 256] {
        (&mut self.lf_lf[c << 8..][..256])
            .try_into()
            .expect("256 counters for each symbol")
    }
}

/// All counters of a block, with their values at the first row of each chunk.
pub(super) struct Counters<'a, R> {
    pub column: LColumn<'a>,
    /// Rows per chunk; the last may have fewer.
    pub chunk_len: usize,
    pub chunks: Vec<Chunk<R>>,
    /// `starts[c]`: the first row that starts with symbol c or a larger one; `starts[256]` is n +
    /// 1.
    starts: Box<[R; 257]>,
}

impl<'a, R: Row> Counters<'a, R> {
    /// Counts symbols and pairs. `bytes` is not empty and `primary` is in 1..=bytes.len().
    pub(super) fn new(bytes: &'a [u8], primary: usize, on: Executor) -> Self {
        let column = LColumn { bytes, primary };
        let rows = bytes.len() + 1;
        let chunk_len = chunk_len(rows, on.threads);
        let chunk = |k| Chunk::new(column, k * chunk_len..rows.min((k + 1) * chunk_len));
        let mut chunks = on.map(0..rows.div_ceil(chunk_len), chunk);
        let starts = on.run(|| sum_symbols(&mut chunks));
        count_pairs(column, &mut chunks, &starts, on);
        on.run(|| sum_pairs(&mut chunks, &starts, bytes[0]));
        Counters {
            column,
            chunk_len,
            chunks,
            starts,
        }
    }

    /// Number of rows, which is one more than the length of the block.
    pub(super) fn rows(&self) -> usize {
        self.column.bytes.len() + 1
    }

    /// The last symbol of the text, which is before the sentinel in row 0, and the row of the
    /// suffix that consists of it.
    pub(super) fn last_symbol(&self) -> (u8, R) {
        let symbol = self.column.bytes[0];
        (symbol, self.starts[usize::from(symbol)])
    }

    /// The symbols that occur, in ascending order.
    pub(super) fn symbols(&self) -> Vec<u8> {
        let occurs = |c: &u8| self.starts[usize::from(*c)] < self.starts[usize::from(*c) + 1];
        (0..=255).filter(occurs).collect()
    }

    /// The first row that starts with this pair of symbols, both of which occur, or with a larger
    /// pair.
    #[inline]
    pub(super) fn pair_start(&self, [x, y]: [u8; 2]) -> R {
        // The rows that start with xy are LF of the rows that start with y and have x before them.
        self.chunks[0].lf_lf[usize::from(y) << 8 | usize::from(x)]
    }
}

/// Rows per chunk: two chunks for each task, which are filled in turn, or one chunk for all rows if
/// they are few.
fn chunk_len(rows: usize, threads: usize) -> usize {
    match (rows / MIN_TASK).min(threads) {
        0 => rows,
        tasks => rows.div_ceil(2 * tasks),
    }
}

/// Number of occurrences of each byte value.
pub(crate) fn counts(bytes: &[u8], on: Executor) -> [u64; 256] {
    const PIECE: usize = 1 << 20;
    let piece = |bytes: &[u8]| {
        let mut counts = [0; 256];
        count(bytes, &mut counts);
        counts
    };
    let sum = |a: [u64; 256], b: [u64; 256]| std::array::from_fn(|c| a[c] + b[c]);
    on.map(bytes.chunks(PIECE), piece)
        .into_iter()
        .fold([0; 256], sum)
}

/// Adds the number of occurrences of each byte value to `counts`.
pub(crate) fn count<R: Row>(bytes: &[u8], counts: &mut [R; 256]) {
    // The counters below have 32 bits.
    bytes
        .chunks(1 << 31)
        .for_each(|part| count_part(part, counts));
}

fn count_part<R: Row>(bytes: &[u8], counts: &mut [R; 256]) {
    // Counting a run of equal bytes in one counter would wait for each store. Eight counters avoid
    // that, and a whole piece of equal bytes is counted at once.
    const WORTH_IT: usize = 2048;
    if bytes.len() < WORTH_IT {
        return bytes
            .iter()
            .for_each(|&c| counts[usize::from(c)] += R::from(1));
    }
    let mut places = [[0u32; 256]; 8];
    for piece in bytes.chunks(WORTH_IT) {
        if coder::run_end(piece, 0) == piece.len() {
            places[0][usize::from(piece[0])] += piece.len() as u32;
            continue;
        }
        let (words, rest) = piece.as_chunks::<8>();
        for word in words {
            let word = u64::from_le_bytes(*word);
            for (n, counts) in places.iter_mut().enumerate() {
                counts[(word >> (8 * n) & 0xFF) as usize] += 1;
            }
        }
        rest.iter()
            .for_each(|&c| places[0][usize::from(c)] += 1);
    }
    for (c, count) in counts.iter_mut().enumerate() {
        *count += R::from(places.iter().map(|place| place[c]).sum::<u32>());
    }
}

/// Turns counts of symbols per chunk into the first LF of each symbol in each chunk.
fn sum_symbols<R: Row>(chunks: &mut [Chunk<R>]) -> Box<[R; 257]> {
    let mut starts = Box::new([R::default(); 257]);
    let mut row = R::from(1); // row 0 is the sentinel's suffix and starts with no symbol
    for c in 0..256 {
        starts[c] = row;
        for chunk in &mut *chunks {
            row += std::mem::replace(&mut chunk.lf[c], row);
        }
    }
    starts[256] = row;
    starts
}

/// Counts, for each symbol c of each chunk, the symbols of the rows to which LF maps c.
fn count_pairs<R: Row>(column: LColumn, chunks: &mut [Chunk<R>], starts: &[R; 257], on: Executor) {
    let mut ends: Vec<[R; 256]> = chunks
        .iter()
        .skip(1)
        .map(|next| *next.lf)
        .collect();
    ends.push(std::array::from_fn(|c| starts[c + 1]));
    let count_in = |(chunk, ends): (&mut Chunk<R>, [R; 256])| {
        for (c, end) in ends.into_iter().enumerate() {
            let stretch = column.of(chunk.lf[c].get()..end.get());
            count(stretch, chunk.pairs(c));
        }
    };
    on.map(chunks.iter_mut().zip(ends), count_in);
}

/// Turns counts of pairs into rows. The stream parts of all chunks, by symbol and then by chunk,
/// are the rows from 1 to n in order; the symbol of row 0, `lowest`, is the first of its kind.
fn sum_pairs<R: Row>(chunks: &mut [Chunk<R>], starts: &[R; 257], lowest: u8) {
    let mut rows: [R; 256] = std::array::from_fn(|d| starts[d]);
    rows[usize::from(lowest)] += R::from(1);
    for c in (0..256).filter(|&c| starts[c] < starts[c + 1]) {
        for chunk in &mut *chunks {
            for (row, pair) in rows.iter_mut().zip(chunk.pairs(c)) {
                *row += std::mem::replace(pair, *row);
            }
        }
    }
}
