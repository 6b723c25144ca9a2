//! `--ranks`: compressing as one of several processes.

use crate::cli::arguments::args::FileArgs;
use crate::cli::report::console;
use crate::cli::report::exit::Exit;
use bwz::{JoinedRank, Options};

/// Joins the ranks that the arguments name, if any. For the process that does the work, returns its
/// options, with the ranks that help it. A process that helps does all its work here, and ends with
/// the returned code.
///
/// A helper that cannot help any longer ends with success. Launchers end all processes if one
/// fails, but the first process can go on without it.
pub(crate) fn join(args: &FileArgs, options: Options) -> Result<Options, Exit> {
    let Some(address) = &args.ranks else {
        return Ok(options);
    };
    match JoinedRank::join(address, args.resources.device) {
        Err(e) => Err(console::fail(&e)),
        Ok(JoinedRank::First(ranks)) => Ok(options.ranks(ranks)),
        Ok(JoinedRank::Other(rank)) => {
            let number = rank.number();
            if let Err(e) = rank.largest_block(options.block_size()).serve() {
                args.talk
                    .state(format_args!("rank {number} no longer helps: {e}"));
            }
            Err(Exit::Fine)
        }
    }
}
