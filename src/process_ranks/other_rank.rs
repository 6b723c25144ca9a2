//! Ranks 1 and above: each sorts its parts until rank 0 is done.

use super::launcher::ProcessRank;
use super::messages::{self, GATHERING, PartJob, STALL, Word};
use crate::error::{Error, Result};
use crate::gpu::{NcclId, PartRows, PartText, Peers, RankSorter};
use std::cell::Cell;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};
use std::{mem, thread};

/// A process that helps rank 0.
#[derive(Debug)]
pub struct OtherRank {
    place: ProcessRank,
    stream: TcpStream,
    sorter: Box<RankSorter>,
}

impl OtherRank {
    /// Opens its GPU, and connects to rank 0, which may still be about to listen.
    pub(super) fn connect(address: &str, place: ProcessRank, gpu: u32) -> Result<OtherRank> {
        let sorter = Box::new(RankSorter::new(gpu)?);
        let stream = connect(address, place, GATHERING)?;
        Ok(OtherRank { place, stream, sorter })
    }

    /// Its rank, from 1.
    #[must_use]
    pub fn number(&self) -> usize {
        self.place.number
    }

    /// Sorts its parts of the blocks of rank 0 until that is done.
    ///
    /// # Errors
    /// [`Error::Device`] where its GPU, rank 0 or another rank has failed. Rank 0 goes on without
    /// the others then.
    pub fn serve(mut self) -> Result<()> {
        let place = self.place;
        serve(&self.stream, place, |job, peers, settle| {
            let network = NcclId::from_bytes(job.network)?;
            let text = PartText { bytes: &job.bytes, before: job.before };
            let part = (job.parts, place.number);
            self.sorter.sort(network, part, (text, job.sample_rate), peers, settle)
        })
    }
}

/// Connects to rank 0 and greets it.
pub(super) fn connect(address: &str, place: ProcessRank, within: Duration) -> Result<TcpStream> {
    let began = Instant::now();
    let mut stream = loop {
        match TcpStream::connect(address) {
            Ok(stream) => break stream,
            Err(e) if began.elapsed() > within => {
                let what = format!("rank 0 is not there at {address}: {e}");
                return Err(io::Error::new(e.kind(), what).into());
            }
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    };
    stream.set_write_timeout(Some(STALL))?;
    stream.set_nodelay(true)?;
    messages::greet(&mut stream, place)?;
    Ok(stream)
}

/// Does the jobs that come.
pub(super) fn serve(
    mut stream: &TcpStream,
    place: ProcessRank,
    mut sort: impl FnMut(&PartJob, &Peers, &mut dyn FnMut(PartRows) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let failed = |e| match e {
        Error::Io(e) => Error::Device(format!("the connection to rank 0: {e}").into()),
        other => other,
    };
    let mut next = || match Word::hear(&mut stream)? {
        Word::End => Ok(false),
        Word::Sort => {
            let job = messages::asked(&mut stream, place)?;
            sort_part(stream, &job, &mut sort).map(|()| true)
        }
        Word::Complete => Err(Error::Device("rank 0 has completed what was no sort".into())),
    };
    while next().map_err(failed)? {}
    Ok(())
}

/// Ends the connection to rank 0, unless that is forgotten before this is dropped: what listens to
/// it must end where the sort fails or panics.
struct HangUp<'s>(&'s TcpStream);

impl Drop for HangUp<'_> {
    fn drop(&mut self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

/// Sorts a part and gives its rows. Rank 0 is listened to meanwhile: where its connection ends, the
/// wait for the other GPUs does.
fn sort_part(
    mut stream: &TcpStream,
    job: &PartJob,
    sort: impl FnOnce(&PartJob, &Peers, &mut dyn FnMut(PartRows) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let peers = Peers::default();
    thread::scope(|scope| {
        let listening = scope.spawn(|| {
            let heard = Word::hear(&mut &*stream);
            if !matches!(heard, Ok(Word::Complete)) {
                peers.fail(0);
            }
            heard
        });
        let (hang_up, answered) = (HangUp(stream), Cell::new(false));
        let sorted = sort(job, &peers, &mut |rows| {
            answered.set(true);
            messages::answer(&mut &*stream, Ok(&rows))?;
            peers.wait(|| Ok(listening.is_finished()))
        });
        if let Err(e) = &sorted
            && !answered.get()
            && peers.first_failed() != Some(0)
        {
            // Within an answer, and where this cannot be sent, the connection ends, which says it.
            let _ = messages::answer(&mut stream, Err(e));
        }
        if sorted.is_ok() {
            mem::forget(hang_up)
        } else {
            drop(hang_up)
        }
        let heard = listening.join().unwrap_or_else(|e| std::panic::resume_unwind(e));
        match (sorted, heard) {
            (Ok(()), Ok(Word::Complete)) => Ok(()),
            (Ok(()), Ok(_)) => Err(Error::Device("rank 0 has not completed a sort".into())),
            (Err(e), _) | (_, Err(e)) => Err(e),
        }
    })
}
