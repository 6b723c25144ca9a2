"""What can go wrong, split by who must act.

What a file object raises comes through unchanged, and what the system refuses is an
``OSError`` or a ``MemoryError`` as everywhere in Python.
"""

from __future__ import annotations


class BwzError(Exception):
    """The base of all that bwz raises itself.

    Attributes:
        block: The number of the block it was found in, from 0 at the start of the file.
        offset: Where in the compressed file the damaged part starts, in bytes.
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
    """The data is damaged or no bwz file: who made or moved it must act."""


class TruncatedError(FormatError, EOFError):
    """The file ends in the middle of a frame, or is empty: the rest of it is elsewhere, or lost.

    It is an ``EOFError`` too, as what ``bz2`` raises then.
    """


class VersionError(BwzError):
    """The file is of another version of the format: another bwz reads it."""


class LimitError(BwzError, MemoryError):
    """The work needs more memory than ``memory=`` allows: raise it to go on.

    Attributes:
        needed: Bytes that would do.
        allowed: Bytes that were allowed.
    """

    needed: int
    allowed: int


class OutputLimitError(BwzError):
    """More would come out than ``limit_output=`` allows: raise it to go on.

    Attributes:
        needed: Bytes that would have come out.
        allowed: Bytes that were allowed.
    """

    needed: int
    allowed: int


class UsageError(BwzError, ValueError):
    """The caller asked for what makes no sense, such as a range behind the end."""


class DeviceError(BwzError, RuntimeError):
    """The device that was asked for is missing or failed."""
