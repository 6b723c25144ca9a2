//! Packs patterns one behind the other, as a GPU takes them: the size of a batch, the start of each
//! pattern, and their text. The threads of the current rayon pool share the work.

use rayon::prelude::*;

/// Number of bytes of patterns in a batch. Copying them takes a third of a millisecond, and
/// patterns of 100 symbols then keep a large GPU busy.
pub(crate) const BATCH_BYTES: usize = 16 << 20;

/// Maximum number of patterns or rows in a batch.
pub(crate) const BATCH_ITEMS: usize = 1 << 18;

/// Number of items that a thread packs or unpacks at a time.
pub(crate) const CHUNK: usize = 2048;

/// Number of leading patterns that make up a batch: at least one.
pub(crate) fn batch<P: AsRef<[u8]> + Sync>(patterns: &[P], longest: usize) -> usize {
    let patterns = &patterns[..patterns.len().min(BATCH_ITEMS)];
    let sizes = chunk_sizes(patterns, longest);
    let whole = fitting(sizes.iter().copied(), 0);
    let rest = patterns.get(whole * CHUNK..).unwrap_or_default();
    let rest = rest
        .iter()
        .map(|pattern| tail(pattern, longest).len());
    let count = whole * CHUNK + fitting(rest, sizes[..whole].iter().sum());
    count.max(1).min(patterns.len())
}

/// Number of leading `sizes` that fit in a batch which already has `size` bytes.
fn fitting(sizes: impl Iterator<Item = usize>, mut size: usize) -> usize {
    let fits = |more: &usize| {
        size += more;
        size <= BATCH_BYTES
    };
    sizes.take_while(fits).count()
}

/// Number of bytes in each [`CHUNK`] of patterns.
fn chunk_sizes<P: AsRef<[u8]> + Sync>(patterns: &[P], longest: usize) -> Vec<usize> {
    let size = |patterns: &[P]| {
        patterns
            .iter()
            .map(|p| tail(p, longest).len())
            .sum()
    };
    patterns.par_chunks(CHUNK).map(size).collect()
}

/// Writes the start of each pattern, and behind them the end of the last. Returns that end, which
/// is the size of all.
pub(crate) fn fill_starts<P: AsRef<[u8]> + Sync>(
    starts: &mut [u32],
    patterns: &[P],
    longest: usize,
) -> usize {
    let mut all = 0;
    let (last, starts) = starts
        .split_last_mut()
        .expect("one more than patterns");
    let firsts = chunk_sizes(patterns, longest)
        .into_iter()
        .map(|size| {
            all += size;
            all - size
        });
    let firsts: Vec<usize> = firsts.collect();
    let chunks = starts
        .par_chunks_mut(CHUNK)
        .zip(patterns.par_chunks(CHUNK))
        .zip(firsts);
    chunks.for_each(|((starts, patterns), mut next)| {
        for (start, pattern) in starts.iter_mut().zip(patterns) {
            *start = next as u32;
            next += tail(pattern, longest).len();
        }
    });
    *last = all as u32;
    all
}

/// The last `longest` bytes of a pattern, or all of it. A longer pattern cannot occur in the block,
/// and neither can that end.
fn tail<P: AsRef<[u8]>>(pattern: &P, longest: usize) -> &[u8] {
    let pattern = pattern.as_ref();
    &pattern[pattern.len().saturating_sub(longest)..]
}

/// Writes patterns one behind the other, at their `starts`.
pub(crate) fn pack<P: AsRef<[u8]> + Sync>(
    patterns: &[P],
    longest: usize,
    starts: &[u32],
    text: &mut [u8],
) {
    let mut rest = text;
    let chunks = patterns.chunks(CHUNK).zip(starts.chunks(CHUNK));
    let pieces: Vec<(&[P], &mut [u8])> = chunks
        .map(|(patterns, starts)| {
            let last = tail(&patterns[patterns.len() - 1], longest).len();
            let size = (starts[patterns.len() - 1] - starts[0]) as usize + last;
            (
                patterns,
                rest.split_off_mut(..size)
                    .expect("room for all patterns"),
            )
        })
        .collect();
    pieces
        .into_par_iter()
        .for_each(|(patterns, mut piece)| {
            for pattern in patterns
                .iter()
                .map(|pattern| tail(pattern, longest))
            {
                let place = piece
                    .split_off_mut(..pattern.len())
                    .expect("room for the pattern");
                place.copy_from_slice(pattern);
            }
        });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_packed_one_behind_the_other() {
        let patterns: Vec<Vec<u8>> = (0..5000_usize)
            .map(|n| vec![n as u8; n % 7])
            .collect();
        let mut starts = vec![7; 5001];
        let mut text = vec![0; fill_starts(&mut starts, &patterns, 5)];
        pack(&patterns, 5, &starts, &mut text);
        assert_eq!((starts[0], starts[5000] as usize), (0, text.len()));
        for (pattern, ends) in patterns.iter().zip(starts.windows(2)) {
            assert_eq!(&text[ends[0] as usize..ends[1] as usize], tail(pattern, 5));
        }
    }

    #[test]
    fn batches_have_a_size() {
        let long = vec![0; BATCH_BYTES - 10];
        assert_eq!(batch(&[&long[..], &[1; 10], &[]], usize::MAX), 3);
        assert_eq!(batch(&[&long[..], &[1; 11], &[]], usize::MAX), 1);
        assert_eq!(
            batch(&[&[&long[..], &long[..]].concat()[..], &[]], usize::MAX),
            1
        );
        assert_eq!(batch(&vec![b""; BATCH_ITEMS + 1], usize::MAX), BATCH_ITEMS);
        let many = vec![&[1; 5000][..]; 2 * CHUNK];
        assert_eq!(batch(&many, usize::MAX), BATCH_BYTES / 5000);
        assert_eq!(batch(&many, 1), 2 * CHUNK);
        assert_eq!(batch::<&[u8]>(&[], usize::MAX), 0);
    }
}
