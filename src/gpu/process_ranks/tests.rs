//! Ranks on threads of this process, with stand-ins for their GPUs: each knows the whole order of
//! the text, and returns the rows of its part. The messages do go over TCP.

use super::connection::{Connection, Heartbeat, Pulse, with_beats};
use super::first_rank::{listen, sort};
use super::gathering::{self, Gathering};
use super::launcher::ProcessRank;
use super::messages::{self, OwnedRows, PartJob, Word};
use super::other_rank::{self, Joining, serve};
use super::token::Token;
use super::{chosen_gpu, own_gpu};
use crate::base::device::{Device, GpuSet};
use crate::base::error::{Error, Result};
use crate::bwt::{Bwt, Sorter};
use crate::cases;
use crate::gpu::{PartRows, PartText, Peers, SortedText, TextParts};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

const RATE: u32 = 4;
const SOON: Duration = Duration::from_secs(20);
const LARGEST: u64 = 1 << 20;
/// Signs of life as frequent as a test can wait for.
const PULSE: Pulse = Pulse {
    beat: Duration::from_millis(100),
    silence: Duration::from_millis(1500),
};

fn gather(listener: &TcpListener, count: usize, within: Duration) -> Result<Vec<Connection>> {
    gather_with(listener, count, Token::NONE, within)
}

fn gather_with(
    listener: &TcpListener,
    count: usize,
    token: Token,
    within: Duration,
) -> Result<Vec<Connection>> {
    let asked = Gathering {
        count,
        token,
        within,
        pulse: PULSE,
    };
    gathering::gather(listener, asked)
}

fn connect(address: &str, place: ProcessRank, within: Duration) -> Result<Connection> {
    connect_with(address, place, Token::NONE, within)
}

fn connect_with(
    address: &str,
    place: ProcessRank,
    token: Token,
    within: Duration,
) -> Result<Connection> {
    other_rank::connect(&Joining {
        address,
        place,
        token,
        within,
        pulse: PULSE,
    })
}

