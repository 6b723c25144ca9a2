//! Secret that tells the ranks of a job from other processes that connect.
//!
//! It is in `BWZ_RANKS_TOKEN`, or else it is the random key that `mpirun` of Open MPI 4 and earlier
//! gives to all processes of a job. Other launchers have none: the job numbers of Slurm, the
//! namespaces of PMIx and the run names of torchrun are no secrets. Programs of Open MPI that
//! `srun` started get a key that is made of such numbers, with zeros between, and this is no secret
//! either.
//!
//! Without a token rank 0 listens on the loopback interface only. Other users of the host are
//! trusted there.

use crate::base::error::{Error, Result};
use std::env;
use std::fmt;
use std::net::ToSocketAddrs;
use subtle::ConstantTimeEq;

/// Variable that a user sets.
const OWN: &str = "BWZ_RANKS_TOKEN";

/// Variable with the key of a job of Open MPI: 128 random bits in hexadecimal digits.
const OPEN_MPI: &str = "OMPI_MCA_orte_precondition_transports";

/// Minimum number of bytes in a token.
const LEAST: usize = 16;
/// Maximum number of bytes in a token.
const MOST: usize = 128;

/// Bytes of a token in a greeting: its length, and the token with zeros after it.
pub(super) const TOKEN_SIZE: usize = 1 + MOST;

/// A token, or the fact that there is none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Token([u8; TOKEN_SIZE]);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_none() {
            "Token(none)"
        } else {
            "Token(..)"
        })
    }
}

impl Token {
    pub(super) const NONE: Token = Token([0; TOKEN_SIZE]);

    /// Reads the token of this process from the environment.
    ///
    /// # Errors
    /// [`Error::Usage`] if `BWZ_RANKS_TOKEN` is too short or too long.
    pub(super) fn of_process() -> Result<Token> {
        Token::from(|name| env::var(name).ok())
    }

    fn from(variable: impl Fn(&str) -> Option<String>) -> Result<Token> {
        if let Some(text) = variable(OWN) {
            return Token::new(text.as_bytes());
        }
        match variable(OPEN_MPI) {
            Some(key) if is_random(&key) => Token::new(key.as_bytes()),
            _ => Ok(Token::NONE),
        }
    }

    pub(super) fn new(text: &[u8]) -> Result<Token> {
        if !(LEAST..=MOST).contains(&text.len()) {
            let len = text.len();
            let what = format!("{OWN} has {len} bytes: it must have {LEAST} to {MOST}");
            return Err(Error::Usage(what.into()));
        }
        let mut bytes = [0; TOKEN_SIZE];
        bytes[0] = text.len() as u8;
        bytes[1..][..text.len()].copy_from_slice(text);
        Ok(Token(bytes))
    }

    pub(super) fn is_none(&self) -> bool {
        self.0[0] == 0
    }

    /// Bytes that a greeting carries.
    pub(super) fn bytes(&self) -> &[u8; TOKEN_SIZE] {
        &self.0
    }

    /// Returns true if a greeting carried this token. The time that this takes does not depend on
    /// the position of a difference.
    pub(super) fn is(&self, greeted: &[u8]) -> bool {
        self.0.ct_eq(greeted).into()
    }

    /// Checks that ranks without a token meet on the loopback interface.
    ///
    /// # Errors
    /// [`Error::Usage`] if others could connect.
    pub(super) fn check_address(&self, address: &str) -> Result<()> {
        let of = |e| Error::Usage(format!("--ranks {address}: {e}").into());
        let mut addresses = address.to_socket_addrs().map_err(of)?;
        if !self.is_none() || addresses.all(|address| address.ip().is_loopback()) {
            return Ok(());
        }
        let what = format!(
            "ranks that meet at {address} need a token, since other hosts can connect there: set \
             {OWN} to the same secret of {LEAST} to {MOST} bytes for all of them, or let ranks of \
             one host meet at localhost"
        );
        Err(Error::Usage(what.into()))
    }
}

