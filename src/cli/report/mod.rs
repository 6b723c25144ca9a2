//! What is said, and when: messages, events, progress, exit codes.
//!
//! | file | job |
//! |---|---|
//! | `console` | messages |
//! | `screen` | terminals |
//! | `event_lines` | events as lines |
//! | `progress_bar` | the bar |
//! | `timeline` | the trace of a run, and how busy GPUs were |
//! | `json_bytes` | bytes in JSON |
//! | `byte_escape` | bytes on a terminal |
//! | `exit` | exit codes |
//! | `bugs` | the end by a bug |
//! | `io_errors` | closed pipes and full disks |

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
