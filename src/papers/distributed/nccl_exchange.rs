//! GPUs of this process as processors, which send words by NCCL. Only tests run algorithms on them
//! ([`run_on_gpus`]).
//!
//! The steps between supersteps are done on the CPU, one thread for each GPU.

use super::exchange::{Exchange, Messages};
use super::virtual_processors::run_blocking;
use crate::base::error::Result;
use crate::gpu::{NcclId, NcclProcessor, Peers};

impl Exchange for NcclProcessor<'_> {
    fn number(&self) -> usize {
        NcclProcessor::number(self)
    }

    fn count(&self) -> usize {
        NcclProcessor::count(self)
    }

    async fn all_to_all(&mut self, messages: Messages) -> Result<Messages> {
        NcclProcessor::all_to_all(self, messages)
    }
}

/// Runs `program` on each of the GPUs with these numbers, and returns the results. Called by tests
/// alone.
///
/// # Errors
/// [`Error::Device`](crate::Error::Device) if a GPU or NCCL (`libnccl.so.2`) is not there or fails,
/// and any error with which `program` ends on a GPU. It is that of the first GPU that fails; the
/// others then end too.
pub fn run_on_gpus<T: Send>(
    gpus: &[u32],
    program: impl AsyncFn(&mut NcclProcessor) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let id = NcclId::new()?;
    Peers::run(gpus.len(), |number, peers| {
        let mut processor = NcclProcessor::join(gpus[number], id, number, gpus.len(), peers)?;
        let result = run_blocking(program(&mut processor));
        // A GPU leaves the network only when all GPUs do so, or when it is to be ended.
        match result {
            Ok(_) => peers.finish(gpus.len())?,
            Err(_) => peers.fail(number),
        }
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::Error;
    use crate::cases;
    use crate::gpu::testing::{one_network, say};
    use crate::papers::distributed::tests::{by_libsais, double_text, small_string, sort_text};
    use std::time::Instant;

    /// Groups of the first 1, 2 and 4 GPUs, as far as there are that many. If there are none, it
    /// prints a note; with `BWZ_REQUIRE_GPU=1` this is a failure.
    fn groups() -> Vec<Vec<u32>> {
        let count = crate::gpu::devices().map_or(0, |devices| devices.len() as u32);
        if count == 0 {
            let required = std::env::var("BWZ_REQUIRE_GPU").is_ok_and(|v| v == "1");
            assert!(
                !required,
                "BWZ_REQUIRE_GPU is set, but there is no CUDA device"
            );
            say("skipped: no CUDA device");
        }
        let sizes = [1, 2, 4]
            .into_iter()
            .filter(|&size| size <= count);
        sizes.map(|size| (0..size).collect()).collect()
    }

    #[test]
    fn what_is_missing_is_an_error() {
        let started = run_on_gpus(&[99], async |_| Ok(()));
        assert!(matches!(started, Err(Error::Device(_))), "{started:?}");
    }

    /// A GPU fails before the first superstep or between two.
    #[test]
    fn the_failure_of_one_gpu_ends_the_others() {
        let _network = one_network();
        for gpus in groups() {
            let count = gpus.len();
            for failing in 0..count {
                for before in [0, 2] {
                    let end = run_on_gpus(&gpus, async |processor: &mut NcclProcessor| {
                        for round in 0..4 {
                            if Exchange::number(processor) == failing && round == before {
                                return Err(Error::Usage("it gave up".into()));
                            }
                            let messages = vec![vec![round; 1000]; count];
                            Exchange::all_to_all(processor, messages).await?;
                        }
                        Ok(())
                    });
                    assert!(matches!(end, Err(Error::Usage(_))), "{end:?}");
                }
            }
            say(format_args!("{count} GPUs: all end where one fails"));
        }
    }

    #[test]
    fn each_message_arrives_where_it_is_sent() {
        let _network = one_network();
        for gpus in groups() {
            let count = gpus.len();
            let received = run_on_gpus(&gpus, async |processor: &mut NcclProcessor| {
                let from = Exchange::number(processor) as u64;
                let mut rounds = Vec::new();
                for round in [0, 1, 1000, 100_000] {
                    let message = |to| vec![100 * from + to; ((from + to) % 3 * round) as usize];
                    let messages = (0..count as u64).map(message).collect();
                    rounds.push((round, Exchange::all_to_all(processor, messages).await?));
                }
                Ok(rounds)
            });
            for (to, rounds) in (0..).zip(received.unwrap()) {
                for (round, messages) in rounds {
                    assert_eq!(messages.len(), count);
                    for (from, message) in (0..).zip(messages) {
                        let expected = vec![100 * from + to; ((from + to) % 3 * round) as usize];
                        assert!(
                            message == expected,
                            "{count} GPUs, from {from} to {to}, {round}"
                        );
                    }
                }
            }
            say(format_args!("{count} GPUs: all messages arrived"));
        }
    }

    /// 256 MiB from each GPU to each other, five times.
    #[test]
    fn speed_of_all_to_all() {
        let _network = one_network();
        const WORDS: usize = 32 << 20;
        for gpus in groups().into_iter().filter(|gpus| gpus.len() > 1) {
            let count = gpus.len();
            let speeds = run_on_gpus(&gpus, async |processor: &mut NcclProcessor| {
                let me = Exchange::number(processor);
                let mut speeds = Vec::new();
                for round in 0..5 {
                    let message = |to| if to == me { vec![] } else { vec![round; WORDS] };
                    let before = processor.transferred();
                    let start = Instant::now();
                    let messages = (0..count).map(message).collect();
                    let received = Exchange::all_to_all(processor, messages).await?;
                    let whole = start.elapsed().as_secs_f64();
                    let expected = |(from, message): (usize, &Vec<u64>)| {
                        message.len() == if from == me { 0 } else { WORDS }
                            && message.iter().all(|&word| word == round)
                    };
                    assert!(received.iter().enumerate().all(expected));
                    let after = processor.transferred();
                    let bytes = (after.bytes - before.bytes) as f64;
                    assert_eq!(bytes, (8 * WORDS * (count - 1)) as f64);
                    let group = (after.time - before.time).as_secs_f64();
                    speeds.push((bytes / group / 1e9, bytes / whole / 1e9));
                }
                Ok(speeds)
            });
            for (number, speeds) in speeds.unwrap().iter().enumerate() {
                let best = speeds
                    .iter()
                    .copied()
                    .reduce(|a, b| if b.0 > a.0 { b } else { a });
                let (group, whole) = best.unwrap();
                say(format_args!(
                    "GPU {number} of {count} sends {group:.1} GB/s, {whole:.2} with copies"
                ));
            }
        }
    }

    /// The cases are sorted by both algorithms.
    #[test]
    fn the_named_cases_are_sorted_by_gpus() {
        let _network = one_network();
        let small = (0..300).map(|seed| (format!("small string {seed}"), small_string(seed)));
        let all: Vec<_> = cases::named().into_iter().chain(small).collect();
        for gpus in groups() {
            let count = gpus.len();
            let start = Instant::now();
            let blocks = run_on_gpus(&gpus, async |processor: &mut NcclProcessor| {
                let mut blocks = Vec::new();
                for (_, text) in &all {
                    let (bsp, _) = sort_text(&mut *processor, text).await?;
                    blocks.push([bsp, double_text(&mut *processor, text).await?]);
                }
                Ok(blocks)
            });
            let blocks = blocks.unwrap();
            for (number, (name, text)) in all.iter().enumerate() {
                for (algorithm, which) in [("bsp", 0), ("doubling", 1)] {
                    let parts = blocks
                        .iter()
                        .map(|blocks| &blocks[number][which][..]);
                    let sorted = parts.collect::<Vec<_>>().concat();
                    assert!(
                        sorted == by_libsais(text),
                        "{algorithm}: {name} on {count} GPUs"
                    );
                }
            }
            let time = start.elapsed().as_secs_f64();
            say(format_args!(
                "{count} GPUs: {} sorts in {time:.1} s",
                2 * all.len()
            ));
        }
    }
}
