//! An alphabetic code: a prefix-free code for symbols such that coded texts compare as the texts
//! do.
//!
//! It is the shortest such code for a text, except for symbols that hardly occur (Garsia and Wachs,
//! *A new algorithm for minimum cost binary trees*, 1977). Thus 64 bits hold about twice as many
//! symbols of English text as bytes would.

/// Every symbol that occurs weighs at least one part in `RAREST` of all, so that codes have at most
/// [`MOST_BITS`] bits.
const RAREST: u32 = 1 << 12;

/// Maximum number of bits of a code.
const MOST_BITS: u32 = u32::BITS - LENGTH_BITS;
/// Number of low bits of a table entry that hold the length of the code; the code lies above them.
const LENGTH_BITS: u32 = 8;

/// The code of a text.
pub(crate) struct AlphabeticCode {
    /// For each symbol, the bits of its code above their number; 0 if the symbol does not occur.
    pub table: [u32; 256],
    /// Mean number of bits per symbol of the text.
    pub mean: f64,
}

impl AlphabeticCode {
    /// Makes the code for a text with the given counts of symbols. The end of the text gets a code
    /// too, which is smaller than all others.
    pub(crate) fn new(counts: &[u32]) -> AlphabeticCode {
        let n: u64 = counts.iter().copied().map(u64::from).sum();
        let least = (n / u64::from(RAREST)).max(1);
        let symbols: Vec<usize> = (0..counts.len())
            .filter(|&c| counts[c] > 0)
            .collect();
        let weights = symbols
            .iter()
            .map(|&c| u64::from(counts[c]).max(least));
        let lengths = lengths(
            &std::iter::once(1)
                .chain(weights)
                .collect::<Vec<_>>(),
        );
        let mut table = [0; 256];
        let mut bits = 0;
        let mut code = 0_u64;
        for (n, &symbol) in symbols.iter().enumerate() {
            let before = lengths[n];
            let length = lengths[n + 1];
            assert!(length <= MOST_BITS, "a code of {length} bits");
            // The next code after one of `before` bits, with `length` bits.
            code = ((code + 1) << length) >> before;
            table[symbol] = (code as u32) << LENGTH_BITS | length;
            bits += u64::from(counts[symbol]) * u64::from(length);
        }
        AlphabeticCode {
            table,
            mean: bits as f64 / n as f64,
        }
    }
}

/// A node of the tree: a leaf, or an inner node with two children.
struct Node {
    weight: u64,
    below: Option<(usize, usize)>,
}

/// The depths of the leaves in an optimal alphabetic tree for at least two weights.
fn lengths(weights: &[u64]) -> Vec<u32> {
    let mut nodes: Vec<Node> = weights
        .iter()
        .map(|&weight| Node {
            weight,
            below: None,
        })
        .collect();
    let mut row: Vec<usize> = (0..nodes.len()).collect();
    let mut at = 1;
    while row.len() > 1 {
        // The first node whose left neighbour is not heavier than its right neighbour is joined
        // with the left one.
        let weight = |place: usize| {
            row.get(place)
                .map_or(u64::MAX, |&node| nodes[node].weight)
        };
        while weight(at - 1) > weight(at + 1) {
            at += 1;
        }
        let joined = weight(at - 1) + weight(at);
        // The joined node moves left, to the position behind the nearest node that is not lighter.
        let place = (0..at - 1)
            .rev()
            .find(|&place| weight(place) >= joined);
        let pair = (row[at - 1], row[at]);
        row.drain(at - 1..=at);
        row.insert(place.map_or(0, |place| place + 1), nodes.len());
        nodes.push(Node {
            weight: joined,
            below: Some(pair),
        });
        at = place.unwrap_or(0).max(1);
    }
    let mut depths = vec![0; nodes.len()];
    for node in (0..nodes.len()).rev() {
        if let Some((left, right)) = nodes[node].below {
            depths[left] = depths[node] + 1;
            depths[right] = depths[node] + 1;
        }
    }
    depths.truncate(weights.len());
    depths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::testing::random;

    /// The codes of the symbols that occur, as strings of bits.
    fn bits(code: &AlphabeticCode) -> Vec<String> {
        let table = code.table.iter().filter(|&&entry| entry != 0);
        let bits = |e: &u32| {
            let length = (e % (1 << LENGTH_BITS)) as usize;
            format!("{:0length$b}", e >> LENGTH_BITS)
        };
        table.map(bits).collect()
    }

    fn check(counts: &[u32]) {
        let code = AlphabeticCode::new(counts);
        let bits = bits(&code);
        assert_eq!(
            bits.len(),
            counts.iter().filter(|&&count| count > 0).count()
        );
        for pair in bits.windows(2) {
            assert!(
                pair[0] < pair[1] && !pair[1].starts_with(&pair[0]),
                "{counts:?}: {pair:?}"
            );
        }
        // The end is coded by zeros alone, so every other code contains a one.
        assert!(bits.iter().all(|bits| bits.contains('1')), "{counts:?}");
    }

    #[test]
    fn codes_keep_the_order_and_are_free_of_prefixes() {
        for counts in [
            vec![1],
            vec![0, 7],
            vec![5, 0, 5],
            vec![1; 256],
            vec![0, 1_000_000, 1, 1],
        ] {
            check(&counts);
        }
        for seed in 0..300 {
            let len = 1 + random(1, 256, seed)[0] as usize;
            let spread = random(len, 31, seed + 1);
            let counts = random(len, 1 << 20, seed + 2)
                .into_iter()
                .zip(spread);
            let counts: Vec<u32> = counts
                .map(|(count, by)| (count >> (by / 2)) as u32)
                .collect();
            if counts.iter().any(|&count| count > 0) {
                check(&counts);
            }
        }
    }

    #[test]
    fn codes_have_room_also_where_counts_grow_like_fibonacci_numbers() {
        let mut counts = vec![1_u32, 1];
        while counts.len() < 44 {
            counts.push(counts[counts.len() - 1] + counts[counts.len() - 2]);
        }
        check(&counts);
        counts.reverse();
        check(&counts);
    }

    /// Cost of the best tree, found by trying all trees.
    fn best(weights: &[u64]) -> u64 {
        if weights.len() < 2 {
            return 0;
        }
        let splits = (1..weights.len()).map(|n| best(&weights[..n]) + best(&weights[n..]));
        splits.min().unwrap_or(0) + weights.iter().sum::<u64>()
    }

    #[test]
    fn trees_are_the_best() {
        for seed in 0..2000 {
            let len = 2 + random(1, 8, seed)[0] as usize;
            let below = [2, 5, 20, 1000][seed as usize % 4];
            let weights: Vec<u64> = random(len, below, seed + 1)
                .into_iter()
                .map(|weight| weight + 1)
                .collect();
            let lengths = lengths(&weights);
            let cost: u64 = weights
                .iter()
                .zip(&lengths)
                .map(|(w, &l)| w * u64::from(l))
                .sum();
            assert_eq!(cost, best(&weights), "{weights:?}: {lengths:?}");
        }
    }
}
