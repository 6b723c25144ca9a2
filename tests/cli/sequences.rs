//! Genomes and reads as commands: positions in records, BED, SAM, regions and `.fai`. Compared with
//! samtools if it is installed.

use crate::support::{Dir, has_all, is_there, stderr, stdout};

const GENOME: &str =
    ">chrI the first\nACGTTGCA\nACCTgaat\nTC\n>chrII\nGGGGNNNN\nACGTTGCA\n>empty\n";

/// Makes `g.bwz`, indexed by sequence, and `bytes.bwz`, indexed by bytes.
fn genome() -> Dir {
    let dir = Dir::new();
    dir.write("g", GENOME.as_bytes());
    dir.write("bytes", GENOME.as_bytes());
    dir.bwz("--index g").assert().success();
    dir.bwz("--index=bytes bytes").assert().success();
    dir
}

#[test]
fn matches_go_over_lines_and_case_and_have_places() {
    let dir = genome();
    let run = dir
        .bwz("count -e GCAACC -e ctgaATTC -e NNNN g.bwz")
        .assert()
        .success();
    assert_eq!(
        stdout(run),
        "g.bwz\tGCAACC\t1\ng.bwz\tctgaATTC\t1\ng.bwz\tNNNN\t1\n"
    );
    dir.bwz("count --case ctgaATTC g.bwz")
        .assert()
        .code(1);
    dir.bwz("count --case CTgaat g.bwz")
        .assert()
        .success();
    let run = dir
        .bwz("locate -e GCAACC -e TTGCA g.bwz")
        .assert()
        .success();
    let lines =
        "g.bwz\tGCAACC\t21\tchrI:6-11\ng.bwz\tTTGCA\t19\tchrI:4-8\ng.bwz\tTTGCA\t56\tchrII:12-16\n";
    assert_eq!(stdout(run), lines);
    let run = dir
        .bwz("locate --revcomp --bed -e GCAACC -e TGCAACGT -e ACGT g.bwz")
        .assert();
    let lines = "chrI\t5\t11\tGCAACC\t0\t+\nchrI\t0\t8\tTGCAACGT\t0\t-\nchrII\t8\t16\tTGCAACGT\t0\t-\n\
                 chrI\t0\t4\tACGT\t0\t+\nchrII\t8\t12\tACGT\t0\t+\n";
    assert_eq!(stdout(run.success()), lines);
    let json = stdout(
        dir.bwz("locate --json GCAACC g.bwz")
            .assert()
            .success(),
    );
    has_all(
        &json,
        &["\"record\": \"chrI\"", "\"start\": 6", "\"end\": 11"],
    );
    let run = dir
        .bwz("locate --max-mismatches 1 GCATCC g.bwz")
        .assert()
        .success();
    assert_eq!(stdout(run), "g.bwz\tGCATCC\t21\tchrI:6-11\n");
}

#[test]
fn what_cannot_be_found_is_said() {
    let dir = genome();
    let said = stderr(
        dir.bwz("count -e chrI1 -e >x g.bwz")
            .assert()
            .code(1),
    );
    has_all(
        &said,
        &["`chrI1`", "not residues", "search headers", "--index=bytes"],
    );
    assert_eq!(said.lines().count(), 1, "{said}");
    dir.bwz("count -q chrI1 g.bwz")
        .assert()
        .code(1)
        .stderr("");
    dir.write("blank", b"AC GT\n");
    let said = stderr(dir.bwz("count -f blank g.bwz").assert().code(2));
    has_all(&said, &["`AC GT`", "blanks and line ends", "--index=bytes"]);
    dir.bwz("count >chrI bytes.bwz")
        .assert()
        .success();
    dir.write("r.fa", b">r\nGCAACC\n");
    let said = stderr(
        dir.bwz("count --fasta r.fa bytes.bwz")
            .assert()
            .code(1),
    );
    has_all(&said, &["0 of 1 sequences", "bwz --index"]);
    let said = stderr(
        dir.bwz("count --fasta r.fa g.bwz")
            .assert()
            .success(),
    );
    assert!(!said.contains("sequences were found"), "{said}");
    for arguments in ["locate --bed A bytes.bwz", "locate --sam A bytes.bwz"] {
        has_all(
            &stderr(dir.bwz(arguments).assert().code(2)),
            &["no index of sequences"],
        );
    }
    dir.bwz("locate --sam A g.bwz g.bwz")
        .assert()
        .code(2);
    for arguments in ["extract --region chrI bytes.bwz", "-l --records bytes.bwz"] {
        has_all(
            &stderr(dir.bwz(arguments).assert().code(1)),
            &["no index of sequences"],
        );
    }
    let said = stderr(
        dir.bwz("extract --region chrX:1-5 g.bwz")
            .assert()
            .code(1),
    );
    has_all(&said, &["no record `chrX", "bwz -l --records g.bwz"]);
    has_all(
        &stderr(
            dir.bwz("extract --region chrI:5-1 g.bwz")
                .assert()
                .code(1),
        ),
        &["ends before"],
    );
}

