//! compare, diff and less: files compressed or not, and the exit codes of cmp and diff.

use crate::support::{BWZ, Dir, has_all, is_there, stderr, stdout};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Two texts as `a` and `b`, each with its compressed form.
fn dir(a: &str, b: &str) -> Dir {
    let dir = Dir::new();
    dir.write("a", a.as_bytes());
    dir.write("b", b.as_bytes());
    dir.bwz("-k a b").assert().success();
    dir
}

/// A stand-in for less, which shows what less would get.
const LESS: &str = "#!/bin/sh\nfor name; do sh -c \"$(printf '%s' \"${LESSOPEN#||}\" | sed \"s/%s/$name/\")\"; done\n";

/// Writes a script that can be called.
fn program(dir: &Dir, name: &str, script: &str) {
    dir.write(name, script.as_bytes());
    fs::set_permissions(dir.path(name), fs::Permissions::from_mode(0o755)).unwrap();
}

/// `PATH` with the programs of `bin` before all others.
fn path_with_bin(dir: &Dir) -> String {
    let path = std::env::var("PATH").unwrap();
    format!("{}:{path}", dir.path("bin").display())
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

/// Content is content, whatever made the file and whatever its name is.
#[test]
fn diff_and_less_take_files_of_other_compressors() {
    let dir = dir("one\ntwo\n", "one\ntwo\nthree\n");
    program(&dir, "bin/less", LESS);
    for program in ["gzip", "bzip2", "xz", "zstd"] {
        if !is_there(program) {
            continue;
        }
        dir.sh(&format!(
            "{program} -c a > a.other; cat a.other a.other > two"
        ))
        .assert()
        .success();
        dir.bwz("diff a.other a.bwz")
            .assert()
            .success()
            .stdout("");
        dir.bwz("diff b a.other")
            .assert()
            .code(1)
            .stdout("3d2\n< three\n");
        dir.bwz("less two")
            .env("PATH", path_with_bin(&dir))
            .assert()
            .success()
            .stdout("one\ntwo\none\ntwo\n");
        let whole = dir.read("a.other");
        dir.write("cut", &whole[..whole.len() - 6]);
        let damaged = dir.bwz("diff cut a").assert().code(2);
        has_all(&stderr(damaged), &["cut", program, "damaged"]);
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

#[test]
fn less_gets_the_content() {
    let dir = dir("text\n", "");
    program(&dir, "bin/less", LESS);
    dir.bwz("less a.bwz a b.bwz")
        .env("PATH", path_with_bin(&dir))
        .assert()
        .success()
        .stdout("text\ntext\n");
}
