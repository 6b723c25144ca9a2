//! Stretches of records by region and by BED, as FASTA and FASTQ, and names that are not text.
//! Compared with samtools if it is installed.

use crate::support::{Dir, has_all, is_there, stderr, stdout};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

const GENOME: &str = ">c first\nACGTACCATTGC\nAGGATCCATT\n>a\nACGT\n>e\n>c:1-3\nGGG\n>{b}\nTTTTA\n\
                      >HLA:A*01:01\nACGTTGCA\n";

fn genome() -> Dir {
    let dir = Dir::new();
    dir.write("g", GENOME.as_bytes());
    dir.bwz("--index g").assert().success();
    dir
}

/// The result of a region: standard output, standard error and the exit code.
fn extract(dir: &Dir, options: &[&str]) -> (String, String, i32) {
    let mut command = dir.bwz("extract");
    let done = command.args(options).arg("g.bwz").assert();
    let code = done.get_output().status.code().unwrap();
    let said = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    (stdout(done), said, code)
}

#[test]
fn regions_that_samtools_reads_are_read_as_it_does() {
    let dir = genome();
    let has_samtools = is_there("samtools");
    for (region, bases) in [
        ("a", "ACGT"),
        ("a:", "ACGT"),
        ("a:-3", "ACG"),
        ("a:-0", "ACGT"),
        ("a:0", "ACGT"),
        ("a:2", "CGT"),
        ("a:2-", "CGT"),
        ("a:2-3", "CG"),
        ("a:2-0", "CGT"),
        ("a:2-2", "C"),
        ("a: 2-3", "CG"),
        ("a:+2-3", "CG"),
        ("a:4-100", "T"),
        ("a:-1K", "ACGT"),
        ("a:1-1M", "ACGT"),
        ("a:1-2G", "ACGT"),
        ("a:1e0-2E0", "AC"),
        ("a:0.2e1-3", "CG"),
        ("a:5", ""),
        ("a:5-6", ""),
        ("a:1K-2K", ""),
        ("{a}", "ACGT"),
        ("{a}:", "ACGT"),
        ("{a}:2-3", "CG"),
        ("{a}:-3", "ACG"),
        ("c:1,0-1,5", "TGCAGG"),
        ("c:1e1-1.5e1", "TGCAGG"),
        ("c:2-22", "CGTACCATTGCAGGATCCATT"),
        ("{c}:1-3", "ACG"),
        ("{c:1-3}", "GGG"),
        ("c:1-3:2-3", "GG"),
        ("{c:1-3}:2-3", "GG"),
        ("{{b}}", "TTTTA"),
        ("HLA:A*01:01", "ACGTTGCA"),
        ("HLA:A*01:01:3-4", "GT"),
        ("{HLA:A*01:01}:-2", "AC"),
        ("a:1-99999999999999999999", "ACGT"),
    ] {
        let (shown, said, code) = extract(&dir, &["--region", region]);
        let end = if bases.is_empty() { "" } else { "\n" };
        assert_eq!(
            (shown.as_str(), code),
            (&*format!(">{region}\n{bases}{end}"), 0),
            "{said}"
        );
        if !has_samtools {
            continue;
        }
        let run = dir
            .run("samtools")
            .args(["faidx", "g", region])
            .assert()
            .success();
        let theirs = stderr(run.success());
        let run = dir
            .run("samtools")
            .args(["faidx", "g", region])
            .assert();
        assert_eq!(stdout(run), shown, "{region}");
        assert_eq!(
            theirs.contains("Truncated"),
            said.contains("is cut at"),
            "{region}"
        );
        assert_eq!(
            theirs.contains("Zero length"),
            said.contains("is empty"),
            "{region}"
        );
    }
    // Regions that samtools refuses too, with the same code.
    for (region, wanted) in [
        ("a:3-2", "`a:3-2` ends before it starts"),
        ("{a}:3-2", "ends before it starts"),
        ("a:x", "is not a region"),
        ("a:1-x", "is not a region"),
        ("a:1-2-3", "is not a region"),
        ("a:--3", "is not a region"),
        ("a:-2-3", "is not a region"),
        ("a:2..3", "is not a region"),
        ("a:1 -2", "is not a region"),
        ("a:0x2", "is not a region"),
        ("NOPE", "has no record `NOPE`"),
        ("NOPE:1-2", "has no record `NOPE`"),
        ("{NOPE}:1-2", "has no record `NOPE`"),
        ("{a}x", "has no record `{a}x`"),
        ("{a", "has no record `{a`"),
        ("", "has no record ``"),
        ("c:1-3", "write {c:1-3} or {c}:1-3"),
    ] {
        let (shown, said, code) = extract(&dir, &["--region", region]);
        assert_eq!((shown.as_str(), code), ("", 1), "{region}");
        has_all(&said, &["g.bwz: ", wanted]);
        if has_samtools {
            dir.run("samtools")
                .args(["faidx", "g", region])
                .assert()
                .code(1);
        }
    }
    // Regions that samtools reads differently: it cuts a fraction, and reads 0 to 3 as nothing.
    has_all(
        &extract(&dir, &["--region", "a:1.5-3"]).1,
        &["is not a region"],
    );
    let (shown, said, _) = extract(&dir, &["--region", "a:0-3"]);
    assert_eq!(shown, ">a:0-3\nACG\n");
    has_all(&said, &["positions count from 1"]);
    let (shown, said, code) = extract(&dir, &["--region", "e"]);
    assert_eq!((shown.as_str(), code), (">e\n", 0));
    has_all(&said, &["e is empty: its record has 0 bases"]);
}

