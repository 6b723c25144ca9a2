"""A file read by position: its contents, ranges of its bytes, and search."""

from __future__ import annotations

import io
import os
from typing import IO, TYPE_CHECKING, Any, NamedTuple, NoReturn, Self

from . import _bwz
from ._members import Member, MemberFile
from ._process import belongs_to_another, left_behind, uninitialized

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from ._types import PathOrFile, Pattern, Patterns


class Frame(NamedTuple):
    """A frame of a file. Ranges are in bytes, ends not included."""

    raw_start: int
    raw_end: int
    coded_start: int
    coded_end: int
    blocks: int
    """Number of blocks."""
    block_size: int
    """Maximum number of raw bytes of a block."""
    checksum: int
    """CRC-32 of its raw bytes."""
    indexed: bool
    sample_rate: int | None
    """The distance of the positions that its index keeps, in the first block of the frame;
    ``None`` if it only counts."""
    index_of_sequences: bool
    """True if its index is of sequences. If false, it is of bytes, or there is none."""
    notes: list[tuple[str, str]]
    """What was said about it when it was made: keys and values."""
    private: int | None
    """Whoever made it, if it holds no data but private content; else ``None``."""


class Block(NamedTuple):
    """A block of a file: its range in the raw stream and in the file, in bytes."""

    raw_start: int
    raw_end: int
    coded_start: int
    coded_end: int


class IndexedBlocks(NamedTuple):
    """Numbers of blocks by the kind of their index."""

    sequences: int
    bytes: int
    stored: int
    """Blocks stored as they are: they have no index and need none."""
    none: int


class Info(NamedTuple):
    """The contents of a file."""

    raw_size: int
    """Number of bytes after decompression."""
    coded_size: int
    """Bytes of the file, without padding after its last frame."""
    blocks: int
    frames: list[Frame]
    indexed: bool
    """True if all frames that have blocks are indexed."""
    has_sequences: bool
    """True if it is searched by sequence: across line ends and in either case."""


class Matches(NamedTuple):
    """The occurrences of a pattern."""

    count: int  # type: ignore[assignment]
    """Number of occurrences, overlapping ones included."""
    positions: list[int]
    """Raw offsets, ascending: all, or as many of the first ones as requested."""


class Record(NamedTuple):
    """A record of FASTA or FASTQ; the numbers are those of a ``.fai`` file."""

    name: str
    """The header line up to the first blank. A byte that is not UTF-8 is a surrogate."""
    length: int
    """Number of bases or amino acids."""
    offset: int
    """Raw offset of the first base or amino acid."""
    line_bases: int
    line_width: int
    """Bytes of a line, including its end."""
    quality_offset: int | None
    """Raw offset of the first quality of a FASTQ record."""
    is_regular: bool
    """True if the numbers tell where each base is."""


class Region(NamedTuple):
    """A place in a record: the number of the record and the number of the base, from 0."""

    record: int
    base: int


class Cost(NamedTuple):
    """Amounts of data that were read and decoded."""

    coded_bytes: int
    """Bytes read from the file."""
    slices: int
    """Slices decoded for single steps of a search."""
    blocks: int
    """Blocks decoded as a whole."""