/// Files whose blocks are stored because they are small can still be searched by sequence.
#[test]
fn small_files_answer_by_sequence() {
    let dir = Dir::new();
    let files = [
        (">a\nACGT\n", "a\t4\t3\t4\t5\n"),
        (">a\nAC\nGT", "a\t4\t3\t2\t3\n"),
        (">a\r\nAC \r\nGT\r\n", "a\t4\t4\t2\t5\n"),
        (";c\n>  a x\nacgu\n", "a\t4\t10\t4\t5\n"),
        ("@a\nACGT\n+\nIIII\n", "a\t4\t3\t4\t5\t10\n"),
        ("@a\nACGT\n+a\nII+I", "a\t4\t3\t4\t5\t11\n"),
        ("@a\nAC\nGT\n+\n@I\nII\n", "a\t4\t3\t2\t3\t11\n"),
        ("\n>a\nACGT\n\n", "a\t4\t4\t4\t5\n"),
    ];
    for (raw, records) in files {
        dir.write("n", raw.as_bytes());
        dir.bwz("-fk --index n").assert().success();
        let listed = dir.bwz("-l --records n.bwz").assert().success();
        assert_eq!(stdout(listed), records, "{raw:?}");
        let run = dir
            .bwz("extract --region a:2-3 n.bwz")
            .assert()
            .success();
        has_all(&stdout(run).to_uppercase(), &[">A:2-3\nCG\n"]);
        for (command, what) in [("count", "\t1\n"), ("locate", "\ta:2-3\n")] {
            let run = dir
                .bwz(&format!("{command} CG n.bwz"))
                .assert()
                .success()
                .stderr("");
            assert!(stdout(run).ends_with(what), "{raw:?}");
        }
        let table = stdout(dir.bwz("-l n.bwz").assert().success());
        has_all(&table, &["  stored  n.bwz"]);
    }
}

#[test]
fn sam_has_a_line_for_each_hit_and_for_reads_without() {
    let dir = genome();
    dir.write(
        "r.fq",
        b"@one x\nGCAACC\n+\n012345\n@two\nTGCAACGT\n+\n01234567\n@no\nAAAA\n+\nIIII\n",
    );
    let sam = stdout(
        dir.bwz("locate --sam --fasta r.fq g.bwz")
            .assert()
            .success(),
    );
    let (header, lines): (Vec<_>, Vec<_>) = sam
        .lines()
        .partition(|line| line.starts_with('@'));
    assert_eq!(
        header[1..3],
        ["@SQ\tSN:chrI\tLN:18", "@SQ\tSN:chrII\tLN:16"]
    );
    let wanted = [
        "one\t0\tchrI\t6\t60\t6M\t*\t0\t0\tGCAACC\t012345\tNM:i:0\tMD:Z:6",
        "two\t16\tchrI\t1\t3\t8M\t*\t0\t0\tACGTTGCA\t76543210\tNM:i:0\tMD:Z:8",
        "two\t272\tchrII\t9\t3\t8M\t*\t0\t0\t*\t*\tNM:i:0\tMD:Z:8",
        "no\t4\t*\t0\t0\t*\t*\t0\t0\tAAAA\tIIII",
    ];
    assert_eq!(lines, wanted);
    if is_there("samtools") {
        dir.write("x.sam", sam.as_bytes());
        dir.sh("samtools quickcheck x.sam && samtools view -b x.sam > x.bam")
            .assert()
            .success();
        let count = |flags: &str| {
            stdout(
                dir.sh(&format!("samtools view -c {flags} x.bam"))
                    .assert(),
            )
        };
        assert_eq!(
            [count(""), count("-F 4"), count("-F 260")],
            ["4\n", "3\n", "2\n"]
        );
    }
}

