//! Files damaged by someone who knows the format (`common/mutation`): nothing panics, hangs, takes
//! much memory or is wrong. (`damage.rs` tests random damage.)
//!
//! Each case is a sound file (`sources`) with changes. Mostly its checksums are made right again,
//! in half of the cases those of the raw bytes too (`vouch`). It goes through every entry point of
//! the library, and through the command. `decoder.py` must decode an accepted file to the same
//! bytes. It must also reject a sample of the rejected files.
//!
//! A short run is part of the tests. A long one, best in release:
//! `BWZ_DAMAGED=100000 cargo test --release --test alone damaged -- --nocapture`;
//! a twentieth of its files goes through the command. `BWZ_DAMAGED_SEED=7000` starts from another
//! seed. A failure names its seed. `BWZ_DAMAGED=1 BWZ_DAMAGED_SEED=` with that seed repeats it, and
//! writes the file to the folder of temporary files.

#[cfg(all(feature = "cli", unix))]
mod command;
mod library;
mod reference;
mod sources;
mod tally;
mod vouch;
mod watch;

use crate::common::mutation::random::Random;
use crate::common::mutation::{mutate, parts, repair};
use crate::common::rounds::rounds;
use crate::common::say::say;
use crate::watched_memory::measured;
#[cfg(all(feature = "cli", unix))]
use command::Shell;
use sources::Sources;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tally::{Case, Tally};
use watch::Watchdog;

/// Damaged files through the command in a short run.
#[cfg(all(feature = "cli", unix))]
const SHORT_COMMANDS: u64 = 60;

/// Maximum memory of a case, in bytes: several times the allowed 64 MiB and the output.
const MOST_MEMORY: usize = 256 << 20;

fn number(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|value| value.parse().expect(name))
}

/// The seeds of this run. A short run has `short` of them.
fn seeds(short: u64, share: u64) -> std::ops::Range<u64> {
    let first = number("BWZ_DAMAGED_SEED").unwrap_or(0);
    first..first + number("BWZ_DAMAGED").map_or(short, |count| count.div_ceil(share))
}

/// The damaged file of a seed, and the name of its source.
fn damaged(sources: &Sources, seed: u64) -> (&str, Vec<u8>) {
    let random = &mut Random::new(!seed);
    let source = sources.pick(random);
    let mut file = mutate(&source.file, seed);
    if random.one_in(2) {
        file = vouch::vouch(&file);
    }
    if number("BWZ_DAMAGED") == Some(1) {
        let path = std::env::temp_dir().join(format!("damaged-{seed}.bwz"));
        std::fs::write(&path, &file).unwrap();
        say(format_args!(
            "{}, made from {}",
            path.display(),
            source.name
        ));
    }
    (&source.name, file)
}

#[test]
fn a_damaged_file_is_rejected_or_means_the_same_to_all() {
    let _alone = crate::alone();
    let sources = Sources::new();
    let watchdog = Watchdog::start();
    let mut tally = Tally::start();
    for seed in seeds(rounds(1_500, 10_000) as u64, 1) {
        watchdog.begin(seed);
        let case = || {
            let (name, file) = damaged(&sources, seed);
            let (output, end) = library::visit(&file, &mut Random::new(seed));
            Case {
                seed,
                source: name.to_owned(),
                file,
                output,
                end,
            }
        };
        let (case, time, memory) = measured(|| catch_unwind(AssertUnwindSafe(case)));
        watchdog.rest();
        tally.measured(seed, time, memory);
        match case {
            Ok(case) => tally.done(case),
            Err(panic) => tally.complain(seed, &*panic),
        }
    }
    tally.end(MOST_MEMORY);
}

#[test]
#[cfg(all(feature = "cli", unix))]
fn a_damaged_file_is_rejected_by_the_command_or_means_the_same() {
    let _alone = crate::alone();
    let sources = Sources::new();
    let mut shell = Shell::new();
    let mut tally = Tally::start();
    for seed in seeds(SHORT_COMMANDS, 20) {
        let case = || {
            let (name, file) = damaged(&sources, seed);
            let (output, end) = shell.visit(&file, &mut Random::new(seed));
            Case {
                seed,
                source: name.to_owned(),
                file,
                output,
                end,
            }
        };
        let case = catch_unwind(AssertUnwindSafe(case));
        tally.measured(seed, shell.slowest, shell.largest);
        match case {
            Ok(case) => tally.done(case),
            Err(panic) => tally.complain(seed, &*panic),
        }
    }
    tally.end(command::MOST_MEMORY);
}

/// Files of the kit that are right, but not as bwz and the repair write them.
const WRITTEN_OTHERWISE: [&str; 4] = [
    "seek-table-long-varints",
    "seek-table-wide",
    "slice-stored",
    "slices-wide-arrays",
];

#[test]
fn a_sound_file_is_repaired_to_itself() {
    let sources = Sources::new();
    let mut others = Vec::new();
    for sources::Source { name, file } in sources.all() {
        let mut parts = parts::parse(file);
        // Padding is no part of a frame.
        let is_padding = |part: &parts::Part| part.bytes.iter().all(|&byte| byte == 0);
        let known = |part: &parts::Part| part.kind != parts::Kind::Unknown || is_padding(part);
        assert!(parts.iter().all(known), "{name}");
        repair::sizes(&mut parts);
        repair::sign(&mut parts, repair::Care::All, &mut Random::new(0));
        if parts::join(&parts) != *file || vouch::vouch(file) != *file {
            others.push(name.as_str());
        }
    }
    assert_eq!(others, WRITTEN_OTHERWISE);
}

#[test]
fn mutations_follow_from_the_seed_and_take_any_bytes() {
    let sources = Sources::new();
    let files: Vec<_> = sources.all().collect();
    for seed in 0..2_000 {
        let file = &files[seed as usize % files.len()].file;
        let mutant = mutate(file, seed);
        assert!(
            mutant != *file && mutant == mutate(file, seed),
            "seed {seed}"
        );
        mutate(&mutate(&mutant, seed), seed);
        mutate(&Random::new(seed).bytes(seed as usize % 300), seed);
    }
}
