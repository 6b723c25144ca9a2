//! The command grep: lines that match expressions.

use crate::rounds::rounds;
use crate::support::{Dir, has_all, is_there, noise, stderr, stdout};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Output, Stdio};

/// Generator of numbers for tests.
pub struct Random(pub u64);

impl Random {
    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % end
    }
}

const WORDS: [&str; 16] = [
    "foo", "bar", "foobar", "error", "Error", "ERROR", "the", "line", "404", "500", "a.c", "GET",
    "/index", "über", "timeout", "x",
];

/// Lines of words.
pub fn lines(count: usize) -> Vec<u8> {
    let mut random = Random(count as u64 + 7);
    let mut text = String::new();
    for _ in 0..count {
        for n in 0..random.below(9) {
            text.push_str(if n > 0 { " " } else { "" });
            text.push_str(WORDS[random.below(WORDS.len())]);
        }
        text.push('\n');
    }
    text.into_bytes()
}

/// A directory with these files, each as it is, as `NAME.bwz` and, with an index, as `NAME.i.bwz`.
pub fn in_all_forms(files: &[(&str, Vec<u8>)]) -> Dir {
    let dir = Dir::new();
    for (name, bytes) in files {
        dir.write(name, bytes);
        let index = "--index=bytes --sample-rate 32";
        dir.bwz(&format!("-1 {name}")).assert().success();
        dir.bwz(&format!("-1 {index} -o {name}.i.bwz {name}"))
            .assert()
            .success();
    }
    dir
}

fn output(mut command: std::process::Command) -> Output {
    command
        .env("LC_ALL", "C.UTF-8")
        .env_remove("GREP_COLORS")
        .output()
        .unwrap()
}

pub fn grep(dir: &Dir, program: &str, arguments: &[&str]) -> Output {
    let mut command = match program {
        "bwz" => {
            let mut command = dir.process(crate::support::BWZ);
            command.arg("grep");
            command
        }
        program => dir.process(program),
    };
    command.args(arguments);
    output(command)
}

/// Replaces the name of a file at the begin of lines.
fn renamed(text: &[u8], name: &str, new: &str) -> Vec<u8> {
    let renamed = |line: &[u8]| match line.strip_prefix(name.as_bytes()) {
        Some(rest) if rest.is_empty() || b":-\0\n".contains(&rest[0]) => {
            [new.as_bytes(), rest].concat()
        }
        _ => line.to_vec(),
    };
    let lines = text.split_inclusive(|&byte| byte == b'\n');
    lines.flat_map(renamed).collect()
}

const PATTERNS: [&str; 22] = [
    "foo",
    "error",
    "",
    "^",
    "^$",
    "foo$",
    "^foo",
    "fo+",
    "(foo|bar) error",
    "404 500",
    "nowhere",
    "the line foo",
    "[0-9]{3}",
    ".",
    "x*",
    "a.c",
    r"\bbar\b",
    "über",
    "ü",
    "error.*timeout",
    "(error|timeout) /index the",
    "GET GET GET",
];

const FLAGS: [&str; 38] = [
    "",
    "-n",
    "-c",
    "-l",
    "-L",
    "-q",
    "-v",
    "-o",
    "-o -b -n",
    "-b",
    "-i -n",
    "-w",
    "-x",
    "-F",
    "-m2 -n",
    "-A1 -n",
    "-B2",
    "-C2 -n -b",
    "-H -n",
    "-h",
    "-v -c",
    "-v -n -C1 -m3",
    "--color=always -n",
    "--color=always -o -H",
    "--color=always -C1 -v",
    "-a -n",
    "--null -H -c",
    "-m3 -A2",
    "-z -c",
    "-c -m1",
    "-A0",
    "-I -c",
    "-o -C1",
    "-F -i -w -n",
    "-T -n -b",
    "-T -H -o",
    "-n2",
    "-1 -v -m3",
];

