"""Objects that cannot be used: left behind by a fork, or never initialized.

Threads stay in the process that started them. A file that is read from a path, and an archive of one, are opened once more in the process that was
forked off; all else says that it belongs to the other.
"""

from __future__ import annotations

from typing import Any

from ._errors import UsageError

left_behind: list[Any] = []
"""Objects of the other process, kept since to let go of them may wait for their threads."""


def belongs_to_another(what: str) -> UsageError:
    """The error for what works in the process alone that opened it."""
    return UsageError(f"{what} belongs to the process that opened it: open one in this process")


def uninitialized(made: object) -> ValueError:
    """The error for an object of a subclass whose ``__init__`` did not call that of its base."""
    name = type(made).__name__
    return ValueError(f"{name} was not initialized: its __init__ must call super().__init__()")
