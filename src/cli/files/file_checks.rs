//! Checks for arguments that make no sense together, beyond the checks of clap. An option that
//! would have no effect is refused rather than ignored, because the user relies on it.

use crate::cli::arguments::args::{FileArgs, Mode};
use crate::cli::arguments::usage::once;
use bwz::{Error, Result};

/// Checks the arguments. `asked` holds the arguments of the command line, without the defaults of
/// `BWZ_OPT`. A default that does not apply is ignored.
pub(crate) fn check(asked: &FileArgs, args: &FileArgs) -> Result<()> {
    let usage = |what: &'static str| Err(Error::Usage(what.into()));
    let mode = asked.mode.mode();
    if asked.license {
        return usage("-L prints the license, and takes no files");
    }
    let output = once("-o", &asked.output)?;
    once("--trace", &asked.trace)?;
    match mode {
        Mode::Compress => check_compression(asked, args)?,
        mode => check_reading(asked, mode)?,
    }
    let lists = [
        (asked.records, "--records goes with -l"),
        (asked.json, "--json goes with -l"),
        (asked.map, "--map goes with -l"),
        (asked.members, "--members goes with -l"),
    ];
    if let Some((_, said)) = lists
        .into_iter()
        .find(|(given, _)| *given && mode != Mode::List)
    {
        return usage(said);
    }
    if output.is_some() && (asked.files.len() > 1 || asked.files_from.is_given()) {
        return usage("-o takes one file; -c writes several one after the other");
    }
    if output.is_some() && asked.suffix.is_some() {
        return usage("-o names the file that is written: leave out -S");
    }
    if asked.recursive && asked.files.is_empty() && !asked.files_from.is_given() {
        return usage("-r walks directories: name one");
    }
    Ok(())
}

fn check_compression(asked: &FileArgs, args: &FileArgs) -> Result<()> {
    let usage = |what: &'static str| Err(Error::Usage(what.into()));
    if asked.limits.limit_output.is_some() {
        return usage("--limit-output goes with -d and -t");
    }
    if asked.no_sparse {
        return usage("--no-sparse goes with -d");
    }
    if asked.index.sample_rate.is_some() && args.index.index.is_none() {
        return usage("--sample-rate goes with --index");
    }
    Ok(())
}

fn check_reading(asked: &FileArgs, mode: Mode) -> Result<()> {
    let usage = |what: &'static str| Err(Error::Usage(what.into()));
    let compresses = [
        (asked.index.index.is_some(), "--index"),
        (asked.index.sample_rate.is_some(), "--sample-rate"),
        (asked.split_at.is_some(), "--split-at"),
        (asked.flush_every.is_some(), "--flush-every"),
        (asked.verify, "--verify"),
        (asked.no_verify, "--no-verify"),
        (asked.decompress_input, "--decompress-input"),
    ];
    for (given, flag) in compresses {
        if given {
            let said = format!("{flag} goes with compressing, not with -d, -t and -l");
            return Err(Error::Usage(said.into()));
        }
    }
    if mode == Mode::Decompress {
        return Ok(());
    }
    if !asked.output.is_empty() {
        return usage("-t and -l write no file: leave out -o");
    }
    if asked.output_dir.is_some() {
        return usage("-t and -l write no file: leave out --output-dir");
    }
    if asked.remove {
        return usage("-t and -l write no file: leave out --rm");
    }
    if asked.no_sparse {
        return usage("--no-sparse goes with -d");
    }
    if mode == Mode::List && !asked.trace.is_empty() {
        return usage("--trace goes with -z, -d and -t");
    }
    if mode == Mode::List && asked.limits.limit_output.is_some() {
        return usage("--limit-output goes with -d and -t");
    }
    Ok(())
}
