//! Slices of static rANS on the device, both ways: the steps of `bwt_encoder` and `bwt_decoder`.

pub mod context_maps;
pub mod encode_arrays;
pub mod run_slices;
pub mod slice_contexts;
pub mod slice_decode;
pub mod slice_encode;
