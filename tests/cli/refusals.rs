//! Refused requests: their messages and exit codes.

use crate::draft_8::DRAFT_8;
use crate::say::skip;
use crate::support::{Dir, has_all, is_there, stderr, text};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

#[test]
fn wrong_arguments_are_code_1() {
    let dir = Dir::with(b"text");
    dir.write("y", b"text");
    for arguments in [
        "--no-such-flag",
        "-0 x",
        "-T x",
        "-T -1 x",
        "-T 1025 x",
        "-T 65536 x",
        "-T 2147483648 x",
        "-T 18446744073709551616 x",
        "cat -T 1025 x",
        "-M much x",
        "--device tpu x",
        "--device cuda: x",
        "--device cuda:3-1 x",
        "--device cuda:0,0 x",
        "--device cuda:0-4000000000 x",
        "-o z x y",
        "-o z -c x",
        "-t -o z x",
        "-l -o z x",
        "--json x",
        "--limit-output 5 x",
        "-l --limit-output 5 x",
        "-r -o z x",
        "cat",
        "cat --range 5 x",
        "cat --range 9..1 x",
        "recover x",
        "bench -n 0 x",
        "completions nosuchshell",
    ] {
        let said = stderr(dir.bwz(arguments).assert().code(1));
        assert!(said.len() > 10, "{arguments}: {said}");
    }
    assert_eq!(dir.names(), ["x", "y"]);
}

#[test]
fn help_and_version_are_fine() {
    let dir = Dir::new();
    for arguments in [
        "-h",
        "--help",
        "-V",
        "--version",
        "cat --help",
        "recover -h",
    ] {
        dir.bwz(arguments).assert().code(0).stderr("");
    }
}

#[test]
fn missing_files_are_code_1() {
    let dir = Dir::new();
    for arguments in [
        "x",
        "-d x.bwz",
        "-t x.bwz",
        "-l x.bwz",
        "cat x.bwz",
        "recover x.bwz -o y",
        "bench x",
    ] {
        let said = stderr(dir.bwz(arguments).assert().code(1));
        has_all(&said, &["bwz: x", ": No such file or directory\n"]);
    }
    assert!(dir.names().is_empty());
}

#[test]
fn a_command_in_the_wrong_place_is_explained() {
    let said = stderr(Dir::new().bwz("-T1 bench").assert().code(1));
    has_all(&said, &["bwz: bench: No such file", "`bench` comes first"]);
}

#[test]
fn unreadable_files_are_code_1() {
    let dir = Dir::with(b"text");
    fs::set_permissions(dir.path("x"), Permissions::from_mode(0o000)).unwrap();
    if fs::read(dir.path("x")).is_ok() {
        skip("this user may read everything");
        return;
    }
    has_all(
        &stderr(dir.bwz("x").assert().code(1)),
        &["bwz: x: Permission denied"],
    );
    assert_eq!(dir.names(), ["x"]);
}

#[test]
fn too_little_memory_is_code_1_and_says_what_helps() {
    let dir = Dir::with(&text(3_000_000));
    let said = stderr(dir.bwz("-9 -M 10M x").assert().code(1));
    has_all(&said, &["memory", "-M", "level"]);
    assert_eq!(dir.names(), ["x"]);
    dir.bwz("x").assert().success();
    has_all(
        &stderr(dir.bwz("-t -M 10M x.bwz").assert().code(1)),
        &["memory", "-M"],
    );
    dir.bwz("-t -M default x.bwz").assert().success();
    dir.bwz("-t -M 0 x.bwz").assert().success();
}

#[test]
fn output_beyond_its_limit_is_code_1_and_says_what_helps() {
    let dir = Dir::with(&text(3_000_000));
    dir.compress_x();
    let limit = "--limit-output 2999999";
    for way in [
        "-df",
        "-t",
        "-dc",
        "cat",
        "extract -r ..",
        "extract -r ..5 -r 5..",
        "recover -o y",
    ] {
        let said = stderr(
            dir.bwz(&format!("{way} {limit} x.bwz"))
                .assert()
                .code(1),
        );
        has_all(
            &said,
            &[
                "3000000 bytes of output, 2999999 allowed",
                "more with --limit-output",
            ],
        );
    }
    assert_eq!(
        (dir.names(), dir.read("x")),
        (vec!["x".into(), "x.bwz".into()], text(3_000_000))
    );
    dir.bwz("-t --limit-output 3000000 x.bwz")
        .assert()
        .success();
    has_all(
        &stderr(
            dir.bwz("-t --limit-output 1M x.bwz")
                .assert()
                .code(1),
        ),
        &["block 1 of 1048576"],
    );
    let copied = dir
        .bwz("-dcf --limit-output 1000 x")
        .assert()
        .code(1);
    assert_eq!(copied.get_output().stdout, &text(1000)[..]);
    dir.bwz("-dcf --limit-output 3000000 x")
        .assert()
        .success();
}

