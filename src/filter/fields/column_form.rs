//! Form of a column's values. FORMAT.md section 12.9.
//!
//! | bytes | the values |
//! |---|---|
//! | 0 | as they are, each with `0A` behind it |
//! | 1, pattern, `0A` | numbers of this pattern, as differences ([`super::numbers`]) |
//! | 2, distance | `0A` if predicted by the slot `distance` before ([`super::predictions`]), |
//! | | else the value and `0A`; an empty value that is not predicted is `01 0A` |
//! | 3, distance, pattern, `0A` | numbers, as differences to the last that stood beside the same |
//! | | value in the slot `distance` before |
//! | 4, plus, minus, pattern, `0A` | numbers, as differences to that `plus` slots before, less |
//! | | that `minus` slots before, if `minus` is not 0 |
//! | 5 | [`raised`], each with `0A` behind it |
//! | 6, distance | as in form 2, values [`raised`] |
//! | 7, 0 | the length of each, as a difference to the one before, and all of them joined |
//! | 7, distance, size | joined, each as long as the value in the slot `distance` before |
//! | 8, .. | as in form 7, values [`raised`] |
//! | 9, distance, separator, `0A` | lists, the first item by a slot before ([`super::lists`]) |

use super::lists::Separator;
use super::numbers::Pattern;
use crate::base::error::Flaw;

/// Minimum number of values of a column that stores its form. Smaller columns are text.
pub(super) const LEAST_VALUES: usize = 16;

/// Value that stands for an empty one that is not predicted.
pub(super) const EMPTY: &[u8] = b"\x01";

/// Form of a column's values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    #[default]
    Text,
    Numbers(Pattern),
    Predicted {
        distance: usize,
        raised: bool,
    },
    NumbersByKey {
        distance: usize,
        pattern: Pattern,
    },
    Sums {
        plus: usize,
        minus: usize,
        pattern: Pattern,
    },
    Raised,
    /// Values without line ends. If `distance` is not 0, each is as long as the value of another
    /// slot.
    Joined {
        distance: usize,
        raised: bool,
    },
    /// Lists. If `distance` is not 0, another slot is the key of the items.
    Lists {
        distance: usize,
        separator: Separator,
    },
    /// Values beside the text. This form is not written.
    Packed,
}

/// Moves a byte of a value that is no text away from the bytes of text, whose contexts it would
/// blur.
///
/// This is its own inverse, and no byte but a line end becomes a line end.
pub(super) fn raised(byte: u8) -> u8 {
    if byte & 0x7F == b'\n' {
        byte
    } else {
        byte ^ 0x80
    }
}

impl Form {
    /// Takes the form of a column that has `depth` slots before it off the front of `bytes`.
    pub(super) fn read(bytes: &mut &[u8], depth: u32) -> Result<Self, Flaw> {
        const UNKNOWN: Flaw = Flaw("a column of a block of fields is of an unknown form");
        let fits = |distance: u8| (1..=depth).contains(&distance.into());
        let (kind, distances, mut rest) = match **bytes {
            [kind @ (0 | 1 | 5), ref rest @ ..] => (kind, [0; 2], rest),
            [kind @ 7..=9, 0, ref rest @ ..] => (kind, [0; 2], rest),
            [kind @ (2 | 3 | 6..=9), distance, ref rest @ ..] if fits(distance) => {
                (kind, [distance, 0], rest)
            }
            [4, plus, minus, ref rest @ ..] if fits(plus) && (minus == 0 || fits(minus)) => {
                (4, [plus, minus], rest)
            }
            _ => return Err(UNKNOWN),
        };
        let mut line = || {
            let end = memchr::memchr(b'\n', rest)?;
            let line = &rest[..end];
            rest = &rest[end + 1..];
            Some(line)
        };
        let mut pattern = || Pattern::read(line()?);
        let [distance, minus] = distances.map(usize::from);
        let form = match kind {
            0 => Form::Text,
            1 => Form::Numbers(pattern().ok_or(UNKNOWN)?),
            2 | 6 => Form::Predicted {
                distance,
                raised: kind == 6,
            },
            3 => Form::NumbersByKey {
                distance,
                pattern: pattern().ok_or(UNKNOWN)?,
            },
            4 => Form::Sums {
                plus: distance,
                minus,
                pattern: pattern().ok_or(UNKNOWN)?,
            },
            5 => Form::Raised,
            7 | 8 => Form::Joined {
                distance,
                raised: kind == 8,
            },
            _ => {
                let separator = line().and_then(Separator::read).ok_or(UNKNOWN)?;
                Form::Lists {
                    distance,
                    separator,
                }
            }
        };
        *bytes = rest;
        Ok(form)
    }

