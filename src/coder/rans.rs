//! The entropy coder of static rANS (range asymmetric numeral systems), two streams interleaved.
//! FORMAT.md section 14.1.
//!
//! A symbol that owns `freq` of 2^15 slots, starting at `start`, costs 15 - log2(freq) bits. Run
//! lengths have one 32-bit state and MTF ranks another, so that the processor overlaps their
//! multiplications. Decoding a symbol by a table takes no division and no branch that depends on
//! the data; only the choice of the next symbol's table depends on it.
//!
//! rANS is a stack: the symbol encoded last is decoded first. The encoder therefore goes through a
//! slice from the last run to the first, and writes the words in the order in which the decoder
//! reads them. Cost: 2 to 3 ns per symbol in each direction.
//!
//! Source: Duda, "Asymmetric numeral systems" (arXiv 1311.2540); the interleaving is Giesen's
//! (arXiv 1402.3392).

use super::ENDS_EARLY;
use crate::base::error::Flaw;

/// Binary logarithm of the number of slots.
pub(super) const SLOT_BITS: u32 = 15;
/// Minimum of a state between symbols, and its value at the beginning and at the end.
const LOWER_BOUND: u32 = 1 << 16;

/// The streams of symbols, each of which has a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RansStream {
    RunLengths = 0,
    MtfRanks = 1,
}

/// The slots of one symbol: `freq` slots from `start` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slots {
    pub start: u32,
    pub freq: u32,
}

impl Slots {
    /// The slots of a value of `bits` bits, at most 15, if all values are equally likely.
    #[inline(always)]
    fn plain(value: u32, bits: u32) -> Slots {
        Slots {
            start: value << (SLOT_BITS - bits),
            freq: 1 << (SLOT_BITS - bits),
        }
    }

    /// The slots of a value below `values`, which is 2 to 256, if all values are equally likely.
    fn even(value: u32, values: u32) -> Slots {
        let start = |value: u32| (value << SLOT_BITS) / values;
        Slots {
            start: start(value),
            freq: start(value + 1) - start(value),
        }
    }
}

/// Encodes symbols, the last one first, as words that fill a buffer from its end.
///
/// A symbol takes one word or none; if the buffer is full, words are lost. The stack is small and
/// is passed by value, so that it stays in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RansStack {
    states: [u32; 2],
    /// Number of free words of the buffer.
    free: usize,
}

impl RansStack {
    /// An encoder for a buffer of `room` words.
    pub(super) fn new(room: usize) -> Self {
        RansStack {
            states: [LOWER_BOUND; 2],
            free: room,
        }
    }

    /// Pushes the symbol that owns these slots.
    #[inline(always)]
    fn push(&mut self, words: &mut [[u8; 2]], stream: RansStream, slots: Slots) {
        let state = self.renormalised(words, stream, slots.freq << 17);
        let quotient = state / slots.freq;
        let rest = state % slots.freq;
        self.states[stream as usize] = (quotient << SLOT_BITS) + rest + slots.start;
    }

    /// Pushes a value of `bits` bits, 1 to 15; all values are equally likely.
    #[inline(always)]
    pub(super) fn push_plain(
        &mut self,
        words: &mut [[u8; 2]],
        stream: RansStream,
        value: u32,
        bits: u32,
    ) {
        let rest_bits = SLOT_BITS - bits;
        let Slots { start, freq } = Slots::plain(value, bits);
        let state = self.renormalised(words, stream, freq << 17);
        self.states[stream as usize] = (state >> rest_bits << SLOT_BITS) + state % freq + start;
    }

    /// Pushes a value below `values`, at most 256; all values are equally likely.
    pub(super) fn push_even(
        &mut self,
        words: &mut [[u8; 2]],
        stream: RansStream,
        value: u32,
        values: u32,
    ) {
        // A value that is the only one changes nothing.
        if values > 1 {
            self.push(words, stream, Slots::even(value, values));
        }
    }

    /// Pushes a symbol by a multiplication instead of the division.
    #[inline(always)]
    pub(super) fn push_prepared(
        &mut self,
        words: &mut [[u8; 2]],
        stream: RansStream,
        symbol: &PreparedSlots,
    ) {
        let state = self.renormalised(words, stream, symbol.limit);
        self.states[stream as usize] = symbol.pushed(state);
    }

    /// The state of a stream, made small enough for a symbol with this limit.
    #[inline(always)]
    fn renormalised(&mut self, words: &mut [[u8; 2]], stream: RansStream, limit: u32) -> u32 {
        let state = self.states[stream as usize];
        // The word is always written, and kept only if needed: a branch would be mispredicted.
        if let Some(word) = words.get_mut(self.free.wrapping_sub(1)) {
            *word = (state as u16).to_le_bytes();
        }
        let full = state >= limit;
        self.free = self.free.saturating_sub(full.into());
        if full { state >> 16 } else { state }
    }