#[test]
fn existing_files_stay_without_f() {
    let dir = Dir::with(b"new");
    dir.write("x.bwz", b"old");
    has_all(
        &stderr(dir.bwz("x").assert().code(1)),
        &["bwz: x: x.bwz already exists", "-f"],
    );
    dir.bwz("x -o x.bwz").assert().code(1);
    assert_eq!(dir.read("x.bwz"), b"old");
    dir.bwz("-f x").assert().success();
    dir.write("x", b"old");
    dir.bwz("-d x.bwz").assert().code(1);
    dir.bwz("recover x.bwz -o x").assert().code(1);
    assert_eq!(dir.read("x"), b"old");
    dir.bwz("-df x.bwz").assert().success();
    assert_eq!(dir.read("x"), b"new");
}

#[test]
fn dangling_links_are_not_written_through_by_name() {
    let dir = Dir::with(b"new");
    dir.link("elsewhere", "x.bwz");
    dir.bwz("x").assert().code(1);
    assert!(!dir.has("elsewhere"));
    dir.bwz("-f x").assert().success();
    assert!(!dir.has("elsewhere") && !dir.path("x.bwz").is_symlink());
}

#[test]
fn input_and_output_must_differ() {
    let dir = Dir::with(&text(100_000));
    fs::hard_link(dir.path("x"), dir.path("same")).unwrap();
    let same = "input and output are the same file";
    has_all(&stderr(dir.bwz("-f x -o x").assert().code(1)), &[same]);
    has_all(&stderr(dir.bwz("-f x -o same").assert().code(1)), &[same]);
    has_all(&stderr(dir.sh("bwz -c x >> x").assert().code(1)), &[same]);
    has_all(&stderr(dir.sh("bwz < x >> x").assert().code(1)), &[same]);
    has_all(
        &stderr(dir.bwz("recover -f x -o x").assert().code(1)),
        &[same],
    );
    assert_eq!(dir.read("x"), text(100_000));
    dir.sh("bwz </dev/null >/dev/null && bwz -c /dev/null >/dev/null")
        .assert()
        .success();
}

#[test]
fn terminals_get_no_compressed_data() {
    if !is_there("script") {
        return;
    }
    let dir = Dir::with(b"some text");
    dir.compress_x();
    let on_terminal = |command: &str| {
        let mut script = dir.run("script");
        script.args(["-qec", command, "/dev/null"]);
        script.assert()
    };
    let refused = on_terminal("bwz -c x").code(1);
    has_all(
        &crate::support::stdout(refused),
        &["not written to a terminal", "-f"],
    );
    on_terminal("bwz x -o /dev/tty").code(1);
    on_terminal("bwz < x").code(1);
    let forced = on_terminal("bwz -cf x").success();
    assert!(forced.get_output().stdout.starts_with(b"\xF7bwz"));
    has_all(
        &crate::support::stdout(on_terminal("bwz -dc x.bwz").success()),
        &["some text"],
    );
    has_all(
        &crate::support::stdout(on_terminal("bwz -d").code(1)),
        &["not read from a terminal"],
    );
}

#[test]
fn progress_is_for_terminals_and_long_work() {
    if !is_there("script") {
        return;
    }
    let dir = Dir::with(&text(100_000));
    let slow = |options: &str| {
        let mut script = dir.run("script");
        let command = format!("(cat x; sleep 1.5) | bwz -f {options} -o y");
        script.args(["-qec", &command, "/dev/null"]);
        crate::support::stdout(script.assert().success())
    };
    has_all(&slow(""), &["(stdin)", "/s"]);
    assert_eq!(slow("-q"), "");
    assert_eq!(slow("--no-progress"), "");
    dir.sh("(cat x; sleep 1) | bwz -f -o y")
        .assert()
        .success()
        .stderr("");
}

#[test]
fn a_range_is_not_written_into_its_own_file() {
    let dir = Dir::with(b"text");
    dir.bwz("x").assert().success();
    let before = dir.read("x.bwz");
    let script = format!("'{}' cat --range 0..1 x.bwz >> x.bwz", crate::support::BWZ);
    let mut command = assert_cmd::Command::new("sh");
    command
        .current_dir(dir.root())
        .arg("-c")
        .arg(script)
        .assert()
        .code(1);
    assert_eq!(dir.read("x.bwz"), before);
}

/// A file of another draft is reported as such. It is not damaged, and there is nothing to save
/// from it. Failed searches end with code 2, as grep's do.
#[test]
fn a_file_of_another_draft_is_named_and_not_code_2() {
    let reads = format!("reads draft {}", bwz::internals::DRAFT);
    let dir = Dir::new();
    dir.write("x.bwz", &DRAFT_8);
    for arguments in [
        "-d x.bwz",
        "-dc x.bwz",
        "-t x.bwz",
        "-l x.bwz",
        "cat -r 0..5 x.bwz",
        "count a x.bwz",
        "locate a x.bwz",
        "extract -r 0..5 x.bwz",
        "recover x.bwz -o y",
    ] {
        let searches = arguments.starts_with("count") || arguments.starts_with("locate");
        let code = if searches { 2 } else { 1 };
        let said = stderr(dir.bwz(arguments).assert().code(code).stdout(""));
        has_all(
            &said,
            &[
                "x.bwz: ",
                "draft 8 of the bwz format, or an earlier one",
                &reads,
            ],
        );
        assert!(
            !said.contains("damaged") && !said.contains("recover x.bwz"),
            "{arguments}: {said}"
        );
    }
    assert_eq!(dir.names(), ["x.bwz"]);
}