/// Returns true if a key of Open MPI is two random numbers of 64 bits, and is not made of a job's
/// numbers. One random key in a billion looks as if it were.
fn is_random(key: &str) -> bool {
    let Some((first, second)) = key.split_once('-') else {
        return false;
    };
    let is_one = |half: &str| {
        let number = u64::from_str_radix(half, 16).unwrap_or(0);
        half.len() == 16 && number >> 32 != 0 && number << 32 != 0
    };
    first != second && is_one(first) && is_one(second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(variables: &[(&str, &str)]) -> Result<Token> {
        Token::from(|name| {
            let (_, value) = variables
                .iter()
                .find(|(other, _)| *other == name)?;
            Some((*value).to_owned())
        })
    }

    #[test]
    fn tokens_come_from_the_environment() {
        let [own, key] = ["sixteen letters.", "0123456789abcdef-fedcba9876543210"];
        assert!(token(&[]).unwrap().is_none());
        assert_eq!(
            token(&[(OWN, own)]).unwrap(),
            Token::new(own.as_bytes()).unwrap()
        );
        assert_eq!(
            token(&[(OPEN_MPI, key)]).unwrap(),
            Token::new(key.as_bytes()).unwrap()
        );
        let both = token(&[(OPEN_MPI, key), (OWN, own)]).unwrap();
        assert_eq!(both, Token::new(own.as_bytes()).unwrap());
        for guessable in [
            "short",
            "0123456789abcdef",
            "017569a900000000-017569a900000000",
            "00000000017569a9-0000000000000001",
            "017569a900000000-fedcba9876543210",
            "0123456789abcdef-0123456789abcdef",
            "0123456789abcdef-fedcba987654321",
            "0123456789abcdeg-fedcba9876543210",
        ] {
            assert!(
                token(&[(OPEN_MPI, guessable)]).unwrap().is_none(),
                "{guessable}"
            );
        }
        assert!(
            token(&[("SLURM_JOB_ID", "12345678901234567890")])
                .unwrap()
                .is_none()
        );
        for wrong in ["", "fifteen letters", &"x".repeat(129)] {
            let end = token(&[(OWN, wrong)]);
            assert!(matches!(end, Err(Error::Usage(_))), "{wrong}: {end:?}");
        }
        assert!(token(&[(OWN, &"x".repeat(128))]).is_ok());
        assert!(!format!("{both:?}").contains("sixteen"));
    }

    #[test]
    fn every_byte_of_a_token_counts() {
        let own = Token::new(&[b'a'; 32]).unwrap();
        assert!(own.is(own.bytes()));
        for at in 0..TOKEN_SIZE {
            let mut other = *own.bytes();
            other[at] ^= 1;
            assert!(!own.is(&other), "byte {at}");
        }
        assert!(!own.is(Token::NONE.bytes()) && !Token::NONE.is(own.bytes()));
        assert!(!own.is(&own.bytes()[..32]) && !own.is(b""));
    }

    #[test]
    fn without_a_token_ranks_meet_on_one_host() {
        let token = Token::new(&[7; 16]).unwrap();
        let loopback = [
            "127.0.0.1:7000",
            "localhost:7000",
            "127.9.9.9:1",
            "[::1]:7000",
        ];
        for address in loopback {
            Token::NONE.check_address(address).unwrap();
        }
        for address in ["0.0.0.0:7000", "[::]:7000", "192.0.2.1:7000", "10.0.0.1:80"] {
            let end = Token::NONE.check_address(address).unwrap_err();
            assert!(end.to_string().contains(OWN), "{address}: {end}");
            token.check_address(address).unwrap();
        }
        for address in ["", "localhost", "localhost:x", ":7000:"] {
            let end = token.check_address(address);
            assert!(matches!(end, Err(Error::Usage(_))), "{address}: {end:?}");
        }
    }
}
