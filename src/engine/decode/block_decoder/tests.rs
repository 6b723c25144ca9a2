//! GPUs that fail or restore blocks wrongly, and slices for a search that a GPU decodes.

use super::*;
use crate::base::device::GpuSet;
use crate::bwt::{Bwt, Sorter};
use crate::cases;
use crate::engine::decode::inverting_gpu::InvertingGpu;
use crate::engine::decode::{
    DecodingGpu, SliceGpus, decode_as_gpu, decode_slices, decode_slices_on_gpus,
};
use crate::frame::FrameReader;
use std::sync::mpsc::{self, Sender};
use std::thread;

/// Returns the one block of a file.
fn block_of(raw: &[u8], options: &Options) -> CodedBlock {
    let mut file = Vec::new();
    crate::compress(raw, &mut file, options).unwrap();
    FrameReader::new(&file[..], options)
        .next_block(u64::MAX)
        .unwrap()
        .unwrap()
}

#[test]
fn a_block_that_a_gpu_restores_wrongly_is_restored_by_the_cpu() {
    let raw = cases::text(50_000);
    let options = Options::new();
    let block = block_of(&raw, &options);
    let mut damaged = block.clone();
    damaged.header.raw_checksum ^= 1;
    let (listener, warnings) = Listener::of_warnings();
    let wrong = InvertingGpu::fake(|job| {
        job.on_cpu()?.swap(3, 4000);
        Ok(vec![(
            Step::Invert(Device::Cuda(GpuSet::ALL)),
            Instant::now(),
            Instant::now(),
        )])
    });
    let mut decoder =
        BlockDecoder::new(1 << 20, Threads::Calling, Spare::default(), &options).unwrap();
    decoder.inverter = BlockInverter::of(vec![wrong], Threads::Calling, listener);
    assert!(decoder.decode(damaged).is_err());
    assert!(warnings.lock().unwrap().is_empty());
    let restored = decoder.decode(block).unwrap();
    let mut bytes = vec![0; raw.len()];
    restored.raw.read_at(0, &mut bytes);
    assert!(bytes == raw);
    assert_eq!(
        *warnings.lock().unwrap(),
        ["a GPU restored block 0 wrongly; restoring on the CPU"]
    );
}

/// The payload's checksum is right, so only the decoders can find the damage.
#[test]
fn slices_that_are_damaged_have_the_same_error_on_a_gpu() {
    let options = Options::new().index(16).unwrap();
    let plan = options.plan_to_decode(1 << 20).unwrap();
    let block = block_of(&cases::text(900_000), &options);
    let by_gpu = |block: CodedBlock| {
        let gpus = SliceGpus::of(
            vec![DecodingGpu::fake(decode_as_gpu)],
            300_000,
            Listener::default(),
        );
        gpus.expect(block.header.coded_size);
        let decoded = decode_slices_on_gpus(&gpus, block, &plan);
        decoded
            .map(Decoded::into_bwt)
            .map_err(|e| e.to_string())
    };
    assert_eq!(
        by_gpu(block.clone()),
        Ok(decode_slices(block.clone(), &plan)
            .unwrap()
            .into_bwt())
    );
    for from_end in [1, 1000, 100_000] {
        let mut damaged = block.clone();
        let at = damaged.payload.len() - from_end;
        damaged.payload[at] ^= 4;
        damaged.header.payload_checksum = crc32fast::hash(&damaged.payload);
        let error = decode_slices(damaged.clone(), &plan)
            .err()
            .unwrap()
            .to_string();
        assert_eq!(by_gpu(damaged), Err(error));
    }
}

fn pool() -> Threads {
    Threads::Pool(
        rayon::ThreadPoolBuilder::new()
            .num_threads(2)
            .build()
            .unwrap()
            .into(),
    )
}

