//! Text like a genome, of any size, on standard output: what blocks above 2 GiB are measured with.
//!
//!     cargo bench --bench dna -- 3100000000 repeats > /dev/shm/dna
//!
//! `common/genome.rs` says what is in it: `plain`, `repeats` and `young` are its three kinds.

#[path = "common/genome.rs"]
mod genome;

use genome::Genome;
use std::io::{self, Write};

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let size = arguments.first().and_then(|word| word.parse().ok()).unwrap_or(1_000_000);
    let kind = arguments.get(1).map_or("repeats", String::as_str);
    let genome = Genome::named(kind).expect("it is plain, repeats or young");
    io::stdout().lock().write_all(&genome.text(size)).expect("standard output takes it");
}
