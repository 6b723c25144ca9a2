//! SAM of reads and of pairs, and names that occur once in an output. Compared with samtools if it
//! is installed.

use crate::support::{Dir, has_all, is_there, stderr, stdout};

/// Two records of one name among others, and one without bases.
const GENOME: &str = "\
>c first
ACGTACCATTGCAGGATCCATT
GGCATTACGAACCCATGTTAGACCATTTAGG
>d
ACGTACCATTGCA
>c again
TTTTTCTCTCTTT
>empty
>e
GGTACCGG
";

fn genome() -> Dir {
    let dir = Dir::new();
    dir.write("g", GENOME.as_bytes());
    dir.bwz("--index g").assert().success();
    dir
}

/// The lines of reads, without the header.
fn lines(sam: &str) -> Vec<&str> {
    sam.lines()
        .filter(|line| !line.starts_with('@'))
        .collect()
}

#[test]
fn reads_have_their_qualities_and_names() {
    let dir = genome();
    for (fastq, wanted) in [
        // The name ends at a blank or tab, and does not include the number of the mate.
        (
            "@q/1 x\nGGCATTACGA\n+\n0123456789\n",
            "q\t0\tc\t23\t60\t10M\t*\t0\t0\tGGCATTACGA\t0123456789\tNM:i:0\tMD:Z:10",
        ),
        (
            "@q/2\tx\nTCGTAATGCC\n+q\n0123456789\n",
            "q\t16\tc\t23\t60\t10M\t*\t0\t0\tGGCATTACGA\t9876543210\tNM:i:0\tMD:Z:10",
        ),
        (
            "@/1\nAAAAAA\n+\n@@@@@@\n",
            "/1\t4\t*\t0\t0\t*\t*\t0\t0\tAAAAAA\t@@@@@@",
        ),
        (
            "@q/3\nAAAAAA\n+\n!~!~!~\n",
            "q/3\t4\t*\t0\t0\t*\t*\t0\t0\tAAAAAA\t!~!~!~",
        ),
        (
            "@q/1/2\nAAAAAA\n+\n*****+\n",
            "q/1\t4\t*\t0\t0\t*\t*\t0\t0\tAAAAAA\t*****+",
        ),
        // Lines are joined, of bases and of qualities.
        (
            "@w\nGGCAT\nTACGA\n+\n0123\n456789\n",
            "w\t0\tc\t23\t60\t10M\t*\t0\t0\tGGCATTACGA\t0123456789\tNM:i:0\tMD:Z:10",
        ),
        // A read that is its own reverse complement is found once, in either case.
        (
            "@p\nGGTACC\n+\n012345\n",
            "p\t0\te\t1\t60\t6M\t*\t0\t0\tGGTACC\t012345\tNM:i:0\tMD:Z:6",
        ),
        (
            "@p\nGGTacc\n+\n012345\n",
            "p\t0\te\t1\t60\t6M\t*\t0\t0\tGGTacc\t012345\tNM:i:0\tMD:Z:6",
        ),
        // Hits that are not primary have no bases and no qualities.
        (
            "@m\nACGTACCATT\n+\n0123456789\n",
            "m\t0\tc\t1\t3\t10M\t*\t0\t0\tACGTACCATT\t0123456789\tNM:i:0\tMD:Z:10\n\
             m\t256\td\t1\t3\t10M\t*\t0\t0\t*\t*\tNM:i:0\tMD:Z:10",
        ),
        (
            ">a/1 b\nTCTCTC\n",
            "a\t0\tc.2\t5\t60\t6M\t*\t0\t0\tTCTCTC\t*\tNM:i:0\tMD:Z:6",
        ),
        ("@e\n\n+\n\n", "e\t4\t*\t0\t0\t*\t*\t0\t0\t*\t*"),
    ] {
        dir.write("r", fastq.as_bytes());
        let run = dir
            .bwz("locate --sam --rename-duplicates --fasta r g.bwz")
            .assert();
        let sam = stdout(run);
        assert_eq!(lines(&sam).join("\n"), wanted, "{fastq}");
    }
    dir.write("r", format!("@{}\nAC\n+\nII\n", "n".repeat(255)).as_bytes());
    let run = dir
        .bwz("locate --sam --rename-duplicates --fasta r g.bwz")
        .assert()
        .code(2);
    has_all(&stderr(run), &["nnnn", "255 bytes", "SAM allows 254"]);
}

