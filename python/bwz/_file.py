"""``bwz.open`` and the file object that it returns."""

from __future__ import annotations

import atexit
import io
import os
import stat
import threading
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TextIO, cast, overload

from . import _bwz, _pipe
from ._errors import FormatError
from ._process import belongs_to_another, left_behind, uninitialized

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Unpack

    from ._types import Buffer, Effort, Options, PathOrFile, Progress, StreamCheck

# Bytes that a buffered reader requests at once.
_BUFFER = 128 << 10

# Open files whose threads call an object of Python. They are closed before Python ends, since no
# thread may do so then.
_unfinished: weakref.WeakSet[Any] = weakref.WeakSet()


@atexit.register
def _finish_all() -> None:
    errors = []
    for file in list(_unfinished):
        try:
            file.close()
        except Exception as error:
            errors.append(error)
    if errors:
        raise ExceptionGroup("files of bwz that were never closed could not be", errors)


class _RawReader(io.RawIOBase):
    """The raw stream, unbuffered."""

    def __init__(
        self,
        make: Callable[[], _bwz.Reader],
        seekable: bool,
        from_path: bool,
        pipe: _pipe.Pipe | None,
    ) -> None:
        self._make = make
        self._reader = make()
        self._pipe = pipe
        self._seekable = seekable
        self._survives_fork = seekable and from_path
        self._position = 0
        self._process = os.getpid()
        # Held while the reader is used: closing waits for that.
        self._lock = threading.Lock()

    @contextmanager
    def _use(self) -> Iterator[_bwz.Reader]:
        if self._process != os.getpid():
            if not self._survives_fork:
                raise belongs_to_another("the file object")
            left_behind.append(self._reader)
            self._lock = threading.Lock()
            self._reader, self._process = self._make(), os.getpid()
            self._reader.seek(self._position)
        with self._lock:
            if self._pipe and not self.closed:
                self._pipe.begin()
            if self.closed:
                raise ValueError("I/O operation on closed file")
            yield self._reader

    def close(self) -> None:
        if self._process != os.getpid():
            left_behind.append(self._reader)
            return super().close()
        if self._pipe:
            self._pipe.released = True
        with self._lock:
            if not self.closed:
                try:
                    self._reader.release()
                finally:
                    super().close()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._seekable

    def readinto(self, buffer: Buffer) -> int:
        view = memoryview(buffer)
        view = view if view.format == "B" else view.cast("B")
        with self._use() as reader:
            count = reader.readinto(view)
            self._position += count
        return count

    def readall(self) -> bytes:
        with self._use() as reader:
            everything = reader.readall()
            self._position += len(everything)
        return everything

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if not self._seekable:
            raise io.UnsupportedOperation("the file object below does not seek")
        if whence == io.SEEK_CUR:
            offset += self._position
        elif whence == io.SEEK_END:
            with self._use() as reader:
                offset += reader.size()
        elif whence != io.SEEK_SET:
            raise ValueError(f"whence {whence} is not 0, 1 or 2")
        if offset < 0:
            raise ValueError(f"position {offset} is before the start")
        with self._use() as reader:
            reader.seek(offset)
            self._position = offset
        return offset

    def tell(self) -> int:
        return self._position


