//! Lines that may match an expression: those that hold one of some literals, found by the index.
//! The caller, who knows the expression, scans them.
//!
//! Each set of literals alone is required for a match. The literals of all sets are counted in each
//! block, and the set with the fewest places is located. The lines around the places are read by
//! walks in the index. A block is decoded as a whole if that costs less, or if the numbers of lines
//! are wanted: the file has only the number of line feeds of each block.
//!
//! The result is a list of regions of whole lines, in order. A region consists of texts that were
//! read and of blocks that are to be decoded. Lines cross boundaries of blocks, and so do regions.
//! All lines with a match are in a region, with their context; other lines may be too.
//!
//! Cost: for each block two slices for each symbol of a literal; for each place as many steps as
//! there are bytes in its line and its context, and half the sample rate more. Each step needs a
//! slice, but steps share slices, so that the cost is never much more than that of decoding. If
//! nearly all blocks would be decoded, there is no result, and the caller scans the whole text.
//!
//! | file | job |
//! |---|---|
//! | `line_request` | the request and its result |
//! | `line_finder` | all steps: counts, choice, regions |
//! | `line_blocks` | the blocks: counts and places in each, and pieces of their text |
//! | `line_growth` | places grown to whole lines |

mod line_blocks;
mod line_finder;
mod line_growth;
mod line_request;

pub use line_request::{LinePiece, LineRegion, LineRequest};
