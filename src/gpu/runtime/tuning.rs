//! The numbers that kernels and host share: `kernels/runtime/tuning.h` as constants.

#![allow(dead_code, reason = "some are for the kernels alone")]

include!(concat!(env!("OUT_DIR"), "/tuning.rs"));
