//! Flags of bzip2, gzip, xz and zstd that bwz does not have, each with advice on what to type
//! instead.
//!
//! Flags that mean the same here are aliases in `args`. To refuse a flag is better than to take it
//! and ignore it: a user who asks for little memory, or for another check, relies on getting it.

/// Returns the advice for a flag, given as on the command line but without its value.
pub fn advice(flag: &str) -> Option<&'static str> {
    FLAGS.iter().find(|(flags, _)| flags.split(' ').any(|f| f == flag)).map(|(_, advice)| *advice)
}

const FLAGS: [(&str, &str); 32] = [
    ("-0", "levels go from -1 (blocks of 1 MiB) to -9 (256 MiB); --fast codes fastest"),
    ("--fast", "it has no number here and codes faster; -1 to -9 set the block size"),
    ("--best", "it has no number here and codes smaller; -1 to -9 set the block size"),
    ("-e --extreme", "--best codes small rather than fast, which decompression pays for too"),
    ("--ultra", "-9 has the largest blocks, --best codes smallest"),
    ("--long", "repeats are found in the whole block, whose size -1 to -9 set"),
    ("-s --small", "-M SIZE limits the memory; lower levels (-1 to -9) take less of it"),
    (
        "--memlimit-compress --memlimit-decompress --memlimit-mt-decompress --no-adjust",
        "-M SIZE limits the memory of whatever is done",
    ),
    ("--info-memory", "-M SIZE limits the memory; without it half of the machine's is used"),
    ("-N --name", "no name is kept inside; the output is called as the file without its suffix"),
    ("-a --ascii", "bytes are kept as they are; lines are not converted"),
    ("-p --processes --single-thread --auto-threads", "-T N sets the number of threads"),
    ("-u --sequential --asyncio --no-asyncio", "leave it out, it has no meaning here"),
    ("--repetitive-fast --repetitive-best --exponential", "leave it out, it has no meaning here"),
    (
        "-B -b --block-size --block-list",
        "-1 to -9 or --block SIZE set the block size; `bwz bench` measures",
    ),
    ("-C --check --no-check", "each block and the whole carry a CRC-32; there is no other check"),
    ("--ignore-check", "`bwz recover FILE -o OUT` saves what is whole of a damaged file"),
    ("--single-stream", "all that stands in the file is decompressed"),
    ("-F --format", "bwz reads and writes its own format only"),
    ("--files --files0 --filelist", "xargs gives the names of a list: xargs -d '\\n' bwz < LIST"),
    ("--output-dir-flat --output-dir-mirror", "outputs stand beside their inputs; -o names one"),
    ("--rsyncable", "a block changes as a whole; lower levels (-1 to -9) have smaller blocks"),
    ("--synchronous", "with --rm the output is waited for to be on disk; else `sync FILE` does"),
    ("--flush-timeout --adapt", "a block is written when it is whole; -1 has the smallest"),
    ("--robot", "-l --json is for programs"),
    ("-Q --no-warn", "warnings do not change the exit code; -q leaves them out"),
    ("-H --long-help", "--help says all"),
    ("--progress", "it is shown on a terminal unless --no-progress or -q is given"),
    ("--pass-through", "-dcf copies what is not compressed"),
    ("--exclude-compressed", "what does not get smaller is stored; -r leaves out .bwz files"),
    (
        "-D --train --patch-from",
        "there are no dictionaries; files that are alike can go into one tar",
    ),
    (
        "--x86 --arm --armthumb --arm64 --powerpc --ia64 --sparc --delta --lzma1 --lzma2",
        "filters are chosen by what the data are",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::arguments::args::Cli;
    use clap::CommandFactory;

    #[test]
    fn a_flag_is_bwz_s_own_or_foreign() {
        assert!(advice("--extreme").is_some_and(|advice| advice.contains("--best")));
        assert_eq!(advice("--no-such-flag"), None);
        let cli = Cli::command();
        let own = cli.get_arguments().flat_map(|arg| {
            let short = arg.get_short_and_visible_aliases().into_iter().flatten();
            let long = arg.get_long_and_visible_aliases().into_iter().flatten();
            let takes_value = arg.get_action().takes_values();
            let names = short.map(|c| format!("-{c}")).chain(long.map(|l| format!("--{l}")));
            names.map(move |name| (name, takes_value)).collect::<Vec<_>>()
        });
        for (name, takes_value) in own {
            // Advice for these two is asked for only if they have a value.
            let with_value = !takes_value && ["--fast", "--best"].contains(&name.as_str());
            assert!(advice(&name).is_none() || with_value, "{name}");
        }
    }
}