    /// Appends the states to `out` and then the words.
    pub(super) fn write(self, words: &[[u8; 2]], out: &mut Vec<u8>) {
        self.states
            .iter()
            .for_each(|state| out.extend(state.to_le_bytes()));
        out.extend_from_slice(words[self.free..].as_flattened());
    }
}

/// A symbol's slots, with the number that turns the division by `freq` into a multiplication.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PreparedSlots {
    /// 2^64 / freq, rounded up: exact enough for states of 32 bits.
    inverse: u64,
    /// Limit of the state before the symbol is pushed, exclusive: freq * 2^17.
    limit: u32,
    start: u16,
    /// Number of slots of all other symbols.
    others: u16,
}

impl PreparedSlots {
    /// The state after this symbol is pushed to `state`, which is small enough.
    #[inline(always)]
    fn pushed(&self, state: u32) -> u32 {
        let quotient = ((u128::from(state) * u128::from(self.inverse)) >> 64) as u32;
        state + u32::from(self.start) + quotient * u32::from(self.others)
    }
}

impl From<Slots> for PreparedSlots {
    fn from(Slots { start, freq }: Slots) -> Self {
        let others = (1 << SLOT_BITS) - freq;
        let (start, inverse) = match freq {
            // 2^64 does not fit. The inverse is one less, which makes the quotient one less.
            1 => (start + others, u64::MAX),
            _ => (start, u64::MAX / u64::from(freq) + 1),
        };
        PreparedSlots {
            inverse,
            limit: freq << 17,
            start: start as u16,
            others: others as u16,
        }
    }
}

/// Decodes symbols from coded bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct RansDecoder<'a> {
    words: &'a [[u8; 2]],
    /// 1 if the number of coded bytes is odd.
    rest: usize,
    pos: usize,
    /// 64 bits each: two of 32 would share a register, and each stream would wait for the other.
    states: [u64; 2],
}

impl<'a> RansDecoder<'a> {
    /// Reads the states, which are at the front.
    ///
    /// # Errors
    /// A [`Flaw`] if they are missing or too small.
    pub(super) fn new(coded: &'a [u8]) -> Result<Self, Flaw> {
        let (states, words) = coded.split_first_chunk::<8>().ok_or(ENDS_EARLY)?;
        let (words, rest) = words.as_chunks();
        let state = |from: usize| {
            states[from..]
                .first_chunk()
                .map(|four| u32::from_le_bytes(*four))
        };
        let states = [0, 4].map(|from| u64::from(state(from).expect("eight bytes")));
        match states
            .iter()
            .any(|&state| state < LOWER_BOUND.into())
        {
            true => Err(Flaw("a slice holds a coder state that is too small")),
            false => Ok(RansDecoder {
                words,
                rest: rest.len(),
                pos: 0,
                states,
            }),
        }
    }

    /// The slot that the next symbol of `stream` owns.
    #[inline(always)]
    pub(super) fn slot(&self, stream: RansStream) -> u32 {
        self.states[stream as usize] as u32 & ((1 << SLOT_BITS) - 1)
    }

    /// Removes the symbol that owns `slots`, which include the current slot, from `stream`.
    #[inline(always)]
    pub(super) fn take(&mut self, stream: RansStream, slots: Slots) {
        let state = self.states[stream as usize] as u32;
        let state =
            slots.freq * (state >> SLOT_BITS) + (state & ((1 << SLOT_BITS) - 1)) - slots.start;
        // The word is always read, and used only if needed: a conditional move beats a branch that
        // would be mispredicted. Words behind the end read as 0; `pos` then exceeds their number.
        let word = self
            .words
            .get(self.pos)
            .map_or(0, |&word| u16::from_le_bytes(word));
        let refill = state < LOWER_BOUND;
        self.pos += usize::from(refill);
        let state = if refill {
            state << 16 | u32::from(word)
        } else {
            state
        };
        self.states[stream as usize] = state.into();
    }

    /// Removes a symbol from each stream, first from that of run lengths.
    #[inline(always)]
    pub(super) fn take_both(&mut self, slots: [Slots; 2]) {
        let Some([first, second]) = self
            .words
            .get(self.pos..)
            .and_then(|words| words.first_chunk())
        else {
            self.take(RansStream::RunLengths, slots[0]);
            self.take(RansStream::MtfRanks, slots[1]);
            return;
        };
        let [first, second] = [*first, *second].map(|word| u32::from(u16::from_le_bytes(word)));
        let [run, rank] = self.states.map(|state| state as u32);
        let run = slots[0].freq * (run >> SLOT_BITS) + (run % (LOWER_BOUND / 2)) - slots[0].start;
        let rank =
            slots[1].freq * (rank >> SLOT_BITS) + (rank % (LOWER_BOUND / 2)) - slots[1].start;
        let [refill_run, refill_rank] = [run < LOWER_BOUND, rank < LOWER_BOUND];
        let word = if refill_run { second } else { first };
        self.states[0] = if refill_run { run << 16 | first } else { run }.into();
        self.states[1] = if refill_rank { rank << 16 | word } else { rank }.into();
        self.pos += usize::from(refill_run) + usize::from(refill_rank);
    }

