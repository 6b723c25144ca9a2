//! Gathering of the ranks: rank 0 finds the others among all processes that connect.
//!
//! Greetings are read side by side. A connection that says nothing takes no time from the others,
//! and is closed after a few seconds. At most [`MOST_WAITING`] connections wait. Beyond that the
//! oldest is closed, since a rank greets as soon as it has connected.

use super::connection::{Connection, Pulse};
use super::messages::{self, GREETING_SIZE, Refusal, Visitor};
use super::token::Token;
use crate::base::error::Result;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Time within which a connection must say which rank it is.
const GREETING_TIME: Duration = Duration::from_secs(5);

/// Maximum number of connections that have not greeted yet.
const MOST_WAITING: usize = 256;

/// Time between two checks of the connections.
const LOOK: Duration = Duration::from_millis(5);

/// Ranks to gather, and the time that this may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gathering {
    pub count: usize,
    pub token: Token,
    pub within: Duration,
    pub pulse: Pulse,
}

/// A connection whose greeting is not complete yet.
struct Waiting {
    stream: TcpStream,
    since: Instant,
    greeting: [u8; GREETING_SIZE],
    read: usize,
}

impl Waiting {
    /// Reads the part of the greeting that has come. Returns true if the greeting is complete. An
    /// error means the end of the connection or of its time.
    fn is_complete(&mut self) -> io::Result<bool> {
        while self.read < GREETING_SIZE {
            match self.stream.read(&mut self.greeting[self.read..]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(more) => self.read += more,
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    let is_over = self.since.elapsed() > GREETING_TIME;
                    return if is_over {
                        Err(ErrorKind::TimedOut.into())
                    } else {
                        Ok(false)
                    };
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(true)
    }
}

/// Ranks that have come, and connections that wait or were refused.
struct Gathered {
    wanted: Gathering,
    ranks: Vec<Option<Connection>>,
    waiting: VecDeque<Waiting>,
    refused: Vec<Refusal>,
}

/// Waits until all ranks are there, and returns the connections to ranks 1, 2, .... Other
/// connections are closed.
pub(super) fn gather(listener: &TcpListener, wanted: Gathering) -> Result<Vec<Connection>> {
    listener.set_nonblocking(true)?;
    let ranks = (1..wanted.count).map(|_| None).collect();
    let mut gathered = Gathered {
        wanted,
        ranks,
        waiting: VecDeque::new(),
        refused: Vec::new(),
    };
    let began = Instant::now();
    let mut last_beat = began;
    while gathered.ranks.iter().any(Option::is_none) {
        if began.elapsed() > wanted.within {
            return Err(io::Error::new(ErrorKind::TimedOut, gathered.missing()).into());
        }
        gathered.accept(listener);
        gathered.read_greetings();
        gathered.let_go_of_the_dead();
        if last_beat.elapsed() > wanted.pulse.beat {
            gathered
                .ranks
                .iter()
                .flatten()
                .for_each(Connection::beat);
            last_beat = Instant::now();
        }
        thread::sleep(LOOK);
    }
    Ok(gathered.ranks.into_iter().flatten().collect())
}

impl Gathered {
    /// Accepts new connections.
    fn accept(&mut self, listener: &TcpListener) {
        for _ in 0..MOST_WAITING {
            let Ok((stream, _)) = listener.accept() else {
                return;
            };
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            if self.waiting.len() == MOST_WAITING {
                self.waiting.pop_front();
            }
            let since = Instant::now();
            let greeting = [0; GREETING_SIZE];
            let read = 0;
            self.waiting.push_back(Waiting {
                stream,
                since,
                greeting,
                read,
            });
        }
    }

    /// Reads greetings, and welcomes or refuses the connections whose greeting is complete.
    fn read_greetings(&mut self) {
        for mut waiting in std::mem::take(&mut self.waiting) {
            match waiting.is_complete() {
                Ok(true) => self.judge(waiting),
                Ok(false) => self.waiting.push_back(waiting),
                Err(_) => {}
            }
        }
    }

    fn judge(
        &mut self,
        Waiting {
            stream, greeting, ..
        }: Waiting,
    ) {
        let count = self.wanted.count;
        let token = &self.wanted.token;
        let visitor = match messages::greeted(&greeting, count, token) {
            Visitor::Rank(rank) if self.ranks[rank - 1].is_some() => {
                Visitor::Refused(Refusal::Taken)
            }
            visitor => visitor,
        };
        match visitor {
            Visitor::Rank(rank) => {
                let connected = Connection::new(stream, rank, self.wanted.pulse);
                // A connection that fails here is not a rank any more.
                if let Ok(connection) = connected
                    && connection.say(|to| messages::welcome(to)).is_ok()
                {
                    self.ranks[rank - 1] = Some(connection);
                }
            }
            Visitor::Refused(why) => {
                // The answer is short enough for the buffer of the socket.
                let _ = messages::refuse(&mut &stream, why);
                if !self.refused.contains(&why) {
                    self.refused.push(why);
                }
            }
            Visitor::Stranger => {}
        }
    }

    /// Frees the ranks whose connection has ended.
    fn let_go_of_the_dead(&mut self) {
        for rank in &mut self.ranks {
            rank.take_if(|rank| {
                let mut heard = rank.listen();
                rank.has_message(&mut heard).is_err()
            });
        }
    }

    /// Describes the ranks that have not come, and the reasons why others were refused.
    fn missing(&self) -> String {
        let numbers = self
            .ranks
            .iter()
            .zip(1..)
            .filter(|(rank, _)| rank.is_none());
        let missing: Vec<String> = numbers
            .map(|(_, number)| number.to_string())
            .collect();
        let there = self.wanted.count - missing.len();
        let Gathering { count, within, .. } = self.wanted;
        let mut what = format!(
            "{there} of {count} ranks have come within {within:?}; missing: {}",
            missing.join(", ")
        );
        for why in &self.refused {
            what += &format!("; one was refused, since {}", why.reason());
        }
        what
    }
}
