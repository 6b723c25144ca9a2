//! The suffix array with the LCP array.

use super::limits::check_memory;
use super::{permuted_lcp, suffix_array::suffix_array};
use crate::error::Result;
use crate::options::Options;

/// Bytes of memory per byte of text while [`LcpArrays::new`] works, beside the text.
const WORKING: u64 = 12;

/// The suffix array of a text of n bytes, and its LCP array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LcpArrays {
    /// The positions 0..n of all suffixes but the empty one, in the order of the suffixes. A suffix
    /// comes before those that it is a prefix of.
    pub suffixes: Vec<u32>,
    /// `lcp[k]` is how many bytes the suffixes at `suffixes[k - 1]` and `suffixes[k]` have in
    /// common at their start; `lcp[0]` is 0.
    pub lcp: Vec<u32>,
}

impl LcpArrays {
    /// Sorts the suffixes on the calling thread and compares them on as many as the options say.
    ///
    /// # Errors
    /// [`Error::Usage`](crate::Error::Usage) for a text above [`MAX_TEXT`](super::MAX_TEXT),
    /// [`Error::Limit`](crate::Error::Limit) where `Options::memory` allows less than 13 bytes for
    /// each byte of it, [`Error::Io`](crate::Error::Io) where there is no memory.
    pub fn new(text: &[u8], options: &Options) -> Result<Self> {
        Self::of_pieces(text, 0, options)
    }

    /// The same for a text that its bytes below `least` part into pieces: what suffixes have in
    /// common ends before the first such byte. They are sorted as they are for [`LcpArrays::new`].
    ///
    /// ```
    /// let arrays = bwz::lcp::LcpArrays::of_pieces(b"ab\0ab\0", 1, &bwz::Options::new())?;
    /// assert_eq!(arrays.suffixes, [5, 2, 3, 0, 4, 1]);
    /// assert_eq!(arrays.lcp, [0, 0, 0, 2, 0, 1]);
    /// # Ok::<(), bwz::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`LcpArrays::new`].
    pub fn of_pieces(text: &[u8], least: u8, options: &Options) -> Result<Self> {
        let size = text.len() as u64;
        check_memory("the suffixes of", size, (1 + WORKING) * size, options)?;
        let suffixes = suffix_array(text, options)?;
        let lcp = permuted_lcp::lcp(text, &suffixes, least, options)?;
        Ok(LcpArrays { suffixes, lcp })
    }
}

#[cfg(test)]
mod tests {
    use super::super::naive_lcp as naive;
    use super::*;
    use crate::cases;
    use crate::error::{Bound, Error};

    #[test]
    fn the_arrays_are_the_naive_ones_in_all_cases() {
        let small = cases::shapes(3000).into_iter();
        let lengths = (0..=300).map(|n| (format!("text of {n}"), cases::text(n)));
        for (name, text) in small.chain(lengths) {
            let expected = naive::arrays(&text);
            for threads in [1, 3] {
                let options = Options::new().threads(threads);
                assert!(LcpArrays::new(&text, &options).unwrap() == expected, "{name}");
            }
        }
    }

    #[test]
    fn what_is_in_common_ends_with_the_piece() {
        for least in [1, 2] {
            let text: Vec<u8> = cases::random(2000, 4).into_iter().map(|b| b.min(3)).collect();
            let text = [&text[..], &text, &[3; 500], &text].concat();
            let arrays = LcpArrays::of_pieces(&text, least, &Options::new().threads(2)).unwrap();
            let expected = naive::arrays(&text);
            assert_eq!(arrays.suffixes, expected.suffixes);
            for (row, &pos) in arrays.suffixes.iter().enumerate() {
                let piece = text[pos as usize..].iter().take_while(|&&b| b >= least).count();
                assert_eq!(arrays.lcp[row], expected.lcp[row].min(piece as u32));
            }
        }
    }

    #[test]
    fn memory_is_asked_for_before_it_is_taken() {
        let options = Options::new().memory(13 * 1000 - 1);
        let refused = LcpArrays::new(&[7; 1000], &options).unwrap_err();
        assert!(matches!(refused, Error::Limit { needed: 13_000, by: Bound::Memory, .. }));
        assert!(LcpArrays::new(&[7; 1000], &Options::new().memory(13_000)).is_ok());
    }
}
