//! DC3, the skew algorithm on one thread (J. Karkkainen, P. Sanders and S. Burkhardt, *Linear work
//! suffix array construction*, 2006): the suffixes at positions that are no multiples of 3, the
//! samples, are sorted by triples of symbols, by recursion if triples are equal. The others are
//! sorted by a symbol and the rank behind it, and both are merged. Time: linear.

/// A text of n symbols, and three zeros behind it.
struct Dc3 {
    text: Vec<u32>,
    n: usize,
    /// Symbols are below this number.
    alphabet: usize,
}

/// The sorted sample suffixes.
struct Samples {
    /// Their positions in order. If n is 1 above a multiple of 3, position n is the first.
    order: Vec<u32>,
    /// The rank of each, from 1, or its name before all are known; by [`Dc3::index`].
    ranks: Vec<u32>,
}

/// The suffix array of symbols from 1 to `alphabet` - 1.
pub(super) fn dc3(mut text: Vec<u32>, alphabet: usize) -> Vec<u32> {
    let n = text.len();
    if n < 3 {
        let mut suffixes: Vec<u32> = (0..n as u32).collect();
        suffixes.sort_by_key(|&pos| &text[pos as usize..]);
        return suffixes;
    }
    text.extend([0; 3]);
    let dc3 = Dc3 { text, n, alphabet };
    let samples = dc3.sort_samples();
    let others = dc3.sort_others(&samples.order);
    dc3.merge(&samples, &others)
}

impl Dc3 {
    /// Number of samples at 1 modulo 3, with that behind the text if there is one.
    fn of_first_kind(&self) -> usize {
        self.n.div_ceil(3)
    }

    /// Number of a sample in the string of names: those at 1 modulo 3 come before those at 2.
    fn index(&self, pos: u32) -> usize {
        pos as usize / 3
            + if pos % 3 == 1 {
                0
            } else {
                self.of_first_kind()
            }
    }

    fn symbol(&self, pos: u32) -> u32 {
        self.text[pos as usize]
    }

    fn rank(&self, samples: &Samples, pos: u32) -> u32 {
        if pos as usize >= self.n {
            0
        } else {
            samples.ranks[self.index(pos)]
        }
    }

    fn sort_samples(&self) -> Samples {
        let last = self.n + usize::from(self.n % 3 == 1);
        let mut order: Vec<u32> = (0..last as u32)
            .filter(|pos| pos % 3 != 0)
            .collect();
        for symbol in [2, 1, 0] {
            order = radix_pass(&order, |pos| self.symbol(pos + symbol), self.alphabet);
        }
        let mut samples = self.name(order);
        let names = samples.ranks.iter().copied().max().unwrap_or(0);
        if (names as usize) < samples.order.len() {
            let first_kind = self.of_first_kind() as u32;
            samples.order = dc3(samples.ranks.clone(), names as usize + 1);
            for (rank, index) in (1..).zip(&mut samples.order) {
                samples.ranks[*index as usize] = rank;
                *index = match *index < first_kind {
                    true => 3 * *index + 1,
                    false => 3 * (*index - first_kind) + 2,
                };
            }
        }
        samples
    }

    /// Names samples that are sorted by their triples: equal triples have equal names.
    fn name(&self, order: Vec<u32>) -> Samples {
        let mut ranks = vec![0; order.len()];
        let mut name = 0;
        let mut before = None;
        for &pos in &order {
            let triple = &self.text[pos as usize..pos as usize + 3];
            if before != Some(triple) {
                name += 1;
                before = Some(triple);
            }
            ranks[self.index(pos)] = name;
        }
        Samples { order, ranks }
    }

    /// Sorts the suffixes at multiples of 3: those behind them are samples in order.
    fn sort_others(&self, samples: &[u32]) -> Vec<u32> {
        let behind = samples.iter().filter(|&&pos| pos % 3 == 1);
        let by_rank: Vec<u32> = behind.map(|pos| pos - 1).collect();
        radix_pass(&by_rank, |pos| self.symbol(pos), self.alphabet)
    }

    fn merge(&self, samples: &Samples, others: &[u32]) -> Vec<u32> {
        let mut suffixes = Vec::with_capacity(self.n);
        let mut others = others.iter().copied().peekable();
        for &sample in samples
            .order
            .iter()
            .filter(|&&pos| (pos as usize) < self.n)
        {
            while let Some(other) = others.next_if(|&other| self.is_less(samples, other, sample)) {
                suffixes.push(other);
            }
            suffixes.push(sample);
        }
        suffixes.extend(others);
        suffixes
    }

    /// Returns true if the suffix at `other`, a multiple of 3, comes before that at `sample`.
    fn is_less(&self, samples: &Samples, other: u32, sample: u32) -> bool {
        let symbol = |pos| self.symbol(pos);
        let rank = |pos| self.rank(samples, pos);
        match sample % 3 {
            1 => (symbol(other), rank(other + 1)) < (symbol(sample), rank(sample + 1)),
            _ => {
                (symbol(other), symbol(other + 1), rank(other + 2))
                    < (symbol(sample), symbol(sample + 1), rank(sample + 2))
            }
        }
    }
}

/// Sorts positions by a symbol, stably.
fn radix_pass(from: &[u32], symbol: impl Fn(u32) -> u32, alphabet: usize) -> Vec<u32> {
    let mut ends = vec![0; alphabet + 1];
    for &pos in from {
        ends[symbol(pos) as usize + 1] += 1;
    }
    for at in 1..ends.len() {
        ends[at] += ends[at - 1];
    }
    let mut to = vec![0; from.len()];
    for &pos in from {
        let end = &mut ends[symbol(pos) as usize];
        to[*end] = pos;
        *end += 1;
    }
    to
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    #[test]
    fn suffixes_come_into_order() {
        for (name, text) in cases::all()
            .iter()
            .filter(|(_, text)| text.len() < 3000)
        {
            let symbols: Vec<u32> = text
                .iter()
                .map(|&byte| u32::from(byte) + 1)
                .collect();
            let mut expected: Vec<u32> = (0..text.len() as u32).collect();
            expected.sort_by_key(|&pos| &text[pos as usize..]);
            assert!(dc3(symbols, 257) == expected, "{name}");
        }
    }
}
