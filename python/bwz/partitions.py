"""Splits a file into parts of whole blocks, and reads each part so that no record is split.

A record ends with a delimiter of one byte (a line with ``\\n``). A part of the file is its raw bytes from block
boundary *a* to block boundary *b*. Its reader returns the bytes from ``f(a)`` to ``f(b)``; ``f`` moves a boundary behind the
first delimiter at or after it. Both readers next to a boundary move it in the same way, so each byte is returned once,
whatever the parts are, and the readers need not know of each other.

To move a boundary, the reader before it decodes the next block. Blocks that were cut at the ends of records
(``--split-at``) make this unnecessary: such a block is shorter than the others of its frame, and ``f`` does not move
the boundary after it. The reader before the boundary checks that there is a delimiter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, pairwise, repeat
from typing import Any

from bwz import Archive, Block, Info

SHORT = 64 << 10
"""Number of raw bytes within which most records end. An index gives them without decoding a block."""


@dataclass(frozen=True)
class Part:
    """Consecutive whole blocks of a file, which are decoded together."""

    fs: Any = field(repr=False)
    """The filesystem that has the file."""
    path: str
    start: int
    """The first raw byte."""
    end: int
    """The position after the last raw byte."""
    begins: bool
    """True if a record begins at ``start``: at the start of the file, or after a block that was cut there."""
    ends: bool
    """True if a record ends at ``end``: at the end of the file, or because the last block was cut there."""


def take_apart(archive: Archive, fs: Any, path: str, size: int, trust_cuts: bool) -> list[Part]:
    """Splits a file. Each part has as many whole blocks as fit ``size`` raw bytes, and at least one."""
    info, blocks = archive.info, archive.blocks()
    whole = {0, info.raw_size} | (_cuts(info, blocks) if trust_cuts else set())
    return [Part(fs, path, a, b, a in whole, b in whole) for a, b in pairwise([0, *_ends(blocks, size)])]


def _ends(blocks: list[Block], size: int) -> Iterator[int]:
    """The ends of the parts."""
    start = end = 0
    for block in blocks:
        if end > start and block.raw_end - start > size:
            yield end
            start = end
        end = block.raw_end
    if end > start:
        yield end


def _cuts(info: Info, blocks: list[Block]) -> set[int]:
    """The ends of blocks that their writer cut short. The last block of a frame is short anyway."""
    sizes = chain.from_iterable(repeat(frame.block_size, frame.blocks) for frame in info.frames)
    last = {frame.raw_end for frame in info.frames}
    short = (b.raw_end for b, size in zip(blocks, sizes, strict=True) if b.raw_end - b.raw_start < size)
    return set(short) - last


def read(archive: Archive, part: Part, delimiter: bytes) -> bytes:
    """The records that begin in a part, except one at its start that the reader before takes.

    Raises ValueError if a block that was cut short does not end with the delimiter.
    """
    raw = archive.read_range(part.start, part.end)
    if part.ends and not raw.endswith(delimiter) and part.end < archive.info.raw_size:
        raise ValueError(
            f"{part.path}: the block before raw byte {part.end} was cut, but not after {delimiter!r}: "
            "name the delimiter that it was split at, or use trust_cuts=False"
        )
    if not part.begins:
        at = raw.find(delimiter)
        if at < 0:
            return b""
        raw = raw[at + len(delimiter) :]
    return raw if part.ends else raw + _rest_of_record(archive, part.end, delimiter)


def _rest_of_record(archive: Archive, start: int, delimiter: bytes) -> bytes:
    """The raw bytes from ``start`` through the first delimiter, or to the end of the file."""
    found = b""
    for end in _reaches(archive, start):
        found += archive.read_range(start + len(found), end)
        at = found.find(delimiter)
        if at >= 0:
            return found[: at + len(delimiter)]
    return found


def _reaches(archive: Archive, start: int) -> Iterator[int]:
    """The ends of reads after ``start``: block by block, first a short read if an index makes that cheap."""
    indexed = archive.info.indexed
    for block in archive.blocks():
        if block.raw_end > start:
            if indexed and block.raw_end - block.raw_start > SHORT:
                yield block.raw_start + SHORT
            yield block.raw_end
