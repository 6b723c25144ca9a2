//! Letters of a pattern that stand for several symbols of a text. In a search by sequence, T and U
//! are one letter in nucleotides, and if it is asked for, an ambiguity code of IUPAC stands for its
//! bases. In a search by bytes, a letter may stand for both of its cases.
//!
//! Each letter of a pattern has a class of symbols. In a search by sequence, a small letter stands
//! only for its capital: this keeps T and U apart in a pattern of other residues. It cannot be
//! confused, since neither folded patterns nor such texts contain small letters.

use crate::options::Letters;

/// Maximum number of symbols per class: N stands for A, C, G, T and U.
const MOST: usize = 5;

/// The bases. Bit n of a mask stands for base n.
const BASES: [u8; MOST] = *b"ACGTU";

/// The ambiguity codes and the masks of their bases.
const CODES: [(u8, u8); 11] = [
    (b'R', 0b00101),
    (b'Y', 0b11010),
    (b'S', 0b00110),
    (b'W', 0b11001),
    (b'K', 0b11100),
    (b'M', 0b00011),
    (b'B', 0b11110),
    (b'D', 0b11101),
    (b'H', 0b11011),
    (b'V', 0b00111),
    (b'N', 0b11111),
];

/// Mask of T.
const THYMINE: u8 = 0b01000;
/// Mask of U.
const URACIL: u8 = 0b10000;

/// The symbols of a class that a text contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SymbolSet {
    symbols: [u8; MOST],
    len: u8,
}

impl SymbolSet {
    fn add(&mut self, symbol: u8) {
        self.symbols[usize::from(self.len)] = symbol;
        self.len += 1;
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        &self.symbols[..usize::from(self.len)]
    }
}

/// The classes of all letters.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LetterClasses {
    /// For each letter, the mask of its bases; 0 for a letter that stands for itself.
    masks: [u8; 256],
    /// ASCII letters stand for both of their cases. There are no bases then.
    either_case: bool,
}

static BASES_ALONE: LetterClasses = LetterClasses::new(false);
static AMBIGUITY_CODES: LetterClasses = LetterClasses::new(true);
static EITHER_CASE: LetterClasses = LetterClasses {
    masks: [0; 256],
    either_case: true,
};

impl LetterClasses {
    /// The classes of letters, or `None` if every letter stands for itself.
    pub(crate) fn of(letters: Letters) -> Option<&'static Self> {
        match letters {
            Letters::Nucleotides => Some(&BASES_ALONE),
            Letters::Iupac => Some(&AMBIGUITY_CODES),
            Letters::Exact => None,
        }
    }

    const fn new(with_codes: bool) -> Self {
        let mut masks = [0; 256];
        let mut n = 0;
        while n < MOST {
            masks[BASES[n] as usize] = 1 << n;
            n += 1;
        }
        masks[b'T' as usize] = THYMINE | URACIL;
        masks[b'U' as usize] = THYMINE | URACIL;
        masks[b't' as usize] = THYMINE;
        masks[b'u' as usize] = URACIL;
        n = 0;
        while with_codes && n < CODES.len() {
            let (letter, mask) = CODES[n];
            masks[letter as usize] = mask;
            n += 1;
        }
        LetterClasses {
            masks,
            either_case: false,
        }
    }

    /// Returns true if a letter of a pattern stands for a symbol of a text.
    pub(crate) fn matches(&self, letter: u8, symbol: u8) -> bool {
        match self.masks[usize::from(letter)] {
            0 if self.either_case => letter.eq_ignore_ascii_case(&symbol),
            0 => letter == symbol,
            mask => mask & base_mask(symbol) != 0,
        }
    }

    fn symbols(&self, letter: u8, has: &impl Fn(u8) -> bool) -> SymbolSet {
        let mask = self.masks[usize::from(letter)];
        let mut all = SymbolSet::default();
        if self.either_case && letter.is_ascii_alphabetic() {
            for case in [letter.to_ascii_uppercase(), letter.to_ascii_lowercase()] {
                if has(case) {
                    all.add(case);
                }
            }
            return all;
        }
        if mask == 0 {
            if has(letter) {
                all.add(letter);
            }
            return all;
        }
        for (n, &base) in BASES.iter().enumerate() {
            if mask >> n & 1 == 1 && has(base) {
                all.add(base);
            }
        }
        all
    }
}

/// The mask of a symbol if it is a base, otherwise 0.
fn base_mask(symbol: u8) -> u8 {
    const MASKS: [u8; 256] = {
        let mut masks = [0; 256];
        let mut n = 0;
        while n < MOST {
            masks[BASES[n] as usize] = 1 << n;
            n += 1;
        }
        masks
    };
    MASKS[usize::from(symbol)]
}

/// Returns true if a letter is a capital that is a base or an ambiguity code of IUPAC.
pub(crate) fn is_nucleotide(letter: u8) -> bool {
    AMBIGUITY_CODES.masks[usize::from(letter)] != 0 && letter.is_ascii_uppercase()
}

/// The letters that the patterns of a batch use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchLetters {
    pub classes: &'static LetterClasses,
    /// For each letter, true if a pattern contains it.
    pub used: [bool; 256],
}

