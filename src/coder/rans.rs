//! The entropy coder: two interleaved range asymmetric numeral systems (rANS).
//!
//! The last stage. A symbol that owns `freq` of 2^15 slots from `start` on costs 15 - log2(freq)
//! bits. Run lengths go through one 32-bit state and places through the other, so that the
//! processor overlaps their multiplications. Decoding has neither a division nor a branch that
//! depends on the data.
//!
//! rANS is a stack: what was pushed last comes out first. The encoder therefore collects the slots
//! of a *batch* of runs, pushes them from the last to the first, and writes the words in the order
//! in which the decoder takes them. Cost: 4 ns per symbol to encode (one division), 2 to decode.
//!
//! Source: Duda, "Asymmetric numeral systems" (arXiv 1311.2540); the interleaving is Giesen's
//! (arXiv 1402.3392).

use crate::error::Flaw;

/// Slots are counted in units of 2^-15.
pub const SLOT_BITS: u32 = 15;
/// A state that has nothing to say, and the least value a state has between symbols.
const REST: u32 = 1 << 16;

/// Which of the two states a symbol goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    Run = 0,
    Place = 1,
}

/// The slots of one symbol: `freq` of them, the first of which is `start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slots {
    pub start: u32,
    pub freq: u32,
}

impl Slots {
    /// Those of a value of `bits` bits, at most 15, all of which are equally likely.
    #[inline(always)]
    pub fn plain(value: u32, bits: u32) -> Slots {
        Slots { start: value << (SLOT_BITS - bits), freq: 1 << (SLOT_BITS - bits) }
    }
}

/// Collects the symbols of one batch.
#[derive(Debug, Default)]
pub struct Encoder {
    /// start, freq and lane in 15, 15 and 1 bits.
    batch: Vec<u32>,
    /// Room for its words.
    words: Vec<[u8; 2]>,
}

impl Encoder {
    #[inline(always)]
    pub fn put(&mut self, lane: Lane, slots: Slots) {
        self.batch.push(slots.start | slots.freq << SLOT_BITS | (lane as u32) << (2 * SLOT_BITS));
    }

    /// Appends the batch to `out`: both states, then the words.
    pub fn flush(&mut self, out: &mut Vec<u8>) {
        self.words.resize(self.batch.len(), [0; 2]);
        let mut stack = Stack::new(std::mem::take(&mut self.words));
        for packed in self.batch.drain(..).rev() {
            let start = packed & (REST / 2 - 1);
            let freq = packed >> SLOT_BITS & (REST / 2 - 1);
            // Not one push with either lane: each would wait for the other.
            match packed >> (2 * SLOT_BITS) {
                0 => stack.push(Lane::Run, Slots { start, freq }),
                _ => stack.push(Lane::Place, Slots { start, freq }),
            }
        }
        self.words = stack.write(out);
    }
}

/// Takes symbols, the last one first.
#[derive(Debug)]
pub struct Stack {
    states: [u32; 2],
    /// Filled from its end.
    words: Vec<[u8; 2]>,
    free: usize,
}

impl Stack {
    /// Words go to `room`. A symbol takes one or none; those for which there is no room are lost.
    pub fn new(room: Vec<[u8; 2]>) -> Self {
        Stack { states: [REST; 2], free: room.len(), words: room }
    }

    /// Pushes the symbol that owns these slots.
    #[inline(always)]
    pub fn push(&mut self, lane: Lane, slots: Slots) {
        let state = self.make_room(lane, slots.freq);
        let (quotient, rest) = (state / slots.freq, state % slots.freq);
        self.states[lane as usize] = (quotient << SLOT_BITS) + rest + slots.start;
    }

    /// Pushes a symbol whose division was prepared.
    #[inline(always)]
    pub fn push_prepared(&mut self, lane: Lane, symbol: &Prepared) {
        let state = self.make_room(lane, symbol.freq);
        let quotient = ((u128::from(state) * u128::from(symbol.inverse)) >> 64) as u32;
        let others = (1 << SLOT_BITS) - symbol.freq;
        self.states[lane as usize] = state + symbol.start + quotient * others;
    }

    /// The state of a lane, small enough for a symbol of `freq` slots.
    #[inline(always)]
    fn make_room(&mut self, lane: Lane, freq: u32) -> u32 {
        let state = self.states[lane as usize];
        // Written whether or not it is needed, as nobody can predict it.
        if let Some(word) = self.words.get_mut(self.free.wrapping_sub(1)) {
            *word = (state as u16).to_le_bytes();
        }
        let full = state >= freq << 17;
        self.free = self.free.saturating_sub(full.into());
        if full { state >> 16 } else { state }
    }

    /// Appends the states to `out` and then the words, and gives their room back.
    pub fn write(self, out: &mut Vec<u8>) -> Vec<[u8; 2]> {
        self.states.iter().for_each(|state| out.extend(state.to_le_bytes()));
        out.extend_from_slice(self.words[self.free..].as_flattened());
        self.words
    }
}

/// A symbol's slots, with what turns the division by them into a multiplication.
#[derive(Debug, Clone, Copy, Default)]
pub struct Prepared {
    start: u32,
    freq: u32,
    /// 2^64 / freq, rounded up: exact enough for states of 32 bits.
    inverse: u64,
}

impl From<Slots> for Prepared {
    fn from(Slots { start, freq }: Slots) -> Self {
        match freq {
            // 2^64 has no room. One less makes the quotient one less.
            1 => Prepared { start: start + (1 << SLOT_BITS) - 1, freq, inverse: u64::MAX },
            _ => Prepared { start, freq, inverse: u64::MAX / u64::from(freq) + 1 },
        }
    }
}

