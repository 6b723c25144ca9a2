//! Each transform alone: what it encodes it decodes, and what it did not encode it survives.
#![no_main]

use bwz::bwt::{Bwt, Sorter, unsort};
use bwz::coder;
use libfuzzer_sys::{arbitrary, fuzz_target};

#[derive(arbitrary::Arbitrary, Debug)]
enum Input<'a> {
    Sort { rate_log: u8, block: &'a [u8] },
    Unsort { rate_log: u8, samples: Vec<u32>, bytes: &'a [u8] },
    Encode { repeats: u8, segment: &'a [u8] },
    Decode { size: u16, coded: &'a [u8] },
}

fuzz_target!(|input: Input| match input {
    Input::Sort { rate_log, block } if !block.is_empty() => {
        let rate = 8 << (rate_log % 20);
        let bwt = Sorter::new(bwz::Device::Cpu).unwrap().sort(block, rate).unwrap();
        assert!(unsort(&bwt).unwrap() == block);
    }
    Input::Sort { .. } => {}
    Input::Unsort { rate_log, samples, bytes } => {
        let bwt = Bwt { bytes: bytes.to_vec(), sample_rate: 8 << (rate_log % 20), samples };
        if let Ok(text) = unsort(&bwt) {
            assert_eq!(text.len(), bytes.len());
        }
    }
    Input::Encode { repeats, segment } => {
        let segment = segment.repeat(usize::from(repeats) + 1);
        if !segment.is_empty() {
            let (mut coded, mut decoded) = (Vec::new(), vec![0; segment.len()]);
            coder::encode(&segment, &mut coded);
            coder::decode(&coded, &mut decoded).unwrap();
            assert!(decoded == segment);
        }
    }
    Input::Decode { size, coded } => {
        let _ = coder::decode(coded, &mut vec![0; usize::from(size) + 1]);
    }
});
