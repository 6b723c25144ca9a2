//! Choices of slots and forms that earlier blocks of a stream have made, tried out on a block like
//! them.
//!
//! Blocks of one stream are often alike. The choice of slots takes as long for a small block as for
//! a large one, and so do the forms of columns: up to 0.2 s. So the first blocks of a group choose
//! in full, and a block after them takes over the choice of one that it looks like: a sample of it
//! may have the same slots, and taking the sample apart saves as much as it did there. The sample
//! is small, a sixth of that of a full choice, and is taken apart in one way instead of up to 27.
//! The forms of columns are then tried first ([`KnownForms`]).

use crate::base::error::Flaw;
use crate::base::threads::Threads;
use crate::filter::comes_back::comes_back;
use crate::filter::fields::{self, Apart, Chosen, KnownForms, Tokens};
use crate::filter::fields_or_repeats;
use std::fmt;
use std::mem;
use std::sync::Arc;

/// Bytes per window of the sample by which blocks are compared.
const WINDOW: usize = 16 << 10;

/// The sample of a block may be larger than that of the earlier block by one part in this number,
/// once taken apart, both in proportion to themselves as they are.
const MOST_MORE: u64 = 12;

/// The choice of a block's slots, and what the block looks like.
#[derive(Debug)]
pub(crate) struct Choice {
    chosen: Chosen,
    /// The forms of its columns.
    forms: KnownForms,
    looks: Looks,
    /// Coded size of the sample that is taken apart.
    apart: u64,
}

/// Properties that differ between unlike blocks.
#[derive(Debug)]
struct Looks {
    is_repetitive: bool,
    candidates: Vec<Tokens>,
    sample: Vec<u8>,
    /// Coded size of the sample.
    whole: u64,
}

/// The choices that a block may take over, and who wants its own.
#[derive(Default)]
pub(crate) struct EarlierChoices<'p> {
    pub choices: Vec<Arc<Choice>>,
    /// Takes the choice of this block if it makes one in full, for blocks after it. It is dropped
    /// as soon as this is known not to happen.
    pub publish: Option<Box<dyn FnOnce(Choice) + Send + 'p>>,
}

impl fmt::Debug for EarlierChoices<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EarlierChoices")
            .field("choices", &self.choices)
            .finish_non_exhaustive()
    }
}

impl EarlierChoices<'_> {
    /// Takes the lines of `block` apart if it is one of fields. The caller is not a thread of the
    /// `pool`.
    ///
    /// # Errors
    /// [`Flaw::NO_MEMORY`] if there is no memory.
    pub(super) fn take_apart(
        self,
        block: &[u8],
        is_repetitive: bool,
        pool: &Threads,
    ) -> Result<Option<Apart>, Flaw> {
        let EarlierChoices { choices, publish } = self;
        let mut looks = None;
        if !choices.is_empty() {
            let own = Looks::of(block, is_repetitive)?;
            for choice in choices {
                if choice.suits(&own)? {
                    // Nobody has to wait until this block is taken apart.
                    drop(publish);
                    return apart(block, choice.chosen, &choice.forms, pool);
                }
            }
            looks = Some(own);
        }
        let chosen = match is_repetitive {
            true => fields_or_repeats::choose(block, pool)?,
            false => fields::choose(block, pool)?,
        };
        let Some(chosen) = chosen else {
            return Ok(None);
        };
        let mut done = apart(block, chosen, &KnownForms::default(), pool)?;
        if let Some(publish) = publish {
            let looks = match looks {
                Some(looks) => looks,
                None => Looks::of(block, is_repetitive)?,
            };
            let forms = done
                .as_mut()
                .map(|apart| mem::take(&mut apart.forms));
            publish(Choice::new(chosen, looks, forms.unwrap_or_default())?);
        }
        Ok(done)
    }
}

/// Takes a block apart by a choice, with the forms that are `known`.
fn apart(
    block: &[u8],
    chosen: Chosen,
    known: &KnownForms,
    pool: &Threads,
) -> Result<Option<Apart>, Flaw> {
    let Some(tokens) = chosen.slots() else {
        return Ok(None);
    };
    let Some(apart) = fields::take_apart_like(block, tokens, known, pool)? else {
        return Ok(None);
    };
    let restored = || fields::put_together(&apart.text, &mut &apart.side[..], block.len());
    Ok(comes_back(block, pool.install(restored))?.then_some(apart))
}

