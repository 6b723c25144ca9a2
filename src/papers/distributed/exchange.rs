//! Network of the processors of a distributed sort. Its one operation is a superstep.
//!
//! A processor's part of an algorithm is an `async` function. It stops at each superstep until all
//! processors have come to it. Nothing else is asynchronous about it, so no runtime is needed.

use crate::base::error::Result;

/// A message for each processor, or from each, in the order of their numbers.
pub type Messages = Vec<Vec<u64>>;

/// One of p processors that exchange words.
///
/// All of them call [`Exchange::all_to_all`] equally often. An implementation only carries words.
/// [`Processor`](super::Processor) counts, gathers and broadcasts them.
pub trait Exchange {
    /// Number of this processor, from 0.
    fn number(&self) -> usize;

    /// Number of processors.
    fn count(&self) -> usize;

    /// Does one superstep: sends `messages[q]` to processor q, and returns the messages that each
    /// processor sent to this one. A message to itself is allowed, and so are empty ones.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the network fails.
    fn all_to_all(&mut self, messages: Messages) -> impl Future<Output = Result<Messages>>;
}

/// Network of a single processor.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Exchange for Alone {
    fn number(&self) -> usize {
        0
    }

    fn count(&self) -> usize {
        1
    }

    async fn all_to_all(&mut self, messages: Messages) -> Result<Messages> {
        Ok(messages)
    }
}

impl<E: Exchange> Exchange for &mut E {
    fn number(&self) -> usize {
        E::number(self)
    }

    fn count(&self) -> usize {
        E::count(self)
    }

    async fn all_to_all(&mut self, messages: Messages) -> Result<Messages> {
        E::all_to_all(self, messages).await
    }
}

/// Adds a segment to a message that has several. A segment is a tag, the length, and the words.
pub(super) fn put_segment(message: &mut Vec<u64>, tag: usize, words: &[u64]) {
    if !words.is_empty() {
        message.extend([tag as u64, words.len() as u64]);
        message.extend(words);
    }
}

/// Returns the tags and words of all messages' segments, in the order of their senders.
pub(super) fn segments(messages: &[Vec<u64>]) -> impl Iterator<Item = (usize, &[u64])> {
    messages.iter().flat_map(|message| {
        let mut rest = &message[..];
        std::iter::from_fn(move || {
            let ([tag, len], words) = rest.split_first_chunk()?;
            let (words, behind) = words.split_at(*len as usize);
            rest = behind;
            Some((*tag as usize, words))
        })
    })
}
