//! The commands count, locate and extract.

use crate::cases;
use crate::support::{Dir, has_all, is_there, stderr, stdout, text};

const SHELLS: &[u8] = b"she sells sea shells by the sea shore\n";

/// Makes `x.bwz` with an index.
fn shells() -> Dir {
    let dir = Dir::with(&SHELLS.repeat(50));
    dir.bwz("--index --sample-rate 16 x")
        .assert()
        .success();
    dir
}

#[test]
fn count_prints_file_pattern_and_count() {
    let dir = shells();
    let run = dir
        .bwz("count sea x.bwz")
        .assert()
        .code(0)
        .stderr("");
    assert_eq!(stdout(run), "x.bwz\tsea\t100\n");
    let run = dir
        .bwz("count -e sells -e shore -e whale x.bwz x.bwz")
        .assert()
        .code(0);
    let lines = "x.bwz\tsells\t50\nx.bwz\tshore\t50\nx.bwz\twhale\t0\n";
    assert_eq!(stdout(run), lines.repeat(2));
}

#[test]
fn codes_are_those_of_grep() {
    let dir = shells();
    dir.write("bad.bwz", b"no such thing");
    dir.bwz("count she x.bwz").assert().code(0);
    dir.bwz("count whale x.bwz")
        .assert()
        .code(1)
        .stdout("x.bwz\twhale\t0\n");
    dir.bwz("locate whale x.bwz")
        .assert()
        .code(1)
        .stdout("");
    dir.bwz("count she absent.bwz").assert().code(2);
    dir.bwz("count she bad.bwz").assert().code(2);
    dir.bwz("count she x.bwz absent.bwz")
        .assert()
        .code(2)
        .stdout("x.bwz\tshe\t100\n");
    dir.bwz("count she").assert().code(2);
    dir.bwz("count").assert().code(2);
    dir.bwz("locate --no-such-flag she x.bwz")
        .assert()
        .code(2);
    dir.bwz("count --hex 0 x.bwz").assert().code(2);
    dir.bwz("count -f absent x.bwz").assert().code(2);
    dir.bwz("count --help").assert().code(0);
}

#[test]
fn locate_prints_offsets_and_context() {
    let dir = shells();
    let run = dir.bwz("locate sells x.bwz").assert().success();
    let wanted: String = (0..50)
        .map(|n| format!("x.bwz\tsells\t{}\n", 4 + n * 38))
        .collect();
    assert_eq!(stdout(run), wanted);
    let run = dir
        .bwz("locate --limit 2 sells x.bwz")
        .assert()
        .success();
    assert_eq!(stdout(run).lines().count(), 2);
    let run = dir
        .bwz("locate -C 5 shore x.bwz")
        .assert()
        .success();
    let first = stdout(run).lines().next().unwrap().to_owned();
    assert_eq!(first, "x.bwz\tshore\t32\t sea shore\\nshe ");
    let run = dir
        .bwz("locate -C 1G by x.bwz")
        .assert()
        .success();
    assert_eq!(stdout(run).lines().count(), 50);
}

#[test]
fn json_is_for_programs() {
    let dir = shells();
    let json = stdout(
        dir.bwz("count --json -e sea -e whale x.bwz")
            .assert()
            .success(),
    );
    has_all(
        &json,
        &[
            "\"file\": \"x.bwz\"",
            "\"pattern\": \"sea\"",
            "\"count\": 100",
            "\"count\": 0",
        ],
    );
    assert!(!json.contains("offsets"));
    let json = stdout(
        dir.bwz("locate --json --limit 1 -C 2 shore x.bwz")
            .assert()
            .success(),
    );
    has_all(
        &json,
        &["\"offsets\": [", "\"count\": 50", "\"context\": ["],
    );
}

