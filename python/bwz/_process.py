"""Objects that cannot be used: left behind by a fork, or never initialized.

Threads stay in the process that started them. A file that is read from a path, and an archive of a
path, are opened again in the forked process. All other objects raise an error there, since they
belong to the first process.
"""

from __future__ import annotations

from typing import Any

from ._errors import UsageError

left_behind: list[Any] = []
"""Objects of the other process. They are kept, since releasing them may wait for their threads."""


def belongs_to_another(what: str) -> UsageError:
    """The error for an object that works only in the process that opened it."""
    return UsageError(f"{what} belongs to the process that opened it: open one in this process")


def uninitialized(made: object) -> ValueError:
    """The error for an object whose class does not call ``__init__`` of its base class."""
    name = type(made).__name__
    return ValueError(f"{name} was not initialized: its __init__ must call super().__init__()")
