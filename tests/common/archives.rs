//! Tar archives of a few members.

use tar::{Builder, EntryType, Header};

/// A file of the archive: its name and content.
pub const TEXT: (&str, &[u8]) = ("dir/a.txt", b"the first file\n");
/// A file whose name is too long for a header.
pub const DEEP: &str = "a-long-name-of-a-directory/a-long-name-of-a-directory/\
    a-long-name-of-a-directory/a-long-name-of-a-directory/deep.log";

/// A header of a member of `size` bytes with its times and owners set.
fn header(kind: EntryType, size: usize) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size as u64);
    header.set_mode(if kind.is_dir() { 0o755 } else { 0o644 });
    header.set_mtime(1_700_000_000);
    header.set_uid(1000);
    header.set_gid(100);
    header.set_username("user").unwrap();
    header
}

/// The content of [`DEEP`].
pub fn deep() -> Vec<u8> {
    (0..3000)
        .flat_map(|n| format!("line {n} of the log\n").into_bytes())
        .collect()
}

/// An archive of a directory, files, links, a device, a file whose name pax tells, and a second
/// version of a file.
pub fn archive() -> Vec<u8> {
    let mut tar = Builder::new(Vec::new());
    let mut add = |kind, name: &str, link: Option<&str>, content: &[u8]| {
        let mut header = header(kind, content.len());
        match link {
            Some(link) => tar.append_link(&mut header, name, link),
            None => tar.append_data(&mut header, name, content),
        }
        .unwrap();
    };
    add(EntryType::Directory, "dir/", None, b"");
    add(EntryType::Regular, TEXT.0, None, b"an old version\n");
    add(EntryType::Regular, DEEP, None, &deep());
    add(EntryType::Symlink, "dir/symbolic", Some("a.txt"), b"");
    add(EntryType::Link, "dir/hard", Some(TEXT.0), b"");
    add(EntryType::Char, "null", None, b"");
    add(EntryType::Regular, "empty", None, b"");
    let records = [("path", "from pax".as_bytes()), ("mtime", b"-1.5")];
    tar.append_pax_extensions(records).unwrap();
    tar.append(&header_of("short", 4), &b"xxxx"[..])
        .unwrap();
    tar.append_data(
        &mut header(EntryType::Regular, TEXT.1.len()),
        TEXT.0,
        TEXT.1,
    )
    .unwrap();
    tar.into_inner().unwrap()
}

fn header_of(name: &str, size: usize) -> Header {
    let mut header = header(EntryType::Regular, size);
    header.set_path(name).unwrap();
    header.set_cksum();
    header
}

/// A file of 3,000 bytes with holes around `middle`, which begins at 1024, in the old form of GNU
/// tar.
pub fn sparse(middle: &[u8; 512]) -> Vec<u8> {
    let mut header = header_of("holes", 512);
    header.set_entry_type(EntryType::GNUSparse);
    let gnu = header.as_gnu_mut().unwrap();
    gnu.set_real_size(3000);
    gnu.sparse[0].set_offset(1024);
    gnu.sparse[0].set_length(512);
    header.set_cksum();
    [&header.as_bytes()[..], middle, &[0; 1024]].concat()
}
