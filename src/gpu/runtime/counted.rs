//! Checks of counts from a GPU, before the host relies on them: a faulty GPU may count anything.

use crate::base::error::{Error, Result};

/// Maximum number of rounds. Every text needs far fewer.
const MOST_ROUNDS: usize = 1000;

/// Checks that `count` items were counted among `most`.
///
/// # Errors
/// [`Error::Device`] if `count` is larger than `most`.
pub(crate) fn at_most(count: u32, most: u32) -> Result<u32> {
    if count <= most {
        return Ok(count);
    }
    Err(Error::Device(
        format!("a GPU counted {count} of {most} suffixes").into(),
    ))
}

/// Appends the number of suffixes that a round has left to those of the rounds before.
///
/// # Errors
/// [`Error::Device`] if there are too many rounds: with wrong ranks, a sort may never end.
pub(crate) fn log_round<N>(rounds: &mut Vec<N>, left: N) -> Result<()> {
    if rounds.len() >= MOST_ROUNDS {
        return Err(Error::Device("a GPU sorts a text without end".into()));
    }
    rounds.push(left);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_a_failure_of_the_gpu() {
        assert_eq!(at_most(7, 7).unwrap(), 7);
        assert!(matches!(at_most(8, 7), Err(Error::Device(_))));
        let mut rounds = vec![9; MOST_ROUNDS - 1];
        log_round(&mut rounds, 5).unwrap();
        assert_eq!(rounds.last(), Some(&5));
        assert!(matches!(log_round(&mut rounds, 5), Err(Error::Device(_))));
        assert_eq!(rounds.len(), MOST_ROUNDS);
    }
}