#[test]
fn a_mismatch_is_told_beside_the_qualities() {
    let dir = genome();
    dir.write(
        "r",
        b"@a\nGGCATTACTA\n+\n0123456789\n@b\nTCGTTATGCC\n+\n0123456789\n",
    );
    let run = "locate --sam --max-mismatches 1 --rename-duplicates --fasta r g.bwz";
    let sam = stdout(dir.bwz(run).assert().success());
    let wanted = [
        "a\t0\tc\t23\t60\t10M\t*\t0\t0\tGGCATTACTA\t0123456789\tNM:i:1\tMD:Z:8G1",
        "b\t16\tc\t23\t60\t10M\t*\t0\t0\tGGCATAACGA\t9876543210\tNM:i:1\tMD:Z:5T4",
    ];
    assert_eq!(lines(&sam), wanted);
}

#[test]
fn a_name_stands_once_in_the_header() {
    let dir = Dir::new();
    dir.write("r", b">r\nACGTT\n");
    for (names, said, wanted) in [
        ("a b", None, "a b"),
        ("a a", Some("records 1 and 2 are both called `a`"), "a a.2"),
        (
            "a b a",
            Some("records 1 and 3 are both called `a`"),
            "a b a.2",
        ),
        ("a a a", Some("records 1 and 2"), "a a.2 a.3"),
        ("a a a.2", Some("records 1 and 2"), "a a.3 a.2"),
        ("a.2 a a", Some("records 2 and 3"), "a.2 a a.3"),
        (
            "b a b a",
            Some("records 1 and 3 are both called `b`"),
            "b a b.2 a.2",
        ),
        ("ä ä", Some("both called `ä`"), "ä ä.2"),
        ("a A", None, "a A"),
    ] {
        let mut fasta = String::new();
        for name in names.split(' ') {
            fasta += &format!(">{name} x\nGACGTTG\n");
        }
        // Records without bases are not reference sequences.
        fasta += ">a\n>a\n";
        dir.write("n", fasta.as_bytes());
        dir.bwz("-f --index n").assert().success();
        let run = dir.bwz("locate --sam --fasta r n.bwz").assert();
        match said {
            None => drop(run.success()),
            Some(said) => {
                assert_eq!(stdout(run), "");
                let run = dir
                    .bwz("locate --sam --fasta r n.bwz")
                    .assert()
                    .code(2);
                has_all(&stderr(run), &["n.bwz: ", said, "--rename-duplicates"]);
            }
        }
        let run = dir
            .bwz("locate --sam --rename-duplicates --fasta r n.bwz")
            .assert()
            .success();
        let sam = stdout(run);
        let references = sam
            .lines()
            .filter_map(|line| line.strip_prefix("@SQ\tSN:"));
        let references: Vec<_> = references
            .map(|line| line.split('\t').next().unwrap())
            .collect();
        assert_eq!(references.join(" "), wanted);
        let hits: Vec<_> = lines(&sam)
            .iter()
            .map(|line| line.split('\t').nth(2).unwrap())
            .collect();
        assert_eq!(hits.join(" "), wanted);
    }
    dir.write("n", b">\nACGT\n");
    dir.bwz("-f --index n").assert().success();
    has_all(
        &stderr(dir.bwz("locate --sam A n.bwz").assert().code(2)),
        &["record 1", "not empty"],
    );
}

/// FASTQ of one read, whose qualities are its bases.
fn fastq(name: &str, bases: &str) -> String {
    format!("@{name}\n{bases}\n+\n{bases}\n")
}

/// Fields 2 to 4 and 7 to 9 of the lines of a pair.
fn pair(dir: &Dir, first: &str, second: &str, options: &str) -> String {
    dir.write("1", fastq("p/1", first).as_bytes());
    dir.write("2", fastq("p/2", second).as_bytes());
    let run = format!("locate --sam --rename-duplicates --reads1 1 --reads2 2 {options} g.bwz");
    let sam = stdout(dir.bwz(&run).assert());
    let fields = lines(&sam).into_iter().map(|line| {
        let all: Vec<_> = line.split('\t').collect();
        assert_eq!(all[0], "p");
        [&all[1..4], &all[6..9]].concat().join(" ")
    });
    fields.collect::<Vec<_>>().join(", ")
}

