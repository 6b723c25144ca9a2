//! Random queries whose naive answers do not take long. Most ranges are short. Half of the pairs of
//! positions are neighbours in the order of the suffixes, which have long common prefixes.

/// Logarithm of the maximum length of most ranges.
const LOG_SHORT: u64 = 12;

/// One range in this many may have any length.
const ANY: usize = 5000;

/// Ranges within `len` values, given by their starts and ends.
pub fn ranges(count: usize, len: u32) -> Vec<(u32, u32)> {
    let mut chance = Chance(1);
    let mut range = |number: usize| {
        let log = chance.below(LOG_SHORT);
        let limit = if number.is_multiple_of(ANY) {
            u64::from(len) + 1
        } else {
            2 << log
        };
        let length = chance.below(limit);
        let start = chance.below(u64::from(len) + 1) as u32;
        (start, len.min(start + length as u32))
    };
    (0..count).map(&mut range).collect()
}

/// Pairs of positions from `suffixes`. Empty if there are no positions.
pub fn pairs(count: usize, suffixes: &[u32]) -> Vec<(u32, u32)> {
    let mut chance = Chance(2);
    let rows = suffixes.len() as u64;
    let mut pair = |number: usize| {
        let row = chance.below(rows);
        let other = match number % 2 {
            0 => chance.below(rows),
            _ => (row + 1 + chance.below(8)).min(rows - 1),
        };
        (suffixes[row as usize], suffixes[other as usize])
    };
    let count = if rows == 0 { 0 } else { count };
    (0..count).map(&mut pair).collect()
}

/// Random numbers, the same in each run (splitmix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % limit
    }
}
