//! Rank 0: it gathers the others, and has them sort their parts of a block.

use super::messages::{self, GATHERING, GREETING_SIZE, Network, OwnedRows, STALL, Word};
use crate::error::{Error, Result};
use crate::gpu::{NcclId, PartRows, PartText, Peers, RankSorter, SortedText, TextParts};
use std::io::{self, ErrorKind, Read};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a connection has to say which rank it is.
const GREETING: Duration = Duration::from_secs(5);

/// The ranks that help this process, which is rank 0. They end when the last copy of this is
/// dropped.
#[derive(Clone, Debug)]
pub struct Ranks {
    count: usize,
    gpu: u32,
    /// None where they have failed.
    others: Arc<Mutex<Option<Others>>>,
}

/// Connections to ranks 1, 2, ..., and what sorts the part of rank 0.
#[derive(Debug)]
struct Others {
    streams: Vec<TcpStream>,
    own: Option<RankSorter>,
}

impl Drop for Others {
    fn drop(&mut self) {
        // One that is gone need not hear it.
        self.streams.iter_mut().for_each(|stream| drop(Word::End.say(stream)));
    }
}

impl Ranks {
    /// Waits until all others have connected.
    pub(super) fn gather(address: &str, count: usize, gpu: u32) -> Result<Ranks> {
        let streams = gather(&TcpListener::bind(address)?, count, GATHERING)?;
        let others = Arc::new(Mutex::new(Some(Others { streams, own: None })));
        Ok(Ranks { count, gpu, others })
    }

    /// How many ranks there are, this one among them.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The GPU of this rank.
    pub(crate) fn gpu(&self) -> u32 {
        self.gpu
    }

    /// Sorts a text of 1 byte and more on the GPUs of all ranks.
    ///
    /// # Errors
    /// [`Error::Device`] where one of them fails. All then end, and every later sort fails too.
    pub(crate) fn sort(&self, text: &[u8], sample_rate: u32) -> Result<SortedText> {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Others { streams, own }) = &mut *others else {
            return Err(Error::Device("the ranks have failed before".into()));
        };
        let sorted = sort_own(own, self.gpu).and_then(|own| {
            let network = NcclId::new()?;
            sort(streams, network.to_bytes(), (text, sample_rate), |parts, part, peers, settle| {
                own.sort(network, (parts, 0), (part, sample_rate), peers, settle)
            })
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

/// Connections to ranks 1, 2, ..., once all are there. What connects and is no rank is let go.
pub(super) fn gather(
    listener: &TcpListener,
    count: usize,
    within: Duration,
) -> Result<Vec<TcpStream>> {
    listener.set_nonblocking(true)?;
    let mut streams: Vec<Option<TcpStream>> = (1..count).map(|_| None).collect();
    let began = Instant::now();
    while streams.iter().any(Option::is_none) {
        if began.elapsed() > within {
            let there = 1 + streams.iter().flatten().count();
            let what = format!("{there} of {count} ranks have come within {within:?}");
            return Err(io::Error::new(ErrorKind::TimedOut, what).into());
        }
        match listener.accept() {
            Ok((stream, _)) => {
                // What fails on the way is no rank.
                if let Ok(Some((rank, stream))) = welcome(stream, count) {
                    streams[rank - 1].get_or_insert(stream);
                }
            }
            // There is none, or it is gone again.
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    }
    Ok(streams.into_iter().flatten().collect())
}

/// What has connected, and which of so many ranks it is, if it says so soon.
fn welcome(mut stream: TcpStream, count: usize) -> io::Result<Option<(usize, TcpStream)>> {
    let (until, mut words, mut read) = (Instant::now() + GREETING, [0; GREETING_SIZE], 0);
    stream.set_nonblocking(false)?;
    while read < words.len() {
        let left = until.saturating_duration_since(Instant::now());
        stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        match stream.read(&mut words[read..])? {
            0 => return Ok(None),
            _ if left.is_zero() => return Ok(None),
            more => read += more,
        }
    }
    stream.set_read_timeout(Some(STALL))?;
    stream.set_write_timeout(Some(STALL))?;
    stream.set_nodelay(true)?;
    Ok(messages::greeted(words, count).map(|rank| (rank, stream)))
}

/// Has each of the others sort its part, and this rank its `own`.
pub(super) fn sort(
    streams: &[TcpStream],
    network: Network,
    (text, sample_rate): (&[u8], u32),
    own: impl FnOnce(
        TextParts,
        PartText,
        &Peers,
        &mut dyn FnMut(PartRows) -> Result<OwnedRows>,
    ) -> Result<OwnedRows>
    + Send,
) -> Result<SortedText> {
    let count = 1 + streams.len();
    let parts = TextParts::new(text.len() as u64, count);
    let own = Mutex::new(Some(own));
    let rows = Peers::run(count, |number, peers| {
        let Some(number_of_other) = number.checked_sub(1) else {
            let own = own.lock().unwrap_or_else(PoisonError::into_inner).take();
            let own = own.expect("rank 0 has one part");
            return own(parts, PartText::of(text, parts, 0), peers, &mut |rows| {
                let rows = OwnedRows::of(&rows)?;
                peers.finish(count).map(|()| rows)
            });
        };
        let mut stream = &streams[number_of_other];
        let failed = |e| match e {
            Error::Io(e) => Error::Device(format!("rank {number}: {e}").into()),
            other => other,
        };
        let mut give = || {
            messages::ask(&mut stream, (&network, sample_rate), (parts, number), text)?;
            peers.wait(|| Ok(has_words(stream)?))?;
            let rows = messages::answered(&mut stream, (parts, number), sample_rate)?;
            peers.finish(count)?;
            // One that is gone now is missed by the next block.
            let _ = Word::Complete.say(&mut stream);
            Ok(rows)
        };
        give().map_err(failed)
    })?;
    let rows: Vec<_> = rows.iter().map(OwnedRows::view).collect();
    SortedText::of_parts(text[text.len() - 1], text.len() as u64, sample_rate, &rows)
}

/// Whether the other end has said anything.
fn has_words(stream: &TcpStream) -> io::Result<bool> {
    stream.set_nonblocking(true)?;
    let peeked = stream.peek(&mut [0]);
    stream.set_nonblocking(false)?;
    match peeked {
        Ok(0) => Err(io::Error::new(ErrorKind::UnexpectedEof, "it has ended")),
        Ok(_) => Ok(true),
        Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(false),
        Err(e) => Err(e),
    }
}
