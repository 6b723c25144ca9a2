//! The text at the end of the help of `grep`.

pub(crate) const GREP_HELP: &str = "";
