//! Estimated cost of the values of a column in each form that it may have.
//!
//! It is the entropy of the values, and the cost of each different value once. It is in integers,
//! the same on every machine.

use super::column_form::Form;
use super::difference_bits::{bits, differences_by_key, fewest};
use super::key_hashes::KeyHashes;
use super::known_forms::KnownForm;
use super::numbers::{self, Pattern};
use super::predictions::hash;
use super::symbol_cost::{Cost, Distinct, Places, cost, of_byte};

/// Columns that cost less than this as text, 16 bits, have no other form.
const LITTLE: Cost = 16 * 16;

/// The cost of predicted values is raised by one part in this number before it is compared.
const LEAST_GAIN: Cost = 32;

/// The cost of text is lowered by one part in this number if the sample is small. The values of the
/// whole column then repeat more often than those of the sample.
const LEAST_SMALL_GAIN: Cost = 16;
/// A sample is small if the column has at least this many times its values.
const SMALL: usize = 4;

/// At least one in this number of the first [`TRIED`] values has to be predicted.
const LEAST_PREDICTED: usize = 32;
/// Number of values after which a prediction is given up if it fails too often.
const TRIED: usize = 2048;

/// Number of values by which the one slot is chosen that predicts numbers as their key. Columns of
/// fewer values are not predicted by other slots. The bytes of these values also decide whether a
/// column is text.
const LOOKED_AT: usize = 64;
/// Number of values by which the two slots are chosen whose difference predicts numbers.
const SUMMED: usize = 64;
/// Maximum distance of these two slots.
const MOST_SUMMED: usize = 8;

/// The cost of numbers predicted by other slots is raised by one part in this number before it is
/// compared.
const LEAST_MORE: Cost = 8;

/// Values are no text if they have at least this many bytes on average, and no letters among them.
const LONG: usize = 6;
/// Values with some letters are no text if they have at least this many bytes on average.
const LONG_HEX: usize = 4;
/// Values that are no text have at most this many different bytes.
const MOST_BYTES: usize = 16;

/// Joined values have at least this many bytes on average.
const LONG_JOINED: usize = 16;
/// At most one in this number of joined values is equal to another.
const MOST_ALIKE: usize = 16;
/// Joined values as long as those of another slot have at most this many different bytes.
const MOST_BYTES_JOINED: usize = 64;

/// Sample of the values of a column.
pub(super) struct Sample<'b> {
    pub own: Vec<&'b [u8]>,
    pub hashes: Vec<u32>,
    /// For each value, its number among the different ones.
    numbers: Vec<u32>,
    /// Cost to spell each different value once.
    spelt: Vec<Cost>,
    /// Cost of the values as text.
    pub as_text: Cost,
    /// Cost of a byte of the values.
    of_byte: Cost,
    /// True if the column has far more values than the sample.
    is_small: bool,
}

impl<'b> Sample<'b> {
    /// Creates the sample `own` of a column of `count` values.
    pub(super) fn new(own: Vec<&'b [u8]>, count: usize) -> Self {
        let mut known = Distinct::new(own.len());
        let mut different: Vec<&[u8]> = Vec::new();
        let hashes: Vec<u32> = own.iter().map(|value| hash(value)).collect();
        let numbers = own.iter().zip(&hashes).map(|(value, &hash)| {
            let number = known.number(hash);
            if number as usize == different.len() {
                different.push(value);
            }
            number
        });
        let numbers: Vec<u32> = numbers.collect();
        let of_byte = of_byte(&different);
        let spelt: Vec<Cost> = different
            .iter()
            .map(|value| of_byte * (value.len() as u64 + 1))
            .collect();
        let is_small = count >= own.len() * SMALL;
        Sample {
            as_text: as_text(&numbers, &spelt),
            numbers,
            spelt,
            of_byte,
            own,
            hashes,
            is_small,
        }
    }

