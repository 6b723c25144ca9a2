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

pub(super) mod context_maps;
pub(super) mod encode_arrays;
pub(super) mod run_slices;
pub(super) mod slice_contexts;
pub(super) mod slice_decode;
pub(super) mod slice_encode;