/// Returns a listener at a free port, and its address.
fn listener() -> (TcpListener, String) {
    let listener = listen("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

fn place(number: usize, count: usize) -> ProcessRank {
    ProcessRank {
        number,
        count,
        on_host: 0,
    }
}

fn token(text: &str) -> Token {
    Token::new(text.as_bytes()).unwrap()
}

/// A text and its transform.
struct Case {
    text: Vec<u8>,
    bwt: Bwt,
}

impl Case {
    fn new(text: &[u8]) -> Self {
        Case {
            text: text.to_vec(),
            bwt: Sorter::Cpu.sort(text, RATE).unwrap(),
        }
    }

    /// Returns the rows of a part, which are some of those of the whole text.
    fn rows(&self, parts: TextParts, number: usize) -> OwnedRows {
        let rows = parts.range(number);
        let mut all = self.bwt.bytes[1..].to_vec();
        all.insert(self.bwt.samples[0] as usize - 1, b'?');
        let samples = (0..)
            .step_by(RATE as usize)
            .zip(self.bwt.samples.iter().copied());
        let own = |&(_, row): &(u64, u64)| rows.contains(&(row - 1));
        let bytes = all[rows.start as usize..rows.end as usize].to_vec();
        OwnedRows {
            samples: samples.filter(own).collect(),
            bytes,
            rows,
        }
    }

    /// Stands in for the GPU of a rank.
    fn sort<T>(
        &self,
        parts: TextParts,
        number: usize,
        part: PartText,
        settle: &mut dyn FnMut(PartRows) -> Result<T>,
    ) -> Result<T> {
        let own = PartText::of(&self.text, parts, number);
        assert_eq!(
            (part.bytes, part.before),
            (own.bytes, own.before),
            "the part of rank {number}"
        );
        settle(self.rows(parts, number).view())
    }
}

type Settle<'s> = &'s mut dyn FnMut(PartRows) -> Result<()>;

/// Sorts texts by `count` ranks. All but the first do `other`. Returns the ends of rank 0 and of
/// the others.
fn run(
    count: usize,
    cases: &[Case],
    other: impl Fn(usize, &PartJob, &Peers, Settle) -> Result<()> + Sync,
) -> (Vec<Result<SortedText>>, Vec<Result<()>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let address = &address;
    let other = &other;
    thread::scope(|scope| {
        let rank = move |number| {
            let place = ProcessRank {
                number,
                count,
                on_host: 0,
            };
            let stream = connect(address, place, SOON)?;
            serve(&stream, place, LARGEST, |job, peers, settle| {
                other(number, job, peers, settle)
            })
        };
        let others: Vec<_> = (1..count)
            .map(|number| scope.spawn(move || rank(number)))
            .collect();
        let streams = gather(&listener, count, SOON).unwrap();
        let sorted = cases.iter().map(|case| {
            sort(
                &streams,
                [7; 128],
                &case.text,
                RATE,
                |parts, part, _, settle| case.sort(parts, 0, part, settle),
            )
        });
        let sorted = sorted.collect();
        for connection in streams {
            let _ = connection.say(|to| Word::End.say(to));
        }
        (
            sorted,
            others
                .into_iter()
                .map(|rank| rank.join().unwrap())
                .collect(),
        )
    })
}

fn some_cases() -> Vec<Case> {
    let texts = [
        b"a".to_vec(),
        b"banana".to_vec(),
        cases::text(5000),
        cases::fibonacci(3000),
    ];
    texts.iter().map(|text| Case::new(text)).collect()
}

#[test]
fn texts_are_sorted_by_all_ranks() {
    let all = some_cases();
    for count in [1, 2, 3, 7] {
        let (sorted, ended) = run(count, &all, |number, job, _, settle| {
            assert_eq!((job.network, job.sample_rate), ([7; 128], RATE));
            let case = all
                .iter()
                .find(|case| case.text.len() as u64 == job.parts.len())
                .unwrap();
            let part = PartText {
                bytes: &job.bytes,
                before: job.before,
            };
            case.sort(job.parts, number, part, settle)
        });
        for (case, sorted) in all.iter().zip(sorted) {
            let SortedText { bytes, samples } = sorted.unwrap();
            assert!(
                bytes == case.bwt.bytes && samples == case.bwt.samples,
                "{count} ranks"
            );
        }
        ended.into_iter().for_each(|end| end.unwrap());
    }
}

/// A rank fails before it has sorted, and in the middle, while the others wait for it.
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
        assert!(
            ended
                .iter()
                .all(|end| matches!(end, Err(Error::Device(_)))),
            "{ended:?}"
        );
    }
}

/// A panic in one rank ends that rank, and is a failure for the others.
#[test]
fn a_rank_that_panics_ends_the_wait_of_all() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let case = Case::new(&cases::text(5000));
    let place = ProcessRank {
        number: 1,
        count: 2,
        on_host: 0,
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            let stream = connect(&address, place, SOON).unwrap();
            serve(&stream, place, LARGEST, |_, _, _| panic!("a rank's own"))
        });
        let streams = gather(&listener, 2, SOON).unwrap();
        let sorted = sort(&streams, [7; 128], &case.text, RATE, |_, _, peers, _| {
            peers
                .wait(|| Ok(false))
                .map(|()| unreachable!("nothing comes"))
        });
        assert!(matches!(sorted, Err(Error::Device(_))), "{sorted:?}");
        assert!(other.join().is_err());
    });
}

