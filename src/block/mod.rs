//! One block: raw <-> coded. This is the only place that knows filters, sort, coding and checks
//! together; streams and files are doors around it.
//!
//! | file | way |
//! |---|---|
//! | `encode_block` | raw block -> filters -> sort -> segments -> coded block |
//! | `decode_block` | coded block -> segments -> inverse -> filters undone -> raw block, checked |

mod decode_block;
mod encode_block;

pub(crate) use decode_block::{BlockDecoder, Decoded, decode, restore, restore_decoded};
pub(crate) use encode_block::BlockEncoder;
