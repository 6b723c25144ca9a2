//! Shape of the values of a column, from which their packed layout follows.

use super::numbers;
use super::packed_layout::{LONGEST, Layout, Run, Symbols};
use super::symbol_cost::{Cost, log2};

/// Cost of the number of a packed column, 8 bits.
const OF_COLUMN: Cost = 8 * 16;
/// Cost of a run of places in a layout, 24 bits.
const OF_RUN: Cost = 24 * 16;
/// Cost of a layout of integers, 64 bits.
const OF_INTEGERS: Cost = 64 * 16;

/// Words waste up to one bit of 60. One part in this number is added to the cost for it.
const WORDS: Cost = 128;

/// Properties that the values of a column added so far have in common.
#[derive(Debug)]
pub(super) struct Shape {
    /// Number of values.
    pub count: usize,
    /// The set of bytes at each place, one bit per byte, if all values have one length.
    places: Option<Vec<u128>>,
    /// The least and the greatest value, if all are integers.
    integers: Option<(u64, u64)>,
}

impl Default for Shape {
    fn default() -> Self {
        Shape {
            count: 0,
            places: Some(Vec::new()),
            integers: Some((u64::MAX, 0)),
        }
    }
}

impl Shape {
    /// Adds a value. Returns true if all values together may have a layout.
    pub(super) fn add(&mut self, value: &[u8]) -> bool {
        if let Some(places) = &mut self.places {
            if self.count == 0 && value.len() <= LONGEST {
                places.resize(value.len(), 0);
            }
            if value.len() == places.len() && !value.is_empty() && value.is_ascii() {
                places
                    .iter_mut()
                    .zip(value)
                    .for_each(|(place, byte)| *place |= 1 << byte);
            } else {
                self.places = None;
            }
        }
        if let Some((least, most)) = self.integers {
            let of = |number: u64| (least.min(number), most.max(number));
            self.integers = numbers::large(value).map(of);
        }
        self.count += 1;
        self.places.is_some() || self.integers.is_some()
    }

    /// Returns the layout that costs the least, and the cost of all values in it.
    pub(super) fn layout(&self) -> Option<(Layout, Cost)> {
        if self.count == 0 {
            return None;
        }
        let of_places = self
            .places
            .as_ref()
            .and_then(|places| self.of_places(places));
        let of_integers = self.integers.map(|(low, most)| {
            let count = most - low + 1;
            let cost = OF_INTEGERS + self.count as Cost * log2(count);
            (Layout::Integers { low, count }, cost)
        });
        let layouts = [of_places, of_integers].into_iter().flatten();
        let (layout, cost) = layouts.min_by_key(|&(_, cost)| cost)?;
        Some((layout, OF_COLUMN + cost + cost / WORDS))
    }

    /// Finds the runs of places. Neighbouring runs are joined if that costs less.
    fn of_places(&self, places: &[u128]) -> Option<(Layout, Cost)> {
        let mut runs: Vec<(u8, u128, Cost)> = Vec::new();
        let cost = |len: u8, bytes| {
            let radix = symbols(bytes)?.count;
            Some(OF_RUN + Cost::from(len) * self.count as Cost * log2(radix.into()))
        };
        for &bytes in places {
            let mut last = (1, bytes, cost(1, bytes)?);
            while let Some(&(len, of_run, apart)) = runs.last()
                && let Some(joined) = cost(last.0 + len, last.1 | of_run)
                && joined <= apart + last.2
            {
                runs.pop();
                last = (last.0 + len, last.1 | of_run, joined);
            }
            runs.push(last);
        }
        let cost = runs.iter().map(|&(.., cost)| cost).sum();
        let run = |(len, bytes, _)| {
            Some(Run {
                len,
                symbols: symbols(bytes)?,
            })
        };
        Some((
            Layout::Places(runs.into_iter().map(run).collect::<Option<_>>()?),
            cost,
        ))
    }

