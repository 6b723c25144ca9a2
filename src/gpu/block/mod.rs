//! A block on the device, as all sorts see it: its text, the counts of its bytes, and its BWT.
//!
//! | file | job |
//! |---|---|
//! | `device_block` | the text, and the arrays for the results |
//! | `byte_counts` | the counts of bytes, and an estimate of repeats |
//! | `text_checksum` | the CRC-32 of a text |

pub(crate) mod byte_counts;
mod device_block;
pub(crate) mod text_checksum;

pub(crate) use device_block::{DeviceBlock, is_padded, text_view};
