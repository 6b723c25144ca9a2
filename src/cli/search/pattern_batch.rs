//! Patterns in a few stretches of memory. A batch costs a few allocations in all, not a few per
//! pattern.

use crate::cli::files::side_by_side::side_by_side;
use std::ops::{DerefMut, Range};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of patterns that make it worth starting another thread.
const PER_THREAD: usize = 1 << 15;

/// A pattern with the name that results use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NamedPattern<'b> {
    pub bytes: &'b [u8],
    /// The name in results: the pattern as it was given, or the name of its sequence.
    pub name: &'b [u8],
    /// The qualities of a FASTQ record, one for each of its bases, in the order of the file.
    pub qualities: Option<&'b [u8]>,
    /// True if it is the reverse complement of the given pattern.
    pub reverse: bool,
    /// True if this and the given pattern differ in nothing but case, and T and U.
    pub is_given_folded: bool,
    pub mate: Mate,
}

/// The read of a pair that a pattern is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mate {
    /// The pattern is not of a pair.
    #[default]
    None,
    First,
    Second,
}

impl NamedPattern<'_> {
    /// True if its results are separate from those before it. This is false for the reverse strand
    /// of a pattern and for the second read of a pair.
    pub(crate) fn starts(&self) -> bool {
        !self.reverse && self.mate != Mate::Second
    }

    /// The strand as results show it.
    pub(crate) fn strand(&self) -> &'static str {
        if self.reverse { "-" } else { "+" }
    }
}

/// Patterns that are searched together.
#[derive(Clone, Debug, Default)]
pub(crate) struct PatternBatch {
    /// Both strands of a pattern and both reads of a pair are in the same part.
    pub parts: Vec<Arc<PatternPart>>,
}

impl PatternBatch {
    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.len()).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes of memory that the batch takes.
    pub(crate) fn size(&self) -> u64 {
        self.parts.iter().map(|part| part.size()).sum()
    }

    /// Returns the patterns from number `first` on.
    pub(crate) fn patterns_from(&self, first: usize) -> impl Iterator<Item = NamedPattern<'_>> {
        let mut left = first;
        self.parts.iter().flat_map(move |part| {
            let passed = left.min(part.len());
            left -= passed;
            part.iter_from(passed)
        })
    }

    /// Returns the place near the middle at which some patterns can be split: before a pattern
    /// whose results are separate from those before it.
    pub(crate) fn middle(&self, some: Range<usize>) -> Option<usize> {
        let half = some.start + some.len() / 2;
        let first = some.start + 1;
        let patterns = self.patterns_from(first);
        let starts = (first..some.end)
            .zip(patterns)
            .filter(|(_, pattern)| pattern.starts());
        starts
            .map(|(number, _)| number)
            .min_by_key(|number| number.abs_diff(half))
    }

    /// Returns the bytes of each pattern, collected by up to `threads` threads.
    pub(crate) fn bytes(&self, threads: usize) -> Vec<&[u8]> {
        let mut all = vec![&[][..]; self.len()];
        let mut rest = &mut all[..];
        let parts = self.parts.iter().map(|part| {
            (
                part,
                rest.split_off_mut(..part.len())
                    .expect("room for the patterns of all parts"),
            )
        });
        side_by_side(
            threads.min(self.len() / PER_THREAD),
            parts,
            |(part, patterns)| {
                for (pattern, place) in patterns.iter_mut().zip(&part.places) {
                    *pattern = &part.bytes[place.pattern.clone()];
                }
            },
        );
        all
    }
}

/// Patterns whose bytes are in one stretch of memory.
#[derive(Debug, Default)]
pub(crate) struct PatternPart {
    /// Names and patterns, which may share bytes.
    pub bytes: Vec<u8>,
    places: Vec<PatternSpan>,
}

/// The position of a pattern in the bytes of its part.
#[derive(Debug)]
struct PatternSpan {
    name: Range<usize>,
    pattern: Range<usize>,
    /// Start of the qualities, which are as many as the bases.
    qualities: Option<usize>,
    reverse: bool,
    is_given_folded: bool,
    mate: Mate,
}

