//! The longest common region of two sequences by the method of the paper, on one thread (Y. Zhong
//! et al., *Solving the longest overlap region problem for noncoding DNA sequences with GPU*,
//! arXiv:1404.3448). The suffix array is built by DC3, which sorts its triples and pairs by radix
//! sort; the LCP array by Kasai et al.; range minima are then taken from it.

use bwz::lcp::RangeMinima;
use bwz::{Options, Result};

/// The longest common region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Longest {
    pub length: u32,
    /// Its position in the text.
    pub pos: u32,
}

/// Two sequences of `bases` bases. Half of the second is taken from the first, with 1 % of its
/// bases changed.
pub fn sequences(bases: usize) -> (Vec<u8>, Vec<u8>) {
    let mut state = 4711_u64;
    let mut next = |below: u64| {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % below
    };
    let mut random = |count| (0..count).map(|_| b"ACGT"[next(4) as usize]).collect::<Vec<u8>>();
    let first = random(bases);
    let mut second = random(bases);
    for (to, &from) in second.iter_mut().zip(&first).skip(bases / 4).take(bases / 2) {
        if next(100) > 0 {
            *to = from;
        }
    }
    (first, second)
}

/// The longest common region of the parts of a text before and behind `border`. The byte that ends
/// the first part does not occur in the second.
pub fn longest(text: &[u8], border: u32) -> Result<Longest> {
    let symbols: Vec<u32> = text.iter().map(|&byte| u32::from(byte) + 1).collect();
    let suffixes = dc3(symbols, 257);
    let lcp = kasai(text, &suffixes);
    let minima = RangeMinima::new(lcp, &Options::new().memory(u64::MAX))?;
    // For each suffix, the last suffix before it that belongs to the other part.
    let mut last = [None; 2];
    let mut found = Longest::default();
    for (row, &pos) in suffixes.iter().enumerate() {
        let side = usize::from(pos >= border);
        last[side] = Some(row);
        let Some(other) = last[1 - side] else { continue };
        let length = minima.least(other + 1..row + 1).unwrap_or(0);
        if length > found.length {
            found = Longest { length, pos };
        }
    }
    Ok(found)
}

/// The longest common region from the arrays alone: neighbours in the suffix array are enough.
pub fn longest_of_neighbours(suffixes: &[u32], lcp: &[u32], border: u32) -> Longest {
    let pairs = suffixes.windows(2).zip(&lcp[1..]);
    let across = pairs.filter(|(pair, _)| (pair[0] < border) != (pair[1] < border));
    let found = across.map(|(pair, &length)| Longest { length, pos: pair[1] });
    found.max_by_key(|found| found.length).unwrap_or_default()
}

/// The suffix array of symbols from 1 to `alphabet` - 1 (J. Karkkainen, P. Sanders, S. Burkhardt,
/// *Linear work suffix array construction*, 2006).
fn dc3(mut text: Vec<u32>, alphabet: usize) -> Vec<u32> {
    let n = text.len();
    if n < 3 {
        let mut suffixes: Vec<u32> = (0..n as u32).collect();
        suffixes.sort_by_key(|&pos| &text[pos as usize..]);
        return suffixes;
    }
    text.extend([0; 3]);
    let n0 = n.div_ceil(3);
    let n1 = (n + 1) / 3;
    let n2 = n / 3;
    // If n is 1 above a multiple of 3, the position behind the text is a sample too.
    let extra = n0 - n1;
    let mut samples = (0..(n + extra) as u32).filter(|pos| pos % 3 != 0).collect::<Vec<u32>>();
    let mut sorted = Vec::new();
    for symbol in [2, 1, 0] {
        sorted.resize(samples.len(), 0);
        radix_pass(&samples, &mut sorted, |pos| text[pos as usize + symbol], alphabet);
        std::mem::swap(&mut samples, &mut sorted);
    }
    // Names of triples: those at 1 modulo 3 come before those at 2.
    let place = |pos: u32| pos as usize / 3 + if pos % 3 == 1 { 0 } else { n0 };
    let mut names = vec![0; n0 + n2];
    let mut name = 0;
    let mut before = None;
    for &pos in &samples {
        let triple = &text[pos as usize..pos as usize + 3];
        if before != Some(triple) {
            (name, before) = (name + 1, Some(triple));
        }
        names[place(pos)] = name;
    }
    if (name as usize) < names.len() {
        let order = dc3(names, name as usize + 1);
        let pos = |at: u32| if (at as usize) < n0 { 3 * at + 1 } else { 3 * (at - n0 as u32) + 2 };
        samples.clear();
        samples.extend(order.iter().map(|&at| pos(at)));
        names = vec![0; n0 + n2];
        order.iter().zip(1..).for_each(|(&at, rank)| names[at as usize] = rank);
    }
    // The other suffixes: pairs of a symbol and the rank of the suffix behind it.
    let by_rank: Vec<u32> =
        samples.iter().filter(|&&pos| pos % 3 == 1).map(|&pos| pos - 1).collect();
    let mut others = vec![0; by_rank.len()];
    radix_pass(&by_rank, &mut others, |pos| text[pos as usize], alphabet);

    let rank = |pos: u32| if pos as usize >= n { 0 } else { names[place(pos)] };
    let symbol = |pos: u32| text[pos as usize];
    let sample_first = |sample: u32, other: u32| match sample % 3 {
        1 => (symbol(sample), rank(sample + 1)) <= (symbol(other), rank(other + 1)),
        _ => {
            (symbol(sample), symbol(sample + 1), rank(sample + 2))
                <= (symbol(other), symbol(other + 1), rank(other + 2))
        }
    };
    let samples = &samples[extra..];
    let mut suffixes = Vec::with_capacity(n);
    let mut s = 0;
    let mut o = 0;
    while s < samples.len() && o < others.len() {
        if sample_first(samples[s], others[o]) {
            suffixes.push(samples[s]);
            s += 1;
        } else {
            suffixes.push(others[o]);
            o += 1;
        }
    }
    suffixes.extend(&samples[s..]);
    suffixes.extend(&others[o..]);
    suffixes
}

/// Sorts positions by a symbol, stably.
fn radix_pass(from: &[u32], to: &mut [u32], symbol: impl Fn(u32) -> u32, alphabet: usize) {
    let mut ends = vec![0; alphabet + 1];
    for &pos in from {
        ends[symbol(pos) as usize + 1] += 1;
    }
    for at in 1..ends.len() {
        ends[at] += ends[at - 1];
    }
    for &pos in from {
        let end = &mut ends[symbol(pos) as usize];
        to[*end] = pos;
        *end += 1;
    }
}

/// The LCP array (T. Kasai et al., *Linear-time longest-common-prefix computation*, 2001).
fn kasai(text: &[u8], suffixes: &[u32]) -> Vec<u32> {
    let mut rows = vec![0; suffixes.len()];
    suffixes.iter().zip(0..).for_each(|(&pos, row)| rows[pos as usize] = row);
    let mut lcp = vec![0; suffixes.len()];
    let mut length = 0;
    for (pos, &row) in rows.iter().enumerate() {
        let row: usize = row;
        if row == 0 {
            length = 0;
            continue;
        }
        let before = suffixes[row - 1] as usize;
        while text.get(pos + length).is_some_and(|byte| text.get(before + length) == Some(byte)) {
            length += 1;
        }
        lcp[row] = length as u32;
        length = length.saturating_sub(1);
    }
    lcp
}
