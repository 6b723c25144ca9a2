//! Frames of a file that this version cannot read, although they are not damaged: FORMAT.md section
//! 1.2. Everything in other frames is read. Whoever reads or searches across such a frame gets an
//! error, since the result would not be complete.

use super::contents::Contents;
use super::frame_info::FrameInfo;
use crate::base::error::{Error, Result};
use std::ops::Range;

impl Contents {
    /// Fails if a frame is of a kind that this version does not know.
    pub(crate) fn check_supported(&self) -> Result<()> {
        self.frames.iter().try_for_each(check)
    }

    /// Fails if `range` of the raw stream includes bytes of such a frame. Such a frame may have raw
    /// bytes of which it does not tell; a range that goes on behind it, or that is the whole raw
    /// stream, includes them too.
    pub(crate) fn check_supported_in(&self, range: &Range<u64>) -> Result<()> {
        let is_whole = *range == (0..self.raw_size());
        let touches = |raw: &Range<u64>| match raw.is_empty() {
            true => range.start < raw.start && raw.start < range.end,
            false => !range.is_empty() && range.start < raw.end && raw.start < range.end,
        };
        let mut frames = self.frames.iter();
        frames.try_for_each(|frame| match is_whole || touches(&frame.raw) {
            true => check(frame),
            false => Ok(()),
        })
    }
}

fn check(frame: &FrameInfo) -> Result<()> {
    match &frame.unsupported {
        None => Ok(()),
        Some(why) => Err(Error::Unsupported {
            what: why.clone().into(),
            block: None,
            offset: frame.coded.start,
        }),
    }
}
