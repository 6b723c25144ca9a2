//! Encodes a BWT in parts on several GPUs, or on one GPU whose kernels could not number all of its
//! runs: with the same bytes as the CPU encoder.
//!
//! The host finds the cuts of all slices. A part is a sequence of whole slices, so that each GPU
//! finds the cuts of its own ones again. All parts share the models, which the host chooses from
//! the sum of their counts of symbols, and the list of bytes that occur anywhere in the BWT.
//!
//! Cost: 11 to 12 bytes of GPU memory per byte of a part, all parts at once.

use super::bwt_encoder::BwtEncoder;
use super::interface::JointlyEncoded;
use super::runtime::Staging;
use crate::base::error::{Error, Result};
use crate::coder::device_tables::ModelArrays;
use crate::coder::{CodedBwt, SliceCuts, SliceLimits};
use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;

/// Maximum bytes of a part, if slices are much shorter.
const MOST_OF_PART: u64 = 2 << 30;

/// A part of the slices, and the encoder for it.
struct EncodedPart<'b> {
    encoder: BwtEncoder,
    staging: Staging,
    bwt: &'b [u8],
    /// Sizes of its slices.
    raw_sizes: Vec<u32>,
}

/// Encodes a BWT with the given cuts on the GPUs with these numbers, each of which takes at least
/// one part. A number may occur several times. `threads` threads copy.
///
/// # Errors
/// [`Error::Device`] if a GPU has too little memory or fails, [`Error::Io`] if the host has too
/// little.
pub(crate) fn encode_jointly(
    numbers: &[u32],
    bwt: &[u8],
    cuts: &SliceCuts,
    limits: SliceLimits,
    threads: usize,
) -> Result<JointlyEncoded> {
    let limits = SliceLimits {
        runs: cuts.runs,
        ..limits
    };
    let of_each = (bwt.len() as u64).div_ceil(numbers.len() as u64);
    let count = numbers.len() * of_each.div_ceil(MOST_OF_PART) as usize;
    let mut parts = parts(numbers, bwt, cuts, count)?;
    let threads = (threads / parts.len()).max(1);
    let counts = on_all(&mut parts, |part| {
        part.encoder
            .count_part(part.bwt, limits, &mut part.staging, threads)
    })?;
    let (sums, byte_counts) = sums(&counts);
    let mut models = Vec::new();
    let chosen = ModelArrays::choose(&sums, &mut models);
    let coded = on_all(&mut parts, |part| {
        let (raw_sizes, slices) = part
            .encoder
            .encode_part(&sums, &chosen.tables, threads)?;
        match raw_sizes == part.raw_sizes {
            true => Ok(slices),
            false => Err(Error::Device("a GPU cut a transform wrongly".into())),
        }
    })?;
    let raw_sizes = parts.into_iter().flat_map(|part| part.raw_sizes);
    let coded = CodedBwt {
        models,
        raw_sizes: raw_sizes.collect(),
        slices: coded.into_iter().flatten().collect(),
    };
    Ok(JointlyEncoded { coded, byte_counts })
}

/// Divides the slices into `count` parts of about one size, except for those without slices.
fn parts<'b>(
    numbers: &[u32],
    bwt: &'b [u8],
    cuts: &SliceCuts,
    count: usize,
) -> Result<Vec<EncodedPart<'b>>> {
    let border = |part: usize| {
        let at = bwt.len() as u64 * part as u64 / count as u64;
        cuts.slices
            .partition_point(|slice| slice.end as u64 <= at)
    };
    let of_part = |part: usize| &cuts.slices[border(part)..border(part + 1)];
    let open = |(part, &number): (usize, &u32)| {
        let slices = of_part(part);
        let size = |slice: &Range<usize>| slice.len() as u32;
        Ok(EncodedPart {
            encoder: BwtEncoder::new(number)?,
            staging: Staging::open(number, Staging::PORTION)?,
            bwt: &bwt[slices[0].start..slices[slices.len() - 1].end],
            raw_sizes: slices.iter().map(size).collect(),
        })
    };
    (0..count)
        .zip(numbers.iter().cycle())
        .filter(|(part, _)| !of_part(*part).is_empty())
        .map(open)
        .collect()
}

/// Does `work` with all parts at once, each on a thread of its own.
fn on_all<T: Send>(
    parts: &mut [EncodedPart],
    work: impl Fn(&mut EncodedPart) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    thread::scope(|scope| {
        let work = &work;
        let started: Vec<_> = parts
            .iter_mut()
            .map(|part| {
                thread::Builder::new()
                    .spawn_scoped(scope, move || work(part))
                    .map_err(Error::from)
            })
            .collect();
        let ended = started.into_iter().map(|thread| {
            thread?
                .join()
                .unwrap_or_else(|panic| resume_unwind(panic))
        });
        ended.collect()
    })
}

/// The sums of the counts of all parts, as for [`ModelArrays::choose`], and those of the bytes.
fn sums(counts: &[Vec<u32>]) -> (Vec<u32>, [u64; 256]) {
    let mut byte_counts = [0; 256];
    let symbols = ModelArrays::COUNTS - 256;
    for counts in counts {
        for (sum, &count) in byte_counts.iter_mut().zip(&counts[symbols..]) {
            *sum += u64::from(count);
        }
    }
    let sum = |n: usize| {
        let of_part = counts.iter().map(|counts| counts[n]);
        of_part.fold(0, u32::wrapping_add)
    };
    let bytes = byte_counts
        .iter()
        .map(|&count| u32::from(count > 0));
    let sums = (0..symbols).map(sum).chain(bytes);
    (sums.collect(), byte_counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::tasks::Executor;
    use crate::cases;
    use crate::coder::{self, Coding};
    use crate::gpu::testing::{gpu, say};

    /// Parts that begin within a run, and parts of one slice, have the slices of the CPU.
    #[test]
    fn parts_have_the_slices_of_the_whole() {
        if gpu().is_none() {
            return;
        }
        let mut blocks = 0;
        let texts = [
            cases::text(3_000_000),
            cases::random(700_000, 4),
            cases::random(300_000, 256),
            vec![7; 400_000],
            [vec![1; 90_000], cases::text(50_000), vec![2; 90_000]].concat(),
            cases::text(5000),
            vec![9],
        ];
        for bwt in &texts {
            for (runs, bytes) in [(3000, 1 << 24), (1000, 20_000), (1 << 16, 1 << 24)] {
                let limits = SliceLimits { runs, bytes };
                let expected = coder::encode_slices(bwt, limits, Coding::StaticRans);
                let cuts = coder::static_cuts(Executor::CALLING, bwt, limits);
                for gpus in [1, 2, 5] {
                    let numbers = vec![0; gpus];
                    let JointlyEncoded { coded, byte_counts } =
                        encode_jointly(&numbers, bwt, &cuts, limits, 2).unwrap();
                    let about = format!("{} bytes, {limits:?}, {gpus} GPUs", bwt.len());
                    assert!(coded == expected, "{about}");
                    let count = |byte: u8| bwt.iter().filter(|&&b| b == byte).count() as u64;
                    assert_eq!(byte_counts[7], count(7), "{about}");
                    blocks += 1;
                }
            }
        }
        say(format_args!("{blocks} blocks coded"));
    }
}
