//! Members of tar archives: list, cat, grep.

use crate::archives::{self, DEEP, TEXT};
use crate::support::{Dir, has_all, stderr};

/// Writes the archive as `t.tar`, as `t.tar.bwz`, with an index as `i.tar.bwz`, and in two frames,
/// the second of which has no table of members, as `two.tar.bwz`.
fn dir() -> Dir {
    let dir = Dir::new();
    let tar = archives::archive();
    dir.write("t.tar", &tar);
    dir.write("front", &tar[..700]);
    dir.write("back", &tar[700..]);
    dir.bwz("-k t.tar").assert().success();
    dir.bwz("--index -o i.tar.bwz t.tar")
        .assert()
        .success();
    dir.sh("bwz -k front back && cat front.bwz back.bwz > two.tar.bwz")
        .assert()
        .success();
    dir
}

const FILES: [&str; 3] = ["t.tar.bwz", "i.tar.bwz", "two.tar.bwz"];

#[test]
fn members_are_listed_as_tar_lists_them() {
    let names = format!(
        "dir/\ndir/a.txt\n{DEEP}\ndir/symbolic\ndir/hard\nnull\nempty\nfrom pax\ndir/a.txt\n"
    );
    let lines = format!(
        "\
drwxr-xr-x user/100          0 2023-11-14 22:13 dir/
-rw-r--r-- user/100         15 2023-11-14 22:13 dir/a.txt
-rw-r--r-- user/100      {} 2023-11-14 22:13 {DEEP}
lrw-r--r-- user/100          0 2023-11-14 22:13 dir/symbolic -> a.txt
hrw-r--r-- user/100          0 2023-11-14 22:13 dir/hard link to dir/a.txt
crw-r--r-- user/100        0,0 2023-11-14 22:13 null
-rw-r--r-- user/100          0 2023-11-14 22:13 empty
-rw-r--r-- user/100          4 1969-12-31 23:59 from pax
-rw-r--r-- user/100         15 2023-11-14 22:13 dir/a.txt
",
        archives::deep().len()
    );
    let dir = dir();
    for file in FILES {
        dir.bwz(&format!("-l --members {file}"))
            .assert()
            .success()
            .stdout(names.clone());
        dir.bwz(&format!("-lv --members {file}"))
            .env("TZ", "UTC")
            .assert()
            .success()
            .stdout(lines.clone());
    }
    let json = dir
        .bwz("-l --members --json t.tar.bwz")
        .assert()
        .success();
    let json: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).unwrap();
    let member = &json[0]["members"][3];
    assert_eq!(member["name"], "dir/symbolic");
    assert_eq!(
        (&member["kind"], &member["link"]),
        (&"l".into(), &"a.txt".into())
    );
}

#[test]
fn several_archives_have_titles() {
    let dir = Dir::new();
    dir.sh("touch one two && tar -cf a.tar one && tar -cf b.tar one two && bwz a.tar b.tar")
        .assert()
        .success();
    let titled = "==> a.tar.bwz <==\none\n\n==> b.tar.bwz <==\none\ntwo\n";
    for (arguments, listed) in [
        ("-l --members a.tar.bwz b.tar.bwz", titled),
        ("-lq --members a.tar.bwz b.tar.bwz", "one\none\ntwo\n"),
        ("-l --members a.tar.bwz", "one\n"),
    ] {
        dir.bwz(arguments)
            .assert()
            .success()
            .stdout(listed);
    }
}

#[test]
fn a_member_is_written_by_name_or_pattern() {
    let dir = dir();
    for file in FILES {
        for (names, expected) in [
            ("--member dir/a.txt", TEXT.1.to_vec()),
            ("--member ./dir/a.txt", TEXT.1.to_vec()),
            ("--member dir/hard", b"an old version\n".to_vec()),
            ("--member *.log", archives::deep()),
            ("--member empty", Vec::new()),
            (
                "--member dir/* --member e*y",
                [&b"an old version\n"[..], TEXT.1].concat(),
            ),
        ] {
            dir.bwz(&format!("cat {file} {names}"))
                .assert()
                .success()
                .stdout(expected);
        }
    }
    for (name, what) in [
        ("missing", "holds no file missing"),
        ("*.c", "holds no file *.c"),
        ("dir", "dir/ is a directory"),
        ("dir/symbolic", "dir/symbolic is a link to a.txt"),
    ] {
        let refused = dir
            .bwz(&format!("cat t.tar.bwz --member {name}"))
            .assert()
            .code(1);
        has_all(&stderr(refused), &[what]);
    }
}