impl Choice {
    fn new(chosen: Chosen, mut looks: Looks, forms: KnownForms) -> Result<Self, Flaw> {
        let apart = looks.apart(chosen.tokens)?;
        looks.sample = Vec::new();
        Ok(Choice {
            chosen,
            forms,
            looks,
            apart,
        })
    }

    /// Returns true if a block that looks like this may take over the choice.
    fn suits(&self, looks: &Looks) -> Result<bool, Flaw> {
        let are_alike = self.looks.is_repetitive == looks.is_repetitive
            && self.looks.candidates == looks.candidates;
        if looks.candidates.is_empty() || !are_alike {
            return Ok(false);
        }
        let here = looks.apart(self.chosen.tokens)? * self.looks.whole;
        let there = self.apart * looks.whole;
        Ok(match self.chosen.gains {
            true => here <= there + there / MOST_MORE,
            false => here + here / MOST_MORE >= there,
        })
    }
}

impl Looks {
    fn of(block: &[u8], is_repetitive: bool) -> Result<Self, Flaw> {
        let sample = fields::sample(block, WINDOW);
        let candidates = fields::candidates(&sample);
        // No choice suits a block without candidates.
        let whole = match candidates[..] {
            [] => 0,
            _ => fields::coded_size(&sample)? as u64,
        };
        Ok(Looks {
            is_repetitive,
            candidates,
            sample,
            whole,
        })
    }

    /// Returns the coded size of the sample if it is taken apart. That is a large number if it
    /// cannot be.
    fn apart(&self, tokens: Tokens) -> Result<u64, Flaw> {
        let size = fields::size_apart(&self.sample, Some(tokens))?;
        Ok(size.min(u32::MAX as usize) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;
    use std::sync::Mutex;

    /// Takes a block apart that may take over `choices`. Returns true if that gained something, and
    /// its own choice if it made one.
    fn chosen(block: &[u8], choices: &[Arc<Choice>]) -> (bool, Option<Arc<Choice>>) {
        let own = Mutex::new(None);
        let earlier = EarlierChoices {
            choices: choices.to_vec(),
            publish: Some(Box::new(|choice| {
                *own.lock().unwrap() = Some(Arc::new(choice))
            })),
        };
        let apart = earlier
            .take_apart(block, false, &Threads::Calling)
            .unwrap();
        (apart.is_some(), own.into_inner().unwrap())
    }

    fn case(name: &str) -> Vec<u8> {
        let cases = cases::filtered(400_000);
        let (_, bytes, _) = cases
            .into_iter()
            .find(|(known, ..)| *known == name)
            .unwrap();
        bytes
    }

    #[test]
    fn a_block_takes_over_the_choice_of_one_like_it_and_of_no_other() {
        let mut choices = Vec::new();
        for name in ["log", "comma-separated values", "lists", "reads"] {
            let block = case(name);
            let (first, second) = block.split_at(block.len() / 2);
            let (is_apart, own) = chosen(first, &choices);
            assert!(is_apart, "{name}");
            choices.push(own.expect("no block before is like it"));
            let (is_apart, own) = chosen(second, &choices);
            assert!(is_apart && own.is_none(), "{name}");
        }
        let (is_apart, own) = chosen(&cases::text(200_000), &choices);
        assert!(!is_apart && own.is_none());
    }

    #[test]
    fn a_block_like_one_that_is_left_whole_is_left_whole() {
        let line = |n: u32| format!("{:08x},{:08x},\n", n.wrapping_mul(0x9E37_79B1), n * n % 9);
        let block: String = (0..9000).map(line).collect();
        let (_, own) = chosen(block.as_bytes(), &[]);
        let mut own = Arc::into_inner(own.unwrap()).unwrap();
        own.chosen.gains = false;
        let (is_apart, again) = chosen(block.as_bytes(), &[Arc::new(own)]);
        assert!(!is_apart && again.is_none());
    }
}
