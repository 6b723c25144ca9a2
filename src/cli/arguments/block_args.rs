//! The size of blocks: `-1` to `-9`, or `--block`.

use crate::cli::arguments::size;
use bwz::{DEFAULT_LEVEL, Options, Result};
use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches};

/// A level, or a size in bytes. The last one wins.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct BlockSize {
    #[command(flatten)]
    pub level: LevelArg,
    /// Blocks of SIZE bytes, 64K to 1T - 1. Compressing a block above 2 GiB takes memory of up to
    /// 11 times its size, for which --memory must allow; a smaller block takes 7 times its size.
    /// Such a block is sorted on the CPU if it has 4 GiB, or if a GPU has less memory than 27 times
    /// its size, or more if much of it repeats. Several GPUs that --device names sort it together
    /// if each has memory for 58 times its part. One GPU restores it if it has memory for 15 times
    /// its size
    #[arg(long, value_name = "SIZE", value_parser = size::block, help_heading = "Block size", overrides_with_all = LEVELS)]
    block: Option<u64>,
}

impl BlockSize {
    /// Adds the block size to the options.
    pub(crate) fn add_to(self, options: Options) -> Result<Options> {
        match self.block {
            Some(bytes) => options.with_block_size(bytes),
            None => options.level(self.level.0),
        }
    }
}

/// `-1` to `-9`. The last one wins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LevelArg(pub u8);

const LEVELS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

impl Args for LevelArg {
    fn augment_args(command: clap::Command) -> clap::Command {
        LEVELS
            .iter()
            .zip(1..)
            .fold(command, |command, (id, level)| {
                let default = if level == DEFAULT_LEVEL {
                    " (the default)"
                } else {
                    ""
                };
                command.arg(
                    Arg::new(*id)
                        .short(id.chars().next())
                        .action(ArgAction::SetTrue)
                        .overrides_with_all(LEVELS)
                        .overrides_with("block")
                        .help_heading("Block size")
                        .help(format!("Blocks of {} MiB{default}", 1u32 << (level - 1))),
                )
            })
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for LevelArg {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let chosen = LEVELS
            .iter()
            .zip(1..)
            .find(|(id, _)| matches.get_flag(id));
        Ok(LevelArg(chosen.map_or(DEFAULT_LEVEL, |(_, level)| level)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    #[command(args_override_self = true)]
    struct CommandLine {
        #[command(flatten)]
        block_size: BlockSize,
    }

    #[test]
    fn the_last_level_or_size_wins() {
        let size = |words: &[&str]| {
            let line = CommandLine::try_parse_from([&["x"], words].concat()).unwrap();
            line.block_size
                .add_to(Options::new())
                .unwrap()
                .block_size()
        };
        assert_eq!(size(&[]), 32 << 20);
        assert_eq!(size(&["--block", "3G", "-9"]), 256 << 20);
        assert_eq!(size(&["-9", "--block", "3G"]), 3 << 30);
        assert_eq!(size(&["--block=1023G", "--block=64k"]), 64 << 10);
    }
}