/// A process that is killed sends nothing, but its connections end.
#[test]
fn a_rank_that_is_gone_ends_the_wait_of_all() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let case = Case::new(&cases::text(5000));
    thread::scope(|scope| {
        let address = &address;
        let place = |number| place(number, 3);
        let waiting = scope.spawn(move || {
            let stream = connect(address, place(1), SOON).unwrap();
            serve(&stream, place(1), LARGEST, |_, peers, _| {
                peers.wait(|| Ok(false))
            })
        });
        let killed = scope.spawn(move || connect(address, place(2), SOON).unwrap());
        let streams = gather(&listener, 3, SOON).unwrap();
        drop(killed.join().unwrap());
        let sorted = sort(&streams, [7; 128], &case.text, RATE, |_, _, peers, _| {
            peers
                .wait(|| Ok(false))
                .map(|()| unreachable!("nothing comes"))
        });
        let end = sorted.unwrap_err();
        assert!(
            matches!(end, Error::Device(_)) && end.to_string().contains("rank 2"),
            "{end}"
        );
        // Rank 0 is gone too.
        drop(streams);
        let end = waiting.join().unwrap().unwrap_err();
        assert!(matches!(end, Error::Device(_)), "{end}");
    });
}

#[test]
fn what_is_no_rank_is_let_go_and_the_wait_for_ranks_ends() {
    let (listener, address) = listener();
    let mut stranger = TcpStream::connect(&address).unwrap();
    stranger
        .write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    thread::scope(|scope| {
        let one = scope.spawn(|| {
            let joined = connect(&address, place(1, 3), SOON);
            let twice = connect(&address, place(1, 3), SOON).unwrap_err();
            (joined, twice)
        });
        let end = gather(&listener, 3, Duration::from_millis(600)).unwrap_err();
        let said = end.to_string();
        assert!(
            said.contains("2 of 3 ranks") && said.contains("missing: 2"),
            "{said}"
        );
        assert!(said.contains("has come before"), "{said}");
        let (joined, twice) = one.join().unwrap();
        joined.unwrap();
        assert!(twice.to_string().contains("has come before"), "{twice}");
    });
}

/// A rank with another token, count or number learns why it is refused, and is not counted.
#[test]
fn ranks_of_other_jobs_are_refused_with_the_reason() {
    let ours = token("the token of ours");
    let theirs = token("the token of them");
    let cases = [
        (ours, place(1, 2), theirs, "its token"),
        (ours, place(1, 2), Token::NONE, "its token"),
        (Token::NONE, place(1, 2), theirs, "its token"),
        (ours, place(1, 2), token("the token of ours."), "its token"),
        (ours, place(1, 3), theirs, "its token"),
        (ours, place(1, 3), ours, "another number of ranks"),
        (ours, place(2, 3), ours, "another number of ranks"),
        (ours, place(2, 2), ours, "another number of ranks"),
        (
            Token::NONE,
            place(63, 64),
            Token::NONE,
            "another number of ranks",
        ),
    ];
    for (own, wrong, given, reason) in cases {
        let (listener, address) = listener();
        thread::scope(|scope| {
            let others = scope.spawn(|| {
                let end = connect_with(&address, wrong, given, SOON).unwrap_err();
                (
                    connect_with(&address, place(1, 2), own, SOON).unwrap(),
                    end.to_string(),
                )
            });
            let gathered = gather_with(&listener, 2, own, SOON).unwrap();
            assert_eq!(gathered.len(), 1);
            let (_right, said) = others.join().unwrap();
            assert!(said.contains(reason), "{wrong:?}: {said}");
        });
    }
}

/// Connections that say nothing, or stop within a greeting, come before the ranks and between them.
#[test]
fn silent_connections_take_no_time_from_ranks() {
    for silent in [0, 1, 3, 4, 12, 13, 50, 100, 300] {
        let (listener, address) = listener();
        thread::scope(|scope| {
            let began = Instant::now();
            let gathered = scope.spawn(|| gather(&listener, 3, SOON).unwrap());
            let strangers: Vec<TcpStream> = (0..silent)
                .map(|number| {
                    let mut stranger = TcpStream::connect(&address).unwrap();
                    let begun = &b"bwzranks"[..number % 9];
                    stranger.write_all(begun).unwrap();
                    stranger
                })
                .collect();
            let ranks = [1, 2].map(|number| connect(&address, place(number, 3), SOON).unwrap());
            assert_eq!(gathered.join().unwrap().len(), 2);
            let took = began.elapsed();
            // The queue of the system has room for 128 connections, and may have to be filled
            // again.
            let most = Duration::from_secs(if silent > 100 { 10 } else { 2 });
            assert!(took < most, "{silent} silent connections: {took:?}");
            drop((strangers, ranks));
        });
    }
}

