//! Streams in and out: thin interfaces to the [engine](crate::engine).
//!
//! | file | job |
//! |---|---|
//! | `compress` | raw stream -> frame: `compress` for a `Read`, `Encoder` as a `Write` |
//! | `decompress` | frame -> raw stream: `decompress`, and `Decoder` as a `Read` |

pub(crate) mod compress;
pub(crate) mod decompress;
