//! A GPU as one of several that send words to each other, with NCCL.
//!
//! Words come from the host's memory and go back to it, by way of buffers on the device that are
//! kept and grow. Where GPUs sort a text together, arrays go from device to device.

use super::distributed::DeviceExchange;
use super::interface::Transferred;
use super::peers::Peers;
use super::runtime::{Array, Communicator, Gpu, GrowingArena, NcclId};
use crate::error::{Error, Result};
use cudarc::driver::ValidAsZeroBits;
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
        self.transferred.copying += transferred;
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
        let [from, to] =
            self.memory.fit(&self.gpu, |arena| Ok(arrays.map(|len| arena.array(len))))?;
        self.gpu.write(words, from)?;
        let start = Instant::now();
        let [from_parts, to_parts] = [(from, lens), (to, received_lens)].map(|(array, lens)| {
            array.parts(&lens.iter().map(|&len| len as u32).collect::<Vec<_>>())
        });
        self.communicator.all_to_all(&self.gpu, &from_parts, &to_parts)?;
        self.communicator.wait_for(&self.gpu)?;
        let time = start.elapsed();
        Ok((if received > 0 { self.gpu.read(to)? } else { Vec::new() }, time))
    }
}

impl DeviceExchange for NcclProcessor<'_> {
    fn number(&self) -> usize {
        self.number
    }

    fn count(&self) -> usize {
        self.count
    }

    fn all_gather(&mut self, words: &[u64]) -> Result<Vec<Vec<u64>>> {
        let (len, count) = (words.len() as u64, self.count);
        if words.is_empty() {
            return Ok(vec![Vec::new(); count]);
        }
        let lens = vec![len; count];
        let (all, _) = self.exchange(&words.repeat(count), &lens, &lens)?;
        Ok(all.chunks(words.len()).map(<[u64]>::to_vec).collect())
    }

    fn all_to_all<T: ValidAsZeroBits>(
        &mut self,
        gpu: &Gpu,
        sent: &[Array<T>],
        received: &[Array<T>],
    ) -> Result<()> {
        // What the stream has to do before is no exchange.
        gpu.wait()?;
        let start = Instant::now();
        self.communicator.all_to_all(gpu, sent, received)?;
        self.communicator.wait_for(gpu)?;
        let to_others = sent.iter().enumerate().filter(|(q, _)| *q != self.number);
        self.transferred.bytes += to_others.map(|(_, array)| array.size() as u64).sum::<u64>();
        let time = start.elapsed();
        self.transferred.time += time;
        self.transferred.copying += time;
        Ok(())
    }

    fn transferred(&self) -> Transferred {
        self.transferred
    }
}
