//! Sound files to be damaged: they have every kind of block, slice, table, filter and index, and
//! most of them are small.

use super::vouch::vouch;
use crate::common::mutation::parts::{self, Kind, Part, varint};
use crate::common::mutation::random::Random;
use crate::common::mutation::repair;
use crate::common::{cases, compressed, indexed, odd_fasta, options};
use bwz::Effort;
use bwz::internals::coder::Coding;
use bwz::internals::{
    self,
    filter::{self, Filtered, Step},
    separate_sequences, take_fields_apart,
};
use std::fs;
use std::path::Path;

pub struct Source {
    pub name: String,
    pub file: Vec<u8>,
}

pub struct Sources {
    small: Vec<Source>,
    /// Sources with many raw bytes, which are slow to decode.
    large: Vec<Source>,
}

/// Number of raw bytes above which a source is large.
const MANY: usize = 12_000;

/// One damaged file in this many is made from a large source.
const LARGE: usize = 12;

impl Sources {
    pub fn new() -> Self {
        let all = examples()
            .into_iter()
            .chain(made())
            .chain(filtered());
        let raw_size = |file: &[u8]| {
            let mut raw = Vec::new();
            bwz::decompress(file, &mut raw, &options(1)).map(|summary| summary.raw_size as usize)
        };
        let sized = all.map(|(name, file)| {
            let size = raw_size(&file).unwrap_or_else(|e| panic!("{name}: {e}"));
            (size, Source { name, file })
        });
        let (small, large): (Vec<_>, Vec<_>) = sized.partition(|(size, _)| *size <= MANY);
        let bare = |sized: Vec<(usize, Source)>| sized.into_iter().map(|(_, source)| source);
        Sources {
            small: bare(small).collect(),
            large: bare(large).collect(),
        }
    }

    /// All sources.
    pub fn all(&self) -> impl Iterator<Item = &Source> {
        self.small.iter().chain(&self.large)
    }

    /// Picks a source.
    pub fn pick(&self, random: &mut Random) -> &Source {
        let from = if random.one_in(LARGE) {
            &self.large
        } else {
            &self.small
        };
        &from[random.below(from.len())]
    }
}

/// The valid files of `format/conformance`.
pub fn examples() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("format/conformance/valid");
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = entries
        .filter(|path| path.extension().is_some_and(|kind| kind == "bwz"))
        .collect();
    paths.sort();
    let name = |path: &Path| {
        path.file_stem()
            .unwrap()
            .to_string_lossy()
            .into_owned()
    };
    paths
        .iter()
        .map(|path| (name(path), fs::read(path).unwrap()))
        .collect()
}

/// Small files made by the library, each raw stream in several ways.
fn made() -> Vec<(String, Vec<u8>)> {
    let dna = cases::random(1500, 4)
        .iter()
        .map(|&b| b"ACGT"[usize::from(b)])
        .collect();
    let mut raws: Vec<(&str, Vec<u8>)> = vec![
        ("nothing", vec![]),
        ("a byte", vec![7]),
        ("noise", cases::random(300, 256)),
        ("a run", vec![b'a'; 4000]),
        ("words", cases::text(2500)),
        ("DNA", dna),
        ("bits", cases::random(900, 2)),
        (
            "words and runs",
            [cases::text(400), vec![b' '; 3000], cases::text(500)].concat(),
        ),
    ];
    raws.extend(
        cases::filtered(2000)
            .into_iter()
            .map(|(name, raw, _)| (name, raw)),
    );
    let mut files = Vec::new();
    for (name, raw) in &raws {
        let mut add = |how: &str, file| files.push((format!("{name}, {how}"), file));
        add("in blocks", compressed(raw, 700));
        add("for counting", indexed(raw, 1 << 20, Some(0)));
        add("indexed", indexed(raw, 900, Some(8)));
        add("at --best", with_effort(raw, Effort::Best));
        add(
            "in frames",
            [compressed(raw, 500), compressed(raw, 1 << 20)].concat(),
        );
    }
    let text = cases::text(11_500);
    for (name, coding) in [
        ("static", Coding::StaticRans),
        ("mixing", Coding::ContextMixing),
    ] {
        for (how, indexed) in [("", false), (", indexed", true)] {
            let block = internals::sliced_block(&text, coding, 5000, indexed).unwrap();
            let file = internals::frame([block], &[]).unwrap();
            files.push((format!("slices, {name}{how}"), file));
        }
    }
    files
}

