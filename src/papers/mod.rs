//! Suffix sorting as published, for comparison.
//!
//! | file | job |
//! |---|---|
//! | `distributed` | one text sorted by several processors, which exchange words |

pub(crate) mod distributed;
