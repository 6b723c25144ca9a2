//! Portions on GPUs that fail in every possible way; in most tests the CPU stands in for the GPU.

use super::*;
use crate::base::error::Error;
use crate::cases;
use crate::coder::SliceLimits;
use crate::gpu::testing;

const LIMITS: SliceLimits = SliceLimits {
    runs: 300,
    bytes: 5000,
};
const PORTION: usize = 9000;

fn coded() -> (Vec<u8>, CodedBwt) {
    let bwt = [
        cases::random(50_000, 4),
        vec![7; 60_000],
        cases::text(200_000),
    ]
    .concat();
    let coded = coder::encode_slices(&bwt, LIMITS, Coding::StaticRans);
    (bwt, coded)
}

/// Creates a GPU, for which the CPU stands in, that decodes `portions` portions and then fails.
fn working(mut portions: u32) -> DecodingGpu {
    DecodingGpu::fake(move |coded, out| {
        assert!(out.len() <= PORTION && !coded.slices.is_empty());
        portions = portions
            .checked_sub(1)
            .ok_or(Error::Device("the GPU is on fire".into()))?;
        decode_as_gpu(coded, out)
    })
}

/// Decodes on such GPUs. Returns the slices or their flaw, and the warnings.
fn decoded(coded: &CodedBwt, gpus: Vec<DecodingGpu>) -> (Result<Vec<u8>, Flaw>, Vec<String>) {
    let (listener, warnings) = Listener::of_warnings();
    let gpus = SliceGpus::of(gpus, PORTION, listener);
    let len = coded
        .raw_sizes
        .iter()
        .map(|&size| size as usize)
        .sum();
    gpus.expect(len as u64);
    let decoder = SliceDecoder::new(Coding::StaticRans, &coded.models).unwrap();
    let slices: Vec<&[u8]> = coded.slices.iter().map(Vec::as_slice).collect();
    let mut bwt = vec![0; len];
    let done = gpus.decode(&decoder, &coded.models, &coded.raw_sizes, &slices, &mut bwt);
    let warnings = warnings.lock().unwrap().clone();
    (done.map(|()| bwt), warnings)
}

#[test]
fn portions_are_whole_slices_and_no_larger_than_they_may_be() {
    let (mut bwt, coded) = coded();
    let gpus = SliceGpus::of(Vec::new(), PORTION, Listener::default());
    let slices: Vec<&[u8]> = coded.slices.iter().map(Vec::as_slice).collect();
    let len = bwt.len();
    let portions = gpus.portions(&coded.models, &coded.raw_sizes, &slices, &mut bwt);
    assert!(portions.len() > len / PORTION);
    let of = |portion: &Portion| {
        portion
            .coded
            .raw_sizes
            .iter()
            .map(|&size| size as usize)
            .sum::<usize>()
    };
    assert!(
        portions
            .iter()
            .all(|portion| portion.out.len() == of(portion))
    );
    assert!(portions.windows(2).all(|two| {
        let len = two[0].out.len();
        len <= PORTION && len + two[1].coded.raw_sizes[0] as usize > PORTION
    }));
    let all = portions
        .into_iter()
        .flat_map(|portion| portion.coded.slices);
    assert!(all.eq(slices.iter().copied()));
}

#[test]
fn failing_gpus_cost_no_portion() {
    let (bwt, coded) = coded();
    for portions in [vec![], vec![1000], vec![1000; 4]] {
        let gpus = portions.into_iter().map(working).collect();
        assert!(decoded(&coded, gpus) == (Ok(bwt.clone()), vec![]));
    }
    for portions in [vec![0], vec![0, 1, 5], vec![2; 4]] {
        let gpus = portions.into_iter().map(working).collect();
        let warning = "the GPU is on fire; searching on the CPU".to_owned();
        assert!(decoded(&coded, gpus) == (Ok(bwt.clone()), vec![warning]));
    }
    // The second may do all portions before the first fails.
    let (found, warnings) = decoded(&coded, vec![working(3), working(1000)]);
    assert!(found == Ok(bwt) && warnings.len() < 2);
}

#[test]
fn the_cpu_decides_on_what_a_gpu_refuses() {
    let (bwt, mut coded) = coded();
    let refusing = || -> Vec<DecodingGpu> {
        vec![
            DecodingGpu::fake(|_, _| Ok(false)),
            DecodingGpu::fake(|_, _| Err(Flaw("no slices").into())),
        ]
    };
    assert!(decoded(&coded, refusing()) == (Ok(bwt), vec![]));
    let middle = coded.slices.len() / 2;
    coded.slices[middle].pop();
    let none = decoded(&coded, vec![]);
    assert!(none.0.is_err());
    assert!(decoded(&coded, refusing()) == none && decoded(&coded, vec![working(1000)]) == none);
    // A slice larger than a portion, and sizes that do not fit.
    let whole = SliceLimits {
        runs: usize::MAX,
        bytes: usize::MAX,
    };
    let large = coder::encode_slices(&cases::text(50_000), whole, Coding::StaticRans);
    assert!(decoded(&large, vec![working(0)]) == (Ok(cases::text(50_000)), vec![]));
    coded.raw_sizes.pop();
    assert!(decoded(&coded, vec![working(1000)]).0.is_err());
}

#[test]
fn a_gpu_gives_what_the_cpu_gives() {
    if testing::gpu().is_none() {
        return;
    }
    let (bwt, coded) = coded();
    let gpus = || {
        (0..3)
            .map(|_| DecodingGpu::open(0).unwrap())
            .collect()
    };
    assert!(decoded(&coded, gpus()) == (Ok(bwt), vec![]));
    for k in (0..coded.slices.len()).step_by(7) {
        let mut damaged = coded.clone();
        damaged.slices[k].pop();
        let flaw = decoded(&damaged, vec![]).0.unwrap_err();
        assert!(
            decoded(&damaged, gpus()) == (Err(flaw), vec![]),
            "slice {k}"
        );
    }
}

/// Any launch on a real GPU may fail, in any portion.
#[test]
fn a_gpu_that_fails_in_the_middle_of_a_block_loses_nothing() {
    if testing::gpu().is_none() {
        return;
    }
    let (bwt, coded) = coded();
    for launches in [0, 1, 2, 5, 9] {
        let decoder = gpu::BwtDecoder::new(0).unwrap();
        decoder.fail_after(launches);
        let failing = DecodingGpu::Cuda(Box::new(decoder));
        let (found, warnings) = decoded(&coded, vec![failing]);
        assert!(found.is_ok_and(|found| found == bwt));
        assert_eq!(warnings.len(), 1, "after {launches} launches");
    }
}
