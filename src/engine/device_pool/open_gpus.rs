//! Opens GPUs: those of the machine when the work needs them, or all that the caller named. The
//! first is opened alone and the others then side by side. If four are opened together, the first
//! is ready only after a second.

use super::lease_queue::LeaseQueue;
use crate::base::device::{Device, GpuSet};
use crate::base::error::{Error, Result};
use crate::gpu;
use std::io;
use std::panic::resume_unwind;
use std::thread::{self, ScopedJoinHandle};

const NO_CUDA: &str = "this build of bwz has no CUDA: build it with the feature cuda, or use the \
                       device auto or cpu";

/// A function that opens GPUs as `G` and adds them to a queue.
pub(crate) type OpenGpus<G> = Box<dyn FnOnce(&LeaseQueue<G>) + Send>;

/// The GPUs that a pool may open.
pub(crate) struct Opener<G> {
    /// The caller named GPUs, so the CPU takes part only if none works.
    pub gpu_only: bool,
    /// `None` if there is no GPU to open.
    pub open: Option<OpenGpus<G>>,
}

impl<G: Send + 'static> Opener<G> {
    /// An opener of GPUs that are open at once and used for every block.
    #[cfg(test)]
    pub(crate) fn of(gpus: Vec<G>) -> Self {
        let open: OpenGpus<G> =
            Box::new(move |queue| gpus.into_iter().for_each(|gpu| queue.add(gpu)));
        Opener {
            gpu_only: true,
            open: Some(open),
        }
    }

    /// Creates an opener for the GPUs of `device`. `make` opens the GPU with a given number, once
    /// for each of its `per_gpu` leases. There are at most `workers` leases in all.
    ///
    /// # Errors
    /// [`Error::Device`] if a GPU is asked for and this build has no CUDA.
    pub(crate) fn new(
        device: Device,
        workers: usize,
        per_gpu: usize,
        make: impl Fn(u32) -> Result<G> + Send + Sync + 'static,
    ) -> Result<Self> {
        let gpu_only = matches!(device, Device::Cuda(_));
        if gpu_only && !gpu::is_built() {
            return Err(Error::Device(NO_CUDA.into()));
        }
        if !gpu::is_built() || device == Device::Cpu {
            return Ok(Opener {
                gpu_only,
                open: None,
            });
        }
        let open: OpenGpus<G> =
            Box::new(move |queue| open(queue, device, (workers, per_gpu), &make));
        Ok(Opener {
            gpu_only,
            open: Some(open),
        })
    }
}

fn open<G: Send>(
    queue: &LeaseQueue<G>,
    device: Device,
    limits: (usize, usize),
    make: &(impl Fn(u32) -> Result<G> + Sync),
) {
    let mut numbers = match gpu_numbers(device) {
        Ok(numbers) => numbers,
        Err(e) => return queue.warn(&e.to_string()),
    };
    let mut failures = Vec::new();
    while let Some(&number) = numbers.first()
        && let Err(e) = open_one(queue, 1, || make(number))
    {
        failures.push(failure(number, &e.to_string()));
        numbers.remove(0);
    }
    let opened = numbers.first().copied();
    let are_named = matches!(device, Device::Cuda(gpus) if gpus.numbers().is_some());
    let mut opening: Vec<_> = leases(numbers, limits.0, limits.1).collect();
    let per_gpu = opening.first().map_or(0, |&(_, count)| count);
    if let Some((_, count)) = opening.first_mut() {
        *count -= 1;
    }
    failures.extend(thread::scope(|scope| {
        let opening = opening
            .into_iter()
            .enumerate()
            .take_while(|(before, _)| are_named || queue.waits_for_work(*before, per_gpu));
        let opening = opening.map(|(_, (number, count))| {
            let open = move || open_one(queue, count, || make(number));
            (
                number,
                thread::Builder::new()
                    .name("bwz-gpu".into())
                    .spawn_scoped(scope, open),
            )
        });
        // All threads are started before the first one is waited for.
        let opening: Vec<_> = opening.collect();
        // The first GPU is open. It works even if it has no memory for more leases.
        let ended = |(number, thread)| {
            let why = why_unopened(thread)?;
            (Some(number) != opened).then(|| failure(number, &why))
        };
        opening
            .into_iter()
            .filter_map(ended)
            .collect::<Vec<_>>()
    }));
    if !failures.is_empty() {
        queue.warn_of_unopened(&failures.join(", "), opened.is_some());
    }
}

