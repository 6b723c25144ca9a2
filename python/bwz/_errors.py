"""The exceptions of bwz, one for each party that must act.

Exceptions of a file object are passed on unchanged. If the system refuses something, that is an
``OSError`` or a ``MemoryError``, as everywhere in Python.
"""

from __future__ import annotations


class BwzError(Exception):
    """The base of all exceptions that bwz raises itself.

    Attributes:
        block: Number of the block in which it was found, from 0 at the start of the file.
        offset: Start of the damaged part in the compressed file, in bytes.
    """

    block: int | None
    offset: int | None

    def __init__(
        self, message: str = "", *, block: int | None = None, offset: int | None = None
    ) -> None:
        super().__init__(message)
        self.block = block
        self.offset = offset


class FormatError(BwzError, ValueError):
    """The data is damaged or not a bwz file: the party that made or moved it must act."""


class TruncatedError(FormatError, EOFError):
    """The file ends in the middle of a frame, or is empty: the rest of it is elsewhere, or lost.

    It is an ``EOFError`` too, which ``bz2`` raises in this case.
    """


class UnsupportedError(BwzError):
    """A block is of a kind that this version of bwz does not know: a later version reads it.

    The file is not damaged, and its other blocks can be read.
    """


class VersionError(BwzError):
    """The file has another version of the format: another version of bwz reads it."""


class LimitError(BwzError, MemoryError):
    """The work needs more memory than ``memory=`` allows: raise it to go on.

    Attributes:
        needed: Number of bytes that would suffice.
        allowed: Number of bytes that were allowed.
    """

    needed: int
    allowed: int


class OutputLimitError(BwzError):
    """The output would be larger than ``limit_output=`` allows: raise it to go on.

    Attributes:
        needed: Number of bytes of the output.
        allowed: Number of bytes that were allowed.
    """

    needed: int
    allowed: int


class UsageError(BwzError, ValueError):
    """The caller's request makes no sense, for example a range past the end."""


class DeviceError(BwzError, RuntimeError):
    """The requested device is missing or failed."""
