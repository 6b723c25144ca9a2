//! The tables of Frame_Header, FORMAT.md section 3.3, and the digest at the end of a frame that the
//! header announces.

use super::field_bytes::{ensure, put_uint, uint_at};
use super::tables::{self, CONTENT_SIZE, METADATA, to_bytes as tables_to_bytes};
use crate::base::error::{Flaw, Unknown, Unreadable};
use crate::base::leb128;
use crate::options::notes::{MOST_NOTES, is_key, notes_to_bytes};
use crate::options::{Note, StreamCheck};

/// Bytes of the table Content_Size.
const CONTENT_SIZE_LEN: usize = 7;

/// The stored tables of a header; empty if there is nothing to say.
pub(crate) fn to_bytes(content_size: Option<u64>, notes: &[Note]) -> Vec<u8> {
    let mut size = [0; CONTENT_SIZE_LEN];
    put_uint::<CONTENT_SIZE_LEN>(&mut size, 0, content_size.unwrap_or(0));
    let metadata = notes_to_bytes(notes);
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
    let mut read = tables::read_wanted(&mut bytes, &wanted, MOST_NOTES as u64).map_err(cut)??;
    let size = read.take(CONTENT_SIZE);
    let size = size
        .map(|content| content_size(&content))
        .transpose()?;
    let found = read
        .take(METADATA)
        .and_then(|content| notes(&content));
    ensure(size.is_some() || found.is_some(), "no table is known")?;
    Ok(to_bytes(size, &found.unwrap_or_default()))
}

/// The warning of a table Metadata that is not valid.
pub(crate) const WRONG_NOTES: &str =
    "the comments in the frame header are not valid, and are passed over";

/// Parses the table Metadata. `None` if it is not valid: nothing depends on it.
pub(crate) fn notes(mut content: &[u8]) -> Option<Vec<Note>> {
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

/// Checks that a frame has the digest that its header announces. If the check is not known, any
/// table and none are right.
pub(crate) fn check_digest(check: u8, digest: Option<&[u8]>) -> Result<(), Flaw> {
    let size = digest.map(<[u8]>::len);
    let fits = match StreamCheck::of(check) {
        Some(StreamCheck::Crc32) => size.is_none(),
        Some(check) => size == Some(check.size()),
        None => true,
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
        let all = vec![note("comment", "of June"), note("made by", "")];
        let bytes = notes_to_bytes(&all);
        assert_eq!(notes(&bytes), Some(all));
        for cut in [0, 1, 5, 9, bytes.len() - 1] {
            assert_eq!(notes(&bytes[..cut]), None, "cut to {cut}");
        }
        assert_eq!(notes(&notes_to_bytes(&[note("a=b", "")])), None);
        assert_eq!(notes(&[1, b'k', 1, 0xFF]), None);
    }

    #[test]
    fn a_digest_is_there_if_its_check_is_known() {
        let sizes = [None, Some(8), Some(9), Some(32)];
        let fit =
            |check| sizes.map(|size| check_digest(check, size.map(|n| &[7; 32][..n])).is_ok());
        assert_eq!(fit(0), [true, false, false, false]);
        assert_eq!(fit(128), [false, true, false, false]);
        assert_eq!(fit(129), [false, false, false, true]);
        assert_eq!(fit(200), [true; 4]);
    }

    #[test]
    fn nothing_to_say_takes_no_bytes() {
        assert!(to_bytes(None, &[]).is_empty());
        assert_eq!(to_bytes(Some(5), &[])[..4], [14, 0x10, 0x80, 7]);
        assert_eq!(content_size(&[5, 0, 0, 0, 0, 0, 1]), Ok(5 + (1 << 48)));
    }
}
