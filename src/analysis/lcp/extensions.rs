//! Longest common extensions. The length for which two positions of a text agree is the minimum of
//! the LCP values between their suffixes.

use super::arrays::LcpArrays;
use super::limits::{check_memory, no_memory};
use super::range_minima::RangeMinima;
use crate::base::allocation;
use crate::base::error::{Error, Result};
use crate::gpu::{ExtensionQueries, MinimaArrays};
use crate::options::Options;

/// Suffixes of a text, ready for queries of the length for which any two of them agree.
///
/// It takes 8 bytes per byte of the text and the table of [`RangeMinima`]; while it is built, 4
/// more.
#[derive(Clone, Debug)]
pub struct Extensions {
    /// Row of each position's suffix.
    rows: Vec<u32>,
    lcp: RangeMinima,
}

impl Extensions {
    /// Builds the extensions from the arrays of a text, in linear time.
    ///
    /// # Errors
    /// [`Error::Limit`] if `Options::memory` allows less than they take, [`Error::Io`] if there is
    /// no memory, [`Error::Device`] if a GPU is asked for and this build has no CUDA.
    pub fn new(arrays: LcpArrays, options: &Options) -> Result<Self> {
        let LcpArrays { suffixes, lcp } = arrays;
        let needed = 8 * suffixes.len() as u64 + RangeMinima::size(lcp.len());
        let what = format!("the extensions of {} positions", suffixes.len());
        check_memory(needed, options, what)?;
        let mut rows: Vec<u32> = allocation::zeroed(suffixes.len()).ok_or_else(no_memory)?;
        for (row, &pos) in (0..).zip(&suffixes) {
            rows[pos as usize] = row;
        }
        drop(suffixes);
        Ok(Extensions {
            rows,
            lcp: RangeMinima::new(lcp, options)?,
        })
    }

    /// Returns the number of bytes from position `a` on that equal those from `b` on. If both are
    /// the same position, these are all bytes to the end of the text.
    ///
    /// # Panics
    /// If one of them is not in the text.
    #[must_use]
    pub fn longest(&self, a: u32, b: u32) -> u32 {
        let row = self.rows[a as usize] as usize;
        let other = self.rows[b as usize] as usize;
        let between = self
            .lcp
            .least(row.min(other) + 1..row.max(other) + 1);
        between.unwrap_or_else(|| self.rows.len() as u32 - a)
    }

    /// Returns [`Extensions::longest`] of each pair. The work is done on as many threads as the
    /// options say, or on a GPU if the options of [`Extensions::new`] allow it and there are many
    /// pairs.
    ///
    /// ```
    /// use bwz::{Options, lcp::{Extensions, LcpArrays}};
    ///
    /// let options = Options::new();
    /// let extensions = Extensions::new(LcpArrays::new(b"mississippi", &options)?, &options)?;
    /// assert_eq!(extensions.all(&[(1, 4), (2, 3), (0, 0)], &options)?, [4, 1, 11]);
    /// # Ok::<(), bwz::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] for a position that is not in the text, [`Error::Io`] if there is no memory
    /// or no threads can be started.
    pub fn all(&self, pairs: &[(u32, u32)], options: &Options) -> Result<Vec<u32>> {
        let end = self.rows.len();
        if let Some((a, b)) = pairs
            .iter()
            .find(|(a, b)| *a.max(b) as usize >= end)
        {
            let what = format!("positions {a} and {b} are not both in a text of {end} bytes");
            return Err(Error::Usage(what.into()));
        }
        let mut found = allocation::zeroed(pairs.len()).ok_or_else(no_memory)?;
        let arrays = |id| MinimaArrays {
            id,
            values: self.lcp.values(),
            rows: &self.rows,
        };
        let on_gpu = |gpu: &mut ExtensionQueries, id, found: &mut [u32]| {
            gpu.longest(&arrays(id), pairs, found)
        };
        let on_gpu = (end > 0).then_some(on_gpu);
        let longest = |&(a, b): &(u32, u32)| self.longest(a, b);
        self.lcp
            .gpu()
            .answer(pairs, &mut found, options, on_gpu, longest)?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::super::naive_lcp as naive;
    use super::*;
    use crate::cases;

    #[test]
    fn extensions_are_the_naive_ones_in_all_cases() {
        for (name, text) in cases::shapes(1500) {
            let options = Options::new().threads(2);
            let arrays = LcpArrays::new(&text, &options).unwrap();
            let extensions = Extensions::new(arrays, &options).unwrap();
            // There are 2^20 pairs, which are all pairs of the shortest texts.
            let some = cases::random(4 << 20, 256);
            let pos = |bytes: &[u8]| u32::from(u16::from_le_bytes([bytes[0], bytes[1]]));
            let len = text.len() as u32;
            let pairs: Vec<_> = match len {
                0 => vec![],
                _ => some
                    .chunks(4)
                    .map(|q| (pos(q) % len, pos(&q[2..]) % len))
                    .collect(),
            };
            let found = extensions.all(&pairs, &options).unwrap();
            for (&(a, b), found) in pairs.iter().zip(found) {
                let expected = naive::common(&text[a as usize..], &text[b as usize..]);
                assert_eq!(found as usize, expected, "{name}: {a} and {b}");
            }
            assert!(extensions.all(&[(0, len)], &options).is_err(), "{name}");
        }
    }
}
