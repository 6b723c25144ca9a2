//! A hint for patterns that are not found and look like regular expressions. Count and locate take
//! patterns as bytes; `bwz grep` takes expressions.

use crate::cli::arguments::search_args::SearchArgs;
use std::os::unix::ffi::OsStrExt;

/// Says that a pattern was taken as bytes, after a search that found nothing.
pub(crate) fn hint(args: &SearchArgs) {
    if args.hex || args.talk.quiet {
        return;
    }
    let is_first_a_pattern = [&args.lines, &args.fasta]
        .iter()
        .all(|files| files.is_empty())
        && args.patterns.is_empty();
    let first = args.words.first().filter(|_| is_first_a_pattern);
    let mut given = args.patterns.iter().chain(first);
    if let Some(pattern) = given.find(|pattern| is_like_expression(pattern.as_bytes())) {
        args.talk.state(format_args!(
            "the pattern `{}` was searched as bytes; `bwz grep` takes regular expressions",
            pattern.display()
        ));
    }
}

/// True for bytes that a text seldom has and an expression often.
fn is_like_expression(pattern: &[u8]) -> bool {
    let has = |part: &[u8]| memchr::memmem::find(pattern, part).is_some();
    let is_escape = |pair: &[u8]| pair[0] == b'\\' && pair[1].is_ascii_alphabetic();
    let is_range =
        |part: &[u8]| part[0] == b'[' && part[1].is_ascii_alphanumeric() && part[2] == b'-';
    [&b".*"[..], b".+", b".?", b"[^", b"]+", b"]*", b")?"]
        .iter()
        .any(|part| has(part))
        || pattern.windows(2).any(is_escape)
        || pattern.windows(3).any(is_range)
        || pattern.first() == Some(&b'^')
        || pattern.last() == Some(&b'$')
        || has(b"|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_told_from_texts() {
        for pattern in [
            "foo.*bar", r"\d+", "[a-z]x", "^x", "x$", "a|b", "[^,]", "(ab)?",
        ] {
            assert!(is_like_expression(pattern.as_bytes()), "{pattern}");
        }
        for pattern in [
            "",
            "[ERROR] x",
            "a.b",
            "f(x)",
            "C:\\",
            "GET / HTTP",
            "a-b",
            "x = y[0]",
        ] {
            assert!(!is_like_expression(pattern.as_bytes()), "{pattern}");
        }
    }
}