/// Takes symbols from coded bytes, batch by batch.
#[derive(Debug, Clone, Copy)]
pub struct Decoder<'a> {
    words: &'a [[u8; 2]],
    /// What is left of an odd number of bytes.
    rest: usize,
    pos: usize,
    /// In 64 bits each: two of 32 would share a register, and each lane would wait for the other.
    states: [u64; 2],
}

impl<'a> Decoder<'a> {
    /// Nothing is read before the first [`Decoder::begin`].
    pub fn new(coded: &'a [u8]) -> Self {
        let (words, rest) = coded.as_chunks();
        Decoder { words, rest: rest.len(), pos: 0, states: [REST.into(); 2] }
    }

    /// Reads the states of the next batch. The batch before must have been used up exactly.
    pub fn begin(&mut self) -> Result<(), Flaw> {
        self.check_rest()?;
        for state in &mut self.states {
            let head = self.words.get(self.pos..self.pos + 2);
            let [low, high] = *head
                .and_then(|head| head.first_chunk())
                .ok_or(Flaw("a segment's coded bytes end too early"))?;
            *state = u32::from_le_bytes([low[0], low[1], high[0], high[1]]).into();
            self.pos += 2;
            if *state < REST.into() {
                return Err(Flaw("a segment holds a coder state that is too small"));
            }
        }
        Ok(())
    }

    /// The slot that the next symbol of `lane` owns.
    #[inline(always)]
    pub fn slot(&self, lane: Lane) -> u32 {
        self.states[lane as usize] as u32 & ((1 << SLOT_BITS) - 1)
    }

    /// Takes the symbol that owns `slots`, the current slot among them, out of `lane`.
    #[inline(always)]
    pub fn take(&mut self, lane: Lane, slots: Slots) {
        let state = self.states[lane as usize] as u32;
        let state =
            slots.freq * (state >> SLOT_BITS) + (state & ((1 << SLOT_BITS) - 1)) - slots.start;
        // Read ahead whether or not it is needed: a conditional move beats a branch that nobody can
        // predict. Words behind the end read as 0; `pos` tells in the end that they were taken.
        let word = self.words.get(self.pos).map_or(0, |&word| u16::from_le_bytes(word));
        let refill = state < REST;
        self.pos += usize::from(refill);
        let state = if refill { state << 16 | u32::from(word) } else { state };
        self.states[lane as usize] = state.into();
    }

    /// Takes a value of so many bits as they are.
    #[inline(always)]
    pub fn take_plain(&mut self, lane: Lane, bits: u32) -> u32 {
        let value = self.slot(lane) >> (SLOT_BITS - bits);
        self.take(lane, Slots::plain(value, bits));
        value
    }

    /// Checks that the coded bytes were used up exactly.
    pub fn finish(&self) -> Result<(), Flaw> {
        self.check_rest()?;
        match self.pos == self.words.len() && self.rest == 0 {
            true => Ok(()),
            false => Err(Flaw("a segment's coded bytes are longer or shorter than they should be")),
        }
    }

    fn check_rest(&self) -> Result<(), Flaw> {
        match self.states == [u64::from(REST); 2] {
            true => Ok(()),
            false => Err(Flaw("a segment's coded bytes do not end where its runs do")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(len: u32) -> Vec<(Lane, Slots)> {
        let lane = |i: u32| {
            if i.wrapping_mul(2654435761) >> 30 == 0 { Lane::Run } else { Lane::Place }
        };
        let slots = |i: u32| {
            let start = i.wrapping_mul(2246822519) >> 17;
            Slots { start, freq: 1 + (i * 7919) % ((1 << SLOT_BITS) - start).min(32752) }
        };
        (0..len).map(|i| (lane(i), slots(i))).collect()
    }

    fn coded(symbols: &[(Lane, Slots)]) -> Vec<u8> {
        let mut encoder = Encoder::default();
        let mut out = Vec::new();
        symbols.iter().for_each(|&(lane, slots)| encoder.put(lane, slots));
        encoder.flush(&mut out);
        out
    }

    #[test]
    fn symbols_come_back() {
        for len in [0, 1, 2, 3, 100, 5000] {
            let symbols = sample(len);
            let coded = coded(&symbols);
            let mut decoder = Decoder::new(&coded);
            decoder.begin().unwrap();
            for (lane, slots) in symbols {
                assert!((slots.start..slots.start + slots.freq).contains(&decoder.slot(lane)));
                decoder.take(lane, slots);
            }
            decoder.finish().unwrap();
        }
    }

    #[test]
    fn prepared_symbols_are_the_same() {
        let freqs = (0..15).flat_map(|log| [(1 << log) - 1, 1 << log, (1 << log) + 1]);
        for freq in freqs.chain([32752]).filter(|&freq| freq > 0) {
            let slots = Slots { start: (1 << SLOT_BITS) - freq, freq };
            let room = || Stack::new(vec![[0; 2]; 200]);
            let (mut plain, mut prepared) = (room(), room());
            for (lane, other) in sample(100) {
                for stack in [&mut plain, &mut prepared] {
                    stack.push(lane, other);
                }
                plain.push(lane, slots);
                prepared.push_prepared(lane, &slots.into());
                assert_eq!(plain.states, prepared.states, "{freq}");
            }
            assert_eq!(plain.words, prepared.words);
        }
    }

    #[test]
    fn bytes_too_many_or_too_few_are_flaws() {
        let good = coded(&[]);
        let decode = |coded: &[u8]| {
            let mut decoder = Decoder::new(coded);
            decoder.begin().and_then(|()| decoder.finish())
        };
        assert_eq!(decode(&good), Ok(()));
        assert!(decode(&good[..7]).is_err());
        assert!(decode(&[&good[..], &[0]].concat()).is_err());
        assert!(decode(&[0; 8]).is_err());
    }
}
