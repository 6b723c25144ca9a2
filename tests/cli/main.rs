//! The command as its users meet it: real processes, files, pipes, terminals and signals. There is
//! one module per theme; tests without a theme go to `files`.
//!
//! A test that cannot run here prints `skipped:` and the reason.

#![cfg(all(feature = "cli", unix))]

mod alignments;
#[path = "../common/archives.rs"]
mod archives;
mod asked;
#[path = "../common/cases.rs"]
#[allow(dead_code, reason = "shared with other tests, which use all of it")]
mod cases;
mod companions;
mod completing;
mod damage;
mod descriptors;
mod devices;
#[path = "../common/draft_8.rs"]
mod draft_8;
mod files;
mod grep;
mod grep_by_index;
mod growing;
mod habits;
mod indexed;
mod limits;
mod listed_files;
mod looking;
mod members;
#[path = "../common/mutation/mod.rs"]
#[allow(dead_code, reason = "shared with other tests, which use all of it")]
mod mutation;
mod overlaps;
mod padding;
mod parts;
mod pattern_letters;
mod pipes;
mod refusals;
mod regions;
mod repeats;
#[path = "../common/rounds.rs"]
mod rounds;
mod safety;
#[path = "../common/say.rs"]
mod say;
mod search;
mod sequences;
mod sparse;
mod stalled;
mod support;
mod temporaries;
mod wrong_tables;
