//! One GPU of a network of GPUs that exchange words by NCCL.
//!
//! Words of the host are sent and received through buffers on the device, which grow and are kept.
//! When GPUs sort a text together, arrays go from device to device.

use super::distributed::DeviceExchange;
use super::interface::Transferred;
use super::peers::Peers;
use super::runtime::{Array, Communicator, Gpu, GrowingArena, NcclId};
use crate::base::error::{Error, Result};
use cudarc::driver::ValidAsZeroBits;
use std::time::{Duration, Instant};

/// A GPU of a network.
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
    /// Lets GPU `gpu` join a network as `number` of `count`, and waits until all `peers` have
    /// joined. Each peer joins on its own thread, with its own GPU.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU or NCCL is missing, or if one of them or a peer fails.
    pub fn join(
        gpu: u32,
        id: NcclId,
        number: usize,
        count: usize,
        peers: &'p Peers,
    ) -> Result<Self> {
        let gpu = Gpu::open(gpu)?;
        let communicator = Communicator::join(&gpu, id, number, count, peers)?;
        let memory = GrowingArena::default();
        let transferred = Transferred::default();
        Ok(NcclProcessor {
            number,
            count,
            communicator,
            memory,
            transferred,
            gpu,
        })
    }

    /// Number of this GPU in the network, from 0.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Number of GPUs in the network.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Amount of data sent so far.
    pub fn transferred(&self) -> Transferred {
        self.transferred
    }

    /// Sends `messages[q]` to GPU q, and returns the message that each GPU sent to this one. A
    /// first exchange tells the lengths.
    ///
    /// # Errors
    /// [`Error::Device`] if NCCL, the GPU or a peer fails, or if there are 2^32 words or more.
    pub fn all_to_all(&mut self, messages: Vec<Vec<u64>>) -> Result<Vec<Vec<u64>>> {
        let lens: Vec<u64> = messages
            .iter()
            .map(|message| message.len() as u64)
            .collect();
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

    /// Sends `lens[q]` words to each GPU q, and receives `received_lens[q]` words from it. Gives
    /// the words received and the time of the exchange.
    fn exchange(
        &mut self,
        words: &[u64],
        lens: &[u64],
        received_lens: &[u64],
    ) -> Result<(Vec<u64>, Duration)> {
        let received: u64 = received_lens.iter().sum();
        if words.len() as u64 + received >= u64::from(u32::MAX) {
            return Err(Error::Device(
                "2^32 words and more are too many for a superstep".into(),
            ));
        }
        let arrays = [words.len(), received as usize];
        let [from, to] = self
            .memory
            .fit(&self.gpu, |arena| Ok(arrays.map(|len| arena.array(len))))?;
        self.gpu.write(words, from)?;
        let start = Instant::now();
        let [from_parts, to_parts] = [(from, lens), (to, received_lens)].map(|(array, lens)| {
            array.parts(
                &lens
                    .iter()
                    .map(|&len| len as u32)
                    .collect::<Vec<_>>(),
            )
        });
        self.communicator
            .all_to_all(&self.gpu, &from_parts, &to_parts)?;
        self.communicator.wait_for(&self.gpu)?;
        let time = start.elapsed();
        Ok((
            if received > 0 {
                self.gpu.read(to)?
            } else {
                Vec::new()
            },
            time,
        ))
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
        let len = words.len() as u64;
        let count = self.count;
        if words.is_empty() {
            return Ok(vec![Vec::new(); count]);
        }
        let lens = vec![len; count];
        let (all, _) = self.exchange(&words.repeat(count), &lens, &lens)?;
        Ok(all
            .chunks(words.len())
            .map(<[u64]>::to_vec)
            .collect())
    }

    fn all_to_all<T: ValidAsZeroBits>(
        &mut self,
        gpu: &Gpu,
        sent: &[Array<T>],
        received: &[Array<T>],
    ) -> Result<()> {
        // Work queued before is not part of the measured time.
        gpu.wait()?;
        let start = Instant::now();
        self.communicator
            .all_to_all(gpu, sent, received)?;
        self.communicator.wait_for(gpu)?;
        let to_others = sent
            .iter()
            .enumerate()
            .filter(|(q, _)| *q != self.number);
        self.transferred.bytes += to_others
            .map(|(_, array)| array.size() as u64)
            .sum::<u64>();
        let time = start.elapsed();
        self.transferred.time += time;
        self.transferred.copying += time;
        Ok(())
    }

    fn transferred(&self) -> Transferred {
        self.transferred
    }
}
