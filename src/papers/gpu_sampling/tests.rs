//! Compares `bsp` on several processors with libsais. The processors share the GPUs of this
//! machine. Also tests what the failure of one leaves behind.

use super::BySampling;
use crate::base::error::Error;
use crate::cases;
use crate::gpu::JointSorter;
use crate::gpu::joint_checks::{
    PROCESSORS, expected, for_named_cases, for_shapes, processors, small_string, small_strings,
    transform,
};
use crate::gpu::testing::{gpu, say};

fn sorters() -> Vec<(usize, JointSorter)> {
    PROCESSORS
        .into_iter()
        .map(|count| (count, processors(count)))
        .collect()
}

fn check(sorters: &mut [(usize, JointSorter)], name: &str, text: &[u8]) {
    let sa = expected(text);
    for (count, sorter) in sorters {
        let what = format!("{name}, {} bytes, {count} processors", text.len());
        assert!(
            sorter.suffix_array_by(&BySampling, text).unwrap() == sa,
            "{what}"
        );
        for rate in [1, 64] {
            let sorted = sorter
                .sort_by(&BySampling, text, rate as u32)
                .unwrap();
            assert!(sorted == transform(text, &sa, rate), "transform of {what}");
        }
    }
}

/// Texts small enough for compute-sanitizer.
#[test]
fn every_kernel_of_bsp_once() {
    if gpu().is_none() {
        return;
    }
    let mut sorters = sorters();
    check(&mut sorters, "text", &cases::text(3000));
    check(&mut sorters, "Fibonacci", &cases::fibonacci(3000));
    check(&mut sorters, "all equal", &[7; 2000]);
    check(&mut sorters, "banana", b"banana");
}

#[test]
fn named_cases_by_bsp() {
    if gpu().is_none() {
        return;
    }
    let mut sorters = sorters();
    let mut count = 0;
    for_named_cases(|name, text| {
        check(&mut sorters, name, text);
        count += 3 * sorters.len();
    });
    say(format_args!("{count} sorts by bsp"));
}

#[test]
fn shapes_by_bsp() {
    if gpu().is_none() {
        return;
    }
    let mut sorters = sorters();
    for_shapes(|name, text| check(&mut sorters, name, text));
}

/// `BWZ_SMALL_STRINGS` strings for each number of processors.
#[test]
fn small_strings_by_bsp() {
    if gpu().is_none() {
        return;
    }
    let mut sorters = sorters();
    for seed in 0..small_strings() {
        check(&mut sorters, "a small string", &small_string(seed));
    }
}

/// If any launch of any processor fails, the others end too, and the cause is reported.
#[test]
fn the_failure_of_one_processor_ends_bsp() {
    if gpu().is_none() {
        return;
    }
    let text = cases::fibonacci(100_000);
    for launches in [0, 1, 3, 10, 40, 100] {
        for failing in 0..3 {
            let mut sorter = processors(3);
            sorter.fail_after(failing, launches);
            let end = sorter.sort_by(&BySampling, &text, 64);
            let Err(Error::Device(what)) = end else {
                panic!("after {launches}: no failure")
            };
            assert!(what.contains("simulated by a test"), "{what}");
        }
    }
}
