//! Names of files from lists, and outputs in one directory.

use crate::support::{Dir, has_all, stderr, text};

#[test]
fn every_command_takes_files_from_lists() {
    let dir = Dir::new();
    dir.write("a", b"first\n");
    dir.write("b c", b"second\n");
    dir.write("-", b"third\n");
    dir.write("d", b"fourth\n");
    dir.write("list", b"b c\n-\n\n");
    dir.write("zeros", b"d\0");
    dir.bwz("a --files-from list --files0-from zeros")
        .assert()
        .success();
    for name in ["a.bwz", "b c.bwz", "-.bwz", "d.bwz"] {
        assert!(dir.has(name), "{name}");
    }
    let coded = "b c.bwz\na.bwz\n";
    let with = |arguments: &str| dir.bwz(arguments).write_stdin(coded).assert();
    with("-dc --files-from -")
        .success()
        .stdout("second\nfirst\n");
    with("-t --files-from -").success();
    has_all(
        &String::from_utf8_lossy(
            &with("-l --files-from -")
                .success()
                .get_output()
                .stdout,
        ),
        &["b c.bwz", "a.bwz"],
    );
    with("grep ir --files-from -")
        .success()
        .stdout("a.bwz:first\n");
    with("count s --files-from -")
        .success()
        .stdout("b c.bwz\ts\t1\na.bwz\ts\t1\n");
    with("locate -e sec --files-from -")
        .success()
        .stdout("b c.bwz\tsec\t0\n");
    dir.bwz("-dc --files0-from -")
        .write_stdin("b c.bwz\0a.bwz")
        .assert()
        .success()
        .stdout("second\nfirst\n");
}

#[test]
fn an_empty_list_is_no_work_and_a_wrong_one_an_error() {
    let dir = Dir::with(b"text");
    dir.bwz("--files-from -")
        .assert()
        .success()
        .stdout("");
    dir.bwz("-l --files-from -")
        .assert()
        .success()
        .stdout("");
    dir.bwz("grep x --files-from -")
        .assert()
        .code(1)
        .stdout("");
    dir.bwz("count x --files-from -")
        .assert()
        .code(1)
        .stdout("");
    dir.write("zeros", b"x\0");
    for (arguments, code, says) in [
        (
            "--files-from none",
            1,
            "the list none cannot be read: No such",
        ),
        ("--files-from zeros", 1, "--files0-from reads such a list"),
        (
            "--files-from - -",
            1,
            "standard input is named several times",
        ),
        ("-o y --files-from zeros", 1, "-o takes one file"),
        ("count --files-from zeros", 2, "no pattern is given"),
        (
            "grep -f - --files-from -",
            2,
            "standard input is named 2 times",
        ),
    ] {
        has_all(&stderr(dir.bwz(arguments).assert().code(code)), &[says]);
    }
    assert_eq!(dir.names(), ["x", "zeros"]);
}

#[test]
fn outputs_go_to_one_directory() {
    let dir = Dir::new();
    dir.write("in/a", &text(3000));
    dir.write("in/deep/b", b"b");
    dir.bwz("-r in --output-dir out/new")
        .assert()
        .success();
    assert!(dir.has("out/new/a.bwz") && dir.has("out/new/b.bwz"));
    assert!(dir.has("in/a") && !dir.has("in/a.bwz"));
    dir.bwz("-d out/new/a.bwz --output-dir back")
        .assert()
        .success();
    assert_eq!(dir.read("back/a"), text(3000));

    dir.write("in/deep/a", b"another a");
    let said = stderr(
        dir.bwz("-r in --output-dir none")
            .assert()
            .code(1),
    );
    has_all(
        &said,
        &["in/a and in/deep/a would both be written to none/a.bwz"],
    );
    assert!(!dir.has("none"));
    for (arguments, says) in [
        ("-t --output-dir d in/a", "leave out --output-dir"),
        ("-c --output-dir d in/a", "cannot be used with"),
        ("--output-dir d", "has no name for a file in --output-dir"),
        ("--output-dir in/a in/deep/b", "cannot write in/a"),
    ] {
        has_all(&stderr(dir.bwz(arguments).assert().code(1)), &[says]);
    }
}
