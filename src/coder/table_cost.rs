//! Costs of symbols by a frequency table, and the choice of the cheaper table: their own, which is
//! stored, or the default. All arithmetic is in integers, so that every machine makes the same
//! choice.

use super::frequency_table::{Code, FrequencyTable, codes};

/// A bit in the unit of costs.
pub(super) const ONE_BIT: u64 = 1 << 12;
/// Approximate cost of storing a table, besides that of its symbols.
const SENT: u64 = 4 * ONE_BIT;
/// Approximate cost of storing one symbol of a table, up to the last that occurs.
const SENT_SYMBOL: u64 = 4 * ONE_BIT;

/// A table that is not stored.
#[derive(Debug)]
pub(super) struct DefaultTable {
    pub codes: [Code; 16],
    /// Cost of each symbol by this table.
    costs: [u64; 16],
}

impl DefaultTable {
    pub(super) fn new(codes: [Code; 16]) -> Self {
        let table = FrequencyTable::new(&codes);
        let cost = |symbol| 15 * ONE_BIT - log2(table.slots(symbol).freq.into());
        DefaultTable {
            codes,
            costs: std::array::from_fn(cost),
        }
    }
}

/// The cost of all symbols with the cheaper of their own table and the default, and their own table
/// if it is the cheaper one.
pub(super) fn cheapest(counts: &[u32; 16], default: &DefaultTable) -> (u64, Option<[Code; 16]>) {
    let pairs = counts.iter().zip(default.costs);
    let by_default: u64 = pairs
        .map(|(&count, cost)| u64::from(count) * cost)
        .sum();
    if by_default == 0 {
        return (0, None);
    }
    let weighted = |count: u64| if count == 0 { 0 } else { count * log2(count) };
    let all: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    let own: u64 = counts
        .iter()
        .map(|&count| weighted(count.into()))
        .sum();
    let symbols = counts
        .iter()
        .rposition(|&count| count > 0)
        .map_or(0, |last| last as u64 + 1);
    let sent = weighted(all) - own + SENT + SENT_SYMBOL * symbols;
    if sent < by_default {
        (sent, Some(codes(counts)))
    } else {
        (by_default, None)
    }
}

/// The binary logarithm, in the unit of costs, rounded down.
fn log2(number: u64) -> u64 {
    let whole = number.ilog2();
    // A number in 1..2 with 31 fraction bits; squaring it doubles its logarithm.
    let mut rest = if whole > 31 {
        number >> (whole - 31)
    } else {
        number << (31 - whole)
    };
    let mut log = u64::from(whole);
    for _ in 0..12 {
        rest = (rest * rest) >> 31;
        let reached = rest >> 32;
        log = log << 1 | reached;
        rest >>= reached;
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_exact_to_their_last_digit() {
        for number in [
            1,
            2,
            3,
            7,
            1000,
            32_767,
            32_768,
            u64::from(u32::MAX),
            1 << 40,
        ] {
            let exact = (number as f64).log2() * 4096.0;
            let found = log2(number) as f64;
            assert!(
                found <= exact + 0.001 && found > exact - 2.0,
                "{number}: {found} {exact}"
            );
        }
    }
}
