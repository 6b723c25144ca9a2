//! Members of tar archives: with a table and without, whole and broken.

use crate::common::archives::{self, DEEP, TEXT};
use crate::common::{self, options};
use bwz::{Archive, Error, Member, MemberKind};
use std::io::Cursor;

type Opened = Archive<Cursor<Vec<u8>>>;

fn open(file: Vec<u8>) -> Opened {
    Archive::open(Cursor::new(file), &options(1)).unwrap()
}

/// `tar` in two frames. The second one begins within a member, so it has no table, and the members
/// are found by their headers.
fn in_two_frames(tar: &[u8]) -> Vec<u8> {
    let (front, back) = tar.split_at(1500);
    [
        common::compressed(front, 1000),
        common::compressed(back, 1000),
    ]
    .concat()
}

fn content(archive: &mut Opened, member: &Member) -> Vec<u8> {
    let mut content = Vec::new();
    archive.read_member(member, &mut content).unwrap();
    content
}

#[test]
fn members_are_the_same_with_a_table_and_without() {
    let tar = archives::archive();
    let mut tabled = open(common::compressed(&tar, 1000));
    let mut walked = open(in_two_frames(&tar));
    let members = tabled.members().unwrap();
    assert_eq!(walked.members().unwrap(), members);
    let names: Vec<&[u8]> = members
        .iter()
        .map(|member| &member.name[..])
        .collect();
    let deep = DEEP.as_bytes();
    assert_eq!(
        names,
        [
            &b"dir/"[..],
            b"dir/a.txt",
            deep,
            b"dir/symbolic",
            b"dir/hard",
            b"null",
            b"empty",
            b"from pax",
            b"dir/a.txt"
        ]
    );
    let kinds: Vec<MemberKind> = members.iter().map(|member| member.kind).collect();
    assert_eq!(
        kinds[..6],
        [
            MemberKind::Directory,
            MemberKind::File,
            MemberKind::File,
            MemberKind::SymbolicLink,
            MemberKind::HardLink,
            MemberKind::CharDevice
        ]
    );
    assert_eq!(
        (&members[3].link[..], &members[5].link[..]),
        (&b"a.txt"[..], &b"0,0"[..])
    );
    assert_eq!(
        (members[1].mode, members[1].modified),
        (0o644, 1_700_000_000)
    );
    assert_eq!(members[7].modified, -2);
    assert_eq!(
        (&members[1].user[..], &members[1].group[..]),
        (&b"user"[..], &b"100"[..])
    );
    for archive in [&mut tabled, &mut walked] {
        assert_eq!(content(archive, &members[2]), archives::deep());
        assert_eq!(content(archive, &members[6]), b"");
        assert_eq!(content(archive, &members[7]), b"xxxx");
        assert_eq!(content(archive, &members[8]), TEXT.1);
    }
}

#[test]
fn a_member_is_found_as_extraction_leaves_it() {
    let mut archive = open(common::compressed(&archives::archive(), 1 << 20));
    let members = archive.members().unwrap();
    for name in ["dir/a.txt", "./dir/a.txt"] {
        let found = archive.find_member(&members, name.as_bytes());
        assert_eq!(content(&mut archive, found.unwrap().unwrap()), TEXT.1);
    }
    // The link was made when the file had its old content.
    let hard = archive
        .find_member(&members, b"dir/hard")
        .unwrap()
        .unwrap();
    assert_eq!(content(&mut archive, hard), b"an old version\n");
    let directory = archive
        .find_member(&members, b"dir")
        .unwrap()
        .unwrap();
    assert_eq!(directory.kind, MemberKind::Directory);
    assert_eq!(archive.find_member(&members, b"a.txt").unwrap(), None);
    // A link whose file is not there is a link.
    let alone = archive
        .find_member(&members[2..7], b"dir/hard")
        .unwrap()
        .unwrap();
    assert_eq!(alone.kind, MemberKind::HardLink);
}