    /// Takes a value of `bits` bits; all values are equally likely.
    #[inline(always)]
    pub(super) fn take_plain(&mut self, stream: RansStream, bits: u32) -> u32 {
        let value = self.slot(stream) >> (SLOT_BITS - bits);
        self.take(stream, Slots::plain(value, bits));
        value
    }

    /// Takes a value below `values`, at most 256; all values are equally likely.
    pub(super) fn take_even(&mut self, stream: RansStream, values: u32) -> u32 {
        let value = ((self.slot(stream) + 1) * values - 1) >> SLOT_BITS;
        if values > 1 {
            self.take(stream, Slots::even(value, values));
        }
        value
    }

    /// Checks that the coded bytes were used up exactly.
    pub(super) fn finish(&self) -> Result<(), Flaw> {
        if self.states != [u64::from(LOWER_BOUND); 2] {
            return Err(super::LEFT_OVER);
        }
        match self.pos == self.words.len() && self.rest == 0 {
            true => Ok(()),
            false => Err(Flaw(
                "a slice's coded bytes are longer or shorter than they should be",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(len: u32) -> Vec<(RansStream, Slots)> {
        let stream = |i: u32| {
            if i.wrapping_mul(2654435761) >> 30 == 0 {
                RansStream::RunLengths
            } else {
                RansStream::MtfRanks
            }
        };
        let slots = |i: u32| {
            let start = i.wrapping_mul(2246822519) >> 17;
            Slots {
                start,
                freq: 1 + (i * 7919) % ((1 << SLOT_BITS) - start).min(32752),
            }
        };
        (0..len).map(|i| (stream(i), slots(i))).collect()
    }

    fn coded(symbols: &[(RansStream, Slots)]) -> Vec<u8> {
        let words = &mut vec![[0; 2]; symbols.len()][..];
        let mut stack = RansStack::new(words.len());
        let mut out = Vec::new();
        symbols
            .iter()
            .rev()
            .for_each(|&(stream, slots)| stack.push(words, stream, slots));
        stack.write(words, &mut out);
        out
    }

    #[test]
    fn symbols_come_back() {
        for len in [0, 1, 2, 3, 100, 5000] {
            let symbols = sample(len);
            let coded = coded(&symbols);
            let mut decoder = RansDecoder::new(&coded).unwrap();
            for (stream, slots) in symbols {
                assert!((slots.start..slots.start + slots.freq).contains(&decoder.slot(stream)));
                decoder.take(stream, slots);
            }
            decoder.finish().unwrap();
        }
    }

    #[test]
    fn prepared_symbols_are_the_same() {
        let freqs = (0..15).flat_map(|log| [(1 << log) - 1, 1 << log, (1 << log) + 1]);
        for freq in freqs.chain([32752]).filter(|&freq| freq > 0) {
            let slots = Slots {
                start: (1 << SLOT_BITS) - freq,
                freq,
            };
            let mut words = [[[0; 2]; 200]; 2];
            let [plain_words, prepared_words] = &mut words;
            let mut plain = RansStack::new(200);
            let mut prepared = RansStack::new(200);
            for (stream, other) in sample(100) {
                plain.push(plain_words, stream, other);
                prepared.push(prepared_words, stream, other);
                plain.push(plain_words, stream, slots);
                prepared.push_prepared(prepared_words, stream, &slots.into());
                assert_eq!(plain, prepared, "{freq}");
            }
            assert_eq!(plain_words, prepared_words);
        }
    }

    #[test]
    fn plain_and_even_values_come_back() {
        let words = &mut [[0; 2]; 200];
        let mut stack = RansStack::new(words.len());
        for (value, bits) in [(0, 1), (255, 8), (5, 3), (31, 5)] {
            stack.push_even(words, RansStream::MtfRanks, value / 3, value + 1);
            stack.push_plain(words, RansStream::MtfRanks, value, bits);
        }
        let mut coded = Vec::new();
        stack.write(words, &mut coded);
        let mut decoder = RansDecoder::new(&coded).unwrap();
        for (value, bits) in [(31, 5), (5, 3), (255, 8), (0, 1)] {
            assert_eq!(decoder.take_plain(RansStream::MtfRanks, bits), value);
            assert_eq!(
                decoder.take_even(RansStream::MtfRanks, value + 1),
                value / 3
            );
        }
        decoder.finish().unwrap();
    }

    #[test]
    fn bytes_too_many_or_too_few_are_flaws() {
        let good = coded(&[]);
        let decode = |coded: &[u8]| RansDecoder::new(coded).and_then(|decoder| decoder.finish());
        assert_eq!(decode(&good), Ok(()));
        assert!(decode(&good[..7]).is_err());
        assert!(decode(&[&good[..], &[0]].concat()).is_err());
        assert!(decode(&[0; 8]).is_err());
    }
}
