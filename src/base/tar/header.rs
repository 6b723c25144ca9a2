//! The fields of one header of 512 bytes.

use super::member::MemberKind;
use tar::Header;

/// Type flags of headers that belong to the next one.
pub(super) const PAX: u8 = b'x';
pub(super) const PAX_OF_SOLARIS: u8 = b'X';
pub(super) const PAX_FOR_ALL: u8 = b'g';
pub(super) const LONG_NAME: u8 = b'L';
pub(super) const LONG_LINK: u8 = b'K';

/// A header, if `bytes` are one: if their checksum is right and they tell a size. Old programs
/// summed signed bytes.
pub(super) fn header(bytes: &[u8; 512]) -> Option<&Header> {
    const CHECKSUM: std::ops::Range<usize> = 148..156;
    let header = Header::from_byte_slice(bytes);
    let stored = i64::from(header.cksum().ok()?);
    let summed = bytes
        .iter()
        .enumerate()
        .filter(|(at, _)| !CHECKSUM.contains(at));
    let blanks = CHECKSUM.len() as i64 * i64::from(b' ');
    let unsigned: i64 = summed
        .clone()
        .map(|(_, &byte)| i64::from(byte))
        .sum();
    let signed: i64 = summed
        .map(|(_, &byte)| i64::from(byte as i8))
        .sum();
    let is_right = stored == unsigned + blanks || stored == signed + blanks;
    (is_right && size(header).is_some()).then_some(header)
}

/// True if `bytes` are the header of a member.
pub(crate) fn is_header(bytes: &[u8; 512]) -> bool {
    header(bytes).is_some()
}

/// Bytes of the content that the archive stores. Some headers that have none, such as a volume's
/// label, leave the field empty.
pub(super) fn size(header: &Header) -> Option<u64> {
    match header.as_old().size.iter().all(|&byte| byte == 0) {
        true => Some(0),
        false => header.entry_size().ok(),
    }
}

/// The type flag of a header.
pub(super) fn flag(header: &Header) -> u8 {
    header.as_old().linkflag[0]
}

/// The kind that a header states. V7 marks a directory by the end of its name.
pub(super) fn kind(header: &Header, name: &[u8]) -> MemberKind {
    match MemberKind::from_flag(flag(header)) {
        MemberKind::File if name.ends_with(b"/") => MemberKind::Directory,
        kind => kind,
    }
}

/// The name of an owner or a group: that of pax, or else that of the header. Without a name, the
/// number in the same order.
pub(super) fn owner(
    pax: (Option<Vec<u8>>, Option<Vec<u8>>),
    name: Option<&[u8]>,
    number: std::io::Result<u64>,
) -> Vec<u8> {
    let own = || {
        name.filter(|name| !name.is_empty())
            .map(<[u8]>::to_vec)
    };
    let (pax_name, pax_number) = pax;
    pax_name
        .or_else(own)
        .or(pax_number)
        .unwrap_or_else(|| number.unwrap_or(0).to_string().into_bytes())
}

/// The time of the last change. It is negative before 1970, which only base 256 can say.
pub(super) fn modified(header: &Header) -> i64 {
    let field = header.as_old().mtime;
    match field[0] {
        0xFF => field
            .iter()
            .fold(-1, |number, &byte| (number << 8) | i64::from(byte)),
        _ => header.mtime().map_or(0, |time| time as i64),
    }
}

/// The target of a link, or the numbers of a device.
pub(super) fn link(header: &Header, kind: MemberKind) -> Vec<u8> {
    match kind {
        MemberKind::CharDevice | MemberKind::BlockDevice => {
            let number = |number: std::io::Result<Option<u32>>| number.ok().flatten().unwrap_or(0);
            let major = number(header.device_major());
            let minor = number(header.device_minor());
            format!("{major},{minor}").into_bytes()
        }
        MemberKind::HardLink | MemberKind::SymbolicLink => header
            .link_name_bytes()
            .map_or_else(Vec::new, |name| name.into_owned()),
        _ => Vec::new(),
    }
}
