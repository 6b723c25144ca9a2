"""Dask: a cluster reads, searches and writes thousands of bwz files in place.

Each function takes URLs of fsspec (``s3://bucket/*.bwz``, paths, lists of them; a ``*`` is expanded in sorted order)
and returns a Dask collection with one task in each partition. A task refers only to its file and its part of it. So if
a worker is lost, its task can be repeated anywhere with the same result. The number of workers changes only the time.

>>> import bwz.dask
>>> lines = bwz.dask.read_text("logs/*.bwz", blocksize=128 << 20)              # doctest: +SKIP
>>> lines.map(len).sum().compute()                                             # doctest: +SKIP
>>> bwz.dask.count("logs/*.bwz", ["ERROR", "timeout"]).compute()               # doctest: +SKIP
[Counts(path='/data/logs/1.bwz', counts=[17, 4]), ...]
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from typing import Any, NamedTuple
from uuid import uuid4

import bwz
from bwz import partitions
from bwz.fsspec import OPENED_AT_A_TIME, SUFFIX, open_archive
from bwz.partitions import Part
from dask.bag import Bag
from dask.base import tokenize
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from fsspec import AbstractFileSystem
from fsspec.core import get_fs_token_paths
from fsspec.implementations.local import LocalFileSystem

Urls = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
Options = dict[str, Any] | None
"""The options of the filesystem of the URLs, as ``storage_options`` of fsspec."""


class Counts(NamedTuple):
    """The number of occurrences of each pattern in a file, in the order of the patterns."""

    path: str
    counts: list[int]


class Matches(NamedTuple):
    """The raw positions of each pattern in a file, in bytes and in ascending order."""

    path: str
    positions: list[list[int]]


def read_bytes(
    urls: Urls,
    blocksize: int = 128 << 20,
    *,
    delimiter: bytes = b"\n",
    trust_cuts: bool = True,
    storage_options: Options = None,
) -> list[Delayed]:
    """Bytes of whole records, one ``Delayed`` for each partition. Joined, they are the files' raw bytes.

    Parameters
    ----------
    urls:
        Files of bwz.
    blocksize:
        Maximum number of raw bytes in a partition: as many whole blocks as fit, and at least one. A worker takes twice
        this memory and six times the size of a block.
    delimiter:
        The byte that ends a record. A partition ends after it, and may be empty if a record is longer.
    trust_cuts:
        Assumes that a block shorter than the others of its frame was cut at the end of a record, as by ``--split-at``.
        Its reader checks that, and raises ValueError if it is wrong. Without this option, or if blocks are full, a
        reader also decodes the block after its last one, or 64 KiB of it if there is an index.
    """
    parts = _partitioned(urls, _bytes, blocksize, delimiter, trust_cuts, storage_options)
    return [Delayed(key, parts.dask, layer=parts.name) for key in parts.__dask_keys__()]


def bag(
    urls: Urls,
    blocksize: int = 128 << 20,
    *,
    delimiter: bytes = b"\n",
    trust_cuts: bool = True,
    storage_options: Options = None,
) -> Bag:
    """A bag of the records as bytes, delimiters included. The parameters are those of :func:`read_bytes`."""
    return _partitioned(urls, _records, blocksize, delimiter, trust_cuts, storage_options)


def read_text(
    urls: Urls,
    blocksize: int = 128 << 20,
    *,
    encoding: str = "utf-8",
    errors: str = "strict",
    delimiter: bytes = b"\n",
    trust_cuts: bool = True,
    storage_options: Options = None,
) -> Bag:
    """A bag of the records as text, delimiters included, like ``dask.bag.read_text``. The parameters are those of
    :func:`read_bytes`. In ``encoding`` that byte must stand for the delimiter alone, as in UTF-8."""
    lines = partial(_lines, encoding=encoding, errors=errors)
    return _partitioned(urls, lines, blocksize, delimiter, trust_cuts, storage_options)


def count(urls: Urls, patterns: Iterable[str | bytes], *, storage_options: Options = None) -> Bag:
    """A bag of :class:`Counts`, a partition for each file. A few MB of an indexed file are read; any other file is
    decoded by its worker, block by block."""
    return _searched(urls, _count, patterns, storage_options)


def locate(
    urls: Urls,
    patterns: Iterable[str | bytes],
    limit: int | None = None,
    *,
    storage_options: Options = None,
) -> Bag:
    """A bag of :class:`Matches`, a partition for each file, with at most ``limit`` positions of each pattern."""
    return _searched(urls, partial(_locate, limit=limit), patterns, storage_options)


def compress(
    urls: Urls,
    out: str | os.PathLike[str],
    *,
    storage_options: Options = None,
    out_options: Options = None,
    **options: Any,
) -> Bag:
    """A bag of the paths written: each file compressed into the directory ``out``, a partition for each.

    ``options`` are those of :func:`bwz.open` for writing (``level=9, index=True, split_at=b"\\n"``). A file is complete
    or absent: a file that fails is removed, and a file that is written again replaces the first. A worker that is
    killed may leave a ``.part`` in a local directory.
    """
    fs, paths = _files(urls, storage_options)
    out_fs, _, [folder] = get_fs_token_paths(os.fspath(out), mode="wb", storage_options=out_options, expand=False)
    targets = [f"{folder.rstrip('/')}/{path.rsplit('/', 1)[-1]}{SUFFIX}" for path in paths]
    if len(set(targets)) < len(targets):
        raise ValueError("two files have the same name, so that one would replace the other: use several directories")
    out_fs.makedirs(folder, exist_ok=True)
    write = partial(_compress, fs=fs, out_fs=out_fs, options={"threads": 1, **options})
    return _bag("compress", write, list(zip(paths, targets, strict=True)))


def _files(urls: Urls, storage_options: Options) -> tuple[Any, list[str]]:
    urls = os.fspath(urls) if isinstance(urls, (str, os.PathLike)) else [os.fspath(url) for url in urls]
    fs, _, paths = get_fs_token_paths(urls, storage_options=storage_options)
    if not paths:
        raise FileNotFoundError(f"no file is called {urls!r}")
    return fs, paths


def _bag(name: str, function: Callable[[Any], Any], items: list[Any]) -> Bag:
    """A bag with one task in each partition: ``function`` of each item."""
    name = f"bwz-{name}-{tokenize(function, items)}"
    tasks: dict[Any, Any] = {(name, n): (partial(function, item),) for n, item in enumerate(items)}
    return Bag(HighLevelGraph.from_collections(name, tasks), name, len(items))


def _partitioned(
    urls: Urls,
    give: Callable[[bytes, bytes], Any],
    blocksize: int,
    delimiter: bytes,
    trust_cuts: bool,
    storage_options: Options,
) -> Bag:
    if len(delimiter) != 1:
        raise ValueError(f"a record ends with one byte, not {delimiter!r}")
    fs, paths = _files(urls, storage_options)
    with ThreadPoolExecutor(OPENED_AT_A_TIME) as pool:
        parts = pool.map(partial(_parts, fs=fs, size=blocksize, trust_cuts=trust_cuts), paths)
        return _bag("read", partial(_read, delimiter=delimiter, give=give), list(chain.from_iterable(parts)))


def _parts(path: str, fs: AbstractFileSystem, size: int, trust_cuts: bool) -> list[Part]:
    with open_archive(fs, path) as archive:
        return partitions.take_apart(archive, fs, path, size, trust_cuts)


def _read(part: Part, delimiter: bytes, give: Callable[[bytes, bytes], Any]) -> Any:
    with open_archive(part.fs, part.path, threads=1) as archive:
        return give(partitions.read(archive, part, delimiter), delimiter)


def _bytes(raw: bytes, delimiter: bytes) -> bytes:
    return raw


def _records(raw: bytes, delimiter: bytes) -> list[bytes]:
    return _with_ends(raw.split(delimiter), delimiter)


def _lines(raw: bytes, delimiter: bytes, encoding: str, errors: str) -> list[str]:
    end = delimiter.decode("ascii")
    return _with_ends(raw.decode(encoding, errors).split(end), end)


def _with_ends(pieces: list[Any], end: Any) -> list[Any]:
    """The pieces of a split with the removed ends restored. An empty last piece is left out."""
    last = pieces.pop()
    records = [piece + end for piece in pieces]
    return [*records, last] if last else records


def _searched(
    urls: Urls, search: Callable[..., Any], patterns: Iterable[str | bytes], storage_options: Options
) -> Bag:
    fs, paths = _files(urls, storage_options)
    wanted = [pattern.encode() if isinstance(pattern, str) else bytes(pattern) for pattern in patterns]
    return _bag("search", partial(search, fs=fs, patterns=wanted), paths)


def _count(path: str, fs: AbstractFileSystem, patterns: list[bytes]) -> list[Counts]:
    with open_archive(fs, path, threads=1) as archive:
        return [Counts(path, archive.count(patterns))]


def _locate(path: str, fs: AbstractFileSystem, patterns: list[bytes], limit: int | None) -> list[Matches]:
    with open_archive(fs, path, threads=1) as archive:
        found = archive.locate(patterns, sys.maxsize if limit is None else limit)
        return [Matches(path, [matches.positions for matches in found])]


def _compress(
    names: tuple[str, str], fs: AbstractFileSystem, out_fs: AbstractFileSystem, options: dict[str, Any]
) -> list[str]:
    path, target = names
    # An object store shows a file when it is complete; a directory shows it from the first byte on.
    shows_parts = isinstance(out_fs, LocalFileSystem)
    name = f"{target}.{uuid4().hex}.part" if shows_parts else target
    try:
        with fs.open(path, "rb") as raw, out_fs.open(name, "wb") as file, bwz.open(file, "wb", **options) as coded:
            shutil.copyfileobj(raw, coded, 1 << 20)
        if shows_parts:
            os.replace(name, target)
    except BaseException:
        # Leaving `with` has ended the file as if it were complete.
        if out_fs.exists(name):
            out_fs.rm_file(name)
        raise
    return [target]
