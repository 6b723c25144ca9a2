//! The options `--include`, `--exclude` and `--exclude-dir` of GNU grep. Their order counts: the
//! last rule about files that matches a name decides. A file that no rule matches is searched,
//! unless the first rule is `--include`.
//!
//! A file or directory in a directory is known by the last part of its name. One that the command
//! line names is known by its whole name too, and by each part of it behind a slash.

use clap::error::Error;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use globset::{GlobBuilder, GlobMatcher};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The rules about names of files and directories.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameRules {
    /// Rules about files, in the order in which they were given.
    files: Vec<NameRule>,
    /// Globs of directories that are left out.
    directories: Vec<GlobMatcher>,
}

#[derive(Clone, Debug)]
struct NameRule {
    includes: bool,
    glob: GlobMatcher,
}

impl NameRules {
    /// Returns true if a file is left out. `is_given` tells that the command line names it.
    pub(crate) fn skip_file(&self, path: &Path, is_given: bool) -> bool {
        let last = self
            .files
            .iter()
            .rev()
            .find(|rule| is_named(path, is_given, &rule.glob));
        match last {
            Some(rule) => !rule.includes,
            None => self
                .files
                .first()
                .is_some_and(|rule| rule.includes),
        }
    }

    /// Returns true if a directory is skipped, with its contents.
    pub(crate) fn skip_directory(&self, path: &Path, is_given: bool) -> bool {
        self.directories
            .iter()
            .any(|glob| is_named(path, is_given, glob))
    }
}

/// Returns true if a glob matches one of the names of a path.
fn is_named(path: &Path, is_given: bool, glob: &GlobMatcher) -> bool {
    if !is_given {
        return path
            .file_name()
            .is_some_and(|name| glob.is_match(name));
    }
    let name = path.as_os_str().as_bytes();
    let starts = memchr::memchr_iter(b'/', name).map(|slash| slash + 1);
    [0].into_iter()
        .chain(starts)
        .any(|start| glob.is_match(OsStr::from_bytes(&name[start..])))
}

/// Parses a glob of fnmatch: braces have no meaning, and `*` matches slashes too.
pub(crate) fn glob(text: &str) -> Result<GlobMatcher, String> {
    let mut glob = String::new();
    let mut is_escaped = false;
    for c in text.chars() {
        if matches!(c, '{' | '}') && !is_escaped {
            glob.push('\\');
        }
        is_escaped = c == '\\' && !is_escaped;
        glob.push(c);
    }
    let parsed = GlobBuilder::new(&glob)
        .literal_separator(false)
        .backslash_escape(true)
        .build();
    parsed
        .map(|glob| glob.compile_matcher())
        .map_err(|e| e.kind().to_string())
}

const OPTIONS: [(&str, &str); 3] = [
    (
        "include",
        "Search only the files whose name matches GLOB, as in --include='*.log.bwz'. Of several \
         --include and --exclude, the last one that matches a name counts",
    ),
    ("exclude", "Leave out the files whose name matches GLOB"),
    (
        "exclude-dir",
        "With -r: leave out the directories whose name matches GLOB",
    ),
];

impl Args for NameRules {
    fn augment_args(command: Command) -> Command {
        let arguments = OPTIONS.map(|(name, help)| {
            Arg::new(name)
                .long(name)
                .help(help)
                .value_name("GLOB")
                .action(ArgAction::Append)
                .allow_hyphen_values(true)
                .value_parser(move |text: &str| match name {
                    "exclude-dir" => glob(text.trim_end_matches('/')),
                    _ => glob(text),
                })
        });
        command.args(arguments)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for NameRules {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let globs = |name: &str| {
            let globs = matches.get_many::<GlobMatcher>(name);
            globs.into_iter().flatten().cloned()
        };
        let mut files = Vec::new();
        for (name, includes) in [("include", true), ("exclude", false)] {
            let places = matches.indices_of(name).into_iter().flatten();
            files.extend(places.zip(globs(name).map(|glob| NameRule { includes, glob })));
        }
        files.sort_by_key(|(place, _)| *place);
        Ok(NameRules {
            files: files.into_iter().map(|(_, rule)| rule).collect(),
            directories: globs("exclude-dir").collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(words: &[&str]) -> NameRules {
        let command = NameRules::augment_args(Command::new("grep"));
        let words = ["grep"].iter().chain(words);
        let matches = command.try_get_matches_from(words).unwrap();
        NameRules::from_arg_matches(&matches).unwrap()
    }

    #[test]
    fn the_last_rule_that_matches_decides() {
        for (words, path, is_given, wanted) in [
            (&[][..], "a/x.c", false, false),
            (&["--include=*.c"], "a/x.c", false, false),
            (&["--include=*.c"], "a/x.h", false, true),
            (&["--exclude=*.c"], "a/x.h", false, false),
            (&["--exclude=*.c", "--include=x*"], "a/x.c", false, false),
            (&["--include=x*", "--exclude=*.c"], "a/x.c", false, true),
            (&["--exclude=*.c", "--include=x*"], "a/y.h", false, false),
            (&["--exclude=a/*"], "a/x.c", false, false),
            (&["--exclude=a/*"], "b/a/x.c", true, true),
            (&["--exclude=/x.c"], "a/x.c", true, false),
            (&["--exclude={x,y}.c"], "x.c", true, false),
            (&["--exclude={x,y}.c"], "{x,y}.c", true, true),
            (&["--exclude=[!a-w].?"], "x.c", true, true),
        ] {
            let skips = rules(words).skip_file(Path::new(path), is_given);
            assert_eq!(skips, wanted, "{words:?} {path}");
        }
    }

    #[test]
    fn directories_have_rules_of_their_own() {
        let rules = rules(&["--exclude-dir=old/", "--exclude=new"]);
        let skips = |path: &str, is_given| rules.skip_directory(Path::new(path), is_given);
        assert!(skips("a/old", false) && skips("a/old", true) && skips("old", true));
        assert!(!skips("old/a", false) && !skips("a/new", false));
    }
}
