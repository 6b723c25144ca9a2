//! Frames of another version. Version of Frame_Header decides, so all of them are R02 to a reader
//! in order, whatever their Footer says.

use crate::common::{cases, compressed};
use crate::frames::{FOOTER_MAGIC, MAGIC, sealed, uint};
use crate::kit::Entry;
use crate::patient::Patient;
use bwz::internals::{DRAFT, VERSION};
use std::sync::LazyLock;

/// Parts of the messages about a file of the next draft.
static NEXT_DRAFT: LazyLock<[String; 2]> = LazyLock::new(|| {
    [
        format!("draft {} of the bwz format", DRAFT + 1),
        format!("this bwz reads draft {DRAFT}"),
    ]
});

/// Files that are of another version, or have a frame of another version.
pub fn entries() -> Vec<Entry> {
    let sound = Patient(compressed(&cases::text(900), 1 << 20));
    let version = |version: u8| sound.clone().frame(4, &[version]).0;
    let [next_draft, this_draft] = NEXT_DRAFT.each_ref().map(String::as_str);
    let mut all = vec![
        Entry::unsupported(
            "R02-version-1",
            "Version 1: one of the drafts 1 to 8",
            version(1),
            "draft 8 of the bwz format, or an earlier one",
        ),
        Entry::unsupported(
            "R02-version-2",
            "Version 2, which may be a frozen one later",
            version(2),
            "version 2 of the bwz format",
        ),
        Entry::unsupported(
            "R02-next-draft",
            "the next draft",
            version(VERSION + 1),
            next_draft,
        ),
        Entry::unsupported(
            "R02-next-draft-other-checksum",
            "the next draft, with a checksum that is not where it is now",
            sound.set(4, &[VERSION + 1]).0,
            this_draft,
        ),
    ];
    all.extend(frames());
    all
}

/// A frame of another version among others.
fn frames() -> Vec<Entry> {
    let [next_draft, _] = NEXT_DRAFT.each_ref().map(String::as_str);
    let frame = || Patient(compressed(&cases::text(900), 1 << 20));
    let sound = frame().0;
    let next = [VERSION + 1];
    let other = || frame().frame(4, &next).foot(27, &next);
    let footer_checksum = other().footer() + 28;
    let broken = other().set(footer_checksum, &[0; 4]).0;
    vec![
        Entry::unsupported(
            "R02-whole-frame",
            "a file of the next draft: Version in Frame_Header and in Footer",
            other().0,
            next_draft,
        ),
        Entry::unsupported(
            "R02-last-frame",
            "a frame of the next draft after a frame of this one",
            [sound.clone(), other().0].concat(),
            next_draft,
        ),
        Entry::unsupported(
            "R02-frame-between",
            "a frame of the next draft between two frames of this one",
            [&sound[..], &other().0, &sound].concat(),
            next_draft,
        ),
        Entry::unsupported(
            "R02-first-frame",
            "a frame of the next draft before a frame of this one",
            [other().0, sound.clone()].concat(),
            next_draft,
        ),
        Entry::unsupported(
            "R02-last-frame-of-this-footer",
            "a frame whose Frame_Header is of the next draft and whose Footer is of this one, after another",
            [sound.clone(), frame().frame(4, &next).0].concat(),
            next_draft,
        ),
        Entry::unsupported(
            "R02-smallest-frame",
            "a frame of 41 bytes between two others: Magic, Version 255, and a Footer of this Version",
            [&sound[..], &smallest_frame(), &sound].concat(),
            "draft 127 of the bwz format",
        ),
        Entry::unsupported(
            "R02-wrong-footer",
            "a file of the next draft with a wrong Footer_Checksum",
            broken,
            next_draft,
        ),
    ]
}

/// Magic, Version and a Footer, whose first fields have another meaning.
fn smallest_frame() -> Vec<u8> {
    let footer = [&[7; 20][..], &uint(41, 7), &[255]].concat();
    [&MAGIC[..], &[255], &sealed(footer), &FOOTER_MAGIC].concat()
}
