//! Files with wrong columns of lines of fields.

use super::damaged;
use crate::common::{cases, decompressed};
use crate::filters::FIELDS;
use crate::frames::{Block, Filter};
use crate::kit::Entry;
use crate::patient::Patient;
use bwz::internals::filter::Filtered;
use bwz::internals::take_fields_apart;

/// Name, reason, file, and a part of the library's message.
type Fault = (&'static str, &'static str, Patient, &'static str);

/// Damaged lines of fields.
pub fn entries() -> Vec<Entry> {
    [
        field_faults(),
        joined_faults(),
        list_faults(),
        packed_faults(),
    ]
    .into_iter()
    .flatten()
    .map(|(name, reason, file, says)| damaged(name, reason, file, says))
    .collect()
}

fn lines() -> String {
    (0..40)
        .map(|n| format!("at {}: {} {}\n", 995 + n, n % 3, n % 3 * 7))
        .collect()
}

/// A block of lines of fields.
pub fn sound_block() -> Block {
    let raw = lines();
    let (text, side) = apart(raw.as_bytes(), 0);
    block_of(&text, &side, raw.as_bytes())
}

/// Files for R28 with lines of fields.
fn field_faults() -> Vec<Fault> {
    let raw = lines();
    let with = |text: &[u8], side: &[u8]| of_fields(text, side, raw.as_bytes());
    let (text, side) = apart(raw.as_bytes(), 0);
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
            "fields: more values in all columns than Output_Size / 4 + 1024",
            empty_values,
            "too many slots, columns, values",
        ),
        (
            "R28-fields-columns",
            "fields: more columns than Output_Size / 128 + 1024",
            columns,
            "too many slots, columns, values",
        ),
        (
            "R28-fields-slots",
            "fields: more slots than Output_Size / 4 + 1024",
            slots,
            "too many slots, columns, values",
        ),
        (
            "R28-fields-templates",
            "fields: a Template_Count above 16319",
            with(&text, &[0xC0, 0x7F, 80, 0]),
            misfit,
        ),
        (
            "R28-fields-lines",
            "fields: more uses of templates than Output_Size",
            with(&text, &[first, 0xFF, 0xFF, 1, 0]),
            misfit,
        ),
        (
            "R28-fields-template-cut",
            "fields: an input that ends within the templates",
            with(&text, &[0xBF, 0x7F, 80, 0]),
            early,
        ),
        (
            "R28-fields-template-number",
            "fields: a use of a template above Template_Count",
            changed(lines, 2),
            "that does not exist",
        ),
        (
            "R28-fields-template-255",
            "fields: a use of a template whose first byte is 255",
            changed(lines, 255),
            "that does not exist",
        ),
        (
            "R28-fields-form-10",
            "fields: a column of form 10",
            changed(form, 10),
            unknown,
        ),
        (
            "R28-fields-pattern-of-a-digit",
            "fields: a Pattern with the digit 1",
            patterned(b"1"),
            unknown,
        ),
        (
            "R28-fields-pattern-long",
            "fields: a Pattern with 19 digits",
            patterned(&[b'0'; 19]),
            unknown,
        ),
        (
            "R28-fields-distance-1",
            "fields: a Distance of 1 in the first slot of a line",
            changed(form, 2),
            unknown,
        ),
        (
            "R28-fields-plus-1",
            "fields: form 4: a Plus of 1 in the first slot of a line",
            formed(&[4, 1, 0]),
            unknown,
        ),
        (
            "R28-fields-number-9",
            "fields: a number whose first byte is 9",
            changed(form + 4, 9),
            none,
        ),
        (
            "R28-fields-number-large",
            "fields: a Number that does not fit in Pattern",
            patterned(b"00"),
            "out of range",
        ),
        (
            "R28-fields-cut",
            "fields: an input without its last byte",
            cut(text.len() - 1),
            early,
        ),
        (
            "R28-fields-cut-in-lines",
            "fields: an input that ends within the uses",
            cut(lines + 39),
            early,
        ),
        (
            "R28-fields-left-over",
            "fields: bytes after the last column",
            with(&[&text[..], b"7\n"].concat(), &side),
            "continues after",
        ),
        (
            "R28-fields-size",
            "fields: lines that are not Output_Size bytes",
            with(&[b"x", &text[..]].concat(), &side),
            misfit,
        ),
    ]
}