#[test]
fn nothing_is_lost_that_came_before_an_unknown_name() {
    let dir = genome();
    let bed = "a\t0\t2\nNOPE\t0\t4\na\t2\t4\n";
    let list = "a:1-2\nNOPE\na:3-4\n";
    let first = ">a:1-2\nAC\n";
    let both = ">a:1-2\nAC\n>a:3-4\nGT\n";
    for (text, said) in [
        (bed, "has no record `NOPE` (r line 2)"),
        (list, "has no record `NOPE` (r line 2)"),
        (
            "# x\n\na:1-2\r\nNOPE:1-9\r\na:3-4\r\n",
            "has no record `NOPE` (r line 4)",
        ),
        (
            "a\t0\t2\na:3-2\na:3-4",
            "r line 2: `a:3-2` ends before it starts",
        ),
        (
            "a\t0\t2\na\t3\t2\na\t2\t4",
            "r line 2: it ends before it starts",
        ),
        (
            "a\t0\t2\na\t3\na\t2\t4",
            "r line 2: it is not NAME, START and END",
        ),
        (
            "a:1-2\nc:1-3\na:3-4",
            "r line 2: `c:1-3` is a record, and also a part of `c`",
        ),
        (
            "track a\na\t0\t2\na:y\n{a}:3-4",
            "r line 3: `a:y` is not a region",
        ),
    ] {
        dir.write("r", text.as_bytes());
        let (shown, all, code) = extract(&dir, &["--regions", "r"]);
        assert_eq!((shown.as_str(), code), (first, 1), "{text}");
        has_all(&all, &[said]);
        let (shown, all, code) = extract(&dir, &["--continue", "--regions", "r"]);
        assert_eq!(
            (shown.replace(['{', '}'], "").as_str(), code),
            (both, 0),
            "{text}"
        );
        has_all(&all, &[said]);
    }
    let named = ["--region", "a:1-2", "--region", "NOPE", "--region", "a:3-4"];
    assert_eq!(extract(&dir, &named).0, first);
    let (shown, said, code) = extract(&dir, &[&["--continue"], &named[..]].concat());
    assert_eq!((shown.as_str(), code), (both, 0));
    has_all(&said, &["has no record `NOPE`; bwz -l --records g.bwz"]);
    has_all(
        &extract(&dir, &["--continue", "--regions", "absent"]).1,
        &["absent: No such file"],
    );
}