/// The inverter's GPUs are open from the start and used for every block.
#[test]
fn failing_devices_cost_no_block_on_the_way_back() {
    let (listener, warnings) = Listener::of_warnings();
    let working = |mut blocks: u32| -> InvertingGpu {
        InvertingGpu::fake(move |job| {
            blocks = blocks
                .checked_sub(1)
                .ok_or(Error::Device("the GPU is on fire".into()))?;
            job.on_cpu().map(|_| Vec::new())
        })
    };
    let inverter = BlockInverter::of([0, 1, 3].map(working).into(), pool(), listener);
    assert!(inverter.gpus.has_gpus());
    let banana = Sorter::Cpu.sort(b"banana", 2).unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    assert_eq!(inverter.invert(banana.clone()).unwrap().0, b"banana");
                }
            });
        }
    });
    assert!(
        !inverter.gpus.has_gpus(),
        "blocks are kept for GPUs that are lost"
    );
    assert_eq!(
        *warnings.lock().unwrap(),
        ["the GPU is on fire; restoring on the CPU"]
    );
}

/// A transform that a device cannot invert need not be a fault of the device, but it may be one.
#[test]
fn the_cpu_decides_on_what_a_device_refuses() {
    let (listener, warnings) = Listener::of_warnings();
    let refusing = InvertingGpu::fake(|_| Err(crate::base::error::Flaw("no text").into()));
    let inverter = BlockInverter::of(vec![refusing], pool(), listener);
    let banana = Sorter::Cpu.sort(b"banana", 2).unwrap();
    for _ in 0..2 {
        assert_eq!(inverter.invert(banana.clone()).unwrap().0, b"banana");
        let wrong = Bwt {
            samples: vec![4, 6, 4],
            ..banana.clone()
        };
        let expected = crate::bwt::invert(wrong.clone()).unwrap_err();
        let end = inverter.invert(wrong).unwrap_err();
        assert_eq!(end.to_string(), expected.to_string());
    }
    assert!(warnings.lock().unwrap().is_empty());
}

/// Any launch on a real GPU may fail, in any block.
#[test]
fn a_gpu_that_fails_on_the_way_back_loses_nothing() {
    use crate::gpu::{self, testing};
    if testing::gpu().is_none() {
        return;
    }
    let block = crate::cases::text(300_000);
    let bwt = Sorter::Cpu.sort(&block, 1 << 15).unwrap();
    for launches in [0, 1, 5, 19, 40] {
        let (listener, warnings) = Listener::of_warnings();
        let mut inverse = gpu::GpuInverse::new(0).unwrap();
        inverse.fail_after(launches);
        let gpu = InvertingGpu::fake(move |job| {
            let InvertJob::Bwt(bwt) = job else {
                panic!("it is not coded")
            };
            inverse
                .input(bwt.bytes.len())?
                .copy_from_slice(&bwt.bytes);
            bwt.bytes
                .copy_from_slice(inverse.invert_input(bwt.sample_rate, &bwt.samples)?);
            Ok(Vec::new())
        });
        let inverter = BlockInverter::of(vec![gpu], pool(), listener);
        for _ in 0..20 {
            assert!(inverter.invert(bwt.clone()).unwrap().0 == block);
        }
        assert_eq!(
            warnings.lock().unwrap().len(),
            1,
            "after {launches} launches"
        );
    }
}

/// Sends a message when it is dropped.
struct SaysWhenDropped(Sender<()>);

impl Drop for SaysWhenDropped {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

/// The input may end before the blocks are restored or after that. Of two equal runs, the second is
/// not decoded.
#[test]
fn gpus_are_let_go_of_once_all_blocks_are_restored() {
    let options = Options::new();
    let run = block_of(&[7; 50_000], &options);
    let text = block_of(&cases::text(50_000), &options);
    for closed_first in [false, true] {
        let (dropped, seen) = mpsc::channel();
        let held = SaysWhenDropped(dropped);
        let gpu = InvertingGpu::fake(move |job| {
            let _ = &held;
            job.on_cpu().map(|_| Vec::new())
        });
        let mut decoder =
            BlockDecoder::new(1 << 20, Threads::Calling, Spare::default(), &options).unwrap();
        decoder.inverter = BlockInverter::of(vec![gpu], Threads::Calling, Listener::default());
        let blocks = [run.clone(), run.clone(), text.clone()];
        blocks
            .iter()
            .for_each(|block| decoder.announce(block));
        if closed_first {
            decoder.close();
        }
        assert!(seen.try_recv().is_err(), "blocks are to come");
        for block in blocks {
            decoder.work(block).unwrap();
        }
        if !closed_first {
            assert!(seen.try_recv().is_err(), "more blocks may come");
            decoder.close();
        }
        seen.recv_timeout(Duration::from_secs(60))
            .unwrap();
    }
}
