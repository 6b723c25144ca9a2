//! Unresolved minimizers of all GPUs on one: the host side of
//! `kernels/distributed/joined_lists.cu`.

use crate::base::error::Result;
use crate::gpu::runtime::kernel_structs::{JoinArgs, UnsortedGroupsView};
use crate::gpu::runtime::tuning::THREADS;
use crate::gpu::runtime::{Array, Gpu, arguments};
use crate::gpu::sort::UnsortedGroups;

/// A list of minimizers on another GPU, which this one can read, with the groups of the list from
/// which they were selected.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeerList {
    pub items: u32,
    pub groups: u32,
    /// First row of the text that the GPU sorts. Its rows are counted from there.
    pub first_row: u32,
    pub view: UnsortedGroupsView,
}

impl PeerList {
    /// The list in words for another GPU, without the first row.
    pub(super) fn words(&self) -> [u64; 6] {
        let UnsortedGroupsView {
            sa_indices,
            suffixes,
            groups,
            group_heads,
        } = self.view;
        [
            self.items.into(),
            self.groups.into(),
            sa_indices,
            suffixes,
            groups,
            group_heads,
        ]
    }

    pub(super) fn from_words(words: &[u64], first_row: u32) -> Self {
        let view = UnsortedGroupsView {
            sa_indices: words[2],
            suffixes: words[3],
            groups: words[4],
            group_heads: words[5],
        };
        PeerList {
            items: words[0] as u32,
            groups: words[1] as u32,
            first_row,
            view,
        }
    }
}

/// Joins lists, those with smaller rows first. The `ranks` of minimizers become those of their
/// groups.
#[allow(unsafe_code)]
pub(super) fn join_lists(
    gpu: &Gpu,
    lists: &[PeerList],
    to: UnsortedGroups,
    heads: Array<u64>,
    ranks: Array<u64>,
) -> Result<()> {
    let mut item = 0;
    let mut group = 0;
    for &PeerList {
        items,
        groups,
        first_row,
        view,
    } in lists
    {
        assert!(to.suffixes.len() >= item + items && heads.len() >= group + groups);
        let to = to.view();
        let ranks = ranks.address();
        let row = first_row;
        let ctas = items.div_ceil(THREADS);
        let arguments = JoinArgs {
            from: view,
            to,
            ranks,
            items,
            row,
            item,
            group,
        };
        // SAFETY: the other GPU has `items` items in this list, and waits until all GPUs have
        // joined theirs; there is room for them here.
        unsafe { gpu.launch_struct("joined_lists/join_list", ctas, THREADS, &arguments)? };
        let own = heads.part(group..group + groups);
        let arguments = arguments![view.group_heads, groups, first_row, own];
        // SAFETY: as above, for the `groups` groups of the list.
        unsafe { gpu.each("joined_lists/join_heads", groups, arguments)? };
        (item, group) = (item + items, group + groups);
    }
    Ok(())
}
