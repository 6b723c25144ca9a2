//! Layout of the values of a packed column. Either all values have one length, and at each place
//! one of a few symbols; or they are integers. [`super::packed_words`] says how they are stored.

use crate::base::error::Flaw;

/// Maximum size of a value in bytes, unless it is an integer.
pub(super) const LONGEST: usize = 255;

/// Integers are below this.
pub(super) const MOST_INTEGER: u64 = 1 << 63;

pub(super) const CUT: Flaw = Flaw("the packed values of a block of fields end too early");
pub(super) const NO_LAYOUT: Flaw = Flaw("a packed column of a block of fields has no layout");

/// Symbols of a place: `first` and the bytes behind it, except that `9` is followed by a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Symbols {
    /// Number of symbols, 1 to 127.
    pub count: u8,
    pub is_upper: bool,
    pub first: u8,
}

/// Consecutive places that have the same symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub len: u8,
    pub symbols: Symbols,
}

/// Layout of the values of a packed column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    Places(Vec<Run>),
    /// Decimal integers without leading zeros: the `count` integers from `low` on.
    Integers {
        low: u64,
        count: u64,
    },
}

impl Symbols {
    /// Number of bytes that are left out behind `9`.
    fn gap(self) -> u8 {
        let letter = if self.is_upper { b'A' } else { b'a' };
        if self.first <= b'9' {
            letter - b'9' - 1
        } else {
            0
        }
    }

    pub(super) fn of(self, digit: u64) -> u8 {
        let symbol = self.first.wrapping_add(digit as u8);
        if symbol > b'9' {
            symbol.wrapping_add(self.gap())
        } else {
            symbol
        }
    }

    pub(super) fn digit(self, symbol: u8) -> u64 {
        let skipped = if symbol > b'9' { self.gap() } else { 0 };
        u64::from(symbol - skipped - self.first)
    }

    /// Returns the set of its ASCII symbols, one bit per symbol.
    pub(super) fn bytes(self) -> u128 {
        let all = (0..self.count).map(|digit| self.of(digit.into()));
        all.filter(u8::is_ascii)
            .fold(0, |bytes, symbol| bytes | 1 << symbol)
    }

    fn is_valid(self) -> bool {
        let last = u32::from(self.first) + u32::from(self.count).saturating_sub(1);
        let gap = if last > u32::from(b'9') {
            self.gap()
        } else {
            0
        };
        self.count > 0 && last + u32::from(gap) <= 255
    }
}

impl Layout {
    /// Takes a layout off the front of `side`.
    pub(super) fn read(side: &mut &[u8]) -> Result<Self, Flaw> {
        let mut byte = || side.split_off_first().copied().ok_or(CUT);
        let runs = byte()?;
        if runs == 0 {
            let sizes = byte()?;
            let mut number = |size: u8| -> Result<u64, Flaw> {
                (0..size).try_fold(0, |number: u64, _| Ok(number << 8 | u64::from(byte()?)))
            };
            if sizes & 15 > 8 || sizes >> 4 > 8 {
                return Err(NO_LAYOUT);
            }
            let low = number(sizes & 15)?;
            let more = number(sizes >> 4)?;
            let end = low
                .checked_add(more)
                .filter(|&most| most < MOST_INTEGER)
                .ok_or(NO_LAYOUT)?;
            return Ok(Layout::Integers {
                low,
                count: end - low + 1,
            });
        }
        let run = |_| -> Result<Run, Flaw> {
            let [len, symbols, first] = [byte()?, byte()?, byte()?];
            let symbols = Symbols {
                count: symbols & 127,
                is_upper: symbols > 127,
                first,
            };
            let is_valid = len > 0 && symbols.is_valid();
            if is_valid {
                Ok(Run { len, symbols })
            } else {
                Err(NO_LAYOUT)
            }
        };
        let layout = Layout::Places((0..runs).map(run).collect::<Result<_, _>>()?);
        if layout.least_len() <= LONGEST {
            Ok(layout)
        } else {
            Err(NO_LAYOUT)
        }
    }

