//! Globs that choose files of directories, with the rules of ripgrep's `-g`.

use bwz::{Error, Result};
use ignore::overrides::{Override, OverrideBuilder};
use std::path::Path;

/// Makes the rules of `--glob`.
pub(crate) fn rules(globs: &[String]) -> Result<Override> {
    let said = |e: ignore::Error| Error::Usage(format!("--glob: {e}").into());
    let mut builder = OverrideBuilder::new("");
    for glob in globs {
        builder.add(glob).map_err(said)?;
    }
    builder.build().map_err(said)
}

/// Returns true if the rules allow a file below the directory `root`, and the directories between
/// them. The name of the root was given, and is not asked.
pub(crate) fn allow(rules: &Override, root: &Path, file: &Path) -> bool {
    let mut directories = file
        .ancestors()
        .skip(1)
        .take_while(|directory| *directory != root);
    !rules.matched(file, false).is_ignore()
        && !directories.any(|directory| rules.matched(directory, true).is_ignore())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_glob_that_matches_counts() {
        let allowed = |globs: &[&str], root: &str, file: &str| {
            let globs: Vec<String> = globs.iter().map(|&glob| glob.into()).collect();
            allow(&rules(&globs).unwrap(), Path::new(root), Path::new(file))
        };
        for (globs, file, wanted) in [
            (&[][..], "a/x.bwz", true),
            (&["x*"], "a/x.bwz", true),
            (&["x*"], "a/y.bwz", false),
            (&["!x*"], "a/x.bwz", false),
            (&["x*", "!*.old.bwz"], "a/x.old.bwz", false),
            (&["!*.old.bwz", "x*"], "a/x.old.bwz", true),
            (&["!old"], "a/old/b/x.bwz", false),
            (&["!old"], "a/new/b/x.bwz", true),
            (&["!a"], "a/b/x.bwz", true),
            (&["!a"], "a/a/x.bwz", false),
        ] {
            assert_eq!(allowed(globs, "a", file), wanted, "{globs:?} {file}");
        }
        assert!(allowed(&["!old"], "old/", "old/b/x.bwz"));
        assert!(allowed(&["!old"], ".", "./b/x.bwz"));
        assert!(rules(&["[".into()]).is_err());
    }
}
