//! Blocks that are checked before they are written, and blocks that a GPU sorts wrongly.

use super::*;
use crate::bwt::Sorter;
use crate::cases;
use crate::engine::encode::sorting_gpu::{GpuSorted, SortingGpu};
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

/// Creates an encoder on one GPU.
fn encoder_on(gpu: SortingGpu, verify: bool, listener: Listener) -> BlockEncoder {
    let options = Options::new().verify(verify);
    let plan = Plan::new(1 << 20, options.allowance(), Coding::StaticRans, None).unwrap();
    let sorters = BlockSorter::of(vec![gpu], listener);
    let threads = Threads::Calling;
    let spare = Spare::default();
    let encoder = BlockEncoder::new(1 << 20, &plan, threads, spare, &options).unwrap();
    BlockEncoder { sorters, ..encoder }
}

/// Creates an encoder on a GPU that gives wrong transforms, whose bytes are the right ones.
fn wrong_encoder(verify: bool, listener: Listener) -> BlockEncoder {
    let wrong = SortingGpu::fake(|block, rate| {
        let mut bwt = Sorter::Cpu.sort(block, rate)?;
        bwt.bytes.rotate_left(1000);
        Ok(GpuSorted::of(Sorted::Bwt(bwt)))
    });
    encoder_on(wrong, verify, listener)
}

fn raw_block(text: &[u8]) -> RawBlock {
    let raw = Raw::Bytes(text.to_vec());
    RawBlock {
        raw,
        number: 7,
        offset: 0,
        alone: false,
        sequences: None,
    }
}

#[test]
fn a_wrong_transform_is_found_and_made_again_if_asked_for() {
    let text = cases::text(50_000);
    for verify in [false, true] {
        let (listener, warnings) = Listener::of_warnings();
        let encoder = wrong_encoder(verify, listener);
        let block = encoder.encode(raw_block(&text)).unwrap();
        assert_eq!(
            encoder.sorters.gpus.may_lease(),
            !verify,
            "a GPU that was wrong is used"
        );
        let plan = Options::new().plan_to_decode(1 << 20).unwrap();
        let restored = crate::engine::decode::restore(block, &plan);
        assert_eq!(restored.is_ok_and(|restored| restored == text), verify);
        let warning = "block 7 was sorted or coded wrongly; sorting on the CPU".to_owned();
        assert_eq!(
            *warnings.lock().unwrap(),
            if verify { vec![warning] } else { vec![] }
        );
    }
}

#[test]
fn a_block_that_the_cpu_codes_wrongly_too_is_an_error() {
    let encoder = wrong_encoder(true, Listener::default());
    let place = BlockPlace {
        number: 7,
        offset: 0,
        alone: false,
    };
    let mut block = encoder
        .filtered(cases::text(50_000), None, EarlierChoices::default(), place)
        .unwrap();
    block.checksum ^= 1;
    let sorted = Sorter::Cpu
        .sort(&block.filtered.text, 1 << 16)
        .unwrap();
    let end = encoder.coded(block, Sorted::Bwt(sorted));
    assert!(matches!(end, Err(Error::Device(what)) if what.contains("block 7")));
}

#[test]
fn sound_blocks_pass_the_check() {
    for block in [
        cases::text(70_000),
        cases::random(70_000, 3),
        vec![7; 70_000],
    ] {
        let mut file = Vec::new();
        let options = Options::new().verify(true);
        crate::compress(&block[..], &mut file, &options).unwrap();
        let mut plain = Vec::new();
        crate::compress(&block[..], &mut plain, &Options::new()).unwrap();
        assert!(file == plain);
    }
}

/// Sends a message when it is dropped.
struct SaysWhenDropped(Sender<()>);

impl Drop for SaysWhenDropped {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

/// The input may end before the blocks are sorted or after that. Of two equal runs, the second is
/// not sorted.
#[test]
fn gpus_are_let_go_of_once_all_blocks_are_sorted() {
    for closed_first in [false, true] {
        let (dropped, seen) = mpsc::channel();
        let held = SaysWhenDropped(dropped);
        let gpu = SortingGpu::fake(move |block, rate| {
            let _ = &held;
            let sorted = Sorted::Bwt(Sorter::Cpu.sort(block, rate)?);
            Ok(GpuSorted::of(sorted))
        });
        let encoder = encoder_on(gpu, false, Listener::default());
        let run = || RawBlock {
            raw: Raw::from(vec![7; 5000]),
            ..raw_block(&[])
        };
        let blocks = [run(), run(), raw_block(&cases::text(5000))];
        blocks
            .iter()
            .for_each(|block| encoder.announce(block));
        if closed_first {
            encoder.close();
        }
        assert!(seen.try_recv().is_err(), "blocks are to come");
        for block in blocks {
            encoder.work(block).unwrap();
        }
        if !closed_first {
            assert!(seen.try_recv().is_err(), "more blocks may come");
            encoder.close();
        }
        seen.recv_timeout(Duration::from_secs(60))
            .unwrap();
    }
}