impl BatchLetters {
    /// The letters of some patterns, or `None` if every letter stands for itself.
    pub(crate) fn of(patterns: &[&[u8]], letters: Letters) -> Option<Self> {
        LetterClasses::of(letters).map(|classes| BatchLetters::with(patterns, classes))
    }

    /// The letters of some patterns of bytes, each of which stands for both of its cases.
    pub(crate) fn of_either_case(patterns: &[&[u8]]) -> Self {
        BatchLetters::with(patterns, &EITHER_CASE)
    }

    fn with(patterns: &[&[u8]], classes: &'static LetterClasses) -> Self {
        let mut used = [false; 256];
        for pattern in patterns {
            pattern
                .iter()
                .for_each(|&letter| used[usize::from(letter)] = true);
        }
        BatchLetters { classes, used }
    }

    /// Restricts the classes to the symbols of a text. Returns `None` if the patterns can be
    /// searched as they are.
    pub(crate) fn in_text(&self, has: impl Fn(u8) -> bool) -> Option<TextLetters> {
        let of = |letter: usize| self.classes.symbols(letter as u8, &has);
        let stands_for_itself = |letter: usize| match *of(letter).as_slice() {
            [] => !has(letter as u8),
            [symbol] => usize::from(symbol) == letter,
            _ => false,
        };
        let changes = (0..256).any(|letter| self.used[letter] && !stands_for_itself(letter));
        changes.then(|| TextLetters {
            symbols: Box::new(std::array::from_fn(of)),
            absent: (0..=u8::MAX)
                .find(|&symbol| !has(symbol))
                .unwrap_or_default(),
        })
    }
}

/// For each letter of a pattern, the symbols of its class that a text contains.
pub(crate) struct TextLetters {
    symbols: Box<[SymbolSet; 256]>,
    /// Replacement of a letter whose class has no symbol in the text: a symbol that the text does
    /// not contain. If it contains all, so does each class.
    absent: u8,
}

impl TextLetters {
    pub(crate) fn symbols(&self, letter: u8) -> &[u8] {
        self.symbols[usize::from(letter)].as_slice()
    }

    /// Returns true if a letter of the pattern stands for more than one symbol of the text.
    pub(crate) fn branches(&self, pattern: &[u8]) -> bool {
        pattern
            .iter()
            .any(|&letter| self.symbols(letter).len() > 1)
    }

    /// The pattern in symbols of the text, if it does not branch.
    pub(crate) fn translated(&self, pattern: &[u8]) -> impl Iterator<Item = u8> {
        pattern.iter().map(|&letter| {
            self.symbols(letter)
                .first()
                .copied()
                .unwrap_or(self.absent)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_iupac() {
        let matched = |letters, letter| -> String {
            let classes = LetterClasses::of(letters).unwrap();
            (0..128)
                .filter(|&c| classes.matches(letter, c))
                .map(char::from)
                .collect()
        };
        for (letter, bases) in [
            ("A", "A"),
            ("C", "C"),
            ("G", "G"),
            ("T", "TU"),
            ("U", "TU"),
            ("t", "T"),
            ("u", "U"),
            ("R", "AG"),
            ("Y", "CTU"),
            ("S", "CG"),
            ("W", "ATU"),
            ("K", "GTU"),
            ("M", "AC"),
            ("B", "CGTU"),
            ("D", "AGTU"),
            ("H", "ACTU"),
            ("V", "ACG"),
            ("N", "ACGTU"),
            ("-", "-"),
        ] {
            let letter = letter.as_bytes()[0];
            assert_eq!(matched(Letters::Iupac, letter), bases);
            let is_code = CODES.iter().any(|(code, _)| *code == letter);
            let alone = char::from(letter).to_string();
            let wanted = if is_code { &alone } else { bases };
            assert_eq!(matched(Letters::Nucleotides, letter), wanted);
        }
        assert!(LetterClasses::of(Letters::Exact).is_none());
    }

    #[test]
    fn letters_of_either_case_are_those_of_the_text() {
        let letters = BatchLetters::of_either_case(&[b"aZ-\xC4"]);
        let in_text = |text: &[u8]| letters.in_text(|c| text.contains(&c));
        assert!(in_text(b"aZ").is_none() && in_text(b"-\xE4").is_none());
        let capital = in_text(b"A-x").unwrap();
        assert!(!capital.branches(b"aZ-"));
        // No Z is in the text, so a symbol that is not there either stands for it.
        assert!(capital.translated(b"aZ-\xC4").eq(*b"A\0-\0"));
        let both = in_text(b"aAz").unwrap();
        assert_eq!(both.symbols(b'a'), b"Aa");
        assert_eq!(both.symbols(b'Z'), b"z");
        assert!(both.branches(b"a") && !both.branches(b"Z"));
    }

    #[test]
    fn a_text_without_uracil_takes_patterns_as_they_are() {
        let letters = BatchLetters::of(&[b"ACGTN"], Letters::Nucleotides).unwrap();
        let in_text = |text: &[u8]| letters.in_text(|c| text.contains(&c));
        assert!(in_text(b"ACGTN").is_none() && in_text(b"AC").is_none());
        let rna = in_text(b"ACGU").unwrap();
        assert!(!rna.branches(b"ACGTN"));
        assert!(rna.translated(b"ACGTN").eq(*b"ACGU\0"));
        assert!(in_text(b"ACGTU").unwrap().branches(b"AT"));
    }
}
