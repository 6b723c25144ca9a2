"""Members of tar archives: the same as those that tarfile lists and reads."""

from __future__ import annotations

import io
import random
import tarfile

import pytest

import bwz


def archive_of(format: int) -> bytes:
    """A tar archive of files of many sizes, a directory and links."""
    raw = io.BytesIO()
    rng = random.Random(7)
    with tarfile.open(fileobj=raw, mode="w", format=format) as tar:
        directory = tarfile.TarInfo("dir")
        directory.type = tarfile.DIRTYPE
        tar.addfile(directory)
        for n in range(40):
            info = tarfile.TarInfo(f"dir/fichier-é-{n}" if n % 3 else "dir/" + 90 * "x" + str(n))
            info.size = rng.choice([0, 1, 511, 512, 513, 20_000])
            info.mtime = 1_700_000_000 + n
            info.mode = 0o600 + n % 64
            info.uname, info.gname = "user", "group"
            tar.addfile(info, io.BytesIO(rng.randbytes(info.size)))
        for kind, name in [(tarfile.SYMTYPE, "dir/symbolic"), (tarfile.LNKTYPE, "dir/hard")]:
            link = tarfile.TarInfo(name)
            link.type = kind
            link.linkname = "dir/fichier-é-1"
            tar.addfile(link)
    return raw.getvalue()


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("index", [False, True])
def test_members_are_those_of_tarfile(format, index):
    raw = archive_of(format)
    archive = bwz.Archive(io.BytesIO(bwz.compress(raw, block_size=10_000, index=index)))
    members = archive.members()
    with tarfile.open(fileobj=io.BytesIO(raw)) as tar:
        assert len(members) == len(tar.getmembers()) == 43
        for member, info in zip(members, tar.getmembers(), strict=True):
            assert member.name.rstrip("/") == info.name
            assert (member.size, member.mode) == (info.size, info.mode)
            assert (member.modified, member.link) == (info.mtime, info.linkname)
            assert (member.offset, member.data_start) == (info.offset, info.offset_data)
            if info.isfile():
                content = tar.extractfile(info).read()
                assert archive.open_member(member).read() == content
                assert archive.open_member(info.name).read(10) == content[:10]


def test_a_member_is_a_file_to_seek_in():
    archive = bwz.Archive(io.BytesIO(bwz.compress(archive_of(tarfile.GNU_FORMAT), block_size=999)))
    large = max(archive.members(), key=lambda member: member.size)
    content = archive.open_member(large).read()
    file = archive.open_member(large)
    rng = random.Random(1)
    for _ in range(200):
        at, size = rng.randrange(21_000), rng.randrange(3000)
        assert file.seek(at) == at
        assert file.read(size) == content[at : at + size]
    assert file.seek(-5, io.SEEK_END) == len(content) - 5
    assert file.read() == content[-5:]
    with pytest.raises(ValueError):
        file.raw.seek(-1)
    with pytest.raises(ValueError):
        file.raw.seek(0, 7)


def test_what_has_no_content_is_refused():
    archive = bwz.Archive(io.BytesIO(bwz.compress(archive_of(tarfile.PAX_FORMAT))))
    with pytest.raises(KeyError):
        archive.open_member("dir/missing")
    for name in ["dir", "dir/symbolic"]:
        with pytest.raises(bwz.UsageError):
            archive.open_member(name)
    linked = archive.open_member("dir/fichier-é-1").read()
    assert archive.open_member("dir/hard").read() == linked
    with pytest.raises(bwz.UsageError, match="no tar archive"):
        bwz.Archive(io.BytesIO(bwz.compress(b"text"))).members()
