//! The output of `overlap`: tables, lines in mummer's format, PAF and GFA.

use crate::cli::report::json_bytes::{hex_unless_text, text};
use bwz::overlap::{Match, Overlap, Sequences, Strands};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::io::{self, Write};

/// A common region, as `--json` shows it. Positions count from 0; the end is not included.
#[derive(Serialize)]
pub(crate) struct CommonRegion<'n> {
    #[serde(serialize_with = "as_text")]
    a: &'n [u8],
    #[serde(skip_serializing_if = "Option::is_none")]
    a_hex: Option<String>,
    a_start: u32,
    a_end: u32,
    #[serde(serialize_with = "as_text")]
    b: &'n [u8],
    #[serde(skip_serializing_if = "Option::is_none")]
    b_hex: Option<String>,
    b_start: u32,
    b_end: u32,
    strand: char,
    length: u32,
}

pub(crate) fn regions<'n>(
    a: &'n Sequences,
    b: &'n Sequences,
    found: &[Match],
) -> Vec<CommonRegion<'n>> {
    let region = |m: &Match| CommonRegion {
        a: a.name(m.a),
        a_hex: hex_unless_text(a.name(m.a)),
        a_start: m.a_start,
        a_end: m.a_start + m.length,
        b: b.name(m.b),
        b_hex: hex_unless_text(b.name(m.b)),
        b_start: m.b_start,
        b_end: m.b_start + m.length,
        strand: if m.is_reverse { '-' } else { '+' },
        length: m.length,
    };
    found.iter().map(region).collect()
}

pub(crate) fn print_regions(out: &mut impl Write, regions: &[CommonRegion]) -> io::Result<()> {
    for region in regions {
        let CommonRegion {
            a_start,
            a_end,
            b_start,
            b_end,
            strand,
            length,
            ..
        } = region;
        out.write_all(region.a)?;
        write!(out, "\t{a_start}\t{a_end}\t")?;
        out.write_all(region.b)?;
        writeln!(out, "\t{b_start}\t{b_end}\t{strand}\t{length}")?;
    }
    Ok(())
}

fn as_text<S: Serializer>(name: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text(name))
}

/// Prints matches as mummer does, under a line for each strand of each record of `b`.
pub(crate) fn print_matches(
    out: &mut impl Write,
    a: &Sequences,
    b: &Sequences,
    strands: Strands,
    found: &[Match],
) -> io::Result<()> {
    let width = (0..a.len() as u32)
        .map(|record| a.name(record).len())
        .max()
        .unwrap_or(0);
    let mut rest = found;
    for record in 0..b.len() as u32 {
        for is_reverse in [false, true] {
            if is_reverse && strands == Strands::Forward {
                continue;
            }
            out.write_all(b"> ")?;
            out.write_all(b.name(record))?;
            out.write_all(if is_reverse { b" Reverse\n" } else { b"\n" })?;
            while let Some((m, others)) = rest.split_first()
                && (m.b, m.is_reverse) == (record, is_reverse)
            {
                let length = b.bases(record).len() as u32;
                let start = if is_reverse {
                    length - m.b_start - m.length
                } else {
                    m.b_start
                };
                let name = a.name(m.a);
                out.write_all(b"  ")?;
                out.write_all(name)?;
                let pad = width - name.len();
                let a_start = m.a_start + 1;
                let b_start = start + 1;
                writeln!(
                    out,
                    "{:pad$}  {a_start:>8}  {b_start:>8}  {:>8}",
                    "", m.length
                )?;
                rest = others;
            }
        }
    }
    Ok(())
}

pub(crate) fn print_paf(
    out: &mut impl Write,
    reads: &Sequences,
    names: &[Cow<[u8]>],
    found: &[Overlap],
) -> io::Result<()> {
    for overlap in found {
        let length = overlap.length;
        out.write_all(&names[overlap.a as usize])?;
        print_side(out, reads, overlap.a, !overlap.a_is_reverse, length)?;
        let is_reverse = overlap.a_is_reverse != overlap.b_is_reverse;
        out.write_all(if is_reverse { b"-\t" } else { b"+\t" })?;
        out.write_all(&names[overlap.b as usize])?;
        print_side(out, reads, overlap.b, overlap.b_is_reverse, length)?;
        writeln!(out, "{length}\t{length}\t255")?;
    }
    Ok(())
}

/// Prints the length of a read, and the range of its last or its first `length` bases.
fn print_side(
    out: &mut impl Write,
    reads: &Sequences,
    read: u32,
    is_at_end: bool,
    length: u32,
) -> io::Result<()> {
    let size = reads.bases(read).len() as u32;
    let start = if is_at_end { size - length } else { 0 };
    write!(out, "\t{size}\t{start}\t{}\t", start + length)
}

/// Prints reads without their bases, and the links between them.
pub(crate) fn print_gfa(
    out: &mut impl Write,
    reads: &Sequences,
    names: &[Cow<[u8]>],
    found: &[Overlap],
) -> io::Result<()> {
    writeln!(out, "H\tVN:Z:1.0")?;
    for (name, read) in names.iter().zip(0..) {
        out.write_all(b"S\t")?;
        out.write_all(name)?;
        writeln!(out, "\t*\tLN:i:{}", reads.bases(read).len())?;
    }
    for overlap in found {
        let orientation = |is_reverse: bool| if is_reverse { "\t-\t" } else { "\t+\t" };
        out.write_all(b"L\t")?;
        out.write_all(&names[overlap.a as usize])?;
        out.write_all(orientation(overlap.a_is_reverse).as_bytes())?;
        out.write_all(&names[overlap.b as usize])?;
        out.write_all(orientation(overlap.b_is_reverse).as_bytes())?;
        writeln!(out, "{}M", overlap.length)?;
    }
    Ok(())
}
