//! Decimal numbers in pax records and lists of parts.

use std::str::FromStr;

/// A decimal number.
pub(super) fn number<N: FromStr>(digits: &[u8]) -> Option<N> {
    str::from_utf8(digits).ok()?.parse().ok()
}