    /// Returns the form with the least cost, and this cost. `keys` are those of this sample, and
    /// may be up to `distances` slots before its values.
    pub(super) fn best_form(&self, distances: usize, keys: &mut KeyHashes<'b, '_>) -> (Form, Cost) {
        if self.as_text < LITTLE {
            return (Form::Text, self.as_text);
        }
        let mut best = (self.as_lowered_text(), Form::Text);
        let mut consider = |cost, form| {
            if cost < best.0 {
                best = (cost, form);
            }
        };
        let patterns = [Some(Pattern::default()), self.pattern()]
            .into_iter()
            .flatten();
        let parsed = patterns.filter_map(|pattern| Some((self.parsed(&pattern)?, pattern)));
        let costs = parsed.map(|(own, pattern)| (self.as_numbers(&own), own, pattern));
        if let Some((cost, own, pattern)) = costs.min_by_key(|&(cost, ..)| cost) {
            consider(cost, Form::Numbers(pattern.clone()));
            if self.own.len() >= LOOKED_AT {
                self.numbers_by_others(&own, &pattern, distances, keys, &mut consider);
            }
        }
        let mut last = Vec::new();
        let mut counts = Vec::new();
        for distance in 1..=distances {
            let form = Form::Predicted {
                distance,
                raised: false,
            };
            let cost = self.as_predicted(distance, keys, best.0, &mut last, &mut counts);
            let cost = cost.saturating_add(cost / LEAST_GAIN);
            if cost < best.0 {
                best = (cost, form);
            }
        }
        (self.finished(best.1, distances, keys), best.0)
    }

    /// Returns the form of an earlier block's column, and its cost, if it suits these values as
    /// well as those.
    pub(super) fn known_form(
        &self,
        known: &KnownForm,
        distances: usize,
        keys: &mut KeyHashes<'b, '_>,
    ) -> Option<(Form, Cost)> {
        if self.as_text < LITTLE {
            return Some((Form::Text, self.as_text));
        }
        let text = self.as_lowered_text();
        let more = |cost| cost + cost / LEAST_MORE;
        let cost = match &known.form {
            Form::Numbers(pattern) => self.as_numbers(&self.parsed(pattern)?),
            Form::NumbersByKey { distance, pattern } => {
                more(self.as_numbers_by_key(&self.parsed(pattern)?, *distance, keys))
            }
            Form::Sums {
                plus,
                minus,
                pattern,
            } => more(self.as_sums(&self.parsed(pattern)?, *plus, *minus, keys)),
            Form::Predicted { distance, .. } => {
                let cost =
                    self.as_predicted(*distance, keys, text, &mut Vec::new(), &mut Vec::new());
                cost.saturating_add(cost / LEAST_GAIN)
            }
            _ if known.is_text_like(self.own.len(), self.as_text) => {
                return Some((self.as_they_are(distances, keys), text));
            }
            _ => return None,
        };
        let suits = cost < text && known.gains_as_much(self.as_text, cost);
        suits.then(|| (self.finished(known.form.clone(), distances, keys), cost))
    }

    /// Returns the cost of text that other forms are compared with.
    fn as_lowered_text(&self) -> Cost {
        match self.is_small {
            true => self.as_text - self.as_text / LEAST_SMALL_GAIN,
            false => self.as_text,
        }
    }

    /// Returns the form with what follows from the bytes of the values.
    fn finished(&self, form: Form, distances: usize, keys: &KeyHashes) -> Form {
        match form {
            Form::Text => self.as_they_are(distances, keys),
            Form::Predicted { distance, .. } => Form::Predicted {
                distance,
                raised: self.are_no_text(),
            },
            form => form,
        }
    }

