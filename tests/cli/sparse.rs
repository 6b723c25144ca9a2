//! Holes: the outputs that have them, the outputs that have none, and that the bytes are the same.

use crate::support::Dir;
use std::fs;
use std::os::unix::fs::MetadataExt;

/// Stretches of zeros between some bytes, and at the end.
fn zeros() -> Vec<u8> {
    let mut bytes = vec![0; 5_000_000];
    for at in [0, 1_000_000, 1_000_001, 3_000_000] {
        bytes[at..at + 100].fill(b'x');
    }
    bytes
}

impl Dir {
    /// Bytes that a file takes on disk.
    fn on_disk(&self, name: &str) -> u64 {
        512 * fs::metadata(self.path(name)).unwrap().blocks()
    }

    /// True if this file system supports holes.
    fn has_holes(&self) -> bool {
        let file = fs::File::create(self.path("hole")).unwrap();
        file.set_len(1 << 20).unwrap();
        self.on_disk("hole") < 1 << 20
    }

    fn is(&self, name: &str, sparse: bool) {
        assert!(self.read(name) == zeros(), "{name} has other bytes");
        let on_disk = self.on_disk(name);
        assert_eq!(
            on_disk < 1 << 20,
            sparse,
            "{name} takes {on_disk} bytes on disk"
        );
    }
}

fn dir() -> Option<Dir> {
    let dir = Dir::with(&zeros());
    if !dir.has_holes() {
        crate::say::skip("this file system leaves no holes");
        return None;
    }
    dir.bwz("-1 x").assert().success();
    Some(dir)
}

#[test]
fn new_files_have_holes_unless_told_otherwise() {
    let Some(dir) = dir() else { return };
    dir.bwz("-df x.bwz").assert().success();
    dir.is("x", true);
    dir.bwz("-d x.bwz -o new").assert().success();
    dir.is("new", true);
    dir.write("old", &[7; 100]);
    dir.bwz("-df x.bwz -o old").assert().success();
    dir.is("old", true);
    dir.bwz("-d --no-sparse x.bwz -o full")
        .assert()
        .success();
    dir.is("full", false);
}

#[test]
fn standard_output_has_holes_where_they_are_sure_to_read_as_zeros() {
    let Some(dir) = dir() else { return };
    dir.sh("bwz -dc x.bwz > new").assert().success();
    dir.is("new", true);
    dir.sh("bwz -d --no-sparse < x.bwz > full")
        .assert()
        .success();
    dir.is("full", false);
    // Appended bytes go to the end of the file, which may have moved by then.
    dir.sh(": > appended; bwz -dc x.bwz >> appended")
        .assert()
        .success();
    dir.is("appended", false);
    // In the middle of a file, a hole would leave the old bytes.
    dir.write("old", &vec![7; 5_000_000]);
    dir.sh("bwz -dc x.bwz 1<> old").assert().success();
    dir.is("old", false);
    dir.sh("bwz -dc x.bwz | cat > piped")
        .assert()
        .success();
    dir.is("piped", false);
}

#[test]
fn what_follows_a_hole_at_the_end_comes_behind_it() {
    let Some(dir) = dir() else { return };
    dir.sh("(printf a; bwz -dc x.bwz x.bwz; printf b) > all")
        .assert()
        .success();
    assert!(dir.read("all") == [b"a", &zeros()[..], &zeros(), b"b"].concat());
    assert!(dir.on_disk("all") < 1 << 20);
}

#[test]
fn what_comes_before_damage_is_whole() {
    let Some(dir) = dir() else { return };
    // The last of five blocks, which is below 1 MiB, is cut.
    let file = dir.read("x.bwz");
    let marker = [0xB5, 0xE1, 0x7A, 0x96, 0x2C, 0xD4, 0x0F, 0x83];
    let last = file
        .windows(8)
        .rposition(|bytes| bytes == marker)
        .unwrap();
    dir.write("cut.bwz", &file[..last + 20]);
    dir.sh("bwz -dc cut.bwz > before 2> /dev/null")
        .assert()
        .code(2);
    assert!(dir.read("before") == zeros()[..4 << 20]);
}
