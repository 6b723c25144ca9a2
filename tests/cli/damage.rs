//! Damaged input: exit code 2, a message that names the place, no files left behind, and all
//! undamaged data saved.

use crate::mutation::parts::{self, Kind};
use crate::mutation::random::Random;
use crate::mutation::repair::{self, Care};
use crate::support::{Dir, has_all, noise, stderr, stdout, text};

const BLOCK: usize = 1 << 20;

/// A file of four blocks, `x` and `x.bwz`.
fn four_blocks() -> (Dir, Vec<u8>, Vec<u8>) {
    let content = noise(3 * BLOCK + 1000);
    let dir = Dir::with(&content);
    let file = dir.compress_x();
    (dir, content, file)
}

#[test]
fn what_is_not_ours_is_code_2() {
    let dir = Dir::new();
    dir.write("text.bwz", b"this is no compressed file, whatever its name");
    dir.write("empty.bwz", b"");
    dir.write("short.bwz", b"\xF7bw");
    for name in ["text", "empty", "short"] {
        for way in ["-d", "-t", "-l", "-dc", "cat", "cat --range 0..0"] {
            let said = stderr(
                dir.bwz(&format!("{way} {name}.bwz"))
                    .assert()
                    .code(2)
                    .stdout(""),
            );
            has_all(&said, &[&format!("bwz: {name}.bwz: ")]);
            assert!(name == "short" || !said.contains("bwz recover"), "{said}");
        }
        assert!(!dir.has(name));
    }
    dir.bwz("-d")
        .write_stdin("plain")
        .assert()
        .code(2)
        .stdout("");
    assert_eq!(dir.names(), ["empty.bwz", "short.bwz", "text.bwz"]);
}

#[test]
fn every_kind_of_damage_is_found() {
    let dir = Dir::with(&text(200_000));
    let whole = dir.compress_x();
    let cut = |size: usize| whole[..size].to_vec();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 0x10;
    let garbage = [&whole[..], b"something else"].concat();
    let cases = [
        ("cut in the header", cut(10)),
        ("cut in a block", cut(whole.len() / 2)),
        ("cut in the footer", cut(whole.len() - 1)),
        ("a flipped bit", flipped),
        ("trailing garbage", garbage),
    ];
    for (case, bytes) in cases {
        dir.write("bad.bwz", &bytes);
        let said = stderr(dir.bwz("-d bad.bwz").assert().code(2));
        has_all(&said, &["bwz: bad.bwz: ", "at byte"]);
        assert_eq!(said.lines().count(), 1, "{case}: {said}");
        dir.bwz("-t bad.bwz").assert().code(2);
        dir.bwz("-t").write_stdin(bytes).assert().code(2);
        assert_eq!(dir.names(), ["bad.bwz", "x", "x.bwz"], "{case}");
    }
}

#[test]
fn damage_is_located_and_help_is_named() {
    let (dir, _, mut file) = four_blocks();
    file[BLOCK + BLOCK / 2] ^= 1;
    dir.write("x.bwz", &file);
    let said = stderr(dir.bwz("-t x.bwz").assert().code(2));
    has_all(&said, &["block 1", "at byte", "bwz recover x.bwz -o OUT"]);
}

#[test]
fn a_failed_decompression_leaves_the_old_file() {
    let (dir, content, mut file) = four_blocks();
    file[2 * BLOCK + BLOCK / 2] ^= 1;
    dir.write("x.bwz", &file);
    dir.bwz("-d -f --rm x.bwz").assert().code(2);
    assert!(dir.read("x") == content);
    assert_eq!(dir.names(), ["x", "x.bwz"]);
}

#[test]
fn a_flipped_byte_costs_its_block_only() {
    let (dir, content, mut file) = four_blocks();
    file[BLOCK + BLOCK / 2] ^= 1;
    dir.write("x.bwz", &file);
    let said = stderr(
        dir.bwz("recover x.bwz -o saved")
            .assert()
            .code(2)
            .stdout(""),
    );
    has_all(&said, &["lost bytes 1048576..2097152", "saved 3 blocks"]);
    assert!(dir.read("saved") == [&content[..BLOCK], &content[2 * BLOCK..]].concat());

    dir.write("saved", b"old");
    dir.bwz("recover x.bwz -o saved").assert().code(1);
    assert_eq!(dir.read("saved"), b"old");
    dir.bwz("recover -f x.bwz -o saved")
        .assert()
        .code(2);
    assert!(dir.read("saved").len() == content.len() - BLOCK);

    let piped = dir.bwz("recover x.bwz -o -").assert().code(2);
    assert!(piped.get_output().stdout == dir.read("saved"));
}

#[test]
fn a_cut_file_gives_what_came_before() {
    let (dir, content, file) = four_blocks();
    dir.write("x.bwz", &file[..2 * BLOCK + BLOCK / 2]);
    let said = stderr(dir.bwz("recover x.bwz -o saved").assert().code(2));
    has_all(&said, &["lost ", "saved 2 blocks"]);
    assert!(dir.read("saved") == content[..2 * BLOCK]);
}

