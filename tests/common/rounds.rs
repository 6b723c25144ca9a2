//! Number of random cases in a test: few for each change, many before a release.

/// Rounds to run of cases that are made at random: `few` for each change (`.ci/run`),
/// `many` with the long checks (`.ci/full`, which sets `BWZ_CI_FULL=1`).
pub fn rounds(few: usize, many: usize) -> usize {
    match std::env::var("BWZ_CI_FULL").as_deref() {
        Ok("1") => many,
        _ => few,
    }
}
