//! A block on the device, below all sorts: its text, the counts of its bytes, and for the sorts
//! that make a suffix array (all but `default`, which writes the transform itself) the way from
//! there to the transform.

pub mod byte_counts;
mod device_block;
pub mod sa_to_bwt;

pub use device_block::{DeviceBlock, is_padded, text_view};