    /// Returns the form of values that nothing predicts.
    fn as_they_are(&self, distances: usize, keys: &KeyHashes) -> Form {
        let Bytes {
            of_value,
            different,
            are_letters,
            ..
        } = self.bytes();
        let as_long = |distance: &usize| {
            self.own
                .iter()
                .enumerate()
                .all(|(at, own)| own.len() == keys.key(*distance, at).len())
        };
        let is_one_length = self
            .own
            .iter()
            .all(|own| own.len() == self.own[0].len());
        let all_differ = self.spelt.len() >= self.own.len() - self.own.len() / MOST_ALIKE;
        let distance = match all_differ && of_value >= LONG_JOINED {
            true if is_one_length || are_letters && different <= MOST_BYTES => Some(0),
            true if different <= MOST_BYTES_JOINED => (1..=distances).find(as_long),
            _ => None,
        };
        match distance {
            Some(distance) => Form::Joined {
                distance,
                raised: !are_letters,
            },
            None if self.are_no_text() => Form::Raised,
            None => Form::Text,
        }
    }

    /// Returns true if the values are long and of few different bytes, as checksums are.
    fn are_no_text(&self) -> bool {
        let Bytes {
            of_value,
            different,
            are_letters,
            have_letters,
        } = self.bytes();
        let least = if have_letters { LONG_HEX } else { LONG };
        of_value >= least && different <= MOST_BYTES && !are_letters
    }

    fn bytes(&self) -> Bytes {
        let mut known = [false; 256];
        let mut bytes = 0;
        let mut are_letters = true;
        let mut have_letters = false;
        let looked_at = &self.own[..self.own.len().min(LOOKED_AT)];
        for value in looked_at {
            bytes += value.len();
            value
                .iter()
                .for_each(|&byte| known[usize::from(byte)] = true);
            are_letters &= value.iter().all(u8::is_ascii_alphabetic);
            have_letters |= value.iter().any(u8::is_ascii_alphabetic);
        }
        let different = known.iter().filter(|&&known| known).count();
        Bytes {
            of_value: bytes / looked_at.len().max(1),
            different,
            are_letters,
            have_letters,
        }
    }

    /// Considers numbers of the pattern as differences to numbers that other slots predict. For
    /// each way only the slots that leave the fewest bits are considered.
    fn numbers_by_others(
        &self,
        own: &[Option<i64>],
        pattern: &Pattern,
        distances: usize,
        keys: &mut KeyHashes<'b, '_>,
        consider: &mut impl FnMut(Cost, Form),
    ) {
        let some = &own[..LOOKED_AT];
        let mut consider = |cost, form| consider(cost + cost / LEAST_MORE, form);
        let of_some = |distance: usize, most| {
            bits(
                differences_by_key(some, keys.row(distance, LOOKED_AT)),
                most,
            )
        };
        if let Some(distance) = fewest(1..=distances, of_some) {
            let form = Form::NumbersByKey {
                distance,
                pattern: pattern.clone(),
            };
            consider(self.as_numbers_by_key(own, distance, keys), form);
        }
        let keys = &*keys;
        let few = &own[..SUMMED];
        let distances = distances.min(MOST_SUMMED);
        let slots = |distance| {
            (0..few.len())
                .map(|at| slot(keys, distance, at))
                .collect()
        };
        let slots: Vec<Vec<i64>> = (0..=distances).map(slots).collect();
        let of_few = |(plus, minus): (usize, usize), most| {
            let base = slots[plus]
                .iter()
                .zip(&slots[minus])
                .map(|(plus, minus)| plus - minus);
            bits(
                few.iter()
                    .zip(base)
                    .map(|(own, base)| own.map(|own| own - base)),
                most,
            )
        };
        let pairs =
            (1..=distances).flat_map(|plus| (0..=distances).map(move |minus| (plus, minus)));
        if let Some((plus, minus)) = fewest(pairs, of_few) {
            let form = Form::Sums {
                plus,
                minus,
                pattern: pattern.clone(),
            };
            consider(self.as_sums(own, plus, minus, keys), form);
        }
    }