/// GNU grep has to be there: its answers are the ones that users expect.
#[test]
fn output_is_that_of_gnu_grep() {
    let mut long = b"foo ".repeat(60_000);
    long.extend_from_slice(b"error\nfoo 404 500\n");
    let mut no_end = lines(40);
    no_end.extend_from_slice(b"foo without an end: error");
    let mut binary = lines(30);
    binary.extend_from_slice(b"foo\0bar\n\0\0error\n");
    binary.extend(lines(20));
    let mut binary_at_last = lines(20_000);
    binary_at_last.extend_from_slice(b"foo\0error\n");
    let crlf = String::from_utf8(lines(60))
        .unwrap()
        .replace('\n', "\r\n");
    let files = [
        ("words", lines(300)),
        ("large", lines(90_000)),
        ("crlf", crlf.into_bytes()),
        ("no_end", no_end),
        ("long", long),
        ("binary", binary),
        ("binary_at_last", binary_at_last),
        ("empty", Vec::new()),
        ("feeds", b"\n\n\nfoo\n\n".to_vec()),
    ];
    let dir = in_all_forms(&files);
    let version = grep(&dir, "grep", &["--version"]).stdout;
    has_all(&String::from_utf8_lossy(&version), &["GNU grep"]);
    let mut random = Random(1);
    for (name, _) in &files {
        for flags in FLAGS {
            for _ in 0..rounds(1, 4) {
                let pattern = PATTERNS[random.below(PATTERNS.len())];
                if flags.contains("-v -c") && pattern.is_empty() {
                    // GNU grep then prints nothing.
                    continue;
                }
                let mut arguments: Vec<&str> = flags.split_whitespace().collect();
                if !flags.contains("-F") {
                    arguments.push("-E");
                }
                arguments.extend(["-e", pattern, "--", name]);
                let wanted = grep(&dir, "grep", &arguments);
                for form in ["", ".bwz", ".i.bwz"] {
                    let file = format!("{name}{form}");
                    let mut arguments = arguments.clone();
                    *arguments.last_mut().unwrap() = &file;
                    let found = grep(&dir, "bwz", &arguments);
                    let is_binary = |output: &Output| {
                        String::from_utf8_lossy(&output.stderr).contains("binary file matches")
                    };
                    let named = match flags.contains("color") {
                        true => {
                            let text = String::from_utf8_lossy(&wanted.stdout).into_owned();
                            let old = format!("\x1b[K{name}\x1b");
                            text.replace(&old, &format!("\x1b[K{file}\x1b"))
                                .into_bytes()
                        }
                        false => renamed(&wanted.stdout, name, &file),
                    };
                    assert!(
                        found.stdout == named
                            && found.status.code() == wanted.status.code()
                            && is_binary(&found) == is_binary(&wanted),
                        "{arguments:?}: {} and {}:\n{}",
                        found.status,
                        wanted.status,
                        String::from_utf8_lossy(&found.stderr)
                    );
                }
            }
        }
    }
}

/// Runs GNU grep and bwz with some arguments, and compares the output. `colors` is the variable
/// `GREP_COLORS`.
fn compare_with_gnu_grep(dir: &Dir, arguments: &[&str], colors: &str) {
    let run = |program: &str| {
        let mut command = dir.process(program);
        if program == crate::support::BWZ {
            command.arg("grep");
        }
        command
            .args(arguments)
            .env("LC_ALL", "C.UTF-8")
            .env("GREP_COLORS", colors)
            .output()
            .unwrap()
    };
    // GNU grep gives the files of a directory in the order in which the system does.
    let sorted = |output: &Output| -> Vec<Vec<u8>> {
        let lines = output.stdout.split(|&byte| byte == b'\n');
        let mut lines: Vec<Vec<u8>> = lines.map(<[u8]>::to_vec).collect();
        if arguments.contains(&"-r") {
            lines.sort();
        }
        lines
    };
    let wanted = run("grep");
    let found = run(crate::support::BWZ);
    assert!(
        sorted(&found) == sorted(&wanted) && found.status.code() == wanted.status.code(),
        "{arguments:?}, {colors}: {}\nand not {}",
        String::from_utf8_lossy(&found.stdout),
        String::from_utf8_lossy(&wanted.stdout),
    );
}

#[test]
fn colors_are_those_of_gnu_grep() {
    let dir = Dir::new();
    dir.write("x", &lines(40));
    dir.write("crlf", b"foo bar\r\nbar\r\n\r\nfoo");
    for colors in [
        "",
        "mt=01;32",
        "ms=01;33:mc=34",
        "sl=1:cx=2",
        "sl=1:cx=2:rv",
        "ne:fn=33:ln=31:bn=36:se=35",
        "fn=:ln=:bn=:se=",
        "ms=:sl=7",
        "mt=:mc=3",
        "fn=3x:ln=33",
        "zz=33:mc:=3:ln=31",
    ] {
        for flags in ["-n", "-nbH", "-vC1", "-on", "-C1", "-c", "-l", "-v", "-HZ"] {
            for pattern in ["foo", "bar|x", "^", "o*"] {
                let arguments = ["--color=always", flags, "-E", pattern, "x", "crlf"];
                compare_with_gnu_grep(&dir, &arguments, colors);
            }
        }
    }
}

