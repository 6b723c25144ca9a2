//! The long runs of a block, and the text that replaces each by one symbol and its last bytes.

use super::super::sort_limits::{LongRunLimits, no_memory};
use crate::base::allocation;
use crate::base::error::Error;
use crate::coder;
use std::ops::Range;

/// The mark on a symbol if a sampled suffix begins at the next position of the text.
pub(super) const SAMPLED: u16 = 1 << 15;

/// A run of at least the minimum length of a long run.
struct LongRun {
    start: usize,
    end: usize,
    byte: u8,
    /// True if a larger byte follows.
    rises: bool,
    /// Its position in the shorter text.
    at: usize,
}

impl LongRun {
    fn len(&self) -> usize {
        self.end - self.start
    }

    /// Sort key of the symbol for the length.
    fn key(&self) -> (u8, bool, usize) {
        (self.byte, self.rises, if self.rises { usize::MAX - self.len() } else { self.len() })
    }
}

/// The text without the long runs.
pub(super) struct ShortText {
    pub text: Vec<u16>,
    /// The byte of each symbol.
    pub bytes: Vec<u8>,
    /// Bytes kept of each long run, besides the symbol for its length.
    pub kept: usize,
    runs: Vec<LongRun>,
    symbols: ByteSymbols,
}

/// Two symbols for each byte: in a falling run, and in a rising run. They are equal if the byte has
/// no long run.
type ByteSymbols = [[u16; 2]; 256];

/// Suffixes that begin with the same symbol, and their rows in the block.
pub(super) struct SymbolGroup {
    /// Range of their numbers among the sorted suffixes of the shorter text.
    pub suffixes: Range<usize>,
    pub byte: u8,
    pub rises: bool,
    /// Row of the first of them.
    pub first: usize,
    /// First row of the suffixes that begin inside long runs, and their number.
    pub first_inside: usize,
    pub inside: usize,
}

impl ShortText {
    /// Shortens a block. `None` if the result is too long, or if there are too many lengths.
    pub(super) fn new(block: &[u8], limits: LongRunLimits) -> Result<Option<Self>, Error> {
        let kept = limits.long - 1;
        let Some(runs) = find(block, limits) else { return Ok(None) };
        let Some((symbols, bytes, keys)) = name(&runs) else { return Ok(None) };
        let len = runs.last().map_or(0, |run| run.at + 1 + kept + block.len() - run.end);
        let mut text = allocation::zeroed(len).ok_or_else(no_memory)?;
        let mut from = 0;
        let mut rest = &mut text[..];
        for run in &runs {
            let (gap, behind) = rest.split_at_mut(run.start - from);
            translate(&block[from..run.start], Some(run.byte), &symbols, gap);
            let (own, behind) = behind.split_at_mut(1 + kept);
            own[0] = keys[keys.partition_point(|(key, _)| *key < run.key())].1;
            own[1..].fill(symbols[usize::from(run.byte)][usize::from(run.rises)]);
            (from, rest) = (run.end, behind);
        }
        translate(&block[from..], None, &symbols, rest);
        Ok(Some(ShortText { text, bytes, kept, runs, symbols }))
    }

    /// All suffixes except those that begin with the symbol of a length, in order, with the rows
    /// between them.
    pub(super) fn parts(&self, suffixes: &[i32]) -> Vec<SymbolGroup> {
        let mut inside = [[0; 2]; 256];
        for run in &self.runs {
            inside[usize::from(run.byte)][usize::from(run.rises)] += run.len() - self.kept;
        }
        let mut parts = Vec::new();
        let mut row = 1;
        for (byte, symbols) in (0..=255).zip(self.symbols) {
            let is_split = symbols[0] < symbols[1];
            for rises in [false, true].into_iter().take(1 + usize::from(is_split)) {
                let symbol = symbols[usize::from(rises)];
                let symbol_of = |at: i32| self.text[at.cast_unsigned() as usize];
                let start = suffixes.partition_point(|&at| symbol_of(at) < symbol);
                let len = suffixes[start..].partition_point(|&at| symbol_of(at) == symbol);
                let suffixes = start..start + len;
                let inside = inside[usize::from(byte)][usize::from(rises)];
                let (first, first_inside) =
                    if rises { (row + inside, row) } else { (row, row + len) };
                parts.push(SymbolGroup { suffixes, byte, rises, first, first_inside, inside });
                row += len + inside;
            }
        }
        parts
    }

