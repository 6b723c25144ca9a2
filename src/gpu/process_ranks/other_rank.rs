//! Ranks 1 and above: each sorts its parts until rank 0 has no more.

use super::connection::{self, Connection, Pulse};
use super::first_rank::GATHERING;
use super::launcher::ProcessRank;
use super::messages::{self, PartJob, Word};
use super::token::Token;
use crate::base::error::{Error, Result};
use crate::gpu::{NcclId, PartRows, PartTask, PartText, Peers, RankSorter};
use std::cell::Cell;
use std::io;
use std::net::TcpStream;
use std::time::{Duration, Instant};
use std::{mem, thread};

/// Bytes of the largest block of the format, in which sizes have 40 bits.
const LARGEST: u64 = (1 << 40) - 1;

/// A process that helps rank 0.
#[derive(Debug)]
pub struct OtherRank {
    place: ProcessRank,
    connection: Connection,
    /// Maximum number of bytes of a text that rank 0 may ask for.
    largest: u64,
    sorter: Box<RankSorter>,
}

impl OtherRank {
    /// Opens its GPU, and connects to rank 0, which may not listen yet.
    pub(super) fn connect(
        address: &str,
        place: ProcessRank,
        token: Token,
        gpu: u32,
    ) -> Result<OtherRank> {
        let sorter = Box::new(RankSorter::new(gpu)?);
        let joining = Joining {
            address,
            place,
            token,
            within: GATHERING,
            pulse: Pulse::USUAL,
        };
        Ok(OtherRank {
            place,
            connection: connect(&joining)?,
            largest: LARGEST,
            sorter,
        })
    }

    /// Sets the limit above which it refuses to sort texts: `bytes`, which is the block size of
    /// rank 0 or more. Without it, memory is taken for parts of blocks of any size.
    #[must_use]
    pub fn largest_block(self, bytes: u64) -> Self {
        OtherRank {
            largest: bytes,
            ..self
        }
    }

    /// Rank of this process, from 1.
    #[must_use]
    pub fn number(&self) -> usize {
        self.place.number
    }

    /// Sorts its parts of the blocks of rank 0 until there are no more.
    ///
    /// # Errors
    /// [`Error::Device`] if its GPU, rank 0 or another rank has failed. Rank 0 then goes on without
    /// the others.
    pub fn serve(mut self) -> Result<()> {
        let place = self.place;
        serve(
            &self.connection,
            place,
            self.largest,
            |job, peers, settle| {
                let network = NcclId::from_bytes(job.network)?;
                let text = PartText {
                    bytes: &job.bytes,
                    before: job.before,
                };
                let parts = job.parts;
                let number = place.number;
                let task = PartTask {
                    parts,
                    number,
                    text,
                    sample_rate: job.sample_rate,
                };
                self.sorter.sort(network, task, peers, settle)
            },
        )
    }
}

/// Settings for joining rank 0.
#[derive(Clone, Copy)]
pub(super) struct Joining<'a> {
    pub address: &'a str,
    pub place: ProcessRank,
    pub token: Token,
    pub within: Duration,
    pub pulse: Pulse,
}

/// Connects to rank 0, greets it and waits for its welcome.
pub(super) fn connect(joining: &Joining) -> Result<Connection> {
    let Joining {
        address,
        place,
        token,
        within,
        pulse,
    } = joining;
    let began = Instant::now();
    let stream = loop {
        match TcpStream::connect(address) {
            Ok(stream) => break stream,
            Err(e) if began.elapsed() > *within => {
                let what = format!("rank 0 does not answer at {address}: {e}");
                return Err(io::Error::new(e.kind(), what).into());
            }
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    };
    let connection = Connection::new(stream, 0, *pulse)?;
    let greeted = connection
        .say(|to| messages::greet(to, *place, token))
        .and_then(|()| connection.hear(|from| messages::welcomed(from)));
    greeted.map_err(|e| connection.failed(e))?;
    Ok(connection)
}

/// Does the jobs that come, for texts of up to `largest` bytes.
pub(super) fn serve(
    connection: &Connection,
    place: ProcessRank,
    largest: u64,
    mut sort: impl FnMut(&PartJob, &Peers, &mut dyn FnMut(PartRows) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let mut next = || match connection.hear(|from| Word::hear(from))? {
        Word::End => Ok(false),
        Word::Sort => {
            let job = connection.hear(|from| messages::asked(from, place, largest))?;
            sort_part(connection, &job, &mut sort).map(|()| true)
        }
        Word::Complete => Err(Error::Device("rank 0 has completed an invalid sort".into())),
    };
    connection::with_beats(connection, || {
        while next().map_err(|e| connection.failed(e))? {}
        Ok(())
    })
}

/// Ends the connection to rank 0 when it is dropped, unless it is forgotten before. If the sort
/// fails or panics, this ends the thread that listens to the connection.
struct HangUp<'c>(&'c Connection);

impl Drop for HangUp<'_> {
    fn drop(&mut self) {
        self.0.hang_up();
    }
}

/// Sorts a part and sends its rows. It listens to rank 0 meanwhile: if the connection ends, so does
/// the wait for the other GPUs.
fn sort_part(
    connection: &Connection,
    job: &PartJob,
    sort: impl FnOnce(&PartJob, &Peers, &mut dyn FnMut(PartRows) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let peers = Peers::default();
    thread::scope(|scope| {
        let listening = scope.spawn(|| {
            let heard = connection.hear(|from| Word::hear(from));
            if !matches!(heard, Ok(Word::Complete)) {
                peers.fail(0);
            }
            heard
        });
        let hang_up = HangUp(connection);
        let answered = Cell::new(false);
        let sorted = sort(job, &peers, &mut |rows| {
            answered.set(true);
            connection.say(|to| messages::answer(to, Ok(&rows)))?;
            peers.wait(|| Ok(listening.is_finished()))
        });
        if let Err(e) = &sorted
            && !answered.get()
            && peers.first_failed() != Some(0)
        {
            // If this cannot be sent, or an answer has begun, the end of the connection tells rank
            // 0.
            let _ = connection.say(|to| messages::answer(to, Err(e)));
        }
        if sorted.is_ok() {
            mem::forget(hang_up)
        } else {
            drop(hang_up)
        }
        let heard = listening
            .join()
            .unwrap_or_else(|e| std::panic::resume_unwind(e));
        match (sorted, heard) {
            (Ok(()), Ok(Word::Complete)) => Ok(()),
            (Ok(()), Ok(_)) => Err(Error::Device("rank 0 has not completed a sort".into())),
            (Err(e), _) | (_, Err(e)) => Err(e),
        }
    })
}
