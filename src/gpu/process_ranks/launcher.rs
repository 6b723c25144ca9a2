//! Rank of this process among several, as the launcher that started them says in the environment.

use crate::base::error::{Error, Result};
use std::env;

/// A process among those that a launcher has started together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProcessRank {
    /// Rank of the process, from 0.
    pub number: usize,
    /// Number of processes.
    pub count: usize,
    /// Rank among the processes of its host, from 0.
    pub on_host: u32,
}

/// Variables of each launcher: the rank, the number of ranks, and the rank on the host. Those of
/// `srun` come last, since every process within its jobs has them.
const LAUNCHERS: [[&str; 3]; 4] = [
    [
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_LOCAL_RANK",
    ],
    ["PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"],
    ["RANK", "WORLD_SIZE", "LOCAL_RANK"],
    ["SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"],
];

/// Maximum number of ranks, which is also that of the GPUs of one sort.
pub(super) const MOST_RANKS: usize = 64;

impl ProcessRank {
    /// Reads the rank of this process from the environment.
    ///
    /// # Errors
    /// [`Error::Usage`] if no launcher has set its variables, or they make no sense.
    pub(super) fn of_process() -> Result<ProcessRank> {
        ProcessRank::from(|name| env::var(name).ok())
    }

    fn from(variable: impl Fn(&str) -> Option<String>) -> Result<ProcessRank> {
        let there = LAUNCHERS
            .iter()
            .find(|names| names.iter().all(|name| variable(name).is_some()));
        let names = there.ok_or_else(|| {
            Error::Usage(
                "no launcher has given this process its rank: start it with mpirun, srun or \
                 torchrun"
                    .into(),
            )
        })?;
        let number = |name: &str| {
            let value = variable(name).unwrap_or_default();
            value.parse().map_err(|_| {
                Error::Usage(format!("{name} is {value:?}, which is not a number").into())
            })
        };
        let [rank, count, on_host] = [number(names[0])?, number(names[1])?, number(names[2])?];
        if rank >= count || count > MOST_RANKS as u32 {
            let what =
                format!("rank {rank} of {count}: there are 1 to {MOST_RANKS}, counted from 0");
            return Err(Error::Usage(what.into()));
        }
        Ok(ProcessRank {
            number: rank as usize,
            count: count as usize,
            on_host,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(variables: &[(&str, &str)]) -> Result<ProcessRank> {
        let value = |name: &str| variables.iter().find(|(other, _)| *other == name);
        ProcessRank::from(|name| value(name).map(|(_, value)| (*value).to_owned()))
    }

    fn of(
        names: [&'static str; 3],
        values: [&'static str; 3],
    ) -> Vec<(&'static str, &'static str)> {
        names.into_iter().zip(values).collect()
    }

    #[test]
    fn each_launcher_is_understood() {
        for names in LAUNCHERS {
            let there = place(&of(names, ["5", "8", "1"])).unwrap();
            assert_eq!(
                there,
                ProcessRank {
                    number: 5,
                    count: 8,
                    on_host: 1
                }
            );
        }
    }

    #[test]
    fn mpirun_within_a_job_of_slurm_counts() {
        let job = of(LAUNCHERS[3], ["0", "1", "0"]);
        let both = [job, of(LAUNCHERS[0], ["2", "4", "2"])].concat();
        assert_eq!(place(&both).unwrap().number, 2);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for values in [
            ["4", "4", "0"],
            ["0", "65", "0"],
            ["-1", "4", "0"],
            ["0", "", "0"],
            ["0", "0", "0"],
        ] {
            let end = place(&of(LAUNCHERS[0], values));
            assert!(matches!(end, Err(Error::Usage(_))), "{values:?}: {end:?}");
        }
        let end = place(&of(LAUNCHERS[3], ["0", "2", "0"])[..2]).unwrap_err();
        assert!(end.to_string().contains("mpirun"), "{end}");
    }
}
