//! The tables of Frame_Header, FORMAT.md section 3.3, and the digest at the end of a frame that the
//! header announces.

use super::field_bytes::{ensure, put_uint, uint_at};
use super::tables::{self, CONTENT_SIZE, METADATA, to_bytes as tables_to_bytes};
use crate::base::error::{Flaw, Unknown, Unreadable};
use crate::base::leb128;

/// Key and value of what a user says about a frame.
pub type Note = (String, String);

/// Maximum size of the table Metadata in bytes.
pub(crate) const MOST_METADATA: usize = 64 << 10;

/// Maximum size of a key in bytes.
const LONGEST_KEY: usize = 255;

/// Bytes of the table Content_Size.
const CONTENT_SIZE_LEN: usize = 7;

/// The stored tables of a header; empty if there is nothing to say.
pub(crate) fn to_bytes(content_size: Option<u64>, metadata: &[Note]) -> Vec<u8> {
    let mut size = [0; CONTENT_SIZE_LEN];
    put_uint::<CONTENT_SIZE_LEN>(&mut size, 0, content_size.unwrap_or(0));
    let metadata = metadata_to_bytes(metadata);
    let mut tables: Vec<(u16, &[u8])> = Vec::new();
    if content_size.is_some() {
        tables.push((CONTENT_SIZE, &size));
    }
    if !metadata.is_empty() {
        tables.push((METADATA, &metadata));
    }
    match tables.is_empty() {
        true => Vec::new(),
        false => tables_to_bytes(&tables),
    }
}

/// Parses the table Content_Size.
pub(crate) fn content_size(content: &[u8]) -> Result<u64, Flaw> {
    ensure(
        content.len() == CONTENT_SIZE_LEN,
        "the content size in the frame header has the wrong size",
    )?;
    Ok(uint_at::<CONTENT_SIZE_LEN>(content, 0))
}

/// Reads the tables of a header, and writes those again that are known.
pub(crate) fn again(mut bytes: &[u8]) -> Result<Vec<u8>, Unreadable> {
    let cut = |_| Flaw("the tables of the frame header end too early");
    let wanted = [CONTENT_SIZE, METADATA];
    let mut read =
        tables::read_wanted(&mut bytes, &wanted, MOST_METADATA as u64).map_err(cut)??;
    let size = read.take(CONTENT_SIZE);
    let size = size
        .map(|content| content_size(&content))
        .transpose()?;
    let notes = read
        .take(METADATA)
        .and_then(|content| metadata(&content));
    ensure(size.is_some() || notes.is_some(), "no table is known")?;
    Ok(to_bytes(size, &notes.unwrap_or_default()))
}

/// The content of the table Metadata.
fn metadata_to_bytes(notes: &[Note]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for text in notes.iter().flat_map(|(key, value)| [key, value]) {
        leb128::write(text.len(), &mut bytes);
        bytes.extend_from_slice(text.as_bytes());
    }
    bytes
}

/// True if a key may be written: 1 to 255 bytes without control characters and `=`.
pub(crate) fn is_key(key: &str) -> bool {
    let allowed = |c: char| !c.is_control() && c != '=';
    (1..=LONGEST_KEY).contains(&key.len()) && key.chars().all(allowed)
}

/// True if all notes together fit in the table.
pub(crate) fn fits(notes: &[Note]) -> bool {
    metadata_to_bytes(notes).len() <= MOST_METADATA
}

/// Parses the table Metadata. `None` if it is not valid: nothing depends on it.
pub(crate) fn metadata(mut content: &[u8]) -> Option<Vec<Note>> {
    let mut text = || {
        let size = leb128::read(&mut content).ok()?;
        let bytes = content.split_off(..size)?;
        let text = String::from_utf8(bytes.to_vec()).ok()?;
        Some((text, content.is_empty()))
    };
    let mut notes = Vec::new();
    loop {
        let (key, _) = text().filter(|(key, _)| is_key(key))?;
        let (value, is_last) = text()?;
        notes.push((key, value));
        if is_last {
            return Some(notes);
        }
    }
}

/// Check_Type: the check of the whole raw stream beside its CRC-32.
pub(crate) const NO_CHECK: u8 = 0;
pub(crate) const XXH3: u8 = 128;
pub(crate) const BLAKE3: u8 = 129;

/// Fails if this version must know a check and does not. No version of the format has defined such
/// a check yet.
pub(crate) fn check_known(check: u8) -> Result<(), Unreadable> {
    match check {
        1..128 => Err(Unreadable::Unknown(Unknown {
            what: "a stream check of type",
            id: check.into(),
        })),
        _ => Ok(()),
    }
}

/// Checks that a frame has the digest that its header announces, as far as the check is known.
pub(crate) fn check_digest(check: u8, digest: Option<&[u8]>) -> Result<(), Flaw> {
    let fits = match (check, digest.map(<[u8]>::len)) {
        (NO_CHECK, size) => size.is_none(),
        (XXH3, size) => size == Some(8),
        (BLAKE3, size) => size == Some(32),
        (_, size) => size.is_some(),
    };
    ensure(
        fits,
        "the frame does not have the stream check that its header announces",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_survives_and_misfits_are_none() {
        let note = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let notes = vec![note("comment", "of June"), note("made by", "")];
        let bytes = metadata_to_bytes(&notes);
        assert_eq!(metadata(&bytes), Some(notes));
        for cut in [0, 1, 5, 9, bytes.len() - 1] {
            assert_eq!(metadata(&bytes[..cut]), None, "cut to {cut}");
        }
        assert_eq!(metadata(&metadata_to_bytes(&[note("a=b", "")])), None);
        assert_eq!(metadata(&[1, b'k', 1, 0xFF]), None);
        assert!(!is_key("") && !is_key("a\nb") && is_key("größe"));
    }

    #[test]
    fn nothing_to_say_takes_no_bytes() {
        assert!(to_bytes(None, &[]).is_empty());
        assert_eq!(to_bytes(Some(5), &[])[..4], [14, 0x10, 0x80, 7]);
        assert_eq!(content_size(&[5, 0, 0, 0, 0, 0, 1]), Ok(5 + (1 << 48)));
    }
}
