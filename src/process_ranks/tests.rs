//! Ranks on threads of this process, whose GPUs are stood in for: each knows the whole order of the
//! text, and gives the rows of its part. What goes over TCP goes over TCP.

use super::first_rank::{gather, sort};
use super::launcher::ProcessRank;
use super::messages::{OwnedRows, PartJob};
use super::other_rank::{connect, serve};
use crate::bwt::{Bwt, Sorter};
use crate::cases;
use crate::error::{Error, Result};
use crate::gpu::{PartRows, PartText, Peers, SortedText, TextParts};
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

const RATE: u32 = 4;
const SOON: Duration = Duration::from_secs(20);

/// A text and what all of its suffixes are sorted to.
struct Case {
    text: Vec<u8>,
    bwt: Bwt,
}

impl Case {
    fn new(text: &[u8]) -> Self {
        Case { text: text.to_vec(), bwt: Sorter::Cpu.sort(text, RATE).unwrap() }
    }

    /// The rows of a part, with those of the whole text among them.
    fn rows(&self, parts: TextParts, number: usize) -> OwnedRows {
        let rows = parts.range(number);
        let mut all = self.bwt.bytes[1..].to_vec();
        all.insert(self.bwt.samples[0] as usize - 1, b'?');
        let samples = (0..).step_by(RATE as usize).zip(self.bwt.samples.iter().copied());
        let own = |&(_, row): &(u64, u64)| rows.contains(&(row - 1));
        let bytes = all[rows.start as usize..rows.end as usize].to_vec();
        OwnedRows { samples: samples.filter(own).collect(), bytes, rows }
    }

    /// What stands in for the GPU of a rank.
    fn sort<T>(
        &self,
        (parts, number): (TextParts, usize),
        part: PartText,
        settle: &mut dyn FnMut(PartRows) -> Result<T>,
    ) -> Result<T> {
        let own = PartText::of(&self.text, parts, number);
        assert_eq!((part.bytes, part.before), (own.bytes, own.before), "the part of rank {number}");
        settle(self.rows(parts, number).view())
    }
}

type Settle<'s> = &'s mut dyn FnMut(PartRows) -> Result<()>;

/// Sorts texts by so many ranks, of which `other` is what those but the first do. Gives what rank 0
/// and the others end with.
fn run(
    count: usize,
    cases: &[Case],
    other: impl Fn(usize, &PartJob, &Peers, Settle) -> Result<()> + Sync,
) -> (Vec<Result<SortedText>>, Vec<Result<()>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (address, other) = (&address, &other);
    thread::scope(|scope| {
        let rank = move |number| {
            let place = ProcessRank { number, count, on_host: 0 };
            let stream = connect(address, place, SOON)?;
            serve(&stream, place, |job, peers, settle| other(number, job, peers, settle))
        };
        let others: Vec<_> = (1..count).map(|number| scope.spawn(move || rank(number))).collect();
        let streams = gather(&listener, count, SOON).unwrap();
        let sorted = cases.iter().map(|case| {
            sort(&streams, [7; 128], (&case.text, RATE), |parts, part, _, settle| {
                case.sort((parts, 0), part, settle)
            })
        });
        let sorted = sorted.collect();
        for mut stream in streams {
            let _ = stream.write_all(&0_u64.to_le_bytes());
        }
        (sorted, others.into_iter().map(|rank| rank.join().unwrap()).collect())
    })
}

fn some_cases() -> Vec<Case> {
    let texts = [b"a".to_vec(), b"banana".to_vec(), cases::text(5000), cases::fibonacci(3000)];
    texts.iter().map(|text| Case::new(text)).collect()
}

#[test]
fn texts_are_sorted_by_all_ranks() {
    let all = some_cases();
    for count in [1, 2, 3, 7] {
        let (sorted, ended) = run(count, &all, |number, job, _, settle| {
            assert_eq!((job.network, job.sample_rate), ([7; 128], RATE));
            let case = all.iter().find(|case| case.text.len() as u64 == job.parts.len()).unwrap();
            let part = PartText { bytes: &job.bytes, before: job.before };
            case.sort((job.parts, number), part, settle)
        });
        for (case, sorted) in all.iter().zip(sorted) {
            let SortedText { bytes, samples } = sorted.unwrap();
            assert!(bytes == case.bwt.bytes && samples == case.bwt.samples, "{count} ranks");
        }
        ended.into_iter().for_each(|end| end.unwrap());
    }
}

/// Before it has sorted, and in the middle, where the others wait for it.
#[test]
fn the_failure_of_one_rank_ends_the_wait_of_all() {
    let all = [Case::new(&cases::text(5000))];
    for failing in 1..4 {
        let (sorted, ended) = run(4, &all, |number, _, peers, _| match number == failing {
            true => Err(Error::Device("it fell off the bus".into())),
            false => peers.wait(|| Ok(false)),
        });
        let end = sorted.into_iter().next().unwrap().unwrap_err();
        assert!(matches!(end, Error::Device(_)), "{end:?}");
        assert!(end.to_string().contains("it fell off the bus"), "{end}");
        assert!(ended.iter().all(|end| matches!(end, Err(Error::Device(_)))), "{ended:?}");
    }
}

/// What panics in one rank ends there and is a failure elsewhere.
#[test]
fn a_rank_that_panics_ends_the_wait_of_all() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (case, place) =
        (Case::new(&cases::text(5000)), ProcessRank { number: 1, count: 2, on_host: 0 });
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            let stream = connect(&address, place, SOON).unwrap();
            serve(&stream, place, |_, _, _| panic!("a rank's own"))
        });
        let streams = gather(&listener, 2, SOON).unwrap();
        let sorted = sort(&streams, [7; 128], (&case.text, RATE), |_, _, peers, _| {
            peers.wait(|| Ok(false)).map(|()| unreachable!("nothing comes"))
        });
        assert!(matches!(sorted, Err(Error::Device(_))), "{sorted:?}");
        assert!(other.join().is_err());
    });
}

/// A process that is killed says nothing; its connections end.
#[test]
fn a_rank_that_is_gone_ends_the_wait_of_all() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let case = Case::new(&cases::text(5000));
    thread::scope(|scope| {
        let (address, place) = (&address, |number| ProcessRank { number, count: 3, on_host: 0 });
        let waiting = scope.spawn(move || {
            let stream = connect(address, place(1), SOON).unwrap();
            serve(&stream, place(1), |_, peers, _| peers.wait(|| Ok(false)))
        });
        let killed = connect(address, place(2), SOON).unwrap();
        let streams = gather(&listener, 3, SOON).unwrap();
        drop(killed);
        let sorted = sort(&streams, [7; 128], (&case.text, RATE), |_, _, peers, _| {
            peers.wait(|| Ok(false)).map(|()| unreachable!("nothing comes"))
        });
        let end = sorted.unwrap_err();
        assert!(matches!(end, Error::Device(_)) && end.to_string().contains("rank 2"), "{end}");
        // And that rank 0 is gone.
        drop(streams);
        let end = waiting.join().unwrap().unwrap_err();
        assert!(matches!(end, Error::Device(_)), "{end}");
    });
}

#[test]
fn what_is_no_rank_is_let_go_and_the_wait_for_ranks_ends() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut stranger = TcpStream::connect(&address).unwrap();
    stranger.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let _twice = [1, 1].map(|number| {
        connect(&address, ProcessRank { number, count: 3, on_host: 0 }, SOON).unwrap()
    });
    let end = gather(&listener, 3, Duration::from_millis(200)).unwrap_err();
    assert!(end.to_string().contains("2 of 3 ranks"), "{end}");
}
