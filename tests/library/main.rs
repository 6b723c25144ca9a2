//! The library as its callers use it, through its public functions and on whole files.
//!
//! One program holds these tests, since linking one program takes far less time than linking many.

#[path = "../common/mod.rs"]
mod common;

mod bombs;
mod damage;
mod devices;
mod either_case;
mod events;
mod examples;
mod find_lines;
mod flushes;
mod foreign;
mod holes;
mod lcp_devices;
mod members;
mod odd_sequences;
mod padding;
mod reads;
mod record_tables;
mod recover;
mod roundtrip;
mod search;
mod search_letters;
mod sequence_search;
mod sequences;
mod split_at;
mod tight_memory;
mod verify;
mod wide;