    /// Returns the cost of numbers as differences to the last beside the same key.
    fn as_numbers_by_key(
        &self,
        own: &[Option<i64>],
        distance: usize,
        keys: &mut KeyHashes<'b, '_>,
    ) -> Cost {
        self.as_differences(differences_by_key(own, keys.row(distance, own.len())))
    }

    /// Returns the cost of numbers as differences to those of two slots.
    fn as_sums(&self, own: &[Option<i64>], plus: usize, minus: usize, keys: &KeyHashes) -> Cost {
        let base = |at| slot(keys, plus, at) - slot(keys, minus, at);
        let differences = (0..)
            .zip(own)
            .map(|(at, own)| own.map(|own| own - base(at)));
        self.as_differences(differences)
    }

    /// Returns the pattern of the majority of values, if one has a majority.
    fn pattern(&self) -> Option<Pattern> {
        let mut pattern = None;
        let mut votes = 0_usize;
        for value in &self.own {
            match Pattern::is_of(pattern.as_ref(), value) {
                true => votes += 1,
                false if votes == 0 => (pattern, votes) = (Pattern::of(value), 1),
                false => votes -= 1,
            }
        }
        pattern
    }

    /// Returns the values as numbers of the pattern, if nine in ten are.
    fn parsed(&self, pattern: &Pattern) -> Option<Vec<Option<i64>>> {
        let mut others_left = self.own.len() / 10;
        let mut numbers = Vec::with_capacity(self.own.len());
        for value in &self.own {
            let number = pattern.parse(value);
            if number.is_none() {
                others_left = others_left.checked_sub(1)?;
            }
            numbers.push(number);
        }
        Some(numbers)
    }

    fn as_numbers(&self, own: &[Option<i64>]) -> Cost {
        let mut before = 0;
        self.as_differences(own.iter().map(|&number| {
            let number = number?;
            Some(number - std::mem::replace(&mut before, number))
        }))
    }

    /// Returns the cost of differences. A value without one is spelt as it is.
    fn as_differences(&self, differences: impl Iterator<Item = Option<i64>>) -> Cost {
        let mut known = Distinct::new(self.own.len());
        let mut counts = Vec::new();
        let mut new = Places::default();
        let mut others = 0;
        let mut bytes = Vec::new();
        for (value, difference) in self.own.iter().zip(differences) {
            let zigzag = difference.map(numbers::zigzag);
            let symbol = zigzag.map_or_else(|| hash(value), |zigzag| hash(&zigzag.to_le_bytes()));
            let number = known.number(symbol) as usize;
            if number == counts.len() {
                counts.push(0);
                match zigzag {
                    Some(zigzag) => {
                        bytes.clear();
                        numbers::write(zigzag, &mut bytes);
                        new.add(&bytes);
                    }
                    None => others += value.len() as u64 + 2,
                }
            }
            counts[number] += 1;
        }
        cost(&counts) + new.cost() + self.of_byte * others
    }

    /// Returns the cost if the key at a distance predicts the values. Returns `Cost::MAX` if it
    /// predicts too few, or the cost is not less than `most`. `last` and `counts` are buffers.
    fn as_predicted(
        &self,
        distance: usize,
        keys: &mut KeyHashes<'b, '_>,
        most: Cost,
        last: &mut Vec<u32>,
        counts: &mut Vec<u32>,
    ) -> Cost {
        let bits = self.own.len().next_power_of_two().ilog2() + 1;
        last.clear();
        last.resize(1 << bits, u32::MAX);
        counts.clear();
        counts.resize(self.spelt.len() + 1, 0);
        // Predicted values are counted behind the different ones.
        let mut new = 0;
        let predicted = self.spelt.len();
        let tried = TRIED.min(self.own.len());
        for range in [0..tried, tried..self.own.len()] {
            if range.start == TRIED && counts[predicted] as usize * LEAST_PREDICTED < TRIED {
                return Cost::MAX;
            }
            keys.row(distance, range.end);
            let hashes = &keys.known(distance)[range.clone()];
            let values = self.numbers[range.clone()]
                .iter()
                .zip(&self.hashes[range.clone()]);
            for ((at, key), (&number, own)) in range.zip(hashes).zip(values) {
                let last = &mut last[(key >> (32 - bits)) as usize];
                let before = std::mem::replace(last, number);
                let is_key = || key == own && keys.key(distance, at) == self.own[at];
                let is_predicted = before == number || before == u32::MAX && is_key();
                counts[if is_predicted {
                    predicted
                } else {
                    number as usize
                }] += 1;
            }
            let spelt = self
                .spelt
                .iter()
                .zip(&*counts)
                .filter(|(_, count)| **count > 0);
            new = self.of_byte + spelt.map(|(spelt, _)| spelt).sum::<Cost>();
            if new >= most {
                return Cost::MAX;
            }
        }
        cost(counts) + new
    }
}