/// A greeting that comes byte by byte is a greeting.
#[test]
fn a_slow_greeting_is_read_beside_others() {
    let (listener, address) = listener();
    thread::scope(|scope| {
        let slow = scope.spawn(|| {
            let mut greeting = Vec::new();
            messages::greet(&mut greeting, place(1, 3), &Token::NONE).unwrap();
            let mut stream = TcpStream::connect(&address).unwrap();
            stream.set_nodelay(true).unwrap();
            for piece in greeting.chunks(10) {
                stream.write_all(piece).unwrap();
                thread::sleep(Duration::from_millis(10));
            }
            messages::welcomed(&mut stream).unwrap();
            stream
        });
        let fast = scope.spawn(|| connect(&address, place(2, 3), SOON).unwrap());
        assert_eq!(gather(&listener, 3, SOON).unwrap().len(), 2);
        drop((slow.join().unwrap(), fast.join().unwrap()));
    });
}

/// A connection that sends anything but a greeting is closed, and the rank comes in.
#[test]
fn garbage_is_let_go() {
    let noise = cases::random(4096, 256);
    let garbage: [&[u8]; 8] = [
        b"",
        b"\n",
        b"GET / HTTP/1.1\r\n\r\n",
        &[0; 161],
        &[0xFF; 4096],
        b"bwzranks",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        &noise,
    ];
    let (listener, address) = listener();
    thread::scope(|scope| {
        let strangers = garbage.map(|bytes| {
            let mut stranger = TcpStream::connect(&address).unwrap();
            stranger.write_all(bytes).unwrap();
            stranger
        });
        let rank = scope.spawn(|| connect(&address, place(1, 2), SOON).unwrap());
        let began = Instant::now();
        gather(&listener, 2, SOON).unwrap();
        assert!(began.elapsed() < Duration::from_secs(2));
        drop((strangers, rank.join().unwrap()));
    });
}

/// If a rank is gone before all have come, the next of its number is taken.
#[test]
fn a_rank_that_dies_while_others_are_waited_for_frees_its_place() {
    let (listener, address) = listener();
    thread::scope(|scope| {
        let others = scope.spawn(|| {
            drop(connect(&address, place(1, 3), SOON).unwrap());
            thread::sleep(Duration::from_millis(200));
            [1, 2].map(|number| connect(&address, place(number, 3), SOON).unwrap())
        });
        let gathered = gather(&listener, 3, SOON).unwrap();
        let others = others.join().unwrap();
        for connection in &gathered {
            assert!(
                !connection
                    .has_message(&mut connection.listen())
                    .unwrap()
            );
        }
        drop(others);
    });
}

/// The second rank 0 cannot listen, and its other ranks are refused by the first.
#[test]
fn two_jobs_do_not_share_a_port() {
    let (listener, address) = listener();
    let end = listen(&address).unwrap_err();
    assert!(matches!(end, Error::Io(_)), "{end:?}");
    let said = end.to_string();
    assert!(
        said.contains(&address) && said.contains("another job"),
        "{said}"
    );
    // Their ranks find ours, and are refused.
    let ours = token("the token of ours");
    let theirs = token("the token of them");
    thread::scope(|scope| {
        let others = [(1, theirs), (1, ours), (2, theirs), (2, ours)].map(|(number, token)| {
            let address = &address;
            scope.spawn(move || connect_with(address, place(number, 3), token, SOON))
        });
        let gathered = gather_with(&listener, 3, ours, SOON).unwrap();
        assert_eq!(gathered.len(), 2);
        let ends = others.map(|other| other.join().unwrap().is_ok());
        assert_eq!(ends, [false, true, false, true]);
    });
}

