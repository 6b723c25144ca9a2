//! Messages between ranks over TCP, in numbers of 64 bits, little-endian. Both ends are of one
//! machine family and one build: a greeting of another version is refused.
//!
//! A rank greets rank 0, and is welcomed or refused. Rank 0 asks for the sort of a part, receives
//! its rows, and says when all ranks have sent theirs. If there is no more to do, it says that.
//! Between messages either end may say that it is alive. If the other end is gone, the connection
//! ends.
//!
//! A greeting carries the token unencrypted. Anyone who can read the network can also read the text
//! that is sorted.

use super::launcher::ProcessRank;
use super::token::{TOKEN_SIZE, Token};
use crate::base::allocation;
use crate::base::error::{Error, Result};
use crate::gpu::{PartRows, PartText, TextParts};
use std::io::{Read, Write};
use std::mem;
use std::ops::Range;

/// Start of a connection: `bwzranks` as a number, and the version of these messages.
const GREETING: [u64; 2] = [u64::from_le_bytes(*b"bwzranks"), 2];

/// Bytes of the numbers of a greeting.
const NUMBERS_SIZE: usize = 32;
/// Bytes of a greeting.
pub(super) const GREETING_SIZE: usize = NUMBERS_SIZE + TOKEN_SIZE;

/// Word that an end sends between messages to show that it is alive.
pub(super) const ALIVE: u64 = u64::from_le_bytes(*b"bwzalive");

/// Answer of rank 0 to a rank that it waited for.
const WELCOME: u64 = u64::from_le_bytes(*b"welcome ");

/// Maximum number of bytes in a failure's text.
const MOST_OF_FAILURE: u64 = 4096;

/// Identity of the network that ranks join to sort together (an `ncclUniqueId`).
pub(super) type Network = [u8; 128];

/// First word of each message of rank 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// There is no more to do.
    End,
    /// A part is to be sorted.
    Sort,
    /// All ranks have sent their rows.
    Complete,
}

/// The sort of a part of a text.
#[derive(Debug)]
pub(super) struct PartJob {
    pub network: Network,
    pub parts: TextParts,
    pub sample_rate: u32,
    pub before: u8,
    pub bytes: Vec<u8>,
}

/// Rows of a part.
#[derive(Debug)]
pub(super) struct OwnedRows {
    pub rows: Range<u64>,
    pub bytes: Vec<u8>,
    pub samples: Vec<(u64, u64)>,
}

impl OwnedRows {
    /// Copies rows.
    ///
    /// # Errors
    /// [`Error::Device`] if there is no memory for them.
    pub(super) fn of(rows: &PartRows) -> Result<Self> {
        let mut bytes = memory(rows.bytes.len() as u64)?;
        bytes.copy_from_slice(rows.bytes);
        Ok(OwnedRows {
            rows: rows.rows.clone(),
            bytes,
            samples: rows.samples.to_vec(),
        })
    }

    pub(super) fn view(&self) -> PartRows<'_> {
        PartRows {
            rows: self.rows.clone(),
            bytes: &self.bytes,
            samples: &self.samples,
        }
    }
}

/// Returns zeros into which bytes are received.
fn memory(len: u64) -> Result<Vec<u8>> {
    let no_memory =
        || Error::Device(format!("there is no memory for a part of {len} bytes").into());
    allocation::zeroed(len as usize).ok_or_else(no_memory)
}

pub(super) fn put(to: &mut impl Write, numbers: &[u64]) -> Result<()> {
    numbers
        .iter()
        .try_for_each(|number| Ok(to.write_all(&number.to_le_bytes())?))
}

pub(super) fn get<const N: usize>(from: &mut impl Read) -> Result<[u64; N]> {
    let mut numbers = [0; N];
    for number in &mut numbers {
        let mut bytes = [0; 8];
        from.read_exact(&mut bytes)?;
        *number = u64::from_le_bytes(bytes);
    }
    Ok(numbers)
}

fn wrong<T>(what: &str) -> Result<T> {
    Err(Error::Device(format!("a rank sent {what}").into()))
}

/// Reason for which rank 0 refuses a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    OtherToken = 1,
    OtherVersion,
    OtherCount,
    Taken,
}

impl Refusal {
    const ALL: [Refusal; 4] = [
        Refusal::OtherToken,
        Refusal::OtherVersion,
        Refusal::OtherCount,
        Refusal::Taken,
    ];

    /// Describes the reason, for both ends.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Refusal::OtherToken => "its token (BWZ_RANKS_TOKEN) is not that of rank 0",
            Refusal::OtherVersion => "it is of another version of bwz",
            Refusal::OtherCount => "it is of a job of another number of ranks",
            Refusal::Taken => "a rank of its number has come before (is this another job's port?)",
        }
    }
}

