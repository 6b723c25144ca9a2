//! Writes texts for measurements, of any size, to standard output. The same arguments give the same
//! bytes.
//!
//!     cargo bench --bench texts -- SIZE plain|repeats|young   # like a genome (common/genome.rs)
//!     cargo bench --bench texts -- SIZE twice                 # random bases, the same again
//!     cargo bench --bench texts -- SIZE changed FILE          # copies of FILE, 1 in 50 changed
//!     cargo bench --bench texts -- SIZE SHAPE                 # a shape, such as 'ab repeated'
//!
//! Shapes are those of `shapes` in `tests/common/cases.rs`. Making one shape makes all of them,
//! which takes about 30 times SIZE of memory.

mod common;
#[path = "common/genome.rs"]
mod genome;

use genome::Genome;
use std::io::{self, Write};

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let size = arguments
        .first()
        .and_then(|word| word.parse().ok())
        .unwrap_or(1_000_000);
    let kind = arguments.get(1).map_or("repeats", String::as_str);
    let text = match kind {
        "twice" => Genome::Plain.text(size / 2).repeat(2),
        "changed" => {
            let file = arguments
                .get(2)
                .expect("the name of a file comes behind changed");
            genome::changed_copies(std::fs::read(file).expect("the file can be read"), size)
        }
        _ => match Genome::named(kind) {
            Some(genome) => genome.text(size),
            None => shape(kind, size),
        },
    };
    io::stdout()
        .lock()
        .write_all(&text)
        .expect("standard output takes it");
}

/// The shape with this name.
fn shape(name: &str, size: usize) -> Vec<u8> {
    let shapes = common::shapes(size);
    let names: Vec<&str> = shapes.iter().map(|(name, _)| &**name).collect();
    let known = format!("{name} is none of plain, repeats, young, twice, changed, {names:?}");
    shapes
        .into_iter()
        .find(|(shape, _)| shape == name)
        .expect(&known)
        .1
}