/// Sorts on rank 0 with `other` as rank 1. Returns the end of rank 0, and the time.
fn sort_with(other: impl FnOnce(Connection) + Send) -> (Result<SortedText>, Duration) {
    let (listener, address) = listener();
    let case = Case::new(&cases::text(5000));
    thread::scope(|scope| {
        scope.spawn(|| other(connect(&address, place(1, 2), SOON).unwrap()));
        let connections: Arc<[Connection]> = gather(&listener, 2, SOON).unwrap().into();
        let _heartbeat = Heartbeat::start(Arc::clone(&connections), PULSE).unwrap();
        let began = Instant::now();
        let sorted = sort(
            &connections,
            [7; 128],
            &case.text,
            RATE,
            |parts, part, peers, settle| {
                let rows = case.sort(parts, 0, part, settle)?;
                peers.wait(|| Ok(true)).map(|()| rows)
            },
        );
        let took = began.elapsed();
        connections.iter().for_each(Connection::hang_up);
        (sorted, took)
    })
}

/// Reads until the other end hangs up.
fn read_all(connection: &Connection) {
    let mut bytes = [0; 4096];
    while connection
        .hear(|from| Ok(from.read(&mut bytes)?))
        .is_ok_and(|count| count > 0)
    {}
}

/// A process has stopped, or a host has vanished: nothing comes, and nothing ends.
#[test]
fn a_rank_that_falls_silent_is_given_up_by_its_name() {
    let (end, took) = sort_with(|connection| read_all(&connection));
    let said = end.unwrap_err().to_string();
    assert!(said.contains("rank 1 has been silent"), "{said}");
    assert!(
        took >= PULSE.silence && took < 4 * PULSE.silence,
        "{took:?}"
    );
    // The rank falls silent within its rows.
    let (end, _) = sort_with(|connection| {
        connection
            .say(|to| messages::put(to, &[1, 3]))
            .unwrap();
        connection
            .say(|to| Ok(to.write_all(b"abc")?))
            .unwrap();
        read_all(&connection);
    });
    let said = end.unwrap_err().to_string();
    assert!(said.contains("rank 1 has been silent"), "{said}");
}

/// A rank that takes long but sends signs of life is waited for.
#[test]
fn a_long_sort_is_waited_for() {
    let case = Case::new(&cases::text(5000));
    let (sorted, took) = sort_with(|connection| {
        serve(&connection, place(1, 2), LARGEST, |job, peers, settle| {
            let began = Instant::now();
            peers.wait(|| Ok(began.elapsed() > 2 * PULSE.silence))?;
            let part = PartText {
                bytes: &job.bytes,
                before: job.before,
            };
            case.sort(job.parts, 1, part, settle)
        })
        .unwrap_err();
    });
    assert!(sorted.unwrap().bytes == case.bwt.bytes);
    assert!(took > 2 * PULSE.silence, "{took:?}");
}

/// A rank sends sizes other than those of its part, words that do not exist, or ends in the middle.
#[test]
fn what_a_rank_says_that_makes_no_sense_ends_the_sort() {
    let cases: [(&[u64], &str); 8] = [
        (&[1, u64::MAX], "invalid rows"),
        (&[1, 1 << 40], "invalid rows"),
        (&[1, 1251], "invalid rows"),
        (&[0, 4097], "invalid rows"),
        (&[2, 0], "invalid rows"),
        (&[u64::MAX, u64::MAX], "invalid rows"),
        (&[1, 3, 9], "rank 1 has ended the connection"),
        (&[0, 9, 9], "rank 1 has ended the connection"),
    ];
    for (words, expected) in cases {
        let (end, took) = sort_with(|connection| {
            connection
                .say(|to| messages::put(to, words))
                .unwrap();
            // The whole request is read, so that the connection ends and is not reset.
            let job = connection
                .hear(|from| Word::hear(from))
                .and_then(|_| connection.hear(|from| messages::asked(from, place(1, 2), LARGEST)));
            job.unwrap();
            connection.hang_up();
        });
        let said = end.unwrap_err().to_string();
        assert!(said.contains(expected), "{words:?}: {said}");
        assert!(took < PULSE.silence, "{words:?}: {took:?}");
    }
}

