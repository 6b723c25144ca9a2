//! The commands `repeats` and `overlap`. The library finds the repeats and overlaps; here files are
//! read and results are printed.
//!
//! | file | job |
//! |---|---|
//! | `overlap_command` | the command overlap |
//! | `overlap_lines` | the output of overlap |
//! | `repeats_command` | the command repeats |
//! | `repeats_report` | the output of repeats |

pub(crate) mod overlap_command;
pub(crate) mod overlap_lines;
pub(crate) mod repeats_command;
pub(crate) mod repeats_report;