#[test]
fn archives_that_break_off_are_no_success() {
    let dir = Dir::new();
    let tar = archives::archive();
    dir.write("cut.tar", &tar[..archives::deep().len() / 512 * 512]);
    dir.bwz("cut.tar").assert().success();
    let said = ["the tar archive breaks off at byte"];
    let listed = dir
        .bwz("-l --members cut.tar.bwz")
        .assert()
        .code(1);
    has_all(&stderr(listed), &said);
    let written = dir
        .bwz("cat cut.tar.bwz --member dir/a.txt")
        .assert()
        .code(1);
    assert_eq!(written.get_output().stdout, b"an old version\n");
    for (pattern, found) in [
        ("version", "cut.tar.bwz:dir/a.txt:an old version\n"),
        ("absent", ""),
    ] {
        let searched = dir
            .bwz(&format!("grep --member dir/* {pattern} cut.tar.bwz"))
            .assert()
            .code(2)
            .stdout(found);
        has_all(&stderr(searched), &said);
    }
}

#[test]
fn members_that_cannot_be_looked_at_are_no_silence() {
    let dir = dir();
    let tar = dir.read("t.tar.bwz");
    dir.write("cut.tar.bwz", &tar[..tar.len() - 60]);
    for (files, what) in [
        ("missing.tar.bwz", "No such file"),
        ("cut.tar.bwz", "cut.tar.bwz"),
        ("-", "--member needs a file"),
    ] {
        let refused = dir
            .bwz(&format!("grep --member * line {files}"))
            .assert()
            .code(2);
        has_all(&stderr(refused), &[what]);
    }
    for command in ["--members t.tar", "-d --members t.tar.bwz"] {
        let refused = dir.bwz(command).assert().code(1);
        has_all(&stderr(refused), &["--members goes with -l"]);
    }
    assert!(dir.has("t.tar"));
}

#[test]
fn files_without_members_are_refused() {
    let dir = Dir::with(b"text");
    dir.bwz("x").assert().success();
    for command in ["-l --members x.bwz", "cat --member x x.bwz"] {
        let refused = dir.bwz(command).assert().code(1);
        has_all(&stderr(refused), &["holds no tar archive"]);
    }
}

#[test]
fn each_member_is_a_file_for_grep() {
    let dir = dir();
    for file in FILES {
        let deep = format!("{file}:{DEEP}");
        let of = |names: &[(&str, &str)]| -> String {
            names
                .iter()
                .map(|(name, rest)| format!("{file}:{name}{rest}\n"))
                .collect()
        };
        for (arguments, expected) in [
            ("-n 2999", format!("{deep}:3000:line 2999 of the log\n")),
            (
                "-b 2999",
                format!(
                    "{deep}:{}:line 2999 of the log\n",
                    archives::deep().len() - 21
                ),
            ),
            ("-h 2999", "line 2999 of the log\n".into()),
            ("-n ^the.first", of(&[("dir/a.txt", ":1:the first file")])),
            ("-l file", of(&[("dir/a.txt", "")])),
            (
                "-L line",
                of(&[
                    ("dir/a.txt", ""),
                    ("empty", ""),
                    ("from pax", ""),
                    ("dir/a.txt", ""),
                ]),
            ),
            (
                "-c of",
                of(&[
                    ("dir/a.txt", ":0"),
                    (DEEP, ":3000"),
                    ("empty", ":0"),
                    ("from pax", ":0"),
                    ("dir/a.txt", ":0"),
                ]),
            ),
            ("-o xx*", of(&[("from pax", ":xxxx")])),
            (
                "--member *.txt version",
                of(&[("dir/a.txt", ":an old version")]),
            ),
            (
                "-m1 -v nothing --member dir/*",
                of(&[
                    ("dir/a.txt", ":an old version"),
                    ("dir/a.txt", ":the first file"),
                ]),
            ),
        ] {
            dir.bwz(&format!("grep {arguments} {file}"))
                .assert()
                .success()
                .stdout(expected);
        }
        dir.bwz(&format!("grep absent {file}"))
            .assert()
            .code(1)
            .stdout("");
        dir.bwz(&format!("grep -q line {file}"))
            .assert()
            .success();
        let raw = dir
            .bwz(&format!("grep --no-members line {file}"))
            .assert()
            .success();
        assert!(stderr(raw).contains("binary file matches"));
    }
    dir.bwz("grep --member * line t.tar")
        .assert()
        .code(1)
        .stdout("");
}

#[test]
fn holes_are_searched_as_zeros() {
    let dir = Dir::new();
    let mut middle = [b'\n'; 512];
    middle[10..15].copy_from_slice(b"found");
    dir.write("s.tar", &archives::sparse(&middle));
    dir.bwz("s.tar").assert().success();
    let expected = [&[0; 1024][..], &middle, &[0; 3000 - 1536]].concat();
    dir.bwz("cat s.tar.bwz --member holes")
        .assert()
        .success()
        .stdout(expected);
    dir.bwz("grep -a -b found s.tar.bwz --member holes")
        .assert()
        .success()
        .stdout("s.tar.bwz:holes:1034:found\n");
}