class Archive:
    """A bwz file that is read by position and searched.

    Opening it reads its tables, with a few reads at the end of each frame. A given file object must
    be seekable, and is not closed. Calls from several threads wait for each other. After a fork, an
    archive of a path can be used in both processes independently.

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
        ignore_case: bool | None = None,
        letters: str | None = None,
        mismatches: int | None = None,
        verify: bool | None = None,
    ) -> None:
        """Opens ``file``.

        Args:
            file: A path, or a seekable file object.
            threads: As in :func:`bwz.compress`, like ``memory`` and ``device``.
            limit_output: Maximum number of bytes of output of one call.
            match_case: In sequences, distinguish small letters from capital ones.
            ignore_case: In bytes, find the letters of ASCII in either case.
            letters: In sequences, with "nucleotides" T and U are the same letter; with "iupac" R, Y
                and so on also match their bases; with "exact" each letter matches only itself.
            mismatches: Maximum number of bytes that may differ in a match, 0 or 1.
            verify: Check the whole of every block that is used.
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
                ignore_case=ignore_case,
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
        """Releases the file. Closing it twice is not an error."""
        if not self._closed and self._archive is not None:
            self._closed = True
            if self._process == os.getpid():
                self._archive.release()
            else:
                left_behind.append(self._archive)
            if self._own:
                self._own.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("an Archive cannot be copied or pickled: open its path where it is needed")

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
        """The contents of the file."""
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
        """The cost of the searches and ranges of this archive so far."""
        return Cost(*self._open().cost())

    def indexed_blocks(self) -> IndexedBlocks:
        """Counts the blocks by the kind of their index."""
        return IndexedBlocks(*self._open().indexed_blocks())

    def blocks(self) -> list[Block]:
        """The blocks of all frames, in order."""
        return [Block(*block) for block in self._open().blocks()]

    def read_range(self, start: int, end: int) -> bytes:
        """The raw bytes from ``start`` up to ``end``, ``end`` not included.

        For a short range of an indexed file only the slices that hold it are decoded, for any other
        range the blocks.

        Raises:
            UsageError: The range is not within the file.
        """
        return self._open().read_range(start, end)

    def extract(self, ranges: Iterable[tuple[int, int]]) -> list[bytes]:
        """The raw bytes of ranges, each given as start and end. Each block is decoded once."""
        return self._open().extract(list(ranges))

    def count(self, patterns: Patterns) -> list[int]:
        """The number of occurrences of each pattern, overlapping ones included.

        Uses the index if there is one, else decodes all blocks. The empty pattern occurs at every
        byte and at the end.
        """
        return self._open().count(patterns)

    def locate(self, patterns: Patterns, limit: int | None = None) -> list[Matches]:
        """The raw offsets of all occurrences of each pattern, and their number.

        The offsets of all patterns of a call are Python lists, which take about 40 bytes of memory
        per offset. :meth:`count` gives the numbers first.

        Args:
            patterns: The patterns to search for.
            limit: Maximum number of offsets of each pattern, the lowest ones; ``None`` gives
                all.
        """
        return [Matches(*found) for found in self._open().locate(patterns, limit)]

    def records(self) -> list[Record]:
        """The records of all frames of FASTA or FASTQ that are indexed by sequence, in order."""
        return [
            Record(bytes(name).decode("utf-8", "surrogateescape"), *numbers)
            for name, *numbers in self._open().records()
        ]

    def members(self) -> list[Member]:
        """The members of the tar archive that the raw stream is, in order.

        A table lists them, so that no block is decoded; without it their headers are looked for in
        the blocks.

        Raises:
            UsageError: The raw stream does not begin with the header of a member.
        """
        return [
            Member(*(bytes(text).decode("utf-8", "surrogateescape") for text in texts), *rest)
            for texts, *rest in self._open().members()
        ]

    def open_member(self, member: Member | Pattern) -> IO[bytes]:
        """The content of a member, as a file. Only the blocks that hold it are decoded.

        Of several members with a name, the last one counts, and a hard link is the file that
        it is a link to, as after an extraction. A file with holes is read whole into memory, of any
        other one block at a time.

        Raises:
            KeyError: There is no such member.
            UsageError: It has no content, as a directory or a symbolic link.
        """
        name, offset = member, None
        if isinstance(member, Member):
            name, offset = member.name, member.offset
        if isinstance(name, str):
            name = name.encode("utf-8", "surrogateescape")
        start, end, content = self._open().open_member(name, offset)
        if content is not None:
            return io.BytesIO(content)
        return io.BufferedReader(MemberFile(self, start, end))

    def region(self, record: Pattern, start: int, end: int) -> bytes:
        """The bases of the first record of this name from ``start``, counted from 0, up to ``end``.

        They are returned as they are in the file.

        Raises:
            UsageError: There is no such record.
        """
        return self._open().region(record, start, end)

    def places(self, offsets: Iterable[int]) -> list[Region | None]:
        """The record and the base at each raw offset, or ``None`` if there is no base."""
        found = self._open().places(list(offsets))
        return [place if place is None else Region(*place) for place in found]
