//! No request is ignored silently: options that are repeated, that have no effect in their
//! position, or that come from a variable.

use crate::support::{Dir, has_all, stderr, stdout, text};

#[test]
fn the_environment_never_makes_another_command() {
    let dir = Dir::with(&text(50_000));
    dir.compress_x();
    let file = dir.read("x.bwz");
    for opt in [
        "cat",
        "count",
        "man",
        "x",
        "-- x",
        "-d",
        "-t",
        "-l",
        "-z",
        "-c",
        "-o y",
        "-r",
        "-f",
        "--rm",
        "--json",
        "--records",
        "--trace y",
        "-L",
        "-h",
        "--version",
        "-S .b",
        "-9 cat",
        "--ranks a:1",
    ] {
        let mut command = dir.bwz("-f x");
        let said = stderr(
            command
                .env("BWZ_OPT", opt)
                .assert()
                .code(1)
                .stdout(""),
        );
        has_all(&said, &["BWZ_OPT"]);
        assert!(
            dir.read("x.bwz") == file && dir.names() == ["x", "x.bwz"],
            "{opt}"
        );
    }
    for opt in [
        "",
        " ",
        "-1",
        "--index -T2",
        "-v -q",
        "--limit-output 1G --no-sparse",
        "--verify",
    ] {
        for arguments in ["-c x", "-dc x.bwz", "-t x.bwz", "-l x.bwz"] {
            dir.bwz(arguments)
                .env("BWZ_OPT", opt)
                .assert()
                .success();
        }
    }
    dir.bwz("-dc x.bwz")
        .env("BWZ_OPT", "--limit-output 9")
        .assert()
        .code(1);
    dir.bwz("-c --sample-rate 64 x")
        .env("BWZ_OPT", "--index")
        .assert()
        .success();
    dir.bwz("cat x.bwz")
        .env("BWZ_OPT", "'")
        .assert()
        .success();
}

#[test]
fn an_option_without_effect_is_refused() {
    let dir = Dir::with(b"text");
    dir.compress_x();
    for (arguments, says) in [
        ("-d --index x.bwz", "--index goes with compressing"),
        ("-t --verify x.bwz", "--verify goes with compressing"),
        ("-l --split-at , x.bwz", "--split-at goes with compressing"),
        (
            "-d --sample-rate 8 x.bwz",
            "--sample-rate goes with compressing",
        ),
        (
            "-d --decompress-input x.bwz",
            "--decompress-input goes with compressing",
        ),
        ("-c --sample-rate 8 x", "--sample-rate goes with --index"),
        ("-c --no-sparse x", "--no-sparse goes with -d"),
        ("-t --no-sparse x.bwz", "--no-sparse goes with -d"),
        ("-t --rm x.bwz", "leave out --rm"),
        ("-l --rm x.bwz", "leave out --rm"),
        ("-c --limit-output 9 x", "--limit-output goes with"),
        ("-d --json x.bwz", "--json goes with -l"),
        ("-c --records x", "--records goes with -l"),
        ("-l --trace t x.bwz", "--trace goes with"),
        ("-r", "-r walks directories: name one"),
        ("-o a -o b x", "-o is given 2 times"),
        ("-c --trace a --trace b x", "--trace is given 2 times"),
        ("recover x.bwz -o a -o b", "-o is given 2 times"),
        ("-o y -S .z x", "leave out -S"),
        ("-L x", "-L prints the license"),
    ] {
        let said = stderr(dir.bwz(arguments).assert().code(1).stdout(""));
        has_all(&said, &[says]);
    }
    assert_eq!(dir.names(), ["x", "x.bwz"]);
    let said = stderr(dir.bwz("--rm -c x").assert().success());
    has_all(&said, &["x: is kept: --rm"]);
    dir.bwz("-9 -1 -T2 -T1 -qv -vq -c x")
        .assert()
        .success()
        .stderr("");
}

