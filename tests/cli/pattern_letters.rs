//! Patterns as users write them: RNA, ambiguity codes, values that begin with a dash, files of
//! patterns with a flaw, the empty pattern.

use crate::support::{Dir, has_all, stderr, stdout};

/// Makes `x.bwz`, in which sequences are searched.
fn sequences(fasta: &str) -> Dir {
    let dir = Dir::with(fasta.as_bytes());
    dir.bwz("--index x").assert().success();
    dir
}

/// The last field of each line.
fn counts(dir: &Dir, arguments: &str) -> Vec<String> {
    let out = dir.bwz(arguments).output().unwrap().stdout;
    let lines = String::from_utf8(out).unwrap();
    lines
        .lines()
        .map(|line| line.rsplit('\t').next().unwrap().to_owned())
        .collect()
}

#[test]
fn rna_is_found_by_dna_and_on_both_strands() {
    let dir = sequences(">rna1\nGGGUGAGGUAGUAGGUUGUAUAGUUCCC\n>dna1\nGGGTGAGG\n");
    for (pattern, forward, reverse) in [
        ("AACUAUACAACCUACUACCUCA", "0", "1"),
        ("AACTATACAACCTACTACCTCA", "0", "1"),
        ("TGAGGTAGTAGG", "1", "0"),
        ("ugagg", "2", "0"),
        ("CCTCA", "0", "2"),
        ("UGAGGT", "1", "0"),
        ("GGGU", "2", "0"),
        ("aacuaua", "0", "1"),
    ] {
        let found = counts(&dir, &format!("count --revcomp {pattern} x.bwz"));
        assert_eq!(found, [forward, reverse], "{pattern}");
    }
    assert_eq!(
        counts(&dir, "count --strict-letters -e GGGU -e GGGT x.bwz"),
        ["1", "1"]
    );
    // A pattern that is its own reverse complement is searched once.
    assert_eq!(counts(&dir, "count --revcomp UAUA x.bwz").len(), 1);
}

#[test]
fn codes_stand_for_bases_where_that_is_asked_for() {
    let dir = sequences(">c\nTTGAATCTTGANTC\n>u\nGAUUC\n");
    for (pattern, plain, iupac) in [
        ("GANTC", "1", "2"),
        ("GAWTC", "0", "2"),
        ("GAWUC", "0", "2"),
        ("RAATC", "0", "1"),
        ("NNNNN", "0", "8"),
        ("gawty", "0", "2"),
        ("SAUUS", "0", "1"),
        ("TTGA", "2", "2"),
    ] {
        assert_eq!(
            counts(&dir, &format!("count {pattern} x.bwz")),
            [plain],
            "{pattern}"
        );
        assert_eq!(
            counts(&dir, &format!("count --iupac {pattern} x.bwz")),
            [iupac],
            "{pattern}"
        );
        let said = stderr(
            dir.bwz(&format!("count {pattern} x.bwz"))
                .assert(),
        );
        assert_eq!(
            said.contains("--iupac"),
            !["NNNNN", "TTGA"].contains(&pattern),
            "{said}"
        );
    }
    let said = stderr(
        dir.bwz("count --iupac GAE x.bwz")
            .assert()
            .code(2),
    );
    has_all(&said, &["x.bwz: ", "RYSWKMBDHVN", "`E`"]);
    dir.write("y", b"GAATC");
    dir.bwz("y").assert().success();
    has_all(
        &stderr(
            dir.bwz("count --iupac GAWTC y.bwz")
                .assert()
                .code(2),
        ),
        &["y.bwz: ", "--iupac"],
    );
}

#[test]
fn values_may_begin_with_a_dash() {
    let dir = sequences(">-n\nACGT\n");
    dir.write("-p", b"-x\n");
    dir.write("-b", b"-n\t0\t2\n");
    dir.write("-f.fa", b">q\nACG\n");
    dir.write("d", b"a -x b\n");
    dir.bwz("d").assert().success();
    for (arguments, wanted) in [
        ("count -e -x d.bwz", "d.bwz\t-x\t1\n"),
        ("count --pattern -x d.bwz", "d.bwz\t-x\t1\n"),
        ("count --pattern=-x d.bwz", "d.bwz\t-x\t1\n"),
        ("count -f -p d.bwz", "d.bwz\t-x\t1\n"),
        ("count --fasta -f.fa x.bwz", "x.bwz\tq\t1\n"),
        ("extract --region -n x.bwz", ">-n\nACGT\n"),
        ("extract --region -n:2-3 x.bwz", ">-n:2-3\nCG\n"),
        ("extract --regions -b x.bwz", ">-n:1-2\nAC\n"),
    ] {
        assert_eq!(
            stdout(dir.bwz(arguments).assert().success()),
            wanted,
            "{arguments}"
        );
    }
    dir.bwz("d -o -y").assert().success();
    dir.bwz("-S -z d").assert().success();
    assert!(dir.has("-y") && dir.has("d-z"));
}

#[test]
fn an_error_with_patterns_names_their_file_once() {
    let dir = Dir::with(b"acgt\n");
    dir.bwz("x").assert().success();
    dir.write("y", b"acgt\n");
    dir.bwz("y").assert().success();
    dir.write("hex", b"6163\nzz\n");
    let run = dir
        .bwz("count --hex -f hex x.bwz y.bwz")
        .assert()
        .code(2);
    let said = stderr(run);
    assert_eq!(
        said.matches("bwz: hex: line 2: `zz` is not pairs of hexadecimal")
            .count(),
        1,
        "{said}"
    );
    for arguments in ["count -f absent x.bwz", "locate -f absent x.bwz"] {
        let said = stderr(dir.bwz(arguments).assert().code(2));
        assert!(said.contains("bwz: absent: "), "{said}");
    }
    let said = stderr(
        dir.bwz("count --hex -f hex x.bwz")
            .assert()
            .code(2),
    );
    has_all(
        &said,
        &[
            "bwz: hex: line 2",
            "x.bwz: was searched only for the patterns before",
        ],
    );
}

#[test]
fn the_empty_pattern_and_the_first_places_are_printed_in_order() {
    let dir = Dir::with(&b"ab".repeat(40_000));
    dir.bwz("--index x").assert().success();
    let offsets = |script: &str| -> Vec<u64> {
        let out = dir.sh(script).output().unwrap().stdout;
        let lines = String::from_utf8(out).unwrap();
        lines
            .lines()
            .map(|line| line.rsplit('\t').next().unwrap().parse().unwrap())
            .collect()
    };
    assert_eq!(
        offsets("bwz locate '' x.bwz"),
        (0..=80_000).collect::<Vec<_>>()
    );
    assert_eq!(
        offsets("bwz locate --limit 20000 '' x.bwz"),
        (0..20_000).collect::<Vec<_>>()
    );
    assert!(offsets("bwz locate --limit 0 '' x.bwz").is_empty());
    for memory in ["64M", "1G"] {
        let all: Vec<u64> = (0..80_000).step_by(2).collect();
        assert_eq!(offsets(&format!("bwz locate -M {memory} a x.bwz")), all);
        assert_eq!(
            offsets(&format!("bwz locate -M {memory} --limit 3 a x.bwz")),
            all[..3]
        );
        assert_eq!(
            offsets(&format!("bwz locate -M {memory} --limit 9 ab x.bwz")),
            all[..9]
        );
    }
}
