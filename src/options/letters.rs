//! The meaning of the letters of a pattern.

/// Which symbols of a text a letter of a pattern stands for, in a search by sequence. A search by
/// bytes is always exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Letters {
    /// T and U are one letter in patterns of nucleotides: A, C, G, T, U and the ambiguity codes of
    /// IUPAC, which stand for themselves. In all other patterns each letter stands for itself.
    #[default]
    Nucleotides,
    /// And each ambiguity code stands for its bases: R for A and G, N for A, C, G, T and U. It does
    /// not stand for an ambiguity code of the text. Patterns have no other letters.
    Iupac,
    /// Each letter stands for itself alone.
    Exact,
}
