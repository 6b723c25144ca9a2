//! Fields that do not fit in a header: the long names of GNU tar, and the records of pax.
//!
//! A pax record is `LENGTH KEY=VALUE` with a line feed, where LENGTH counts all of it.

use super::decimal::number;
use super::sparse::SparseParts;

/// Maximum size of the name of an owner or a group, in bytes. These may be for all members.
const LONGEST_OWNER: usize = 256;

/// The fields that stand before a header and replace its own.
#[derive(Clone, Debug, Default)]
pub(super) struct LongFields {
    pub name: Option<Vec<u8>>,
    pub link: Option<Vec<u8>>,
    pub size: Option<u64>,
    pub modified: Option<i64>,
    pub user: Option<Vec<u8>>,
    pub group: Option<Vec<u8>>,
    /// The numbers of the owner and the group.
    pub user_number: Option<Vec<u8>>,
    pub group_number: Option<Vec<u8>>,
    pub sparse: PaxSparse,
}

/// The fields of a file with holes.
#[derive(Clone, Debug, Default)]
pub(super) struct PaxSparse {
    pub name: Option<Vec<u8>>,
    pub size: Option<u64>,
    /// The parts that are not holes, if they are not in the content.
    pub parts: Option<SparseParts>,
    /// True if the list of parts is the front of the content.
    pub in_content: bool,
    /// Start of the part whose length comes next, in the oldest form.
    begun: u64,
}

impl PaxSparse {
    pub(super) fn is_there(&self) -> bool {
        self.parts.is_some() || self.in_content
    }
}

impl LongFields {
    /// Adds the records of a pax header. `None` if they are not valid.
    pub(super) fn add_pax(&mut self, mut records: &[u8]) -> Option<()> {
        while let Some(first) = records.first() {
            // Some writers fill up with zeros.
            if *first == 0 {
                break;
            }
            let blank = memchr::memchr(b' ', records)?;
            let size: usize = number(&records[..blank])?;
            let record = records
                .get(blank + 1..size)?
                .strip_suffix(b"\n")?;
            records = &records[size..];
            let equals = memchr::memchr(b'=', record)?;
            self.add_record(&record[..equals], &record[equals + 1..])?;
        }
        Some(())
    }

    /// Adds a record. An empty value takes an earlier one back.
    fn add_record(&mut self, key: &[u8], value: &[u8]) -> Option<()> {
        let text = || (!value.is_empty()).then(|| value.to_vec());
        let owner = || text().filter(|name| name.len() <= LONGEST_OWNER);
        match key {
            b"path" => self.name = text(),
            b"linkpath" => self.link = text(),
            b"uname" => self.user = owner(),
            b"gname" => self.group = owner(),
            b"uid" => self.user_number = owner(),
            b"gid" => self.group_number = owner(),
            b"size" if value.is_empty() => self.size = None,
            b"size" => self.size = Some(number(value)?),
            b"mtime" => self.modified = seconds(value),
            b"GNU.sparse.name" => self.sparse.name = text(),
            b"GNU.sparse.size" | b"GNU.sparse.realsize" => {
                self.sparse.size = Some(number(value)?);
            }
            b"GNU.sparse.major" => self.sparse.in_content = value == b"1",
            b"GNU.sparse.map" => self.sparse.parts = Some(SparseParts::from_list(value)?),
            b"GNU.sparse.offset" => self.sparse.begun = number(value)?,
            b"GNU.sparse.numbytes" => {
                let parts = self.sparse.parts.get_or_insert_default();
                parts.add(self.sparse.begun, number(value)?)?;
            }
            _ => {}
        }
        Some(())
    }

    /// These fields, or where they lack one, that of `all`, which pax states for all members. A
    /// name, a link or a size for all members has no meaning.
    pub(super) fn or(self, all: &LongFields) -> LongFields {
        LongFields {
            modified: self.modified.or(all.modified),
            user: self.user.or_else(|| all.user.clone()),
            group: self.group.or_else(|| all.group.clone()),
            user_number: self
                .user_number
                .or_else(|| all.user_number.clone()),
            group_number: self
                .group_number
                .or_else(|| all.group_number.clone()),
            ..self
        }
    }
}

/// Whole seconds of a time with a fraction, rounded down.
fn seconds(time: &[u8]) -> Option<i64> {
    let (whole, fraction) = match memchr::memchr(b'.', time) {
        Some(point) => (&time[..point], &time[point + 1..]),
        None => (time, &[][..]),
    };
    let seconds: i64 = number(whole)?;
    let is_before = whole.starts_with(b"-") && fraction.iter().any(|&digit| digit != b'0');
    seconds.checked_sub(i64::from(is_before))
}
