//! Choice of the form of lists for a column, with the separator and the key of the items.
//!
//! The coded size of a sample decides. The number of bytes that items share is no good estimate of
//! it, since the sort finds some of them too.

use super::coded_size::coded_size;
use super::column_form::Form;
use super::key_hashes::KeyHashes;
use super::lists::{self, Separator};
use crate::base::error::Flaw;

/// Values of fewer bytes on average are not considered.
const LEAST_LEN: usize = 12;

/// Separators that are tried.
const SEPARATORS: [&[u8]; 8] = [b"; ", b", ", b";", b",", b"|", b":", b" ", b""];

/// Number of first values by which the separator and the distance of the key are chosen.
const LOOKED_AT: usize = 64;
/// Maximum size in bytes of these values. Every combination reads them, and without a limit they
/// could be the whole block.
const MOST_LOOKED_AT: usize = 64 << 10;
/// Number of first values that are coded to decide between text and lists.
const TRIED: usize = 1024;
/// Maximum size in bytes of the coded values.
const MOST_TRIED: usize = 256 << 10;
/// The first values have to get shorter by at least one part in this number before any are coded.
const LEAST_SAVED: usize = 8;

/// Lists have to be smaller than text by at least one part in this number once coded.
const LEAST_GAIN: usize = 32;

/// Returns the form of lists for a column's values if it gains over text.
///
/// # Errors
/// [`Flaw::NO_MEMORY`] if there is no memory.
pub(super) fn choose(
    own: &[&[u8]],
    distances: usize,
    keys: &KeyHashes,
) -> Result<Option<Form>, Flaw> {
    let few = first(own, LOOKED_AT, MOST_LOOKED_AT);
    let bytes: usize = few.iter().map(|value| value.len()).sum();
    if few.is_empty()
        || bytes < few.len() * LEAST_LEN
        || !few.iter().all(|value| lists::may_be(value))
    {
        return Ok(None);
    }
    let stored = |count: usize, distance: usize, separator: &Separator| {
        let mut text = Vec::new();
        for (at, value) in own[..count].iter().enumerate() {
            let key = if distance == 0 {
                &[][..]
            } else {
                keys.key(distance, at)
            };
            lists::write(value, key, separator, &mut text);
            text.push(b'\n');
        }
        text
    };
    let separators = SEPARATORS
        .iter()
        .filter_map(|bytes| Separator::read(bytes));
    let ways = separators
        .flat_map(|separator| (0..=distances).map(move |distance| (distance, separator.clone())));
    let sized = ways.map(|(distance, separator)| {
        (
            stored(few.len(), distance, &separator).len(),
            distance,
            separator,
        )
    });
    let best = sized.min_by_key(|&(size, ..)| size);
    let whole = bytes + few.len();
    let Some((_, distance, separator)) =
        best.filter(|(size, ..)| size + whole / LEAST_SAVED < whole)
    else {
        return Ok(None);
    };
    let tried = first(own, TRIED, MOST_TRIED);
    if !tried.iter().all(|value| lists::may_be(value)) {
        return Ok(None);
    }
    let text: Vec<u8> = tried
        .iter()
        .flat_map(|value| [value, &b"\n"[..]].concat())
        .collect();
    let as_text = coded_size(&text)?;
    let as_lists = coded_size(&stored(tried.len(), distance, &separator))?;
    let gains = as_lists + as_text / LEAST_GAIN < as_text;
    Ok(gains.then_some(Form::Lists {
        distance,
        separator,
    }))
}

/// Returns the first values, at most `most` of them and at most `bytes` bytes.
fn first<'o, 'b>(own: &'o [&'b [u8]], most: usize, mut bytes: usize) -> &'o [&'b [u8]] {
    let fits = |value: &&&[u8]| {
        let left = bytes.checked_sub(value.len());
        bytes = left.unwrap_or(0);
        left.is_some()
    };
    &own[..own.iter().take(most).take_while(fits).count()]
}

#[cfg(test)]
mod tests {
    use super::super::known_forms::KnownForms;
    use super::super::line_parts::take_any_apart;
    use super::super::put_together;
    use super::super::tokens::Tokens;
    use crate::base::threads::Threads;

    /// Lines of a name and a list of similar names. The value of a line near the end is `odd`,
    /// which may be no list.
    fn lines(odd: &str) -> String {
        let sounds = ["ber", "ge", "lin", "vo", "schu", "ta", "\u{e4}r", "no"];
        let line = |n: usize| {
            let noise = n.wrapping_mul(0x9E37_79B9) >> 3;
            let name: String = (0..6)
                .map(|k| sounds[noise >> (3 * k) & 7])
                .collect();
            let other = name.replace('e', "\u{e9}");
            match n {
                1495 => format!("{name},{odd}\n"),
                _ => format!("{name},\"{name}en; {name}; {other}; in {name}\"\n"),
            }
        };
        (0..1500).map(line).collect()
    }

    #[test]
    fn lists_are_found_and_come_back() {
        let of = |odd: &str| {
            let block = lines(odd).into_bytes();
            let tokens = Tokens::Fields(b',');
            let apart = take_any_apart(&block, tokens, &KnownForms::default(), &Threads::Calling)
                .unwrap()
                .unwrap();
            let restored = put_together(&apart.text, &mut &apart.side[..], block.len());
            assert_eq!(restored.as_ref(), Ok(&block));
            memchr::memmem::find(&apart.text, b"\x09\x01; \n").is_some()
        };
        for list in ["", "\"\"", "\"; ; \"", "x", "\"a\"\"b; \""] {
            assert!(of(list), "{list}");
        }
        for odd in ["\"", "\"a\"b", "'a", "a\tb", "a\u{1f}"] {
            assert!(!of(odd), "{odd}");
        }
    }
}
