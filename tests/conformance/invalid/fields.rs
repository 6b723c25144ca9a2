//! Files with wrong columns of lines of fields.

use super::patient::Patient;
use crate::common::{cases, compressed, decompressed};
use bwz::internals::filter::Filtered;
use bwz::internals::take_fields_apart;

/// Files for R28 with lines of fields.
pub fn field_rejects() -> Vec<(&'static str, Patient, &'static str)> {
    let raw: String = (0..40)
        .map(|n| format!("at {}: {} {}\n", 995 + n, n % 3, n % 3 * 7))
        .collect();
    let with = |text: &[u8], side: &[u8]| of_fields(text, side, raw.as_bytes());
    let Filtered { text, side, .. } = take_fields_apart(raw.as_bytes(), 0)
        .unwrap()
        .unwrap();
    assert_eq!(decompressed(&with(&text, &side).0).0, raw.as_bytes());
    let changed = |at: usize, byte: u8| {
        let mut text = text.clone();
        text[at] = byte;
        with(&text, &side)
    };
    let lines = text
        .iter()
        .position(|&byte| byte == b'\n')
        .unwrap()
        + 1;
    let first = 1;
    let form = lines + 40;
    let unknown = "of an unknown form";
    let none = "holds an invalid";
    let early = "too early";
    let misfit = "do not add up to it";
    let cut = |len: usize| with(&text[..len], &side);
    let patterned = |pattern: &[u8]| {
        with(
            &[&text[..=form], pattern, &text[form + 1..]].concat(),
            &side,
        )
    };
    let formed = |bytes: &[u8]| with(&[&text[..form], bytes, &text[form + 1..]].concat(), &side);
    // 100 times 100 empty values, which take no bytes.
    let slots = [
        &[1; 100][..],
        b"\n",
        &[b'x'; 700],
        b"\n",
        &[1; 100],
        &[2; 3],
    ]
    .concat();
    let values = [&slots[..], &[7, 0], &[16; 100], &[7, 1, 0].repeat(99)].concat();
    let lines_of_x = [&[b'x'; 700][..], b"\n"].concat().repeat(3);
    let empty_values = of_fields(
        &values,
        &[2, 0xCE, 1, 0],
        &[&[b'\n'; 100], &lines_of_x[..]].concat(),
    );
    let few_values = |text: &[u8]| of_fields(text, &[2, 2, 0], &lines_of_x);
    // 2103 bytes may have 1549 slots, and 1040 columns including that of whole lines.
    let columns = few_values(&[&[1; 1040][..], b"\nx\n"].concat());
    let slots = few_values(&[&[1; 775][..], b"\n", &[1; 775], b"\n"].concat());
    vec![
        (
            "R28-fields-values",
            empty_values,
            "too many slots, columns, values",
        ),
        (
            "R28-fields-columns",
            columns,
            "too many slots, columns, values",
        ),
        ("R28-fields-slots", slots, "too many slots, columns, values"),
        (
            "R28-fields-templates",
            with(&text, &[0xC0, 0x7F, 80, 0]),
            misfit,
        ),
        (
            "R28-fields-lines",
            with(&text, &[first, 0xFF, 0xFF, 1, 0]),
            misfit,
        ),
        (
            "R28-fields-template-cut",
            with(&text, &[0xBF, 0x7F, 80, 0]),
            early,
        ),
        (
            "R28-fields-template-number",
            changed(lines, 2),
            "that does not exist",
        ),
        (
            "R28-fields-template-255",
            changed(lines, 255),
            "that does not exist",
        ),
        ("R28-fields-form-10", changed(form, 10), unknown),
        ("R28-fields-pattern-of-a-digit", patterned(b"1"), unknown),
        ("R28-fields-pattern-long", patterned(&[b'0'; 19]), unknown),
        ("R28-fields-distance-1", changed(form, 2), unknown),
        ("R28-fields-distance-1-by-key", formed(&[3, 1]), unknown),
        ("R28-fields-distance-1-raised", formed(&[6, 1]), unknown),
        ("R28-fields-plus-1", formed(&[4, 1, 0]), unknown),
        ("R28-fields-number-9", changed(form + 4, 9), none),
        ("R28-fields-number-255", changed(form + 4, 255), none),
        ("R28-fields-number-large", patterned(b"00"), "out of range"),
        ("R28-fields-cut", cut(text.len() - 1), early),
        ("R28-fields-cut-in-lines", cut(lines + 39), early),
        (
            "R28-fields-left-over",
            with(&[&text[..], b"7\n"].concat(), &side),
            "continues after",
        ),
        (
            "R28-fields-size",
            with(&[b"x", &text[..]].concat(), &side),
            misfit,
        ),
    ]
}