#[test]
fn patterns_come_from_lines_digits_and_sequences() {
    let dir = shells();
    dir.write("lines", b"sea\nshells\n");
    let run = dir.bwz("count -f lines x.bwz").assert().success();
    assert_eq!(stdout(run), "x.bwz\tsea\t100\nx.bwz\tshells\t50\n");
    let run = dir
        .run("bash")
        .args(["-c", "printf 'by\\n' | bwz count -f - x.bwz"])
        .assert();
    assert_eq!(stdout(run.success()), "x.bwz\tby\t50\n");
    let run = dir
        .bwz("count --hex 0a736865 x.bwz")
        .assert()
        .success();
    assert_eq!(stdout(run), "x.bwz\t0a736865\t49\n");

    dir.write("g", b">chr\nAACGTTTACGGATCGAT\n");
    dir.bwz("--index g").assert().success();
    dir.write("reads.fa", b">one first\nAACG\n>two\nTTTA\nCGG\n");
    dir.write("reads.fq", b"@three\nGATC\n+\nIIII\n@four\nCGTT\n+\nIIII\n");
    let run = dir
        .bwz("count --fasta reads.fa --fasta reads.fq g.bwz")
        .assert()
        .success();
    let lines = "g.bwz\tone\t1\ng.bwz\ttwo\t1\ng.bwz\tthree\t1\ng.bwz\tfour\t1\n";
    assert_eq!(stdout(run), lines);
    let run = dir
        .bwz("count --revcomp -e AACG -e GATC g.bwz")
        .assert()
        .success();
    assert_eq!(
        stdout(run),
        "g.bwz\tAACG\t+\t1\ng.bwz\tAACG\t-\t1\ng.bwz\tGATC\t+\t1\n"
    );
    if is_there("gzip") {
        dir.sh("gzip reads.fa && bwz count --fasta reads.fa.gz g.bwz")
            .assert()
            .success();
    }
}

/// Patterns from a pipe can be read only once, so they are kept for several files.
#[test]
fn patterns_are_searched_in_every_file() {
    let dir = shells();
    dir.write("lines", b"sea\nwhale\n");
    let wanted = "x.bwz\tsea\t100\nx.bwz\twhale\t0\n".repeat(2);
    for patterns in ["-f lines", "-f - < lines", "-f <(cat lines)"] {
        let line = format!("bwz count {patterns} x.bwz x.bwz");
        let run = dir
            .run("bash")
            .args(["-c", &line])
            .assert()
            .success();
        assert_eq!(stdout(run), wanted, "{patterns}");
    }
    dir.write("digits", b"736561\nxyz\n");
    let said = stderr(
        dir.bwz("count --hex -f digits x.bwz")
            .assert()
            .code(2),
    );
    has_all(&said, &["`xyz` is not pairs"]);
    let run = dir
        .bwz("locate --json -C 1 whale x.bwz")
        .assert()
        .code(1);
    has_all(&stdout(run), &["\"offsets\": []", "\"context\": []"]);
    dir.write("none", b"");
    dir.bwz("count --json -f none x.bwz")
        .assert()
        .code(1)
        .stdout("[]\n");
}

#[test]
fn a_file_without_an_index_is_searched_and_said_to_be_without() {
    let dir = Dir::with(&SHELLS.repeat(50));
    dir.bwz("x").assert().success();
    let run = dir
        .bwz("count -e sea -e sells x.bwz")
        .assert()
        .success();
    let said = stderr(run);
    assert_eq!(said.matches("no index").count(), 1, "{said}");
    dir.bwz("count -q sea x.bwz")
        .assert()
        .success()
        .stderr("")
        .stdout("");
}

#[test]
fn the_list_tells_of_the_index() {
    let dir = shells();
    dir.write("y", &SHELLS.repeat(60));
    dir.write("z", &SHELLS.repeat(70));
    dir.bwz("--index --sample-rate 0 y")
        .assert()
        .success();
    dir.bwz("z").assert().success();
    let table = stdout(dir.bwz("-l x.bwz y.bwz z.bwz").assert().success());
    let words: Vec<_> = table
        .lines()
        .map(|line| line.split_whitespace().nth_back(1))
        .collect();
    assert_eq!(
        words[..4],
        [Some("Index"), Some("16"), Some("count"), Some("no")],
        "{table}"
    );
    has_all(
        &stdout(dir.bwz("-lv x.bwz").assert().success()),
        &["index of bytes with every 16th position"],
    );
    let json = stdout(
        dir.bwz("-l --json x.bwz y.bwz z.bwz")
            .assert()
            .success(),
    );
    has_all(
        &json,
        &[
            "\"sample_rate\": 16",
            "\"sample_rate\": null",
            "\"index\": null",
        ],
    );
    dir.bwz("--index --sample-rate 9 -f x")
        .assert()
        .code(1);
    dir.bwz("--sample-rate 8 -f x").assert().code(1);
}

