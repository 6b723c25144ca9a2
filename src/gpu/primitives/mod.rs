//! Device-wide primitives that know nothing of suffixes.
//!
//! | file | job |
//! |---|---|
//! | `cub` | CUB's radix sorts, scans and selection |
//! | `gather` | ascending numbers; items copied in a given order |

pub(crate) mod cub;
pub(crate) mod gather;
