//! The devices on which blocks are sorted, restored and searched, and their names.

use crate::base::error::{Error, Result};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The device on which blocks are sorted, restored, and searched in memory.
///
/// Its name is the one that the command takes: `auto`, `cpu`, `cuda` for all GPUs, and `cuda:0`,
/// `cuda:0,2` or `cuda:0-3` for some.
///
/// ```
/// use bwz::{Device, GpuSet};
///
/// assert_eq!("cuda".parse::<Device>()?, Device::Cuda(GpuSet::ALL));
/// assert_eq!("cuda:1,4-6".parse::<Device>()?, Device::Cuda(GpuSet::new([1, 4, 5, 6])?));
/// let options = bwz::Options::new().device(Device::Cuda(GpuSet::new([0, 2])?));
/// # Ok::<(), bwz::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Device {
    /// Any device of this machine that makes the work faster.
    #[default]
    Auto,
    /// The processor only.
    Cpu,
    /// These NVIDIA GPUs. Sorting, restoring and decoding for a search use all of them; the search
    /// itself uses the first.
    Cuda(GpuSet),
}

/// A set of NVIDIA GPUs by number. [`cuda::devices`](crate::cuda::devices) lists the GPUs of this
/// machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuSet {
    /// Bit n stands for GPU n. `None` means all GPUs of this machine.
    chosen: Option<u128>,
}

impl GpuSet {
    /// All GPUs of this machine.
    pub const ALL: GpuSet = GpuSet { chosen: None };

    /// Maximum number of a GPU: 127.
    pub const MAX_NUMBER: u32 = u128::BITS - 1;

    /// The GPUs of these numbers, in any order.
    ///
    /// # Errors
    /// [`Error::Usage`] if the set is empty, a number is repeated, or one is above
    /// [`GpuSet::MAX_NUMBER`].
    pub fn new(numbers: impl IntoIterator<Item = u32>) -> Result<Self> {
        let mut chosen = 0;
        for number in numbers {
            let bit = 1_u128.checked_shl(number).ok_or_else(|| {
                let most = GpuSet::MAX_NUMBER;
                Error::Usage(format!("GPU {number} is not from 0 to {most}").into())
            })?;
            if chosen & bit != 0 {
                return Err(Error::Usage(format!("GPU {number} is given twice").into()));
            }
            chosen |= bit;
        }
        if chosen == 0 {
            return Err(Error::Usage("a set of GPUs needs at least one GPU".into()));
        }
        Ok(GpuSet {
            chosen: Some(chosen),
        })
    }

    /// A single GPU, by its number in the driver's list.
    pub(crate) const fn one(number: u32) -> Self {
        GpuSet {
            chosen: Some(1 << number),
        }
    }

    /// The numbers, ascending, or `None` for all GPUs of this machine.
    pub(crate) fn numbers(self) -> Option<impl Iterator<Item = u32>> {
        let chosen = self.chosen?;
        Some((0..=GpuSet::MAX_NUMBER).filter(move |number| chosen >> number & 1 == 1))
    }

    /// The lowest number, or 0 for all GPUs.
    pub fn first(self) -> u32 {
        self.chosen.map_or(0, u128::trailing_zeros)
    }
}

impl FromStr for GpuSet {
    type Err = Error;

    /// Parses a list of numbers and ranges separated by commas, such as `0,2-3`.
    ///
    /// # Errors
    /// As for [`GpuSet::new`], and [`Error::Usage`] if `list` is not such a list.
    fn from_str(list: &str) -> Result<Self> {
        let ranges: Vec<_> = list
            .split(',')
            .map(range)
            .collect::<Result<_>>()?;
        GpuSet::new(ranges.into_iter().flatten())
    }
}

/// Parses `2`, or `2-5`, which includes both ends.
fn range(text: &str) -> Result<RangeInclusive<u32>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let first = number(first)?;
    let last = number(last)?;
    if first > last {
        return Err(Error::Usage(
            format!("the range {text} of GPUs ends before it begins").into(),
        ));
    }
    Ok(first..=last)
}

fn number(text: &str) -> Result<u32> {
    let parsed = text
        .parse()
        .ok()
        .filter(|_| !text.starts_with('+'));
    parsed.ok_or_else(|| {
        let most = GpuSet::MAX_NUMBER;
        Error::Usage(format!("{text:?} is not the number of a GPU, 0 to {most}").into())
    })
}

impl FromStr for Device {
    type Err = Error;

    /// # Errors
    /// [`Error::Usage`] if no device has this name.
    fn from_str(name: &str) -> Result<Self> {
        match name {
            "auto" => Ok(Device::Auto),
            "cpu" => Ok(Device::Cpu),
            "cuda" => Ok(Device::Cuda(GpuSet::ALL)),
            _ => match name.strip_prefix("cuda:") {
                Some(list) => list.parse().map(Device::Cuda),
                None => Err(Error::Usage(
                    "it is not auto, cpu, cuda, or cuda: with numbers such as 0,2-3".into(),
                )),
            },
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = match self {
            Device::Auto => return f.write_str("auto"),
            Device::Cpu => return f.write_str("cpu"),
            Device::Cuda(gpus) => gpus.numbers(),
        };
        f.write_str("cuda")?;
        for (n, number) in numbers.into_iter().flatten().enumerate() {
            write!(f, "{}{number}", if n == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_names() {
        for name in ["auto", "cpu", "cuda", "cuda:0", "cuda:3", "cuda:0,2,127"] {
            assert_eq!(name.parse::<Device>().unwrap().to_string(), name);
        }
        let parsed: Device = "cuda:5,0-2".parse().unwrap();
        assert_eq!(parsed.to_string(), "cuda:0,1,2,5");
        assert_eq!(parsed, Device::Cuda(GpuSet::new([5, 2, 1, 0]).unwrap()));
        assert_eq!(
            "cuda:3-3".parse::<Device>().unwrap(),
            Device::Cuda(GpuSet::one(3))
        );
    }

    #[test]
    fn names_of_no_device_say_why() {
        for (name, why) in [
            ("tpu", "not auto, cpu, cuda"),
            ("cuda:", "\"\" is not the number"),
            ("cuda:0,", "\"\" is not the number"),
            ("cuda:+1", "\"+1\" is not the number"),
            ("cuda:a-b", "\"a\" is not the number"),
            ("cuda:1-2-3", "\"2-3\" is not the number"),
            ("cuda:3-1", "3-1 of GPUs ends before it begins"),
            ("cuda:1,0-2", "GPU 1 is given twice"),
            ("cuda:128", "GPU 128 is not from 0 to 127"),
            ("cuda:0-4000000000", "GPU 128 is not from 0 to 127"),
            ("cuda:99999999999", "is not the number"),
        ] {
            let said = name.parse::<Device>().unwrap_err().to_string();
            assert!(said.contains(why), "{name}: {said}");
        }
        assert!(matches!(GpuSet::new([]), Err(Error::Usage(_))));
    }
}
