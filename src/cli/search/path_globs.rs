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

/// Returns true if the rules allow a file, and the directories that it is in.
pub(crate) fn allow(rules: &Override, file: &Path) -> bool {
    let mut directories = file.ancestors().skip(1);
    !rules.matched(file, false).is_ignore()
        && !directories.any(|directory| rules.matched(directory, true).is_ignore())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_glob_that_matches_counts() {
        let allowed = |globs: &[&str], file: &str| {
            let globs: Vec<String> = globs.iter().map(|&glob| glob.into()).collect();
            allow(&rules(&globs).unwrap(), Path::new(file))
        };
        for (globs, file, wanted) in [
            (&[][..], "a/x.bwz", true),
            (&["x*"], "a/x.bwz", true),
            (&["x*"], "a/y.bwz", false),
            (&["!x*"], "a/x.bwz", false),
            (&["x*", "!*.old.bwz"], "a/x.old.bwz", false),
            (&["!*.old.bwz", "x*"], "a/x.old.bwz", true),
            (&["!old"], "old/b/x.bwz", false),
            (&["!old"], "new/b/x.bwz", true),
        ] {
            assert_eq!(allowed(globs, file), wanted, "{globs:?} {file}");
        }
        assert!(rules(&["[".into()]).is_err());
    }
}