#[test]
fn strands_of_bed_are_kept_to() {
    let dir = genome();
    for (fields, shown, ignored, turned) in [
        ("", ">a:1-3\nACG\n", ">a:1-3\nACG\n", ">a:1-3/rc\nCGT\n"),
        ("\tn", ">a:1-3\nACG\n", ">a:1-3\nACG\n", ">a:1-3/rc\nCGT\n"),
        (
            "\tn\t0",
            ">a:1-3\nACG\n",
            ">a:1-3\nACG\n",
            ">a:1-3/rc\nCGT\n",
        ),
        (
            "\tn\t0\t+",
            ">a:1-3\nACG\n",
            ">a:1-3\nACG\n",
            ">a:1-3/rc\nCGT\n",
        ),
        (
            "\tn\t0\t.",
            ">a:1-3\nACG\n",
            ">a:1-3\nACG\n",
            ">a:1-3/rc\nCGT\n",
        ),
        (
            "\tn\t0\t-",
            ">a:1-3/rc\nCGT\n",
            ">a:1-3\nACG\n",
            ">a:1-3\nACG\n",
        ),
        (
            "\tn\t0\t-\r",
            ">a:1-3/rc\nCGT\n",
            ">a:1-3\nACG\n",
            ">a:1-3\nACG\n",
        ),
        (
            "\tn\t0\t-\t1\t2\t0\t1\t3\t0",
            ">a:1-3/rc\nCGT\n",
            ">a:1-3\nACG\n",
            ">a:1-3\nACG\n",
        ),
        (
            "\t-\t-",
            ">a:1-3\nACG\n",
            ">a:1-3\nACG\n",
            ">a:1-3/rc\nCGT\n",
        ),
    ] {
        dir.write("b", format!("a\t0\t3{fields}\n").as_bytes());
        assert_eq!(extract(&dir, &["--regions", "b"]).0, shown, "{fields}");
        assert_eq!(
            extract(&dir, &["--ignore-strand", "--regions", "b"]).0,
            ignored,
            "{fields}"
        );
        assert_eq!(
            extract(&dir, &["-i", "--regions", "b"]).0,
            turned,
            "{fields}"
        );
    }
    dir.bwz("extract --ignore-strand --region a g.bwz")
        .assert()
        .code(1);
}

#[test]
fn lines_are_as_long_as_asked_for() {
    let dir = genome();
    for (length, wanted) in [
        ("60", ">c:1-13\nACGTACCATTGCA\n"),
        ("0", ">c:1-13\nACGTACCATTGCA\n"),
        ("5", ">c:1-13\nACGTA\nCCATT\nGCA\n"),
        ("13", ">c:1-13\nACGTACCATTGCA\n"),
        ("1000000000000", ">c:1-13\nACGTACCATTGCA\n"),
    ] {
        let options = ["--line-length", length, "--region", "c:1-13"];
        assert_eq!(extract(&dir, &options).0, wanted);
    }
    let long = "ACGTTG".repeat(30);
    dir.write("g", format!(">x\n{long}\n").as_bytes());
    dir.bwz("-f --index g").assert().success();
    let (shown, ..) = extract(&dir, &["--region", "x"]);
    let lengths: Vec<_> = shown.lines().map(str::len).collect();
    assert_eq!(lengths, [2, 60, 60, 60]);
}

