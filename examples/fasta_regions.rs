//! Prints regions of a genome, as `samtools faidx` does, from a compressed FASTA file.
//!
//! A FASTA or FASTQ file that was compressed with an index has a table of its records. Bases are
//! addressed by record, across line ends. Short regions are read by the index.
//!
//! `cargo run --release --example fasta_regions genome.fa.bwz chrIV:1000-2000`

use bwz::{Archive, Options};
use std::env;
use std::error::Error;
use std::fs::File;
use std::io::{Read, Seek};

/// The bases of each region `NAME:FIRST-LAST`, which counts from 1 and includes both ends.
pub fn fasta_regions(
    genome: impl Read + Seek + Send,
    regions: &[String],
) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let mut genome = Archive::open(genome, &Options::new())?;
    let mut wanted = Vec::new();
    for region in regions {
        let (name, range) = region
            .rsplit_once(':')
            .ok_or("a region is NAME:FIRST-LAST")?;
        let (first, last) = range
            .split_once('-')
            .ok_or("a region is NAME:FIRST-LAST")?;
        let start = first
            .parse::<u64>()?
            .checked_sub(1)
            .ok_or("the first base is 1")?;
        let number = genome
            .find_record(name)?
            .ok_or(format!("there is no record {name}"))?;
        wanted.push((number, start..last.parse()?));
    }
    Ok(genome.regions(&wanted)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let Some((path, regions)) = arguments.split_first() else {
        return Err("arguments: FILE REGION...".into());
    };
    let bases = fasta_regions(File::open(path)?, regions)?;
    for (region, bases) in regions.iter().zip(bases) {
        println!(">{region}\n{}", String::from_utf8_lossy(&bases));
    }
    Ok(())
}
