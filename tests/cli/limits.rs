//! Limits that the system puts on the process: `ulimit -v` on its address space, `ulimit -d` on its
//! private memory.
//!
//! For any limit and number of threads, a command ends with 0, or with 1 and one message. It does
//! the same each time.

use crate::rounds::rounds;
use crate::support::{Dir, has_all, noise, stderr, text};

/// Text and noise in several blocks of 1 MiB, so that all threads have something to do.
fn blocks() -> Vec<u8> {
    [text(3_000_000), noise(2_000_000), text(3_000_000)].concat()
}

/// The exit code under a limit in KiB. A failed command has printed one message and left no file.
fn code(dir: &Dir, limit: &str, arguments: &str) -> i32 {
    let assert = dir
        .sh(&format!("ulimit {limit} && exec bwz {arguments} -f -o out"))
        .assert();
    let output = assert.get_output().clone();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = output
        .status
        .code()
        .unwrap_or_else(|| panic!("{limit}, {arguments}: {said}"));
    let lines = said.lines().count();
    assert_eq!(code.min(1), lines as i32, "{limit}, {arguments}: {said}");
    assert_eq!(dir.has("out"), code == 0, "{limit}, {arguments}");
    if code == 0 {
        std::fs::remove_file(dir.path("out")).unwrap();
    }
    code
}

