"""Bytes in, bytes out: at once, or step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from . import _bwz
from ._process import uninitialized

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._types import Buffer, Effort, Progress, StreamCheck


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
    trust_gpus: bool | None = None,
    notes: Mapping[str, str] | None = None,
    content_size: int | None = None,
    stream_check: StreamCheck | None = None,
    progress: Progress | None = None,
) -> bytes:
    """Compresses ``data`` into one frame, the bytes that ``bwz -c`` writes.

    Args:
        data: Any object with contiguous bytes.
        level: 1 to 9, for blocks of 1 MiB to 256 MiB. The default is 6 (32 MiB).
        block_size: Raw bytes of a block, 1 to 1099511627775, in place of a level.
        split_at: A byte such as ``b"\\n"``. Each block ends after its last occurrence, so that no
            record is split. A block without this byte ends when it is full.
        effort: ``"fast"``, ``"default"``, or ``"best"`` for the smallest size.
        threads: Threads that compute, up to 1024; 0 or ``None`` for one per core. No more than
            four per core run, or 64 if that is more, and fewer for a small input.
        memory: Maximum number of bytes of memory. The default is half of the machine's memory.
        device: ``"auto"``, ``"cpu"``, ``"cuda"``, or GPUs as in ``"cuda:0,2-3"``.
        index: ``True`` for an FM-index, which is searched without decompressing. A number sets the
            distance of the positions that it keeps (a power of two from 8 to 16384); 0 is enough
            for counting alone.
        verify: Restore each block on the CPU and compare it before it is returned. Otherwise only
            what a GPU made is restored, on that GPU.
        trust_gpus: Do not restore what a GPU made. This saves a little of the GPU's time.
        notes: What to say about the data, in the header: keys and values. ``comment`` is for
            people.
        content_size: The number of bytes of ``data``, stated in the header for readers of pipes.
        stream_check: ``"xxh3"`` or ``"blake3"`` to add a digest of all of ``data``.
        progress: A callable such as ``tqdm.update``. After each block it is called with the number
            of raw bytes that were compressed since its last call; their sum is the size of
            ``data``. It runs in the thread of the caller, and an exception that it raises ends the
            work.

    >>> len(compress(b"to be or not to be " * 100)) < 300
    True
    >>> calls = []
    >>> file = compress(bytes(3000), block_size=1000, progress=calls.append)
    >>> sum(calls)
    3000
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
        trust_gpus=trust_gpus,
        notes=notes,
        content_size=content_size,
        stream_check=stream_check,
        progress=progress,
    )


def decompress(
    data: Buffer,
    *,
    threads: int | None = None,
    memory: int | None = None,
    device: str | None = None,
    limit_output: int | None = None,
    progress: Progress | None = None,
) -> bytes:
    """Decompresses all frames of ``data``.

    Args:
        data: A bwz file, or several one after the other.
        threads: As in :func:`compress`.
        memory: As in :func:`compress`. Blocks above 256 MiB are decoded only if it is given.
        device: As in :func:`compress`.
        limit_output: Maximum number of bytes of output.
        progress: As in :func:`compress`, for the raw bytes that were restored.

    Raises:
        FormatError: The data is damaged or not a bwz file.
        TruncatedError: The data ends too early, or is empty.
        LimitError: A block needs more memory than allowed.
        OutputLimitError: The output would have more than ``limit_output`` bytes.

    >>> decompress(compress(b"abc") + compress(b"def"))
    b'abcdef'
    """
    return _bwz.decompress(
        data,
        threads=threads,
        memory=memory,
        device=device,
        limit_output=limit_output,
        progress=progress,
    )


class Compressor:
    """Compresses data step by step into one frame, like ``bz2.BZ2Compressor``.

    The options are those of :func:`compress`. Threads work while the caller continues. Each step
    returns the output that they have finished by then.

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
        trust_gpus: bool | None = None,
        notes: Mapping[str, str] | None = None,
        content_size: int | None = None,
        stream_check: StreamCheck | None = None,
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
            trust_gpus=trust_gpus,
            notes=notes,
            content_size=content_size,
            stream_check=stream_check,
        )

    @property
    def _work(self) -> _bwz.Compressor:
        if self._made is None:
            raise uninitialized(self)
        return self._made

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Compressor cannot be copied or pickled: threads work for it")

    def compress(self, data: Buffer) -> bytes:
        """Takes ``data``. Returns the bytes compressed by now, which may be none."""
        return self._work.compress(data)

    def flush(self) -> bytes:
        """Ends the frame and returns the rest of it. Nothing can be compressed afterwards."""
        return self._work.flush()


class Decompressor:
    """Decompresses data step by step, like ``bz2.BZ2Decompressor``.

    Frames that follow each other are one stream: there is no ``unused_data``. Bytes after a frame
    that do not begin another frame raise :class:`FormatError`.

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
        raise TypeError("a Decompressor cannot be copied or pickled: threads work for it")

    def decompress(self, data: Buffer, max_length: int = -1) -> bytes:
        """Takes ``data``. Returns all bytes that can be decompressed by now.

        The data before damage is returned; the next call raises the error.

        Args:
            data: The next bytes of the file; empty if :attr:`needs_input` is false.
            max_length: Maximum number of bytes to return. The rest waits for the next call. -1
                returns all.
        """
        return self._work.decompress(data, max_length)

    def flush(self) -> bytes:
        """Marks the end of the input. Returns the rest of the output.

        Raises:
            TruncatedError: The input ends in the middle of a frame, or is empty.
        """
        return self._work.flush()

    @property
    def eof(self) -> bool:
        """True if the input ends at the end of a frame, and all of its output was returned."""
        return self._work.eof

    @property
    def needs_input(self) -> bool:
        """True if there is no more output without more input."""
        return self._work.needs_input