    /// Returns the pattern of its numbers, if it is a form of numbers.
    pub(super) fn pattern(&self) -> Option<&Pattern> {
        match self {
            Form::Numbers(pattern)
            | Form::NumbersByKey { pattern, .. }
            | Form::Sums { pattern, .. } => Some(pattern),
            _ => None,
        }
    }

    /// Returns true if it has a table of the last value beside each key.
    pub(super) fn has_table(&self) -> bool {
        matches!(self, Form::Predicted { .. } | Form::NumbersByKey { .. })
    }

    /// Returns true if the column is not written in the parts of the block, one behind the other.
    /// Then a stored value depends on those before, or is stored in more than one piece.
    pub(super) fn is_written_whole(&self) -> bool {
        let by_others = matches!(
            self,
            Form::Sums { .. } | Form::Joined { .. } | Form::Lists { .. }
        );
        by_others || self.has_table()
    }

    /// Appends its bytes.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Form::Text => out.push(0),
            Form::Numbers(_) => out.push(1),
            Form::Predicted { distance, raised } => {
                out.extend([if *raised { 6 } else { 2 }, *distance as u8]);
            }
            Form::NumbersByKey { distance, .. } => out.extend([3, *distance as u8]),
            Form::Sums { plus, minus, .. } => out.extend([4, *plus as u8, *minus as u8]),
            Form::Raised => out.push(5),
            Form::Packed => {}
            Form::Joined { distance, raised } => {
                out.extend([if *raised { 8 } else { 7 }, *distance as u8]);
            }
            Form::Lists {
                distance,
                separator,
            } => {
                out.extend([9, *distance as u8]);
                out.extend_from_slice(separator.bytes());
                out.push(b'\n');
            }
        }
        if let Some(pattern) = self.pattern() {
            out.extend_from_slice(pattern.bytes());
            out.push(b'\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_survive_where_they_fit() {
        let clock = Pattern::of(b"23:59").unwrap();
        let pattern = clock.clone();
        let forms = [
            Form::Text,
            Form::Raised,
            Form::Numbers(clock),
            Form::Predicted {
                distance: 3,
                raised: false,
            },
            Form::Predicted {
                distance: 3,
                raised: true,
            },
            Form::NumbersByKey {
                distance: 3,
                pattern: pattern.clone(),
            },
            Form::Sums {
                plus: 3,
                minus: 0,
                pattern: pattern.clone(),
            },
            Form::Sums {
                plus: 1,
                minus: 3,
                pattern,
            },
            Form::Joined {
                distance: 0,
                raised: false,
            },
            Form::Joined {
                distance: 3,
                raised: true,
            },
            Form::Lists {
                distance: 0,
                separator: Separator::read(b"; ").unwrap(),
            },
            Form::Lists {
                distance: 3,
                separator: Separator::read(b"").unwrap(),
            },
        ];
        for form in forms {
            let mut bytes = Vec::new();
            form.write(&mut bytes);
            assert_eq!(Form::read(&mut &bytes[..], 3), Ok(form));
            assert!(Form::read(&mut &bytes[..bytes.len() - 1], 3).is_err());
        }
        let wrong: [&[u8]; 17] = [
            b"\x0112\n",
            &[1, b'0'],
            &[2, 0],
            &[2, 4],
            b"\x03\x00\n",
            b"\x03\x04\n",
            b"\x04\x00\x01\n",
            b"\x04\x01\x04\n",
            &[6, 0],
            &[6, 4],
            &[7],
            &[8, 4],
            &[9],
            b"\x09\x04;\n",
            b"\x09\x00\x01\n",
            b"\x09\x0012345\n",
            &[10],
        ];
        for wrong in wrong {
            assert!(Form::read(&mut &wrong[..], 3).is_err());
        }
    }
}