/// The sender of a greeting to rank 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visitor {
    Rank(usize),
    Refused(Refusal),
    Stranger,
}

/// Sends the greeting, which says which rank this is.
pub(super) fn greet(to: &mut impl Write, place: ProcessRank, token: &Token) -> Result<()> {
    let mut greeting = Vec::with_capacity(GREETING_SIZE);
    put(&mut greeting, &GREETING)?;
    put(&mut greeting, &[place.number as u64, place.count as u64])?;
    greeting.extend(token.bytes());
    Ok(to.write_all(&greeting)?)
}

/// Identifies the sender of a greeting to rank 0 of `count` ranks. The token is checked before
/// anything about the job.
pub(super) fn greeted(greeting: &[u8; GREETING_SIZE], count: usize, token: &Token) -> Visitor {
    let (mut numbers, greeted_token) = greeting.split_at(NUMBERS_SIZE);
    let Ok([magic, version, number, of]) = get(&mut numbers) else {
        return Visitor::Stranger;
    };
    match () {
        () if magic != GREETING[0] => Visitor::Stranger,
        () if version != GREETING[1] => Visitor::Refused(Refusal::OtherVersion),
        () if !token.is(greeted_token) => Visitor::Refused(Refusal::OtherToken),
        () if of != count as u64 || !(1..of).contains(&number) => {
            Visitor::Refused(Refusal::OtherCount)
        }
        () => Visitor::Rank(number as usize),
    }
}

/// Welcomes a rank that was waited for.
pub(super) fn welcome(to: &mut impl Write) -> Result<()> {
    put(to, &[WELCOME])
}

/// Refuses a rank.
pub(super) fn refuse(to: &mut impl Write, why: Refusal) -> Result<()> {
    put(to, &[why as u64])
}

/// Reads the answer of rank 0 to a greeting.
///
/// # Errors
/// [`Error::Device`] if this rank is refused, or something else answers.
pub(super) fn welcomed(from: &mut impl Read) -> Result<()> {
    let [answer] = get(from)?;
    if answer == WELCOME {
        return Ok(());
    }
    match Refusal::ALL
        .into_iter()
        .find(|why| *why as u64 == answer)
    {
        Some(why) => {
            let what = format!("rank 0 has refused this rank, since {}", why.reason());
            Err(Error::Device(what.into()))
        }
        None => Err(Error::Device(
            "the process that answers is not rank 0 of bwz".into(),
        )),
    }
}

/// Returns the next number other than [`ALIVE`].
fn next_word(from: &mut impl Read) -> Result<u64> {
    loop {
        let [word] = get(from)?;
        if word != ALIVE {
            return Ok(word);
        }
    }
}

impl Word {
    pub(super) fn say(self, to: &mut impl Write) -> Result<()> {
        put(to, &[self as u64])
    }

    pub(super) fn hear(from: &mut impl Read) -> Result<Word> {
        let word = next_word(from)?;
        let words = [Word::End, Word::Sort, Word::Complete];
        words
            .into_iter()
            .find(|known| *known as u64 == word)
            .map_or_else(|| wrong("an unknown word"), Ok)
    }
}

/// Asks rank `number` for the sort of its part.
pub(super) fn ask(
    to: &mut impl Write,
    network: &Network,
    sample_rate: u32,
    parts: TextParts,
    number: usize,
    text: &[u8],
) -> Result<()> {
    let part = PartText::of(text, parts, number);
    Word::Sort.say(to)?;
    put(
        to,
        &[parts.len(), u64::from(sample_rate), u64::from(part.before)],
    )?;
    to.write_all(network)?;
    Ok(to.write_all(part.bytes)?)
}

/// Reads the rest of a message of [`ask`], after its word. No text is longer than the largest
/// block.
pub(super) fn asked(from: &mut impl Read, place: ProcessRank, largest: u64) -> Result<PartJob> {
    let [n, sample_rate, before] = get(from)?;
    let (Ok(sample_rate), Ok(before)) = (u32::try_from(sample_rate), u8::try_from(before)) else {
        return wrong("an invalid sort");
    };
    if n == 0 || !sample_rate.is_power_of_two() {
        return wrong("an invalid sort");
    }
    if n > largest {
        let what = format!("a text of {n} bytes, while blocks have {largest} at most");
        return wrong(&what);
    }
    let mut network = [0; mem::size_of::<Network>()];
    from.read_exact(&mut network)?;
    let parts = TextParts::new(n, place.count);
    let mut bytes = memory(parts.taken_len(place.number))?;
    from.read_exact(&mut bytes)?;
    Ok(PartJob {
        network,
        parts,
        sample_rate,
        before,
        bytes,
    })
}