#[test]
fn extract_writes_ranges() {
    let dir = shells();
    dir.bwz("extract --range 4..9 x.bwz")
        .assert()
        .success()
        .stdout("sells");
    dir.bwz("extract -r 10+3 -r 14..20 x.bwz")
        .assert()
        .success()
        .stdout("seashells");
    dir.bwz("extract -r .. x.bwz")
        .assert()
        .success()
        .stdout(SHELLS.repeat(50));
    dir.bwz("extract -r 0..99999 x.bwz")
        .assert()
        .code(1);
    dir.bwz("extract x.bwz").assert().code(1);
    dir.bwz("extract -r 0..1 -").assert().code(1);
}

#[test]
fn verbose_tells_what_was_read() {
    let dir = shells();
    let said = stderr(dir.bwz("count -v sea x.bwz").assert().success());
    has_all(&said, &["x.bwz: ", " bytes read, ", " decoded, ", " s"]);
}

#[test]
fn a_damaged_index_is_code_2() {
    let dir = shells();
    let mut file = dir.read("x.bwz");
    let middle = file.len() / 3;
    file[middle] ^= 1;
    dir.write("x.bwz", &file);
    dir.bwz("count sea x.bwz")
        .assert()
        .code(2)
        .stdout("");
}

/// The raw checksums of the block and of the stream belong to other bytes. The parts that a search
/// by the index reads are sound.
#[test]
fn an_index_is_verified_if_asked_for() {
    let dir = Dir::with(&text(3_000_000));
    dir.bwz("--index --sample-rate 8 -5 x")
        .assert()
        .success();
    let mut file = dir.read("x.bwz");
    let footer = file.len() - 36;
    for (at, checked) in [(23 + 22, 23..60), (footer + 16, footer..footer + 28)] {
        file[at..at + 4].copy_from_slice(&[7; 4]);
        let checksum = crc32fast::hash(&file[checked.clone()]).to_le_bytes();
        file[checked.end..checked.end + 4].copy_from_slice(&checksum);
    }
    dir.write("bad.bwz", &file);
    for way in ["count 79 x", "locate 998877 x", "extract -r 9..19 x"] {
        let both = way.replace(" x", " --verify x.bwz");
        let code = if way.starts_with("locate") { 1 } else { 0 };
        dir.bwz(&both).assert().code(code);
        dir.bwz(&way.replace(" x", " bad.bwz"))
            .assert()
            .code(code);
        let said = stderr(
            dir.bwz(&both.replace("x.bwz", "bad.bwz"))
                .assert()
                .code(2)
                .stdout(""),
        );
        has_all(&said, &["bad.bwz: the checksum", "block 0"]);
    }
}

#[test]
fn grep_finds_the_same() {
    if !is_there("grep") {
        return;
    }
    let dir = Dir::with(&text(3_000_000));
    dir.bwz("--index -1 x").assert().success();
    for pattern in ["7919", "1 2", "998", "absent", "00 1"] {
        let ours = dir
            .run("bwz")
            .args(["locate", pattern, "x.bwz"])
            .output()
            .unwrap();
        let theirs = dir
            .run("grep")
            .args(["-obUaF", pattern, "x"])
            .output()
            .unwrap();
        let offsets = |text: &[u8], field: usize, by: char| -> Vec<String> {
            let lines = String::from_utf8(text.to_vec()).unwrap();
            lines
                .lines()
                .map(|l| l.split(by).nth(field).unwrap().to_owned())
                .collect()
        };
        let ours_at = offsets(&ours.stdout, 2, '\t');
        assert_eq!(ours_at, offsets(&theirs.stdout, 0, ':'), "{pattern}");
        assert_eq!(ours.status.code(), theirs.status.code(), "{pattern}");
    }
}

