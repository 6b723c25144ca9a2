//! Names that must be unique in an output: those of SAM's references and of the reads of PAF and
//! GFA.

use bwz::{Error, Result};
use std::cmp::Ordering;
use std::collections::HashSet;

/// Names and their numbers, ordered by name and then by number.
pub(crate) struct NameOrder<'n> {
    names: Vec<&'n [u8]>,
    order: Vec<usize>,
}

impl<'n> NameOrder<'n> {
    /// Orders the names at `numbers`; the other names are ignored.
    pub(crate) fn new(names: Vec<&'n [u8]>, mut numbers: Vec<usize>) -> Self {
        numbers.sort_unstable_by_key(|&n| (names[n], n));
        NameOrder {
            names,
            order: numbers,
        }
    }

    /// Returns new names for those that equal a name before them: `name.2`, `name.3` and so on,
    /// without names that are taken.
    pub(crate) fn renamed(&self) -> Vec<(usize, Vec<u8>)> {
        let mut renamed = Vec::new();
        let mut taken = HashSet::new();
        for same in self
            .order
            .chunk_by(|&a, &b| self.names[a] == self.names[b])
        {
            let mut suffix = 2;
            for &number in &same[1..] {
                let name = loop {
                    let name = [self.names[number], format!(".{suffix}").as_bytes()].concat();
                    suffix += 1;
                    if !self.has(&name) && taken.insert(name.clone()) {
                        break name;
                    }
                };
                renamed.push((number, name));
            }
        }
        renamed
    }

    /// Refuses two things of one name, which a reader of the output would confuse.
    ///
    /// # Errors
    /// [`Error::Usage`] with the first two things of one name, and advice.
    pub(crate) fn check(&self, things: &str, output: &str) -> Result<()> {
        let pairs = self
            .order
            .windows(2)
            .filter(|pair| self.compare(pair[0], pair[1]).is_eq());
        let Some(pair) = pairs.min_by_key(|pair| pair[1]) else {
            return Ok(());
        };
        let first = pair[0] + 1;
        let second = pair[1] + 1;
        let name = String::from_utf8_lossy(self.names[pair[0]]);
        let what = format!(
            "{things} {first} and {second} are both called `{name}`, and {output} distinguishes \
             them by their names; --rename-duplicates calls the later ones `{name}.2` and so on"
        );
        Err(Error::Usage(what.into()))
    }

    fn has(&self, name: &[u8]) -> bool {
        self.order
            .binary_search_by(|&n| self.names[n].cmp(name))
            .is_ok()
    }

    fn compare(&self, a: usize, b: usize) -> Ordering {
        self.names[a].cmp(self.names[b])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_names_get_a_number_that_is_free() {
        for (names, wanted) in [
            ("", ""),
            ("a b c", "a b c"),
            ("a a", "a a.2"),
            ("a a a", "a a.2 a.3"),
            ("a.2 a a", "a.2 a a.3"),
            ("a a a.2 a.2", "a a.3 a.2 a.2.2"),
            ("a.3 a a a a.2", "a.3 a a.4 a.5 a.2"),
            ("b a b a", "b a b.2 a.2"),
            ("a.2.2 a.2 a.2 a a", "a.2.2 a.2 a.2.3 a a.3"),
            ("a a.2 a.2 a a.2.2", "a a.2 a.2.3 a.3 a.2.2"),
        ] {
            let given: Vec<&[u8]> = names
                .split_whitespace()
                .map(str::as_bytes)
                .collect();
            let mut all: Vec<Vec<u8>> = given.iter().map(|name| name.to_vec()).collect();
            let order = NameOrder::new(given, (0..all.len()).collect());
            for (n, name) in order.renamed() {
                all[n] = name;
            }
            assert_eq!(
                String::from_utf8(all.join(&b' ')).unwrap(),
                wanted,
                "{names}"
            );
            assert_eq!(
                order.check("reads", "PAF").is_ok(),
                names == wanted,
                "{names}"
            );
        }
    }

    #[test]
    fn the_first_two_of_a_name_are_told() {
        let order = NameOrder::new(vec![b"a", b"z", b"y", b"z", b"a"], (1..5).collect());
        let said = order
            .check("reads", "PAF")
            .unwrap_err()
            .to_string();
        assert!(said.contains("reads 2 and 4 are both called `z`"), "{said}");
    }
}