/// The requests of rank 0 are bounded by the block, and its silence ends the wait.
#[test]
fn a_rank_gives_up_a_rank_0_that_makes_no_sense_or_falls_silent() {
    let cases: [(&[u64], &str); 8] = [
        (&[Word::Sort as u64, LARGEST + 1, 4, 0], "1048576 at most"),
        (&[Word::Sort as u64, 1 << 39, 4, 0], "1048576 at most"),
        (&[Word::Sort as u64, u64::MAX, 4, 0], "1048576 at most"),
        (&[Word::Sort as u64, 0, 4, 0], "invalid sort"),
        (&[Word::Sort as u64, 100, 3, 0], "invalid sort"),
        (&[Word::Complete as u64], "invalid sort"),
        (&[77], "an unknown word"),
        (&[], "rank 0 has been silent"),
    ];
    for (words, expected) in cases {
        let (listener, address) = listener();
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                let connection = connect(&address, place(1, 2), SOON).unwrap();
                let end = serve(&connection, place(1, 2), LARGEST, |_, _, _| {
                    unreachable!("a sort")
                });
                end.unwrap_err().to_string()
            });
            let first = gather(&listener, 2, SOON).unwrap();
            first[0]
                .say(|to| messages::put(to, words))
                .unwrap();
            let said = other.join().unwrap();
            assert!(said.contains(expected), "{words:?}: {said}");
        });
    }
}

/// Between two blocks both ends may send nothing but signs of life for a long time.
#[test]
fn ranks_that_have_nothing_to_do_stay() {
    let (listener, address) = listener();
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            let connection = connect(&address, place(1, 2), SOON).unwrap();
            serve(&connection, place(1, 2), LARGEST, |_, _, _| {
                unreachable!("a sort")
            })
        });
        let connections: Arc<[Connection]> = gather(&listener, 2, SOON).unwrap().into();
        let heartbeat = Heartbeat::start(Arc::clone(&connections), PULSE).unwrap();
        thread::sleep(2 * PULSE.silence);
        connections[0]
            .say(|to| Word::End.say(to))
            .unwrap();
        drop(heartbeat);
        other.join().unwrap().unwrap();
    });
    // The heartbeat ends with the connection that it is for.
    let (listener, address) = self::listener();
    let connected = TcpStream::connect(address).unwrap();
    let connection = Connection::new(connected, 0, PULSE).unwrap();
    assert_eq!(with_beats(&connection, || 7), 7);
    drop(listener);
}

/// A missing GPU is found before others are looked for.
#[test]
fn a_missing_gpu_is_no_rank() {
    let cuda = |numbers: &[u32]| Device::Cuda(GpuSet::new(numbers.iter().copied()).unwrap());
    for (device, there, on_host, expected) in [
        (Device::Auto, &[0, 1, 2, 3][..], 2, Some(2)),
        (Device::Auto, &[0, 1], 5, Some(1)),
        (Device::Auto, &[], 0, None),
        (cuda(&[1, 3]), &[0, 1, 2, 3], 1, Some(3)),
        (cuda(&[1, 3]), &[0, 1, 2, 3], 2, Some(1)),
        (cuda(&[1, 3]), &[0, 1], 1, None),
        (cuda(&[0]), &[], 0, None),
        (cuda(&[7]), &[0, 1], 0, None),
    ] {
        let chosen = chosen_gpu(device, there, on_host);
        assert_eq!(
            chosen.as_ref().ok().copied(),
            expected,
            "{device:?} of {there:?}: {chosen:?}"
        );
        assert!(
            chosen.is_ok() || matches!(chosen, Err(Error::Device(_))),
            "{chosen:?}"
        );
    }
    assert!(matches!(own_gpu(Device::Cpu, 0), Err(Error::Usage(_))));
}