#[test]
fn names_are_chosen_as_by_gnu_grep() {
    let dir = Dir::new();
    for name in [
        "a.txt",
        "b.c",
        "sub/a.c",
        "sub/a.h",
        "sub/old/x.c",
        "sub/old/deep/.y.txt",
    ] {
        dir.write(name, b"foo\n");
    }
    for rules in [
        "--include=*.c",
        "--exclude=*.c",
        "--include=*.c --exclude=x*",
        "--exclude=x* --include=*.c",
        "--include=x* --exclude=*.c",
        "--exclude=*.c --include=x*",
        "--exclude-dir=old",
        "--exclude-dir=old/",
        "--exclude-dir=sub",
        "--exclude-dir=sub/old",
        "--exclude-dir=o* --include=*.h",
        "--exclude=sub/*",
        "--include=[ab].[!h]",
        "--include={a,b}.c",
        "--exclude=.*",
        "--exclude=",
    ] {
        for files in [
            "-r",
            "-r sub",
            "-r sub/",
            "-r sub/old a.txt",
            "a.txt b.c sub/a.c ./sub/old/x.c",
        ] {
            let arguments = rules
                .split_whitespace()
                .chain(["foo"])
                .chain(files.split_whitespace());
            compare_with_gnu_grep(&dir, &arguments.collect::<Vec<_>>(), "");
        }
    }
    let listed = |depth: &str| {
        stdout(
            dir.bwz(&format!("grep -rl --max-depth {depth} foo"))
                .assert(),
        )
    };
    assert_eq!(listed("1"), "a.txt\nb.c\n");
    assert_eq!(listed("2"), "a.txt\nb.c\nsub/a.c\nsub/a.h\n");
}

#[test]
fn codes_and_messages_are_those_of_grep() {
    let dir = in_all_forms(&[("x", lines(20))]);
    dir.bwz("grep foo x.bwz")
        .assert()
        .code(0)
        .stderr("");
    dir.bwz("grep nowhere x.bwz")
        .assert()
        .code(1)
        .stdout("")
        .stderr("");
    let run = dir.bwz("grep foo x absent").assert().code(2);
    has_all(&stderr(run), &["absent: No such file"]);
    dir.bwz("grep -s foo x absent")
        .assert()
        .code(2)
        .stderr("");
    dir.bwz("grep -q foo x absent").assert().code(0);
    dir.bwz("grep -q foo absent x").assert().code(0);
    dir.bwz("grep foo .").assert().code(2);
    dir.bwz("grep").assert().code(2);
    dir.bwz("grep -G foo x").assert().code(2);
    dir.bwz("grep (foo x").assert().code(2);
    dir.bwz("grep --no-such-flag foo x")
        .assert()
        .code(2);
    dir.bwz("grep -m0 foo x")
        .assert()
        .code(1)
        .stdout("");
    let run = dir.bwz(r"grep -P (?=foo) x").assert().code(2);
    has_all(&stderr(run), &["look-around", "-P"]);
    dir.bwz("grep --help").assert().code(0);
    let mut damaged = dir.read("x.bwz");
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    dir.write("damaged.bwz", &damaged);
    dir.bwz("grep foo damaged.bwz").assert().code(2);
}

