//! The FM-index in memory.

use super::{made_up, on_one_thread, u16_at};
use bwz::Result;
use bwz::bwt::Sorter;
use bwz::fm_index::{FmIndex, Row};

/// Maximum number of located positions, which bounds the time.
const LOCATED: usize = 64;

/// Search finds the same as a plain search. In a made-up transform, it finds something or fails.
pub fn index(input: &[u8]) {
    on_one_thread();
    let Some((choice, bytes)) = input.split_at_checked(5) else {
        return;
    };
    if bytes.is_empty() {
        return;
    }
    let rate = 2 << (choice[0] / 2 % 8);
    let from = u16_at(choice, 1) % bytes.len();
    let pattern = &bytes[from..bytes
        .len()
        .min(from + usize::from(choice[3] % 32))];
    if choice[0] % 2 == 0 {
        let index = FmIndex::new(Sorter::Cpu.sort(bytes, rate).unwrap()).unwrap();
        let mut index = if choice[4] % 2 == 0 {
            index
        } else {
            index.with_sample_rate(2).unwrap()
        };
        if choice[4] % 4 < 2 {
            index.add_text(4).unwrap();
        }
        let wide = FmIndex::wide(Sorter::Cpu.sort(bytes, rate).unwrap()).unwrap();
        let found = index.locate(pattern, LOCATED).unwrap();
        let starts = |at: &u32| bytes[*at as usize..].starts_with(pattern);
        assert!(found.iter().all(starts) && found.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(wide.count(pattern), u64::from(index.count(pattern)));
        let wanted = occurrences(bytes, pattern);
        assert_eq!(
            (index.count(pattern) as usize, found.len()),
            (wanted, wanted.min(LOCATED))
        );
        assert_eq!(index.count_all(&[pattern]).unwrap(), [wanted as u32]);
        assert_eq!(index.extract(from..from + pattern.len()).unwrap(), pattern);
    } else if choice[0] / 2 % 2 == 0 {
        if let Ok(index) = FmIndex::new(made_up(rate, bytes, u16_at(choice, 3))) {
            let _ = survive(index, pattern, from);
        }
    } else if let Ok(index) = FmIndex::wide(made_up(rate, bytes, u16_at(choice, 3))) {
        let _ = survive(index, pattern, from);
    }
}

/// Number of occurrences of `pattern`, overlaps included. The empty pattern is everywhere and at
/// the end.
fn occurrences(bytes: &[u8], pattern: &[u8]) -> usize {
    match pattern {
        [] => bytes.len() + 1,
        [first, rest @ ..] => {
            let here = |at: &usize| bytes[*at] == *first && bytes[at + 1..].starts_with(rest);
            (0..bytes.len()).filter(here).count()
        }
    }
}

fn survive<R: Row>(index: FmIndex<R>, pattern: &[u8], from: usize) -> Result<()> {
    assert!(index.count(pattern).get() <= index.len() + 1);
    let _ = index.locate(pattern, LOCATED);
    assert_eq!(
        index.extract(from..from + pattern.len())?.len(),
        pattern.len()
    );
    let mut index = index.with_sample_rate(2)?;
    index.add_text(4)?;
    index.count_all(&[pattern])?;
    index.locate(pattern, LOCATED).map(drop)
}
