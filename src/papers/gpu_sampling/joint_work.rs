//! A GPU that works on a text with others, or alone: its stream, the network, and the primitives
//! that all steps use.

use crate::base::error::Result;
use crate::gpu::TextParts;
use crate::gpu::Transferred;
use crate::gpu::distributed::{DeviceExchange, KeySplits};
use crate::gpu::primitives::cub::Cub;
use crate::gpu::runtime::{Array, Gpu};
use cudarc::driver::ValidAsZeroBits;

/// Tools of a GPU for one step of a sort.
pub(super) struct JointWork<'w, 'm, E> {
    pub gpu: &'w Gpu,
    pub exchange: &'w mut E,
    pub cub: Cub<'m>,
    pub splits: KeySplits<'m>,
}

/// Network of a single GPU.
#[derive(Debug)]
pub(super) struct OneGpu;

impl DeviceExchange for OneGpu {
    fn number(&self) -> usize {
        0
    }

    fn count(&self) -> usize {
        1
    }

    fn all_gather(&mut self, words: &[u64]) -> Result<Vec<Vec<u64>>> {
        Ok(vec![words.to_vec()])
    }

    fn all_to_all<T: ValidAsZeroBits>(
        &mut self,
        gpu: &Gpu,
        sent: &[Array<T>],
        received: &[Array<T>],
    ) -> Result<()> {
        gpu.copy(sent[0], received[0])
    }

    fn transferred(&self) -> Transferred {
        Transferred::default()
    }
}

impl<E: DeviceExchange> JointWork<'_, '_, E> {
    /// Number of this GPU.
    pub(super) fn number(&self) -> usize {
        self.exchange.number()
    }

    /// Returns true if there are no other GPUs.
    pub(super) fn is_alone(&self) -> bool {
        self.exchange.count() == 1
    }
}

/// Returns the number of items that GPU `number` sends to each GPU, and the number that it receives
/// from each. The items of all GPUs are divided as in `parts`, before the exchange and after it.
/// For each border between two GPUs, `before` has the number of items of each GPU that come before
/// the border.
pub(super) fn exchanged_at(
    parts: TextParts,
    before: &[Vec<u64>],
    number: usize,
) -> (Vec<u32>, Vec<u32>) {
    let up_to = |from: usize, border: usize| match border {
        0 => 0,
        border => before
            .get(border - 1)
            .map_or(parts.part_len(from), |before| before[from]),
    };
    let sends = |from: usize, to: usize| (up_to(from, to + 1) - up_to(from, to)) as u32;
    let gpus = 0..parts.gpus();
    (
        gpus.clone().map(|to| sends(number, to)).collect(),
        gpus.map(|from| sends(from, number)).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten items on four GPUs, whose parts have 3, 3, 3 and 1.
    #[test]
    fn what_is_cut_goes_where_the_borders_say() {
        let parts = TextParts::new(10, 4);
        let before = [vec![1, 2, 0, 0], vec![2, 3, 1, 0], vec![3, 3, 2, 1]];
        let sent = [[1, 1, 1, 0], [2, 1, 0, 0], [0, 1, 1, 1], [0, 0, 1, 0]];
        for gpu in 0..4 {
            let received = sent.map(|sent| sent[gpu]).to_vec();
            assert_eq!(
                exchanged_at(parts, &before, gpu),
                (sent[gpu].to_vec(), received)
            );
        }
        // A border after all items is not cut.
        let few = TextParts::new(2, 4);
        assert_eq!(
            exchanged_at(few, &[vec![0, 1, 0, 0]], 0),
            (vec![0, 1, 0, 0], vec![0, 1, 0, 0])
        );
    }
}
