//! Choice between two filters for lines of fields that repeat each other as a whole: taking the
//! lines apart, or removing the repeats.
//!
//! Lines that name the same things again and again, such as a log of installed packages, look like
//! versions of one text. A sample with repeats is coded both ways, and the sizes decide, the same
//! on every machine; repeats are removed from it either way. Few blocks need this choice, which
//! takes some 0.5 s.

use super::match_finder;
use super::matches;
use crate::base::content_defined;
use crate::base::error::Flaw;
use crate::base::threads::Threads;
use crate::filter::fields::{self, Chosen, Tokens};

/// Bytes per sample window.
const WINDOW: usize = 512 << 10;

/// The best slots of a repetitive `text`, and whether taking it apart is better than only removing
/// its repeats.
/// Repeats that lie too far apart for a sample are always removed. The caller is not a thread of
/// the `pool`.
///
/// # Errors
/// [`Flaw::NO_MEMORY`] if there is no memory.
pub(super) fn choose(text: &[u8], pool: &Threads) -> Result<Option<Chosen>, Flaw> {
    let sample = fields::sample(text, WINDOW);
    let candidates = fields::candidates(&sample);
    let is_repetitive = || content_defined::is_repetitive(&sample, pool).ok_or(Flaw::NO_MEMORY);
    if candidates.is_empty() || !is_repetitive()? {
        return Ok(None);
    }
    // Slots that are best if repeats stay in may keep fields in their templates.
    let kept = fields::choose(text, pool)?.and_then(Chosen::slots);
    let kept = kept.filter(|tokens| !candidates.contains(tokens));
    let ways = [None]
        .into_iter()
        .chain(candidates.into_iter().chain(kept).map(Some));
    let sizes = pool.map(ways, |tokens| {
        Ok((size_without_repeats(&sample, tokens)?, tokens))
    });
    let sizes = sizes
        .into_iter()
        .collect::<Result<Vec<_>, Flaw>>()?;
    Ok(Chosen::best(&sizes).map(|(_, best)| best))
}

/// The coded size of a sample after it is taken apart by `tokens`, if any, and its repeats are
/// removed.
fn size_without_repeats(sample: &[u8], tokens: Option<Tokens>) -> Result<usize, Flaw> {
    let apart = match tokens {
        Some(tokens) => fields::take_apart(sample, tokens, &Threads::Calling)?
            .map(|apart| (apart.text, apart.side)),
        None => Some((sample.to_vec(), Vec::new())),
    };
    let Some((mut text, mut side)) = apart else {
        return Ok(usize::MAX);
    };
    if let Some(found) = match_finder::find(&text, &Threads::Calling)? {
        matches::encode(&mut text, &found, &mut side);
    }
    Ok(fields::coded_size(&text)? + side.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log of packages that are unpacked and set up, in groups that repeat.
    fn packages(groups: usize) -> Vec<u8> {
        let mut log = Vec::new();
        for group in 0..groups {
            for n in 0..6 {
                let package = (group * group % 331 * 7 + n) * 7919 % 4099;
                let name = format!(
                    "lib{:08x}-common-dev:amd64 {}.{n}+dfsg-1",
                    package * 0x9E37,
                    package % 9
                );
                let time = format!("2026-03-{:02} 08:{:02}:{n:02}", group / 60 % 28, group % 60);
                for state in ["half-installed", "unpacked", "half-configured", "installed"] {
                    log.extend(format!("{time} status {state} {name}\n").bytes());
                }
            }
        }
        log
    }

    #[test]
    fn lines_that_repeat_each_other_are_taken_apart_but_far_versions_are_not() {
        let log = packages(900);
        let pool = Threads::Calling;
        assert_eq!(content_defined::is_repetitive(&log, &pool), Some(true));
        let slots = |text: &[u8]| {
            choose(text, &pool)
                .unwrap()
                .and_then(Chosen::slots)
        };
        assert!(slots(&log).is_some());
        // No window of a sample holds the same as another.
        let mut state = 1_u64;
        let version: Vec<u8> = (0..100_000)
            .flat_map(|n| {
                state = state
                    .wrapping_mul(0x5851_F42D_4C95_7F2D)
                    .wrapping_add(1);
                format!("{:06} host {}\n", n * 3, state >> 40).into_bytes()
            })
            .collect();
        let versions = [&version[..], &version[..version.len() * 11 / 20]].concat();
        assert_eq!(content_defined::is_repetitive(&versions, &pool), Some(true));
        assert!(
            fields::choose(&versions, &pool)
                .unwrap()
                .is_some()
        );
        assert_eq!(slots(&versions), None);
    }
}
