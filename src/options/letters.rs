//! The meaning of the letters of a pattern.

/// The symbols of a text that a letter of a pattern stands for, in a search by sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Letters {
    /// T and U are one letter in patterns of nucleotides: A, C, G, T, U and the ambiguity codes of
    /// IUPAC, which stand for themselves. In all other patterns each letter stands for itself.
    #[default]
    Nucleotides,
    /// As `Nucleotides`, and each ambiguity code stands for its bases: R for A and G, N for A, C,
    /// G, T and U. It does not stand for an ambiguity code of the text. Other letters are not
    /// allowed in patterns.
    Iupac,
    /// Each letter stands only for itself.
    Exact,
}
