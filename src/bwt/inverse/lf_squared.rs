//! The LF squared table, `lf_squared[row] = LF(LF(row))`.
//!
//! The rows are visited in order, chunk by chunk, and each takes its entry from the counter of its
//! pair of symbols. This takes about 1.5 ns per byte, and the time to map 4 bytes of fresh memory.

use super::counters::{Chunk, Counters, LColumn};
use crate::base::positions::Row;
use crate::base::tasks::Executor;

/// LF(LF(row)) for each row.
///
/// The rows of the suffixes at pos 0 and 1 would lead beyond the start of the text. Their entries
/// are n + 1, which is no row, and the entry of n + 1 is itself. The lanes of an intact
/// [`super::Bwt`] end before they reach it; a lane of a damaged one that reaches it can meet no
/// sample any more.
///
/// Invariant: the n + 2 entries are in 0..=n + 1. Each is n + 1, or the value of a pair's counter
/// before it was incremented. A counter is incremented as often as its pair was counted, so it ends
/// at the start of the next pair's, and the last of all at n + 1, for any bytes and any primary
/// index.
pub(super) struct LfSquared<'t, R: Row>(&'t [R::Packed]);

impl<'t, R: Row> LfSquared<'t, R> {
    /// Number of entries for a block of `len` bytes.
    pub(super) fn entries(len: usize) -> usize {
        len + 2
    }

    /// Builds the table in `entries`.
    pub(super) fn new(counters: Counters<R>, entries: &'t mut [R::Packed], on: Executor) -> Self {
        let Counters {
            column,
            chunk_len,
            mut chunks,
            ..
        } = counters;
        assert_eq!(entries.len(), Self::entries(column.bytes.len()));
        // The row of the sentinel is the only one that is not filled below.
        let no_row: R = column.no_row();
        entries[column.primary] = no_row.pack();
        entries[no_row.get()] = no_row.pack();
        let tasks = entries
            .chunks_mut(2 * chunk_len)
            .zip(chunks.chunks_mut(2));
        on.map(tasks, |(entries, chunks)| {
            fill(column, chunks, chunk_len, entries)
        });
        LfSquared(entries)
    }

    /// LF of LF of a row.
    ///
    /// # Safety
    /// `row` is a row of the block, such as 0 or a checked sample, or the value of another entry.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(super) unsafe fn of(&self, row: R) -> R {
        debug_assert!(row.get() < self.0.len());
        // SAFETY: there is an entry for each row, and for the value that means no row.
        R::unpack(unsafe { *self.0.get_unchecked(row.get()) })
    }

    /// Prefetches the entry of a row.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(super) fn prefetch(&self, row: R) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
            let entry = self.0.as_ptr().wrapping_add(row.get());
            // SAFETY: a prefetch is a hint. It reads nothing and cannot fault at any address.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(entry.cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = row;
    }
}

/// Fills the entries of one or two chunks.
///
/// In runs of one symbol each entry waits for the counters of the one before. With two chunks in
/// turn, the processor fills one during the wait of the other.
fn fill<R: Row>(
    column: LColumn,
    chunks: &mut [Chunk<R>],
    chunk_len: usize,
    entries: &mut [R::Packed],
) {
    if let [a, b] = chunks {
        let (entries_a, entries_b) = entries.split_at_mut(chunk_len);
        fill_in_turn(
            Cursor::new(column, a, entries_a),
            Cursor::new(column, b, entries_b),
        );
    } else if let [a] = chunks {
        Cursor::new(column, a, entries).fill();
    }
}

fn fill_in_turn<R: Row>(mut a: Cursor<R>, mut b: Cursor<R>) {
    while a.run() > 0 && b.run() > 0 {
        let len = a.run().min(b.run());
        let (entries_a, symbols_a) = a.take(len);
        let (entries_b, symbols_b) = b.take(len);
        let of_a = entries_a.iter_mut().zip(symbols_a);
        let of_b = entries_b.iter_mut().zip(symbols_b);
        let mut next_a = NextEntries::new(a.column, a.chunk);
        let mut next_b = NextEntries::new(b.column, b.chunk);
        for ((entry_a, &c), (entry_b, &d)) in of_a.zip(of_b) {
            *entry_a = next_a.entry(c).pack();
            *entry_b = next_b.entry(d).pack();
        }
    }
    a.fill();
    b.fill();
}

/// The part of a chunk that is not filled yet.
struct Cursor<'a, R: Row> {
    column: LColumn<'a>,
    chunk: &'a mut Chunk<R>,
    entries: &'a mut [R::Packed],
}

impl<'a, R: Row> Cursor<'a, R> {
    fn new(column: LColumn<'a>, chunk: &'a mut Chunk<R>, entries: &'a mut [R::Packed]) -> Self {
        let mut cursor = Cursor {
            column,
            chunk,
            entries,
        };
        cursor.skip_sentinel();
        cursor
    }

    /// Number of rows ahead up to the sentinel's row or the end; 0 only at the end.
    fn run(&self) -> usize {
        let rows = &self.chunk.rows;
        let stop = if rows.contains(&self.column.primary) {
            self.column.primary
        } else {
            rows.end
        };
        stop - rows.start
    }

    /// Moves on by `len` rows, at most [`Cursor::run`], and returns their entries and their
    /// symbols.
    fn take(&mut self, len: usize) -> (&'a mut [R::Packed], &'a [u8]) {
        let rows = self.chunk.rows.start..self.chunk.rows.start + len;
        self.chunk.rows.start = rows.end;
        let entries = self
            .entries
            .split_off_mut(..len)
            .expect("as many entries as rows");
        self.skip_sentinel();
        (entries, self.column.of(rows))
    }

    fn skip_sentinel(&mut self) {
        if self.chunk.rows.contains(&self.column.primary) && self.run() == 0 {
            self.chunk.rows.start += 1;
            self.entries.split_off_first_mut();
        }
    }

    fn fill(mut self) {
        while self.run() > 0 {
            let (entries, symbols) = self.take(self.run());
            let mut next = NextEntries::new(self.column, self.chunk);
            entries
                .iter_mut()
                .zip(symbols)
                .for_each(|(entry, &c)| *entry = next.entry(c).pack());
        }
    }
}

/// The counters of a chunk, one reference away.
struct NextEntries<'a, R> {
    column: LColumn<'a>,
    lf: &'a mut [R; 256],
    lf_lf: &'a mut [R; 1 << 16],
}

impl<'a, R: Row> NextEntries<'a, R> {
    fn new(column: LColumn<'a>, chunk: &'a mut Chunk<R>) -> Self {
        NextEntries {
            column,
            lf: &mut chunk.lf,
            lf_lf: &mut chunk.lf_lf,
        }
    }

    /// The entry of the next row, whose symbol is `symbol`.
    #[inline(always)]
    fn entry(&mut self, symbol: u8) -> R {
        let c = usize::from(symbol);
        let row = self.lf[c].get();
        self.lf[c] += R::from(1);
        if row == self.column.primary {
            return self.column.no_row(); // the suffix at pos 0 has only the sentinel before it
        }
        let pair = c << 8 | usize::from(self.column.bytes[self.column.stored(row)]);
        let entry = self.lf_lf[pair];
        self.lf_lf[pair] += R::from(1);
        entry
    }
}