#[test]
fn members_without_content_are_refused_by_name() {
    let mut archive = open(common::compressed(&archives::archive(), 1 << 20));
    let members = archive.members().unwrap();
    for (number, what) in [
        (0, "dir/ is a directory"),
        (3, "dir/symbolic is a link to a.txt"),
        (4, "dir/hard is a link to dir/a.txt"),
        (5, "null is no file"),
    ] {
        let error = archive.read_member(&members[number], std::io::sink());
        assert!(
            matches!(&error, Err(Error::Usage(said)) if said.contains(what)),
            "{error:?}"
        );
    }
}

#[test]
fn only_the_blocks_of_a_member_are_read() {
    let tar = archives::archive();
    let mut archive = open(common::compressed(&tar, 1000));
    let members = archive.members().unwrap();
    let blocks = archive.blocks().len();
    let cost = archive
        .read_member(&members[8], std::io::sink())
        .unwrap();
    assert!(
        cost.blocks <= 4 && blocks > 50,
        "{} of {blocks}",
        cost.blocks
    );
}

#[test]
fn holes_are_filled() {
    let middle = std::array::from_fn(|n| n as u8);
    let mut archive = open(common::compressed(&archives::sparse(&middle), 700));
    let members = archive.members().unwrap();
    assert_eq!(
        (members[0].kind, members[0].size),
        (MemberKind::Sparse, 3000)
    );
    let expected = [&[0; 1024][..], &middle, &[0; 3000 - 1536]].concat();
    assert_eq!(content(&mut archive, &members[0]), expected);
}

#[test]
fn a_member_that_its_header_does_not_confirm_is_refused() {
    let mut archive = open(common::compressed(&archives::archive(), 1 << 20));
    let members = archive.members().unwrap();
    let changes: [fn(&mut Member); 6] = [
        |member| member.name = b"other".to_vec(),
        |member| member.size += 1,
        |member| member.link = b"link".to_vec(),
        |member| member.offset += 512,
        |member| member.data = 512..600,
        |member| member.offset = u64::MAX,
    ];
    for change in changes {
        let mut wrong = members[2].clone();
        change(&mut wrong);
        let error = archive.read_member(&wrong, std::io::sink());
        assert!(matches!(error, Err(Error::Format { .. })), "{error:?}");
    }
}

#[test]
fn broken_archives_are_listed_up_to_the_break_with_a_warning() {
    let tar = archives::archive();
    let whole = open(common::compressed(&tar, 1000))
        .members()
        .unwrap();
    for cut in [
        whole[2].data.start + 7,
        whole[2].offset + 600,
        whole[2].offset + 3,
    ] {
        let cut = cut as usize;
        let garbage = [&tar[..cut], &b"no header ".repeat(100)].concat();
        for broken in [&tar[..cut], &garbage] {
            let file = common::compressed(broken, 1000);
            let (members, warnings) = common::heard(options(1), |options| {
                let mut archive = Archive::open(Cursor::new(file), options).unwrap();
                archive.members().unwrap()
            });
            let count = if cut as u64 > whole[2].data.start {
                3
            } else {
                2
            };
            assert_eq!(members, whole[..count]);
            assert!(warnings[0].contains("the tar archive breaks off at byte"));
        }
    }
}

#[test]
fn other_files_hold_no_archive() {
    for raw in [&b""[..], b"text", &[0; 512], &b"text".repeat(2000)] {
        let error = open(common::compressed(raw, 1000)).members();
        assert!(matches!(error, Err(Error::Usage(_))), "{error:?}");
    }
}

#[test]
fn an_archive_without_members_is_one() {
    let members = open(common::compressed(&[0; 10240], 1000)).members();
    assert_eq!(members.unwrap(), []);
}

#[test]
fn archives_one_after_the_other_are_one() {
    let tar = archives::archive();
    let joined = open(common::compressed(&tar.repeat(2), 1000))
        .members()
        .unwrap();
    let frames = open(common::compressed(&tar, 1000).repeat(2))
        .members()
        .unwrap();
    assert_eq!((joined.len(), &joined), (18, &frames));
    assert_eq!(joined[9].offset, tar.len() as u64);
}
