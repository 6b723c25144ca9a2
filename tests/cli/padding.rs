//! Zeros behind the last frame, as tapes, devices and archivers leave them.

use crate::support::{Dir, has_all, is_there, stderr, text};

/// Makes `x.bwz` with an index, and `p.bwz` with this many zeros behind the same bytes.
fn padded(dir: &Dir, zeros: usize) {
    dir.bwz("-f --index --block 64K x")
        .assert()
        .success();
    dir.write("p.bwz", &[dir.read("x.bwz"), vec![0; zeros]].concat());
}

#[test]
fn every_command_passes_over_them() {
    let content = text(300_000);
    let dir = Dir::with(&content);
    for zeros in [1, 16, 9_728, 1_500_000] {
        padded(&dir, zeros);
        dir.bwz("-t p.bwz").assert().success().stderr("");
        dir.sh("bwz -t < p.bwz && cat p.bwz | bwz -t")
            .assert()
            .success()
            .stderr("");
        dir.bwz("-dc p.bwz")
            .assert()
            .success()
            .stdout(content.clone());
        dir.sh("cat p.bwz | bwz -d")
            .assert()
            .success()
            .stdout(content.clone());
        dir.bwz("cat p.bwz")
            .assert()
            .success()
            .stdout(content.clone());
        dir.bwz("cat -r 70000+9 p.bwz")
            .assert()
            .success()
            .stdout(content[70_000..70_009].to_vec());
        dir.bwz("extract -r 5+9 p.bwz")
            .assert()
            .success()
            .stdout(content[5..14].to_vec());
        dir.bwz("-l --json p.bwz").assert().success();
        dir.sh("bwz -l < p.bwz").assert().success();
        for search in ["count", "locate", "count --verify"] {
            let found = dir
                .bwz(&format!("{search} 77 p.bwz"))
                .assert()
                .success();
            let expected = dir
                .bwz(&format!("{search} 77 x.bwz"))
                .assert()
                .success();
            let found = String::from_utf8(found.get_output().stdout.clone()).unwrap();
            let expected = String::from_utf8(expected.get_output().stdout.clone()).unwrap();
            assert_eq!(found.replace("p.bwz", "x.bwz"), expected);
        }
        dir.bwz("recover -f p.bwz -o saved")
            .assert()
            .success()
            .stderr("");
        assert!(dir.read("saved") == content);
        dir.bwz("repeats -n 1000 p.bwz x")
            .assert()
            .success();
    }
}

#[test]
fn several_frames_have_them_at_the_end_alone() {
    let dir = Dir::with(b"text\n");
    dir.sh("bwz -c x > a; cat a a > p.bwz; head -c 99 /dev/zero >> p.bwz")
        .assert()
        .success();
    dir.bwz("-dc p.bwz")
        .assert()
        .success()
        .stdout("text\ntext\n");
    dir.bwz("cat -r 3.. p.bwz")
        .assert()
        .success()
        .stdout("t\ntext\n");
    dir.sh("cat p.bwz a > q.bwz").assert().success();
    let said = stderr(
        dir.bwz("-dc q.bwz")
            .assert()
            .code(2)
            .stdout("text\ntext\n"),
    );
    has_all(
        &said,
        &["trailing garbage", "zero bytes", "bwz recover q.bwz"],
    );
    for arguments in ["-l q.bwz", "count t q.bwz", "cat -r 0+1 q.bwz"] {
        dir.bwz(arguments).assert().code(2);
    }
    dir.bwz("recover q.bwz -o saved").assert().code(2);
    assert_eq!(dir.read("saved"), b"text\ntext\ntext\n");
}

#[test]
fn dd_and_tar_get_and_give_whole_records() {
    if !is_there("tar") || !is_there("dd") {
        return;
    }
    let dir = Dir::with(&text(1_000_000));
    dir.write("s/a", b"a file");
    for pipe in [
        "bwz -c s/a | dd conv=sync bs=10240 of=p.bwz 2>/dev/null && bwz -dc p.bwz | cmp - s/a",
        "bwz --block 64K -c x | dd iflag=fullblock conv=sync bs=10240 of=p.bwz 2>/dev/null && bwz -dc p.bwz | cmp - x",
        "tar -cf - s | bwz | dd conv=sync bs=10240 of=p.tar.bwz 2>/dev/null && tar -I bwz -tf p.tar.bwz",
        "tar -cf - s | bwz | dd obs=10240 conv=sync > q.tar.bwz 2>/dev/null && tar -I bwz -xOf q.tar.bwz s/a",
    ] {
        dir.sh(&format!("set -o pipefail; {pipe}"))
            .assert()
            .success();
    }
    assert_eq!(dir.read("p.tar.bwz").len() % 10_240, 0);
}