#[test]
fn nothing_lost_is_code_0() {
    let (dir, content, _) = four_blocks();
    dir.bwz("recover x.bwz -o saved")
        .assert()
        .code(0)
        .stderr("");
    assert!(dir.read("saved") == content);
    let said = stderr(
        dir.bwz("recover -fv x.bwz -o saved")
            .assert()
            .code(0),
    );
    has_all(&said, &["saved 4 blocks", "nothing is lost"]);
}

#[test]
fn nothing_to_save_leaves_no_file() {
    let dir = Dir::with(b"just text");
    has_all(
        &stderr(dir.bwz("recover x -o saved").assert().code(2)),
        &["bwz: x: ", "nothing"],
    );
    dir.bwz("recover - -o saved")
        .write_stdin("")
        .assert()
        .code(1);
    assert_eq!(dir.names(), ["x"]);
}

#[test]
fn many_lost_parts_are_listed_as_json() {
    let options = bwz::Options::new().with_block_size(1000).unwrap();
    let mut file = Vec::new();
    bwz::compress(&noise(100_000)[..], &mut file, &options).unwrap();
    (0..100)
        .step_by(2)
        .for_each(|block| file[23 + block * 1041 + 100] ^= 1);
    let dir = Dir::with(b"");
    dir.write("x.bwz", &file);
    let assert = dir
        .bwz("recover --json x.bwz -o saved")
        .assert()
        .code(2);
    let said = stderr(assert);
    let json = stdout(
        dir.bwz("recover --json -f x.bwz -o saved")
            .assert(),
    );
    has_all(
        &said,
        &[
            "lost bytes 0..1000",
            "... and 30 more lost parts, 30000 bytes in all; --json",
        ],
    );
    assert_eq!(said.lines().count(), 22);
    has_all(
        &json,
        &[
            "\"saved_size\": 50000",
            "\"start\": 98000,\n      \"end\": 99000",
        ],
    );
    assert_eq!(json.matches("\"start\"").count(), 50);
    has_all(
        &stderr(
            dir.bwz("recover --json x.bwz -o -")
                .assert()
                .code(1),
        ),
        &["-o", "a file"],
    );
}

#[test]
fn what_a_checksum_contradicts_is_said() {
    let dir = Dir::with(&noise(1000));
    let mut file = dir.compress_x();
    let footer = file.len() - 36;
    file[footer + 16] ^= 1;
    let checksum = crc32fast::hash(&file[footer..footer + 28]).to_le_bytes();
    file[footer + 28..footer + 32].copy_from_slice(&checksum);
    dir.write("x.bwz", &file);
    let said = stderr(dir.bwz("recover x.bwz -o saved").assert().code(2));
    has_all(&said, &["bytes 0..1000 do not match", "saved 1 block"]);
}

/// A part of a later version is not damage: exit code 1 names its block. All other blocks are
/// listed, read and saved, and a search does not answer as if it were complete.
#[test]
fn a_block_of_a_later_version_is_code_1() {
    let (dir, content, file) = four_blocks();
    let mut parts = parts::parse(&file);
    let mut blocks = (0..parts.len()).filter(|&n| parts[n].kind == Kind::BlockHeader);
    let second = blocks.nth(1).unwrap();
    parts[second].set(8, 1, 5);
    repair::sizes(&mut parts);
    repair::sign(&mut parts, Care::All, &mut Random::new(0));
    dir.write("y.bwz", &parts::join(&parts));
    let told = ["y.bwz: ", "block 1 has kind 5", "this bwz does not know"];
    for way in [
        "-d y.bwz",
        "-t y.bwz",
        "cat y.bwz",
        "cat -r 1048570+9 y.bwz",
    ] {
        let said = stderr(dir.bwz(way).assert().code(1));
        has_all(&said, &told);
        assert!(
            !said.contains("damaged") && !said.contains("recover"),
            "{way}: {said}"
        );
    }
    assert!(!dir.has("y"));
    dir.bwz("-l y.bwz").assert().code(0).stderr("");
    dir.bwz("-lv y.bwz").assert().code(0).stderr("");
    dir.bwz("cat -r 2097152+9 y.bwz")
        .assert()
        .code(0)
        .stdout(content[2 * BLOCK..2 * BLOCK + 9].to_vec());
    for search in ["count abc y.bwz", "locate abc y.bwz"] {
        // Code 1 means that nothing was found.
        has_all(&stderr(dir.bwz(search).assert().code(2).stdout("")), &told);
    }
    let said = stderr(dir.bwz("recover y.bwz -o saved").assert().code(1));
    has_all(
        &said,
        &[
            "block 1 has kind 5",
            "lost bytes 1048576..2097152",
            "saved 3 blocks",
        ],
    );
    assert!(dir.read("saved") == [&content[..BLOCK], &content[2 * BLOCK..]].concat());
}
