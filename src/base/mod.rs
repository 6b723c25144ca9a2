//! Code that several rooms use and that uses none of them.
//!
//! | file | job |
//! |---|---|
//! | `error` | the errors, by the party that must act |
//! | `allocation` | memory that may be refused |
//! | `device` | the GPUs that a caller names |
//! | `leb128` | numbers of any size as bytes |
//! | `positions` | rows and positions of a block in 32 bits, or in 64 if it is large |
//! | `tasks`, `threads` | work as a list of tasks, and the threads that do it |
//! | `shortage` | the error of work that needs more memory than is allowed |
//! | `system_limits` | the memory that the system lets this process have |
//! | `simd_dispatch` | functions compiled for the vector units that the processor has |
//! | `content_defined`, `chosen_spans` | positions of a text that its bytes choose |
//! | `spot_checks` | the part of a batch that is done twice |
//! | `tar` | the members of a tar archive |
//! | `equal_bytes`, `cache_lines` | common prefixes, and memory by cache lines |

pub(crate) mod allocation;
pub(crate) mod cache_lines;
mod chosen_spans;
pub(crate) mod content_defined;
pub(crate) mod device;
pub(crate) mod equal_bytes;
pub(crate) mod error;
pub(crate) mod leb128;
pub(crate) mod positions;
pub(crate) mod shortage;
pub(crate) mod simd_dispatch;
pub(crate) mod spot_checks;
pub(crate) mod system_limits;
pub(crate) mod tar;
pub(crate) mod tasks;
pub(crate) mod threads;
