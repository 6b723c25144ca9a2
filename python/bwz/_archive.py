"""A file by position: what is in it, ranges of its bytes, and search."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self

from . import _bwz
from ._process import belongs_to_another, left_behind, uninitialized

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from ._types import PathOrFile, Pattern, Patterns


class Frame(NamedTuple):
    """A frame of a file. Ranges are bytes, their ends excluded."""

    raw_start: int
    raw_end: int
    coded_start: int
    coded_end: int
    blocks: int
    """How many blocks it has."""
    block_size: int
    """The most raw bytes of a block."""
    checksum: int
    """CRC-32 of its raw bytes."""
    indexed: bool
    sample_rate: int | None
    """The distance of the positions that its index keeps; ``None`` where it only counts."""
    index_of_sequences: bool
    """Whether its index is one of sequences; else it is one of bytes, or there is none."""


class Block(NamedTuple):
    """A block of a file: where it stands raw, and in the file. Ranges are bytes."""

    raw_start: int
    raw_end: int
    coded_start: int
    coded_end: int


class IndexedBlocks(NamedTuple):
    """How many blocks are indexed by what."""

    sequences: int
    bytes: int
    stored: int
    """Stored as they are: they have no index and need none."""
    none: int


class Info(NamedTuple):
    """What is in a file."""

    raw_size: int
    """Bytes that it decompresses to."""
    coded_size: int
    """Bytes of the file, without padding behind its last frame."""
    blocks: int
    frames: list[Frame]
    indexed: bool
    """Whether all frames that have blocks are indexed."""
    has_sequences: bool
    """Whether it is searched by sequence: across line ends and in either case."""


class Matches(NamedTuple):
    """Where a pattern occurs."""

    count: int  # type: ignore[assignment]
    """How often, overlaps included."""
    positions: list[int]
    """Raw offsets, ascending; all, or the first ones, as many as were asked for."""


class Record(NamedTuple):
    """A record of FASTA or FASTQ; the numbers are those of a ``.fai`` file."""

    name: str
    """The header line up to the first blank; a byte that is no UTF-8 is a surrogate."""
    length: int
    """Bases, or amino acids."""
    offset: int
    """Raw offset of the first one."""
    line_bases: int
    line_width: int
    """Bytes of a line, its end included."""
    quality_offset: int | None
    """Raw offset of the first quality of a FASTQ record."""
    is_regular: bool
    """Whether the numbers tell where each base is."""


class Region(NamedTuple):
    """Which base of which record stands somewhere, both from 0."""

    record: int
    base: int


class Cost(NamedTuple):
    """What was read and decoded."""

    coded_bytes: int
    """Bytes read from the file."""
    slices: int
    """Slices decoded for single steps of a search."""
    blocks: int
    """Blocks decoded as a whole."""


class Archive:
    """A bwz file that is read by position and searched.

    Opening it reads its tables: a few reads at the end of each frame. A file object that is given
    must seek, and is not closed. Calls from several threads wait for each other. After a fork, an
    archive of a path goes on in both processes, each by itself.

    >>> file = io.BytesIO(_bwz.compress(b"she sells sea shells " * 1000, index=True))
    >>> archive = Archive(file)
    >>> archive.info.raw_size
    21000
    >>> archive.read_range(10, 13)
    b'sea'
    >>> archive.count(["sells", "shore"])
    [1000, 0]
    >>> archive.locate(["sea"], limit=1)[0].count
    1000
    """

    # Until `__init__` has run.
    _archive: _bwz.Archive | None = None
    _closed = False

    def __init__(
        self,
        file: PathOrFile,
        *,
        threads: int | None = None,
        memory: int | None = None,
        device: str | None = None,
        limit_output: int | None = None,
        match_case: bool | None = None,
        letters: str | None = None,
        mismatches: int | None = None,
        verify: bool | None = None,
    ) -> None:
        """Opens ``file``.

        Args:
            file: A path, or a file object that seeks.
            threads: As of :func:`bwz.compress`, like ``memory`` and ``device``.
            limit_output: Bytes that may come out of one call at most.
            match_case: In sequences, tell small letters from capital ones.
            letters: In sequences, "nucleotides" has T and U be one letter, "iupac" has R, Y and so
                on stand for their bases too, "exact" has each letter stand for itself.
            mismatches: Find what differs from a pattern in up to so many bytes, 0 or 1.
            verify: Check every block that is looked into as a whole.
        """
        self._own: io.FileIO | None = None
        below: Any = file
        if isinstance(file, (str, bytes, os.PathLike)):
            self._own = io.FileIO(file, "r")
            below = self._own.fileno()
        elif not hasattr(file, "read"):
            raise TypeError(f"a path or a file object is needed, not {type(file).__name__}")

        def archive() -> _bwz.Archive:
            return _bwz.Archive(
                below,
                threads=threads,
                memory=memory,
                device=device,
                limit_output=limit_output,
                match_case=match_case,
                letters=letters,
                mismatches=mismatches,
                verify=verify,
            )

        self._make = archive
        self._process = os.getpid()
        try:
            self._archive = archive()
        except BaseException:
            if self._own:
                self._own.close()
            raise
        self._closed = False

    def close(self) -> None:
        """Lets go of the file. Closing it twice is no error."""
        if not self._closed and self._archive is not None:
            self._closed = True
            if self._process == os.getpid():
                self._archive.release()
            else:
                left_behind.append(self._archive)
            if self._own:
                self._own.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("an Archive is not copied or pickled: open its path where it is needed")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _open(self) -> _bwz.Archive:
        if self._archive is None:
            raise uninitialized(self)
        if self._closed:
            raise ValueError("I/O operation on closed archive")
        if self._process != os.getpid():
            if self._own is None:
                raise belongs_to_another("an archive in a file object")
            left_behind.append(self._archive)
            self._archive, self._process = self._make(), os.getpid()
        return self._archive

    @property
    def info(self) -> Info:
        """What is in the file."""
        frames = [Frame(*frame) for frame in self._open().frames()]
        return Info(
            raw_size=frames[-1].raw_end,
            coded_size=frames[-1].coded_end,
            blocks=sum(frame.blocks for frame in frames),
            frames=frames,
            indexed=all(frame.indexed for frame in frames if frame.blocks),
            has_sequences=self._open().has_sequences(),
        )

    @property
    def cost(self) -> Cost:
        """What the searches and ranges of this archive took so far."""
        return Cost(*self._open().cost())

    def indexed_blocks(self) -> IndexedBlocks:
        """How many blocks are indexed by what; reads the header of each."""
        return IndexedBlocks(*self._open().indexed_blocks())

    def blocks(self) -> list[Block]:
        """The blocks of all frames, in order."""
        return [Block(*block) for block in self._open().blocks()]

    def read_range(self, start: int, end: int) -> bytes:
        """The raw bytes from ``start`` to before ``end``.

        A short range of an indexed file takes the slices that it is in; any other the blocks.

        Raises:
            UsageError: The range is not within the file.
        """
        return self._open().read_range(start, end)

    def extract(self, ranges: Iterable[tuple[int, int]]) -> list[bytes]:
        """The raw bytes of ranges, each a start and an end; each block is decoded once."""
        return self._open().extract(list(ranges))

    def count(self, patterns: Patterns) -> list[int]:
        """How often each pattern occurs, overlaps included.

        By the index where there is one; else all blocks are decoded. The empty pattern occurs at
        every byte and at the end.
        """
        return self._open().count(patterns)

    def locate(self, patterns: Patterns, limit: int | None = None) -> list[Matches]:
        """Where each pattern occurs: all raw offsets of each, and how many there are.

        The places are a list of Python: about 40 bytes of memory each, for all patterns of a call.
        :meth:`count` says how many there are first.

        Args:
            patterns: What to look for.
            limit: The number of places to give of each pattern, the first ones by position; all
                if it is ``None``.
        """
        return [Matches(*found) for found in self._open().locate(patterns, limit)]

    def records(self) -> list[Record]:
        """The records of all frames of FASTA or FASTQ that are indexed by sequence, in order."""
        return [
            Record(bytes(name).decode("utf-8", "surrogateescape"), *numbers)
            for name, *numbers in self._open().records()
        ]

    def region(self, record: Pattern, start: int, end: int) -> bytes:
        """Bases of the first record of a name, from 0 and before ``end``, as they stand there.

        Raises:
            UsageError: There is no such record.
        """
        return self._open().region(record, start, end)

    def places(self, offsets: Iterable[int]) -> list[Region | None]:
        """Which base of which record stands at each raw offset, if any does."""
        found = self._open().places(list(offsets))
        return [place if place is None else Region(*place) for place in found]