/// A block of fields that should restore to `raw`.
fn of_fields(text: &[u8], side: &[u8], raw: &[u8]) -> Patient {
    let plain = Patient(compressed(text, 1 << 20));
    let sizes = [text.len() as u64, side.len() as u64].map(u64::to_le_bytes);
    let payload = &plain.0[plain.payload()];
    let payload = [&sizes[0][..5], &sizes[1][..5], side, payload].concat();
    let size = (raw.len() as u32).to_le_bytes();
    let patient = plain
        .clone()
        .with_payload(&payload)
        .block(9, &[32]);
    let checksum = crc32fast::hash(raw).to_le_bytes();
    patient
        .frame(7, &size)
        .block(12, &size)
        .block(22, &checksum)
}

/// Files for R28 with columns of joined values: bases, and qualities of the same length.
pub fn joined_rejects() -> Vec<(&'static str, Patient, &'static str)> {
    let dna: Vec<u8> = cases::random(20 * 17, 4)
        .iter()
        .map(|&b| b"ACGT"[usize::from(b)])
        .collect();
    let record = |(n, bases): (usize, &[u8])| {
        let name = format!("@r{}\n", n * n % 97);
        let bases = &bases[n % 2..];
        [name.as_bytes(), bases, b"\n+\n", &bases[3..], b"Z#7\n"].concat()
    };
    let raw: Vec<u8> = dna
        .chunks(17)
        .enumerate()
        .flat_map(record)
        .collect();
    let Filtered { text, side, .. } = take_fields_apart(&raw, b'@').unwrap().unwrap();
    assert_eq!(decompressed(&of_fields(&text, &side, &raw).0).0, raw);
    // No distance, the first length and its difference from the next; then a distance, and the
    // total size.
    let [lengths, size] = [&[7, 0, 16 + 34, 17][..], &[8, 1, 0xCA, 0x02]]
        .map(|bytes| memchr::memmem::find(&text, bytes).expect("the column is joined"));
    let changed = |at: usize, bytes: &[u8]| {
        let mut text = text.clone();
        text[at..at + bytes.len()].copy_from_slice(bytes);
        of_fields(&text, &side, &raw)
    };
    let length = "a length of a column";
    let early = "too early";
    vec![
        (
            "R28-fields-joined-distance",
            changed(size + 1, &[3]),
            "of an unknown form",
        ),
        (
            "R28-fields-joined-length-none",
            changed(lengths + 3, &[0]),
            length,
        ),
        (
            "R28-fields-joined-length-negative",
            changed(lengths + 2, &[17]),
            length,
        ),
        (
            "R28-fields-joined-long",
            changed(lengths + 2, &[16 + 190]),
            early,
        ),
        ("R28-fields-joined-size", changed(size + 2, &[0xCB]), early),
        (
            "R28-fields-joined-short",
            changed(size + 2, &[0xC9]),
            "continues",
        ),
        (
            "R28-fields-joined-left-over",
            {
                let more = [&text[..size + 2], &[0xCB], &text[size + 3..], b"!"].concat();
                of_fields(&more, &side, &raw)
            },
            "do not add up to it",
        ),
    ]
}

