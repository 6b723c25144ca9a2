//! Repeats within one text, and matches between several.
//!
//! | file | job |
//! |---|---|
//! | `lcp` | a text in memory -> its suffix array and LCP array, range minima, common extensions |
//! | `repeats` | which bytes of a collection of files occur before in it |
//! | `overlap` | what sequences have in common: longest regions, maximal matches, overlaps of reads |

pub mod lcp;
pub mod overlap;
pub mod repeats;
