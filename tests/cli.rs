//! The command as its users meet it: real processes, files, pipes, terminals and signals. One
//! module per theme; what fits none of them goes to `files`.
//!
//! A test that cannot run here prints `skipped:` and why.

#![cfg(all(feature = "cli", unix))]

#[path = "common/cases.rs"]
#[allow(dead_code, reason = "shared with other tests, which use all of it")]
mod cases;
#[path = "cli/damage.rs"]
mod damage;
#[path = "cli/descriptors.rs"]
mod descriptors;
#[path = "cli/devices.rs"]
mod devices;
#[path = "common/draft_8.rs"]
mod draft_8;
#[path = "cli/files.rs"]
mod files;
#[path = "cli/habits.rs"]
mod habits;
#[path = "cli/limits.rs"]
mod limits;
#[path = "cli/looking.rs"]
mod looking;
#[path = "cli/overlaps.rs"]
mod overlaps;
#[path = "cli/pipes.rs"]
mod pipes;
#[path = "cli/refusals.rs"]
mod refusals;
#[path = "cli/repeats.rs"]
mod repeats;
#[path = "cli/safety.rs"]
mod safety;
#[path = "common/say.rs"]
mod say;
#[path = "cli/search.rs"]
mod search;
#[path = "cli/sequences.rs"]
mod sequences;
#[path = "cli/sparse.rs"]
mod sparse;
#[path = "cli/stalled.rs"]
mod stalled;
#[path = "cli/support.rs"]
mod support;
#[path = "cli/temporaries.rs"]
mod temporaries;
