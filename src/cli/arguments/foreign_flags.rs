//! Flags of bzip2, gzip, xz and zstd that bwz does not have, each with advice on what to type
//! instead.
//!
//! Flags that mean the same here are aliases in `args`. To refuse a flag is better than to take it
//! and ignore it: a user who asks for little memory, or for another check, relies on getting it.

/// Returns the advice for a flag, given as on the command line but without its value.
pub(crate) fn advice(flag: &str) -> Option<&'static str> {
    FLAGS
        .iter()
        .find(|(flags, _)| flags.split(' ').any(|f| f == flag))
        .map(|(_, advice)| *advice)
}

const FLAGS: [(&str, &str); 32] = [
    (
        "-0",
        "levels go from -1 (blocks of 1 MiB) to -9 (256 MiB); --fast is fastest",
    ),
    (
        "--fast",
        "it takes no number here and makes coding faster; -1 to -9 set the block size",
    ),
    (
        "--best",
        "it takes no number here and makes files smaller; -1 to -9 set the block size",
    ),
    (
        "-e --extreme",
        "--best makes files smaller, but compression and decompression slower",
    ),
    (
        "--ultra",
        "-9 has the largest blocks, --best makes the smallest files",
    ),
    (
        "--long",
        "repeats are found in the whole block, whose size -1 to -9 set",
    ),
    (
        "-s --small",
        "-M SIZE limits the memory; lower levels (-1 to -9) take less of it",
    ),
    (
        "--memlimit-compress --memlimit-decompress --memlimit-mt-decompress --no-adjust",
        "-M SIZE limits the memory of all work",
    ),
    (
        "--info-memory",
        "-M SIZE limits the memory; without it half of the machine's is used",
    ),
    (
        "-N --name",
        "a file holds no name; the output has the name of the file without its suffix",
    ),
    (
        "-a --ascii",
        "bytes are kept as they are; lines are not converted",
    ),
    (
        "-p --processes --single-thread --auto-threads",
        "-T N sets the number of threads",
    ),
    (
        "-u --sequential --asyncio --no-asyncio",
        "leave it out, it has no meaning here",
    ),
    (
        "--repetitive-fast --repetitive-best --exponential",
        "leave it out, it has no meaning here",
    ),
    (
        "-B -b --block-size --block-list",
        "-1 to -9 or --block SIZE set the block size; `bwz bench` measures",
    ),
    (
        "-C --no-check",
        "each block and the whole stream have a CRC-32; --check xxh3 or blake3 adds a digest",
    ),
    (
        "--ignore-check",
        "`bwz recover FILE -o OUT` saves the intact blocks of a damaged file",
    ),
    ("--single-stream", "everything in the file is decompressed"),
    ("-F --format", "bwz reads and writes its own format only"),
    (
        "--files --files0 --filelist",
        "use xargs for a list of names: xargs -d '\\n' bwz < LIST",
    ),
    (
        "--output-dir-flat --output-dir-mirror",
        "each output is written beside its input; -o names another file",
    ),
    (
        "--rsyncable",
        "a block changes as a whole; lower levels (-1 to -9) have smaller blocks",
    ),
    (
        "--synchronous",
        "with --rm bwz waits until the output is on disk; without it use `sync FILE`",
    ),
    (
        "--flush-timeout --adapt",
        "a block is written when it is complete; -1 has the smallest blocks",
    ),
    ("--robot", "-l --json is for programs"),
    (
        "-Q --no-warn",
        "warnings do not change the exit code; -q leaves them out",
    ),
    ("-H --long-help", "--help describes every option"),
    (
        "--progress",
        "it is shown on a terminal unless --no-progress or -q is given",
    ),
    ("--pass-through", "-dcf copies input that is not compressed"),
    (
        "--exclude-compressed",
        "data that would not become smaller is stored; -r leaves out .bwz files",
    ),
    (
        "-D --train --patch-from",
        "there are no dictionaries; similar files can go into one tar",
    ),
    (
        "--x86 --arm --armthumb --arm64 --powerpc --ia64 --sparc --delta --lzma1 --lzma2",
        "bwz chooses filters by the data",
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
            let short = arg
                .get_short_and_visible_aliases()
                .into_iter()
                .flatten();
            let long = arg
                .get_long_and_visible_aliases()
                .into_iter()
                .flatten();
            let takes_value = arg.get_action().takes_values();
            let names = short
                .map(|c| format!("-{c}"))
                .chain(long.map(|l| format!("--{l}")));
            names
                .map(move |name| (name, takes_value))
                .collect::<Vec<_>>()
        });
        for (name, takes_value) in own {
            // Advice for these two is asked for only if they have a value.
            let with_value = !takes_value && ["--fast", "--best"].contains(&name.as_str());
            assert!(advice(&name).is_none() || with_value, "{name}");
        }
    }
}
