//! The files of the kit and their MANIFEST.

use crate::common::decompressed;
use crate::frames::{INDEX, features};
use crate::python::{format_folder, python};
use crate::sha256::sha256;
use crate::{containers, filters, invalid, sequence_tables, unsupported, valid};
use bwz::Error;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// A file of the kit.
pub struct Entry {
    /// Name without `.bwz`.
    pub name: String,
    pub file: Vec<u8>,
    pub expected: Expected,
    /// Why the file is in the kit, as one line.
    pub reason: &'static str,
}

/// The result of decompressing a file.
pub enum Expected {
    Raw(Vec<u8>),
    /// Unsupported by the number with which the name begins; the library's message has this part.
    Unsupported(&'static str),
    /// Damaged, by the number with which the name begins; the library's message has this part.
    Damaged(&'static str),
}

impl Entry {
    pub fn valid(name: &str, reason: &'static str, raw: &[u8], file: Vec<u8>) -> Self {
        Entry {
            name: name.to_owned(),
            file,
            expected: Expected::Raw(raw.to_vec()),
            reason,
        }
    }

    pub fn unsupported(
        name: &str,
        reason: &'static str,
        file: Vec<u8>,
        says: &'static str,
    ) -> Self {
        Entry {
            name: name.to_owned(),
            file,
            expected: Expected::Unsupported(says),
            reason,
        }
    }

    pub fn damaged(name: &str, reason: &'static str, file: Vec<u8>, says: &'static str) -> Self {
        Entry {
            name: name.to_owned(),
            file,
            expected: Expected::Damaged(says),
            reason,
        }
    }

    /// The file in the kit.
    pub fn committed(&self) -> PathBuf {
        folder().join(self.path())
    }

    /// Folder and name.
    fn path(&self) -> String {
        let folder = match self.expected {
            Expected::Raw(_) => "valid",
            Expected::Unsupported(_) => "unsupported",
            Expected::Damaged(_) => "invalid",
        };
        format!("{folder}/{}.bwz", self.name)
    }

    /// The profiles that a decoder needs.
    fn level(&self) -> String {
        let features = features(&self.file);
        let profiles = [("filters", 0b11_1100), ("best", 0b10), ("index", INDEX)];
        let mut level = "core".to_owned();
        for (profile, bits) in profiles {
            if features & bits != 0 {
                level.push('+');
                level.push_str(profile);
            }
        }
        level
    }

    fn result(&self) -> String {
        match &self.expected {
            Expected::Raw(raw) => format!("{} {}", sha256(raw), raw.len()),
            _ => self.name[..3].to_owned(),
        }
    }
}

fn kit() -> Vec<Entry> {
    [
        valid::entries(),
        containers::entries(),
        filters::entries(),
        sequence_tables::entries(),
        unsupported::entries(),
        invalid::entries(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// All files of the kit.
pub static KIT: LazyLock<Vec<Entry>> = LazyLock::new(kit);

fn manifest() -> String {
    let mut manifest = String::new();
    for entry in &*KIT {
        let fields = [&entry.path(), &entry.level(), &entry.result(), entry.reason].join("\t");
        writeln!(manifest, "{fields}").unwrap();
    }
    manifest
}

fn folder() -> PathBuf {
    format_folder().join("conformance")
}

#[test]
fn the_committed_kit_is_what_is_made_here() {
    let bless = std::env::var_os("BWZ_BLESS").is_some();
    let manifest_path = folder().join("MANIFEST");
    let mut made = BTreeSet::new();
    if bless {
        for part in ["valid", "unsupported", "invalid"] {
            let _ = fs::remove_dir_all(folder().join(part));
            fs::create_dir_all(folder().join(part)).unwrap();
        }
        fs::write(&manifest_path, manifest()).unwrap();
    }
    for entry in &*KIT {
        let path = entry.committed();
        if bless {
            fs::write(&path, &entry.file).unwrap();
        }
        let kept = fs::read(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        assert!(
            kept == entry.file,
            "{path:?} is not what is made here: see `just bless`"
        );
        assert!(made.insert(path), "{} is there twice", entry.name);
    }
    assert_eq!(fs::read_to_string(manifest_path).unwrap(), manifest());
    assert_eq!(committed(&folder()), made);
}

/// The files of the kit.
fn committed(folder: &Path) -> BTreeSet<PathBuf> {
    let parts = ["valid", "unsupported", "invalid"].map(|part| fs::read_dir(folder.join(part)));
    let files = parts.into_iter().flat_map(Result::unwrap);
    files.map(|file| file.unwrap().path()).collect()
}

#[test]
fn the_library_agrees() {
    let mut wrong = Vec::new();
    for entry in KIT.iter() {
        let (raw, end) = decompressed(&entry.file);
        let fine = match (&entry.expected, &end) {
            (Expected::Raw(expected), Ok(_)) => raw == *expected,
            (Expected::Unsupported(says), Err(error)) => {
                let known = matches!(error, Error::Unsupported { .. } | Error::Version { .. });
                known && error.to_string().contains(says)
            }
            (Expected::Damaged(says), Err(error)) => {
                matches!(error, Error::Format { .. }) && error.to_string().contains(says)
            }
            _ => false,
        };
        if !fine {
            wrong.push(format!("{}: {end:?}", entry.path()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_command_agrees() {
    let mut wrong = Vec::new();
    for entry in KIT.iter() {
        let output = Command::new(env!("CARGO_BIN_EXE_bwz"))
            .arg("-dc")
            .arg(entry.committed())
            .output()
            .unwrap();
        let code = output.status.code();
        let fine = match &entry.expected {
            Expected::Raw(raw) => code == Some(0) && output.stdout == *raw,
            Expected::Unsupported(_) => code == Some(1),
            Expected::Damaged(_) => code == Some(2),
        };
        if !fine {
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            wrong.push(format!("{}: {code:?}, {message}", entry.path()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `run.py` compares output, exit code and number of every file.
#[test]
fn the_reference_decoder_agrees() {
    let run = folder().join("run.py");
    let decoder = format_folder().join("decoder.py");
    let arguments = [&run, Path::new("python3"), &decoder];
    let Some(output) = python(&arguments, b"") else {
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("core+filters+index"), "{said}");
}

#[test]
fn the_runner_sees_a_decoder_that_is_wrong() {
    let run = folder().join("run.py");
    let Some(output) = python(&[run.as_path(), Path::new("cat")], b"") else {
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("invalid/R01-empty.bwz"), "{said}");
}

#[test]
fn every_number_of_the_specification_has_a_file() {
    let page = fs::read_to_string(format_folder().join("FORMAT.md")).unwrap();
    let (chapters, list) = page
        .split_once("\n## 16. What a decoder must reject")
        .unwrap();
    let numbers: Vec<&str> = list
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.get(..3))
        .filter(|number| {
            number[1..]
                .bytes()
                .all(|byte| byte.is_ascii_digit())
        })
        .collect();
    assert_eq!(numbers.len(), 32 + 6, "{numbers:?}");
    for number in numbers {
        assert!(chapters.contains(number), "no chapter names {number}");
        let has_file = KIT
            .iter()
            .any(|entry| entry.name.starts_with(&format!("{number}-")));
        // A decoder of raw bytes passes over the tables that R33 is about.
        assert!(has_file || number == "R33", "{number} has no file");
    }
}
