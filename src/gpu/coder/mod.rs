//! Slices of static rANS on the device, in both directions: the steps of `bwt_encoder` and
//! `bwt_decoder`.
//!
//! | file | job |
//! |---|---|
//! | `context_maps` | maps from model states to tables |
//! | `encode_arrays` | the arrays for encoding a BWT |
//! | `run_slices` | the runs of a BWT, and its division into slices |
//! | `slice_contexts` | MTF ranks and contexts of runs, and counts of symbols |
//! | `slice_encode` | slices -> coded bytes |
//! | `slice_decode` | coded bytes -> slices |

pub mod context_maps;
pub mod encode_arrays;
pub mod run_slices;
pub mod slice_contexts;
pub mod slice_decode;
pub mod slice_encode;
