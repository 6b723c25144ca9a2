//! Devices: which are built in and present, choosing one, and the report of where blocks were
//! sorted.

use crate::support::{Dir, has_all, stderr, stdout, text};
use serde_json::Value;
use std::time::Instant;

#[test]
fn version_and_devices_say_what_is_built_in() {
    let dir = Dir::new();
    let kernels = if cfg!(feature = "cuda") {
        "kernels: CUDA "
    } else {
        "kernels: none"
    };
    has_all(
        &stdout(dir.bwz("--version").assert().success()),
        &["bwz 0.", kernels],
    );
    has_all(
        &stdout(dir.bwz("devices").assert().success().stderr("")),
        &[kernels, "cpu ", "threads"],
    );
    assert_eq!(
        stdout(dir.bwz("-V").assert().success())
            .lines()
            .count(),
        1
    );
}

#[test]
fn a_gpu_that_is_not_there_is_a_warning_or_an_error() {
    let dir = Dir::with(&text(3_000_000));
    let expected = dir.compress_x();
    dir.write("y", &dir.read("x"));
    let asked = dir.bwz("-1 -f --device cuda:99 x y").assert();
    if cfg!(feature = "cuda") {
        let said = stderr(asked.success());
        has_all(&said, &["bwz: x: ", "; sorting on the CPU"]);
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(dir.read("x.bwz") == expected && dir.read("y.bwz") == expected);
        dir.bwz("-1 -f -q --device cuda:99 x")
            .assert()
            .success()
            .stderr("");
    } else {
        has_all(&stderr(asked.code(1)), &["bwz: x: ", "CUDA"]);
    }
    for back in [
        "-t x.bwz",
        "-dfk x.bwz",
        "cat x.bwz",
        "cat --range 5..10 x.bwz",
    ] {
        let asked = dir
            .bwz(&format!("{back} --device cuda:99"))
            .assert();
        if cfg!(feature = "cuda") {
            has_all(
                &stderr(asked.success()),
                &["bwz: x.bwz: ", "; restoring on the CPU"],
            );
        } else {
            has_all(&stderr(asked.code(1)), &["bwz: x.bwz: ", "CUDA"]);
        }
        dir.bwz(&format!("{back} --device cpu"))
            .assert()
            .success()
            .stderr("");
    }
}

#[test]
fn a_search_on_a_gpu_that_is_not_there_is_a_warning_or_trouble() {
    let dir = Dir::with(&text(1_000_000));
    dir.bwz("--index x").assert().success();
    // The block is too long to stay on disk, in which case no GPU would search it.
    dir.write("lines", &b"99\n1 2\n".repeat(50_000));
    let expected = stdout(
        dir.bwz("count -f lines x.bwz")
            .assert()
            .success()
            .stderr(""),
    );
    let asked = dir
        .bwz("count -f lines --device cuda:99 x.bwz")
        .assert();
    if cfg!(feature = "cuda") {
        let asked = asked.success().stdout(expected);
        let said = stderr(asked);
        has_all(&said, &["bwz: x.bwz: ", "; searching on the CPU"]);
        assert_eq!(said.lines().count(), 1, "{said}");
    } else {
        has_all(&stderr(asked.code(2)), &["bwz: x.bwz: ", "CUDA"]);
    }
}

#[test]
fn twice_verbose_has_a_line_per_block() {
    let dir = Dir::with(&text(3_000_000));
    let said = stderr(
        dir.bwz("-1 -vv --device cpu x")
            .assert()
            .success(),
    );
    has_all(
        &said,
        &[
            "x: block 0: read 0.",
            "x: block 2: ",
            ", filtered ",
            ", sorted ",
            ", coded ",
            ", written ",
            " s\n",
        ],
    );
    assert_eq!(said.matches("x: block ").count(), 3, "{said}");
    assert_eq!(said.lines().count(), 4, "{said}");
    let said = stderr(
        dir.bwz("-tvv --device cpu x.bwz")
            .assert()
            .success(),
    );
    has_all(
        &said,
        &[
            "x.bwz: block 2: read 0.",
            ", decoded 0.",
            ", restored ",
            ", checked ",
        ],
    );
    assert_eq!(said.lines().count(), 4, "{said}");
}

/// The trace is valid JSON, and every block has its steps within the time of the run.
#[test]
fn a_trace_has_each_step_of_each_block() {
    let dir = Dir::with(&text(3_000_000));
    for (args, steps) in [
        (
            "-1 --device cpu --trace in x",
            &["read", "filter", "sort", "code", "write"][..],
        ),
        (
            "-d --device cpu --trace out x.bwz -o y",
            &["read", "decode", "invert", "unfilter", "check", "write"],
        ),
    ] {
        let started = Instant::now();
        dir.bwz(args).assert().success();
        let took = started.elapsed().as_secs_f64() * 1e6;
        let file = args
            .split(' ')
            .skip_while(|word| *word != "--trace")
            .nth(1)
            .unwrap();
        let trace: Value = serde_json::from_slice(&dir.read(file)).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let done: Vec<&Value> = events
            .iter()
            .filter(|event| event["ph"] == "X")
            .collect();
        assert_eq!(done.len(), 3 * steps.len());
        for (block, step) in (0..3).flat_map(|block| steps.iter().map(move |step| (block, step))) {
            let is_it = |event: &&&Value| event["args"]["block"] == block && event["name"] == *step;
            let [event] = done.iter().filter(is_it).collect::<Vec<_>>()[..] else {
                panic!("{step} of block {block}: {trace}")
            };
            let [from, lasted] = ["ts", "dur"].map(|key| event[key].as_f64().unwrap());
            assert!(
                from >= 0.0 && lasted >= 0.0 && from + lasted <= took,
                "{event}"
            );
        }
        let names = events
            .iter()
            .filter(|event| event["name"] == "thread_name");
        assert!(names.count() >= 3);
    }
    dir.bwz("-1kf --trace in x").assert().success();
    let refused = dir.bwz("-1k --trace in x -o z").assert().code(1);
    has_all(&stderr(refused), &["in already exists; -f overwrites it"]);
    let refused = dir.bwz("-l --trace t x.bwz").assert().code(1);
    has_all(&stderr(refused), &["--trace goes with"]);
}
