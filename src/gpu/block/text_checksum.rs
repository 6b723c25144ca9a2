//! The CRC-32 of a text in device memory: the host side of `kernels/block/text_checksum.cu`.
//!
//! It proves a text that does not go to the host. It takes a small part of the time of an inverse.

use crate::base::error::Result;
use crate::gpu::runtime::tuning::{CHECKSUM_CHUNK, THREADS};
use crate::gpu::runtime::{Array, Gpu, arguments};

/// Bytes of an aligned word that may lie in front of a text.
const MOST_SKEW: u32 = 3;

/// Queues the computation of a text's CRC-32, which `sum` then holds. The text has less than 2^31
/// bytes.
#[allow(unsafe_code)]
pub(crate) fn checksum(gpu: &Gpu, text: Array<u8>, sum: Array<u32>) -> Result<()> {
    assert!(text.size() < 1 << 31 && sum.len() == 1);
    let n = text.len();
    gpu.zero(sum)?;
    let ctas = (n + MOST_SKEW)
        .div_ceil(CHECKSUM_CHUNK)
        .div_ceil(THREADS);
    let arguments = arguments![text, n, sum];
    // SAFETY: `text` has n bytes, and the words that hold them lie in its allocation, which begins
    // and ends at a word. There are enough threads, and `sum` has one word.
    unsafe { gpu.launch("text_checksum/add_chunks", ctas, THREADS, arguments) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;
    use crate::gpu::testing::{gpu, memory, say, upload};

    #[test]
    fn checksums_are_those_of_the_host() {
        let Some(gpu) = gpu() else { return };
        let bytes = cases::random(5_000_000, 256);
        let mut memory = memory(&gpu, bytes.len() + 4096);
        let mut arena = memory.allocator();
        let there = upload(&gpu, &mut arena, &bytes);
        let sum = arena.array(1);
        let mut count = 0;
        let chunk = CHECKSUM_CHUNK as usize;
        let cta = chunk * THREADS as usize;
        let around = |n: usize| n - 3..n + 4;
        let lens = (0..20)
            .chain(around(chunk))
            .chain(around(cta))
            .chain(around(3 * cta))
            .chain([4_999_000]);
        for len in lens {
            for from in [0, 1, 2, 3, 4, 511] {
                let part = from..from + len;
                let text = there.part(part.start as u32..part.end as u32);
                checksum(&gpu, text, sum).unwrap();
                let found = gpu.read(sum).unwrap();
                let expected = crc32fast::hash(&bytes[part]);
                assert_eq!(found, [expected], "{len} bytes from {from}");
                count += 1;
            }
        }
        say(format_args!("{count} checksums"));
    }
}
