//! The members of a tar archive that the names in arguments mean.

use crate::cli::arguments::name_rules;
use bwz::{Archive, Error, Member, MemberKind, Result};
use globset::GlobMatcher;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Finds the member of a name, or if there is none, the files that the name matches as a pattern.
/// They are in the order of the archive.
///
/// # Errors
/// [`Error::Usage`] if there is none. Otherwise as [`Archive::find_member`].
pub(crate) fn find<'a>(
    archive: &mut Archive<File>,
    members: &'a [Member],
    name: &OsString,
) -> Result<Vec<&'a Member>> {
    if let Some(member) = archive.find_member(members, name.as_bytes())? {
        return Ok(vec![member]);
    }
    let mut found = Vec::new();
    if is_pattern(name) {
        let pattern = pattern(&name.to_string_lossy())?;
        // A later member of the same name replaces an earlier one.
        let numbered = members.iter().enumerate();
        let last: HashMap<&[u8], usize> = numbered
            .clone()
            .map(|(number, member)| (&member.name[..], number))
            .collect();
        for (number, member) in numbered {
            if last[&member.name[..]] == number && has_content(member) && matches(&pattern, member)
            {
                found.extend(archive.find_member(&members[..=number], &member.name)?);
            }
        }
    }
    match found.is_empty() {
        true => Err(Error::Usage(
            format!(
                "holds no file {}; bwz -l --members lists what it holds",
                name.to_string_lossy()
            )
            .into(),
        )),
        false => Ok(found),
    }
}

/// The error of a tar archive that breaks off, once the members before that place are done.
pub(crate) fn broken(at: u64) -> Error {
    let said = format!("the tar archive breaks off at byte {at}: what follows was not read");
    Error::Usage(said.into())
}

fn is_pattern(name: &OsStr) -> bool {
    name.as_bytes()
        .iter()
        .any(|byte| b"*?[".contains(byte))
}

/// Parses a pattern of names.
pub(crate) fn pattern(text: &str) -> Result<GlobMatcher> {
    name_rules::glob(text).map_err(|why| Error::Usage(format!("--member: {why}").into()))
}

/// Compares the name of a member with a pattern, with and without the `./` that many archives put
/// before all names.
pub(crate) fn matches(pattern: &GlobMatcher, member: &Member) -> bool {
    let name = &member.name[..];
    let bare = name.strip_prefix(b"./").unwrap_or(name);
    [name, bare]
        .iter()
        .any(|name| pattern.is_match(Path::new(OsStr::from_bytes(name))))
}

/// True for files, and for hard links to files.
fn has_content(member: &Member) -> bool {
    member.kind.is_file() || member.kind == MemberKind::HardLink
}
