//! Filter_List, FORMAT.md section 4.2: the filters of a block, in the order in which they were
//! applied, with the sizes of their outputs and of their parameters.

use super::field_bytes::ensure;
use crate::base::allocation;
use crate::base::error::{Flaw, Unknown, Unreadable};
use crate::base::leb128;
use crate::filter::{self, Step};

/// Maximum number of filters of a block.
const MOST: usize = 8;

/// The ids of the filters of a block, in the order in which they were applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct FilterIds {
    count: usize,
    ids: [u8; MOST],
}

impl FilterIds {
    pub(crate) fn iter(&self) -> impl Iterator<Item = u8> {
        self.ids.into_iter().take(self.count)
    }

    pub(crate) fn is(&self, ids: &[u8]) -> bool {
        self.iter().eq(ids.iter().copied())
    }

    fn of(ids: impl Iterator<Item = u8>) -> Self {
        let mut all = FilterIds::default();
        for id in ids {
            all.ids[all.count] = id;
            all.count += 1;
        }
        all
    }

    /// Appends Filter_Count and the ids.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.push(self.count as u8);
        out.extend(self.iter());
    }

    /// Takes Filter_Count and the ids off the front of `bytes`.
    pub(super) fn read(bytes: &mut &[u8]) -> Result<Self, Flaw> {
        let count = count(bytes)?;
        let ids = bytes.split_off(..count).ok_or(CUT)?;
        for (n, &id) in ids.iter().enumerate() {
            check_id(id, !ids[..n].contains(&id))?;
        }
        Ok(Self::of(ids.iter().copied()))
    }

    /// True if an index of the text is possible: there are no filters, or that for sequences alone.
    /// A filter that this version does not know may allow it too.
    pub(super) fn may_keep_text(&self) -> bool {
        let all_known = self.iter().all(filter::is_known);
        !all_known || self.count == 0 || self.is(&[filter::SEQUENCES])
    }
}

/// A filter of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    id: u8,
    /// Bytes after the filter was applied.
    output_size: u64,
    side_size: u64,
}

/// The filters of a block, none or several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FilterList(Vec<Entry>);

const CUT: Flaw = Flaw("the list of the block's filters ends too early");

/// Takes Filter_Count off the front of `bytes`.
fn count(bytes: &mut &[u8]) -> Result<usize, Flaw> {
    let count = usize::from(*bytes.split_off_first().ok_or(CUT)?);
    let allowed = (1..=MOST).contains(&count);
    ensure(
        allowed,
        "the block has no filters, or more than it can have",
    )?;
    Ok(count)
}

/// Checks an id, which may be one that this version does not know.
fn check_id(id: u8, is_first: bool) -> Result<(), Flaw> {
    let may_be_known = (1..filter::MOST_IDS).contains(&id);
    ensure(
        may_be_known && is_first,
        "the block has an impossible filter",
    )
}

impl FilterList {
    /// The list of these steps.
    pub(crate) fn of(steps: &[Step]) -> Self {
        let entry = |step: &Step| Entry {
            id: step.filter,
            output_size: step.output_size as u64,
            side_size: step.side.len() as u64,
        };
        FilterList(steps.iter().map(entry).collect())
    }

