//! Devices: what is built in and there, choosing one, and what is said of where blocks were sorted.

use crate::support::{Dir, has_all, stderr, stdout, text};

#[test]
fn version_and_devices_say_what_is_built_in() {
    let dir = Dir::new();
    let kernels = if cfg!(feature = "cuda") { "kernels: CUDA " } else { "kernels: none" };
    has_all(&stdout(dir.bwz("--version").assert().success()), &["bwz 0.", kernels]);
    has_all(
        &stdout(dir.bwz("devices").assert().success().stderr("")),
        &[kernels, "cpu ", "threads"],
    );
    assert_eq!(stdout(dir.bwz("-V").assert().success()).lines().count(), 1);
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
        dir.bwz("-1 -f -q --device cuda:99 x").assert().success().stderr("");
    } else {
        has_all(&stderr(asked.code(1)), &["bwz: x: ", "CUDA"]);
    }
    for back in ["-t x.bwz", "-dfk x.bwz", "cat x.bwz", "cat --range 5..10 x.bwz"] {
        let asked = dir.bwz(&format!("{back} --device cuda:99")).assert();
        if cfg!(feature = "cuda") {
            has_all(&stderr(asked.success()), &["bwz: x.bwz: ", "; restoring on the CPU"]);
        } else {
            has_all(&stderr(asked.code(1)), &["bwz: x.bwz: ", "CUDA"]);
        }
        dir.bwz(&format!("{back} --device cpu")).assert().success().stderr("");
    }
}

#[test]
fn a_search_on_a_gpu_that_is_not_there_is_a_warning_or_trouble() {
    let dir = Dir::with(&text(1_000_000));
    dir.bwz("--index x").assert().success();
    dir.write("lines", &b"99\n1 2\n".repeat(500));
    let expected = stdout(dir.bwz("count -f lines x.bwz").assert().success().stderr(""));
    let asked = dir.bwz("count -f lines --device cuda:99 x.bwz").assert();
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
    let said = stderr(dir.bwz("-1 -vv --device cpu x").assert().success());
    has_all(
        &said,
        &[
            "x: block at 0 B: read 0.",
            "x: block at 2.0 MiB: ",
            ", filtered ",
            ", sorted ",
            ", coded ",
            " s\n",
        ],
    );
    assert_eq!(said.matches("x: block at ").count(), 3, "{said}");
    assert_eq!(said.lines().count(), 4, "{said}");
    let said = stderr(dir.bwz("-tvv --device cpu x.bwz").assert().success());
    has_all(&said, &["x.bwz: block at 2.0 MiB: decoded 0.", ", restored ", ", checked "]);
    assert_eq!(said.lines().count(), 4, "{said}");
}