#[test]
fn sam_tells_how_reads_differ() {
    let dir = genome();
    dir.write(
        "r.fa",
        b">exact\nTGCAACCTGA\n>one\nACGTTGAA\n>reverse\nTTCAGGTTGC\n>n\nGNNNNACGT\n",
    );
    let run = dir
        .bwz("locate --sam --max-mismatches 1 --fasta r.fa g.bwz")
        .assert()
        .success();
    let sam = stdout(run);
    let tags: Vec<String> = sam
        .lines()
        .filter(|line| !line.starts_with('@'))
        .map(|line| {
            let fields: Vec<_> = line.split('\t').collect();
            [fields[0], fields[3], &fields[11..].join(" ")].join(" ")
        })
        .collect();
    let wanted = [
        "exact 5 NM:i:0 MD:Z:10",
        "one 1 NM:i:1 MD:Z:6C1",
        "one 9 NM:i:1 MD:Z:6C1",
        "reverse 6 NM:i:0 MD:Z:10",
        "n 4 NM:i:4 MD:Z:1N0N0N0N4",
    ];
    assert_eq!(tags, wanted);
    if is_there("samtools") {
        dir.write("x.sam", sam.as_bytes());
        let said = "samtools calmd x.sam g 2>&1 >x.md | grep -c different; grep -v ^@ x.md";
        let run = stdout(dir.sh(said).assert());
        assert!(run.starts_with("0\n"), "{run}");
    }
}

/// The context of a match begins behind its last base, with any bytes between its bases.
#[test]
fn context_is_on_either_side_of_all_of_a_match() {
    let dir = genome();
    for (arguments, line) in [
        (
            "-C 2 GCAACC g.bwz",
            "g.bwz\tGCAACC\t21\tchrI:6-11\tTTGCA\\nACCTg\n",
        ),
        (
            "-C 0 GCAACC g.bwz",
            "g.bwz\tGCAACC\t21\tchrI:6-11\tGCA\\nACC\n",
        ),
        (
            "-C 1 CCTGAATTC g.bwz",
            "g.bwz\tCCTGAATTC\t26\tchrI:10-18\tACCTgaat\\nTC\\n\n",
        ),
        (
            "-C 3 TTGCAACC g.bwz",
            "g.bwz\tTTGCAACC\t19\tchrI:4-11\tACGTTGCA\\nACCTga\n",
        ),
        ("-C 2 GCAACC bytes.bwz", ""),
        ("-C 2 ACCT bytes.bwz", "bytes.bwz\tACCT\t25\tA\\nACCTga\n"),
    ] {
        assert_eq!(
            stdout(dir.bwz(&format!("locate {arguments}")).assert()),
            line,
            "{arguments}"
        );
    }
    let json = stdout(
        dir.bwz("locate --json -C 2 GCAACC g.bwz")
            .assert()
            .success(),
    );
    has_all(&json, &["TTGCA\\nACCTg"]);
}

/// Records with lines of different lengths are listed too, although `.fai` cannot describe them.
#[test]
fn irregular_records_are_listed() {
    let dir = Dir::new();
    dir.write("odd", b">x\nACGT\nAC\nACGT\n>y\nACGT\nAC\n>z\nA\nACG\n>e\n");
    dir.bwz("--index odd").assert().success();
    let listed = dir.bwz("-l --records odd.bwz").assert().success();
    has_all(
        &stderr(listed),
        &[
            "odd.bwz: ",
            "2 of 4 records",
            "first of them `x`",
            "different lengths",
        ],
    );
    let listed = dir
        .bwz("-l --records -q odd.bwz")
        .assert()
        .success()
        .stderr("");
    let rows = "x\t10\t3\t-\t-\ny\t6\t19\t4\t5\nz\t4\t30\t-\t-\ne\t0\t39\t0\t0\n";
    assert_eq!(stdout(listed), rows);
    dir.write("q", b"@r\nACGT\nA\nACG\n+\nIIII\nI\nIII\n@s\nAC\n+\nII\n");
    dir.bwz("--index q").assert().success();
    let listed = stdout(dir.bwz("-l --records q.bwz").assert().success());
    assert_eq!(listed, "r\t8\t3\t-\t-\t16\ns\t2\t30\t2\t3\t35\n");
}

