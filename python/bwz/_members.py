"""The members of tar archives."""

from __future__ import annotations

import bisect
import io
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ._archive import Archive


class Member(NamedTuple):
    """A file, a directory or a link in a tar archive.

    >>> import bwz, io, tarfile
    >>> raw = io.BytesIO()
    >>> with tarfile.open(fileobj=raw, mode="w") as tar:
    ...     info = tarfile.TarInfo("greeting.txt")
    ...     info.size = 5
    ...     tar.addfile(info, io.BytesIO(b"hello"))
    >>> archive = bwz.Archive(io.BytesIO(bwz.compress(raw.getvalue())))
    >>> [(member.name, member.size) for member in archive.members()]
    [('greeting.txt', 5)]
    >>> archive.open_member("greeting.txt").read()
    b'hello'
    """

    name: str
    link: str
    """The target of a link, or ``major,minor`` of a device."""
    user: str
    group: str
    kind: str
    """``file``, ``directory``, ``symbolic link``, ``hard link``, ``sparse file`` and so on."""
    size: int
    mode: int
    modified: int
    """Time of its last change, in seconds since 1970."""
    offset: int
    """Where its first header begins in the raw stream."""
    data_start: int
    """Start of the raw bytes that the archive stores for it."""
    data_end: int


class MemberFile(io.RawIOBase):
    """The content of a member without holes. Keeps one decoded block."""

    def __init__(self, archive: Archive, start: int, end: int) -> None:
        self._archive = archive
        self._start = start
        self._end = end
        self._at = start
        blocks = archive.blocks()
        self._starts = [block.raw_start for block in blocks]
        self._ends = [block.raw_end for block in blocks]
        self._kept = range(0)
        self._bytes = b""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at - self._start

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if self.closed:
            raise ValueError("I/O operation on closed file")
        bases = {io.SEEK_SET: self._start, io.SEEK_CUR: self._at, io.SEEK_END: self._end}
        if whence not in bases:
            raise ValueError(f"invalid whence: {whence}")
        base = bases[whence]
        if base + offset < self._start:
            raise ValueError(f"seek to {base + offset - self._start}, before the begin")
        self._at = base + offset
        return self.tell()

    def readinto(self, buffer: Any) -> int:
        if self.closed:
            raise ValueError("I/O operation on closed file")
        if self._at >= self._end:
            return 0
        if self._at not in self._kept:
            block = bisect.bisect_right(self._starts, self._at) - 1
            start = max(self._starts[block], self._start)
            end = min(self._ends[block], self._end)
            self._bytes = self._archive.read_range(start, end)
            self._kept = range(start, end)
        view = memoryview(buffer).cast("B")
        start = self._at - self._kept.start
        part = self._bytes[start : start + len(view)]
        view[: len(part)] = part
        self._at += len(part)
        return len(part)
