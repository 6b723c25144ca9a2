//! Repeats and overlap.
//!
//! | file | job |
//! |---|---|
//! | `overlap_command` | overlap |
//! | `overlap_lines` | its lines |
//! | `repeats_command` | repeats |
//! | `repeats_report` | its report |

pub(crate) mod overlap_command;
pub(crate) mod overlap_lines;
pub(crate) mod repeats_command;
pub(crate) mod repeats_report;
