//! The members of a tar archive that the names in arguments mean.

use bwz::{Error, Member, Result};
use globset::{GlobBuilder, GlobMatcher};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Finds the member of a name, or if there is none, the files that the name matches as a pattern.
/// They are in the order of the archive.
///
/// # Errors
/// [`Error::Usage`] if there is none.
pub(crate) fn find<'a>(members: &'a [Member], name: &OsString) -> Result<Vec<&'a Member>> {
    if let Some(member) = Member::find(members, name.as_bytes()) {
        return Ok(vec![member]);
    }
    let shown = name.to_string_lossy();
    let mut found = Vec::new();
    if is_pattern(name) {
        let pattern = pattern(name)?;
        // A later member of the same name replaces an earlier one.
        let is_wanted = |member: &&Member| {
            is_match(&pattern, member) && is_last(members, member) && has_content(member)
        };
        found = members
            .iter()
            .filter(is_wanted)
            .filter_map(|member| Member::find(members, &member.name))
            .collect();
    }
    match found.is_empty() {
        true => Err(Error::Usage(
            format!("holds no file {shown}; bwz -l --members lists what it holds").into(),
        )),
        false => Ok(found),
    }
}

fn is_pattern(name: &OsStr) -> bool {
    name.as_bytes()
        .iter()
        .any(|byte| b"*?[".contains(byte))
}

fn pattern(name: &OsStr) -> Result<GlobMatcher> {
    let refused = |why: String| Error::Usage(format!("--member: {why}").into());
    let text = name
        .to_str()
        .ok_or_else(|| refused("a pattern must be text".into()))?;
    let glob = GlobBuilder::new(text).build();
    Ok(glob
        .map_err(|e| refused(e.to_string()))?
        .compile_matcher())
}

/// Compares a name with and without the `./` that many archives put before all names.
fn is_match(pattern: &GlobMatcher, member: &Member) -> bool {
    let name = &member.name[..];
    let bare = name.strip_prefix(b"./").unwrap_or(name);
    [name, bare]
        .iter()
        .any(|name| pattern.is_match(Path::new(OsStr::from_bytes(name))))
}

/// True for files, and for hard links to files.
fn has_content(member: &Member) -> bool {
    member.kind.is_file() || member.kind == bwz::MemberKind::HardLink
}

fn is_last(members: &[Member], member: &Member) -> bool {
    let mut behind = members.iter().rev();
    behind
        .find(|other| other.name == member.name)
        .is_some_and(|last| last.offset == member.offset)
}
