//! `decoder.py` on files that are not in the kit.

use crate::common::{cases, compressed};
use crate::python::{format_folder, python, reference_decoder};

#[test]
fn the_reference_decoder_restores_every_named_case() {
    // All in one file, one frame each: Python starts once in place of forty times.
    let raws: Vec<Vec<u8>> = cases::named()
        .into_iter()
        .map(|(_, raw)| raw)
        .collect();
    let small: Vec<_> = raws
        .iter()
        .map(|raw| &raw[..raw.len().min(9_000)])
        .collect();
    let file: Vec<u8> = small
        .iter()
        .flat_map(|raw| compressed(raw, 4_000))
        .collect();
    let Some(output) = reference_decoder(&file) else {
        return;
    };
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.stdout == small.concat());
}

#[test]
fn the_reference_decoder_reads_a_file_named_by_its_argument() {
    let path = format_folder().join("conformance/valid/text.bwz");
    let Some(output) = python(&[format_folder().join("decoder.py"), path], b"") else {
        return;
    };
    assert!(output.stdout == cases::text(3000));
}