/// Text and Side of lines of fields.
fn apart(raw: &[u8], delimiter: u8) -> (Vec<u8>, Vec<u8>) {
    let Filtered { text, steps } = take_fields_apart(raw, delimiter)
        .unwrap()
        .unwrap();
    (text, steps[0].side.clone())
}

/// A block of fields that should restore to `raw`.
fn block_of(text: &[u8], side: &[u8], raw: &[u8]) -> Block {
    let filter = Filter {
        id: FIELDS,
        size: text.len() as u64,
        side: side.to_vec(),
    };
    Block::filtered(&Block::new(text), raw, &[filter])
}

fn of_fields(text: &[u8], side: &[u8], raw: &[u8]) -> Patient {
    Patient::of(&[block_of(text, side, raw)])
}

/// Files for R28 with columns of joined values: bases, and qualities of the same length.
fn joined_faults() -> Vec<Fault> {
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
    let (text, side) = apart(&raw, b'@');
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
            "fields: joined values: a Distance above the number of slots before",
            changed(size + 1, &[3]),
            "of an unknown form",
        ),
        (
            "R28-fields-joined-length-none",
            "fields: joined values: a length that is not stored as a difference",
            changed(lengths + 3, &[0]),
            length,
        ),
        (
            "R28-fields-joined-length-negative",
            "fields: joined values: a length below 0",
            changed(lengths + 2, &[17]),
            length,
        ),
        (
            "R28-fields-joined-long",
            "fields: joined values: lengths beyond the end of the input",
            changed(lengths + 2, &[16 + 190]),
            early,
        ),
        (
            "R28-fields-joined-size",
            "fields: joined values that end before the last of them",
            changed(size + 2, &[0xCB]),
            early,
        ),
        (
            "R28-fields-joined-short",
            "fields: joined values: a size that is too small for the lengths",
            changed(size + 2, &[0xC9]),
            "continues",
        ),
        (
            "R28-fields-joined-left-over",
            "fields: joined values: bytes left over after the last of them",
            {
                let more = [&text[..size + 2], &[0xCB], &text[size + 3..], b"!"].concat();
                of_fields(&more, &side, &raw)
            },
            "do not add up to it",
        ),
    ]
}

/// Files for R28 with columns of lists.
fn list_faults() -> Vec<Fault> {
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
            "fields: lists: a Distance above the number of slots before",
            with(b"\x02; \n", b"'\x05\x05e"),
            unknown,
        ),
        (
            "R28-fields-lists-separator",
            "fields: lists: a Separator with a byte below 20 (hex)",
            with(b"\x01;\t\n", b"'\x05\x05e"),
            unknown,
        ),
        (
            "R28-fields-lists-separator-long",
            "fields: lists: a Separator of 5 bytes",
            with(b"\x01;    \n", b"'\x05\x05e"),
            unknown,
        ),
        (
            "R28-fields-lists-no-begin",
            "fields: lists: a Begin above the size of Other, which is empty",
            with(form, b"'Bern"),
            none,
        ),
        (
            "R28-fields-lists-code-10",
            "fields: lists: 10 after a 31",
            with(form, b"'\x1F\x10e"),
            none,
        ),
        (
            "R28-fields-lists-by-key-twice",
            "fields: lists: 31 after a 31",
            with(form, b"'\x1F\x1F\x05"),
            none,
        ),
        (
            "R28-fields-lists-by-key-0",
            "fields: lists: 0 after a 31",
            with(form, b"'\x1F\x00"),
            none,
        ),
        (
            "R28-fields-lists-by-key-end",
            "fields: lists: a value that ends after a 31",
            with(form, b"'\x05\x1F"),
            none,
        ),
        (
            "R28-fields-lists-key-end",
            "fields: lists: an End after the key",
            with(form, b"'\x00\x11"),
            none,
        ),
        (
            "R28-fields-lists-two-ends",
            "fields: lists: two Ends of one item",
            with(form, b"'\x01Be\x10\x10"),
            none,
        ),
        (
            "R28-fields-lists-begin",
            "fields: lists: a Begin above the size of Other",
            with(form, b"'\x06\x05e"),
            none,
        ),
        (
            "R28-fields-lists-end",
            "fields: lists: a Begin and an End that overlap",
            with(form, b"'\x01\x13"),
            none,
        ),
        (
            "R28-fields-lists-long",
            "fields: lists: items that are longer than the lines",
            with(form, b"'\x05ABCDEFGH\x05e"),
            "do not add up to it",
        ),
        (
            "R28-fields-lists-short",
            "fields: lists: items that are shorter than the lines",
            with(form, b"'\x05"),
            "do not add up to it",
        ),
    ]
}

