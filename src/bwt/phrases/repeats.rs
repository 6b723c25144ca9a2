//! How much a block repeats itself, estimated from a sample of its strings.
//!
//! Which strings are in the sample depends on what they are and not on where, so all copies of one
//! are or none is. A condition on four bytes, which vector code checks, picks candidates, and a
//! hash picks among them.

use rayon::prelude::*;

/// Bytes of a string.
const STRING: usize = 24;

/// Bytes that the condition looks at.
const BYTES: usize = 4;

/// Places that are checked at a time.
const TILE: usize = 64;

/// Bytes that are sampled in one task.
const TASK: usize = 1 << 20;

/// At most so many strings are kept per task: where there are more, every second hash is left out.
/// That also rids the sample of a string which is nearly everywhere, a run for instance.
const MOST: usize = 1 << 11;

/// Fewest strings that tell anything.
const FEWEST: usize = 500;

/// There is one different string for so many strings, or `None` where there are too few to say.
pub fn scarcity(block: &[u8]) -> Option<usize> {
    let wanted = condition(block.get(block.len() / 2..)?.first_chunk()?);
    let samples: Vec<Sample> = (0..block.len().div_ceil(TASK))
        .into_par_iter()
        .map(|task| Sample::of(block, task * TASK, wanted))
        .collect();
    let rarest = samples.iter().map(|sample| sample.skipped).max()?;
    let mut all: Vec<u64> = samples.into_iter().flat_map(|sample| sample.hashes).collect();
    all.retain(|hash| hash.leading_zeros() >= rarest);
    all.par_sort_unstable();
    let strings = all.len();
    all.dedup();
    (strings >= FEWEST).then(|| strings / all.len())
}

fn condition(bytes: &[u8; BYTES]) -> u8 {
    mix(bytes[0], bytes[1], bytes[2], bytes[3])
}

#[inline(always)]
fn mix(a: u8, b: u8, c: u8, d: u8) -> u8 {
    let (ab, cd) = (a.wrapping_add(b).wrapping_add(b), c.wrapping_add(d).wrapping_add(d));
    ab.wrapping_add(cd << 2)
}

/// The strings of one task.
struct Sample {
    hashes: Vec<u64>,
    /// Hashes have at least so many zeros in front.
    skipped: u32,
}

impl Sample {
    fn of(block: &[u8], start: usize, wanted: u8) -> Self {
        let mut sample = Sample { hashes: Vec::new(), skipped: 0 };
        let end = (start + TASK).min((block.len() + 1).saturating_sub(STRING + TILE));
        for tile in (start..end).step_by(TILE) {
            let at = |offset: usize| block[tile + offset..][..TILE].iter();
            let mut hits = [0u8; TILE];
            let bytes = at(0).zip(at(1)).zip(at(2)).zip(at(3));
            for (hit, (((&a, &b), &c), &d)) in hits.iter_mut().zip(bytes) {
                *hit = u8::from(mix(a, b, c, d) == wanted);
            }
            if hits.iter().fold(0, |any, hit| any | hit) == 0 {
                continue;
            }
            for (word, hits) in hits.as_chunks::<8>().0.iter().enumerate() {
                let mut hits = u64::from_le_bytes(*hits);
                while hits != 0 {
                    let place = 8 * word + hits.trailing_zeros() as usize / 8;
                    sample.add(hash(&block[tile + place..][..STRING]));
                    hits &= hits - 1;
                }
            }
        }
        sample
    }

    fn add(&mut self, hash: u64) {
        if hash.leading_zeros() < self.skipped {
            return;
        }
        self.hashes.push(hash);
        if self.hashes.len() > MOST {
            self.skipped += 1;
            self.hashes.retain(|hash| hash.leading_zeros() >= self.skipped);
        }
    }
}

fn hash(string: &[u8]) -> u64 {
    let words = string.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
    words.fold(0, super::parse::stir)
}

#[cfg(test)]
mod tests {
    use super::super::super::cases;
    use super::*;

    #[test]
    fn tells_copies_from_chance() {
        let random = cases::random(1 << 18, 256);
        assert_eq!(scarcity(&random), Some(1));
        assert!(scarcity(&random.repeat(10)).is_some_and(|scarcity| (8..12).contains(&scarcity)));
        assert_eq!(scarcity(&vec![0; 1 << 20]), None, "one string, which is left out");
        assert_eq!(scarcity(b"short"), None);
    }
}
