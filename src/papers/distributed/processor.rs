//! A processor of a BSP machine: an [`Exchange`], its supersteps, and their costs.

use super::exchange::{Exchange, Messages};
use crate::base::error::Result;

/// One superstep as a processor saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Superstep {
    /// Level of the recursion, from 0.
    pub level: u32,
    /// Step of the algorithm.
    pub step: &'static str,
    /// Words sent to other processors.
    pub sent: u64,
    /// Words received from other processors.
    pub received: u64,
}

/// A processor, and the supersteps that it has taken part in.
#[derive(Debug)]
pub struct Processor<E> {
    exchange: E,
    supersteps: Vec<Superstep>,
    level: u32,
    step: &'static str,
}

impl<E: Exchange> Processor<E> {
    /// Creates a processor before its first superstep.
    pub fn new(exchange: E) -> Self {
        Processor {
            exchange,
            supersteps: Vec::new(),
            level: 0,
            step: "",
        }
    }

    /// Number of this processor, from 0.
    pub fn number(&self) -> usize {
        self.exchange.number()
    }

    /// Number of processors.
    pub fn count(&self) -> usize {
        self.exchange.count()
    }

    /// Supersteps so far.
    pub fn into_supersteps(self) -> Vec<Superstep> {
        self.supersteps
    }

    /// Assigns the supersteps from now on to this step of this level.
    pub fn enter(&mut self, level: u32, step: &'static str) {
        (self.level, self.step) = (level, step);
    }

    /// Creates an empty message for each processor.
    pub fn messages(&self) -> Messages {
        vec![Vec::new(); self.count()]
    }

    /// Does one superstep.
    ///
    /// # Errors
    /// As [`Exchange::all_to_all`].
    pub async fn all_to_all(&mut self, messages: Messages) -> Result<Messages> {
        let number = self.number();
        let words = |messages: &Messages| -> u64 {
            let others = messages
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != number);
            others
                .map(|(_, message)| message.len() as u64)
                .sum()
        };
        let sent = words(&messages);
        let messages = self.exchange.all_to_all(messages).await?;
        let level = self.level;
        let step = self.step;
        let received = words(&messages);
        self.supersteps.push(Superstep {
            level,
            step,
            sent,
            received,
        });
        Ok(messages)
    }

    /// Sends words to one processor, and nothing to the others.
    ///
    /// # Errors
    /// As [`Exchange::all_to_all`].
    pub async fn send(&mut self, to: Option<usize>, words: Vec<u64>) -> Result<Messages> {
        let mut messages = self.messages();
        if let Some(to) = to.filter(|&to| to < messages.len()) {
            messages[to] = words;
        }
        self.all_to_all(messages).await
    }

    /// Sends the same words to all processors.
    ///
    /// # Errors
    /// As [`Exchange::all_to_all`].
    pub async fn broadcast(&mut self, words: &[u64]) -> Result<Messages> {
        self.all_to_all(vec![words.to_vec(); self.count()])
            .await
    }
}

/// Combines the supersteps of all processors into those of the machine. Each has the most words
/// that one processor sent, and the most that one received.
///
/// # Panics
/// If the processors did not take part in the same supersteps.
#[must_use]
pub fn h_relations(processors: &[Vec<Superstep>]) -> Vec<Superstep> {
    let mut machine = processors.first().cloned().unwrap_or_default();
    for processor in processors {
        assert_eq!(
            processor.len(),
            machine.len(),
            "all processors take part in all supersteps"
        );
        for (all, one) in machine.iter_mut().zip(processor) {
            assert_eq!((all.level, all.step), (one.level, one.step));
            all.sent = all.sent.max(one.sent);
            all.received = all.received.max(one.received);
        }
    }
    machine
}
