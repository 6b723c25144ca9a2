"""fsspec: the content of compressed files on any filesystem.

Importing this module gives fsspec the filesystem ``bwz``, which wraps another filesystem, and the compression
``bwz``. (The wheel's entry point imports it when ``bwz::`` is first used.)

>>> import fsspec, bwz, bwz.fsspec
>>> with fsspec.open("memory://sea.txt.bwz", "wb", compression="bwz") as file:
...     _ = file.write(b"she sells sea shells")
>>> fs, path = fsspec.url_to_fs("bwz::memory://sea.txt.bwz")
>>> fs.size(path), fs.cat_file(path, start=4, end=9)
(20, b'sells')

A compressed file is recognised by its name, which ends in ``.bwz``; other files are passed through. For a range, only
the blocks that it touches are read: about their compressed size, and 64 KiB for the tables at the end of the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import bwz
from fsspec import AbstractFileSystem, filesystem, register_implementation
from fsspec.compression import register_compression
from fsspec.implementations.chained import ChainedFileSystem

SUFFIX = ".bwz"

OPENED_AT_A_TIME = 32
"""Number of files whose tables are read in parallel. Most of that time is waiting."""

READ_AHEAD = 64 << 10
"""Minimum number of bytes fetched from a remote file: the tables of a file are a few small reads."""


def open_ranged(fs: AbstractFileSystem, path: str) -> Any:
    """Opens ``path`` for reading of single ranges: little more than the requested bytes is fetched."""
    return fs.open(path, "rb", cache_type="readahead", block_size=READ_AHEAD)


@contextmanager
def open_archive(fs: AbstractFileSystem, path: str, **options: Any) -> Iterator[bwz.Archive]:
    """The archive in the file ``path`` of ``fs``; ``options`` are those of :class:`bwz.Archive`."""
    with open_ranged(fs, path) as file, bwz.Archive(file, **options) as archive:
        yield archive


class _File(bwz.BwzFile):
    """A file of a filesystem. It is opened again when it is passed to another process."""

    def __init__(self, fs: AbstractFileSystem, path: str, threads: int, position: int = 0) -> None:
        self.fs = fs
        self.path = path
        self._threads = threads
        self._below = open_ranged(fs, path)
        super().__init__(self._below, threads=threads)
        self.seek(position)

    def __reduce__(self) -> Any:
        return _File, (self.fs, self.path, self._threads, self.tell())

    @property
    def size(self) -> int:
        """Raw bytes of the file."""
        here = self.tell()
        try:
            return self.seek(0, 2)
        finally:
            self.seek(here)

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._below.close()


def is_compressed(path: str) -> bool:
    """True if a file is one of bwz by its name. A URL may have a query after it."""
    return path.endswith(SUFFIX) or "://" in path and urlsplit(path).path.endswith(SUFFIX)


class BwzFileSystem(ChainedFileSystem):
    """The files of another filesystem. Files called ``.bwz`` have the size and the bytes of their content.

    It is read-only. To write, open the other filesystem's file with ``compression="bwz"``.

    Parameters
    ----------
    target_protocol, target_options:
        The other filesystem, as in ``fsspec.filesystem(target_protocol, **target_options)``.
    fs:
        That filesystem itself, in place of those two.
    threads:
        Threads that decode; 0 is one per core.
    """

    protocol = "bwz"
    root_marker = ""

    def __init__(
        self,
        target_protocol: str | None = None,
        target_options: dict[str, Any] | None = None,
        fs: AbstractFileSystem | None = None,
        threads: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if fs is None and target_protocol is None:
            raise ValueError("bwz stands in front of another filesystem: bwz::s3://bucket/name.bwz, bwz::file:///name.bwz")
        self.fs = filesystem(target_protocol, **(target_options or {})) if fs is None else fs
        self.threads = threads

    def _archive(self, path: str) -> Any:
        return open_archive(self.fs, path, threads=self.threads)

    def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        """As in the other filesystem. ``size`` is the raw size in bytes, ``compressed_size`` the size of the file."""
        return self._raw_info(self.fs.info(self._strip_protocol(path), **kwargs))

    def _raw_info(self, info: dict[str, Any]) -> dict[str, Any]:
        if info["type"] != "file" or not is_compressed(info["name"]):
            return info
        with self._archive(info["name"]) as archive:
            return {**info, "size": archive.info.raw_size, "compressed_size": info["size"]}

    def _raw_entry(self, info: dict[str, Any]) -> dict[str, Any]:
        try:
            return self._raw_info(info)
        except bwz.BwzError:
            return {**info, "size": None, "compressed_size": info["size"]}

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> list[Any]:
        """As in the other filesystem. With ``detail`` each compressed file is opened for its raw size, many in
        parallel. A file that is damaged, cut off or still being written has the size ``None``."""
        entries = self.fs.ls(self._strip_protocol(path), detail=detail, **kwargs)
        if not detail:
            return entries
        with ThreadPoolExecutor(OPENED_AT_A_TIME) as pool:
            return list(pool.map(self._raw_entry, entries))

    def find(
        self, path: str, maxdepth: int | None = None, withdirs: bool = False, detail: bool = False, **kwargs: Any
    ) -> Any:
        """As in the other filesystem. Without ``detail`` no file is opened."""
        if detail:
            return super().find(path, maxdepth, withdirs, detail=True, **kwargs)
        return self.fs.find(self._strip_protocol(path), maxdepth, withdirs, **kwargs)

    def glob(self, path: str, maxdepth: int | None = None, **kwargs: Any) -> Any:
        """As in the other filesystem. Without ``detail`` no file is opened."""
        if kwargs.get("detail"):
            return super().glob(path, maxdepth, **kwargs)
        return self.fs.glob(self._strip_protocol(path), maxdepth, **kwargs)

    def exists(self, path: str, **kwargs: Any) -> bool:
        return bool(self.fs.exists(self._strip_protocol(path), **kwargs))

    def isfile(self, path: str) -> bool:
        return bool(self.fs.isfile(self._strip_protocol(path)))

    def isdir(self, path: str) -> bool:
        return bool(self.fs.isdir(self._strip_protocol(path)))

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any) -> bytes:
        """The raw bytes from ``start`` to ``end``; negative ones count from the end of the file."""
        path = self._strip_protocol(path)
        if not is_compressed(path):
            return self.fs.cat_file(path, start=start, end=end, **kwargs)
        with self._archive(path) as archive:
            begin, behind, _ = slice(start, end).indices(archive.info.raw_size)
            return archive.read_range(begin, max(begin, behind))

    def _open(self, path: str, mode: str = "rb", **kwargs: Any) -> Any:
        if mode != "rb":
            raise NotImplementedError(f'bwz:: is for reading, not for "{mode}"; write with compression="bwz"')
        if not is_compressed(path):
            return self.fs.open(path, mode)
        return _File(self.fs, path, self.threads)

    def created(self, path: str) -> Any:
        return self.fs.created(path)

    def modified(self, path: str) -> Any:
        return self.fs.modified(path)


def _compression(file: Any, mode: str = "rb", **kwargs: Any) -> Any:
    # fsspec takes a file of `bwz::` for a compressed one, by its name.
    if isinstance(file, _File):
        return file
    return bwz.open(file, mode if "b" in mode else mode + "b", **kwargs)


register_implementation("bwz", BwzFileSystem, clobber=True)
register_compression("bwz", _compression, "bwz", force=True)
