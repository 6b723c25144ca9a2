"""The filesystem over memory, local files and HTTP: sizes, ranges, and the bytes that they take."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

import bwz
import fsspec
import pytest
from bwz.fsspec import READ_AHEAD, BwzFileSystem
from range_server import RangeHandler, serve

WORDS = b"she sells sea shells by the sea shore and the shells are surely seashells".split()


def text(size: int, seed: int = 1) -> bytes:
    """Words in lines, `size` bytes."""
    choose = random.Random(seed)
    lines = (b" ".join(choose.choices(WORDS, k=9)) + b" %d\n" % choose.randrange(10**9) for _ in range(size // 40))
    return b"".join(lines)[:size]


RAW = text(6 << 20)
FILE = bwz.compress(RAW, level=1)


@pytest.fixture
def memory() -> fsspec.AbstractFileSystem:
    fs = fsspec.filesystem("memory")
    fs.store.clear()
    fs.pipe({"/d/x.bwz": FILE, "/d/plain": b"not compressed", "/d/e/empty.bwz": bwz.compress(b"")})
    return fs


def test_sizes_are_raw(memory: fsspec.AbstractFileSystem) -> None:
    fs, path = fsspec.url_to_fs("bwz::memory://d/x.bwz")
    assert isinstance(fs, BwzFileSystem)
    assert fs.size(path) == len(RAW)
    assert fs.info(path)["compressed_size"] == len(FILE)
    assert {entry["name"]: entry["size"] for entry in fs.ls("/d")} == {
        "/d/x.bwz": len(RAW),
        "/d/plain": 14,
        "/d/e": 0,
    }
    assert fs.find("/d", detail=True)["/d/e/empty.bwz"]["size"] == 0
    assert fs.glob("/d/*.bwz") == ["/d/x.bwz"]


def test_names_are_had_without_opening_files(memory: fsspec.AbstractFileSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    fs = fsspec.filesystem("bwz", target_protocol="memory")
    memory.pipe("/d/cut.bwz", FILE[:1000])
    sizes = {entry["name"]: entry["size"] for entry in fs.ls("/d")}
    assert (sizes["/d/cut.bwz"], sizes["/d/x.bwz"]) == (None, len(RAW))
    with pytest.raises(bwz.FormatError):
        fs.info("/d/cut.bwz")
    monkeypatch.setattr(fs, "_archive", None)
    assert fs.glob("/d/*.bwz") == ["/d/cut.bwz", "/d/x.bwz"]
    assert fs.glob("/d/**/*.bwz") == ["/d/cut.bwz", "/d/e/empty.bwz", "/d/x.bwz"]
    assert len(fs.find("/d")) == 4
    assert (fs.exists("/d/x.bwz"), fs.isfile("/d/x.bwz"), fs.isdir("/d/e")) == (True, True, True)
    assert [file.path for file in fsspec.open_files("bwz::memory://d/*.bwz")] == ["/d/cut.bwz", "/d/x.bwz"]


def test_ranges_are_those_of_the_raw_file(memory: fsspec.AbstractFileSystem) -> None:
    fs, path = fsspec.url_to_fs("bwz::memory://d/x.bwz")
    for start, end in [(0, 0), (0, 5), (1 << 20, (1 << 20) + 9), (5, None), (None, -5), (-7, -2), (9, 3), (0, 1 << 40)]:
        assert fs.cat_file(path, start, end) == RAW[start:end], (start, end)
    assert fs.cat_ranges([path] * 2, [3, 2_000_000], [9, 2_000_099]) == [RAW[3:9], RAW[2_000_000:2_000_099]]
    assert fs.cat(["/d/x.bwz", "/d/plain"]) == {"/d/x.bwz": RAW, "/d/plain": b"not compressed"}
    assert fs.cat_file("/d/plain", 0, 3) == b"not"
    assert fs.cat_file("/d/e/empty.bwz") == b""


def test_files_are_read_seeked_and_chained(memory: fsspec.AbstractFileSystem, tmp_path: Path) -> None:
    (tmp_path / "x.bwz").write_bytes(FILE)
    for url in ["bwz::memory://d/x.bwz", f"bwz::file://{tmp_path}/x.bwz"]:
        with fsspec.open(url) as file:
            assert file.read(100) == RAW[:100]
            assert file.seek(3_000_000) == 3_000_000
            assert file.read(50) == RAW[3_000_000:3_000_050]
            file.seek(-20, 2)
            assert file.read() == RAW[-20:]
        with fsspec.open(url, "rt", encoding="utf-8") as lines:
            assert next(lines).encode() == RAW[: RAW.index(b"\n") + 1]


def test_files_go_to_other_processes(tmp_path: Path) -> None:
    (tmp_path / "x.bwz").write_bytes(FILE)
    fs, path = fsspec.url_to_fs(f"bwz::file://{tmp_path}/x.bwz")
    assert pickle.loads(pickle.dumps(fs)).cat_file(path, 5, 9) == RAW[5:9]
    with fs.open(path) as file:
        file.seek(2_000_000)
        with pickle.loads(pickle.dumps(file)) as again:
            assert again.read(10) == RAW[2_000_000:2_000_010]
        assert file.read(10) == RAW[2_000_000:2_000_010]
        assert file.size == len(RAW)
        assert file.tell() == 2_000_010
    assert fs.tail(path, 9) == RAW[-9:]
    with fsspec.open(f"bwz::file://{tmp_path}/x.bwz", "rb", compression="infer") as file:
        assert file.read(9) == RAW[:9]


def test_writing_is_by_compression(memory: fsspec.AbstractFileSystem) -> None:
    with fsspec.open("memory://new.bwz", "wb", compression="infer") as file:
        file.write(RAW[:1000])
    assert bwz.decompress(memory.cat_file("/new.bwz")) == RAW[:1000]
    with fsspec.open("memory://new.bwz", "rb", compression="bwz") as file:
        assert file.read() == RAW[:1000]
    with pytest.raises(NotImplementedError, match="compression"):
        fsspec.open("bwz::memory://new.bwz", "wb").open()
    with pytest.raises(ValueError, match="stands in front"):
        BwzFileSystem()


def test_a_range_reads_the_blocks_that_it_touches(tmp_path: Path) -> None:
    (tmp_path / "x.bwz").write_bytes(FILE)
    with bwz.Archive(tmp_path / "x.bwz") as archive:
        blocks = archive.blocks()
    assert len(blocks) == 6
    with serve(tmp_path) as url:
        fs, path = fsspec.url_to_fs(f"bwz::{url}/x.bwz")
        assert fs.size(path) == len(RAW)
        tables = RangeHandler.sent
        assert 0 < tables <= 3 * READ_AHEAD
        for first, last in [(0, 0), (2, 2), (3, 4)]:
            RangeHandler.sent = 0
            start, end = blocks[first].raw_start + 7, blocks[last].raw_end - 7
            assert fs.cat_file(path, start, end) == RAW[start:end]
            coded = blocks[last].coded_end - blocks[first].coded_start
            assert coded <= RangeHandler.sent <= coded + tables + 2 * READ_AHEAD
            assert RangeHandler.sent < len(FILE) * 3 // 4