    /// Returns true if the values fit `layout`, which belongs to another column, and cost little
    /// more in it than in their own one.
    pub(super) fn suits(&self, layout: &Layout, own: &Layout) -> bool {
        let (Layout::Places(runs), Layout::Places(own)) = (layout, own) else {
            return false;
        };
        let Some(places) = self
            .places
            .as_ref()
            .filter(|of| of.len() == layout.least_len())
        else {
            return false;
        };
        let all = runs
            .iter()
            .flat_map(|run| (0..run.len).map(|_| run.symbols));
        let has = |(symbols, &bytes): (Symbols, &u128)| bytes & !symbols.bytes() == 0;
        let radices = |runs: &[Run]| -> Cost {
            let of = |run: &Run| Cost::from(run.len) * log2(run.symbols.count.into());
            runs.iter().map(of).sum()
        };
        let more = radices(runs).saturating_sub(radices(own)) * self.count as Cost;
        more < OF_RUN * own.len() as Cost && all.zip(places).all(has)
    }
}

/// Returns the smallest range of symbols that has all of `bytes`: digits, digits and letters, or
/// one byte. `None` if there is none.
fn symbols(bytes: u128) -> Option<Symbols> {
    let first = bytes.trailing_zeros() as u8;
    let last = 127 - bytes.leading_zeros() as u8;
    let of = |count, is_upper| Symbols {
        count,
        is_upper,
        first,
    };
    if first == last {
        return Some(of(1, false));
    }
    let digits = u128::from(!0_u64 >> 54) << b'0';
    let letters = |a: u8| u128::from(!0_u64 >> 38) << a;
    [b'a', b'A'].into_iter().find_map(|a| {
        let fits = bytes & !(digits | letters(a)) == 0;
        let gap = if first <= b'9' && last > b'9' {
            a - b'9' - 1
        } else {
            0
        };
        fits.then(|| of(last - first - gap + 1, a == b'A'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(values: &[&str]) -> Option<Layout> {
        let mut shape = Shape::default();
        let all_fit = values
            .iter()
            .all(|value| shape.add(value.as_bytes()));
        shape
            .layout()
            .filter(|_| all_fit)
            .map(|(layout, _)| layout)
    }

    /// Runs of `count` symbols from `first` on.
    fn places(runs: &[(u8, u8, u8)]) -> Option<Layout> {
        let run = |&(len, count, first): &(u8, u8, u8)| Run {
            len,
            symbols: Symbols {
                count: count & 127,
                is_upper: count > 127,
                first,
            },
        };
        Some(Layout::Places(runs.iter().map(run).collect()))
    }

    #[test]
    fn a_layout_is_that_of_all_values() {
        // A dash is no digit; places that differ little are one run.
        let ids = ["0a-77", "9f-05", "b3-93", "c4-18"];
        assert_eq!(
            layout(&ids),
            places(&[(2, 16, b'0'), (1, 1, b'-'), (2, 10, b'0')])
        );
        assert_eq!(layout(&["0A", "F9"]), places(&[(2, 128 + 16, b'0')]));
        assert_eq!(layout(&["az", "ba"]), places(&[(2, 26, b'a')]));
        // No layout has letters of both cases, or other bytes.
        for other in [
            &["aB", "Ba"][..],
            &["a-", "-a"],
            &["a", "ab"],
            &["\u{e9}"],
            &[""],
            &[],
        ] {
            assert_eq!(layout(other), None, "{other:?}");
        }
        // Lengths differ, or there is a leading zero.
        let integers = Some(Layout::Integers {
            low: 7,
            count: 1020,
        });
        assert_eq!(layout(&["7", "1026", "99"]), integers);
        for other in [
            &["07", "1026"][..],
            &["-7", "1026"],
            &["9223372036854775808", "7"],
        ] {
            assert_eq!(layout(other), None, "{other:?}");
        }
    }

    #[test]
    fn a_layout_suits_values_that_it_has_symbols_for() {
        let hex = places(&[(4, 16, b'0')]).unwrap();
        let suits = |values: &[&str]| {
            let mut shape = Shape::default();
            assert!(
                values
                    .iter()
                    .all(|value| shape.add(value.as_bytes()))
            );
            let (own, _) = shape.layout().unwrap();
            shape.suits(&hex, &own)
        };
        assert!(suits(&["01f7", "8c33"]) && suits(&["7777"]));
        assert!(!suits(&["01f", "8c3"]) && !suits(&["01g7"]) && !suits(&["01F7"]));
        // With 10 symbols in each place, radix 16 costs too much for many values.
        assert!(!suits(&["0123", "4567", "8901"].repeat(100)));
    }
}
