//! `bwz overlap`.

use crate::cases;
use crate::safety::undo_nohup;
use crate::support::{BWZ, Dir, send};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

const A: &str = ">ref1 the first\nACGTNNACGTAC\nCAGTTACG\n>ref2\r\nGGGCATTACGCCAGTnACGR\r\n";
const B: &str = ">q1 foo\nACGTNNACGTACCAGTTAC\n>q2\nACGTRCATTACG\n>e\n>q3\nCGTAATGCCCNNNGTAC\n";

fn with_files() -> Dir {
    let dir = Dir::new();
    dir.write("a.fa", A.as_bytes());
    dir.write("b.fa", B.as_bytes());
    dir
}

fn stdout(dir: &Dir, arguments: &str) -> String {
    let done = dir.bwz(arguments).assert().success();
    String::from_utf8(done.get_output().stdout.clone()).unwrap()
}

/// The lines under each heading, sorted, since mummer does not keep an order.
fn sorted(text: &str) -> Vec<Vec<String>> {
    let parts = text.split("> ").skip(1);
    let lines = |part: &str| {
        let mut lines: Vec<_> = part.lines().map(str::to_owned).collect();
        lines[1..].sort();
        lines
    };
    parts.map(lines).collect()
}

#[test]
fn matches_are_printed_as_mummer_does() {
    // mummer -maxmatch -n -l 5 -b -F of MUMmer 3.23.
    let expected = "\
> q1
  ref1         7         7        13
  ref2        11        12         5
> q1 Reverse
> q2
  ref2         4         6         7
  ref1        16         8         5
> q2 Reverse
> e
> e Reverse
> q3
> q3 Reverse
  ref2         1         8        10
  ref1        16        13         5
";
    let dir = with_files();
    assert_eq!(
        sorted(&stdout(&dir, "overlap --mem 5 a.fa b.fa")),
        sorted(expected)
    );
    let unique = "\
> q1
  ref1         7         7        13
> q1 Reverse
  ref1         9         8         4
> q2
  ref2         4         6         7
> q2 Reverse
  ref1         8         1         4
> e
> e Reverse
> q3
  ref1         8         1         4
  ref1         9        14         4
> q3 Reverse
  ref1         9         1         4
  ref2         1         8        10
";
    assert_eq!(
        sorted(&stdout(&dir, "overlap --mum --mem 4 a.fa b.fa")),
        sorted(unique)
    );
    let forward = stdout(&dir, "overlap --mem 5 --forward a.fa b.fa");
    assert!(
        !forward.contains("Reverse") && forward.contains("> e\n> q3\n"),
        "{forward}"
    );
}

#[test]
fn the_longest_regions_are_printed_whatever_holds_them() {
    let dir = with_files();
    let region = "ref1\t6\t19\tq1\t6\t19\t+\t13\n";
    dir.bwz("a.fa").assert().success();
    dir.bwz("--index -o b.bwz b.fa")
        .assert()
        .success();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(A.as_bytes()).unwrap();
    dir.write("a.gz", &gzip.finish().unwrap());
    for a in ["a.fa", "a.fa.bwz", "a.gz"] {
        for b in ["b.fa", "b.bwz"] {
            assert_eq!(stdout(&dir, &format!("overlap {a} {b}")), region, "{a} {b}");
        }
    }
    let json = stdout(&dir, "overlap --json a.fa b.fa");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json[0]["a_start"], 6);
    assert_eq!(
        (&json[0]["b"], &json[0]["strand"]),
        (&"q1".into(), &"+".into())
    );
    assert_eq!(json.as_array().unwrap().len(), 1);
}

