//! A member of a tar archive.

use std::ops::Range;

/// A file, a directory or a link in a tar archive.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// Its path in the archive, as the archive has it.
    pub name: Vec<u8>,
    /// A file, a directory, or what else it is.
    pub kind: MemberKind,
    /// Bytes of its content. For a file with holes these are more than the archive stores.
    pub size: u64,
    /// Permissions, as in `chmod`.
    pub mode: u32,
    /// Time of its last change, in seconds since 1970.
    pub modified: i64,
    /// The owner's name, or number if the archive has no name.
    pub user: Vec<u8>,
    /// The name or number of its group.
    pub group: Vec<u8>,
    /// The target of a link, or `major,minor` of a device.
    pub link: Vec<u8>,
    /// Where its first header begins in the raw stream.
    pub offset: u64,
    /// The raw bytes that the archive stores for it. They are its content, unless it has holes.
    pub data: Range<u64>,
}

/// The kind of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemberKind {
    /// A file without holes.
    File,
    /// A file with holes.
    Sparse,
    /// Another name of an earlier member.
    HardLink,
    /// A symbolic link.
    SymbolicLink,
    /// A character device.
    CharDevice,
    /// A block device.
    BlockDevice,
    /// A directory.
    Directory,
    /// A named pipe.
    Fifo,
    /// Any other, with its type flag.
    Other(u8),
}

impl MemberKind {
    /// The kind that has this type flag.
    pub(crate) fn from_flag(flag: u8) -> Self {
        match flag {
            0 | b'0' => MemberKind::File,
            b'S' => MemberKind::Sparse,
            b'1' => MemberKind::HardLink,
            b'2' => MemberKind::SymbolicLink,
            b'3' => MemberKind::CharDevice,
            b'4' => MemberKind::BlockDevice,
            b'5' => MemberKind::Directory,
            b'6' => MemberKind::Fifo,
            flag => MemberKind::Other(flag),
        }
    }

    /// Its type flag.
    pub(crate) fn flag(self) -> u8 {
        match self {
            MemberKind::File => b'0',
            MemberKind::Sparse => b'S',
            MemberKind::HardLink => b'1',
            MemberKind::SymbolicLink => b'2',
            MemberKind::CharDevice => b'3',
            MemberKind::BlockDevice => b'4',
            MemberKind::Directory => b'5',
            MemberKind::Fifo => b'6',
            MemberKind::Other(flag) => flag,
        }
    }

    /// True if the member has a content of its own. POSIX wants unknown kinds to be taken for
    /// files.
    pub fn is_file(self) -> bool {
        match self {
            MemberKind::File | MemberKind::Sparse => true,
            // A volume label, and GNU tar's list of the files in a directory.
            MemberKind::Other(flag) => !matches!(flag, b'V' | b'D'),
            _ => false,
        }
    }
}
