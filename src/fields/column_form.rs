//! The form of a column's values.
//!
//! | bytes | the values |
//! |---|---|
//! | 0 | as they are, each with `0A` behind it |
//! | 1, pattern, `0A` | numbers that look like it, as differences ([`super::numbers`]) |
//! | 2, distance | `0A` where it is predicted by the slot `distance` before ([`super::predictions`]), |
//! | | else the value and `0A`; an empty value that is not predicted is `01 0A` |

use super::numbers::Pattern;
use crate::error::Flaw;

/// Values of a column that has a form; those of smaller ones are as they are.
pub(super) const LEAST_VALUES: usize = 16;

/// Stands for an empty value that is not predicted.
pub(super) const EMPTY: &[u8] = b"\x01";

/// The form of a column's values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    #[default]
    Text,
    Numbers(Pattern),
    Predicted {
        distance: usize,
    },
}

impl Form {
    /// Takes the form of a column that has `depth` slots before it off the front of `bytes`.
    pub fn read(bytes: &mut &[u8], depth: u32) -> Result<Self, Flaw> {
        const UNKNOWN: Flaw = Flaw("a column of a block of fields is of an unknown form");
        let (form, rest) = match **bytes {
            [0, ref rest @ ..] => (Form::Text, rest),
            [1, ref rest @ ..] => {
                let end = memchr::memchr(b'\n', rest).ok_or(UNKNOWN)?;
                let pattern = Pattern::read(&rest[..end]).ok_or(UNKNOWN)?;
                (Form::Numbers(pattern), &rest[end + 1..])
            }
            [2, distance, ref rest @ ..] if (1..=depth).contains(&distance.into()) => {
                (Form::Predicted { distance: distance.into() }, rest)
            }
            _ => return Err(UNKNOWN),
        };
        *bytes = rest;
        Ok(form)
    }

    /// Appends it.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Form::Text => out.push(0),
            Form::Numbers(pattern) => {
                out.push(1);
                out.extend_from_slice(pattern.bytes());
                out.push(b'\n');
            }
            Form::Predicted { distance } => out.extend([2, *distance as u8]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_survive_where_they_fit() {
        let clock = Pattern::of(b"23:59").unwrap();
        let forms = [Form::Text, Form::Numbers(clock), Form::Predicted { distance: 3 }];
        for form in forms {
            let mut bytes = Vec::new();
            form.write(&mut bytes);
            assert_eq!(Form::read(&mut &bytes[..], 3), Ok(form));
            assert!(Form::read(&mut &bytes[..bytes.len() - 1], 3).is_err());
        }
        for wrong in [&b"\x0112\n"[..], &[1, b'0'], &[2, 0], &[2, 4], &[3, 0]] {
            assert!(Form::read(&mut &wrong[..], 3).is_err());
        }
    }
}
