//! Record of the first failure in a network of GPUs. A GPU whose peer has failed must stop waiting
//! for words that will never come.

use crate::base::error::{Error, Result};
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Number of checks before a waiting thread sleeps between them. A superstep takes at least a
/// fraction of a millisecond.
const SPINS: u32 = 1 << 14;
const SLEEP: Duration = Duration::from_micros(50);

/// State shared by the processors of a network in this process.
#[derive(Debug, Default)]
pub struct Peers {
    first_failed: OnceLock<usize>,
    finished: AtomicUsize,
}

/// Reports the processor as failed when dropped. A processor that succeeds forgets it.
struct Unfinished<'p> {
    number: usize,
    peers: &'p Peers,
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.peers.fail(self.number);
    }
}

impl Peers {
    /// Records that processor `number` has failed, unless another failed before.
    pub fn fail(&self, number: usize) {
        let _ = self.first_failed.set(number);
    }

    /// The processor that failed first.
    pub fn first_failed(&self) -> Option<usize> {
        self.first_failed.get().copied()
    }

    /// Waits until `ready` returns true.
    ///
    /// # Errors
    /// Errors of `ready`, and [`Error::Device`] as soon as any processor has failed.
    pub fn wait(&self, mut ready: impl FnMut() -> Result<bool>) -> Result<()> {
        for spins in 0_u32.. {
            if ready()? {
                break;
            }
            if let Some(failed) = self.first_failed() {
                let message = format!("GPU {failed} of the network has failed");
                return Err(Error::Device(message.into()));
            }
            if spins < SPINS {
                std::hint::spin_loop()
            } else {
                thread::sleep(SLEEP)
            }
        }
        Ok(())
    }

    /// Records that one of `count` processors has finished with the network, and waits until all
    /// have.
    ///
    /// # Errors
    /// As [`Peers::wait`].
    pub fn finish(&self, count: usize) -> Result<()> {
        self.finished.fetch_add(1, Ordering::SeqCst);
        self.wait(|| Ok(self.finished.load(Ordering::SeqCst) == count))
    }

    /// Runs `count` processors, each on its own thread, and gives their results in order. If some
    /// fail, waits on `peers` end for the others.
    ///
    /// # Errors
    /// The error of the processor that failed first.
    pub fn run<T: Send>(
        count: usize,
        processor: impl Fn(usize, &Peers) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let peers = Peers::default();
        let processor = &processor;
        let run = |number| {
            let running = Unfinished {
                number,
                peers: &peers,
            };
            let result = processor(number, &peers)?;
            std::mem::forget(running);
            Ok(result)
        };
        let run = &run;
        let results: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..count)
                .map(|n| scope.spawn(move || run(n)))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join())
                .collect()
        });
        let unwound = |result: thread::Result<_>| result.unwrap_or_else(|e| resume_unwind(e));
        let mut results: Vec<Result<T>> = results.into_iter().map(unwound).collect();
        match peers.first_failed() {
            Some(failed) => Err(results
                .swap_remove(failed)
                .err()
                .expect("it has failed")),
            None => results.into_iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// A processor that waits forever.
    fn wait_for_ever(peers: &Peers) -> Result<usize> {
        peers.wait(|| Ok(false)).map(|()| 0)
    }

    #[test]
    fn who_waits_for_one_that_fails_is_told_and_the_cause_is_given() {
        let lost = || Error::Device("lost".into());
        for failing in 0..3 {
            let processor = |number, peers: &Peers| match number == failing {
                true => Err(lost()),
                false => wait_for_ever(peers).inspect_err(|e| {
                    let told = format!("GPU {failing} of the network has failed");
                    assert!(e.to_string().contains(&told), "{e}");
                }),
            };
            let end = Peers::run(3, processor).unwrap_err();
            assert_eq!(end.to_string(), lost().to_string());
        }
    }

    #[test]
    fn who_waits_for_one_that_panics_ends() {
        let processor = |number, peers: &Peers| match number {
            1 => panic!("a processor's own"),
            _ => wait_for_ever(peers),
        };
        assert!(catch_unwind(AssertUnwindSafe(|| Peers::run(3, processor))).is_err());
    }

    #[test]
    fn all_that_succeed_give_their_results_in_order() {
        let processor = |number, peers: &Peers| {
            let mut left = 5;
            let ready = || {
                left -= 1;
                Ok(left == 0)
            };
            peers.wait(ready)?;
            peers.finish(4).map(|()| number)
        };
        assert_eq!(Peers::run(4, processor).unwrap(), [0, 1, 2, 3]);
    }
}
