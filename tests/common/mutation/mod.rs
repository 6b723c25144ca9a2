//! Damaged files for tests and fuzzing, made from sound ones by someone who knows FORMAT.md:
//! [`mutate`].
//!
//! A file is taken apart (`parts`), and some of its fields, tables, slices, blocks or frames are
//! changed (`changes`). Mostly the sizes that depend on them are made right again, and so are the
//! checksums (`repair`). So the damage is met deep inside a file that is sound elsewhere. None of
//! the library's code is used. Everything follows from a seed: the same file and seed give the same
//! damage.

pub mod changes;
pub mod parts;
pub mod random;
pub mod repair;

use random::Random;
use repair::Care;

/// `file` with a few changes, which depend on the seed. `file` may be any bytes; if it is no bwz
/// file, it is changed as bytes.
pub fn mutate(file: &[u8], seed: u64) -> Vec<u8> {
    let random = &mut Random::new(seed);
    // Repairs can undo a change.
    let mut tries = (0..8).map(|_| once(file, random));
    tries
        .find(|bytes| bytes != file)
        .unwrap_or_default()
}

fn once(file: &[u8], random: &mut Random) -> Vec<u8> {
    let mut parts = parts::parse(file);
    // Number of changes before and after sizes are made right.
    let (before, after) = [(1, 0), (1, 0), (2, 0), (3, 0), (0, 1), (1, 1)][random.below(6)];
    for _ in 0..before {
        changes::any(&mut parts, random);
    }
    if !random.one_in(4) {
        repair::sizes(&mut parts);
    }
    for _ in 0..after {
        changes::field(&mut parts, random);
    }
    let care = [
        Care::All,
        Care::All,
        Care::All,
        Care::All,
        Care::Some,
        Care::None,
    ];
    repair::sign(&mut parts, care[random.below(6)], random);
    let mut bytes = parts::join(&parts);
    if random.one_in(10) {
        changes::bytes(&mut bytes, random);
    }
    bytes
}
