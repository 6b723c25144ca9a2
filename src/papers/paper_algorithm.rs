//! The names of the suffix sorts that are compared.

use crate::base::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// A suffix sort that a [`PaperSorter`](super::PaperSorter) runs. All give the same BWT.
///
/// ```
/// use bwz::papers::PaperAlgorithm;
///
/// assert_eq!("skew-pd".parse::<PaperAlgorithm>()?, PaperAlgorithm::SkewPd);
/// assert_eq!(PaperAlgorithm::Bsp.to_string(), "bsp");
/// # Ok::<(), bwz::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PaperAlgorithm {
    /// `default`: the sort of bwz, by which files are compressed. On the CPU it is libsais, with
    /// other methods for texts that repeat themselves.
    #[default]
    Default,
    /// `skew`: the skew algorithm, with recursion. It runs on a GPU only.
    Skew,
    /// `skew-pd`: the skew algorithm, with prefix doubling in place of recursion. It runs on a GPU
    /// only.
    SkewPd,
    /// `ls`: prefix doubling in which each group is sorted by a method for its size. It runs on a
    /// GPU only.
    Ls,
    /// `bsp`: accelerated sampling on a bulk-synchronous parallel (BSP) machine: on virtual
    /// processors or on GPUs.
    Bsp,
}

impl PaperAlgorithm {
    /// All sorts, in the order in which their names are listed.
    pub const ALL: [PaperAlgorithm; 5] = [
        PaperAlgorithm::Default,
        PaperAlgorithm::Skew,
        PaperAlgorithm::SkewPd,
        PaperAlgorithm::Ls,
        PaperAlgorithm::Bsp,
    ];

    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            PaperAlgorithm::Default => "default",
            PaperAlgorithm::Skew => "skew",
            PaperAlgorithm::SkewPd => "skew-pd",
            PaperAlgorithm::Ls => "ls",
            PaperAlgorithm::Bsp => "bsp",
        }
    }

    /// Returns true if there is a form for the CPU.
    #[must_use]
    pub fn runs_on_cpu(self) -> bool {
        matches!(self, PaperAlgorithm::Default | PaperAlgorithm::Bsp)
    }
}

impl fmt::Display for PaperAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for PaperAlgorithm {
    type Err = Error;

    /// # Errors
    /// [`Error::Usage`] if no sort has this name.
    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == name);
        found.ok_or_else(|| Error::Usage("it is none of default, skew, skew-pd, ls and bsp".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sort_has_a_name() {
        let unknown = "merge"
            .parse::<PaperAlgorithm>()
            .unwrap_err()
            .to_string();
        for algorithm in PaperAlgorithm::ALL {
            assert_eq!(
                algorithm
                    .name()
                    .parse::<PaperAlgorithm>()
                    .unwrap(),
                algorithm
            );
            assert!(unknown.contains(algorithm.name()), "{unknown}");
        }
    }
}
