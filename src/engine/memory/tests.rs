//! Plans under limits of all kinds.

use super::*;
use crate::base::error::Error;

const MIB: u64 = 1 << 20;

fn allowed(threads: usize, memory: u64) -> Allowance {
    Allowance::new(threads, memory, None, 0)
}

#[test]
fn a_tight_limit_means_fewer_blocks_and_then_an_error() {
    // Blocks of 16 MiB and 4 threads: a worker takes 96 + 2 MiB, all others 144, another coder 96,
    // the rest 16.
    let narrow = NarrowLimits::USUAL;
    let planned = |workers, coders, depth| (workers, coders, depth, narrow);
    let new = |limit| Plan::new(16 << 20, allowed(4, limit), Coding::StaticRans, None);
    let of = |plan: Plan| (plan.workers, plan.coders, plan.depth, plan.narrow);
    let plan = |mib: u64| new((mib * MIB).div_ceil(15) * 16).map(of);
    assert_eq!(plan(16 + 144 + 96 + 4 * 98).unwrap(), planned(4, 2, 7));
    assert_eq!(plan(16 + 144 + 4 * 98).unwrap(), planned(4, 1, 6));
    assert_eq!(plan(16 + 144 + 2 * 98).unwrap(), planned(2, 1, 4));
    assert_eq!(plan(16 + 98 + 16).unwrap(), planned(1, 1, 1));
    let beside_gpu = |mib: u64| {
        let allowed = allowed(4, (mib * MIB).div_ceil(15) * 16).beside(2);
        of(Plan::new(16 << 20, allowed, Coding::StaticRans, None).unwrap())
    };
    assert_eq!(beside_gpu(16 + 144 + 96 + 9 * 98), planned(6, 2, 9));
    assert_eq!(beside_gpu(16 + 144 + 96 + 5 * 98), planned(5, 2, 8));
    let Err(Error::Limit {
        needed,
        allowed: limit,
        ..
    }) = plan(16 + 98 + 15)
    else {
        panic!()
    };
    assert!(needed > limit && new(needed).is_ok());
    assert!(new(needed - 32).is_err());
}

#[test]
fn samples_of_an_index_take_their_part() {
    let needed = |index| {
        let plan = Plan::new(16 << 20, allowed(1, 0), Coding::StaticRans, index);
        let Err(Error::Limit { needed, .. }) = plan else {
            panic!()
        };
        needed / 16 * 15
    };
    assert_eq!(needed(Some(0)), needed(None));
    // 2 Mi samples of 12 bytes.
    assert_eq!(needed(Some(8)).abs_diff(needed(None) + 24 * MIB) / 16, 0);
}

#[test]
fn a_decoder_without_room_for_the_largest_models_says_how_much_they_need() {
    let plan = |mib: u64| Plan::to_decode(1 << 20, allowed(2, mib << 20));
    assert_eq!(plan(40).unwrap().shortage, None);
    let tight = plan(26).unwrap();
    assert_eq!(tight.workers, 1);
    let needed = tight.shortage.unwrap().needed;
    assert_eq!(
        Plan::to_decode(1 << 20, allowed(2, needed))
            .unwrap()
            .shortage,
        None
    );
    assert!(
        Plan::to_decode(1 << 20, allowed(2, needed - 32))
            .unwrap()
            .shortage
            .is_some()
    );
    assert!(plan(20).is_err());
}

#[test]
fn short_blocks_are_coded_side_by_side() {
    let coders = |block, threads| {
        Plan::new(block, allowed(threads, 8 << 30), Coding::StaticRans, None)
            .unwrap()
            .coders
    };
    assert_eq!(
        [coders(1, 16), coders(1 << 20, 16), coders(4 << 20, 2)],
        [16, 16, 2]
    );
    assert_eq!(
        [
            coders(32 << 20, 2),
            coders(32 << 20, 16),
            coders(256 << 20, 4)
        ],
        [1, 3, 1]
    );
}

#[test]
fn short_blocks_are_read_together_for_many_threads() {
    let ahead = |block, threads, memory| {
        Plan::new(block, allowed(threads, memory), Coding::StaticRans, None)
            .unwrap()
            .ahead
    };
    assert_eq!(
        [1, 15, 16, 64, 512].map(|n| ahead(32 << 20, n, 1 << 40)),
        [0, 0, 1, 3, 3]
    );
    assert_eq!(
        [ahead(128 << 20, 64, 1 << 40), ahead(1 << 10, 64, 1 << 40)],
        [0, 4]
    );
    assert_eq!(ahead(32 << 20, 64, 4 << 30), 0);
    // If that leaves no memory for it, there are as many coders as without it.
    let plan = |memory| Plan::new(1 << 20, allowed(16, memory), Coding::StaticRans, None).unwrap();
    let tight = (100..1000)
        .map(|mib| plan(mib * MIB))
        .find(|plan| plan.coders == 16)
        .unwrap();
    assert_eq!((tight.workers, tight.ahead), (16, 0));
}