class BwzFile(io.BufferedIOBase):
    """A bwz file, open to read or to write its raw bytes.

    Threads decode ahead of the reader. Seeking uses the file's seek table and decodes the one block
    at the new position. If the given file object is not seekable, this object is not either. Frames
    that follow each other are one stream. A given file object is not closed. It belongs to this
    object until this is closed: threads read from it ahead of the caller, one at a time. After a
    fork, a file that is read from a path can be read in both processes independently; all others
    belong to the process that opened them.

    >>> import tempfile
    >>> with tempfile.TemporaryFile() as file:
    ...     with BwzFile(file, "wb", level=1) as out:
    ...         _ = out.write(b"0123456789" * 1000)
    ...     _ = file.seek(0)
    ...     with BwzFile(file) as raw:
    ...         _ = raw.seek(-5, 2)
    ...         raw.read()
    b'56789'
    """

    def __init__(
        self,
        file: PathOrFile,
        mode: str = "rb",
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
    ) -> None:
        """Opens ``file`` as ``builtins.open`` does, with the options of :func:`bwz.compress`.

        Args:
            file: A path, or a file object opened in binary mode.
            mode: ``"r"``, ``"w"``, ``"x"`` (which fails if the file exists) or ``"a"`` (which adds
                a frame), with or without ``"b"``.
            progress: A callable such as ``tqdm.update``, which is called with a number of raw bytes
                by the methods of this object, in the thread of their caller. When the file is
                written, these are the bytes of blocks that were compressed and written since the
                last call: their sum is behind :meth:`tell` until :meth:`close` returns. When it is
                read, these are the bytes that were read into the buffer, again if they are read
                again. An exception that it raises ends the call, and the work of a file that is
                written.

        Raises:
            FormatError: The file to add to does not end with a frame.
        """
        self._lock = threading.RLock()
        self._own: io.FileIO | None = None
        self._raw: _RawReader | None = None
        self._writer: _bwz.Writer | None = None
        self._buffer: io.BufferedReader | None = None
        self._file: Any = file
        self._position = 0
        self._process = os.getpid()
        if mode not in ("r", "rb", "w", "wb", "x", "xb", "a", "ab"):
            raise ValueError(f"mode {mode!r} is not r, w, x or a, with or without b")
        self.mode = mode[0] + "b"
        if isinstance(file, (str, bytes, os.PathLike)):
            self._own = io.FileIO(file, "a+" if mode[0] == "a" else mode[0])
            self._file = self._own
        elif not hasattr(file, "read" if mode[0] == "r" else "write"):
            raise TypeError(f"a path or a file object is needed, not {type(file).__name__}")
        below: Any = self._own.fileno() if self._own else self._file
        try:
            if mode[0] == "r":
                seekable = _is_seekable(self._file)
                pipe = None if seekable or self._own else _pipe.of(self._file)
                below = pipe or below

                def reader() -> _bwz.Reader:
                    return _bwz.Reader(
                        below,
                        seekable,
                        progress=progress,
                        threads=threads,
                        memory=memory,
                        device=device,
                    )

                self._raw = _RawReader(reader, seekable, self._own is not None, pipe)
                self._buffer = io.BufferedReader(self._raw, _BUFFER)
            else:
                if self._own and mode[0] == "a":
                    _check_end(self._own)
                self._writer = _bwz.Writer(
                    below,
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
            if not self._own:
                _unfinished.add(self)
        except BaseException:
            if self._own:
                self._own.close()
            raise

    def __reduce__(self) -> NoReturn:
        raise TypeError("a BwzFile cannot be copied or pickled: open its path where it is needed")

    @property
    def name(self) -> Any:
        """The name of the file, if it has one."""
        self._check_made()
        return getattr(self._file, "name", None)

    def close(self) -> None:
        """Writes the rest, ends the frame and ends all work. Raises errors of these steps."""
        # `__init__` may have failed.
        if self.closed or not hasattr(self, "_lock"):
            return
        if self._process != os.getpid():
            left_behind.append(self._writer)
            self._writer = None
        with self._lock:
            try:
                if self._writer:
                    writer, self._writer = self._writer, None
                    writer.finish()
                elif self._raw:
                    # The buffer stays, since another thread may read from it.
                    self._raw.close()
            finally:
                _unfinished.discard(self)
                if self._own:
                    self._own.close()
                super().close()

    def abandon(self) -> None:
        """Closes without ending the frame: the written file is incomplete."""
        if not hasattr(self, "_lock") or self._process != os.getpid():
            return self.close()
        with self._lock:
            if self._writer:
                writer, self._writer = self._writer, None
                writer.abandon()
            self.close()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """Closes. If Ctrl-C or an exit ended the work, it does not wait for the frame's end."""
        if kind is None or issubclass(kind, Exception):
            self.close()
        else:
            self.abandon()

    def _reading(self) -> io.BufferedReader:
        self._check()
        if self._buffer is None:
            raise io.UnsupportedOperation("the file is not open for reading")
        return self._buffer

    def readable(self) -> bool:
        """True if it was opened for reading."""
        self._check()
        return self._buffer is not None

    def writable(self) -> bool:
        """True if it was opened for writing."""
        self._check()
        return self._buffer is None

    def seekable(self) -> bool:
        """True if it is open for reading and the compressed file is seekable."""
        self._check()
        return self._buffer is not None and self._buffer.seekable()

    def _check_made(self) -> None:
        if not hasattr(self, "mode"):
            raise uninitialized(self)

    def _check(self) -> None:
        self._check_made()
        if self.closed:
            raise ValueError("I/O operation on closed file")

    def fileno(self) -> int:
        """The descriptor of the compressed file."""
        self._check()
        return int(self._file.fileno())

    def read(self, size: int | None = -1, /) -> bytes:
        """Up to ``size`` raw bytes, fewer only at the end; -1 returns all the rest."""
        return self._reading().read(size)

    def read1(self, size: int = -1, /) -> bytes:
        """Up to ``size`` raw bytes that are available without much waiting."""
        return self._reading().read1(_BUFFER if size < 0 else size)

    def readinto(self, buffer: Buffer, /) -> int:
        """Fills ``buffer`` with raw bytes. Returns their number, which is lower only at the end."""
        return self._reading().readinto(buffer)

    def readinto1(self, buffer: Buffer, /) -> int:
        """Fills the start of ``buffer`` with the bytes available without much waiting."""
        return self._reading().readinto1(buffer)

    def readline(self, size: int | None = -1, /) -> bytes:
        """The bytes to the end of the line, up to ``size``."""
        return self._reading().readline(-1 if size is None else size)

    def readlines(self, hint: int | None = -1, /) -> list[bytes]:
        """Lines until they have ``hint`` bytes; -1 returns all."""
        return self._reading().readlines(-1 if hint is None else hint)

    def __next__(self) -> bytes:
        """The next line."""
        return next(self._reading())

    def peek(self, size: int = 0, /) -> bytes:
        """The next raw bytes, at least one unless at the end; the position does not change."""
        return self._reading().peek(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Goes to a raw offset: from the start, from here (1) or from the end (2)."""
        return self._reading().seek(offset, whence)

    def tell(self) -> int:
        """The raw offset of the next byte."""
        self._check()
        return self._position if self._buffer is None else self._buffer.tell()

    @contextmanager
    def _writing(self) -> Iterator[_bwz.Writer]:
        """The writer, held for one call. After an error that ends it, it is gone."""
        self._check()
        if self._writer and self._process != os.getpid():
            raise belongs_to_another("a file that is written")
        with self._lock:
            if self._writer is None:
                raise io.UnsupportedOperation("the file is not open for writing, or has failed")
            try:
                yield self._writer
            except BaseException:
                # An error is raised once; closing does not wait for work that has ended. If `data`
                # has no bytes to give, nothing was taken, and the file stays usable.
                if self._writer.has_ended:
                    writer, self._writer = self._writer, None
                    writer.abandon()
                raise

    def write(self, data: Buffer, /) -> int:
        """Takes all of ``data``, which threads compress block by block. Returns its size."""
        with self._writing() as writer:
            count = writer.write(data)
            self._position += count
            return count

    def end_block(self) -> None:
        """Ends the block that is being filled, and waits until all blocks are written.

        Other processes can then read everything that was written so far, also if this one is
        killed: reading returns all of it before the error that the file was cut off. Small blocks
        compress worse, so call this as seldom as losing the bytes since then allows. The bytes are
        handed to the operating system; ``os.fsync(file.fileno())`` puts them on the disk. For a
        file of text, call ``text.flush()`` and then ``text.buffer.end_block()``.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "log.bwz")
        >>> with BwzFile(path, "wb") as log:
        ...     _ = log.write(b"10:00 started\\n")
        ...     log.end_block()
        ...     with BwzFile(path) as reader:
        ...         reader.readline()
        b'10:00 started\\n'
        """
        with self._writing() as writer:
            writer.end_block()

    def writelines(self, lines: Iterable[Buffer], /) -> None:
        """Writes one after the other."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Only checks that the file is open.

        Libraries call this often, as ``io.TextIOWrapper`` does, and a block that ends early makes
        the file larger. :meth:`end_block` writes everything so far.
        """
        self._check()

    def detach(self) -> Any:
        """Not supported: threads use the compressed file."""
        raise io.UnsupportedOperation("detach")


def _check_end(file: io.FileIO) -> None:
    """Checks that the file ends with a frame: a frame added after anything else is unreadable."""
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode) or status.st_size == 0:
        return
    start = max(0, status.st_size - _bwz.FOOTER_SIZE)
    if not _bwz.is_footer(os.pread(file.fileno(), _bwz.FOOTER_SIZE, start)):
        said = "does not end where a frame does: it is no bwz file, was cut off, or is still written"
        raise FormatError(f"{file.name!r} {said} (at byte {start})", offset=start)


def _is_seekable(file: Any) -> bool:
    try:
        return bool(file.seekable())
    except AttributeError:
        return hasattr(file, "seek") and hasattr(file, "tell")


@overload
def open(
    file: PathOrFile,
    mode: Literal["r", "rb", "w", "wb", "x", "xb", "a", "ab"] = "rb",
    level: int | None = None,
    *,
    encoding: None = None,
    errors: None = None,
    newline: None = None,
    **options: Unpack[Options],
) -> BwzFile: ...
@overload
def open(
    file: PathOrFile,
    mode: Literal["rt", "wt", "xt", "at"],
    level: int | None = None,
    *,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    **options: Unpack[Options],
) -> TextIO: ...
@overload
def open(
    file: PathOrFile,
    mode: str,
    level: int | None = None,
    *,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    **options: Unpack[Options],
) -> BwzFile | TextIO: ...
def open(
    file: PathOrFile,
    mode: str = "rb",
    level: int | None = None,
    *,
    effort: Effort | None = None,
    threads: int | None = None,
    memory: int | None = None,
    device: str | None = None,
    index: bool | int | None = None,
    block_size: int | None = None,
    split_at: bytes | None = None,
    verify: bool | None = None,
    trust_gpus: bool | None = None,
    notes: Mapping[str, str] | None = None,
    content_size: int | None = None,
    stream_check: StreamCheck | None = None,
    progress: Progress | None = None,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
) -> BwzFile | TextIO:
    """Opens a bwz file, like ``bz2.open``.

    Args:
        file: A path, or a file object opened in binary mode, which need not be seekable.
        mode: As in :class:`BwzFile`, or with ``"t"`` for text.
        level: As in :func:`bwz.compress`, like the options that follow.
        progress: As in :class:`BwzFile`.
        encoding: For text, like ``errors`` and ``newline``, as in ``builtins.open``.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "poem.bwz")
    >>> with open(path, "wt", encoding="utf-8") as poem:
    ...     _ = poem.write("Tiger, tiger,\\nburning bright")
    >>> with open(path, "rt", encoding="utf-8") as poem:
    ...     poem.readlines()
    ['Tiger, tiger,\\n', 'burning bright']

    A bar of tqdm shows the progress by ``progress=tqdm(total=size).update``. Any callable will do:

    >>> calls = []
    >>> with open(path, "wb", block_size=1000, progress=calls.append) as numbers:
    ...     _ = numbers.write(b"0123456789" * 1000)
    >>> sum(calls)
    10000
    """
    is_text = "t" in mode
    if is_text and "b" in mode:
        raise ValueError(f"mode {mode!r} is text and binary at once")
    if not is_text and (encoding, errors, newline) != (None, None, None):
        raise ValueError("encoding, errors and newline are for text: add t to the mode")
    raw = BwzFile(
        file,
        mode.replace("t", ""),
        level,
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
    if not is_text:
        return raw
    text = io.TextIOWrapper(raw, io.text_encoding(encoding), errors, newline)
    if raw in _unfinished:
        _unfinished.discard(raw)
        _unfinished.add(text)
    return cast(TextIO, text)
