//! A GPU as one of several that send words to each other, with NCCL.
//!
//! The words come from the host's memory and go back to it, by way of buffers on the device that
//! are kept and grow.

use super::interface::Transferred;
use super::peers::Peers;
use super::runtime::{Arena, Array, Communicator, Gpu, GrowingArena, NcclId};
use crate::error::{Error, Result};
use std::time::{Duration, Instant};

/// A GPU of a network of several.
#[derive(Debug)]
pub struct NcclProcessor<'p> {
    number: usize,
    count: usize,
    communicator: Communicator<'p>,
    memory: GrowingArena,
    transferred: Transferred,
    gpu: Gpu,
}

impl<'p> NcclProcessor<'p> {
    /// Lets GPU `gpu` join a network as `number` of `count`, and waits until all `peers` have. Each
    /// joins on a thread of its own, with a GPU of its own.
    ///
    /// # Errors
    /// [`Error::Device`] where the GPU or NCCL is not there, or one of them or a peer fails.
    pub fn join(
        gpu: u32,
        id: NcclId,
        (number, count): (usize, usize),
        peers: &'p Peers,
    ) -> Result<Self> {
        let gpu = Gpu::open(gpu)?;
        let communicator = Communicator::join(&gpu, id, (number, count), peers)?;
        let (memory, transferred) = (GrowingArena::default(), Transferred::default());
        Ok(NcclProcessor { number, count, communicator, memory, transferred, gpu })
    }

    /// Its number, from 0.
    pub fn number(&self) -> usize {
        self.number
    }

    /// How many GPUs there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// What it has sent so far.
    pub fn transferred(&self) -> Transferred {
        self.transferred
    }

    /// Sends `messages[q]` to GPU q, and gives what each has sent to this one. A first group tells
    /// the lengths.
    ///
    /// # Errors
    /// [`Error::Device`] where NCCL, the GPU or a peer fails, or there are 2^32 words or more.
    pub fn all_to_all(&mut self, messages: Vec<Vec<u64>>) -> Result<Vec<Vec<u64>>> {
        let lens: Vec<u64> = messages.iter().map(|message| message.len() as u64).collect();
        let ones = vec![1; self.count];
        let (received_lens, _) = self.exchange(&lens, &ones, &ones)?;
        let words = messages.concat();
        drop(messages);
        let (received, transferred) = self.exchange(&words, &lens, &received_lens)?;
        let own = lens[self.number];
        self.transferred.bytes += 8 * (words.len() as u64 - own);
        self.transferred.time += transferred;
        let mut rest = &received[..];
        let mut next = |&len: &u64| {
            let (message, behind) = rest.split_at(len as usize);
            rest = behind;
            message.to_vec()
        };
        Ok(received_lens.iter().map(&mut next).collect())
    }

    /// Sends words, as many to each GPU as `lens` says, and receives others; and says how long the
    /// group took.
    fn exchange(
        &mut self,
        words: &[u64],
        lens: &[u64],
        received_lens: &[u64],
    ) -> Result<(Vec<u64>, Duration)> {
        let received: u64 = received_lens.iter().sum();
        if words.len() as u64 + received >= u64::from(u32::MAX) {
            return Err(Error::Device("2^32 words and more are too many for a superstep".into()));
        }
        let arrays = [words.len(), received as usize];
        let size = arrays.map(|len| (8 * len).next_multiple_of(Arena::ALIGNMENT)).iter().sum();
        let mut arena = self.memory.allocator(&self.gpu, size)?;
        let [from, to] = arrays.map(|len| arena.array(len));
        self.gpu.write(words, from)?;
        let start = Instant::now();
        self.communicator.all_to_all(&self.gpu, &parts(from, lens), &parts(to, received_lens))?;
        self.communicator.wait_for(&self.gpu)?;
        let time = start.elapsed();
        Ok((if received > 0 { self.gpu.read(to)? } else { Vec::new() }, time))
    }
}

/// The parts of an array that have these lengths.
fn parts<'m>(array: Array<'m, u64>, lens: &[u64]) -> Vec<Array<'m, u64>> {
    let mut start = 0;
    let mut part = |&len: &u64| {
        let end = start + len as u32;
        let part = array.part(start..end);
        start = end;
        part
    };
    lens.iter().map(&mut part).collect()
}