#[test]
fn pairs_have_their_mates() {
    let dir = genome();
    for (first, second, options, wanted) in [
        // Proper, the first read forward and the other way round.
        (
            "GGCATTACGA",
            "CCTAAATGG",
            "",
            "99 c 23 = 45 31, 147 c 45 = 23 -31",
        ),
        (
            "CCTAAATGG",
            "GGCATTACGA",
            "",
            "83 c 45 = 23 -31, 163 c 23 = 45 31",
        ),
        (
            "GGCATTACGA",
            "CCTAAATGG",
            "--max-insert 31",
            "99 c 23 = 45 31, 147 c 45 = 23 -31",
        ),
        (
            "GGCATTACGA",
            "CCTAAATGG",
            "--max-insert 30",
            "97 c 23 = 45 31, 145 c 45 = 23 -31",
        ),
        // Of two hits, the one that makes a pair is taken, and the other one follows.
        (
            "ACGTACCATT",
            "CCTAAATGG",
            "",
            "99 c 1 = 45 53, 353 d 1 c 45 0, 147 c 45 = 1 -53",
        ),
        (
            "CGTACCATTG",
            "TGCAATGGTA",
            "",
            "99 c 2 = 4 12, 353 d 2 c 4 0, 147 c 4 = 2 -12, 401 d 4 c 2 0",
        ),
        // Mates on one strand; mates that face away from each other; mates in two records.
        (
            "GGCATTACGA",
            "CCATTTAGG",
            "",
            "65 c 23 = 45 31, 129 c 45 = 23 -31",
        ),
        (
            "TCGTAATGCC",
            "CCATTTAGG",
            "",
            "81 c 23 = 45 31, 161 c 45 = 23 -31",
        ),
        (
            "GGCATTACGA",
            "TCTCTC",
            "",
            "65 c 23 c.2 5 0, 129 c.2 5 c 23 0",
        ),
        // One read is found, or none.
        (
            "GGCATTACGA",
            "AAAAAA",
            "",
            "73 c 23 = 23 0, 133 c 23 = 23 0",
        ),
        (
            "AAAAAA",
            "TCGTAATGCC",
            "",
            "101 c 23 = 23 0, 153 c 23 = 23 0",
        ),
        ("AAAAAA", "CCCCCC", "", "77 * 0 * 0 0, 141 * 0 * 0 0"),
        ("GGCATTACGA", "", "", "73 c 23 = 23 0, 133 c 23 = 23 0"),
        // Both begin together.
        ("GGTACCGG", "CCGGTACC", "", "99 e 1 = 1 8, 147 e 1 = 1 -8"),
        // A read that is its own reverse complement faces its mate.
        ("GGTACCG", "CCGG", "", "99 e 1 = 5 8, 147 e 5 = 1 -8"),
        ("GGTACCGG", "GGTACC", "", "65 e 1 = 1 8, 129 e 1 = 1 -8"),
        ("CCGGTACC", "GGTACC", "", "83 e 1 = 1 8, 163 e 1 = 1 -8"),
        // A mismatch does not separate the mates.
        (
            "GGCATTACTA",
            "CCTAAATGG",
            "--max-mismatches 1",
            "99 c 23 = 45 31, 147 c 45 = 23 -31",
        ),
    ] {
        assert_eq!(
            pair(&dir, first, second, options),
            wanted,
            "{first} {second} {options}"
        );
    }
}

#[test]
fn reads_that_are_no_pairs_are_refused() {
    let dir = genome();
    let run = "locate --sam --rename-duplicates --reads1 1 --reads2 2 g.bwz";
    for (first, second, said) in [
        (
            ["a", "b"],
            ["a", "c"],
            &["read 2 is `b` in 1 and `c` in 2"][..],
        ),
        (
            ["a/1", "b/1"],
            ["b/2", "a/2"],
            &["read 1 is `a/1` in 1 and `b/2` in 2"],
        ),
        (
            ["a", "b"],
            ["a.1", "b.1"],
            &["read 1 is `a` in 1 and `a.1` in 2"],
        ),
        (["a", "b"], ["A", "b"], &["read 1 is `a` in 1 and `A` in 2"]),
        (
            ["a", "b"],
            ["a/3", "b/3"],
            &["read 1 is `a` in 1 and `a/3` in 2"],
        ),
        (["a", "b"], ["a", ""], &["2: has 1 read, and 1 has more"]),
        (["a", ""], ["a", "b"], &["1: has 1 read, and 2 has more"]),
        (
            ["a b", "c"],
            ["a x", "d"],
            &["read 2 is `c` in 1 and `d` in 2"],
        ),
    ] {
        for (file, names) in [("1", first), ("2", second)] {
            let reads = names.iter().filter(|name| !name.is_empty());
            let text: String = reads
                .map(|name| fastq(name, "GGCATTACGA"))
                .collect();
            dir.write(file, text.as_bytes());
        }
        has_all(&stderr(dir.bwz(run).assert().code(2)), said);
    }
    dir.write("1", b"@a\nGGCATTACGA\n+\nGGCATTACG\n");
    has_all(
        &stderr(dir.bwz(run).assert().code(2)),
        &["1: line 4", "10 bases, but 9"],
    );
    for arguments in [
        "locate --sam --reads1 1 g.bwz",
        "locate --sam --reads2 1 g.bwz",
        "locate --reads1 1 --reads2 2 g.bwz",
        "locate --sam --max-insert 5 --fasta 1 g.bwz",
        "locate --rename-duplicates A g.bwz",
    ] {
        dir.bwz(arguments).assert().code(2);
    }
}

