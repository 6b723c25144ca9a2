//! Finds the symbol that owns a slot: how many of sixteen first slots are not above it.
//!
//! It comes as SSE2, as AVX2 where the processor has it, and as plain Rust. All give the same
//! numbers, which the tests compare. Compilers do not find the vector form by themselves.

#[cfg(target_arch = "x86_64")]
mod search_avx2;
#[cfg(any(test, not(target_arch = "x86_64")))]
mod search_plain;
#[cfg(target_arch = "x86_64")]
mod search_sse2;

#[cfg(target_arch = "x86_64")]
pub use search_avx2::SearchAvx2;
/// The form that every processor of this architecture has.
#[cfg(not(target_arch = "x86_64"))]
pub use search_plain::SearchPlain as SearchBaseline;
#[cfg(target_arch = "x86_64")]
pub use search_sse2::SearchSse2 as SearchBaseline;

/// A way to search the first slots of sixteen symbols.
pub trait SlotSearch {
    /// How many of `starts`, which rise from 0 and stay below 2^15, are not above `slot`.
    fn not_above(starts: &[u16; 16], slot: u16) -> usize;
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::search_plain::SearchPlain;
    use super::{SearchAvx2, SearchBaseline, SlotSearch};

    #[test]
    fn all_forms_give_the_same_numbers() {
        for step in [1, 2, 99, 2000] {
            let starts: [u16; 16] = std::array::from_fn(|j| j as u16 * step);
            for slot in (0..1 << 15).step_by(7).chain([1, 15, 16, 1999, 2000]) {
                let plain = SearchPlain::not_above(&starts, slot);
                assert_eq!(SearchBaseline::not_above(&starts, slot), plain);
                if std::arch::is_x86_feature_detected!("avx2") {
                    assert_eq!(SearchAvx2::not_above(&starts, slot), plain);
                }
            }
        }
    }
}
