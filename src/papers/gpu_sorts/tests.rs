//! Compares the published sorts with libsais. Also tests what a failing GPU leaves behind.

use super::{ByLs, BySkew, BySkewPd};
use crate::cases;
use crate::gpu::gpu_sort::GpuSort;
use crate::gpu::sort_checks::{self, expected};
use crate::gpu::testing::gpu;
use crate::gpu::{GpuLcpSorter, GpuSorter, lcp_checks};

const SORTS: [(&str, &dyn GpuSort); 3] = [("ls", &ByLs), ("skew", &BySkew), ("skew-pd", &BySkewPd)];

fn sorters() -> Vec<(&'static str, GpuSorter)> {
    SORTS
        .into_iter()
        .map(|(name, sort)| (name, GpuSorter::with(0, sort).unwrap()))
        .collect()
}

#[test]
fn named_cases() {
    if gpu().is_some() {
        sort_checks::named_cases(&mut sorters());
    }
}

#[test]
fn borders() {
    if gpu().is_some() {
        sort_checks::borders(&mut sorters());
    }
}

#[test]
fn large_shapes() {
    if gpu().is_some() {
        sort_checks::large_shapes(&mut sorters());
    }
}

#[test]
fn every_kernel_once() {
    if gpu().is_some() {
        sort_checks::every_kernel_once(&mut sorters());
    }
}

#[test]
fn small_strings() {
    if gpu().is_some() {
        sort_checks::small_strings(&mut sorters());
    }
}

#[test]
fn a_failure_leaves_the_sorter_usable() {
    if gpu().is_some() {
        sort_checks::a_failure_leaves_the_sorter_usable(&mut sorters());
    }
}

/// Every sort leaves the arrays from which comparisons for the LCP array start.
#[test]
fn lcp_arrays_follow_every_sort() {
    if gpu().is_none() {
        return;
    }
    for (name, sort) in SORTS {
        let mut sorter = GpuLcpSorter::with(0, sort).unwrap();
        for (case, text) in cases::shapes(5000)
            .iter()
            .filter(|(_, text)| !text.is_empty())
        {
            lcp_checks::check(&mut sorter, &format!("{name}: {case}"), text, 1);
        }
    }
}

/// More large groups than fit into a key beside two ranks, so that `skew-pd` sorts them by one
/// rank.
#[test]
fn ranks_too_long_for_pairs() {
    if gpu().is_none() {
        return;
    }
    let word = cases::random(260_000, 4);
    let text: Vec<u8> = word
        .iter()
        .copied()
        .cycle()
        .take(200 * word.len())
        .collect();
    let mut sorter = GpuSorter::with(0, &BySkewPd).unwrap();
    assert!(sorter.suffix_array(&text).unwrap() == expected(&text));
}