#[test]
fn the_largest_block_is_one_that_just_fits() {
    for limit in [10 * MIB, 17 * MIB, 40 * MIB, 700 * MIB] {
        for threads in [1, 2, 16] {
            for coding in [Coding::StaticRans, Coding::ContextMixing] {
                for index in [None, Some(0), Some(8), Some(64)] {
                    let allowed = allowed(threads, limit);
                    let largest = Plan::largest_block(allowed, coding, index);
                    let fits = |size| Plan::new(size, allowed, coding, index).is_ok();
                    assert!(
                        (largest == 0 || fits(largest)) && !fits(largest + 1),
                        "{limit}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_small_memory_means_fewer_threads() {
    let threads = |threads, memory| {
        allowed(threads, memory)
            .with_threads_for_memory()
            .threads
    };
    assert_eq!(
        [0, 31 * MIB, 40 * MIB, 64 * MIB].map(|memory| threads(64, memory)),
        [1, 1, 2, 4]
    );
    assert_eq!(
        [
            threads(64, 4 << 30),
            threads(2, 4 << 30),
            threads(2, 16 * MIB)
        ],
        [64, 2, 1]
    );
    // Blocks of the first level are compressed with all efforts.
    for coding in [Coding::StaticRans, Coding::ContextMixing] {
        let allowed = allowed(1024, 40 * MIB).with_threads_for_memory();
        assert!(Plan::new(1 << 20, allowed, coding, None).is_ok());
    }
    let Err(Error::Limit { needed, .. }) = Plan::new(
        32 << 20,
        allowed(1024, 40 * MIB).with_threads_for_memory(),
        Coding::StaticRans,
        None,
    ) else {
        panic!("a block of 32 MiB in 40 MiB")
    };
    let allowed = allowed(1024, needed).with_threads_for_memory();
    assert!(Plan::new(32 << 20, allowed, Coding::StaticRans, None).is_ok());
}

fn space(mib: u64) -> Option<Space> {
    Some(Space {
        by: Bound::AddressSpace,
        limit: mib * MIB,
        used: 14 * MIB,
    })
}

#[test]
fn threads_take_their_part_of_a_limited_address_space() {
    let new = |threads, mib| Allowance::new(threads, 1 << 40, space(mib), 2 * MIB);
    for (mib, threads) in [(100, 1), (300, 5), (500, 10), (1000, 16), (2000, 16)] {
        let allowed = new(16, mib);
        assert_eq!(allowed.threads, threads, "{mib} MiB");
        let stacks = (THREADS_EACH * threads as u64 + THREADS_BESIDES) * 2 * MIB;
        assert!(allowed.memory + stacks + 14 * MIB <= mib * MIB, "{mib} MiB");
    }
    assert_eq!(new(1, 300).threads, 1);
    assert_eq!(
        new(16, 1),
        Allowance {
            threads: 1,
            memory: 0,
            ..new(16, 1)
        }
    );
    // With arenas of 64 MiB there is room for fewer threads.
    assert_eq!(
        Allowance::new(16, 1 << 40, space(4000), 66 * MIB).threads,
        2
    );
}

#[test]
fn what_the_caller_allows_stays_the_limit_where_it_is_tighter() {
    let roomy = Allowance::new(4, 100 * MIB, space(4000), 2 * MIB);
    assert_eq!(roomy, allowed(4, 100 * MIB));
    let tight = Allowance::new(4, 100 * MIB, space(90), 2 * MIB);
    let plan = Plan::new(32 << 20, tight, Coding::StaticRans, None);
    assert!(matches!(
        plan,
        Err(Error::Limit {
            by: Bound::AddressSpace,
            ..
        })
    ));
}

#[test]
fn an_address_space_as_large_as_an_error_asks_for_does() {
    for threads in [1, 2, 16] {
        for (size, thread_space) in [(1 << 20, 2), (32 << 20, 2), (256 << 20, 66)] {
            let plan = |mib| {
                let allowed = Allowance::new(threads, 1 << 40, space(mib), thread_space * MIB);
                Plan::new(size, allowed, Coding::StaticRans, None)
            };
            let Err(Error::Limit {
                needed, allowed, ..
            }) = plan(16)
            else {
                panic!()
            };
            assert_eq!(allowed, 16 * MIB);
            let mib = needed.div_ceil(MIB);
            for more in 0..2000 {
                assert!(
                    plan(mib + more).is_ok(),
                    "{size} bytes, {threads} threads, {mib}"
                );
            }
        }
    }
}

#[test]
fn a_limit_that_a_block_of_large_side_structures_asks_for_does() {
    for threads in [1, 2, 16] {
        for (size, side) in [
            (1 << 20, 30 << 20),
            (1 << 20, 5 << 20),
            (32 << 20, 200 << 20),
        ] {
            let plan = |memory| Plan::to_decode(size, allowed(threads, memory));
            let first = (20..)
                .find_map(|mib| plan(mib * MIB).ok())
                .unwrap();
            let Error::Limit { needed, .. } = first.side_shortage(size, side) else {
                panic!()
            };
            let found = plan(needed).unwrap();
            assert_eq!(found.workers, threads);
            assert!(
                found.side_share + Plan::freed_for_side(size) >= side,
                "{size} {side}"
            );
        }
    }
}
