//! Facts about the slices of a block that its index states, found on all threads.

use crate::base::tasks::Executor;
use crate::frame::SliceFacts;

/// Counts the bytes in each slice of a transform, and takes the checksums of the slices' coded
/// forms.
pub(super) fn slice_facts<S: AsRef<[u8]> + Sync>(
    on: Executor,
    mut bwt: &[u8],
    raw_sizes: &[u32],
    slices: &[S],
) -> Vec<SliceFacts> {
    let parts = raw_sizes
        .iter()
        .map_while(|&size| bwt.split_off(..size as usize))
        .zip(slices);
    on.map(parts, |(raw, coded)| SliceFacts::of(raw, coded.as_ref()))
}
