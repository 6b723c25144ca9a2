//! Files in, files beside them out: names, options, properties, trees.

use crate::support::{Dir, has_all, noise, stderr, text};
use std::fs::{self, FileTimes, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::{Duration, SystemTime};

#[test]
fn a_file_comes_back() {
    for content in [
        text(0),
        text(1),
        text(300_000),
        noise(5000),
        text(2_500_000),
    ] {
        let dir = Dir::with(&content);
        dir.bwz("-1 x")
            .assert()
            .success()
            .stdout("")
            .stderr("");
        assert_eq!(dir.names(), ["x", "x.bwz"]);
        fs::remove_file(dir.path("x")).unwrap();
        dir.bwz("-d x.bwz")
            .assert()
            .success()
            .stdout("")
            .stderr("");
        assert_eq!(dir.read("x"), content);
        assert_eq!(dir.names(), ["x", "x.bwz"]);
    }
}

#[test]
fn tbwz_becomes_tar() {
    let dir = Dir::with(b"tar");
    dir.bwz("x -o a.tbwz").assert().success();
    dir.bwz("-d a.tbwz").assert().success();
    assert_eq!(dir.read("a.tar"), b"tar");
}

#[test]
fn an_unknown_suffix_needs_a_name() {
    let dir = Dir::with(b"text");
    dir.bwz("x -o y.z").assert().success();
    let said = stderr(dir.bwz("-d y.z").assert().code(1));
    has_all(&said, &["y.z", ".bwz", "-o", "-c"]);
    dir.bwz("-d y.z -o back").assert().success();
    assert_eq!(dir.read("back"), b"text");
    dir.bwz("-dc y.z")
        .assert()
        .success()
        .stdout("text");
}

#[test]
fn what_is_compressed_by_its_name_is_left_alone() {
    let dir = Dir::with(b"text");
    dir.compress_x();
    has_all(
        &stderr(dir.bwz("x.bwz").assert().code(1)),
        &["bwz: x.bwz: ", "-f"],
    );
    assert!(!dir.has("x.bwz.bwz"));
    dir.bwz("-f x.bwz").assert().success();
    dir.bwz("-dc x.bwz.bwz")
        .assert()
        .success()
        .stdout(dir.read("x.bwz"));
}

#[test]
fn stdout_takes_many_files() {
    let dir = Dir::with(b"one ");
    dir.write("y", b"two");
    let both = dir
        .bwz("-c x y")
        .assert()
        .success()
        .get_output()
        .stdout
        .clone();
    assert_eq!(dir.names(), ["x", "y"]);
    dir.write("both.bwz", &both);
    dir.bwz("-d -c both.bwz")
        .assert()
        .success()
        .stdout("one two");
    dir.bwz("--stdout -d both.bwz -")
        .write_stdin(both)
        .assert()
        .success()
        .stdout("one twoone two");
}

#[test]
fn an_output_can_be_named() {
    let dir = Dir::with(b"text");
    dir.bwz("-o out x").assert().success();
    dir.bwz("-d --output=back out").assert().success();
    assert_eq!(dir.read("back"), b"text");
    dir.bwz("-d -o - out")
        .assert()
        .success()
        .stdout("text");
    dir.bwz("-o new")
        .write_stdin("from a pipe")
        .assert()
        .success();
    dir.bwz("-dc new")
        .assert()
        .success()
        .stdout("from a pipe");
    dir.bwz("-d -o /dev/null out").assert().success();
    dir.bwz("-d -o nowhere/back out").assert().code(1);
}

#[test]
fn a_chosen_link_is_followed_and_stays() {
    let dir = Dir::with(b"text");
    dir.write("far/old", b"old");
    dir.link("far/old", "link");
    dir.bwz("-f x -o link").assert().success();
    assert!(dir.path("link").is_symlink());
    dir.bwz("-dc far/old")
        .assert()
        .success()
        .stdout("text");
}

#[test]
fn inputs_are_kept_unless_told() {
    let dir = Dir::with(b"text");
    dir.bwz("-k x").assert().success();
    dir.bwz("-f --rm -k x").assert().success();
    assert_eq!(dir.names(), ["x", "x.bwz"]);
    dir.bwz("-f -k --rm x").assert().success();
    assert_eq!(dir.names(), ["x.bwz"]);
    dir.bwz("-dc --rm x.bwz").assert().success();
    dir.bwz("-t --rm x.bwz").assert().code(1);
    dir.bwz("-d --rm x.bwz -o /dev/null")
        .assert()
        .success();
    assert_eq!(dir.names(), ["x.bwz"]);
    dir.bwz("-d --rm x.bwz").assert().success();
    assert_eq!(dir.names(), ["x"]);
}

#[test]
fn mode_and_times_are_kept() {
    let dir = Dir::with(b"text");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_000_000);
    let times = FileTimes::new()
        .set_modified(long_ago)
        .set_accessed(long_ago);
    let file = fs::File::options()
        .write(true)
        .open(dir.path("x"))
        .unwrap();
    file.set_times(times).unwrap();
    fs::set_permissions(dir.path("x"), Permissions::from_mode(0o640)).unwrap();
    dir.bwz("x").assert().success();
    dir.bwz("-d x.bwz -o back").assert().success();
    for name in ["x.bwz", "back"] {
        let metadata = fs::metadata(dir.path(name)).unwrap();
        assert_eq!(metadata.mode() & 0o7777, 0o640, "{name}");
        assert_eq!(metadata.modified().unwrap(), long_ago, "{name}");
    }
}

