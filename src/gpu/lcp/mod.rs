//! From a text and its suffix array in device memory to the LCP array, and to range minima.
//!
//! | file | job |
//! |---|---|
//! | `irreducible` | how far suffixes agree with those before them, where that has to be compared |
//! | `lcp_rows` | from that to the LCP array, and the rows of it that are wanted |
//! | `lcp_steps` | both, one after the other |
//! | `device_minima` | range minima, and how far two positions agree |

mod device_minima;
mod irreducible;
mod lcp_rows;
mod lcp_steps;

pub use device_minima::DeviceMinima;
pub use lcp_rows::SplitLcp;
pub use lcp_steps::{LcpSteps, SelectedRows, SuffixRows, TextOnGpu};
