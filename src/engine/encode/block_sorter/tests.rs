//! Sorters that fail or are wrong, and the choice between CPU and GPU; no GPU is needed.

use super::BlockSorter;
use crate::base::device::Device;
use crate::base::error::{Error, Result};
use crate::base::tasks::Executor;
use crate::base::threads::Threads;
use crate::bwt::{self, Bwt, Sorter};
use crate::coder::{self, Coding, Effort, SliceLimits};
use crate::engine::coded_transform::{CodedTransform, Sorted};
use crate::engine::device_pool::{DevicePool, OpenGpus, Opener, Rates};
use crate::engine::encode::gpu_proof::Proof;
use crate::engine::encode::joint_gpus::{JointGpus, JointSorter};
use crate::engine::encode::sorting_gpu::{GpuSorted, SortingGpu};
use crate::options::events::{Listener, Step};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

fn pool() -> Threads {
    Threads::Pool(
        rayon::ThreadPoolBuilder::new()
            .num_threads(2)
            .build()
            .unwrap()
            .into(),
    )
}

fn sorters(open: OpenGpus<SortingGpu>, gpu_only: bool, listener: Listener) -> BlockSorter {
    let opener = Opener {
        gpu_only,
        open: Some(open),
    };
    let rates = Rates {
        whole: false,
        ..Rates::SORT
    };
    BlockSorter::with(DevicePool::new(opener, rates, 4, listener), pool())
}

/// Creates a sorter on GPUs that are open from the start and used for every block.
fn chosen(listener: Listener, gpus: Vec<SortingGpu>) -> BlockSorter {
    sorters(
        Box::new(move |queue| gpus.into_iter().for_each(|gpu| queue.add(gpu))),
        true,
        listener,
    )
}

/// Creates one sorter that comes up when the channel says so, and is used if it would be done
/// first.
fn opened_on_demand(gpu: SortingGpu) -> (BlockSorter, Sender<()>) {
    let (open_now, opens) = mpsc::channel();
    let open: OpenGpus<SortingGpu> = Box::new(move |queue| {
        opens
            .recv_timeout(Duration::from_secs(60))
            .unwrap();
        queue.add(gpu);
    });
    (sorters(open, false, Listener::default()), open_now)
}

fn on_cpu(block: &[u8], rate: u32) -> Result<GpuSorted> {
    let sorted = Sorted::Bwt(Sorter::Cpu.sort(block, rate)?);
    Ok(GpuSorted::of(sorted))
}

/// Sorts and codes, as a GPU does that has the memory for it.
fn coded_on_cpu(block: &[u8], rate: u32) -> Result<GpuSorted> {
    let Bwt {
        bytes,
        sample_rate,
        samples,
    } = Sorter::Cpu.sort(block, rate)?;
    let limits = SliceLimits::new(block.len(), Effort::Default);
    let coded = coder::encode_slices(&bytes, limits, Coding::StaticRans);
    let transform = CodedTransform {
        coded,
        sample_rate,
        samples,
    };
    let counts = bwt::counts(&bytes, Executor::CALLING);
    Ok(GpuSorted {
        counts: Some(counts),
        ..GpuSorted::of(Sorted::Coded(transform))
    })
}

/// Creates a sorter that sorts `blocks` blocks, and then fails for good.
fn breaking_after(mut blocks: u32) -> SortingGpu {
    SortingGpu::fake(move |block, rate| {
        blocks = blocks
            .checked_sub(1)
            .ok_or(Error::Device("the GPU is on fire".into()))?;
        on_cpu(block, rate)
    })
}

#[test]
fn failing_devices_cost_no_block_and_one_warning() {
    let (listener, warnings) = Listener::of_warnings();
    let expected = Sorted::Bwt(Sorter::Cpu.sort(b"banana", 2).unwrap());
    let sorters = chosen(listener, [0, 1, 3].map(breaking_after).into());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    assert_eq!(sorters.sort(b"banana", 2, false).unwrap().0, expected);
                }
            });
        }
    });
    assert_eq!(
        *warnings.lock().unwrap(),
        ["the GPU is on fire; sorting on the CPU"]
    );
}

