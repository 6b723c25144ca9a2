//! Completion of words in bash: the script is sourced, and the function called as bash calls it.

use crate::support::{BWZ, Dir, stdout};
use assert_cmd::Command;

/// Prints the completions of the last of its arguments.
const ASK: &str = r#"
source <("$BWZ" completions bash)
# It fails outside of a completion that bash has begun.
compopt() { :; }
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_bwz bwz "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

/// The completions of the last word behind `bwz`.
fn completions(dir: &Dir, words: &[&str]) -> Vec<String> {
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", ASK, "ask", "bwz"])
        .args(words)
        .env("BWZ", BWZ)
        .current_dir(dir.root());
    let printed = stdout(bash.assert().success().stderr(""));
    printed.lines().map(str::to_owned).collect()
}

fn with_files() -> Dir {
    let dir = Dir::new();
    for name in [
        "cat.txt",
        "a b.bwz",
        "data.bwz",
        "data.txt",
        "x.tbwz",
        "dir/y.bwz",
        "dir/y.txt",
    ] {
        dir.write(name, b"");
    }
    dir
}

#[test]
fn files_come_before_commands() {
    let dir = with_files();
    let first = completions(&dir, &[""]);
    let commands = first.iter().position(|word| word == "cat");
    assert_eq!(commands, Some(6), "{first:?}");
    assert!(first[..6].contains(&"data.txt".to_owned()));
    assert!(first[6..].contains(&"recover".to_owned()));
    assert!(!first.iter().any(|word| word.starts_with('-')));
    assert_eq!(completions(&dir, &["cat"]), ["cat.txt", "cat"]);
    assert_eq!(completions(&dir, &["reco"]), ["recover"]);
    assert_eq!(completions(&dir, &["-9", "cat"]), ["cat.txt"]);
    assert_eq!(completions(&dir, &["--no-sp"]), ["--no-sparse"]);
    assert_eq!(completions(&dir, &["dir/"]), ["dir/y.bwz", "dir/y.txt"]);
}

#[test]
fn only_compressed_files_are_completed_where_only_these_are_read() {
    let dir = with_files();
    for words in [
        &["-d"][..],
        &["--decompress"],
        &["-t"],
        &["-l"],
        &["-kd"],
        &["-z", "-dc", "-v"],
        &["cat"],
        &["head", "-n", "5"],
        &["tail", "-f"],
        &["extract"],
        &["recover"],
        &["count", "-e", "x"],
    ] {
        let mut files = completions(&dir, &[words, &[""]].concat());
        files.sort();
        let wanted = ["a b.bwz", "data.bwz", "dir", "x.tbwz"];
        assert_eq!(files, wanted, "{words:?}");
        assert_eq!(
            completions(&dir, &[words, &["dir/"]].concat()),
            ["dir/y.bwz"]
        );
        assert_eq!(completions(&dir, &[words, &["a\\ "]].concat()), ["a b.bwz"]);
    }
    for words in [
        &["-z"][..],
        &["-d", "-z"],
        &["-k"],
        &["-otail"],
        &["--index"],
        &["grep", "-l", "x"],
        &["compare"],
    ] {
        let files = completions(&dir, &[words, &["da"]].concat());
        assert_eq!(files.len(), 2, "{words:?}: {files:?}");
    }
}

#[test]
fn values_of_options_are_completed_by_their_kind() {
    let dir = with_files();
    assert_eq!(completions(&dir, &["-o", "da"]).len(), 2);
    assert_eq!(completions(&dir, &["--check", "x"]), ["xxh3"]);
    assert_eq!(completions(&dir, &["-T", "1"]), ["1"]);
    assert_eq!(completions(&dir, &["completions", "fi"]), ["fish"]);
}
