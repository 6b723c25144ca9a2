//! The regions of a block and what is done to each: FORMAT.md section 14.3.
//!
//! An archive or a program holds tables, code and text side by side. [`encode`] and [`decode`]
//! change each region of a list in place; `detect` makes the list.

use super::branches::{self, Way};
use super::number;
use super::records::Records;
use crate::error::Flaw;

/// What is done to a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Records(Records),
    X86,
    Arm64,
}

/// So many bytes of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub size: usize,
    pub kind: Kind,
}

/// Changes the regions of `text` and appends the list to `side`; the sizes must add up to that of
/// `text`.
pub(crate) fn encode(text: &mut [u8], regions: &[Region], side: &mut Vec<u8>) -> Result<(), Flaw> {
    let mut pos = 0;
    for Region { size, kind } in regions {
        let region = &mut text[pos..pos + size];
        number::write(*size, side);
        kind.write(side);
        match kind {
            Kind::Plain => (),
            Kind::Records(records) => records.encode(region)?,
            Kind::X86 => branches::x86(region, pos, Way::ToAbsolute),
            Kind::Arm64 => branches::arm64(region, pos, Way::ToAbsolute),
        }
        pos += size;
    }
    Ok(())
}

/// Undoes [`encode`].
///
/// # Errors
/// A [`Flaw`] where `side` is no list of regions of all of `text`.
pub(super) fn decode(text: &mut [u8], side: &mut &[u8]) -> Result<(), Flaw> {
    let mut pos = 0;
    while pos < text.len() {
        let size = number::read(side)?;
        let rest = text[pos..].get_mut(..size).filter(|region| !region.is_empty());
        let region = rest.ok_or(Flaw("the regions of a block do not add up to it"))?;
        match Kind::read(side)? {
            Kind::Plain => (),
            Kind::Records(records) => records.decode(region)?,
            Kind::X86 => branches::x86(region, pos, Way::ToRelative),
            Kind::Arm64 => branches::arm64(region, pos, Way::ToRelative),
        }
        pos += size;
    }
    Ok(())
}

impl Kind {
    /// Takes a kind off the front of `bytes`.
    pub fn read(bytes: &mut &[u8]) -> Result<Self, Flaw> {
        let (&tag, rest) = bytes.split_first().ok_or(number::CUT)?;
        *bytes = rest;
        match tag {
            0 => Ok(Kind::Plain),
            1 => Records::read(bytes).map(Kind::Records),
            2 => Ok(Kind::X86),
            3 => Ok(Kind::Arm64),
            _ => Err(Flaw("a region of a block is of an unknown kind")),
        }
    }

    /// Appends the kind.
    fn write(&self, out: &mut Vec<u8>) {
        out.push(self.tag());
        if let Kind::Records(records) = self {
            records.write(out);
        }
    }

    fn tag(&self) -> u8 {
        match self {
            Kind::Plain => 0,
            Kind::Records(_) => 1,
            Kind::X86 => 2,
            Kind::Arm64 => 3,
        }
    }
}
