"""Whole blocks cut at the ends of records: each byte in one part, whatever the lines, blocks and parts are."""

from __future__ import annotations

import io

import bwz
import pytest
from bwz import partitions
from hypothesis import given, settings
from hypothesis import strategies as st

LINES = st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=60)


def read_all(file: bytes, size: int, delimiter: bytes = b"\n", trust_cuts: bool = True) -> list[bytes]:
    archive = bwz.Archive(io.BytesIO(file), threads=1)
    parts = partitions.take_apart(archive, None, "x", size, trust_cuts)
    return [partitions.read(archive, part, delimiter) for part in parts]


@given(
    frames=st.lists(st.tuples(LINES, st.booleans(), st.booleans()), max_size=3),
    block_size=st.integers(1, 200),
    size=st.integers(1, 500),
    trust_cuts=st.booleans(),
    index=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_each_byte_is_in_one_part(
    frames: list[tuple[list[bytes], bool, bool]], block_size: int, size: int, trust_cuts: bool, index: bool
) -> None:
    raw, file = b"", b""
    for lines, ended, split in frames:
        piece = b"\n".join(lines) + b"\n" * ended
        split_at = b"\n" if split else None
        raw += piece
        file += bwz.compress(piece, block_size=block_size, split_at=split_at, index=index, threads=1)
    found = read_all(file or bwz.compress(b""), size, trust_cuts=trust_cuts)
    assert b"".join(found) == raw
    assert all(part.endswith(b"\n") for part in list(filter(None, found))[:-1])


def test_parts_are_whole_blocks_up_to_a_size() -> None:
    raw = b"123456\n" * 100
    file = bwz.compress(raw, block_size=70, threads=1)
    assert [len(part) for part in read_all(file, 300, trust_cuts=False)] == [287, 280, 133]
    split = bwz.compress(raw, block_size=72, split_at=b"\n", threads=1)
    assert [len(part) for part in read_all(split, 300)] == [280, 280, 140]


def test_cut_blocks_are_read_alone() -> None:
    """Of a file that was split, a part decodes its own blocks; of another, one more."""
    raw = b"".join(b"line %d\n" % n for n in range(5000))
    for split_at in (b"\n", None):
        archive = bwz.Archive(io.BytesIO(bwz.compress(raw, block_size=10_001, split_at=split_at)), threads=1)
        reads = Counted(archive)
        parts = partitions.take_apart(reads, None, "x", 10_001, True)
        assert b"".join(partitions.read(reads, part, b"\n") for part in parts) == raw
        assert len(parts) == len(archive.blocks())
        assert reads.ranges == len(parts) + (0 if split_at else len(parts) - 1)


class Counted:
    """An archive that counts the ranges read."""

    def __init__(self, archive: bwz.Archive) -> None:
        self.archive = archive
        self.ranges = 0

    def __getattr__(self, name: str) -> object:
        self.ranges += name == "read_range"
        return getattr(self.archive, name)


def test_blocks_cut_elsewhere_are_refused_and_read_when_told() -> None:
    raw = b"a,b\nc,d\n" * 100
    file = bwz.compress(raw, block_size=71, split_at=b",")
    with pytest.raises(ValueError, match=r"cut, but not after b'\\n'.*trust_cuts=False"):
        read_all(file, 100)
    assert b"".join(read_all(file, 100, trust_cuts=False)) == raw
    assert b"".join(read_all(file, 100, delimiter=b",")) == raw