    /// Appends the stored form of a list that is not empty.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.push(self.0.len() as u8);
        for entry in &self.0 {
            out.push(entry.id);
            leb128::write(entry.output_size as usize, out);
            leb128::write(entry.side_size as usize, out);
        }
    }

    /// Takes the list of a block of `raw_size` bytes off the front of `bytes`. Filters that this
    /// version does not know are in it too.
    pub(super) fn read(bytes: &mut &[u8], raw_size: u64) -> Result<Self, Flaw> {
        let mut list = FilterList::default();
        let mut before = raw_size;
        for _ in 0..count(bytes)? {
            let id = *bytes.split_off_first().ok_or(CUT)?;
            let output_size = leb128::read(bytes)? as u64;
            let side_size = leb128::read(bytes)? as u64;
            check_id(id, list.0.iter().all(|entry| entry.id != id))?;
            let fits = (1..=before).contains(&output_size);
            ensure(fits, "the size of the filtered text does not fit the block")?;
            before = output_size;
            list.0.push(Entry {
                id,
                output_size,
                side_size,
            });
        }
        Ok(list)
    }

    /// Fails if this version does not know one of the filters.
    pub(crate) fn check_known(&self) -> Result<(), Unreadable> {
        let unknown = self
            .0
            .iter()
            .find(|entry| !filter::is_known(entry.id));
        unknown.map_or(Ok(()), |entry| {
            Err(Unreadable::Unknown(Unknown {
                what: "filter",
                id: entry.id.into(),
            }))
        })
    }

    pub(crate) fn ids(&self) -> FilterIds {
        FilterIds::of(self.0.iter().map(|entry| entry.id))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Bytes of the text of a block of `raw_size` bytes.
    pub(crate) fn text_size(&self, raw_size: u64) -> u64 {
        self.0
            .last()
            .map_or(raw_size, |entry| entry.output_size)
    }

    /// Bytes of Side. The sum of a few sizes below 2^40.
    pub(crate) fn side_size(&self) -> u64 {
        self.0.iter().map(|entry| entry.side_size).sum()
    }

    /// The steps whose parameters together are `side`, which are copied.
    ///
    /// # Errors
    /// [`Flaw::NO_MEMORY`].
    pub(crate) fn steps(&self, mut side: &[u8]) -> Result<Vec<Step>, Flaw> {
        let mut step = |entry: &Entry| {
            let own = side
                .split_off(..entry.side_size as usize)
                .ok_or(CUT)?;
            Ok(Step {
                filter: entry.id,
                output_size: entry.output_size as usize,
                side: allocation::copied(own).ok_or(Flaw::NO_MEMORY)?,
            })
        };
        self.0.iter().map(&mut step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(entries: &[[u64; 3]]) -> FilterList {
        let entry = |&[id, output_size, side_size]: &[u64; 3]| Entry {
            id: id as u8,
            output_size,
            side_size,
        };
        FilterList(entries.iter().map(entry).collect())
    }

    fn reread(list: &FilterList) -> Result<FilterList, Flaw> {
        let mut bytes = Vec::new();
        list.write(&mut bytes);
        let whole = FilterList::read(&mut &bytes[..], 1000);
        for cut in 0..bytes.len() {
            assert!(
                FilterList::read(&mut &bytes[..cut], 1000).is_err(),
                "cut to {cut}"
            );
        }
        whole
    }

    #[test]
    fn a_list_survives_and_its_sizes_descend() {
        let good = list(&[[1, 900, 7], [2, 900, 300], [77, 5, 0]]);
        assert_eq!(reread(&good), Ok(good.clone()));
        assert_eq!((good.text_size(1000), good.side_size()), (5, 307));
        assert!(good.ids().is(&[1, 2, 77]));
        assert!(good.check_known().is_err());
        assert!(list(&[[3, 5, 0]]).check_known().is_ok());
        for bad in [
            list(&[[1, 1001, 0]]),
            list(&[[1, 0, 0]]),
            list(&[[1, 500, 0], [2, 501, 0]]),
            list(&[[1, 500, 0], [1, 500, 0]]),
            list(&[[0, 500, 0]]),
            list(&[[128, 500, 0]]),
        ] {
            assert!(reread(&bad).is_err(), "{bad:?}");
        }
        assert!(FilterList::read(&mut &[0][..], 1000).is_err());
    }

    #[test]
    fn ids_alone_follow_the_same_rules() {
        let read = |bytes: &[u8]| FilterIds::read(&mut &bytes[..]);
        let ids = read(&[2, 1, 77]).unwrap();
        assert!(ids.is(&[1, 77]) && ids.may_keep_text());
        assert!(read(&[1, 1]).unwrap().may_keep_text());
        assert!(!read(&[1, 2]).unwrap().may_keep_text());
        let all: Vec<u8> = (1..=9).collect();
        let nine = [&[9], &all[..]].concat();
        for bad in [
            &[][..],
            &[0],
            &nine,
            &[2, 1],
            &[1, 0],
            &[1, 128],
            &[2, 3, 3],
        ] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn steps_share_the_side() {
        let steps = list(&[[1, 900, 2], [3, 800, 3]])
            .steps(b"abcde")
            .unwrap();
        assert_eq!(steps[0].side, b"ab");
        assert_eq!(steps[1].side, b"cde");
        assert_eq!(FilterList::of(&steps), list(&[[1, 900, 2], [3, 800, 3]]));
    }
}