impl PatternPart {
    /// Creates a part of bytes without patterns.
    #[cfg(test)]
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        PatternPart {
            bytes,
            places: Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the bytes of memory that the part takes.
    pub(crate) fn size(&self) -> u64 {
        (self.bytes.len() + self.places.len() * size_of::<PatternSpan>()) as u64
    }

    /// Adds a pattern whose bytes are in the part already.
    pub(crate) fn add(
        &mut self,
        name: Range<usize>,
        pattern: Range<usize>,
        qualities: Option<Range<usize>>,
    ) {
        self.places.push(PatternSpan {
            name,
            pattern,
            qualities: qualities.map(|qualities| qualities.start),
            reverse: false,
            is_given_folded: false,
            mate: Mate::None,
        });
    }

    /// Adds a copy of a read as one of a pair.
    pub(crate) fn add_mate(&mut self, read: &NamedPattern, mate: Mate) {
        let name = self.append(read.name);
        let pattern = self.append(read.bytes);
        let qualities = read
            .qualities
            .map(|qualities| self.append(qualities));
        self.add(name, pattern, qualities);
        if let Some(last) = self.places.last_mut() {
            last.mate = mate;
        }
    }

    fn append(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }

    /// Adds the reverse complement of the last pattern, unless both are equal.
    pub(crate) fn add_reverse(&mut self) {
        let Some(PatternSpan {
            name,
            pattern,
            qualities,
            mate,
            ..
        }) = self.places.last()
        else {
            return;
        };
        let name = name.clone();
        let qualities = *qualities;
        let mate = *mate;
        let from = self.bytes.len();
        self.bytes.resize(from + pattern.len(), 0);
        let (before, strand) = self.bytes.split_at_mut(from);
        let given = &before[pattern.clone()];
        match given
            .iter()
            .fold(true, |plain, &base| plain & is_plain(base))
        {
            true => write_reverse(given, strand),
            false => {
                strand.copy_from_slice(given);
                reverse_complement(strand, is_rna(given));
            }
        }
        if is_same(strand, given) {
            self.bytes.truncate(from);
            return;
        }
        let is_given_folded = is_same(&strand.to_ascii_uppercase(), &given.to_ascii_uppercase());
        let pattern = from..self.bytes.len();
        let reverse = true;
        let span = PatternSpan {
            name,
            pattern,
            qualities,
            reverse,
            is_given_folded,
            mate,
        };
        self.places.push(span);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = NamedPattern<'_>> {
        self.places.iter().map(|span| self.named(span))
    }

    fn iter_from(&self, first: usize) -> impl Iterator<Item = NamedPattern<'_>> {
        self.places[first..]
            .iter()
            .map(|span| self.named(span))
    }

    /// Returns pattern number `n`.
    pub(crate) fn get(&self, n: usize) -> Option<NamedPattern<'_>> {
        self.places.get(n).map(|span| self.named(span))
    }

    fn named(&self, span: &PatternSpan) -> NamedPattern<'_> {
        let bytes = &self.bytes[span.pattern.clone()];
        let qualities = span
            .qualities
            .map(|from| &self.bytes[from..from + bytes.len()]);
        NamedPattern {
            bytes,
            name: &self.bytes[span.name.clone()],
            qualities,
            reverse: span.reverse,
            is_given_folded: span.is_given_folded,
            mate: span.mate,
        }
    }
}

/// Memory of parts that are no longer needed, for parts that are read next. The system gives memory
/// page by page, which takes longer than parsing the bytes that are read into it.
#[derive(Debug, Default)]
pub(crate) struct SpareParts(Mutex<Vec<PatternPart>>);

impl SpareParts {
    /// Maximum bytes of a part that is kept. Without this limit, the memory of a long pattern would
    /// be held.
    const LARGEST: usize = 48 << 20;

    /// Returns a part without patterns. Its bytes are those of a former part.
    pub(crate) fn take(&self) -> Option<PatternPart> {
        self.parts().pop()
    }

    /// Takes over the memory of a part.
    pub(crate) fn put(&self, mut part: PatternPart) {
        part.places.clear();
        let places = part.places.capacity() * size_of::<PatternSpan>();
        if part.bytes.capacity() + places <= Self::LARGEST {
            self.parts().push(part);
        }
    }

