//! Looking into files without decompressing everything: list, cat, bench, and generated files.

use crate::support::{Dir, has_all, noise, stderr, stdout, text};

const MIB: u64 = 1 << 20;

#[test]
fn a_table_has_a_line_per_file() {
    let dir = Dir::with(&text(3_000_000));
    dir.write("y", b"tiny");
    dir.bwz("-1 x y").assert().success();
    let one = stdout(dir.bwz("-l x.bwz").assert().success().stderr(""));
    has_all(
        &one,
        &["Frames", "Blocks", "Ratio", "CRC32", "2.9 MiB", "x.bwz"],
    );
    assert_eq!(one.lines().count(), 2);
    let two = stdout(dir.bwz("-l x.bwz y.bwz").assert().success());
    has_all(&two, &["x.bwz", "y.bwz", "2 files", "4 B"]);
    let tree = stdout(dir.bwz("-l -r .").assert().success());
    assert_eq!(tree.lines().count(), 5, "{tree}");
}

#[test]
fn verbose_has_a_line_per_block() {
    let dir = Dir::with(&text(3_000_000));
    let file = dir.compress_x();
    dir.write("twice.bwz", &[&file[..], &file].concat());
    let table = stdout(dir.bwz("-lv twice.bwz").assert().success());
    has_all(
        &table,
        &["Frame 0", "Frame 1", "1048576", "3000000", "5097152"],
    );
    assert_eq!(table.lines().count(), 3 + 2 * (3 + 3), "{table}");
}

#[test]
fn json_is_for_programs() {
    let dir = Dir::with(&text(3_000_000));
    let size = dir.compress_x().len();
    dir.write("empty", b"");
    dir.bwz("empty").assert().success();
    let json = stdout(
        dir.bwz("-l --json x.bwz empty.bwz")
            .assert()
            .success(),
    );
    has_all(
        &json,
        &[
            "\"name\": \"x.bwz\"",
            &format!("\"compressed_size\": {size},"),
            "\"uncompressed_size\": 3000000",
            "\"uncompressed_offset\": 2097152",
            "\"block_size\": 1048576",
            "\"crc32\": \"",
            "\"ratio\": null",
        ],
    );
    assert!(json.starts_with('[') && json.ends_with("]\n"));
    assert_eq!(json.matches("\"uncompressed_offset\"").count(), 2 + 3);
    assert_eq!(
        stdout(dir.bwz("-l --json absent.bwz").assert().code(1)),
        "[]\n"
    );
}

#[test]
fn listing_needs_a_file_to_seek_in() {
    let dir = Dir::with(b"text");
    dir.compress_x();
    let said = stderr(
        dir.bwz("-l")
            .write_stdin(dir.read("x.bwz"))
            .assert()
            .code(1),
    );
    has_all(&said, &["standard input", "name a file"]);
    let named = stdout(dir.bwz("-l x.bwz").assert().success());
    let unnamed = stdout(dir.sh("bwz -l < x.bwz").assert().success());
    assert_eq!(unnamed, named.replace("x.bwz", "(stdin)"));
    dir.bwz("-l -").assert().code(1);
    dir.bwz("-l /dev/null").assert().code(1);
    dir.bwz("-l .").assert().code(1);
}

#[test]
fn a_good_file_is_listed_beside_a_bad_one() {
    let dir = Dir::with(&text(1000));
    dir.compress_x();
    let assert = dir.bwz("-l x x.bwz").assert().code(2);
    has_all(&stderr(assert), &["bwz: x: not a bwz file"]);
    has_all(&stdout(dir.bwz("-l x x.bwz").assert()), &["x.bwz"]);
}

#[test]
fn cat_gives_whole_files() {
    let dir = Dir::with(b"one ");
    dir.write("y", b"two");
    dir.bwz("x y").assert().success();
    dir.bwz("cat x.bwz y.bwz")
        .assert()
        .success()
        .stdout("one two");
    dir.bwz("cat -")
        .write_stdin(dir.read("y.bwz"))
        .assert()
        .success()
        .stdout("two");
}

