//! Messages, events, progress and exit codes. The library prints nothing; its events become lines,
//! a progress bar and a timeline here.
//!
//! | file | job |
//! |---|---|
//! | `console` | messages on standard error |
//! | `screen` | text on standard output, escaped for terminals |
//! | `event_lines` | events as lines |
//! | `work_estimate` | the share of the work that is done |
//! | `progress_bar` | the progress bar |
//! | `timeline` | the trace of a run, and how busy GPUs were |
//! | `json_bytes` | bytes in JSON |
//! | `byte_escape` | one byte as an argument, escaped as in C |
//! | `exit` | exit codes |
//! | `bugs` | panics, reported as bugs |
//! | `io_errors` | errors of the system in the command's words |

pub(crate) mod bugs;
pub(crate) mod byte_escape;
pub(crate) mod console;
pub(crate) mod event_lines;
pub(crate) mod exit;
pub(crate) mod io_errors;
pub(crate) mod json_bytes;
pub(crate) mod progress_bar;
pub(crate) mod screen;
pub(crate) mod timeline;
pub(crate) mod work_estimate;