/// Returns the cost of values as text: the `numbers` of different ones, which are `spelt` once.
fn as_text(numbers: &[u32], spelt: &[Cost]) -> Cost {
    let mut counts = vec![0; spelt.len()];
    numbers
        .iter()
        .for_each(|&number| counts[number as usize] += 1);
    cost(&counts) + spelt.iter().sum::<Cost>()
}

/// Returns the number of the slot at a distance before the sample's value `at`; 0 if that is 0.
fn slot(keys: &KeyHashes, distance: usize, at: usize) -> i64 {
    match distance {
        0 => 0,
        _ => numbers::of_slot(keys.key(distance, at)),
    }
}

/// Statistics of the bytes of some values: their number per value, the number of different ones,
/// and whether all or some are letters.
struct Bytes {
    of_value: usize,
    different: usize,
    are_letters: bool,
    have_letters: bool,
}

#[cfg(test)]
mod tests {
    use super::super::column_values::LineValue;
    use super::super::key_hashes::Row;
    use super::super::parsed_lines::Value;
    use super::*;

    fn best(own: &[String], before: &[String]) -> Form {
        let mut block = Vec::new();
        let mut values = Vec::new();
        for value in before
            .iter()
            .zip(own)
            .flat_map(|(before, own)| [before, own])
        {
            values.push(Value {
                start: block.len() as u32,
                len: value.len() as u32,
            });
            block.extend_from_slice(value.as_bytes());
        }
        let mut keys = KeyHashes::new(&block, 1);
        let own = (1..values.len())
            .step_by(2)
            .map(|at| LineValue::new(&values, at));
        keys.next(own.collect(), Row::default());
        Sample::new(keys.own(), before.len())
            .best_form(1, &mut keys)
            .0
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
        assert_eq!(
            best(&padded, &noise),
            Form::Numbers(Pattern::of(b"000000").unwrap())
        );
        assert_eq!(
            best(&of_noise, &noise),
            Form::Predicted {
                distance: 1,
                raised: true
            }
        );
        assert_eq!(best(&few, &noise), Form::Text);
        let of_key = column(|n| format!("{}", n * n * 7919 % 97 * 1009 % 500 + n * n % 3));
        let pattern = Pattern::default();
        let by_key = Form::NumbersByKey {
            distance: 1,
            pattern: pattern.clone(),
        };
        assert_eq!(best(&of_key, &noise), by_key);
        let random = column(|n| format!("{}", n * 0x9E37_79B1 % 65_521));
        let more = column(|n| format!("{}", n * 0x9E37_79B1 % 65_521 + 7 + n % 2));
        assert_eq!(
            best(&more, &random),
            Form::Sums {
                plus: 1,
                minus: 0,
                pattern
            }
        );
        let checksums = column(|n| format!("{:08x}", n * 0x9E37_79B1 % 0xFFFF_FFFB));
        assert_eq!(best(&checksums, &random), Form::Raised);
    }
}
