//! Helpers that tests on a GPU share: the GPU itself, arrays made from slices, and segments of
//! hostile shapes.

pub(crate) use super::test_data::{lacks_memory, most_memory, one_network, random, say};
use crate::gpu::runtime::{Arena, ArenaAllocator, Array, Gpu};
use std::env;
use std::fmt::Display;

/// The first GPU. If there is none it prints a note and returns `None`, or panics if
/// `BWZ_REQUIRE_GPU=1`.
pub(crate) fn gpu() -> Option<Gpu> {
    match Gpu::open(0) {
        Ok(gpu) => Some(gpu),
        Err(e) => {
            skip("no CUDA device", e);
            None
        }
    }
}

/// Prints that a test cannot run here, or panics if `BWZ_REQUIRE_GPU=1`.
pub(crate) fn skip(what: &str, why: impl Display) {
    let required = env::var("BWZ_REQUIRE_GPU").is_ok_and(|v| v == "1");
    assert!(!required, "BWZ_REQUIRE_GPU is set, but: {what}: {why}");
    say(format_args!("skipped: {what}"));
}

/// Memory for a test.
pub(crate) fn memory(gpu: &Gpu, bytes: usize) -> Arena {
    Arena::new(gpu, bytes).unwrap()
}

/// An array with the given items.
pub(crate) fn upload<'m, T>(gpu: &Gpu, arena: &mut ArenaAllocator<'m>, items: &[T]) -> Array<'m, T>
where
    T: cudarc::driver::ValidAsZeroBits,
{
    let array = arena.array(items.len());
    gpu.write(items, array).unwrap();
    array
}

/// Lengths of segments: one item, all of one length, huge ones, mixtures, and lengths around the
/// borders of tiles and bins.
pub(crate) fn shapes() -> Vec<(&'static str, Vec<u32>)> {
    let sizes = |len, below, seed| -> Vec<u32> {
        random(len, below, seed)
            .into_iter()
            .map(|n| n as u32 + 1)
            .collect()
    };
    let mut borders = Vec::new();
    for border in [2, 4, 8, 16, 32, 64, 256, 2048, 4096, 8192, 16384] {
        borders.extend([border - 1, border, border + 1]);
    }
    let mixed = [
        sizes(3000, 40, 5),
        vec![70_000],
        sizes(500, 300, 6),
        vec![1, 9_000, 1],
    ]
    .concat();
    vec![
        ("one item", vec![1]),
        ("one segment of two", vec![2]),
        ("one tile", vec![2048]),
        ("a tile and one item", vec![2049]),
        ("one huge segment", vec![300_001]),
        ("all single", vec![1; 10_000]),
        ("all pairs", vec![2; 10_001]),
        ("all of 3", vec![3; 5_000]),
        ("all of 33", vec![33; 1_000]),
        ("tiles each their own", vec![2048; 9]),
        ("tiles shifted by one", [vec![1], vec![2048; 9]].concat()),
        ("two halves", vec![65_536, 65_536]),
        ("two uneven halves", vec![100_000, 31_000]),
        ("borders up", borders.clone()),
        ("borders down", borders.into_iter().rev().collect()),
        ("small", sizes(20_000, 8, 1)),
        ("medium", sizes(2_000, 500, 2)),
        ("large", sizes(60, 20_000, 3)),
        ("mixed", mixed),
        (
            "radix and others",
            vec![7, 1_048_577, 5, 1_048_576, 3000, 1],
        ),
    ]
}

/// Starts of segments with the given lengths, and the end.
pub(crate) fn starts(lengths: &[u32]) -> Vec<u32> {
    let mut starts = vec![0];
    for len in lengths {
        starts.push(starts[starts.len() - 1] + len);
    }
    starts
}