/// Files for R28 with packed columns: the example of section 12.9, and others.
fn packed_faults() -> Vec<Fault> {
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
        (
            "R28-fields-packed-more",
            "fields: packed: a Packed_Count of one too many",
            changed(2, &[3]),
            early,
        ),
        (
            "R28-fields-packed-column",
            "fields: packed: a column that does not exist",
            with(&third),
            "does not exist",
        ),
        (
            "R28-fields-packed-no-layout",
            "fields: packed: an odd Step of the first packed column",
            changed(3, &[3]),
            "does not exist",
        ),
        (
            "R28-fields-packed-layout-number",
            "fields: packed: a Layout_Number above the number of Layouts",
            changed(4, &[1]),
            none,
        ),
        (
            "R28-fields-packed-places-none",
            "fields: packed: a run without places",
            changed(6, &[0]),
            none,
        ),
        (
            "R28-fields-packed-symbols-none",
            "fields: packed: a run without symbols",
            changed(7, &[0x80]),
            none,
        ),
        (
            "R28-fields-packed-symbols-last",
            "fields: packed: symbols above 255",
            changed(7, &[127, 0x82]),
            none,
        ),
        (
            "R28-fields-packed-places",
            "fields: packed: values of 256 bytes",
            with(&two_runs(128)),
            none,
        ),
        (
            "R28-fields-packed-size",
            "fields: packed: values of a column with more bytes than Output_Size",
            with(&two_runs(60)),
            "larger than the block",
        ),
        (
            "R28-fields-packed-half",
            "fields: packed: Least of 9 bytes",
            integers(&[0, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
            none,
        ),
        (
            "R28-fields-packed-integer",
            "fields: packed: Least + More of 2^63",
            integers(&[0, 0x18, 127, 255, 255, 255, 255, 255, 255, 255, 1]),
            none,
        ),
        (
            "R28-fields-packed-word",
            "fields: packed: a word that is not below the product of its radices",
            changed(24, &[216]),
            "a word of packed values",
        ),
        (
            "R28-fields-packed-cut",
            "fields: packed: a Side that ends within the words",
            with(&side[..24]),
            early,
        ),
        (
            "R28-fields-packed-left-over",
            "fields: packed: a byte after the last word",
            with(&[&side[..], b"!"].concat()),
            "as many bytes as it has",
        ),
        (
            "R28-fields-packed-lines",
            "fields: packed: values that are longer than the lines",
            changed(23, &[4]),
            "do not add up to it",
        ),
    ]
}

/// A Side with two runs, each of one symbol at `len` positions.
fn two_runs(len: u8) -> Vec<u8> {
    vec![1, 6, 1, 2, 0, 2, len, 1, b'a', len, 1, b'b']
}
