//! Rank 0: it gathers the others, and lets them sort their parts of a block.

use super::connection::{Connection, Heartbeat, Pulse};
use super::gathering::{self, Gathering};
use super::messages::{self, Network, OwnedRows, Word};
use super::token::Token;
use crate::base::error::{Error, Result};
use crate::gpu::{NcclId, PartRows, PartTask, PartText, Peers, RankSorter, SortedText, TextParts};
use std::io;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time that ranks wait for each other at the start.
pub(super) const GATHERING: Duration = Duration::from_secs(60);

/// Ranks that help this process, which is rank 0. They end when the last copy of this is dropped.
#[derive(Clone, Debug)]
pub struct Ranks {
    count: usize,
    gpu: u32,
    /// Connections to the others, or `None` if they have failed.
    others: Arc<Mutex<Option<Others>>>,
}

/// Connections to ranks 1, 2, ..., and the sorter of rank 0's part.
#[derive(Debug)]
struct Others {
    connections: Arc<[Connection]>,
    _heartbeat: Heartbeat,
    own: Option<RankSorter>,
}

impl Drop for Others {
    fn drop(&mut self) {
        for connection in self.connections.iter() {
            // A rank that is gone need not hear it.
            let _ = connection.say(|to| Word::End.say(to));
        }
    }
}

impl Ranks {
    /// Waits until all others have connected.
    pub(super) fn gather(address: &str, count: usize, token: Token, gpu: u32) -> Result<Ranks> {
        let listener = listen(address)?;
        let within = GATHERING;
        let pulse = Pulse::USUAL;
        let wanted = Gathering {
            count,
            token,
            within,
            pulse,
        };
        let connections: Arc<[Connection]> = gathering::gather(&listener, wanted)?.into();
        let heartbeat = Heartbeat::start(Arc::clone(&connections), pulse)?;
        let others = Others {
            connections,
            _heartbeat: heartbeat,
            own: None,
        };
        Ok(Ranks {
            count,
            gpu,
            others: Arc::new(Mutex::new(Some(others))),
        })
    }

    /// Number of ranks, including this one.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// GPU of this rank.
    pub(crate) fn gpu(&self) -> u32 {
        self.gpu
    }

    /// Sorts a text of at least 1 byte on the GPUs of all ranks.
    ///
    /// # Errors
    /// [`Error::Device`] if one of them fails. All then end, and every later sort fails too.
    pub(crate) fn sort(&self, text: &[u8], sample_rate: u32) -> Result<SortedText> {
        let mut others = self
            .others
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(Others {
            connections, own, ..
        }) = &mut *others
        else {
            return Err(Error::Device("the ranks have failed before".into()));
        };
        let sorted = sort_own(own, self.gpu).and_then(|own| {
            let network = NcclId::new()?;
            sort(
                connections,
                network.to_bytes(),
                text,
                sample_rate,
                |parts, part, peers, settle| {
                    let task = PartTask {
                        parts,
                        number: 0,
                        text: part,
                        sample_rate,
                    };
                    own.sort(network, task, peers, settle)
                },
            )
        });
        if sorted.is_err() {
            *others = None;
        }
        sorted
    }
}

fn sort_own(own: &mut Option<RankSorter>, gpu: u32) -> Result<&mut RankSorter> {
    if own.is_none() {
        *own = Some(RankSorter::new(gpu)?);
    }
    Ok(own.as_mut().expect("it was just opened"))
}

/// Opens the address at which the others find this rank.
pub(super) fn listen(address: &str) -> Result<TcpListener> {
    TcpListener::bind(address).map_err(|e| {
        let what = format!("rank 0 cannot listen at {address}, which another job may use: {e}");
        io::Error::new(e.kind(), what).into()
    })
}

/// Lets each of the others sort its part, and sorts the part of this rank by `own`.
pub(super) fn sort(
    connections: &[Connection],
    network: Network,
    text: &[u8],
    sample_rate: u32,
    own: impl FnOnce(
        TextParts,
        PartText,
        &Peers,
        &mut dyn FnMut(PartRows) -> Result<OwnedRows>,
    ) -> Result<OwnedRows>
    + Send,
) -> Result<SortedText> {
    let count = 1 + connections.len();
    let parts = TextParts::new(text.len() as u64, count);
    let own = Mutex::new(Some(own));
    let rows = Peers::run(count, |number, peers| {
        let Some(number_of_other) = number.checked_sub(1) else {
            let own = own
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            let own = own.expect("rank 0 has one part");
            return own(parts, PartText::of(text, parts, 0), peers, &mut |rows| {
                let rows = OwnedRows::of(&rows)?;
                peers.finish(count).map(|()| rows)
            });
        };
        let connection = &connections[number_of_other];
        let give = || {
            let mut heard = connection.listen();
            connection.say(|to| messages::ask(to, &network, sample_rate, parts, number, text))?;
            *heard = Instant::now();
            peers.wait(|| connection.has_message(&mut heard))?;
            let rows =
                connection.hear(|from| messages::answered(from, parts, number, sample_rate))?;
            *heard = Instant::now();
            peers.finish(count)?;
            // If a rank is gone now, the next block finds out.
            let _ = connection.say(|to| Word::Complete.say(to));
            Ok(rows)
        };
        give().map_err(|e| connection.failed(e))
    })?;
    let rows: Vec<_> = rows.iter().map(OwnedRows::view).collect();
    SortedText::of_parts(text[text.len() - 1], text.len() as u64, sample_rate, &rows)
}