#[test]
fn overlaps_of_reads_are_printed() {
    let dir = Dir::new();
    dir.write("r.fa", b">r1\nAAACCCGT\n>r2\nCCCGTTTT\n");
    dir.write("s.fq", b"@r3 x\naaaacggg\n+\nIIIIIIII\n");
    // r3 is the reverse complement of CCCGTTTT; so is r2.
    let paf = "\
r1\t8\t3\t8\t+\tr2\t8\t0\t5\t5\t5\t255
r1\t8\t3\t8\t-\tr3\t8\t3\t8\t5\t5\t255
r2\t8\t0\t8\t-\tr3\t8\t0\t8\t8\t8\t255
r2\t8\t0\t8\t-\tr3\t8\t0\t8\t8\t8\t255
";
    assert_eq!(stdout(&dir, "overlap --min 5 r.fa s.fq"), paf);
    let gfa = "H\tVN:Z:1.0\nS\tr1\t*\tLN:i:8\nS\tr2\t*\tLN:i:8\nL\tr1\t+\tr2\t+\t5M\n";
    assert_eq!(stdout(&dir, "overlap --min 5 --gfa --forward r.fa"), gfa);
}

#[test]
fn what_cannot_be_done_is_said() {
    let dir = with_files();
    dir.write("plain", b"ACGT\n");
    for (arguments, said) in [
        ("overlap a.fa", "takes two files"),
        ("overlap a.fa b.fa a.fa", "takes two files"),
        ("overlap a.fa plain", "plain: is neither FASTA nor FASTQ"),
        ("overlap a.fa absent", "absent: No such file"),
        ("overlap --mem 0 a.fa b.fa", "0 is not in"),
        ("overlap --min 5 --mem 5 a.fa", "cannot be used with"),
        ("overlap -M 1K a.fa b.fa", "allow that with --memory"),
    ] {
        let done = dir.bwz(arguments).assert().code(1);
        let stderr = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
        assert!(stderr.contains(said), "{arguments}: {stderr}");
    }
}

#[test]
fn a_gpu_that_is_not_there_is_a_warning_or_trouble() {
    let dir = with_files();
    for arguments in [
        "overlap a.fa b.fa",
        "overlap --mem 5 a.fa b.fa",
        "overlap --min 3 a.fa",
    ] {
        let expected = stdout(&dir, arguments);
        let asked = dir
            .bwz(&format!("{arguments} --device cuda:99"))
            .assert();
        let said = String::from_utf8(asked.get_output().stderr.clone()).unwrap();
        if cfg!(feature = "cuda") {
            assert!(
                said.contains("; sorting on the CPU") && said.lines().count() == 1,
                "{said}"
            );
            asked.success().stdout(expected);
        } else {
            assert!(said.contains("CUDA"), "{said}");
            asked.code(1);
        }
    }
}

/// Maximum time for an immediate end, even on a busy machine.
const AT_ONCE: Duration = Duration::from_secs(5);

/// Both while it waits for a pipe and while it works.
#[test]
fn an_interrupt_ends_it_at_once() {
    undo_nohup();
    let dir = with_files();
    let base = |n: u8| b"ACGT"[n as usize];
    let bases: Vec<u8> = cases::random(6 << 20, 4)
        .into_iter()
        .map(base)
        .collect();
    dir.write("long.fa", &[b">long\n", &bases[..], b"\n"].concat());
    let before = dir.names();
    for arguments in [
        "--mem 20 - a.fa",
        "--mem 11 long.fa a.fa",
        "--min 30 long.fa",
    ] {
        let mut run = dir.process(BWZ);
        run.arg("overlap")
            .args(arguments.split(' '))
            .stdin(Stdio::piped())
            .stdout(Stdio::null());
        let mut child = run.spawn().unwrap();
        // Waiting for the child would close the pipe, perhaps before the signal.
        let _open = child.stdin.take();
        thread::sleep(Duration::from_millis(500));
        send("-INT", child.id());
        let from = Instant::now();
        let status = child.wait().unwrap();
        assert!(
            from.elapsed() < AT_ONCE,
            "{arguments}: {:?}",
            from.elapsed()
        );
        // A command that does not wait may have ended before the signal.
        let is_done = status.success() && !arguments.contains(" - ");
        assert!(status.code().is_none() || is_done, "{arguments}: {status}");
        assert_eq!(dir.names(), before);
    }
}