#[test]
fn many_pairs_come_back() {
    if !is_there("samtools") {
        return;
    }
    let dir = genome();
    let genome: String = GENOME.lines().skip(1).take(2).collect();
    let complement = |bases: &str| -> String {
        let of = |base| match base {
            'A' => 'T',
            'C' => 'G',
            'G' => 'C',
            _ => 'A',
        };
        bases.chars().rev().map(of).collect()
    };
    let mut files = [String::new(), String::new()];
    for n in 0..2000 {
        let start = n % 30;
        let mut reads = [
            genome[start..start + 12].to_owned(),
            complement(&genome[start + 8..start + 23]),
        ];
        if n % 3 == 0 {
            reads.reverse();
        }
        for (side, bases) in reads.iter().enumerate() {
            let qualities: String = (0..bases.len())
                .map(|at| char::from(b'!' + ((n * 7 + at) % 94) as u8))
                .collect();
            files[side] += &format!("@r{n}/{}\n{bases}\n+\n{qualities}\n", side + 1);
        }
    }
    dir.write("1.fq", files[0].as_bytes());
    dir.write("2.fq", files[1].as_bytes());
    let script = "set -e -o pipefail
        bwz locate --sam --rename-duplicates --reads1 1.fq --reads2 2.fq g.bwz > x.sam
        samtools quickcheck x.sam; samtools sort -n -o x.bam x.sam
        samtools fastq -N -1 1.out -2 2.out -s /dev/null x.sam
        cmp 1.fq 1.out; cmp 2.fq 2.out
        samtools view -c -f 2 x.sam; samtools view -c -F 0x100 x.sam
        samtools view -h x.sam > a; samtools fixmate x.sam b; samtools view b | cut -f 1-11 | sort > c
        grep -v ^@ a | cut -f 1-11 | sort | cmp - c";
    assert_eq!(stdout(dir.sh(script).assert().success()), "4000\n4000\n");
}

#[test]
fn reads_of_an_assembly_have_names_of_their_own() {
    let dir = Dir::new();
    let bases = ["ACGTTGCAGG", "TTGCAGGCCA", "CAGGCCATTT"];
    for (names, wanted) in [
        ("a b c", "a b c"),
        ("r r s", "r r.2 s"),
        ("r r r", "r r.2 r.3"),
        ("r s r", "r s r.2"),
        ("r.2 r r", "r.2 r r.3"),
        ("s r r", "s r r.2"),
        ("r r r.2", "r r.3 r.2"),
        ("ü ü s", "ü ü.2 s"),
    ] {
        let reads = names
            .split(' ')
            .zip(bases)
            .map(|(name, bases)| fastq(name, bases));
        dir.write("r", reads.collect::<String>().as_bytes());
        for (form, output) in [("", "PAF"), ("--gfa", "GFA")] {
            let run = dir
                .bwz(&format!("overlap --min 5 {form} r"))
                .assert();
            if names != wanted {
                has_all(
                    &stderr(run.code(1)),
                    &["are both called", output, "--rename-duplicates"],
                );
            }
            let run = format!("overlap --min 5 {form} --rename-duplicates r");
            let shown = stdout(dir.bwz(&run).assert().success());
            let name: Vec<_> = wanted.split(' ').collect();
            match form {
                "" => has_all(
                    &shown,
                    &[&format!("{}\t10\t3\t10\t+\t{}\t10", name[0], name[1])],
                ),
                _ => {
                    let segments = shown
                        .lines()
                        .filter_map(|line| line.strip_prefix("S\t"));
                    let segments: Vec<_> = segments
                        .map(|line| line.split('\t').next().unwrap())
                        .collect();
                    assert_eq!(segments, name);
                    has_all(&shown, &[&format!("L\t{}\t+\t{}\t+\t7M", name[0], name[1])]);
                }
            }
        }
    }
    // If reads are not told apart by name, names do not matter.
    dir.write(
        "r",
        (fastq("r", bases[0]) + &fastq("r", bases[1])).as_bytes(),
    );
    dir.bwz("overlap --mem 5 r r").assert().success();
}
