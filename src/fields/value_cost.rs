//! What the values of a column will take in about, in the forms it may have: the entropy of the
//! values, and what each different one takes once. In integers, the same on every machine.

use super::column_form::Form;
use super::numbers::{self, Pattern};
use super::predictions::hash;

/// Sixteenths of a bit.
type Cost = u64;

/// What a byte of a value takes where it stands for the first time.
const NEW_BYTE: Cost = 51;

/// Columns that take less as text have no other form.
const LITTLE: Cost = 16 * 16;

/// A form other than text has to gain one part in so many.
const LEAST_GAIN: Cost = 16;

/// Some values of a column, with those of the slots before: `values[0]` are the column's own,
/// `values[distance]` those of the slot so far before it.
pub(super) struct Sample<'b> {
    pub values: Vec<Vec<&'b [u8]>>,
}

impl Sample<'_> {
    /// The form that takes the least.
    pub fn best_form(&self) -> Form {
        let own = &self.values[0];
        let mut best = (cost(own.iter().map(|value| (hash(value), value.len() + 1))), Form::Text);
        if best.0 < LITTLE {
            return Form::Text;
        }
        best.0 -= best.0 / LEAST_GAIN;
        let mut consider = |cost, form| {
            if cost < best.0 {
                best = (cost, form);
            }
        };
        for pattern in [Some(Pattern::default()), self.pattern()].into_iter().flatten() {
            if self.fits(&pattern) {
                consider(self.as_numbers(&pattern), Form::Numbers(pattern));
            }
        }
        for distance in 1..self.values.len() {
            consider(self.as_predicted(distance), Form::Predicted { distance });
        }
        best.1
    }

    /// The pattern of most values, if one is that of most.
    fn pattern(&self) -> Option<Pattern> {
        let (mut pattern, mut votes) = (None, 0_usize);
        for found in self.values[0].iter().map(|value| Pattern::of(value)) {
            match found == pattern {
                true => votes += 1,
                false if votes == 0 => (pattern, votes) = (found, 1),
                false => votes -= 1,
            }
        }
        pattern
    }

    /// Whether nine of ten values are numbers of the pattern.
    fn fits(&self, pattern: &Pattern) -> bool {
        let own = &self.values[0];
        own.iter().filter(|value| pattern.parse(value).is_some()).count() * 10 >= own.len() * 9
    }

    fn as_numbers(&self, pattern: &Pattern) -> Cost {
        let mut before = 0;
        cost(self.values[0].iter().map(|value| match pattern.parse(value) {
            Some(number) => {
                let zigzag = numbers::zigzag(number - before);
                before = number;
                (hash(&zigzag.to_le_bytes()), numbers::size(zigzag))
            }
            None => (hash(value), value.len() + 2),
        }))
    }

    fn as_predicted(&self, distance: usize) -> Cost {
        let [own, by] = [0, distance].map(|at| &self.values[at]);
        let bits = own.len().next_power_of_two().ilog2() + 1;
        let mut table = vec![&b""[..]; 1 << bits];
        cost(own.iter().zip(by).map(|(value, key)| {
            let last = &mut table[(hash(key) >> (32 - bits)) as usize];
            let is_predicted = std::mem::replace(last, value) == *value;
            if is_predicted { (0, 1) } else { (hash(value), value.len() + 1) }
        }))
    }
}

/// The cost of symbols, each by its hash, and its size where it is new.
fn cost(symbols: impl ExactSizeIterator<Item = (u32, usize)>) -> Cost {
    let of_all = symbols.len() as u64;
    let bits = (of_all * 2).next_power_of_two().ilog2().max(1);
    let mut counts = vec![(0, 0_u64); 1 << bits];
    let mut cost = of_all * log2(of_all);
    for (symbol, size) in symbols {
        let mut at = (symbol.wrapping_mul(0x85EB_CA6B) >> (32 - bits)) as usize;
        while counts[at].1 > 0 && counts[at].0 != symbol {
            at = (at + 1) % counts.len();
        }
        cost += if counts[at].1 == 0 { NEW_BYTE * size as u64 } else { 0 };
        counts[at] = (symbol, counts[at].1 + 1);
    }
    cost - counts.iter().map(|&(_, count)| count * log2(count)).sum::<u64>()
}

/// The logarithm of `number`, 1 or more, in sixteenths; between powers of two it is a line.
fn log2(number: u64) -> u64 {
    let whole = u64::from(number.max(1).ilog2());
    whole * 16 + ((number << 4) >> whole) - 16 * u64::from(number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(own: &[String], before: &[String]) -> Form {
        let values = [own, before].map(|values| values.iter().map(|v| v.as_bytes()).collect());
        Sample { values: values.to_vec() }.best_form()
    }

    #[test]
    fn the_form_is_that_of_the_values() {
        let column = |value: fn(usize) -> String| (0..500).map(value).collect::<Vec<_>>();
        let noise = column(|n| format!("{}", n * n * 7919 % 97));
        let rising = column(|n| format!("{}", 12_345 + n * 3));
        let padded = column(|n| format!("{:06}", n * 60));
        let of_noise = column(|n| format!("name{}", n * n * 7919 % 97 * 31 % 1009));
        let few = column(|n| ["a", "b", "c"][n * n % 1009 % 7 % 3].to_owned());
        assert_eq!(best(&rising, &noise), Form::Numbers(Pattern::default()));
        assert_eq!(best(&padded, &noise), Form::Numbers(Pattern::of(b"000000").unwrap()));
        assert_eq!(best(&of_noise, &noise), Form::Predicted { distance: 1 });
        assert_eq!(best(&few, &noise), Form::Text);
    }

    #[test]
    fn logarithms_are_near() {
        for number in 1..5000_u64 {
            let exact = (number as f64).log2() * 16.0;
            assert!((log2(number) as f64 - exact).abs() < 2.5, "{number}");
        }
    }
}