#[test]
fn reads_come_out_as_fastq() {
    let dir = Dir::new();
    let fastq = "@one x\nACGTACCATTGC\n+\n!\"#$%&'()*+,\n@two\nACGTACCATTGC\n+two\n@1234+6789AB\n\
                 @none\n\n+\n\n@odd\r\nACGTAC\r\n+\r\n@+@12#\r\n@last\nGG\n+\n~~";
    dir.write("g", fastq.as_bytes());
    dir.bwz("--index g").assert().success();
    for (region, options, wanted) in [
        ("one", "", "ACGTACCATTGC !\"#$%&'()*+,"),
        ("one:2-5", "", "CGTA \"#$%"),
        ("one:2-5", "-i", "TACG %$#\""),
        ("one:-1", "", "A !"),
        ("one:12", "", "C ,"),
        ("two", "", "ACGTACCATTGC @1234+6789AB"),
        ("two:4-7", "", "TACC 34+6"),
        ("two:5-6", "-i", "GT +4"),
        ("two:11-12", "", "GC AB"),
        ("odd", "", "ACGTAC @+@12#"),
        ("odd:2-4", "", "CGT +@1"),
        ("last", "", "GG ~~"),
        ("last:2-2", "-i", "C ~"),
        ("one:13-14", "", " "),
        ("none", "", " "),
    ] {
        let mut all = vec!["--fastq", "--region", region];
        all.extend(options.split_whitespace());
        let (shown, said, code) = extract(&dir, &all);
        let (bases, qualities) = wanted.split_once(' ').unwrap();
        let mark = if options.is_empty() { "" } else { "/rc" };
        let wanted = format!("@{region}{mark}\n{bases}\n+\n{qualities}\n");
        assert_eq!((shown, code), (wanted, 0), "{said}");
    }
    let wrapped = ["--fastq", "--line-length", "5", "--region", "one"];
    let wanted = "@one\nACGTA\nCCATT\nGC\n+\n!\"#$%\n&'()*\n+,\n";
    assert_eq!(extract(&dir, &wrapped).0, wanted);
    dir.write("g", b">a\nACGT\n");
    dir.bwz("-f --index g").assert().success();
    let (shown, said, code) = extract(&dir, &["--fastq", "--region", "a"]);
    assert_eq!((shown.as_str(), code), ("", 1));
    has_all(&said, &["record `a` has no qualities", "without --fastq"]);
}

#[test]
fn names_that_are_no_text_are_told_apart() {
    let dir = Dir::new();
    let names: [&[u8]; 9] = [
        b"plain",
        "größe".as_bytes(),
        b"a\\tb",
        b"quo\"te",
        b"esc\x1b[31m",
        b"\xff",
        b"\xfe",
        b"x\xc3",
        "\u{fffd}".as_bytes(),
    ];
    let mut fasta = Vec::new();
    for (n, name) in names.iter().enumerate() {
        let bases = "A".repeat(n + 1);
        fasta.extend([b">", *name, b" x\nCCCG", bases.as_bytes(), b"\n"].concat());
    }
    dir.write("g", &fasta);
    dir.bwz("--index g").assert().success();
    let json = stdout(
        dir.bwz("locate --json CCCG g.bwz")
            .assert()
            .success(),
    );
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    for (place, name) in found[0]["places"]
        .as_array()
        .unwrap()
        .iter()
        .zip(names)
    {
        assert_eq!(place["record"], *String::from_utf8_lossy(name));
        let digits: String = name
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        match str::from_utf8(name) {
            Ok(_) => assert!(place.get("record_hex").is_none(), "{place}"),
            Err(_) => assert_eq!(place["record_hex"], *digits),
        }
        // A pipe gets the name unchanged.
        let mut command = dir.bwz("extract --region");
        let done = command
            .arg(OsStr::from_bytes(name))
            .arg("g.bwz")
            .assert()
            .success();
        let shown = &done.get_output().stdout;
        assert!(
            shown.starts_with(&[b">", name, b"\n"].concat()),
            "{shown:?}"
        );
    }
    // Patterns, contexts and files.
    let bytes = OsStr::from_bytes(b"\xfe\t\\");
    dir.write("t", b"one \xfe\t\\ two \xff");
    dir.bwz("--index=bytes t").assert().success();
    dir.sh("mv t.bwz $'t\\xfd.bwz'")
        .assert()
        .success();
    let mut command = dir.bwz("locate --json -C 9 -e");
    let done = command
        .arg(bytes)
        .arg(OsStr::from_bytes(b"t\xfd.bwz"))
        .assert()
        .success();
    let found: serde_json::Value = serde_json::from_str(&stdout(done)).unwrap();
    assert_eq!(found[0]["pattern"], "\u{fffd}\t\\");
    assert_eq!(found[0]["pattern_hex"], "fe095c");
    assert_eq!(found[0]["file_hex"], "74fd2e62777a");
    assert_eq!(found[0]["context_hex"][0], "6f6e6520fe095c2074776f20ff");
    dir.write("u", b"tab\tand \\ back");
    dir.bwz("--index=bytes u").assert().success();
    let json = stdout(
        dir.bwz("locate --json -C 99 and u.bwz")
            .assert()
            .success(),
    );
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(found[0]["context"][0], "tab\tand \\ back");
    assert!(found[0].get("context_hex").is_none());
}