#[test]
#[cfg(target_os = "linux")]
fn a_limited_address_space_gives_0_or_1_and_the_same_twice() {
    let dir = Dir::with(&blocks());
    dir.compress_x();
    let limits = [60_000, 120_000, 1_000_000, 300_000, 700_000];
    let threads = [1, 16, 4];
    for limit in &limits[..rounds(3, 5)] {
        for threads in &threads[..rounds(2, 3)] {
            for arguments in ["-1 x", "-d x.bwz"] {
                let run = || {
                    code(
                        &dir,
                        &format!("-v {limit}"),
                        &format!("-T{threads} {arguments}"),
                    )
                };
                let codes = [run(), run()];
                let expected = if *limit < 100_000 { codes[0].min(1) } else { 0 };
                assert_eq!(codes, [expected; 2], "-v {limit} -T{threads} {arguments}");
            }
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn limited_private_memory_gives_0_or_1_and_the_same_twice() {
    let dir = Dir::with(&blocks());
    dir.compress_x();
    for limit in [30_000, 100_000, 300_000] {
        for arguments in ["-T16 -1 x", "-T16 -d x.bwz"] {
            let run = || code(&dir, &format!("-d {limit}"), arguments);
            let expected = if limit < 100_000 { run().min(1) } else { 0 };
            assert_eq!([run(), run()], [expected; 2], "-d {limit} {arguments}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn searches_and_repairs_too_keep_to_the_limit() {
    let dir = Dir::with(&blocks());
    dir.bwz("-1 --index -f x").assert().success();
    for command in [
        "count -e 77 x.bwz",
        "extract --range 5000..5100 x.bwz",
        "recover x.bwz -o out",
        "cat x.bwz",
    ] {
        let run = || {
            dir.sh(&format!("ulimit -v 300000 && bwz {command} -T16 > got"))
                .assert()
        };
        run().success();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_block_that_does_not_fit_says_which_limit_it_was_and_what_would_do() {
    let dir = Dir::with(&text(40_000_000));
    let said = |run: &str| stderr(dir.sh(run).assert().code(1));
    let limited = said("ulimit -v 200000 && exec bwz -T2 -6 x");
    has_all(
        &limited,
        &[
            "a block of 33554432 bytes needs",
            "limited to 195 MiB (ulimit -v); raise that limit, or",
        ],
    );
    let needed = limited
        .split("needs ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap();
    let enough = needed.parse::<u64>().unwrap() << 10;
    dir.sh(&format!("ulimit -v {enough} && exec bwz -T2 -6 x"))
        .assert()
        .success();

    has_all(
        &said("ulimit -v 200000 && exec bwz -T2 -d x.bwz -o y"),
        &["(ulimit -v); raise that"],
    );
    has_all(
        &said("ulimit -d 100000 && exec bwz -T2 -t x.bwz"),
        &["(ulimit -d); raise that"],
    );
    // The user's limit is named if it is tighter.
    has_all(
        &said("ulimit -v 900000 && exec bwz -T2 -M 50M -t x.bwz"),
        &["allow that with --memory"],
    );
    assert_eq!(dir.names(), ["x", "x.bwz"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_process_without_memory_to_start_with_says_so() {
    let dir = Dir::with(b"text");
    let mut said = 0;
    // Below the lowest limits here, not even the program itself fits.
    for limit in (4000..400_000).step_by(1000) {
        let script = format!("ulimit -v {limit} && exec bwz -T2 x");
        let output = dir.sh(&script).output().unwrap();
        if output.status.success() {
            break;
        }
        let text = String::from_utf8_lossy(&output.stderr);
        if output.status.code() == Some(1) {
            assert_eq!(text.lines().count(), 1, "{text}");
            assert_eq!(dir.names(), ["x"]);
            said += 1;
        } else {
            assert_eq!(said, 0, "{limit}: {:?}, {text}", output.status);
        }
    }
    assert!(said > 0 && dir.names() == ["x", "x.bwz"]);
}

/// Blocks may have any size for which there is memory. A lack of memory is reported before any is
/// allocated.
#[test]
fn a_block_size_is_chosen_beside_the_levels() {
    let dir = Dir::with(&text(3_000_000));
    let file = |arguments: &str| {
        dir.bwz(&format!("{arguments} -kfq x"))
            .assert()
            .code(0);
        dir.read("x.bwz")
    };
    assert!(file("--block 4M") == file("-3") && file("-9 --block 1M") == file("-1"));
    // A block is no larger than the file, and takes no more memory.
    assert!(file("--block 3G -M 100M") == file("-9"));
    for (size, what) in [
        ("100", "below 64K"),
        ("1T", "above 1T - 1"),
        ("much", "a number"),
    ] {
        let said = stderr(
            dir.bwz(&format!("--block {size} x -o z"))
                .assert()
                .code(1),
        );
        has_all(&said, &["--block", what]);
    }
    let said = stderr(
        dir.bwz("--block 3M -M 20M x -o z")
            .assert()
            .code(1),
    );
    has_all(
        &said,
        &["a block of 3145728 bytes needs ", "--memory ", "--block"],
    );
    let said = stderr(dir.bwz("-d -M 20M x.bwz -o z").assert().code(1));
    has_all(
        &said,
        &[
            "a block of 3000000 bytes",
            " MiB of memory, 20 MiB allowed",
            "--memory ",
        ],
    );
    assert!(!dir.has("z"));
}

/// A request for more threads than the machine allows gives a warning, and the work is done by
/// fewer.
#[test]
fn more_threads_than_the_machine_allows_are_reduced_with_a_warning() {
    let dir = Dir::with(&text(300_000));
    dir.bwz("-1 --index -k x").assert().success();
    let most = bwz::Options::most_threads();
    for command in [
        "-1 -k -f x",
        "-d -k -f x.bwz -o y",
        "-t x.bwz",
        "cat --range 5..9 x.bwz",
        "count -e 77 x.bwz",
        "locate -e 77 x.bwz",
        "extract --range 5..9 x.bwz",
        "recover -f x.bwz -o y",
        "repeats x",
        "bench -n 1 -1 x",
    ] {
        // A search without a match ends with 1.
        let run = |threads| {
            let assert = dir
                .bwz(&format!("{command} -T {threads}"))
                .assert();
            assert!(
                assert.get_output().status.code() <= Some(1),
                "{command} -T {threads}"
            );
            stderr(assert)
        };
        let few = run(most);
        assert!(!few.contains("threads are used"), "{command}: {few}");
        if most < bwz::MAX_THREADS {
            let said = run(bwz::MAX_THREADS);
            has_all(&said, &["-T 1024", &format!("{most} threads are used")]);
        }
    }
    assert_eq!(
        stderr(
            dir.bwz("-T 1024 -q -1 -k -f x")
                .assert()
                .success()
        ),
        ""
    );
}

/// If the system allows a user few threads, a command takes fewer than requested.
#[test]
#[cfg(target_os = "linux")]
fn few_threads_do_what_many_were_asked_for() {
    let dir = Dir::with(&blocks());
    dir.sh("chmod 755 . && chmod 644 x && bwz -1 --index -c x > y && chmod 644 y")
        .assert()
        .success();
    // Root has no such limit, and a user's other processes count too.
    let other = "setpriv --reuid=54321 --regid=54321 --clear-groups";
    if !dir
        .sh(&format!("{other} bwz --version"))
        .assert()
        .get_output()
        .status
        .success()
    {
        crate::say::skip("whoever runs this cannot run the command as a user of its own");
        return;
    }
    for threads in [2, 8, 32] {
        for command in [
            "-1 -c x",
            "-dc y",
            "-t y",
            "count 77 y",
            "extract -r 0..9 y",
        ] {
            let script =
                format!("{other} bash -c 'ulimit -u 12 && exec bwz {command} -T{threads}'");
            dir.sh(&format!("{script} > /dev/null"))
                .assert()
                .success()
                .stderr("");
        }
    }
}