/// Each pattern fits in the memory, but not all together. They are searched in smaller batches, and
/// the output is the same.
#[test]
fn patterns_that_are_too_many_together_are_searched_in_turn() {
    let dir = Dir::with(&cases::dna(600_000));
    dir.bwz("--block 512K --index=bytes -f x")
        .assert()
        .success();
    dir.write("patterns", b"A\nAC\nC\nG\nT\nGATTACA\nCA\n");
    dir.write("empty", b"\n");
    let both = "-f patterns -f empty -f patterns";
    for how in [both, "--revcomp -f patterns", "--json -f patterns"] {
        let arguments = format!("locate {how} x.bwz");
        let run = |memory: &str| {
            dir.bwz(&format!("{arguments} {memory}"))
                .assert()
                .success()
        };
        let all = run("");
        let in_turn = run("-M 12M");
        assert!(
            all.get_output().stdout == in_turn.get_output().stdout,
            "{how}"
        );
    }
    // A single pattern does not fit.
    let run = dir
        .bwz("locate -e GATTACA -e A x.bwz -M 2M")
        .assert()
        .code(2);
    has_all(&stderr(run), &["locating", "needs", "MiB allowed"]);
}

/// Lines of a few words, some of them in both cases.
fn mixed_lines(count: usize) -> Vec<u8> {
    const WORDS: [&str; 8] = ["error", "Error", "ERROR", "the line", "x", "über", "", "ee"];
    let numbers = cases::random(count * 5, 64);
    let words = numbers.chunks(5).map(|line| {
        let words = line
            .iter()
            .map(|&n| WORDS.get(usize::from(n)).copied().unwrap_or("e"));
        words.collect::<Vec<_>>().join(" ") + "\n"
    });
    words.collect::<String>().into_bytes()
}

#[test]
fn lines_are_counted_as_by_grep() {
    let dir = Dir::with(&mixed_lines(90_000));
    dir.bwz("-1 -k x").assert().success();
    dir.bwz("-1 --index=bytes -o i.bwz x")
        .assert()
        .success();
    let counted = |arguments: &str| {
        let lines = stdout(
            dir.bwz(&format!("count --lines {arguments}"))
                .assert(),
        );
        let counts = lines
            .lines()
            .map(|line| line.rsplit('\t').next().unwrap().to_owned());
        counts.collect::<Vec<_>>()
    };
    for pattern in [
        "error", "Error e", "the line", "x x x", "e", "nowhere", "über",
    ] {
        for flag in ["", "-i"] {
            let grep = dir
                .sh(&format!("LC_ALL=C grep -c -F {flag} -e '{pattern}' x"))
                .output()
                .unwrap();
            let wanted = String::from_utf8(grep.stdout).unwrap();
            let by = format!("{flag} -f patterns x.bwz i.bwz");
            dir.write("patterns", pattern.as_bytes());
            assert_eq!(
                counted(&by),
                [wanted.trim(), wanted.trim()],
                "{pattern} {flag}"
            );
        }
    }
    assert_eq!(counted("--hex 0a x.bwz"), ["0"]);
    // Several patterns, for which the file without an index is decoded once.
    let patterns = "--hex -e 6572726f72 -e 0a -e 20 -e ff -e 787878 -e 7820";
    let together = counted(&format!("{patterns} x.bwz"));
    assert_eq!(together, counted(&format!("{patterns} i.bwz")));
    assert_eq!(together, counted(&format!("{patterns} --verify i.bwz")));
    for (pattern, count) in patterns.split(" -e ").skip(1).zip(&together) {
        assert_eq!(counted(&format!("--hex {pattern} x.bwz")), [&count[..]]);
    }
    let run = dir
        .bwz("count --lines --json -e error -e nowhere i.bwz")
        .assert()
        .code(0);
    has_all(&stdout(run), &["\"pattern\": \"nowhere\"", "\"count\": 0"]);
    dir.bwz("count --lines nowhere x.bwz")
        .assert()
        .code(1);
    let refused = dir
        .bwz("count --lines --revcomp error x.bwz")
        .assert()
        .code(2);
    has_all(&stderr(refused), &["--lines", "--revcomp"]);
}