#[test]
fn regions_are_written_as_fasta() {
    let dir = genome();
    let run = dir
        .bwz("extract --region chrI:8-13 --region chrII:9- g.bwz")
        .assert()
        .success();
    assert_eq!(stdout(run), ">chrI:8-13\nAACCTg\n>chrII:9-\nACGTTGCA\n");
    let run = dir
        .bwz("extract -i --region chrI:11-14 g.bwz")
        .assert()
        .success();
    assert_eq!(stdout(run), ">chrI:11-14/rc\ntcAG\n");
    dir.write("x.bed", b"chrI\t7\t13\nchrI\t10\t14\tx\t0\t-\n");
    let run = dir
        .bwz("extract --regions x.bed g.bwz")
        .assert()
        .success();
    assert_eq!(stdout(run), ">chrI:8-13\nAACCTg\n>chrI:11-14/rc\ntcAG\n");
    let run = dir
        .bwz("extract --region empty g.bwz")
        .assert()
        .success();
    assert_eq!(stdout(run), ">empty\n");
}

#[test]
fn records_and_regions_are_those_of_samtools() {
    let dir = Dir::new();
    let mut state = 1_u32;
    let mut base = || {
        state = state
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223);
        b"ACGTacgtN"[(state >> 16) as usize % 9]
    };
    for (name, columns, end) in [("a", 60, "\n"), ("b", 80, "\r\n"), ("c", 100_000, "\n")] {
        let mut raw = Vec::new();
        for size in [30_001, 60, 1, 5000] {
            raw.extend(format!(">r{size} of {name}{end}").bytes());
            let bases: Vec<u8> = std::iter::repeat_with(&mut base)
                .take(size)
                .collect();
            for line in bases.chunks(columns) {
                raw.extend_from_slice(line);
                raw.extend(end.bytes());
            }
        }
        dir.write(name, &raw);
        dir.bwz(&format!("--index -1 {name}"))
            .assert()
            .success();
        let fai = stdout(
            dir.bwz(&format!("-l --records {name}.bwz"))
                .assert()
                .success(),
        );
        let columns = columns.min(30_001);
        let width = columns + end.len();
        let start = format!(">r30001 of {name}{end}").len();
        assert_eq!(
            fai.lines().next(),
            Some(&*format!("r30001\t30001\t{start}\t{columns}\t{width}"))
        );
        if !is_there("samtools") {
            continue;
        }
        dir.sh(&format!("samtools faidx {name}"))
            .assert()
            .success();
        assert_eq!(fai.as_bytes(), dir.read(&format!("{name}.fai")));
        for region in [
            "r30001",
            "r30001:1,000-2,000",
            "r5000:4999",
            "r60:61-",
            "r1:1-1",
            "-i r60:5-50",
        ] {
            let theirs = stdout(
                dir.sh(&format!("samtools faidx {name} {region}"))
                    .assert(),
            );
            let ours = region
                .replace("-i r", "-i --region r")
                .replace(' ', "  ");
            let ours = if ours.contains("--region") {
                ours
            } else {
                format!("--region {ours}")
            };
            let ours = stdout(
                dir.bwz(&format!("extract {ours} {name}.bwz"))
                    .assert()
                    .success(),
            );
            assert_eq!(ours, theirs, "{name} {region}");
        }
    }
    dir.write("odd", b">x\nACGT\nAC\nACGT\n");
    dir.bwz("--index odd").assert().success();
    dir.bwz("-z --records odd").assert().code(1);
}
