//! A GPU that restores blocks wrongly.

use super::*;
use crate::cases;
use crate::device::GpuSet;
use crate::events::Event;
use crate::frame::FrameReader;
use crate::sorters::GpuInvert;
use std::sync::Arc;

#[test]
fn a_block_that_a_gpu_restores_wrongly_is_restored_by_the_cpu() {
    let (raw, options) = (cases::text(50_000), Options::new());
    let mut file = Vec::new();
    crate::compress(&raw[..], &mut file, &options).unwrap();
    let block = FrameReader::new(&file[..], &options).next_block(u64::MAX).unwrap().unwrap();
    let mut damaged = block.clone();
    damaged.header.raw_checksum ^= 1;
    let warnings = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&warnings);
    let listener = Listener::new(move |event| {
        if let Event::Warning(what) = event {
            received.lock().unwrap().push(what);
        }
    });
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