#[test]
fn files_of_other_compressors_and_pipes_are_searched() {
    let text = lines(2000);
    let dir = in_all_forms(&[("x", text)]);
    let wanted = grep(&dir, "bwz", &["-n", "404 500", "x"]).stdout;
    assert!(!wanted.is_empty());
    for program in ["gzip", "bzip2", "xz", "zstd"] {
        if !is_there(program) {
            continue;
        }
        dir.sh(&format!(
            "{program} -c x > x.{program}; cat x.{program} x.{program} > two"
        ))
        .assert()
        .success();
        let found = grep(&dir, "bwz", &["-n", "404 500", &format!("x.{program}")]);
        assert!(found.stdout == wanted, "{program}");
        let once = grep(&dir, "bwz", &["-c", "foo", "x"]).stdout;
        let twice = grep(&dir, "bwz", &["-c", "foo", "two"]).stdout;
        let number = |text: &[u8]| -> u32 {
            str::from_utf8(text)
                .unwrap()
                .trim()
                .parse()
                .unwrap()
        };
        assert_eq!(number(&twice), 2 * number(&once), "{program}");
    }
    for file in ["x", "x.bwz", "x.i.bwz"] {
        let run = dir
            .sh(&format!(
                "cat {file} | bwz grep -n '404 500'; bwz grep -Hc foo - < {file}"
            ))
            .assert()
            .success();
        has_all(&stdout(run), &["(standard input):"]);
    }
    dir.write("BZh1.txt", b"BZh1 is not bzip2\n");
    dir.bwz("grep is BZh1.txt").assert().code(0);
}

#[test]
fn directories_are_walked_in_order() {
    let dir = Dir::new();
    for name in ["d/b.log", "d/a.log", "d/c/x.txt", "d/.hidden"] {
        dir.write(name, b"foo\n");
    }
    dir.bwz("--rm d/b.log").assert().success();
    dir.link("d/a.log", "d/link");
    let run = dir.bwz("grep -r foo d").assert().code(0);
    assert_eq!(
        stdout(run),
        "d/.hidden:foo\nd/a.log:foo\nd/b.log.bwz:foo\nd/c/x.txt:foo\n"
    );
    let run = dir
        .bwz("grep -rl -g *.log* -g !a* foo d")
        .assert()
        .code(0);
    assert_eq!(stdout(run), "d/b.log.bwz\n");
    let mut here = dir.process(crate::support::BWZ);
    here.current_dir(dir.path("d/c"));
    here.args(["grep", "-r", "foo"]);
    assert_eq!(output(here).stdout, b"x.txt:foo\n");
}

/// Small files are searched side by side. The output, the messages and the codes are those of a
/// search of one file after the other.
#[test]
fn threads_do_not_change_what_is_said_about_many_files() {
    let dir = Dir::new();
    for n in 0..40 {
        let mut text = lines(10 + n * 13 % 70);
        match n % 10 {
            3 => text.clear(),
            5 => text[20] = 0,
            _ => {}
        }
        dir.write(&format!("d/{n:02}"), &text);
    }
    dir.write("d/10.large", &b"foo bar\n".repeat(1_100_000));
    dir.write("d/11.much", &b"\n".repeat(300_000));
    dir.sh("bwz --rm d/04 d/05 d/14; bwz --index --rm d/06; tar -C d -cf d/17.tar 07 08; bwz d/17.tar; gzip d/09")
        .assert()
        .success();
    let mut damaged = dir.read("d/14.bwz");
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    dir.write("d/14.bwz", &damaged);
    dir.link("nowhere", "d/12.link");
    for arguments in [
        "-r foo d",
        "-rc error d",
        "-rl 404.500 d",
        "-rL 404.500 d",
        "-rq timeout d",
        "-rq nowhere d",
        "-rn -C1 GET.the d",
        "-r --color=always -A1 404.500 d",
        "-rH -m1 ^$ d",
        "-rvcI foo d",
        "-rh -o --no-members [a-z]+ d/00 d/absent d/17.tar.bwz d/12.link d/01 d",
        "-s foo d/absent d/00 d/14.bwz d/09.gz",
        "-rs -T -b foo d",
        "--count-matches foo d/00 d/06.bwz",
    ] {
        let run = |threads: &str| {
            let mut all: Vec<&str> = arguments.split(' ').collect();
            all.extend(["--threads", threads]);
            let found = grep(&dir, "bwz", &all);
            let said = String::from_utf8_lossy(&found.stderr).into_owned();
            (found.stdout, said, found.status.code())
        };
        let alone = run("1");
        let together = run("5");
        assert_eq!(together.1, alone.1, "{arguments}");
        assert_eq!(together.2, alone.2, "{arguments}");
        assert!(together.0 == alone.0, "{arguments}");
    }
    // The file that is written is not searched.
    for threads in [1, 5] {
        dir.sh(&format!(
            "bwz grep -r --threads {threads} -m2 foo d > d/20.out"
        ))
        .assert()
        .code(2);
        let found = String::from_utf8(dir.read("d/20.out")).unwrap();
        assert!(!found.contains("20.out"), "{threads} threads");
    }
}

