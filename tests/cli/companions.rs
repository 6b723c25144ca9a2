//! compare, diff and less: files compressed or not, and the exit codes of cmp and diff.

use crate::support::{BWZ, Dir, has_all, stderr, stdout};
use std::fs;

/// Two texts as `a` and `b`, each with its compressed form.
fn dir(a: &str, b: &str) -> Dir {
    let dir = Dir::new();
    dir.write("a", a.as_bytes());
    dir.write("b", b.as_bytes());
    dir.bwz("-k a b").assert().success();
    dir
}

#[test]
fn compare_says_what_cmp_says() {
    for (a, b) in [
        ("one\ntwo\n", "one\ntwo\n"),
        ("one\ntwo\n", "one\ntwx\n"),
        ("one\ntwo\n", "one\n"),
        ("one\ntwo", "one\ntwo\nthree"),
        ("", "one"),
        ("", ""),
    ] {
        let dir = dir(a, b);
        let expected = dir.sh("cmp a b").assert();
        let code = expected.get_output().status.code().unwrap();
        let out = stdout(dir.sh("cmp a b").assert());
        let err = stderr(expected);
        for [one, other] in [["a", "b"], ["a.bwz", "b.bwz"], ["a.bwz", "b"]] {
            let said = |text: &str| {
                text.replace("cmp:", "bwz:")
                    .replace("a b differ", &format!("{one} {other} differ"))
                    .replace("EOF on a ", &format!("EOF on {one} "))
                    .replace("EOF on b ", &format!("EOF on {other} "))
                    .replace("char", "byte")
            };
            let found = dir
                .bwz(&format!("compare {one} {other}"))
                .assert()
                .code(code);
            assert_eq!(stderr(found), said(&err));
            let found = dir
                .bwz(&format!("compare {one} {other}"))
                .assert();
            assert_eq!(stdout(found), said(&out));
            dir.bwz(&format!("compare -s {one} {other}"))
                .assert()
                .code(code)
                .stdout("")
                .stderr("");
        }
    }
}

#[test]
fn a_file_is_compared_with_its_compressed_form() {
    let dir = dir("text", "other");
    for name in ["a", "a.bwz"] {
        dir.bwz(&format!("compare {name}"))
            .assert()
            .success();
        dir.bwz(&format!("diff {name}"))
            .assert()
            .success();
    }
    dir.write("a", b"changed");
    for name in ["a", "a.bwz"] {
        dir.bwz(&format!("compare {name}"))
            .assert()
            .code(1);
        dir.bwz(&format!("diff {name}")).assert().code(1);
    }
}

#[test]
fn diff_shows_what_diff_shows() {
    let text = |name: &str| {
        (0..3000)
            .map(|n| format!("{name} {}\n", n % 7))
            .collect()
    };
    let same: String = text("same");
    let other: String = text("other");
    for (a, b, code) in [(&same, &same, 0), (&same, &other, 1)] {
        let dir = dir(a, b);
        fs::rename(dir.path("a.bwz"), dir.path("it's $a.bwz")).unwrap();
        let options = "--label=x --label=y -u";
        let expected = stdout(dir.sh(&format!("diff {options} a b")).assert());
        for [one, other] in [
            ["it's $a.bwz", "b.bwz"],
            ["it's $a.bwz", "b"],
            ["a", "b.bwz"],
        ] {
            let mut diff = dir.run(BWZ);
            diff.arg("diff")
                .args(options.split(' '))
                .args([one, other]);
            let found = diff.assert().code(code);
            assert_eq!(stdout(found), expected);
            // It ends before it has read all.
            let mut brief = dir.run(BWZ);
            brief
                .args(["diff", "-q", one, other])
                .assert()
                .code(code);
        }
    }
}

#[test]
fn trouble_is_no_difference() {
    let dir = dir("text\n", "text\n");
    let cut = dir.read("a.bwz");
    dir.write("cut.bwz", &cut[..cut.len() - 40]);
    for command in ["compare", "diff"] {
        let missing = dir
            .bwz(&format!("{command} a missing"))
            .assert()
            .code(2);
        has_all(&stderr(missing), &["missing", "No such file"]);
        let damaged = dir
            .bwz(&format!("{command} cut.bwz a"))
            .assert()
            .code(2);
        has_all(&stderr(damaged), &["cut.bwz", "cut off"]);
        dir.bwz(command).assert().code(2);
        dir.bwz(&format!("{command} a b a"))
            .assert()
            .code(2);
    }
}

/// A name that is a hard link to bwz must not call itself for the contents.
#[test]
fn the_names_of_companions_work() {
    let dir = dir("text\n", "more\n");
    for name in ["bwzcmp", "bwzdiff"] {
        if fs::hard_link(BWZ, dir.path(name)).is_err() {
            fs::copy(BWZ, dir.path(name)).unwrap();
        }
        let found = dir
            .run(dir.path(name))
            .args(["a.bwz", "b.bwz"])
            .env("BWZ_OPT", "--limit-output 1")
            .assert()
            .code(1);
        assert!(!stdout(found).is_empty());
    }
}

/// A stand-in for less shows what less would get.
#[test]
fn less_gets_the_content() {
    use std::os::unix::fs::PermissionsExt;
    let dir = dir("text\n", "");
    let less = "#!/bin/sh\nfor name; do sh -c \"$(printf '%s' \"${LESSOPEN#||}\" | sed \"s/%s/$name/\")\"; done\n";
    dir.write("bin/less", less.as_bytes());
    fs::set_permissions(dir.path("bin/less"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", dir.path("bin").display());
    dir.bwz("less a.bwz a b.bwz")
        .env("PATH", path)
        .assert()
        .success()
        .stdout("text\ntext\n");
}