#[test]
fn every_form_of_a_range_works() {
    let content = text(3_000_000);
    let dir = Dir::with(&content);
    dir.compress_x();
    for (range, start, end) in [
        ("0..10", 0, 10),
        ("1048570..1048580", 1_048_570, 1_048_580),
        ("1M+1K", MIB, MIB + 1024),
        ("1MiB..2m", MIB, 2 * MIB),
        ("2999990..", 2_999_990, 3_000_000),
        ("..7", 0, 7),
        ("..", 0, 3_000_000),
        ("5..5", 5, 5),
        ("3000000..", 3_000_000, 3_000_000),
    ] {
        let assert = dir
            .bwz(&format!("cat --range {range} x.bwz"))
            .assert()
            .success();
        let wanted = &content[start as usize..end as usize];
        assert!(assert.get_output().stdout == wanted, "{range}");
    }
}

#[test]
fn a_range_costs_its_blocks() {
    let dir = Dir::with(&text(5_000_000));
    let size = dir.compress_x().len();
    let cost = |range: &str| {
        let assert = dir
            .bwz(&format!("cat -v --range {range} x.bwz"))
            .assert()
            .success();
        stderr(assert)
    };
    has_all(
        &cost("100..200"),
        &["x.bwz: 1 block of 5 decoded", "read for"],
    );
    has_all(&cost("1048570..1048580"), &["2 blocks of 5 decoded"]);
    has_all(&cost("7+0"), &["0 blocks of 5 decoded, 0 bytes read"]);
    let read: usize = cost("100..200")
        .split(", ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!(read > 0 && read < size / 3, "{read} of {size}");
    has_all(
        &stderr(dir.bwz("cat -v x.bwz").assert().success()),
        &["5000000 bytes written"],
    );
}

#[test]
fn a_range_behind_the_end_is_code_1() {
    let dir = Dir::with(b"text");
    dir.compress_x();
    for range in ["0..5", "4+1", "9..", "1T+1"] {
        let said = stderr(
            dir.bwz(&format!("cat --range {range} x.bwz"))
                .assert()
                .code(1)
                .stdout(""),
        );
        has_all(&said, &["bwz: x.bwz: range", "4 bytes"]);
    }
    dir.bwz("cat --range 0..1 -")
        .write_stdin(dir.read("x.bwz"))
        .assert()
        .code(1);
}

#[test]
fn bench_measures_both_ways() {
    let dir = Dir::with(&text(300_000));
    let table = stdout(
        dir.bwz("bench -n 1 -1 -T2 x")
            .assert()
            .success()
            .stderr(""),
    );
    has_all(
        &table,
        &[
            "x: 300000 bytes",
            "MB/s",
            "bytes",
            "ratio",
            "threads 2",
            "median of 1",
        ],
    );
    has_all(&table, &["compress", "decompress"]);
    let best = stdout(
        dir.bwz("bench -n 1 --best --device cpu x")
            .assert()
            .success(),
    );
    has_all(&best, &["blocks of 32.0 MiB", "decompress"]);
    dir.write("empty", b"");
    dir.bwz("bench empty").assert().success();
    assert_eq!(dir.names(), ["empty", "x"]);
}

#[test]
fn bench_compares_sorts_with_libsais() {
    let dir = Dir::with(&text(60_000));
    dir.write("empty", b"");
    let bench = dir
        .bwz("bench --sort default,bsp --device cpu -n 1 x empty")
        .assert();
    let table = stdout(bench.success().stderr(""));
    has_all(
        &table,
        &[
            "x: 60000 bytes as one block",
            "MB/s",
            "libsais",
            "nothing to measure",
        ],
    );
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|words| words.contains(&"equal"))
        .collect();
    assert_eq!(rows.len(), 2, "{table}");
    assert!(
        rows[0][0] == "default" && rows[0].contains(&"threads"),
        "{table}"
    );
    assert!(
        rows[1][0] == "bsp" && rows[1][5..] == ["4", "virtual", "processors"],
        "{table}"
    );
    let three = stdout(
        dir.bwz("bench --sort bsp --device cpu -n 1 -T 3 x")
            .assert()
            .success(),
    );
    has_all(&three, &["3 virtual processors", "equal"]);
}

