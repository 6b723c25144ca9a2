//! Likeness of the bytes of a sample at each stride, for [`super::detect_regions`], and counts of
//! the bytes of a kind.
//!
//! Both use vector instructions: all strides of 2 KiB take 5 us with AVX2, and three times that
//! without.

/// Maximum stride that is looked for, in bytes.
pub(super) const MAX_STRIDE: usize = 64;

/// Number of bytes of a sample for which `is` holds. The sums are of single bytes, which vector
/// code adds up.
pub(super) fn count(sample: &[u8], is: impl Fn(u8) -> bool) -> usize {
    let sums = sample
        .chunks(128)
        .map(|part| part.iter().map(|&byte| u8::from(is(byte))).sum());
    sums.map(|sum: u8| usize::from(sum)).sum()
}

/// The [`likeness`] at each stride.
pub(super) fn all_likeness(sample: &[u8]) -> [(usize, usize); MAX_STRIDE] {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2. Without it, this would be most of the time that looking
        // at binary data takes.
        #[allow(unsafe_code)]
        return unsafe { all_likeness_by_avx2(sample) };
    }
    std::array::from_fn(|n| likeness(sample, n + 1))
}

/// Computes [`all_likeness`] by AVX2, which adds up the differences of 32 bytes at once.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[allow(unsafe_code)]
fn all_likeness_by_avx2(sample: &[u8]) -> [(usize, usize); MAX_STRIDE] {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi64, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_sad_epu8,
        _mm256_setzero_si256, _mm256_storeu_si256, _mm256_sub_epi8,
    };
    const LANES: usize = size_of::<__m256i>();
    // SAFETY: reads as many bytes as the array has, at any alignment.
    let load = |bytes: &[u8; LANES]| unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
    let sum = |lanes: __m256i| {
        let mut words = [0_u64; LANES / 8];
        // SAFETY: writes as many bytes as the array has, at any alignment.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), lanes) };
        words.iter().sum::<u64>() as usize
    };
    let zero = _mm256_setzero_si256();
    std::array::from_fn(|n| {
        let earlier = &sample[..sample.len() - MAX_STRIDE];
        let later = &sample[n + 1..];
        let mut equal = zero;
        let mut apart = zero;
        // 128 vectors at a time, so that the count of equal bytes in a lane fits in a byte.
        for (earlier, later) in earlier
            .chunks(128 * LANES)
            .zip(later.chunks(128 * LANES))
        {
            let mut here = zero;
            let earlier = earlier.as_chunks().0;
            let later = later.as_chunks().0;
            for (earlier, later) in earlier.iter().zip(later) {
                let earlier = load(earlier);
                let later = load(later);
                here = _mm256_sub_epi8(here, _mm256_cmpeq_epi8(earlier, later));
                apart = _mm256_add_epi64(apart, _mm256_sad_epu8(earlier, later));
            }
            equal = _mm256_add_epi64(equal, _mm256_sad_epu8(here, zero));
        }
        let done = earlier.len() / LANES * LANES;
        let (rest_equal, rest_apart) = likeness_of(&earlier[done..], &later[done..]);
        (sum(equal) + rest_equal, sum(apart) + rest_apart)
    })
}

/// The number of bytes that equal the byte `stride` before them, and the sum of the differences.
fn likeness(sample: &[u8], stride: usize) -> (usize, usize) {
    likeness_of(&sample[..sample.len() - MAX_STRIDE], &sample[stride..])
}

fn likeness_of(earlier: &[u8], later: &[u8]) -> (usize, usize) {
    let mut equal = 0;
    let mut apart = 0;
    for (earlier, later) in earlier.chunks(128).zip(later.chunks(128)) {
        let pairs = earlier.iter().zip(later);
        equal += usize::from(
            pairs
                .clone()
                .map(|(a, b)| u8::from(a == b))
                .sum::<u8>(),
        );
        apart += usize::from(
            pairs
                .map(|(a, b)| u16::from(a.abs_diff(*b)))
                .sum::<u16>(),
        );
    }
    (equal, apart)
}

#[cfg(test)]
mod tests {
    use super::super::cases;
    use super::*;

    #[test]
    fn bytes_are_as_alike_by_any_instructions() {
        for len in [MAX_STRIDE, 2048, 2125, 9000] {
            for sigma in [1, 4, 256] {
                let sample = cases::random(len, sigma);
                let all = all_likeness(&sample);
                assert!(
                    (0..MAX_STRIDE).all(|n| all[n] == likeness(&sample, n + 1)),
                    "{len}"
                );
            }
        }
    }

    #[test]
    fn bytes_are_counted() {
        let bytes = cases::random(1000, 256);
        let high = bytes.iter().filter(|byte| **byte >= 0x80).count();
        assert_eq!(count(&bytes, |byte| byte >= 0x80), high);
        assert_eq!(count(&[1; 1000], |byte| byte == 1), 1000);
    }
}
