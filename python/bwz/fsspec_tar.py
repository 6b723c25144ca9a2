"""fsspec: the members of compressed tar archives on any filesystem.

Importing this module gives fsspec the filesystem ``bwztar``, which stands in front of one file. (The wheel's entry
point imports it when ``bwztar://`` is first used.)

>>> import fsspec, bwz, bwz.fsspec_tar, io, tarfile
>>> raw = io.BytesIO()
>>> with tarfile.open(fileobj=raw, mode="w") as tar:
...     info = tarfile.TarInfo("sea/shells.txt")
...     info.size = 20
...     tar.addfile(info, io.BytesIO(b"she sells sea shells"))
>>> fsspec.filesystem("memory").pipe("/sea.tar.bwz", bwz.compress(raw.getvalue()))
>>> with fsspec.open("bwztar://sea/shells.txt::memory://sea.tar.bwz") as file:
...     file.read(9)
b'she sells'
>>> fs, _ = fsspec.url_to_fs("bwztar://::memory://sea.tar.bwz")
>>> fs.find(""), fs.cat_file("sea/shells.txt", start=-6)
(['sea/shells.txt'], b'shells')

The table of members at the end of the file tells the names, so that no block is read for them. Without a table, their
headers are looked for in the blocks. To read a member, the blocks that hold it are read and decoded. The last block
that was read in part is kept for the member that follows.
"""

from __future__ import annotations

import bisect
import io
import posixpath
import tarfile
import threading
from typing import Any

import bwz
from bwz.fsspec import open_ranged
from fsspec import AbstractFileSystem, register_implementation
from fsspec.archive import AbstractArchiveFileSystem
from fsspec.core import url_to_fs

_FILES = ("file", "sparse file")
_TYPES = {"directory": "directory", "symbolic link": "link", "hard link": "link"}

# Maximum size of a block that is kept, in bytes: that of level 9.
_MOST_KEPT = 256 << 20

# Number of symbolic links that may follow each other.
_LINKS = 40


class _Raw:
    """The raw stream, read by position from several threads.

    It keeps the last block that was read in part.
    """

    def __init__(self, fs: AbstractFileSystem, path: str, threads: int) -> None:
        self._lock = threading.Lock()
        self._below = open_ranged(fs, path)
        try:
            self.archive = bwz.Archive(self._below, threads=threads)
        except BaseException:
            self._below.close()
            raise
        self._ends = [block.raw_end for block in self.archive.blocks()]
        self._kept = range(0)
        self._bytes = b""

    def read(self, start: int, end: int) -> bytes:
        """The bytes from ``start`` to ``end``, fewer only at the end of the stream."""
        end = min(end, self._ends[-1])
        parts = []
        with self._lock:
            while start < end:
                parts.append(self._part(start, end))
                start += len(parts[-1])
        return b"".join(parts)

    def _part(self, start: int, end: int) -> bytes:
        """The bytes from ``start`` on that one call of the archive gives."""
        if start not in self._kept:
            number = bisect.bisect_right(self._ends, start)
            block = range(self._ends[number - 1] if number else 0, self._ends[number])
            whole = bisect.bisect_right(self._ends, end)
            if start == block.start and whole > number:
                # Several blocks are decoded side by side.
                return self.archive.read_range(start, self._ends[whole - 1])
            if len(block) > _MOST_KEPT:
                return self.archive.read_range(start, min(end, block.stop))
            self._kept, self._bytes = range(0), b""
            self._bytes, self._kept = self.archive.read_range(block.start, block.stop), block
        first = self._kept.start
        return self._bytes[start - first : end - first]

    def close(self) -> None:
        self.archive.close()
        self._below.close()

    def __del__(self) -> None:
        if hasattr(self, "archive"):
            self.close()


class _Window(io.RawIOBase):
    """The headers and the content of one member, as a tar archive."""

    def __init__(self, raw: _Raw, start: int, end: int) -> None:
        self._raw = raw
        self._start = start
        self._end = end
        self._at = start

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at - self._start

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: self._start, io.SEEK_CUR: self._at, io.SEEK_END: self._end}[whence]
        self._at = max(self._start, base + offset)
        return self.tell()

    def read(self, size: int = -1, /) -> bytes:
        left = max(0, self._end - self._at)
        part = self._raw.read(self._at, self._at + (left if size < 0 else min(size, left)))
        self._at += len(part)
        return part