#[test]
fn blocks_above_what_a_gpu_takes_go_to_the_cpu() {
    for (gpu_only, said) in [(true, 1), (false, 0)] {
        let (listener, warnings) = Listener::of_warnings();
        let gpu = SortingGpu::fake(|block, rate| {
            assert!(block.len() <= 6);
            on_cpu(block, rate)
        });
        let open: OpenGpus<SortingGpu> = Box::new(move |queue| queue.add(gpu));
        let opener = Opener {
            gpu_only,
            open: Some(open),
        };
        let rates = Rates {
            most: 6,
            ..Rates::SORT
        };
        let sorters = BlockSorter::with(DevicePool::new(opener, rates, 4, listener), pool());
        for block in [&b"bananas"[..], b"banana", b"bananas"] {
            sorters.expect(block.len(), false);
            let sorted = sorters.sort(block, 2, false).unwrap().0;
            assert_eq!(sorted, Sorted::Bwt(Sorter::Cpu.sort(block, 2).unwrap()));
        }
        let warning = "a block of 7 bytes is above the 6 that a GPU takes; sorting on the CPU";
        assert_eq!(*warnings.lock().unwrap(), vec![warning; said]);
    }
}

#[test]
fn a_transform_of_other_bytes_is_not_believed() {
    let (listener, warnings) = Listener::of_warnings();
    let expected = Sorted::Bwt(Sorter::Cpu.sort(b"banana", 2).unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let wrong = || -> SortingGpu {
        let asked = Arc::clone(&asked);
        SortingGpu::fake(move |_, rate| {
            asked.fetch_add(1, Ordering::Relaxed);
            on_cpu(b"bandana", rate)
        })
    };
    let mut sorters = chosen(listener, vec![wrong(), wrong()]);
    sorters.together = JointGpus::of(
        2,
        JointSorter::fake(|_, _| panic!("several are asked")),
        6,
        false,
    );
    assert!(sorters.together.take(7, false));
    for _ in 0..3 {
        assert_eq!(sorters.sort(b"banana", 2, false).unwrap().0, expected);
    }
    assert!(!sorters.together.take(7, false) && !sorters.gpus.may_lease());
    assert_eq!(
        asked.load(Ordering::Relaxed),
        1,
        "a GPU is asked after one was wrong"
    );
    let warning = "a GPU gave a transform that is not the block's; sorting on the CPU";
    assert_eq!(*warnings.lock().unwrap(), [warning]);
}

#[test]
fn coded_transforms_of_other_bytes_are_not_believed() {
    let expected = Sorted::Bwt(Sorter::Cpu.sort(b"banana", 2).unwrap());
    let Sorted::Coded(sound) = coded_on_cpu(b"banana", 2).unwrap().sorted else {
        panic!()
    };
    type Change = fn(&mut CodedTransform, &mut [u64; 256]);
    let changes: [Change; 4] = [
        |_, counts| counts[usize::from(b'a')] += 1,
        |transform, _| transform.samples[1] = 7,
        |transform, _| transform.samples.truncate(2),
        |transform, _| transform.coded.raw_sizes[0] = 5,
    ];
    for change in changes {
        let (listener, warnings) = Listener::of_warnings();
        let mut gpu = SortingGpu::fake(move |block, rate| {
            let mut done = coded_on_cpu(block, rate)?;
            if let (Sorted::Coded(transform), Some(counts)) = (&mut done.sorted, &mut done.counts) {
                change(transform, counts);
            }
            Ok(done)
        });
        assert!(gpu.sort(b"banana", 2).is_ok());
        let sorters = chosen(listener, vec![gpu]);
        assert_eq!(sorters.sort(b"banana", 2, false).unwrap().0, expected);
        assert_eq!(warnings.lock().unwrap().len(), 1);
    }
    let sorters = chosen(Listener::default(), vec![SortingGpu::fake(coded_on_cpu)]);
    let sorted = sorters.sort(b"banana", 2, false).unwrap().0;
    assert_eq!(sorted, Sorted::Coded(sound));
}

/// A GPU that restored its result says whether it is right. Without that, the CPU restores it if it
/// is to be proved.
#[test]
fn only_what_restores_is_believed() {
    let expected = Sorted::Bwt(Sorter::Cpu.sort(b"banana", 2).unwrap());
    for (proof, proves, is_wrong, is_believed) in [
        (Proof::Differs, true, false, false),
        (Proof::Restored, true, false, true),
        (Proof::Missing, true, false, true),
        (Proof::Missing, true, true, false),
        (Proof::Missing, false, true, true),
    ] {
        let (listener, warnings) = Listener::of_warnings();
        let gpu = SortingGpu::fake(move |block, rate| {
            let mut done = on_cpu(block, rate)?;
            if let (Sorted::Bwt(bwt), true) = (&mut done.sorted, is_wrong) {
                bwt.bytes.reverse();
            }
            done.proof = proof;
            Ok(done)
        });
        let mut sorters = chosen(listener, vec![gpu]);
        sorters.proves = proves;
        let sorted = sorters.sort(b"banana", 2, false).unwrap().0;
        assert_eq!(sorted == expected, !is_believed || !is_wrong);
        assert_eq!(warnings.lock().unwrap().is_empty(), is_believed);
    }
}

/// A GPU sorts the next block while the transform of the last one waits to be checked.
#[test]
fn a_gpu_does_not_wait_for_the_threads() {
    let (sorted, sorts) = mpsc::channel();
    let gpu = SortingGpu::fake(move |block, rate| {
        sorted.send(()).unwrap();
        on_cpu(block, rate)
    });
    let one_thread = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let pool = Threads::Pool(one_thread.into());
    let gpus = DevicePool::new(Opener::of(vec![gpu]), Rates::SORT, 4, Listener::default());
    let sorters = BlockSorter::with(gpus, pool.clone());
    thread::scope(|scope| {
        let (free, busy) = mpsc::channel::<()>();
        let (is_busy, began) = mpsc::channel();
        let work = move || (is_busy.send(()), busy.recv().is_err());
        scope.spawn(|| pool.install(work));
        began.recv().unwrap();
        for _ in 0..2 {
            scope.spawn(|| assert!(sorters.sort(b"banana", 2, false).is_ok()));
        }
        let both: Vec<_> = (0..2)
            .map(|_| sorts.recv_timeout(Duration::from_secs(20)))
            .collect();
        drop(free);
        assert!(
            both.iter().all(Result::is_ok),
            "the GPU waits while the thread is busy"
        );
    });
}

#[test]
fn other_errors_are_no_reason_to_try_again() {
    let (listener, warnings) = Listener::of_warnings();
    let gpu = SortingGpu::fake(|_, _| Err(Error::out_of_memory("for a block")));
    let sorters = chosen(listener, vec![gpu]);
    for _ in 0..2 {
        let end = sorters.sort(b"banana", 2, false);
        assert!(matches!(end, Err(Error::Io(_))));
    }
    assert!(warnings.lock().unwrap().is_empty());
}

#[test]
fn a_panic_leaves_nobody_waiting() {
    let gpu = SortingGpu::fake(|_, _| panic!("on purpose"));
    let sorters = chosen(Listener::default(), vec![gpu]);
    let ended = thread::scope(|scope| {
        scope
            .spawn(|| sorters.sort(b"banana", 2, false).is_ok())
            .join()
    });
    assert!(ended.is_err());
    assert!(sorters.sort(b"banana", 2, false).is_ok());
}

#[test]
fn opening_may_fail_or_panic() {
    for fails in [false, true] {
        let open: OpenGpus<SortingGpu> = Box::new(move |_| assert!(!fails, "on purpose"));
        let sorters = sorters(open, true, Listener::default());
        assert!(sorters.sort(b"banana", 2, false).is_ok());
    }
}

#[test]
fn small_inputs_open_nothing() {
    let open: OpenGpus<SortingGpu> = Box::new(|_| panic!("a GPU is opened"));
    let sorters = sorters(open, false, Listener::default());
    for _ in 0..3 {
        assert!(sorters.sort(b"banana", 2, false).is_ok());
    }
    assert!(!sorters.gpus.has_begun_opening());
}

#[test]
fn many_blocks_open_a_gpu_before_their_turn() {
    let (sorters, open_now) = opened_on_demand(SortingGpu::fake(on_cpu));
    sorters.expect(4 << 20, false);
    assert!(!sorters.gpus.has_begun_opening());
    (0..100).for_each(|_| sorters.expect(4 << 20, false));
    assert!(sorters.gpus.has_begun_opening());
    open_now.send(()).unwrap();
}

#[test]
fn a_large_input_opens_a_gpu_before_its_first_block() {
    let (sorters, open_now) = opened_on_demand(SortingGpu::fake(on_cpu));
    for small in [0, 8 << 20] {
        sorters.gpus.announce_and_open(small, 4 << 20);
        assert!(!sorters.gpus.has_begun_opening());
    }
    sorters.gpus.announce_and_open(400 << 20, 4 << 20);
    assert!(sorters.gpus.has_begun_opening());
    open_now.send(()).unwrap();
}

#[test]
fn large_blocks_wait_for_a_gpu_that_comes_up_and_small_ones_do_not() {
    // In a block of zeros, the shortest suffix is the first.
    const LEN: usize = 1 << 28;
    let (sorters, open_now) = opened_on_demand(SortingGpu::fake(|block, sample_rate| {
        let samples = (0..LEN)
            .step_by(sample_rate as usize)
            .map(|pos| (LEN - pos) as u64);
        let bwt = Bwt {
            bytes: block.to_vec(),
            sample_rate,
            samples: samples.collect(),
        };
        Ok(GpuSorted::of(Sorted::Bwt(bwt)))
    }));
    let large = vec![0; LEN];
    thread::scope(|scope| {
        let waiting = scope.spawn(|| sorters.sort(&large, 1 << 22, false).unwrap().1);
        while !sorters.gpus.has_begun_opening() {
            thread::yield_now();
        }
        let (_, steps) = sorters.sort(b"banana", 2, false).unwrap();
        assert!(matches!(steps[..], [(Step::Sort(Device::Cpu), ..)]));
        open_now.send(()).unwrap();
        assert!(
            waiting.join().unwrap().is_empty(),
            "it was not sorted on the CPU"
        );
    });
}

#[test]
fn small_blocks_wait_for_a_gpu_while_the_threads_have_other_work() {
    let (sorters, open_now) = opened_on_demand(SortingGpu::fake(on_cpu));
    (0..100).for_each(|_| sorters.expect(4 << 20, false));
    thread::scope(|scope| {
        let waiting = scope.spawn(|| sorters.sort(b"banana", 2, false).unwrap().1);
        thread::sleep(Duration::from_millis(100));
        assert!(!waiting.is_finished(), "the CPU has sorted it");
        open_now.send(()).unwrap();
        assert!(
            waiting.join().unwrap().is_empty(),
            "it was not sorted on the GPU"
        );
    });
}

#[test]
fn one_block_does_not_wait_for_a_gpu_that_is_being_opened() {
    let (sorters, open_now) = opened_on_demand(SortingGpu::fake(|_, _| panic!("it came up")));
    let (_, steps) = sorters
        .sort(&vec![b'a'; 16 << 20], 1 << 16, false)
        .unwrap();
    assert!(matches!(steps[..], [(Step::Sort(Device::Cpu), ..)]));
    open_now.send(()).unwrap();
}

/// Any launch on a real GPU may fail, in any block.
#[test]
fn a_gpu_that_fails_in_the_middle_of_a_block_loses_nothing() {
    use crate::gpu::{self, testing};
    if testing::gpu().is_none() {
        return;
    }
    let block = crate::cases::text(300_000);
    let expected = Sorted::Bwt(Sorter::Cpu.sort(&block, 1 << 15).unwrap());
    for launches in [0, 1, 2, 5, 19] {
        let (listener, warnings) = Listener::of_warnings();
        let mut sorter = gpu::GpuSorter::new(0).unwrap();
        sorter.fail_after(launches);
        let gpu = SortingGpu::fake(move |block, sample_rate| {
            let gpu::SortedBlock { bytes, samples } = sorter.sort(block, sample_rate)?;
            let samples = bwt::wide(samples);
            let sorted = Sorted::Bwt(Bwt {
                bytes,
                sample_rate,
                samples,
            });
            Ok(GpuSorted::of(sorted))
        });
        let sorters = chosen(listener, vec![gpu]);
        for _ in 0..20 {
            assert_eq!(sorters.sort(&block, 1 << 15, false).unwrap().0, expected);
        }
        assert_eq!(
            warnings.lock().unwrap().len(),
            1,
            "after {launches} launches"
        );
    }
}
