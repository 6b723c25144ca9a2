//! `bwz extract`: ranges of files, and stretches of records, to standard output, by the index where
//! there is one.

use super::console::Activity;
use super::exit::Exit;
use super::files::{self, Directories};
use super::input;
use super::input_name::Name;
use super::output::Output;
use super::pattern_batch::{is_rna, reverse_complement};
use super::record_regions::{Region, read_bed};
use super::search_args::ExtractArgs;
use super::size::read_cost;
use bwz::{Archive, Error, ReadCost, Result};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::ffi::OsStrExt;

/// Longer ranges are decoded block by block, and never held in memory as a whole.
const SHORT: u64 = 1 << 20;

/// Writes the ranges of each file.
pub fn run(args: &ExtractArgs) -> Exit {
    let options = args.limits.add_to(args.resources.options()).verify(args.verify);
    files::each(&args.files, Directories::Refused, args.talk, Activity::Reading, |name| {
        let file = input::open_seekable(name)?;
        let mut output = Output::stdout(Some(&file.metadata()?))?;
        let mut archive = Archive::open(file, &options)?;
        if args.range.is_empty() {
            write_regions(args, name, &mut archive, &mut output)?;
        }
        let raw_size = archive.raw_size();
        let ranges: Vec<_> = args.range.iter().map(|span| span.within(raw_size)).collect();
        args.limits.check(&ranges)?;
        let mut cost = ReadCost::default();
        for range in ranges {
            if range.end.saturating_sub(range.start) > SHORT {
                cost += archive.read_range(range, &mut output)?;
            } else {
                output.write_all(&archive.extract(range)?)?;
            }
        }
        output.finish(None, false)?;
        cost += archive.search_cost();
        args.talk.report(name, read_cost(cost));
        Ok(())
    })
}

/// Bases in a line of FASTA, as samtools writes it.
const COLUMNS: usize = 60;

/// Bases that are extracted together: a block is decoded once for all of them.
const TOGETHER: u64 = 64 << 20;

/// Writes stretches of records as FASTA.
fn write_regions(
    args: &ExtractArgs,
    file: &Name,
    archive: &mut Archive<File>,
    output: &mut Output,
) -> Result<()> {
    if !archive.has_sequences() {
        return Err(Error::Usage(
            "has no index of sequences, which --region goes by; bwz --index of FASTA or FASTQ makes one"
                .into(),
        ));
    }
    archive.records()?;
    let mut out = BufWriter::with_capacity(1 << 18, output);
    let (mut some, mut size) = (Vec::new(), 0);
    for mut region in wanted_regions(args, archive)? {
        region.reverse ^= args.reverse_complement;
        let Some(number) = archive.find_record(&region.name)? else {
            let name = String::from_utf8_lossy(&region.name);
            let what = format!("has no record `{name}`; bwz -l --records {file} lists them");
            return Err(Error::Usage(what.into()));
        };
        let length = archive.records()?[number].length;
        if region.range.start >= length && region.range.start > 0 {
            let title = String::from_utf8_lossy(&region.title);
            args.talk
                .warn(file, format_args!("{title} is behind the {length} bases of the record"));
        }
        size += region.range.end.min(length).saturating_sub(region.range.start);
        some.push((number, region));
        if size >= TOGETHER {
            write_bases(archive, std::mem::take(&mut some), &mut out)?;
            size = 0;
        }
    }
    write_bases(archive, some, &mut out)?;
    Ok(out.flush()?)
}

/// Writes some regions, each with the number of its record.
fn write_bases(
    archive: &mut Archive<File>,
    regions: Vec<(usize, Region)>,
    out: &mut impl Write,
) -> Result<()> {
    let ranges = regions.iter().map(|(number, region)| (*number, region.range.clone()));
    let bases = archive.regions(&ranges.collect::<Vec<_>>())?;
    for ((_, region), mut bases) in regions.into_iter().zip(bases) {
        if region.reverse {
            let of_rna = is_rna(&bases);
            reverse_complement(&mut bases, of_rna);
        }
        out.write_all(&[b">", &region.title()[..], b"\n"].concat())?;
        for line in bases.chunks(COLUMNS) {
            out.write_all(line)?;
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}

/// The regions that the arguments name, in their order.
fn wanted_regions(args: &ExtractArgs, archive: &mut Archive<File>) -> Result<Vec<Region>> {
    let names: HashSet<&[u8]> = archive.records()?.iter().map(|record| &record.name[..]).collect();
    let is_name = |name: &[u8]| names.contains(name);
    let named = args.region.iter().map(|region| Region::parse(region.as_bytes(), is_name));
    let mut regions = named.collect::<Result<Vec<_>>>()?;
    for path in &args.regions {
        let text =
            fs::read(path).map_err(|e| Error::Usage(format!("{}: {e}", path.display()).into()))?;
        regions.extend(read_bed(&text, path)?);
    }
    Ok(regions)
}
