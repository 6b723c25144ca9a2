//! Compares sorts by several processors with libsais. The processors share the GPUs of this
//! machine. Also tests what the failure of one leaves behind.

use super::*;
use crate::cases;
use crate::gpu::joint_checks::{
    PROCESSORS, expected, for_named_cases, for_shapes, processors, small_string, small_strings,
    transform,
};
use crate::gpu::testing::{gpu, one_network, say, skip};

/// Sorters of all counts and methods.
fn sorters() -> Vec<JointSorter> {
    let all = |count| [processors(count), processors(count).by_doubling()];
    PROCESSORS.into_iter().flat_map(all).collect()
}

fn check(sorters: &mut [JointSorter], name: &str, text: &[u8]) {
    let sa = expected(text);
    for sorter in sorters {
        let count = sorter.gpus.len();
        let way = sorter.way;
        let n = text.len();
        let what = format!("{name}, {n} bytes, {count} processors, {way:?}");
        assert!(sorter.suffix_array(text).unwrap() == sa, "{what}");
        for rate in [1, 64] {
            let sorted = sorter.sort(text, rate as u32).unwrap();
            assert!(sorted == transform(text, &sa, rate), "transform of {what}");
        }
    }
}

/// NCCL on as many GPUs as there are, up to four: no GPU can join twice. There are few texts, since
/// each sort makes a network.
#[test]
fn a_network_of_nccl_gives_the_same() {
    if gpu().is_none() {
        return;
    }
    let _network = one_network();
    if let Err(e) = NcclId::new() {
        return skip("no NCCL", e);
    }
    let gpus = crate::gpu::devices().unwrap().len().min(4) as u32;
    let mut sorters: Vec<_> = [1, 2, 4]
        .into_iter()
        .filter(|&count| count <= gpus)
        .map(|count| {
            JointSorter::new(&(0..count).collect::<Vec<_>>())
                .unwrap()
                .by_nccl()
        })
        .collect();
    for text in [
        b"banana".to_vec(),
        cases::text(400_000),
        cases::fibonacci(400_000),
    ] {
        for sorter in &mut sorters {
            let sorted = sorter.sort(&text, 64).unwrap();
            assert!(
                sorted == transform(&text, &expected(&text), 64),
                "{} bytes",
                text.len()
            );
        }
    }
    say(format_args!("sorted by way of NCCL on up to {gpus} GPUs"));
}

/// Texts small enough for compute-sanitizer.
#[test]
fn every_kernel_of_several_gpus_once() {
    if gpu().is_none() {
        return;
    }
    let mut sorters = sorters();
    for (name, text) in [
        ("text", cases::text(3000)),
        ("Fibonacci", cases::fibonacci(3000)),
        ("all equal", vec![7; 2000]),
        ("banana", b"banana".to_vec()),
    ] {
        check(&mut sorters, name, &text);
    }
    // The case in which no GPU can read the memory of another.
    let mut unread = processors(3).by_doubling();
    unread.all_read = false;
    check(&mut [unread], "unread text", &cases::text(3000));
}

#[test]
fn named_cases_on_several_processors() {
    if gpu().is_none() {
        return;
    }
    let mut sorters = sorters();
    let mut count = 0;
    for_named_cases(|name, text| {
        check(&mut sorters, name, text);
        count += 3 * sorters.len();
    });
    say(format_args!("{count} sorts by several processors"));
}

#[test]
fn shapes_on_several_processors() {
    if gpu().is_none() {
        return;
    }
    let mut sorters = sorters();
    for_shapes(|name, text| check(&mut sorters, name, text));
}

/// `BWZ_SMALL_STRINGS` strings for each number of processors.
#[test]
fn small_strings_on_several_processors() {
    if gpu().is_none() {
        return;
    }
    let mut sorters = sorters();
    for seed in 0..small_strings() {
        let text = small_string(seed);
        let sa = expected(&text);
        for sorter in &mut sorters {
            let count = sorter.gpus.len();
            let sorted = sorter.suffix_array(&text).unwrap();
            assert_eq!(sorted, sa, "{text:?} on {count}, {:?}", sorter.way);
            let sorted = sorter.sort(&text, 2).unwrap();
            assert_eq!(sorted, transform(&text, &sa, 2), "{text:?} on {count}");
        }
    }
}

/// If any launch of any processor fails, the others end too, and the cause is reported.
#[test]
fn the_failure_of_one_processor_ends_the_sort() {
    if gpu().is_none() {
        return;
    }
    let text = cases::fibonacci(100_000);
    let ranges = [0, 1, 3].map(|launches| (launches, JointWay::Ranges));
    let other = [0, 1, 3, 10, 40, 100];
    let doubling = other.map(|launches| (launches, JointWay::Doubling));
    for (launches, way) in ranges.into_iter().chain(doubling) {
        for failing in 0..3 {
            let mut sorter = processors(3);
            sorter.way = if sorter.way == JointWay::Ranges {
                way
            } else {
                sorter.way
            };
            sorter.fail_after(failing, launches);
            let end = sorter.sort(&text, 64);
            let Err(Error::Device(what)) = end else {
                panic!("after {launches}: no failure")
            };
            assert!(what.contains("simulated by a test"), "{what}");
        }
    }
    say("the failure of one processor ends the others");
}

/// Long repeats in all ranges: each GPU also ranks the unresolved minimizers of the others.
#[test]
fn repeats_are_ranked_by_all() {
    if gpu().is_none() {
        return;
    }
    let block = cases::text(150_000);
    let text = [&block[..], &block[1..], &block[..100_000]].concat();
    check(&mut sorters(), "repeats", &text);
}

#[test]
fn what_cannot_be_sorted_together_is_refused() {
    assert!(matches!(JointSorter::new(&[]), Err(Error::Usage(_))));
    assert!(matches!(JointSorter::new(&[0; 65]), Err(Error::Usage(_))));
    assert!(matches!(JointSorter::new(&[99]), Err(Error::Device(_))));
    if gpu().is_none() {
        return;
    }
    let mut sorter = JointSorter::new(&[0, 0]).unwrap();
    assert!(matches!(sorter.sort(b"", 2), Err(Error::Usage(_))));
    assert!(matches!(sorter.sort(b"banana", 3), Err(Error::Usage(_))));
}