#[test]
fn a_file_that_would_be_left_out_is_refused() {
    let dir = Dir::with(b"text text text text text");
    dir.compress_x();
    dir.write("q", b"@q\nACGT\n+\nIIII\n");
    for (arguments, says) in [
        ("repeats -n 5 -o a -o b x", "-o is given 2 times"),
        (
            "repeats -n 5 --across x --across q x",
            "--across is given 2 times",
        ),
        (
            "locate --sam --reads1 q --reads1 q --reads2 q x.bwz",
            "--reads1 is given 2 times",
        ),
        (
            "locate --sam --reads1 q --reads2 q --reads2 q x.bwz",
            "--reads2 is given 2 times",
        ),
        (
            "locate --sam --reads1 - --reads2 - x.bwz",
            "standard input is named 2 times",
        ),
        ("count -f - -f - x.bwz", "standard input is named 2 times"),
        (
            "count -f - --fasta - x.bwz",
            "standard input is named 2 times",
        ),
        ("repeats -n 5 - -", "standard input is named 2 times"),
        (
            "repeats -n 5 --across - x -",
            "standard input is named 2 times",
        ),
    ] {
        let said = stderr(
            dir.bwz(arguments)
                .write_stdin("text")
                .assert()
                .code(2)
                .stdout(""),
        );
        has_all(&said, &[says]);
    }
    assert_eq!(dir.names(), ["q", "x", "x.bwz"]);
    dir.bwz("count -f - x.bwz")
        .write_stdin("text\n")
        .assert()
        .success();
}

#[test]
fn every_range_is_written_in_order() {
    let content = text(200_000);
    let dir = Dir::with(&content);
    dir.bwz("-f --block 64K x").assert().success();
    let all = [
        &content[..20],
        &content[30..40],
        &content[60_000..70_000],
        &content[5..6],
    ]
    .concat();
    let ranges = "cat -r 0..20 -r 30..40 -r 60000..70000 -r 5+1";
    dir.bwz(&format!("{ranges} x.bwz"))
        .assert()
        .success()
        .stdout(all.clone());
    dir.bwz(&format!("{ranges} x.bwz x.bwz"))
        .assert()
        .success()
        .stdout([&all[..], &all].concat());
    let limited = format!("{ranges} --limit-output 10030 x.bwz");
    dir.bwz(&limited).assert().code(1).stdout("");
    dir.bwz("cat -r 0..9 -r 9..999999 x.bwz")
        .assert()
        .code(1)
        .stdout("");
}

#[test]
fn searches_walk_directories() {
    let dir = Dir::new();
    for (name, content) in [
        ("logs/a", "one ERROR"),
        ("logs/deep/b", "two ERROR ERROR"),
        ("logs/c", ""),
    ] {
        dir.write(name, content.as_bytes());
        dir.bwz(name).assert().success();
    }
    dir.write("none/a", b"ERROR");
    let found = stdout(dir.bwz("count -r ERROR logs").assert().success());
    assert_eq!(
        found,
        "logs/a.bwz\tERROR\t1\nlogs/c.bwz\tERROR\t0\nlogs/deep/b.bwz\tERROR\t2\n"
    );
    let found = stdout(
        dir.bwz("locate -r ERROR logs logs/a.bwz")
            .assert()
            .success(),
    );
    assert_eq!(found.lines().count(), 4);
    dir.bwz("count -r -e ERROR -e one logs")
        .assert()
        .success();
    dir.bwz("count -r nothing logs").assert().code(1);
    for (arguments, says) in [
        ("count ERROR logs", "is a directory; -r walks it"),
        ("locate ERROR logs", "is a directory; -r walks it"),
        ("count -r ERROR none", "no .bwz file"),
    ] {
        has_all(&stderr(dir.bwz(arguments).assert().code(2)), &[says]);
    }
    for arguments in ["cat logs", "extract -r 0+1 logs", "bench logs"] {
        has_all(
            &stderr(dir.bwz(arguments).assert().code(1)),
            &["is a directory; name the files"],
        );
    }
    has_all(
        &stderr(dir.bwz("logs").assert().code(1)),
        &["is a directory; -r walks it"],
    );
}

