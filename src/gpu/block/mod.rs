//! A block on the device, below all sorts: its text, the counts of its bytes, and the way from its
//! suffix array to its transform.

pub mod byte_counts;
mod device_block;
pub mod sa_to_bwt;

pub use device_block::{DeviceBlock, is_padded, text_view};
