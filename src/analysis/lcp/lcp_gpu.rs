//! A GPU that builds the arrays of texts, and the check of what it gives.

use super::arrays::LcpArrays;
use crate::base::error::{Error, Result};
use crate::base::spot_checks::spots;
use crate::gpu::GpuLcpSorter;
use rayon::prelude::*;

/// Bytes compared at each end of a common prefix.
const COMPARED: usize = 64;

#[cfg(test)]
type Lie = Box<dyn FnMut(&mut LcpArrays) + Send>;

/// A GPU that builds arrays.
pub(super) enum LcpGpu {
    Cuda(Box<GpuLcpSorter>),
    /// A test's stand-in for a GPU, which changes what the CPU builds.
    #[cfg(test)]
    Fake(Lie),
}

impl LcpGpu {
    /// Opens GPU `number`.
    pub(super) fn open(number: u32) -> Result<Self> {
        Ok(LcpGpu::Cuda(Box::new(GpuLcpSorter::new(number)?)))
    }

    #[cfg(test)]
    pub(super) fn fake(lie: impl FnMut(&mut LcpArrays) + Send + 'static) -> Self {
        LcpGpu::Fake(Box::new(lie))
    }
}

/// Checks some rows of the arrays of a text: the order of the suffix and the one before it, and
/// both ends of what they have in common.
///
/// # Errors
/// [`Error::Device`] if a row is wrong.
pub(super) fn check_rows(text: &[u8], arrays: &LcpArrays, least: u8) -> Result<()> {
    let LcpArrays { suffixes, lcp } = arrays;
    let is_right = |row: usize| match row {
        0 => (suffixes[0] as usize) < text.len() && lcp[0] == 0,
        _ => is_row(
            text,
            suffixes[row - 1] as usize,
            suffixes[row] as usize,
            lcp[row] as usize,
            least,
        ),
    };
    let are_right = suffixes.len() == text.len()
        && lcp.len() == text.len()
        && spots(text.len())
            .collect::<Vec<_>>()
            .into_par_iter()
            .all(is_right);
    match are_right {
        true => Ok(()),
        false => Err(Error::Device("a GPU gave a wrong row".into())),
    }
}

/// Returns true if the suffix at `a` can come directly before the one at `b`, with `length` bytes
/// in common, which end before the first byte below `least`.
fn is_row(text: &[u8], a: usize, b: usize, length: usize, least: u8) -> bool {
    let [Some(one), Some(other)] = [text.get(a..), text.get(b..)] else {
        return false;
    };
    if a == b || one.len() < length || other.len() < length {
        return false;
    }
    let head = length.min(COMPARED);
    let tail = length - head..length;
    if one[..head] != other[..head]
        || one[tail.clone()] != other[tail.clone()]
        || one[tail].iter().any(|&byte| byte < least)
    {
        return false;
    }
    match [one.get(length), other.get(length)] {
        [_, None] => false,
        [None, Some(_)] => true,
        [Some(byte), Some(next)] if byte == next => *byte < least,
        [Some(byte), Some(next)] => byte < next,
    }
}

/// Checks that all suffixes are positions of a text of `size` bytes.
///
/// # Errors
/// [`Error::Device`] if one is not.
pub(super) fn check_positions(arrays: &LcpArrays, size: usize) -> Result<()> {
    let are_positions = arrays
        .suffixes
        .par_iter()
        .all(|&pos| (pos as usize) < size);
    match are_positions && arrays.suffixes.len() == arrays.lcp.len() {
        true => Ok(()),
        false => Err(Error::Device(
            "a GPU gave a position beyond the text".into(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::naive_lcp as naive;
    use super::*;
    use crate::cases;

    #[test]
    fn right_rows_pass_and_wrong_ones_do_not() {
        for (name, text) in cases::shapes(1000) {
            let arrays = naive::arrays(&text);
            check_rows(&text, &arrays, 0).unwrap();
            if text.len() < 4 {
                continue;
            }
            let wrong: [fn(&mut LcpArrays); 5] = [
                |arrays| arrays.suffixes.reverse(),
                |arrays| arrays.suffixes.fill(0),
                |arrays| arrays.suffixes.fill(u32::MAX),
                |arrays| arrays.lcp.iter_mut().for_each(|lcp| *lcp += 1),
                |arrays| arrays.lcp.truncate(1),
            ];
            for (n, change) in wrong.into_iter().enumerate() {
                let mut arrays = arrays.clone();
                change(&mut arrays);
                let refused = check_rows(&text, &arrays, 0);
                assert!(matches!(refused, Err(Error::Device(_))), "{name}, {n}");
            }
        }
    }
}
