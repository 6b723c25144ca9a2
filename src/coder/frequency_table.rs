//! A table of static rANS: how often each of 16 symbols occurs, sent with the segment.
//!
//! A count is sent as a floating-point number of one byte, its four highest bits and an exponent,
//! so that a table takes up to 17 bytes and is within a sixteenth of the counts. Every symbol owns
//! at least one slot, sent or not: any bytes make a table.

use super::ENDS_EARLY;
use super::cdf_simd::CdfVector;
use super::rans::{PreparedSlots, SLOT_BITS, Slots};
use crate::error::Flaw;

/// Slots that the counts share; each symbol has one more.
const SHARED: u64 = (1 << SLOT_BITS) - 16;

/// Which slots each of 16 symbols owns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(align(32))]
pub struct FrequencyTable {
    starts: [i16; 16],
    /// By the symbol plus 1: the first slot, and from bit 16 on how many.
    slots: [u32; 17],
}

impl FrequencyTable {
    /// Writes the table of these counts, each below 2^32.
    pub fn write(counts: &[u32; 16], out: &mut Vec<u8>) {
        let sent = counts.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
        out.push(sent as u8);
        out.extend(counts[..sent].iter().map(|&count| to_byte(count)));
    }

    /// Reads what [`FrequencyTable::write`] wrote and leaves what follows in `coded`.
    pub fn read(coded: &mut &[u8]) -> Result<Self, Flaw> {
        let (&sent, rest) = coded.split_first().ok_or(ENDS_EARLY)?;
        let (bytes, rest) = rest.split_at_checked(sent.into()).ok_or(ENDS_EARLY)?;
        if bytes.len() > 16 {
            return Err(Flaw("a segment has a table of more than 16 symbols"));
        }
        *coded = rest;
        Ok(Self::of(bytes))
    }

    fn of(bytes: &[u8]) -> Self {
        let count = |symbol: usize| bytes.get(symbol).map_or(0, |&byte| from_byte(byte));
        let all = (0..16).map(count).sum::<u64>().max(1);
        let (mut before, mut start) = (0, 0);
        let mut table = FrequencyTable { starts: [0; 16], slots: [0; 17] };
        for symbol in 0..16 {
            before += count(symbol);
            let next = if symbol == 15 {
                1 << SLOT_BITS
            } else {
                before * SHARED / all + symbol as u64 + 1
            };
            table.starts[symbol] = start as i16;
            table.slots[symbol + 1] = (start | (next - start) << 16) as u32;
            start = next;
        }
        table
    }

    /// The slots of all symbols.
    pub fn prepared(&self) -> [PreparedSlots; 16] {
        std::array::from_fn(|symbol| unpack(self.slots[symbol + 1]).into())
    }

    /// The symbol that owns `slot`, and its slots.
    #[inline(always)]
    pub fn find<V: CdfVector>(&self, slot: u32) -> (u32, Slots) {
        let next = V::load(&self.starts).not_above(slot as i16);
        (next as u32 - 1, unpack(self.slots[next]))
    }
}

#[inline(always)]
fn unpack(slots: u32) -> Slots {
    Slots { start: slots & 0xffff, freq: slots >> 16 }
}

/// The byte for a count, rounded: counts below 16 are themselves.
fn to_byte(count: u32) -> u8 {
    let dropped = (count.max(8).ilog2() - 3) as u64;
    let high = (u64::from(count) + (1 << dropped >> 1)) >> dropped;
    (8 * dropped + high) as u8
}

/// The count that a byte stands for.
fn from_byte(byte: u8) -> u64 {
    match byte {
        ..16 => byte.into(),
        _ => u64::from(8 + byte % 8) << (byte / 8 - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::super::cdf_simd::CdfBaseline;
    use super::*;

    fn sent(counts: [u32; 16]) -> FrequencyTable {
        let mut out = Vec::new();
        FrequencyTable::write(&counts, &mut out);
        out.push(99);
        let mut rest = &out[..];
        let table = FrequencyTable::read(&mut rest).unwrap();
        assert_eq!(rest, [99]);
        table
    }

    #[test]
    fn bytes_are_near_their_counts() {
        for count in (0..5000).chain((12..32).flat_map(|log| [(1 << log) - 1, (3 << log) / 2])) {
            let near = from_byte(to_byte(count));
            assert!(near.abs_diff(count.into()) * 16 <= count.into(), "{count} became {near}");
        }
    }

    #[test]
    fn every_slot_has_its_symbol() {
        let last = std::array::from_fn(|symbol| u32::from(symbol == 15));
        let some = [900, 70, 3, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        for counts in [[0; 16], [1; 16], [u32::MAX; 16], last, some] {
            let table = sent(counts);
            let mut slot = 0;
            for symbol in 0..16 {
                let Slots { start, freq } = unpack(table.slots[symbol as usize + 1]);
                assert_eq!(start, slot);
                assert!(freq > 0);
                for slot in [start, start + freq - 1] {
                    assert_eq!(table.find::<CdfBaseline>(slot), (symbol, Slots { start, freq }));
                }
                slot += freq;
            }
            assert_eq!(slot, 1 << SLOT_BITS);
        }
    }

    #[test]
    fn damaged_tables_are_flaws() {
        assert!(FrequencyTable::read(&mut &[][..]).is_err());
        assert!(FrequencyTable::read(&mut &[2, 7][..]).is_err());
        assert!(FrequencyTable::read(&mut &[17; 40][..]).is_err());
        assert!(FrequencyTable::read(&mut &[16; 17][..]).is_ok());
    }
}
