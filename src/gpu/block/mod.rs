//! A block on the device, as all sorts see it: its text, the counts of its bytes, and its BWT.
//!
//! All sorts but `default` make a suffix array; `sa_to_bwt` makes the BWT from it. `default` writes
//! the BWT itself.
//!
//! | file | job |
//! |---|---|
//! | `device_block` | the text, and the arrays for the results |
//! | `byte_counts` | the counts of bytes, and an estimate of repeats |
//! | `sa_to_bwt` | suffix array -> BWT and samples |

pub mod byte_counts;
mod device_block;
pub mod sa_to_bwt;

pub use device_block::{DeviceBlock, is_padded, text_view};