/// The numbers of the GPUs of a device.
///
/// # Errors
/// [`Error::Device`] if GPUs are asked for and there is none.
pub(crate) fn gpu_numbers(device: Device) -> Result<Vec<u32>> {
    let all = || {
        let gpus = gpu::devices()?.into_iter().map(|gpu| gpu.number);
        Ok(gpus
            .filter(|&number| number <= GpuSet::MAX_NUMBER)
            .collect())
    };
    let Device::Cuda(gpus) = device else {
        // No GPU was asked for, so a machine without one is not an error.
        return all().or(Ok(Vec::new()));
    };
    match gpus.numbers() {
        Some(numbers) => Ok(numbers.collect()),
        None => all().and_then(|numbers: Vec<u32>| match numbers[..] {
            [] => Err(Error::Device("this machine has no CUDA device".into())),
            _ => Ok(numbers),
        }),
    }
}

/// The number of leases of each GPU: up to `per_gpu`, and at most `workers` in all. Workers are
/// assigned to the GPUs in turn.
pub(super) fn leases(
    numbers: Vec<u32>,
    workers: usize,
    per_gpu: usize,
) -> impl Iterator<Item = (u32, usize)> {
    let gpus = numbers.len();
    let count = move |n: usize| ((workers + gpus - 1 - n) / gpus).min(per_gpu);
    numbers
        .into_iter()
        .enumerate()
        .map(move |(n, number)| (number, count(n)))
        .take(workers)
}

/// Opens a GPU once for each lease.
fn open_one<G>(queue: &LeaseQueue<G>, count: usize, make: impl Fn() -> Result<G>) -> Result<()> {
    for n in 0..count {
        // After the end of the queue, an opened GPU would not be leased.
        if queue.has_ended() {
            break;
        }
        match make() {
            Ok(gpu) => queue.add(gpu),
            Err(e) if n == 0 => return Err(e),
            // The leases that are open work; the GPU has no memory for more.
            Err(_) => break,
        }
    }
    Ok(())
}

/// The reason why a GPU was not opened, after the thread that opens it has ended.
fn why_unopened(thread: io::Result<ScopedJoinHandle<Result<()>>>) -> Option<String> {
    match thread {
        Ok(thread) => Some(
            thread
                .join()
                .unwrap_or_else(|panic| resume_unwind(panic))
                .err()?
                .to_string(),
        ),
        Err(e) => Some(format!("cannot start a thread: {e}")),
    }
}