/// Files for R28 with columns of lists.
pub fn list_rejects() -> Vec<(&'static str, Patient, &'static str)> {
    let raw = b"Bern,'Bern; Berne'\n".repeat(16);
    let front = [
        &b"\x01,\x01\n"[..],
        &[1; 16],
        &[0],
        &b"Bern\n".repeat(16),
        &[9],
    ]
    .concat();
    let with = |form: &[u8], first: &[u8]| {
        let others = b"'\x05\x05e\n".repeat(15);
        of_fields(
            &[&front[..], form, first, &b"\n"[..], &others].concat(),
            &[1, 32, 0],
            &raw,
        )
    };
    let form = b"\x01; \n";
    assert_eq!(decompressed(&with(form, b"'\x05\x05e").0).0, raw);
    let unknown = "of an unknown form";
    let none = "a column of lists holds an invalid list";
    vec![
        (
            "R28-fields-lists-distance",
            with(b"\x02; \n", b"'\x05\x05e"),
            unknown,
        ),
        (
            "R28-fields-lists-separator",
            with(b"\x01;\t\n", b"'\x05\x05e"),
            unknown,
        ),
        (
            "R28-fields-lists-separator-long",
            with(b"\x01;    \n", b"'\x05\x05e"),
            unknown,
        ),
        ("R28-fields-lists-no-begin", with(form, b"'Bern"), none),
        ("R28-fields-lists-code-10", with(form, b"'\x1F\x10e"), none),
        (
            "R28-fields-lists-by-key-twice",
            with(form, b"'\x1F\x1F\x05"),
            none,
        ),
        ("R28-fields-lists-by-key-0", with(form, b"'\x1F\x00"), none),
        (
            "R28-fields-lists-by-key-end",
            with(form, b"'\x05\x1F"),
            none,
        ),
        ("R28-fields-lists-key-end", with(form, b"'\x00\x11"), none),
        (
            "R28-fields-lists-two-ends",
            with(form, b"'\x01Be\x10\x10"),
            none,
        ),
        ("R28-fields-lists-begin", with(form, b"'\x06\x05e"), none),
        ("R28-fields-lists-end", with(form, b"'\x01\x13"), none),
        (
            "R28-fields-lists-long",
            with(form, b"'\x05ABCDEFGH\x05e"),
            "do not add up to it",
        ),
        (
            "R28-fields-lists-short",
            with(form, b"'\x05"),
            "do not add up to it",
        ),
    ]
}

/// Files for R28 with packed columns: the example of section 12.9, and others.
pub fn packed_rejects() -> Vec<(&'static str, Patient, &'static str)> {
    // Long enough for a block that is not stored.
    let front = "x".repeat(100);
    let raw = ["c0ffee 7", "012345 10", "abcdef 5"]
        .map(|line| format!("{front}{line}\n"))
        .concat();
    let text = format!("{front}\x01 \x01\n\x01\x01\x01");
    let with = |side: &[u8]| of_fields(text.as_bytes(), side, raw.as_bytes());
    let words: &[u8] = &[0x0C, 0xFF, 0xEE, 0x10, 0x32, 0x54, 0xBA, 0xDC, 0xFE];
    let side = [
        &[1, 6, 2, 2, 0, 1, 6, 16, b'0'],
        words,
        &[0, 0, 0, 0x11, 5, 5, 0x20],
    ]
    .concat();
    assert_eq!(decompressed(&with(&side).0).0, raw.as_bytes());
    let changed = |at: usize, bytes: &[u8]| {
        let mut side = side.clone();
        side[at..at + bytes.len()].copy_from_slice(bytes);
        with(&side)
    };
    let none = "has no layout";
    let early = "too early";
    let third = [&[1, 6, 3], &side[3..], &[0, 1]].concat();
    let integers = |more: &[u8]| with(&[&side[..20], more].concat());
    vec![
        ("R28-fields-packed-more", changed(2, &[3]), early),
        ("R28-fields-packed-column", with(&third), "does not exist"),
        (
            "R28-fields-packed-no-layout",
            changed(3, &[3]),
            "does not exist",
        ),
        ("R28-fields-packed-layout-number", changed(4, &[1]), none),
        ("R28-fields-packed-places-none", changed(6, &[0]), none),
        ("R28-fields-packed-symbols-none", changed(7, &[0x80]), none),
        (
            "R28-fields-packed-symbols-last",
            changed(7, &[127, 0x82]),
            none,
        ),
        ("R28-fields-packed-places", with(&two_runs(128)), none),
        (
            "R28-fields-packed-size",
            with(&two_runs(60)),
            "larger than the block",
        ),
        (
            "R28-fields-packed-half",
            integers(&[0, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
            none,
        ),
        (
            "R28-fields-packed-integer",
            integers(&[0, 0x18, 127, 255, 255, 255, 255, 255, 255, 255, 1]),
            none,
        ),
        (
            "R28-fields-packed-word",
            changed(24, &[216]),
            "a word of packed values",
        ),
        ("R28-fields-packed-cut", with(&side[..24]), early),
        (
            "R28-fields-packed-left-over",
            with(&[&side[..], b"!"].concat()),
            "as many bytes as it has",
        ),
        (
            "R28-fields-packed-lines",
            changed(23, &[4]),
            "do not add up to it",
        ),
    ]
}

/// A Side with two runs, each of one symbol at `len` positions.
fn two_runs(len: u8) -> Vec<u8> {
    vec![1, 6, 1, 2, 0, 2, len, 1, b'a', len, 1, b'b']
}
