//! [`super::SlotSearch`] as plain Rust, for processors without the others, and to compare with.

pub struct SearchPlain;

impl super::SlotSearch for SearchPlain {
    #[inline(always)]
    fn not_above(starts: &[u16; 16], slot: u16) -> usize {
        starts.iter().filter(|&&start| start <= slot).count()
    }
}