#[test]
fn without_a_pattern_the_umask_decides() {
    let dir = Dir::new();
    dir.sh("umask 027; echo text | bwz -o x.bwz")
        .assert()
        .success();
    assert_eq!(
        fs::metadata(dir.path("x.bwz")).unwrap().mode() & 0o7777,
        0o640
    );
}

#[test]
fn one_bad_file_does_not_stop_the_others() {
    let dir = Dir::with(b"good");
    dir.write("y", b"also good");
    dir.bwz("x y").assert().success();
    dir.write("bad.bwz", b"not compressed");
    let said = stderr(
        dir.bwz("-d -f x.bwz bad.bwz absent.bwz y.bwz")
            .assert()
            .code(2),
    );
    has_all(
        &said,
        &[
            "bwz: bad.bwz: not a bwz file",
            "bwz: absent.bwz: No such file or directory\n",
        ],
    );
    assert_eq!(said.lines().count(), 2, "{said}");
    assert_eq!(dir.read("y"), b"also good");
    assert_eq!(dir.names(), ["bad.bwz", "x", "x.bwz", "y", "y.bwz"]);
}

#[test]
fn trees_are_walked() {
    let dir = Dir::new();
    dir.write("tree/a", b"a");
    dir.write("tree/deep/er/b", b"b");
    dir.write("tree/old.bwz", b"stays as it is");
    dir.link("a", "tree/link");
    let said = stderr(dir.bwz("-r --rm tree").assert().success());
    has_all(&said, &["tree/link", "skipped"]);
    assert!(dir.has("tree/a.bwz") && dir.has("tree/deep/er/b.bwz"));
    assert!(!dir.has("tree/a") && !dir.has("tree/old.bwz.bwz") && !dir.has("tree/link.bwz"));
    fs::remove_file(dir.path("tree/old.bwz")).unwrap();
    dir.bwz("-rt tree").assert().success();
    dir.bwz("-rdq tree").assert().success().stderr("");
    assert_eq!(
        (dir.read("tree/a"), dir.read("tree/deep/er/b")),
        (b"a".into(), b"b".into())
    );
    assert!(!dir.has("tree/a.bwz.bwz"));
}

#[test]
fn a_directory_needs_r() {
    let dir = Dir::new();
    dir.write("tree/a", b"a");
    has_all(
        &stderr(dir.bwz("tree").assert().code(1)),
        &["bwz: tree: is a directory", "-r"],
    );
    dir.bwz("-f tree").assert().code(1);
}

#[test]
fn links_and_special_files_need_f_or_c() {
    let dir = Dir::with(b"text");
    dir.link("x", "link");
    has_all(
        &stderr(dir.bwz("link").assert().code(1)),
        &["bwz: link: is a symbolic link", "-f"],
    );
    has_all(
        &stderr(dir.bwz("/dev/null").assert().code(1)),
        &["not a regular file", "-f"],
    );
    dir.bwz("-c /dev/null").assert().success();
    dir.bwz("-c link").assert().success();
    dir.bwz("-f link").assert().success();
    dir.bwz("-dc link.bwz")
        .assert()
        .success()
        .stdout("text");
    dir.bwz("-t link.bwz").assert().success();
}

#[test]
fn verbose_says_what_was_done() {
    let dir = Dir::with(&text(50_000));
    has_all(
        &stderr(dir.bwz("-v x").assert().success()),
        &["bwz: x: ", "KiB", "ratio", "MB/s"],
    );
    has_all(
        &stderr(dir.bwz("-tv x.bwz").assert().success()),
        &["x.bwz: OK"],
    );
    has_all(
        &stderr(dir.bwz("-dfv x.bwz").assert().success()),
        &["->", "ratio"],
    );
    dir.bwz("-t x.bwz")
        .assert()
        .success()
        .stdout("")
        .stderr("");
}

#[test]
fn odd_names_are_no_trouble() {
    use std::os::unix::ffi::OsStrExt;
    let dir = Dir::new();
    let name = std::ffi::OsStr::from_bytes(b"-n\xFFame");
    fs::write(dir.root().join(name), b"text").unwrap();
    dir.bwz("--rm --").arg(name).assert().success();
    dir.bwz("-d --")
        .arg(std::ffi::OsStr::from_bytes(b"-n\xFFame.bwz"))
        .assert()
        .success();
    assert_eq!(fs::read(dir.root().join(name)).unwrap(), b"text");
    dir.write("cat", b"a file called cat");
    dir.bwz("./cat").assert().success();
    dir.bwz("-f cat").assert().success();
    assert!(dir.has("cat.bwz"));
}