#[test]
fn patterns_come_from_options_and_files() {
    let dir = Dir::with(b"one\ntwo\nthree.\nthreex\n\xff\n");
    dir.write("patterns", b"one\ntwo\n");
    dir.write("none", b"");
    let lines = |arguments: &[&str]| {
        let found = grep(&dir, "bwz", arguments).stdout;
        String::from_utf8_lossy(&found).into_owned()
    };
    assert_eq!(lines(&["-f", "patterns", "x"]), "one\ntwo\n");
    assert_eq!(
        lines(&["-e", "one", "-e", "thr", "x"]),
        "one\nthree.\nthreex\n"
    );
    assert_eq!(lines(&["one\ntwo", "x"]), "one\ntwo\n");
    assert_eq!(lines(&["-F", "three.", "x"]), "three.\n");
    assert_eq!(lines(&["-f", "none", "x"]), "");
    assert_eq!(lines(&["-e", "-v", "x"]), "");
    assert_eq!(lines(&["-S", "ONE", "x"]), "");
    assert_eq!(lines(&["-iS", "one", "x"]), "one\n");
    let mut command = dir.process(crate::support::BWZ);
    use std::os::unix::ffi::OsStrExt;
    command.args(["grep", "-a"]);
    command.arg(std::ffi::OsStr::from_bytes(b"\xff"));
    command.arg("x");
    assert_eq!(output(command).stdout, b"\xff\n");
}

#[test]
fn json_has_the_messages_of_ripgrep() {
    let dir = in_all_forms(&[("x", b"a foo\nb\nfoo \xff\n".to_vec())]);
    for file in ["x", "x.bwz", "x.i.bwz"] {
        let found = grep(&dir, "bwz", &["--json", "-A1", "foo", file]);
        let text = String::from_utf8(found.stdout).unwrap();
        let messages: Vec<&str> = text.lines().collect();
        let path = format!(r#""path":{{"text":"{file}"}}"#);
        assert_eq!(
            messages[0],
            format!(r#"{{"type":"begin","data":{{{path}}}}}"#)
        );
        assert_eq!(
            messages[1],
            format!(
                r#"{{"type":"match","data":{{{path},"lines":{{"text":"a foo\n"}},"line_number":1,"absolute_offset":0,"submatches":[{{"match":{{"text":"foo"}},"start":2,"end":5}}]}}}}"#
            )
        );
        has_all(messages[2], &[r#""type":"context""#, r#""line_number":2"#]);
        has_all(
            messages[3],
            &[r#""bytes":"Zm9vIP8K""#, r#""absolute_offset":8"#],
        );
        has_all(messages[4], &[r#""type":"end""#, r#""matched_lines":2"#]);
        has_all(
            messages[5],
            &[r#""type":"summary""#, r#""searches_with_match":1"#],
        );
        assert_eq!(messages.len(), 6);
    }
}

/// Lines of a pipe that stays open are printed as they come.
#[test]
fn lines_of_a_pipe_are_printed_at_once() {
    let dir = Dir::new();
    let mut process = dir.process(crate::support::BWZ);
    process
        .args(["grep", "--line-buffered", "foo"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut process = process.spawn().unwrap();
    let mut input = process.stdin.take().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    for n in 0..3 {
        writeln!(input, "bar\nfoo {n}\nbar").unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), format!("foo {n}"));
    }
    drop(input);
    assert!(lines.next().is_none());
    assert!(process.wait().unwrap().success());
}

/// A file without lines is read as one line, in all forms.
#[test]
fn a_file_of_noise_is_searched() {
    let mut bytes = noise(3 << 20);
    bytes.extend_from_slice(b"needle");
    let dir = in_all_forms(&[("x", bytes)]);
    for file in ["x", "x.bwz", "x.i.bwz"] {
        assert_eq!(grep(&dir, "bwz", &["-c", "needle", file]).stdout, b"1\n");
        let found = grep(&dir, "bwz", &["-abo", "needle", file]);
        assert_eq!(found.stdout, format!("{}:needle\n", 3 << 20).as_bytes());
    }
    fs::remove_file(dir.path("x")).unwrap();
}
