//! One block: raw <-> coded. This is the only place that knows filters, sort, coding and checks
//! together; streams and files are doors around it.
//!
//! | file | way |
//! |---|---|
//! | `encode` | raw block -> filters -> sort -> segments -> coded block |
//! | `decode` | coded block -> segments -> inverse -> filters undone -> raw block, checked |

mod decode;
mod encode;

pub(crate) use decode::{BlockDecoder, Decoded, decode, restore, restore_decoded};
pub(crate) use encode::BlockEncoder;