class BwzTarFileSystem(AbstractArchiveFileSystem):
    """The members of a compressed tar archive: ``bwztar://dir/file::s3://bucket/x.tar.bwz``.

    It is read-only. Of several members with a name the last one counts. A link to a file of the archive is that file; any
    other link has the type ``link``, and devices have the type ``other``. ``./`` before a name makes no difference.

    Parameters
    ----------
    fo:
        The compressed file: its URL, or its path in the other filesystem.
    target_protocol, target_options:
        The other filesystem, as in ``fsspec.filesystem(target_protocol, **target_options)``.
    threads:
        Threads that decode; 0 is one per core.
    """

    protocol = "bwztar"
    root_marker = ""
    cachable = False

    def __init__(
        self,
        fo: str = "",
        target_protocol: str | None = None,
        target_options: dict[str, Any] | None = None,
        threads: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not fo:
            raise ValueError("bwztar stands in front of a file: bwztar://dir/file::s3://bucket/x.tar.bwz")
        options = {} if target_protocol is None else {"protocol": target_protocol}
        fs, path = url_to_fs(fo, **options, **(target_options or {}))
        self.fo = fo
        self._raw = _Raw(fs, path, threads)
        self._members, self._files = _by_name(self._raw.archive.members())
        self.dir_cache: dict[str, dict[str, Any]] = {
            name: {"name": name, "size": 0, "type": "directory"} for name in self._all_dirnames(self._members)
        }
        self.dir_cache.update((name, self._entry(name)) for name in self._members)
        self._children: dict[str, list[dict[str, Any]]] = {}
        for name, entry in sorted(self.dir_cache.items()):
            self._children.setdefault(self._parent(name), []).append(entry)

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        stripped = super()._strip_protocol(path)
        return list(map(_bare, stripped)) if isinstance(stripped, list) else _bare(stripped)

    def _entry(self, name: str) -> dict[str, Any]:
        member = self._members[name]
        file = self._files.get(name)
        entry = {
            "name": name,
            "size": file.size if file else 0,
            "type": "file" if file else _TYPES.get(member.kind, "other"),
            "mode": member.mode,
            "mtime": member.modified,
        }
        return {**entry, "link": member.link} if "link" in member.kind else entry

    def _get_dirs(self) -> None:
        """The entries are known from the start."""

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> list[Any]:
        """The entries of a directory, or the file itself."""
        info = self.info(path)
        entries = [info]
        if info["type"] == "directory":
            entries = self._children.get(info["name"], [])
        return list(entries) if detail else [entry["name"] for entry in entries]

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any) -> bytes:
        """The bytes of a member from ``start`` to ``end``; negative ones count from its end."""
        with self.open(path) as file:
            begin, behind, _ = slice(start, end).indices(file.size)
            file.seek(begin)
            return file.read(max(0, behind - begin))

    def _open(self, path: str, mode: str = "rb", **kwargs: Any) -> Any:
        if mode != "rb":
            raise NotImplementedError(f'bwztar:// is for reading, not for "{mode}"')
        kind = self.info(path)["type"]
        if kind != "file":
            raise IsADirectoryError(path) if kind == "directory" else ValueError(f"{path} is no file of the archive")
        member = self._files[self._strip_protocol(path)]
        window = _Window(self._raw, member.offset, member.data_end)
        tar = tarfile.open(fileobj=window, mode="r:", encoding="utf-8", errors="surrogateescape")
        header = tar.next()
        if header is None or header.name != member.name.rstrip("/") or header.size != member.size:
            raise bwz.FormatError(f"the header of {path} does not say the same as the table of members")
        file: Any = tar.extractfile(header)
        file.size = header.size
        return file

    def close(self) -> None:
        """Closes the compressed file. Open files of the archive cannot be read any more."""
        self._raw.close()


def _by_name(members: list[bwz.Member]) -> tuple[dict[str, bwz.Member], dict[str, bwz.Member]]:
    """The last member of each name, and the members that hold the files, by name."""
    last: dict[str, bwz.Member] = {}
    files: dict[str, bwz.Member] = {}
    for member in members:
        name = _bare(member.name)
        # A hard link is the file that had the name at that time.
        file = files.get(_bare(member.link)) if member.kind == "hard link" else member
        last[name] = member
        files.pop(name, None)
        if file and file.kind in _FILES:
            files[name] = file
    last.pop("", None)
    for name, member in last.items():
        target = name
        for _ in range(_LINKS):
            if target not in last or last[target].kind != "symbolic link":
                break
            target = _bare(posixpath.normpath(posixpath.join(posixpath.dirname(target), last[target].link)))
        if member.kind == "symbolic link" and target in files:
            files[name] = files[target]
    return last, files


def _bare(name: str) -> str:
    """A name without ``./`` or ``/`` before it and ``/`` behind it."""
    name = name.strip("/")
    while name.startswith("./"):
        name = name[2:].lstrip("/")
    return "" if name == "." else name


register_implementation("bwztar", BwzTarFileSystem, clobber=True)