#[test]
fn letters_of_either_case_are_found() {
    let dir = Dir::with(b"error Error ERROR eRR\n");
    dir.bwz("-k x").assert().success();
    let run = dir.bwz("locate -i eRRor x.bwz").assert().code(0);
    assert_eq!(
        stdout(run),
        "x.bwz\teRRor\t0\nx.bwz\teRRor\t6\nx.bwz\teRRor\t12\n"
    );
    dir.bwz("count -i err x.bwz")
        .assert()
        .code(0)
        .stdout("x.bwz\terr\t4\n");
    for other in ["--case", "--hex"] {
        let run = dir
            .bwz(&format!("count -i {other} 65 x.bwz"))
            .assert()
            .code(2);
        has_all(&stderr(run), &["--ignore-case", other]);
    }
}

#[test]
fn the_first_and_the_last_occurrence_are_located() {
    let mut text = mixed_lines(120_000);
    text.extend_from_slice(b"zz");
    let dir = Dir::with(&text);
    dir.bwz("-1 -k x").assert().success();
    dir.bwz("-1 --index=bytes -o i.bwz x")
        .assert()
        .success();
    for pattern in ["error", "zz", "x x", "\n", "nowhere"] {
        let places: Vec<usize> = memchr::memmem::find_iter(&text, pattern).collect();
        dir.write("p", hex(pattern).as_bytes());
        for file in ["x.bwz", "i.bwz"] {
            for (flag, place) in [("--first", places.first()), ("--last", places.last())] {
                let run = dir
                    .bwz(&format!("locate {flag} --hex -f p {file}"))
                    .assert();
                let wanted = place.map(|place| format!("{file}\t{}\t{place}\n", hex(pattern)));
                assert_eq!(
                    stdout(run),
                    wanted.unwrap_or_default(),
                    "{pattern:?} {flag}"
                );
            }
        }
    }
    // Only the last block that has the pattern is needed for its place.
    let run = dir
        .bwz("locate --last --json zz i.bwz")
        .assert()
        .code(0);
    let end = text.len() - 2;
    has_all(&stdout(run), &["\"count\": 1", &end.to_string()]);
    dir.bwz("locate --last --limit 2 zz x.bwz")
        .assert()
        .code(2);
}

/// The bytes of a pattern as digits, as `--hex` takes and prints them.
fn hex(pattern: &str) -> String {
    pattern
        .bytes()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[test]
fn globs_choose_files_of_directories() {
    let dir = Dir::new();
    for name in ["a.log", "b.log", "old/a.log"] {
        dir.write(name, b"error\n");
        dir.bwz(&format!("-k {name}")).assert().success();
    }
    let files = |globs: &str| {
        let lines = stdout(
            dir.bwz(&format!("count -r {globs} error ."))
                .assert()
                .code(0),
        );
        let names = lines
            .lines()
            .map(|line| line.split('\t').next().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(files(""), ["./a.log.bwz", "./b.log.bwz", "./old/a.log.bwz"]);
    assert_eq!(files("-g a.*"), ["./a.log.bwz", "./old/a.log.bwz"]);
    assert_eq!(files("-g !old -g !b*"), ["./a.log.bwz"]);
    // The directory that is named is searched, whatever its name is.
    let named = stdout(
        dir.bwz("count -r -g !old error old")
            .assert()
            .code(0),
    );
    assert_eq!(named, "old/a.log.bwz\terror\t1\n");
    dir.bwz("count -g a.* error a.log.bwz")
        .assert()
        .code(2);
    let none = dir
        .bwz("count -r -g *.txt error .")
        .assert()
        .code(2);
    has_all(&stderr(none), &["no .bwz file", "globs"]);
}

/// Files that are too small for an index are searched without one and without complaint.
#[test]
fn small_files_with_index_are_searched_in_silence() {
    let dir = Dir::new();
    for size in [0, 1, 10, 100, 300, 1000, 5000] {
        dir.write("x", &text(size));
        dir.bwz("-f -k --index x").assert().success();
        for command in ["count 1", "locate --last 1", "grep -c 1"] {
            let run = dir
                .bwz(&format!("{command} x.bwz"))
                .assert()
                .stderr("");
            let found = memchr::memchr(b'1', &text(size)).is_some();
            run.code(i32::from(!found));
        }
    }
}
