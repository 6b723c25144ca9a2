//! Streams in and out: thin interfaces to the [engine](crate::engine).
//!
//! | file | job |
//! |---|---|
//! | `compress` | raw stream -> frame: `compress` for a `Read`, `Encoder` as a `Write` |
//! | `decompress` | frame -> raw stream: `decompress`, and `Decoder` as a `Read` |
//! | `private_frame` | a frame that holds no data |

pub(crate) mod compress;
pub(crate) mod decompress;
pub(crate) mod private_frame;
