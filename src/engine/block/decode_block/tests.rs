//! A GPU that restores blocks wrongly, and slices for a search that a GPU decodes.

use super::*;
use crate::base::device::GpuSet;
use crate::cases;
use crate::engine::sorters::{GpuInvert, SliceGpus, decode_as_gpu};
use crate::frame::FrameReader;

/// Returns the one block of a file.
fn block_of(raw: &[u8], options: &Options) -> CodedBlock {
    let mut file = Vec::new();
    crate::compress(raw, &mut file, options).unwrap();
    FrameReader::new(&file[..], options).next_block(u64::MAX).unwrap().unwrap()
}

#[test]
fn a_block_that_a_gpu_restores_wrongly_is_restored_by_the_cpu() {
    let raw = cases::text(50_000);
    let options = Options::new();
    let block = block_of(&raw, &options);
    let mut damaged = block.clone();
    damaged.header.raw_checksum ^= 1;
    let (listener, warnings) = Listener::of_warnings();
    let wrong: GpuInvert = Box::new(|job| {
        job.on_cpu()?.swap(3, 4000);
        Ok(vec![(Step::Invert(Device::Cuda(GpuSet::ALL)), Instant::now(), Instant::now())])
    });
    let (plan, mut decoder) =
        BlockDecoder::new(1 << 20, Threads::Calling, Spare::default(), &options).unwrap();
    decoder.plan = plan;
    decoder.inverses = BlockInverter::of(vec![wrong], listener);
    assert!(decoder.restore(damaged).is_err());
    assert!(warnings.lock().unwrap().is_empty());
    let restored = decoder.restore(block).unwrap();
    let mut bytes = vec![0; raw.len()];
    restored.read_at(0, &mut bytes);
    assert!(bytes == raw);
    assert_eq!(*warnings.lock().unwrap(), ["a GPU restored block 0 wrongly; restoring on the CPU"]);
}

/// The payload's checksum is right, so only the decoders can find the damage.
#[test]
fn slices_that_are_damaged_have_the_same_error_on_a_gpu() {
    let options = Options::new().index(16).unwrap();
    let plan = options.plan_to_decode(1 << 20).unwrap();
    let block = block_of(&cases::text(900_000), &options);
    let decode_on = |block: CodedBlock| {
        let gpus = SliceGpus::of(vec![Box::new(decode_as_gpu)], 300_000, Listener::default());
        gpus.expect(block.header.coded_size);
        let decoded = crate::engine::block::decode_on(&gpus, block, &plan);
        decoded.map(Decoded::into_bwt).map_err(|e| e.to_string())
    };
    assert_eq!(decode_on(block.clone()), Ok(decode(block.clone(), &plan).unwrap().into_bwt()));
    for from_end in [1, 1000, 100_000] {
        let mut damaged = block.clone();
        let at = damaged.payload.len() - from_end;
        damaged.payload[at] ^= 4;
        damaged.header.payload_checksum = crc32fast::hash(&damaged.payload);
        let error = decode(damaged.clone(), &plan).err().unwrap().to_string();
        assert_eq!(decode_on(damaged), Err(error));
    }
}