    fn parts(&self) -> impl DerefMut<Target = Vec<PatternPart>> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// True if a base is A, C, G or T of either case. It has no branch, so that the compiler makes code
/// that looks at many bases at a time.
fn is_plain(base: u8) -> bool {
    let upper = base & !0x20;
    (upper == b'A') | (upper == b'C') | (upper == b'G') | (upper == b'T')
}

/// Writes the reverse complement of plain bases, eight at a time.
fn write_reverse(given: &[u8], strand: &mut [u8]) {
    let (words, rest) = strand.as_chunks_mut();
    let (first, given) = given.as_rchunks();
    for (word, given) in words.iter_mut().zip(given.iter().rev()) {
        *word = plain_complements(u64::from_be_bytes(*given)).to_le_bytes();
    }
    for (base, &of) in rest.iter_mut().zip(first.iter().rev()) {
        *base = complement(of);
    }
}

/// Returns the complements of eight plain bases by their bits: C and G have a bit set that A and T
/// have not.
fn plain_complements(bases: u64) -> u64 {
    const EACH: u64 = u64::from_ne_bytes([1; 8]);
    let at = u64::from(b'A' ^ b'T');
    let cg = u64::from(b'C' ^ b'G');
    bases ^ (EACH * at) ^ ((bases >> 1 & EACH) * (at ^ cg))
}

/// True if the bases are those of RNA: they have U and no T.
pub(crate) fn is_rna(bases: &[u8]) -> bool {
    let has = |base: u8| memchr::memchr2(base, base.to_ascii_lowercase(), bases).is_some();
    has(b'U') && !has(b'T')
}

/// Replaces bases by their reverse complement, of RNA or of DNA.
pub(crate) fn reverse_complement(bases: &mut [u8], of_rna: bool) {
    bases.reverse();
    for base in bases {
        *base = match complement(*base) {
            b'T' if of_rna => b'U',
            b't' if of_rna => b'u',
            base => base,
        };
    }
}

/// True if a strand equals the other one. In bases that have both T and U, these are one letter.
fn is_same(strand: &[u8], other: &[u8]) -> bool {
    let plain = |base: u8| match base {
        b'U' => b'T',
        b'u' => b't',
        base => base,
    };
    strand == other
        || strand
            .iter()
            .map(|&b| plain(b))
            .eq(other.iter().map(|&b| plain(b)))
}

/// Returns the complement of a base or of an IUPAC ambiguity code. Any other byte is its own
/// complement.
fn complement(base: u8) -> u8 {
    const OF: [u8; 256] = complements();
    OF[usize::from(base)]
}

const fn complements() -> [u8; 256] {
    const PAIRS: [[u8; 2]; 6] = [*b"AT", *b"CG", *b"RY", *b"KM", *b"BV", *b"DH"];
    let mut of = [0; 256];
    let mut c = 0;
    while c < 256 {
        of[c] = c as u8;
        c += 1;
    }
    let mut n = 0;
    while n < PAIRS.len() {
        let [a, b] = PAIRS[n];
        (of[a as usize], of[b as usize]) = (b, a);
        let a = a.to_ascii_lowercase();
        let b = b.to_ascii_lowercase();
        (of[a as usize], of[b as usize]) = (b, a);
        n += 1;
    }
    (of[b'U' as usize], of[b'u' as usize]) = (b'A', b'a');
    of
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_parted_between_patterns_and_not_between_strands() {
        let part = |patterns: &[&str]| {
            let mut part = PatternPart::default();
            for pattern in patterns {
                let bytes = part.append(pattern.as_bytes());
                part.add(bytes.clone(), bytes, None);
                part.add_reverse();
            }
            Arc::new(part)
        };
        let batch = PatternBatch {
            parts: vec![part(&["AAC", "ACGT"]), part(&["GG", "TTA"])],
        };
        let bytes = |first| {
            batch
                .patterns_from(first)
                .map(|p| p.bytes)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            bytes(0),
            [&b"AAC"[..], b"GTT", b"ACGT", b"GG", b"CC", b"TTA", b"TAA"]
        );
        assert_eq!(
            (bytes(4), bytes(7).len()),
            (vec![&b"CC"[..], b"TTA", b"TAA"], 0)
        );
        assert_eq!(batch.middle(0..7), Some(3));
        assert_eq!(batch.middle(0..3), Some(2));
        assert_eq!(
            (batch.middle(0..2), batch.middle(2..3), batch.middle(5..5)),
            (None, None, None)
        );
    }

    #[test]
    fn strands_are_complements() {
        let strands = |bases: &[u8]| {
            let mut part = PatternPart::new(bases.to_vec());
            part.add(0..bases.len(), 0..bases.len(), None);
            part.add_reverse();
            part.iter()
                .map(|p| (p.bytes.to_vec(), p.reverse))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            strands(b"ACGTTn"),
            [(b"ACGTTn".to_vec(), false), (b"nAACGT".to_vec(), true)]
        );
        assert_eq!(strands(b"ACGT"), [(b"ACGT".to_vec(), false)]);
        assert_eq!(strands(b"ACGU"), [(b"ACGU".to_vec(), false)]);
        assert_eq!(strands(b"TAUA").len(), 1);
        let reverse = |bases: &[u8]| strands(bases).pop().unwrap().0;
        for (given, wanted) in [
            ("GGGUGA", "UCACCC"),
            ("aacu", "aguu"),
            ("UUAA-", "-UUAA"),
            ("AUT", "AAT"),
            ("RYSWKMBDHVNU", "ANBDHVKMWSRY"),
            ("UA", "UA"),
            ("AAC", "GTT"),
            ("GANU", "ANUC"),
        ] {
            assert_eq!(reverse(given.as_bytes()), wanted.as_bytes(), "{given}");
        }
        let is_folded = |bases: &[u8]| {
            let mut part = PatternPart::new(bases.to_vec());
            part.add(0..0, 0..bases.len(), None);
            part.add_reverse();
            part.iter().last().unwrap().is_given_folded
        };
        assert!(is_folded(b"ACgt") && is_folded(b"nAATTN") && is_folded(b"ACgu"));
        assert!(!is_folded(b"ACGA") && !is_folded(b"acGA"));
        assert_eq!(reverse(&b"AAcCgGtTa".repeat(9)), b"tAaCcGgTT".repeat(9));
        for base in (0..=255).filter(|&base| is_plain(base)) {
            let both = [plain_complements(base.into()) as u8, complement(base)];
            assert_eq!(both[0], both[1]);
        }
        assert_eq!((0..=255).filter(|&base| is_plain(base)).count(), 8);
        assert_eq!(
            (complement(b'u'), complement(b'd'), complement(b'-')),
            (b'a', b'h', b'-')
        );
    }
}
