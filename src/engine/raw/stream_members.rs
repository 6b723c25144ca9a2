//! The members of a stream that is a tar archive, gathered while its blocks pass.

use crate::base::tar::{End, TarWalk};
use crate::frame::MemberColumns;

/// The walk over a stream, and the members so far.
pub(super) struct StreamMembers {
    walk: TarWalk,
    /// Bytes of the stream so far.
    size: u64,
    /// `None` if a table cannot hold them.
    members: Option<MemberColumns>,
}

impl Default for StreamMembers {
    fn default() -> Self {
        StreamMembers {
            walk: TarWalk::default(),
            size: 0,
            members: Some(MemberColumns::default()),
        }
    }
}

impl StreamMembers {
    /// Adds the next block, of `len` bytes. `read` copies its bytes from a position on.
    pub(super) fn add(&mut self, len: usize, read: impl Fn(usize, &mut [u8])) {
        let range = self.size..self.size + len as u64;
        self.size = range.end;
        let Some(members) = &mut self.members else {
            return;
        };
        let mut are_held = true;
        self.walk.feed(range, read, |found| {
            are_held = members.add(&found.member).is_some();
            are_held
        });
        if !are_held {
            self.members = None;
        }
    }

    /// The members, if the stream is an archive from its begin to its end.
    pub(super) fn finish(self) -> Option<MemberColumns> {
        let is_whole = self.walk.finish(self.size) == End::Whole;
        self.members.filter(|_| is_whole)
    }
}
