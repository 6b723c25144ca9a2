"""Bytes in, bytes out: at once, or step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from . import _bwz
from ._process import uninitialized

if TYPE_CHECKING:
    from ._types import Buffer, Effort


def compress(
    data: Buffer,
    level: int | None = None,
    *,
    block_size: int | None = None,
    split_at: bytes | None = None,
    effort: Effort | None = None,
    threads: int | None = None,
    memory: int | None = None,
    device: str | None = None,
    index: bool | int | None = None,
    verify: bool | None = None,
) -> bytes:
    """Compresses ``data`` into one frame, the bytes that ``bwz -c`` writes.

    Args:
        data: Anything with bytes in one stretch.
        level: 1 to 9, for blocks of 1 MiB to 256 MiB; 6 (32 MiB) where nothing is said.
        block_size: Raw bytes of a block instead, 1 to 1099511627775.
        split_at: A byte, as ``b"\\n"``, behind whose last occurrence each block ends, so that no
            record is torn; one without any is full.
        effort: ``"fast"``, ``"default"``, or ``"best"`` for the smallest size.
        threads: Threads that compute, up to 1024; 0 or ``None`` for one per core. No more than
            four per core run, or 64 if that is more, and fewer for a small input.
        memory: Bytes of memory to use at most; half of the machine's where nothing is said.
        device: ``"auto"``, ``"cpu"``, ``"cuda"``, or GPUs as in ``"cuda:0,2-3"``.
        index: ``True`` for an FM-index that is searched without decompressing; a number for the
            distance of the positions that it keeps (a power of two from 8 to 16384), 0 to count
            alone.
        verify: Restore each block before it is given out.

    >>> len(compress(b"to be or not to be " * 100)) < 300
    True
    """
    return _bwz.compress(
        data,
        level=level,
        block_size=block_size,
        split_at=split_at,
        effort=effort,
        threads=threads,
        memory=memory,
        device=device,
        index=index,
        verify=verify,
    )


def decompress(
    data: Buffer,
    *,
    threads: int | None = None,
    memory: int | None = None,
    device: str | None = None,
    limit_output: int | None = None,
) -> bytes:
    """Decompresses all frames of ``data``.

    Args:
        data: A bwz file, or several one after the other.
        threads: As of :func:`compress`.
        memory: As of :func:`compress`; blocks above 256 MiB are decoded only where it is given.
        device: As of :func:`compress`.
        limit_output: Bytes that may come out at most.

    Raises:
        FormatError: It is damaged or no bwz file.
        TruncatedError: It ends too early, or is empty.
        LimitError: A block takes more memory than allowed.
        OutputLimitError: More than ``limit_output`` bytes would come out.

    >>> decompress(compress(b"abc") + compress(b"def"))
    b'abcdef'
    """
    return _bwz.decompress(
        data, threads=threads, memory=memory, device=device, limit_output=limit_output
    )


class Compressor:
    """Compresses what comes step by step into one frame, as ``bz2.BZ2Compressor`` does.

    The options are those of :func:`compress`. Threads work while the caller goes on; each step
    gives what they have finished by then.

    >>> compressor = Compressor(level=1)
    >>> parts = [compressor.compress(b"one "), compressor.compress(b"two"), compressor.flush()]
    >>> decompress(b"".join(parts))
    b'one two'
    """

    # Until `__init__` has run.
    _made: _bwz.Compressor | None = None

    def __init__(
        self,
        level: int | None = None,
        *,
        block_size: int | None = None,
        split_at: bytes | None = None,
        effort: Effort | None = None,
        threads: int | None = None,
        memory: int | None = None,
        device: str | None = None,
        index: bool | int | None = None,
        verify: bool | None = None,
    ) -> None:
        self._made = _bwz.Compressor(
            level=level,
            block_size=block_size,
            split_at=split_at,
            effort=effort,
            threads=threads,
            memory=memory,
            device=device,
            index=index,
            verify=verify,
        )

    @property
    def _work(self) -> _bwz.Compressor:
        if self._made is None:
            raise uninitialized(self)
        return self._made

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Compressor is not copied or pickled: threads work for it")

    def compress(self, data: Buffer) -> bytes:
        """Takes ``data``; gives what is compressed by now, which may be nothing."""
        return self._work.compress(data)

    def flush(self) -> bytes:
        """Ends the frame and gives what is left of it. Nothing can be compressed after."""
        return self._work.flush()


class Decompressor:
    """Decompresses what comes step by step, as ``bz2.BZ2Decompressor`` does.

    Frames that follow each other are one stream: there is no ``unused_data``. Bytes that are given
    after a frame and begin no other are a :class:`FormatError`.

    >>> decompressor = Decompressor()
    >>> decompressor.decompress(compress(b"a rose is a rose"))
    b'a rose is a rose'
    >>> decompressor.eof
    True
    """

    # Until `__init__` has run.
    _made: _bwz.Decompressor | None = None

    def __init__(
        self,
        *,
        threads: int | None = None,
        memory: int | None = None,
        device: str | None = None,
        limit_output: int | None = None,
    ) -> None:
        self._made = _bwz.Decompressor(
            threads=threads, memory=memory, device=device, limit_output=limit_output
        )

    @property
    def _work(self) -> _bwz.Decompressor:
        if self._made is None:
            raise uninitialized(self)
        return self._made

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Decompressor is not copied or pickled: threads work for it")

    def decompress(self, data: Buffer, max_length: int = -1) -> bytes:
        """Takes ``data``; gives all that can be decompressed by now.

        What stands before damage is given; the call after that says what is damaged.

        Args:
            data: The next bytes of the file; nothing where :attr:`needs_input` is false.
            max_length: Bytes to give at most; the rest waits for the next call. -1 is all.
        """
        return self._work.decompress(data, max_length)

    def flush(self) -> bytes:
        """Says that no more comes; gives what is left.

        Raises:
            TruncatedError: What came ends in the middle of a frame, or nothing came.
        """
        return self._work.flush()

    @property
    def eof(self) -> bool:
        """Whether what came ends where a frame does, and all of it was given back."""
        return self._work.eof

    @property
    def needs_input(self) -> bool:
        """Whether nothing more comes without more input."""
        return self._work.needs_input