fn with_effort(raw: &[u8], effort: Effort) -> Vec<u8> {
    let mut file = Vec::new();
    bwz::compress(raw, &mut file, &options(1 << 20).effort(effort)).unwrap();
    file
}

/// Small blocks with filters. This library applies the filters to larger blocks only.
fn filtered() -> Vec<(String, Vec<u8>)> {
    let named = |name| {
        cases::filtered(1000)
            .into_iter()
            .find(|case| case.0 == name)
            .unwrap()
            .1
    };
    let [table, x86, arm64] = ["table", "x86", "ARM64"].map(|name| named(name)[..600].to_vec());
    let text = cases::text(600);
    // Sizes of 600 as varints. Records of 20 bytes with elements of 4, transposed or not, with a
    // row above or without.
    let size = [0xD8, 4];
    let records = |form: u8, row: u8| [&size[..], &[1, 20, form, row]].concat();
    let regions = [
        records(4, 0),
        records(0x84, 40),
        [&size[..], &[2]].concat(),
        [&size[..], &[3]].concat(),
    ];
    let of_regions = [&table[..], &table, &x86, &arm64].concat();
    let sequences = separate_sequences(&odd_fasta()[..700], false).unwrap();
    // A single line of residues is its own text.
    let line: Vec<u8> = text.iter().map(|byte| b'A' + byte % 26).collect();
    let one_line = separate_sequences(&line, false).unwrap();
    let fields = take_fields_apart(&named("comma-separated values"), b',')
        .unwrap()
        .unwrap();
    let matches = Step {
        filter: 3,
        output_size: text.len(),
        side: vec![0, 8, 0, 0, 0, 0, 0, 0, 0, 0],
    };
    let one_region = Step {
        filter: 2,
        output_size: text.len(),
        side: [&size[..], &[0]].concat(),
    };
    let regions = Step {
        filter: 2,
        output_size: of_regions.len(),
        side: regions.concat(),
    };
    let all = [&one_line.steps[..], &[one_region.clone(), matches.clone()]].concat();
    // No writer applies filters in this order.
    let odd = [&[matches.clone(), one_region][..], &one_line.steps].concat();
    vec![
        (
            "small regions".to_owned(),
            with_steps(&of_regions, vec![regions]),
        ),
        (
            "small sequences".to_owned(),
            with_steps(&sequences.text, sequences.steps),
        ),
        (
            "small fields".to_owned(),
            with_steps(&fields.text, fields.steps),
        ),
        (
            "indexed sequences".to_owned(),
            indexed(&odd_fasta(), 3000, Some(8)),
        ),
        ("small matches".to_owned(), with_steps(&text, vec![matches])),
        ("three filters".to_owned(), with_steps(&line, all)),
        ("filters in an odd order".to_owned(), with_steps(&line, odd)),
    ]
}

/// A file of one block that has the text `text` and the given filters.
fn with_steps(text: &[u8], steps: Vec<Step>) -> Vec<u8> {
    let filtered = Filtered {
        text: text.to_vec(),
        steps,
    };
    let sizes = text.len()..2 * text.len();
    let raw = sizes
        .into_iter()
        .find_map(|size| filter::undo(filtered.clone(), size).ok());
    let raw_size = raw.expect("the filters can be undone").len() as u64;
    let mut parts = parts::parse(&compressed(text, 1 << 20));
    let find = |parts: &[Part], kind| {
        parts
            .iter()
            .position(|part| part.kind == kind)
            .unwrap()
    };
    let block = find(&parts, Kind::BlockHeader);
    parts[block].set(10, 1, 1);
    parts[block].set(12, 5, raw_size);
    let side = filtered
        .steps
        .iter()
        .enumerate()
        .map(|(n, step)| Part {
            count: n,
            ..Part::new(Kind::Side, &step.side)
        });
    let slice = find(&parts, Kind::Slice);
    parts.splice(slice..slice, side);
    let count = filtered.steps.len() as u8;
    let mut list = vec![Part::new(Kind::FilterCount, &[count])];
    for step in &filtered.steps {
        let size = varint(step.output_size as u64);
        list.push(Part::new(Kind::FilterId, &[step.filter]));
        list.push(Part::new(Kind::FilteredSize, &size));
        list.push(Part::new(Kind::SideSize, &[0]));
    }
    parts.splice(block + 1..block + 1, list);
    repair::sizes(&mut parts);
    // The fields of Side are known once the sizes are right.
    vouch(&parts::join(&parts))
}