#[test]
fn bench_says_which_sorts_there_are_and_what_they_need() {
    let dir = Dir::with(&text(60_000));
    for name in ["skew", "skew-pd", "ls"] {
        let asked = dir
            .bwz(&format!("bench --sort {name} --device cpu x"))
            .assert();
        let said = stderr(asked.code(1).stdout(""));
        has_all(&said, &[name, "NVIDIA GPUs only", "auto or cuda"]);
        if !cfg!(feature = "cuda") {
            let said = stderr(
                dir.bwz(&format!("bench --sort {name} x"))
                    .assert()
                    .code(1),
            );
            has_all(&said, &[name, "has no CUDA", "feature cuda"]);
        }
    }
    let said = stderr(dir.bwz("bench --sort merge x").assert().code(1));
    has_all(
        &said,
        &["'merge'", "none of default, skew, skew-pd, ls and bsp"],
    );
    let said = stderr(
        dir.bwz("bench --sort default --fast x")
            .assert()
            .code(1),
    );
    has_all(&said, &["--sort", "--fast"]);
    let said = stderr(
        dir.bwz("bench --sort bsp --device cpu -M 1M x")
            .assert()
            .code(1),
    );
    has_all(
        &said,
        &["60000 bytes by bsp", "12 MiB of memory, 1 MiB allowed"],
    );
    let page = stdout(dir.bwz("man").assert().success());
    has_all(&page, &["\\-\\-sort", "skew\\-pd"]);
}

#[test]
fn help_mentions_every_flag() {
    let dir = Dir::new();
    let help = stdout(dir.bwz("--help").assert().success());
    for flags in [
        "-z, -d, -t, -l, -k, -f, -c, -o, -q, -v, -r, -S, -n, -L, -T, -M, -h, -V",
        "--compress --decompress --test --list --keep --force --stdout --output --quiet --verbose --recursive",
        "--threads --memory --device --rm --no-progress --json --suffix --no-name --license --to-stdout --memlimit --fast --best --help --version --uncompress",
        "-1 -2 -3 -4 -5 -6 -7 -8 -9 BWZ_OPT NO_COLOR bunwz bwzcat tar",
        "cat count locate extract recover bench devices completions man --index --sample-rate --split-at",
    ] {
        has_all(&help, &flags.split_whitespace().collect::<Vec<_>>());
    }
    assert!(!help.contains('\x1b'));
}

#[test]
fn completions_and_the_manual_are_generated() {
    let dir = Dir::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(
            dir.bwz(&format!("completions {shell}"))
                .assert()
                .success(),
        );
        has_all(&script, &["bwz", "no-progress", "recover"]);
    }
    let page = stdout(dir.bwz("man").assert().success());
    has_all(
        &page,
        &[
            ".TH bwz 1",
            ".SH OPTIONS",
            ".SH \"BWZ CAT\"",
            "\\-\\-range",
            "BWZ_OPT",
        ],
    );
}

#[test]
fn a_map_shows_ratios_and_forms() {
    let dir = Dir::new();
    let lines = text(1 << 20);
    dir.write(
        "x",
        &[lines.clone(), noise(1 << 20), lines.clone()].concat(),
    );
    dir.write("y", &text(3000));
    dir.compress_x();
    dir.bwz("--index y").assert().success();
    let map = stdout(dir.bwz("-l --map x.bwz y.bwz").assert().success());
    let rows: Vec<&str> = map.lines().collect();
    assert_eq!(rows[0], "x.bwz: 3 blocks of up to 1.0 MiB");
    assert_eq!(rows[1], "        0 090");
    assert_eq!(rows[2].trim(), "f.f", "{map}");
    assert_eq!(rows[3], "y.bwz: 1 block of up to 2.9 KiB");
    assert_eq!(rows[5].trim(), "B", "{map}");
    has_all(rows[6], &["Above, the ratio"]);

    dir.write("z", &lines.repeat(3));
    dir.bwz("--block 64K --split-at \\n -q z")
        .assert()
        .success();
    let few = stdout(dir.bwz("-l --map z.bwz").assert().success());
    has_all(&few, &["z.bwz: 49 blocks of up to 64.0 KiB\n"]);
    assert!(!few.contains('\x1b'));
    for (arguments, says) in [
        ("-d --map x.bwz", "--map goes with -l"),
        ("-l --map --json x.bwz", "cannot be used with"),
        ("-l --map x", "not a bwz file"),
    ] {
        let assert = dir.bwz(arguments).assert().failure();
        has_all(&stderr(assert), &[says]);
    }
}
