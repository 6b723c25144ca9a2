"""The filesystem of members of tar archives: names, contents, links, ranges, bytes read."""

from __future__ import annotations

import doctest
import io
import pickle
import random
import tarfile
from pathlib import Path

import bwz
import bwz.fsspec_tar
import fsspec
import pytest
from bwz.fsspec import READ_AHEAD
from bwz.fsspec_tar import BwzTarFileSystem
from range_server import RangeHandler, serve

BLOCK = 64 << 10


def entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 0) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size, info.mtime = kind, link, size, 1_700_000_000
    return info


def contents() -> dict[str, bytes]:
    """Files of many sizes, some of which span blocks."""
    rng = random.Random(5)
    sizes = [0, 1, 511, 512, 20_000, 3 * BLOCK, 100] * 6
    return {f"d{n % 3}/sub/file{n}.txt": rng.randbytes(size) for n, size in enumerate(sizes)}


CONTENTS = contents()


@pytest.fixture(scope="module", params=[tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def file(request: pytest.FixtureRequest) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=request.param) as tar:
        tar.addfile(entry("./d0", tarfile.DIRTYPE))
        tar.addfile(entry("empty", tarfile.DIRTYPE))
        tar.addfile(entry("twice", size=3), io.BytesIO(b"old"))
        tar.addfile(entry("hard", tarfile.LNKTYPE, "twice"))
        tar.addfile(entry("twice", size=3), io.BytesIO(b"new"))
        for name, content in CONTENTS.items():
            tar.addfile(entry("./" + name, size=len(content)), io.BytesIO(content))
        tar.addfile(entry("d1/up", tarfile.SYMTYPE, "../twice"))
        tar.addfile(entry("d1/upper", tarfile.SYMTYPE, "./up"))
        tar.addfile(entry("away", tarfile.SYMTYPE, "/etc/hostname"))
        tar.addfile(entry("circle", tarfile.SYMTYPE, "circle"))
        tar.addfile(entry("queue", tarfile.FIFOTYPE))
        tar.addfile(entry("x" * 200 + "-é.txt", size=4), io.BytesIO(b"long"))
    return bwz.compress(raw.getvalue(), block_size=BLOCK)


@pytest.fixture
def fs(file: bytes, tmp_path: Path) -> BwzTarFileSystem:
    (tmp_path / "x.tar.bwz").write_bytes(file)
    fs, path = fsspec.url_to_fs(f"bwztar://::file://{tmp_path}/x.tar.bwz")
    assert isinstance(fs, BwzTarFileSystem)
    assert path == ""
    return fs


def test_names_are_those_of_a_directory_tree(fs: BwzTarFileSystem) -> None:
    long = "x" * 200 + "-é.txt"
    root = ["away", "circle", "d0", "d1", "d2", "empty", "hard", "queue", "twice", long]
    assert fs.ls("", detail=False) == fs.ls("/", detail=False) == root
    assert fs.ls("empty") == []
    assert [entry["name"] for entry in fs.ls("d1")] == ["d1/sub", "d1/up", "d1/upper"]
    assert fs.ls("d0/sub/file0.txt", detail=False) == ["d0/sub/file0.txt"]
    assert set(fs.find("d2")) == {name for name in CONTENTS if name.startswith("d2")}
    assert fs.glob("d*/sub/file1*.txt") == sorted(name for name in CONTENTS if "/file1" in name)
    assert (fs.isdir("d0"), fs.isdir("d0/sub"), fs.isdir("twice"), fs.isfile("./twice")) == (True, True, False, True)
    assert not fs.exists("d3")
    for missing in ["d3", "d0/file0.txt"]:
        with pytest.raises(FileNotFoundError):
            fs.ls(missing)


def test_information_is_that_of_the_headers(fs: BwzTarFileSystem) -> None:
    assert fs.info("twice") == {"name": "twice", "size": 3, "type": "file", "mode": 0o644, "mtime": 1_700_000_000}
    assert fs.info("d0/sub") == {"name": "d0/sub", "size": 0, "type": "directory"}
    kinds = {name: fs.info(name)["type"] for name in ["d0", "queue", "away", "circle", "d1/upper", "hard"]}
    assert kinds == {"d0": "directory", "queue": "other", "away": "link", "circle": "link", "d1/upper": "file", "hard": "file"}
    assert fs.info("d1/upper")["link"] == "./up"
    assert all(fs.size(name) == len(content) for name, content in CONTENTS.items())


def test_contents_and_ranges(fs: BwzTarFileSystem) -> None:
    assert fs.cat(list(CONTENTS)) == CONTENTS
    large = "d2/sub/file5.txt"
    for start, end in [(0, 5), (BLOCK, 2 * BLOCK + 9), (-7, -2), (5, None), (None, -5), (0, 1 << 40)]:
        assert fs.cat_file(large, start, end) == CONTENTS[large][start:end], (start, end)
    assert fs.cat_ranges([large] * 2, [3, BLOCK], [9, BLOCK + 9]) == [CONTENTS[large][3:9], CONTENTS[large][BLOCK:][:9]]
    with fs.open(large) as one, fs.open("d0/sub/file9.txt") as other:
        assert one.read(10) == CONTENTS[large][:10]
        assert other.read(10) == CONTENTS["d0/sub/file9.txt"][:10]
        assert one.seek(-10, 2) == len(CONTENTS[large]) - 10
        assert one.read() == CONTENTS[large][-10:]
    assert (fs.cat_file("twice"), fs.cat_file("hard")) == (b"new", b"old")
    assert (fs.cat_file("d1/up"), fs.cat_file("d1/upper")) == (b"new", b"new")
    assert fs.cat_file("x" * 200 + "-é.txt") == b"long"


def test_what_is_no_file_is_not_opened(fs: BwzTarFileSystem, tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        fs.open("d0")
    for name in ["away", "circle", "queue"]:
        with pytest.raises(ValueError, match="no file of the archive"):
            fs.open(name)
    with pytest.raises(FileNotFoundError):
        fs.open("d0/none")
    with pytest.raises(NotImplementedError, match="for reading"):
        fs.open("twice", "wb")
    with pytest.raises(ValueError, match="stands in front"):
        BwzTarFileSystem()
    (tmp_path / "text.bwz").write_bytes(bwz.compress(b"no archive" * 100))
    with pytest.raises(bwz.UsageError, match="no tar archive"):
        BwzTarFileSystem(f"{tmp_path}/text.bwz")


def test_urls_and_other_processes(fs: BwzTarFileSystem, tmp_path: Path) -> None:
    with fsspec.open(f"bwztar://twice::file://{tmp_path}/x.tar.bwz") as file:
        assert file.read() == b"new"
    files = fsspec.open_files(f"bwztar://d0/sub/*.txt::file://{tmp_path}/x.tar.bwz")
    assert {file.path for file in files} == {name for name in CONTENTS if name.startswith("d0")}
    with pickle.loads(pickle.dumps(files[3])) as again:
        assert again.read() == CONTENTS[files[3].path]
    assert BwzTarFileSystem(str(tmp_path / "x.tar.bwz")).cat_file("twice") == b"new"


def test_files_with_holes(tmp_path: Path) -> None:
    content = bytes(1 << 20) + b"in the middle" + bytes(1 << 20)
    parts = f"1\n{1 << 20}\n13\n".encode().ljust(512, b"\0")
    info = entry("holes", size=len(parts) + 13)
    info.pax_headers = {
        "GNU.sparse.major": "1",
        "GNU.sparse.minor": "0",
        "GNU.sparse.name": "holes",
        "GNU.sparse.realsize": str(len(content)),
    }
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as tar:
        tar.addfile(info, io.BytesIO(parts + b"in the middle"))
    (tmp_path / "x.tar.bwz").write_bytes(bwz.compress(raw.getvalue()))
    fs = BwzTarFileSystem(str(tmp_path / "x.tar.bwz"))
    assert fs.size("holes") == len(content)
    assert fs.cat_file("holes") == content
    assert fs.cat_file("holes", 1 << 20, (1 << 20) + 6) == b"in the"


def test_a_member_takes_the_blocks_that_hold_it(file: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.tar.bwz").write_bytes(file)
    with serve(tmp_path) as url:
        fs, path = fsspec.url_to_fs(f"bwztar://d0/sub/file9.txt::{url}/x.tar.bwz")
        tables = RangeHandler.sent
        assert 0 < tables <= 3 * READ_AHEAD
        for name in [path, "d2/sub/file5.txt"]:
            RangeHandler.sent = 0
            assert fs.cat_file(name) == CONTENTS[name]
            blocks = len(CONTENTS[name]) // BLOCK + 2
            assert 0 < RangeHandler.sent <= blocks * (BLOCK + 4096) + 2 * READ_AHEAD
        RangeHandler.sent = 0
        assert fs.cat_file(name, 5, 9) == CONTENTS[name][5:9]
        assert RangeHandler.sent <= 2 * BLOCK + 2 * READ_AHEAD


def test_a_block_is_decoded_once_for_the_members_in_it(fs: BwzTarFileSystem) -> None:
    archive = fs._raw.archive
    blocks = len(archive.blocks())
    for name in sorted(CONTENTS, key=lambda name: fs._files[name].offset):
        assert fs.cat_file(name) == CONTENTS[name]
    assert archive.cost.blocks < 2 * blocks


def test_documentation() -> None:
    found = doctest.testmod(bwz.fsspec_tar)
    assert found.attempted > 0 and found.failed == 0