#[test]
fn a_quiet_search_says_it_by_its_exit_code() {
    let dir = Dir::with(&text(100_000));
    dir.bwz("-f --index x").assert().success();
    dir.write("damaged.bwz", &dir.read("x.bwz")[..99]);
    for (arguments, code) in [
        ("count -q 77 x.bwz", 0),
        ("locate -q 77 x.bwz", 0),
        ("count -q --json 77 x.bwz", 0),
        ("locate -q -C 5 77 x.bwz", 0),
        ("count -q nothing x.bwz", 1),
        ("locate -q nothing x.bwz", 1),
        ("count -q -e nothing -e 77 x.bwz", 0),
        ("count -q 77 x.bwz damaged.bwz", 0),
        ("count -q nothing --json x.bwz", 1),
        ("count -q 77 x", 2),
    ] {
        dir.bwz(arguments).assert().code(code).stdout("");
    }
    dir.bwz("count -q 77 damaged.bwz x.bwz")
        .assert()
        .code(0)
        .stdout("");
    dir.bwz("count -q nothing damaged.bwz x.bwz")
        .assert()
        .code(2)
        .stdout("");
}

/// True if a directory protects its files from us; root may do anything.
fn is_kept(dir: &Dir) -> bool {
    dir.sh("chmod 555 d && ! rm d/x 2> /dev/null")
        .assert()
        .get_output()
        .status
        .success()
}

#[test]
fn an_input_that_cannot_be_removed_has_its_output() {
    let dir = Dir::new();
    dir.write("d/x", b"text");
    if !is_kept(&dir) {
        crate::say::skip("whoever runs this may remove any file");
        return;
    }
    let said = stderr(dir.bwz("--rm -o y d/x").assert().code(1));
    has_all(
        &said,
        &[
            "d/x: cannot be removed: Permission denied",
            "the output y is complete",
        ],
    );
    dir.bwz("-dc y").assert().success().stdout("text");
}

#[test]
fn help_is_a_command_too() {
    let dir = Dir::new();
    let of = |arguments: &str| stdout(dir.bwz(arguments).assert().success());
    assert_eq!(of("help"), of("--help"));
    assert_eq!(of("help count"), of("count --help"));
    let said = stderr(dir.bwz("help cuont").assert().code(1).stdout(""));
    has_all(&said, &["no command cuont", "`count` meant"]);
}

#[test]
fn a_word_that_is_nearly_a_command_is_told() {
    let dir = Dir::with(b"text");
    dir.compress_x();
    for (word, meant) in [("tial", "tail"), ("extrct", "extract"), ("hed", "head")] {
        let said = stderr(dir.bwz(&format!("{word} x.bwz")).assert().code(1));
        has_all(&said, &[word, "No such file", &format!("`bwz {meant}`")]);
    }
    let said = stderr(dir.bwz("notes.txt").assert().code(1));
    assert!(!said.contains("command"), "{said}");
}

#[test]
fn an_expression_that_counts_nothing_gets_a_hint() {
    let dir = Dir::with(b"one [two] three\n");
    dir.compress_x();
    for command in ["count", "locate"] {
        let said = stderr(
            dir.bwz(&format!("{command} t.*o x.bwz"))
                .assert()
                .code(1),
        );
        has_all(&said, &["`t.*o`", "as bytes", "bwz grep"]);
        let said = stderr(
            dir.bwz(&format!("{command} four x.bwz"))
                .assert()
                .code(1),
        );
        assert!(!said.contains("bwz grep"), "{said}");
    }
    dir.bwz("count [two] x.bwz")
        .assert()
        .success()
        .stderr("");
}