    /// Appends its bytes.
    pub(super) fn write(&self, side: &mut Vec<u8>) {
        match self {
            Layout::Places(runs) => {
                side.push(runs.len() as u8);
                for Run {
                    len,
                    symbols:
                        Symbols {
                            count,
                            is_upper,
                            first,
                        },
                } in runs
                {
                    side.extend([*len, count | u8::from(*is_upper) << 7, *first]);
                }
            }
            Layout::Integers { low, count } => {
                let numbers = [*low, count - 1];
                let [low, more] = numbers.map(|number| number.leading_zeros() as usize / 8);
                side.extend([0, (8 - low + ((8 - more) << 4)) as u8]);
                side.extend_from_slice(&numbers[0].to_be_bytes()[low..]);
                side.extend_from_slice(&numbers[1].to_be_bytes()[more..]);
            }
        }
    }

    /// Minimum size of a value, in bytes.
    pub(super) fn least_len(&self) -> usize {
        match self {
            Layout::Places(runs) => runs.iter().map(|run| usize::from(run.len)).sum(),
            Layout::Integers { .. } => 1,
        }
    }

    /// Returns the digits of a value with a radix above 1: the number of consecutive digits, and
    /// their radix.
    pub(super) fn radices(&self) -> Vec<(u8, u64)> {
        match self {
            Layout::Places(runs) => {
                let runs = runs
                    .iter()
                    .map(|run| (run.len, u64::from(run.symbols.count)));
                runs.filter(|&(_, radix)| radix > 1).collect()
            }
            Layout::Integers { count: 1, .. } => Vec::new(),
            Layout::Integers { count, .. } => vec![(1, *count)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: Symbols = Symbols {
        count: 16,
        is_upper: false,
        first: b'0',
    };

    #[test]
    fn symbols_are_digits_and_then_letters() {
        let upper = Symbols {
            count: 36,
            is_upper: true,
            first: b'0',
        };
        let bytes = Symbols {
            count: 127,
            is_upper: false,
            first: 0x81,
        };
        let letters = Symbols {
            count: 4,
            is_upper: false,
            first: b'8',
        };
        let all = |symbols: Symbols| -> Vec<u8> {
            (0..symbols.count)
                .map(|digit| symbols.of(digit.into()))
                .collect()
        };
        assert_eq!(all(HEX), b"0123456789abcdef");
        assert_eq!(all(upper), b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        assert_eq!(all(letters), b"89ab");
        assert_eq!(all(bytes), (0x81..=0xFF).collect::<Vec<u8>>());
        for symbols in [HEX, upper, bytes, letters] {
            assert!(symbols.is_valid());
            let digits = all(symbols)
                .into_iter()
                .map(|symbol| symbols.digit(symbol));
            assert!(digits.eq(0..symbols.count.into()));
        }
        assert!(
            !Symbols {
                count: 127,
                is_upper: false,
                first: 0x82
            }
            .is_valid()
        );
        assert!(!Symbols { count: 0, ..HEX }.is_valid());
    }

    #[test]
    fn layouts_survive_and_others_do_not() {
        let runs = [
            Run {
                len: 250,
                symbols: HEX,
            },
            Run {
                len: 5,
                symbols: HEX,
            },
        ];
        let most = MOST_INTEGER - 1;
        let layouts = [
            Layout::Places(runs.to_vec()),
            Layout::Integers { low: 0, count: 1 },
            Layout::Integers {
                low: 0,
                count: MOST_INTEGER,
            },
            Layout::Integers {
                low: most,
                count: 1,
            },
            Layout::Integers {
                low: 1024,
                count: 64_512,
            },
        ];
        for layout in layouts {
            let mut side = Vec::new();
            layout.write(&mut side);
            let mut rest = &side[..];
            assert_eq!((Layout::read(&mut rest), rest.len()), (Ok(layout), 0));
            assert!((0..side.len()).all(|cut| Layout::read(&mut &side[..cut]) == Err(CUT)));
        }
        let most = most.to_be_bytes();
        let above = [&[0, 0x18][..], &most, &[1]].concat();
        let wrong: [&[u8]; 7] = [
            &[1, 0, 16, b'0'],
            &[1, 1, 0, b'0'],
            &[1, 1, 127, 0x82],
            &[2, 255, 16, b'0', 1, 16, b'0'],
            &[0, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1],
            &[0, 0x90, 1, 1, 1, 1, 1, 1, 1, 1, 1],
            &above,
        ];
        for wrong in wrong {
            assert_eq!(Layout::read(&mut &wrong[..]), Err(NO_LAYOUT), "{wrong:?}");
        }
    }
}
