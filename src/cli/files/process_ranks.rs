//! `--ranks`: compressing as one of several processes.

use crate::cli::arguments::args::FileArgs;
use crate::cli::report::console;
use crate::cli::report::exit::Exit;
use bwz::{JoinedRank, Options};

/// The options of the process that does the work, with the ranks that help it if that was asked
/// for. A process that helps is done here, and ends as is given.
///
/// One that can help no more ends well: launchers end all processes where one fails, and the first
/// one can go on.
pub fn join(args: &FileArgs, options: Options) -> Result<Options, Exit> {
    let Some(address) = &args.ranks else { return Ok(options) };
    match JoinedRank::join(address, args.resources.device) {
        Err(e) => Err(console::fail(&e)),
        Ok(JoinedRank::First(ranks)) => Ok(options.ranks(ranks)),
        Ok(JoinedRank::Other(rank)) => {
            let number = rank.number();
            if let Err(e) = rank.largest_block(options.block_size()).serve() {
                args.talk.state(format_args!("rank {number} helps no more: {e}"));
            }
            Err(Exit::Fine)
        }
    }
}
