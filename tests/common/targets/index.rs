//! The FM-index in memory.

use super::{alone, made_up, u16_at};
use bwz::Result;
use bwz::bwt::Sorter;
use bwz::fm_index::FmIndex;

/// Search finds what a plain search finds; in a made-up transform it finds something or fails.
pub fn index(input: &[u8]) {
    alone();
    let Some((choice, bytes)) = input.split_at_checked(5) else { return };
    if bytes.is_empty() {
        return;
    }
    let rate = 2 << (choice[0] / 2 % 12);
    let from = u16_at(choice, 1) % bytes.len();
    let pattern = &bytes[from..bytes.len().min(from + usize::from(choice[3]))];
    if choice[0] % 2 == 0 {
        let index = FmIndex::new(Sorter::Cpu.sort(bytes, rate).unwrap()).unwrap();
        let index = if choice[4] % 2 == 0 { index } else { index.with_sample_rate(2).unwrap() };
        let starts = |at: &u32| bytes[*at as usize..].starts_with(pattern);
        let wanted: Vec<u32> = (0..=bytes.len() as u32).filter(starts).collect();
        assert_eq!(index.count(pattern) as usize, wanted.len());
        assert_eq!(index.locate(pattern, usize::MAX).unwrap(), wanted);
        assert_eq!(index.extract(from..from + pattern.len()).unwrap(), pattern);
    } else if let Ok(index) = FmIndex::new(made_up(rate, bytes, u16_at(choice, 3))) {
        let _ = survive(index, pattern, from);
    }
}

fn survive(index: FmIndex, pattern: &[u8], from: usize) -> Result<()> {
    assert!(index.count(pattern) as usize <= index.len() + 1);
    let _ = index.locate(pattern, 20);
    assert_eq!(index.extract(from..from + pattern.len())?.len(), pattern.len());
    index.with_sample_rate(2)?.locate(pattern, 20).map(drop)
}