    /// The long run whose last bytes begin at `at` of the text.
    pub(super) fn run_before(&self, at: usize) -> Option<Range<usize>> {
        let before = at.checked_sub(1)?;
        let found = self.runs.binary_search_by_key(&before, |run| run.at);
        found.ok().map(|n| self.runs[n].start..self.runs[n].end)
    }

    /// The position in the block of position `at` of the text, which is not the symbol of a length.
    pub(super) fn pos(&self, at: usize) -> usize {
        let runs = self.runs.partition_point(|run| run.at < at);
        at + runs.checked_sub(1).map_or(0, |last| self.left_out(&self.runs[last]))
    }

    /// Number of bytes omitted from the text up to the end of a run.
    fn left_out(&self, run: &LongRun) -> usize {
        run.end - (run.at + 1 + self.kept)
    }

    /// Marks the suffixes at every `rate`th byte of the block, except the first and those that
    /// begin inside long runs.
    pub(super) fn mark_samples(&mut self, len: usize, rate: usize) {
        let mut next = 0;
        let mut left_out = 0;
        for pos in (rate..len).step_by(rate) {
            while let Some(run) = self.runs.get(next).filter(|run| run.start <= pos) {
                left_out = self.left_out(run);
                next += 1;
            }
            let is_inside = next > 0 && pos + self.kept < self.runs[next - 1].end;
            if !is_inside {
                self.text[pos - left_out - 1] |= SAMPLED;
            }
        }
    }
}

/// Finds the long runs. `None` if there are too many, or if the rest of the block is too long.
fn find(block: &[u8], limits: LongRunLimits) -> Option<Vec<LongRun>> {
    let LongRunLimits { long, share, apart, .. } = limits;
    let mut runs = Vec::<LongRun>::new();
    let mut at = 0;
    let mut pos = 0;
    let step = long / 2;
    while pos + step <= block.len() {
        let byte = block[pos];
        if !is_run(&block[pos..pos + step], byte) {
            pos += step;
            continue;
        }
        let from = runs.last().map_or(0, |run| run.end);
        let before = block[from..pos].iter().rev().take_while(|&&other| other == byte).count();
        let start = pos - before;
        let end = coder::run_end(block, pos);
        if end - start >= long {
            if (runs.len() + 1) * apart > block.len() {
                return None;
            }
            let rises = block.get(end).is_some_and(|&next| next > byte);
            runs.push(LongRun { start, end, byte, rises, at: at + start - from });
            at += start - from + long;
        }
        pos = end;
    }
    let behind = block.len() - runs.last()?.end;
    ((at + behind) * share <= block.len()).then_some(runs)
}

fn is_run(bytes: &[u8], byte: u8) -> bool {
    match bytes.first_chunk::<16>() {
        Some(head) if bytes.len() == 16 => *head == [byte; 16],
        _ => bytes.iter().all(|&other| other == byte),
    }
}

/// The sort key of a run's length, and its symbol.
type LengthSymbol = ((u8, bool, usize), u16);

/// Assigns symbols to bytes and lengths. Returns the symbols of bytes, the byte of each symbol, and
/// the symbols of lengths in order. `None` if there are too many.
fn name(runs: &[LongRun]) -> Option<(ByteSymbols, Vec<u8>, Vec<LengthSymbol>)> {
    let mut keys: Vec<_> = runs.iter().map(LongRun::key).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut symbols = [[0; 2]; 256];
    let mut bytes = Vec::new();
    let mut named = Vec::with_capacity(keys.len());
    let mut keys = keys.into_iter().peekable();
    for byte in 0..=255 {
        let falling = bytes.len() as u16;
        bytes.push(byte);
        while let Some(key) = keys.next_if(|key| key.0 == byte) {
            named.push((key, bytes.len() as u16));
            bytes.push(byte);
        }
        let is_split = bytes.len() > usize::from(falling) + 1;
        if is_split {
            bytes.push(byte);
        }
        symbols[usize::from(byte)] = [falling, bytes.len() as u16 - 1];
        if bytes.len() > usize::from(SAMPLED) {
            return None;
        }
    }
    Some((symbols, bytes, named))
}

/// Writes the symbols of a stretch between long runs, followed by `next`.
fn translate(bytes: &[u8], next: Option<u8>, symbols: &ByteSymbols, out: &mut [u16]) {
    // The end is smaller than all bytes.
    let mut next = next.map_or(-1, i16::from);
    let mut rises = false;
    for (&byte, symbol) in bytes.iter().zip(out).rev() {
        let own = i16::from(byte);
        rises = next > own || next == own && rises;
        *symbol = symbols[usize::from(byte)][usize::from(rises)];
        next = own;
    }
}
