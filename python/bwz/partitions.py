"""How a file is taken apart into whole blocks, and how each part is read so that no record is torn.

A record ends with a delimiter of one byte (a line with ``\\n``). Let a part of the file be its raw bytes from block boundary *a* to
block boundary *b*. Its reader gives out the bytes from ``f(a)`` to ``f(b)``, where ``f`` moves a boundary behind the
first delimiter that stands there or later. Since both readers beside a boundary move it alike, each byte is given out
once, whatever the parts are, and no reader knows of another.

To move a boundary, the reader before it decodes the next block. Blocks that were cut at the ends of records
(``--split-at``) save that: such a block is shorter than others of its frame, and ``f`` leaves the boundary behind it
where it is. The reader before it checks that a delimiter is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, pairwise, repeat
from typing import Any

from bwz import Archive, Block, Info

SHORT = 64 << 10
"""Raw bytes in which most records end, which an index gives without decoding a block."""


@dataclass(frozen=True)
class Part:
    """Whole blocks of a file, which are decoded together."""

    fs: Any = field(repr=False)
    """The filesystem that has the file."""
    path: str
    start: int
    """The first raw byte."""
    end: int
    """Behind the last raw byte."""
    begins: bool
    """A record begins at ``start``: it is the first byte of the file, or the block before it was cut there."""
    ends: bool
    """A record ends at ``end``: the file does, or the last block was cut there."""


def take_apart(archive: Archive, fs: Any, path: str, size: int, trust_cuts: bool) -> list[Part]:
    """Takes a file apart: as many whole blocks as fit ``size`` raw bytes, at least one, in each part."""
    info, blocks = archive.info, archive.blocks()
    whole = {0, info.raw_size} | (_cuts(info, blocks) if trust_cuts else set())
    return [Part(fs, path, a, b, a in whole, b in whole) for a, b in pairwise([0, *_ends(blocks, size)])]


def _ends(blocks: list[Block], size: int) -> Iterator[int]:
    """Where parts end."""
    start = end = 0
    for block in blocks:
        if end > start and block.raw_end - start > size:
            yield end
            start = end
        end = block.raw_end
    if end > start:
        yield end


def _cuts(info: Info, blocks: list[Block]) -> set[int]:
    """The ends of blocks that their writer has cut short; the last of a frame is short by itself."""
    sizes = chain.from_iterable(repeat(frame.block_size, frame.blocks) for frame in info.frames)
    last = {frame.raw_end for frame in info.frames}
    short = (b.raw_end for b, size in zip(blocks, sizes, strict=True) if b.raw_end - b.raw_start < size)
    return set(short) - last


def read(archive: Archive, part: Part, delimiter: bytes) -> bytes:
    """The records that begin in a part, but for one at its very start where the reader before takes it.

    Raises ValueError where a block that was cut short does not end with the delimiter.
    """
    raw = archive.read_range(part.start, part.end)
    if part.ends and not raw.endswith(delimiter) and part.end < archive.info.raw_size:
        raise ValueError(
            f"{part.path}: the block before raw byte {part.end} was cut, but not behind {delimiter!r}: "
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
    """How far to read behind ``start``: block by block, after a short way where an index makes that cheap."""
    indexed = archive.info.indexed
    for block in archive.blocks():
        if block.raw_end > start:
            if indexed and block.raw_end - block.raw_start > SHORT:
                yield block.raw_start + SHORT
            yield block.raw_end