fn failure(number: u32, why: &str) -> String {
    format!("cuda:{number}: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::device_pool::Rates;
    use crate::options::events::Listener;
    use std::cell::Cell;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// `count` leases of a queue for `cuda:LIST` on a machine whose odd GPUs cannot be opened, and
    /// its warnings.
    fn opened(list: &str, count: usize) -> (Vec<u32>, Vec<String>) {
        opened_by(8, list, count)
    }

    /// As `opened`, for `workers` workers.
    fn opened_by(workers: usize, list: &str, count: usize) -> (Vec<u32>, Vec<String>) {
        let (listener, warnings) = Listener::of_warnings();
        let queue = LeaseQueue::new(false, true, Rates::SORT, 8, listener);
        let make = |number| match number % 2 {
            0 => Ok(number),
            _ => Err(Error::Device("the GPU is missing".into())),
        };
        open(
            &queue,
            Device::Cuda(list.parse().unwrap()),
            (workers, 4),
            &make,
        );
        let mut leases: Vec<_> = (0..count)
            .filter_map(|_| queue.lease(1, 1))
            .collect();
        let mut gpus: Vec<u32> = leases
            .iter_mut()
            .map(|lease| lease.run(|gpu| Ok(*gpu)).unwrap().unwrap())
            .collect();
        gpus.sort_unstable();
        drop(leases);
        let warnings = warnings.lock().unwrap().clone();
        (gpus, warnings)
    }

    #[test]
    fn those_gpus_are_opened_that_were_asked_for() {
        assert_eq!(opened("0,4-4,2", 8), (vec![0, 0, 0, 2, 2, 2, 4, 4], vec![]));
    }

    #[test]
    fn gpus_that_are_not_named_are_opened_as_work_comes() {
        let queue: LeaseQueue<()> =
            LeaseQueue::new(true, false, Rates::SORT, 8, Listener::default());
        let pays = |bytes: u64| {
            queue.account(|work| work.announce(bytes));
            let state = queue.state();
            (0..9)
                .take_while(|&gpus| state.workload.pays_beside(gpus, 4))
                .count()
        };
        assert_eq!([100 << 20, 1 << 30, 30 << 30].map(pays), [1, 1, 5]);
        thread::scope(|scope| {
            let opening = scope.spawn(|| (0..9).all(|gpus| queue.waits_for_work(gpus, 4)));
            drop(queue.end());
            assert!(!opening.join().unwrap());
        });
    }

    #[test]
    fn gpus_that_are_missing_are_one_warning() {
        let warning = "cuda:1: the GPU is missing, cuda:3: the GPU is missing";
        let others = format!("{warning}; sorting on the other GPUs");
        assert_eq!(opened("0-3", 4), (vec![0, 0, 2, 2], vec![others]));
        assert_eq!(
            opened("1,3", 8),
            (vec![], vec![format!("{warning}; sorting on the CPU")])
        );
        let warning = "cuda:1: the GPU is missing; sorting on the other GPUs".to_owned();
        assert_eq!(
            opened_by(1, "1,2", 1),
            (vec![2], vec![warning]),
            "one worker"
        );
    }

    #[test]
    fn a_gpu_that_has_room_for_one_lease_alone_is_no_warning() {
        let (listener, warnings) = Listener::of_warnings();
        let queue = LeaseQueue::new(false, true, Rates::SORT, 8, listener);
        let leases = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let make = |number: u32| match leases[number as usize].fetch_add(1, Ordering::Relaxed) {
            0 => Ok(number),
            _ => Err(Error::Device("the GPU has no room".into())),
        };
        open(&queue, Device::Cuda("0-1".parse().unwrap()), (8, 4), &make);
        assert_eq!(queue.end().len(), 2);
        assert!(warnings.lock().unwrap().is_empty());
    }

    #[test]
    fn what_is_free_when_all_work_is_done_is_given_out_and_leased_no_more() {
        let queue = LeaseQueue::new(false, true, Rates::SORT, 8, Listener::default());
        let gpu = Arc::new(());
        (0..3).for_each(|_| queue.add(Arc::clone(&gpu)));
        let lease = queue.lease(1, 1).unwrap();
        assert_eq!(queue.end().len(), 2);
        queue.add(Arc::clone(&gpu));
        assert_eq!(
            Arc::strong_count(&gpu),
            2,
            "what is leased, and nothing that came later"
        );
        drop(lease);
        assert_eq!((queue.end().len(), Arc::strong_count(&gpu)), (0, 1));
        assert!(queue.lease(1, 1).is_none());
    }

    #[test]
    fn no_more_leases_are_opened_once_all_work_is_done() {
        let queue = LeaseQueue::new(false, true, Rates::SORT, 8, Listener::default());
        let made = Cell::new(0);
        let make = || {
            made.set(made.get() + 1);
            queue.end();
            Ok(())
        };
        open_one(&queue, 8, make).unwrap();
        assert_eq!(made.get(), 1);
    }

    #[test]
    fn leases_are_spread_over_the_gpus() {
        let counts = |gpus: u32, workers| -> Vec<usize> {
            leases((0..gpus).collect(), workers, 4)
                .map(|(_, count)| count)
                .collect()
        };
        assert_eq!(counts(1, 64), [4]);
        assert_eq!(counts(4, 64), [4, 4, 4, 4]);
        assert_eq!(counts(2, 3), [2, 1]);
        assert_eq!(counts(8, 2), [1, 1]);
        assert_eq!(counts(1, 1), [1]);
        assert!(counts(0, 64).is_empty());
    }
}
