//! Any number of processors in memory. All run in one loop on the calling thread, one after the
//! other from superstep to superstep, so that every run is the same.
//!
//! A superstep costs next to nothing, since messages are moved and not copied. Memory that a
//! processor takes between two supersteps is freed before the next processor's turn.

use super::exchange::{Exchange, Messages};
use crate::base::error::Result;
use std::cell::RefCell;
use std::future::poll_fn;
use std::mem::take;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Messages in the network, by processor.
#[derive(Debug)]
struct Network {
    sent: Vec<Option<Messages>>,
    received: Vec<Option<Messages>>,
}

/// One of the processors of [`run_virtual`].
#[derive(Debug)]
pub struct VirtualProcessor {
    number: usize,
    network: Rc<RefCell<Network>>,
}

impl Exchange for VirtualProcessor {
    fn number(&self) -> usize {
        self.number
    }

    fn count(&self) -> usize {
        self.network.borrow().sent.len()
    }

    async fn all_to_all(&mut self, messages: Messages) -> Result<Messages> {
        assert_eq!(messages.len(), self.count(), "a message for each processor");
        self.network.borrow_mut().sent[self.number] = Some(messages);
        let received = || self.network.borrow_mut().received[self.number].take();
        poll_fn(|_| received().map_or(Poll::Pending, |messages| Poll::Ready(Ok(messages)))).await
    }
}

impl Network {
    /// Ends the superstep. Returns false if no processor is in one.
    fn deliver(&mut self) -> bool {
        let arrived = self.sent.iter().flatten().count();
        assert!(
            [0, self.sent.len()].contains(&arrived),
            "{arrived} of {} processors take part in a superstep",
            self.sent.len()
        );
        let mut sent: Vec<Messages> = self
            .sent
            .iter_mut()
            .filter_map(Option::take)
            .collect();
        for (to, received) in self
            .received
            .iter_mut()
            .enumerate()
            .take(sent.len())
        {
            *received = Some(
                sent.iter_mut()
                    .map(|messages| take(&mut messages[to]))
                    .collect(),
            );
        }
        arrived > 0
    }
}

/// Runs `program` on each of `count` processors, and returns their results.
///
/// ```
/// use bwz::internals::distributed::{Exchange, run_virtual};
///
/// let sums = run_virtual(3, async |mut processor| {
///     let number = processor.number() as u64;
///     let received = processor.all_to_all(vec![vec![number]; 3]).await?;
///     Ok(received.concat().iter().sum::<u64>())
/// })?;
/// assert_eq!(sums, [3, 3, 3]);
/// # Ok::<(), bwz::Error>(())
/// ```
///
/// # Errors
/// The first error of any processor.
///
/// # Panics
/// If a processor leaves out a superstep that others take part in.
pub fn run_virtual<T>(
    count: usize,
    program: impl AsyncFn(VirtualProcessor) -> Result<T>,
) -> Result<Vec<T>> {
    let nothing = || (0..count).map(|_| None).collect();
    let network = Rc::new(RefCell::new(Network {
        sent: nothing(),
        received: nothing(),
    }));
    let processor = |number| VirtualProcessor {
        number,
        network: Rc::clone(&network),
    };
    let mut running: Vec<_> = (0..count)
        .map(|n| Box::pin(program(processor(n))))
        .collect();
    let mut results: Vec<Option<T>> = (0..count).map(|_| None).collect();
    let mut context = Context::from_waker(Waker::noop());
    loop {
        for (result, program) in results.iter_mut().zip(&mut running) {
            if result.is_none()
                && let Poll::Ready(done) = program.as_mut().poll(&mut context)
            {
                *result = Some(done?);
            }
        }
        if !network.borrow_mut().deliver() {
            return Ok(results.into_iter().flatten().collect());
        }
    }
}

/// Runs the program of a processor whose supersteps block until they are done, such as
/// [`Alone`](super::Alone) and a network of GPUs.
///
/// # Panics
/// If the program waits for something else.
pub fn run_blocking<T>(program: impl Future<Output = T>) -> T {
    match pin!(program).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("a superstep of this processor does not wait by itself"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::Error;

    #[test]
    fn each_message_arrives_where_it_is_sent() {
        for count in [1, 2, 5] {
            let received = run_virtual(count, async |mut processor| {
                let from = processor.number() as u64;
                let messages = |round: u64| -> Messages {
                    let message = |to| vec![100 * from + to; (from + to + round) as usize % 3];
                    (0..count as u64).map(message).collect()
                };
                processor.all_to_all(messages(7)).await?;
                processor.all_to_all(messages(0)).await
            });
            for (to, messages) in (0..).zip(received.unwrap()) {
                for (from, message) in (0..).zip(messages) {
                    assert_eq!(message, vec![100 * from + to; (from + to) as usize % 3]);
                }
            }
        }
    }

    #[test]
    fn the_failure_of_one_ends_all() {
        let failed = run_virtual(3, async |mut processor| {
            processor.all_to_all(vec![vec![]; 3]).await?;
            if processor.number() == 1 {
                return Err(Error::Device("unplugged".into()));
            }
            processor.all_to_all(vec![vec![]; 3]).await
        });
        assert_eq!(failed.unwrap_err().to_string(), "unplugged");
    }

    #[test]
    #[should_panic = "2 of 3 processors take part in a superstep"]
    fn nobody_stays_away() {
        let _ = run_virtual(3, async |mut processor| match processor.number() {
            1 => Ok(vec![]),
            _ => processor.all_to_all(vec![vec![]; 3]).await,
        });
    }
}