/// Sends rank 0 the rows of a part, or the reason why there are none.
pub(super) fn answer(to: &mut impl Write, rows: Result<&PartRows, &Error>) -> Result<()> {
    match rows {
        Ok(rows) => {
            put(to, &[1, rows.samples.len() as u64])?;
            to.write_all(rows.bytes)?;
            let numbers = rows
                .samples
                .iter()
                .flat_map(|&(position, row)| [position, row]);
            let samples: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
            Ok(to.write_all(&samples)?)
        }
        Err(e) => {
            let failure = e.to_string();
            let failure = &failure.as_bytes()[..failure.len().min(MOST_OF_FAILURE as usize)];
            put(to, &[0, failure.len() as u64])?;
            Ok(to.write_all(failure)?)
        }
    }
}

/// Reads the rows of a rank's part, before which it may have said that it is alive.
///
/// # Errors
/// [`Error::Device`] as the rank has sent it, or if the message makes no sense.
pub(super) fn answered(
    from: &mut impl Read,
    parts: TextParts,
    number: usize,
    sample_rate: u32,
) -> Result<OwnedRows> {
    let kind = next_word(from)?;
    let [len] = get(from)?;
    let most = parts
        .size()
        .min(parts.len().div_ceil(sample_rate.into()));
    match kind {
        0 if len <= MOST_OF_FAILURE => {
            let mut failure = memory(len)?;
            from.read_exact(&mut failure)?;
            Err(Error::Device(
                String::from_utf8_lossy(&failure)
                    .into_owned()
                    .into(),
            ))
        }
        1 if len <= most => {
            let mut bytes = memory(parts.part_len(number))?;
            from.read_exact(&mut bytes)?;
            let mut samples = memory(16 * len)?;
            from.read_exact(&mut samples)?;
            let (pairs, _) = samples.as_chunks::<16>();
            let half = |pair: &[u8; 16], at| {
                u64::from_le_bytes(
                    pair[at..at + 8]
                        .try_into()
                        .expect("it is half of a pair"),
                )
            };
            let samples = pairs
                .iter()
                .map(|pair| (half(pair, 0), half(pair, 8)))
                .collect();
            Ok(OwnedRows {
                rows: parts.range(number),
                bytes,
                samples,
            })
        }
        _ => wrong("invalid rows"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: ProcessRank = ProcessRank {
        number: 1,
        count: 3,
        on_host: 1,
    };

    const LARGEST: u64 = 1000;

    fn greeting(place: ProcessRank, token: &Token) -> [u8; GREETING_SIZE] {
        let mut greeting = Vec::new();
        greet(&mut greeting, place, token).unwrap();
        greeting.try_into().unwrap()
    }

    #[test]
    fn a_greeting_is_of_one_of_so_many() {
        let own = Token::new(&[1; 16]).unwrap();
        let other = Token::new(&[2; 16]).unwrap();
        let refused = |why| Visitor::Refused(why);
        for token in [Token::NONE, own] {
            let right = greeting(PLACE, &token);
            assert_eq!(greeted(&right, 3, &token), Visitor::Rank(1));
            assert_eq!(greeted(&right, 4, &token), refused(Refusal::OtherCount));
            assert_eq!(greeted(&right, 3, &other), refused(Refusal::OtherToken));
            assert_eq!(greeted(&right, 4, &other), refused(Refusal::OtherToken));
            for number in [0, 3, 4, usize::MAX] {
                let wrong = greeting(ProcessRank { number, ..PLACE }, &token);
                assert_eq!(
                    greeted(&wrong, 3, &token),
                    refused(Refusal::OtherCount),
                    "{number}"
                );
            }
            for at in 0..GREETING_SIZE {
                let mut wrong = right;
                wrong[at] ^= 0x80;
                let visitor = greeted(&wrong, 3, &token);
                let expected = match at {
                    0..8 => Visitor::Stranger,
                    8..16 => refused(Refusal::OtherVersion),
                    16..32 => refused(Refusal::OtherCount),
                    _ => refused(Refusal::OtherToken),
                };
                assert_eq!(visitor, expected, "byte {at}");
            }
        }
    }

    #[test]
    fn a_rank_is_told_why_it_is_refused() {
        let mut answer = Vec::new();
        welcome(&mut answer).unwrap();
        welcomed(&mut &answer[..]).unwrap();
        for why in Refusal::ALL {
            let mut answer = Vec::new();
            refuse(&mut answer, why).unwrap();
            let end = welcomed(&mut &answer[..]).unwrap_err();
            assert!(end.to_string().contains(why.reason()), "{end}");
        }
        let end = welcomed(&mut &b"HTTP/1.1 400"[..]).unwrap_err();
        assert!(end.to_string().contains("not rank 0"), "{end}");
        assert!(matches!(welcomed(&mut &b"wel"[..]), Err(Error::Io(_))));
    }

    #[test]
    fn an_end_may_say_that_it_is_alive_before_a_message() {
        let mut said = Vec::new();
        put(&mut said, &[ALIVE, ALIVE]).unwrap();
        Word::Complete.say(&mut said).unwrap();
        put(&mut said, &[ALIVE]).unwrap();
        let rows = PartRows {
            rows: 7..14,
            bytes: b"abcdefg",
            samples: &[],
        };
        answer(&mut said, Ok(&rows)).unwrap();
        let from = &mut &said[..];
        assert_eq!(Word::hear(from).unwrap(), Word::Complete);
        let given = answered(from, TextParts::new(20, 3), 1, 4).unwrap();
        assert_eq!(given.bytes, b"abcdefg");
    }

    #[test]
    fn a_job_and_its_rows_come_as_they_went() {
        let text = b"she sells sea shells";
        let parts = TextParts::new(20, 3);
        let mut message = Vec::new();
        ask(&mut message, &[9; 128], 4, parts, 1, text).unwrap();
        let from = &mut &message[..];
        assert_eq!(Word::hear(from).unwrap(), Word::Sort);
        let job = asked(from, PLACE, LARGEST).unwrap();
        assert_eq!(
            (job.network, job.sample_rate, job.before),
            ([9; 128], 4, b'l')
        );
        assert_eq!(job.bytes, b"ls sea shells");
        for cut in 8..message.len() {
            assert!(
                asked(&mut &message[8..cut], PLACE, LARGEST).is_err(),
                "cut at {cut}"
            );
        }
        let rows = PartRows {
            rows: 7..14,
            bytes: b"abcdefg",
            samples: &[(8, 3), (12, 1)],
        };
        let mut reply = Vec::new();
        answer(&mut reply, Ok(&rows)).unwrap();
        let given = answered(&mut &reply[..], parts, 1, 4).unwrap();
        assert_eq!(
            (given.rows.clone(), &given.bytes[..]),
            (7..14, &b"abcdefg"[..])
        );
        assert_eq!(given.samples, [(8, 3), (12, 1)]);
        for cut in 0..reply.len() {
            assert!(
                answered(&mut &reply[..cut], parts, 1, 4).is_err(),
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn a_failure_is_given_on_and_nonsense_refused() {
        let mut reply = Vec::new();
        let parts = TextParts::new(20, 3);
        answer(&mut reply, Err(&Error::Device("it is hot".into()))).unwrap();
        let end = answered(&mut &reply[..], parts, 1, 4).unwrap_err();
        assert!(
            matches!(end, Error::Device(_)) && end.to_string().contains("it is hot"),
            "{end}"
        );
        let long = Error::Device("x".repeat(10_000).into());
        reply.clear();
        answer(&mut reply, Err(&long)).unwrap();
        assert!(answered(&mut &reply[..], parts, 1, 4).is_err());
        for numbers in [[2, 0], [0, 1 << 40], [1, 6]] {
            let mut reply = Vec::new();
            put(&mut reply, &numbers).unwrap();
            let end = answered(&mut &reply[..], parts, 1, 4).unwrap_err();
            assert!(end.to_string().contains("invalid rows"), "{end}");
        }
        for numbers in [[0, 4, 0], [9, 3, 0], [9, 1 << 32, 0], [9, 4, 256]] {
            let mut job = Vec::new();
            put(&mut job, &numbers).unwrap();
            let end = asked(&mut &job[..], PLACE, LARGEST).unwrap_err();
            assert!(end.to_string().contains("invalid sort"), "{end}");
        }
        for huge in [LARGEST + 1, 1 << 39, 1 << 40, u64::MAX] {
            let mut job = Vec::new();
            put(&mut job, &[huge, 4, 0]).unwrap();
            let end = asked(&mut &job[..], PLACE, LARGEST).unwrap_err();
            assert!(end.to_string().contains("1000 at most"), "{end}");
        }
        assert!(Word::hear(&mut &[3, 0, 0, 0, 0, 0, 0, 0][..]).is_err());
    }
}
