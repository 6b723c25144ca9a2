//! Filters: what is done to a block before its suffixes are sorted, where that pays. FORMAT.md
//! section 14.
//!
//! raw block -> [`apply`] -> text -> sort ... invert -> text -> [`undo`] -> raw block. Each filter
//! looks for its own kind of data and leaves everything else alone, at 1 to 2 % of the time that a
//! block takes, and the look for copies at 3 %:
//!
//! | filter | kind of data | what it does |
//! |---|---|---|
//! | `lines` | genomes and proteins in lines of one width | joins the lines |
//! | `regions` | tables, images, sound, machine code | differences, transposition, absolute targets |
//! | `matches` | versions, and long copies in anything | takes out what was there before |
//!
//! They are applied in this order. All are undone at the speed of a few passes over the block.

mod anchors;
mod bits;
mod branches;
mod copies;
mod detect;
pub(crate) mod finder;
pub(crate) mod lines;
pub(crate) mod matches;
mod number;
mod records;
pub(crate) mod regions;

#[cfg(test)]
use crate::cases;
use crate::error::Flaw;

/// Flags of a block: which filters were applied.
pub(crate) const LINES: u8 = 1;
pub(crate) const REGIONS: u8 = 2;
pub(crate) const MATCHES: u8 = 4;
/// All flags that there are.
pub const ALL: u8 = LINES | REGIONS | MATCHES;

/// Smaller blocks are not worth the look.
const LEAST_BLOCK: usize = if cfg!(fuzzing) { 1 << 10 } else { 32 << 10 };

/// A block ready to be sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filtered {
    /// What is sorted: at least 1 byte, and no more than the block had.
    pub text: Vec<u8>,
    /// The filters that were applied, as in the block's header; 0 where the text is the block.
    pub flags: u8,
    /// What [`undo`] needs besides the text; empty where no filter was applied.
    pub side: Vec<u8>,
}

impl Filtered {
    /// `block` without filters.
    pub fn unchanged(block: Vec<u8>) -> Self {
        Filtered { text: block, flags: 0, side: Vec::new() }
    }
}

/// Applies the filters that suit `block`. Where copies are to be taken out of it, `before_matches`
/// is called first: that takes 5 bytes of memory per byte, so that what can be freed should be.
///
/// # Errors
/// [`Flaw::NO_MEMORY`].
pub fn apply(block: Vec<u8>, before_matches: impl FnOnce()) -> Result<Filtered, Flaw> {
    if block.len() < LEAST_BLOCK {
        return Ok(Filtered::unchanged(block));
    }
    let (mut text, mut flags) = (block, 0);
    // Written in the order in which they are undone.
    let (mut of_lines, mut of_regions, mut side) = (Vec::new(), Vec::new(), Vec::new());
    if let Some(width) = lines::detect(&text) {
        text = lines::encode(&text, width, &mut of_lines)?;
        flags |= LINES;
    }
    let repetitive = finder::is_repetitive(&text)?;
    // Copies of code have the same relative targets, not the same absolute ones.
    let regions = detect::detect(&text, !repetitive);
    if !regions.is_empty() {
        regions::encode(&mut text, &regions, &mut of_regions)?;
        flags |= REGIONS;
    }
    let found = if repetitive {
        before_matches();
        finder::find(&text)?
    } else {
        copies::find(&text)?
    };
    if let Some(found) = found {
        matches::encode(&mut text, &found, &mut side);
        flags |= MATCHES;
    }
    side.extend(of_regions);
    side.extend(of_lines);
    Ok(Filtered { text, flags, side })
}

/// Restores the block of `size` bytes.
///
/// # Errors
/// A [`Flaw`] where the parts do not fit each other. Any parts at all are survived, in time and
/// memory that `size` bounds.
pub fn undo(filtered: Filtered, size: usize) -> Result<Vec<u8>, Flaw> {
    let Filtered { mut text, flags, side } = filtered;
    let mut rest = &side[..];
    if flags & MATCHES != 0 {
        text = matches::decode(&text, &mut rest, size)?;
    }
    if flags & REGIONS != 0 {
        regions::decode(&mut text, &mut rest)?;
    }
    if flags & LINES != 0 {
        text = lines::decode(&text, &mut rest, size)?;
    }
    if text.len() == size && rest.is_empty() && flags & !ALL == 0 {
        Ok(text)
    } else {
        Err(Flaw("the filters of a block do not restore as many bytes as it has"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bwt::Sorter;
    use crate::coder::{self, Effort};

    fn coded_size(text: &[u8]) -> usize {
        let bwt = Sorter::Cpu.sort(text, 1 << 16).unwrap();
        coder::encode_segments(&bwt.bytes, 20, Effort::Default).iter().map(Vec::len).sum()
    }

    #[test]
    fn every_kind_comes_back_smaller() {
        for size in [100_000, 600_000] {
            for (name, block, flags) in cases::filtered(size) {
                let filtered = apply(block.clone(), || ()).unwrap();
                assert_eq!(filtered.flags, flags, "{name} of {size}");
                let (before, after) = (coded_size(&block), coded_size(&filtered.text));
                let after = after + filtered.side.len();
                assert!(after * 100 < before * 98, "{name} of {size}: {before}, {after} filtered");
                assert!(undo(filtered, block.len()).unwrap() == block, "{name} of {size}");
            }
        }
    }

    #[test]
    fn other_data_is_left_alone() {
        let plain = ["text", "DNA", "random", "random bits", "random over 17", "random over 255"];
        for (name, block) in cases::shapes(1_000_000) {
            if plain.contains(&name.as_str()) {
                assert_eq!(apply(block, || ()).unwrap().flags, 0, "{name}");
            }
        }
    }

    #[test]
    fn any_parameters_are_survived() {
        for (_, block, _) in cases::filtered(40_000) {
            let filtered = apply(block.clone(), || ()).unwrap();
            let text = &filtered.text[..filtered.text.len().min(3000)];
            for bit in 0..filtered.side.len().min(60) * 8 {
                let mut side = filtered.side.clone();
                side[bit / 8] ^= 1 << (bit % 8);
                for flags in [filtered.flags, 7] {
                    let damaged = Filtered { text: text.to_vec(), flags, side: side.clone() };
                    if let Ok(restored) = undo(damaged, block.len()) {
                        assert_eq!(restored.len(), block.len());
                    }
                }
            }
        }
    }

    #[test]
    fn every_case_comes_back() {
        for (name, block) in cases::named().into_iter().chain(cases::shapes(100_000)) {
            let filtered = apply(block.clone(), || ()).unwrap();
            assert!(filtered.text.len() <= block.len());
            assert_eq!(filtered.flags == 0, filtered.side.is_empty());
            assert!(undo(filtered, block.len()).unwrap() == block, "{name}");
        }
    }
}
