"""Reading of pipes and terminals in which no thread waits for long.

A thread that waits in ``sys.stdin.buffer`` holds its lock: no one could close it, and Python could
not end.
"""

from __future__ import annotations

import io
import select
from typing import Any

_PIECE = 64 << 10
# Milliseconds after which a thread checks whether its bytes are still wanted.
_TICK = 50


def of(file: Any) -> Pipe | None:
    """The pipe that a file object reads, if it is one of Python's own and reads a pipe."""
    buffered = type(file) is io.BufferedReader
    if type(file.raw if buffered else file) is not io.FileIO:
        return None
    return Pipe(file, buffered)


class Pipe:
    """The object that :class:`bwz.BwzFile` reads in place of the file object."""

    def __init__(self, file: Any, buffered: bool) -> None:
        self._file = file
        self._buffered = buffered
        self._poll = select.poll()
        self._poll.register(file.fileno(), select.POLLIN)
        self._rest = b""
        self._begun = False
        self.released = False

    def begin(self) -> None:
        """Waits for the first bytes in the thread of the caller, so that a signal ends the wait."""
        if not self._begun:
            if self._buffered:
                # The bytes read before, or those that come now; nothing is buffered afterwards.
                self._rest = self._file.read1(max(_PIECE, len(self._file.peek())))
            self._begun = True

    def read(self, size: int, /) -> bytes | None:
        """Up to ``size`` bytes; nothing at the end, or once they are no longer wanted."""
        if not self._rest:
            while not self._poll.poll(_TICK):
                if self.released:
                    return b""
            taken = self._file.read1(_PIECE) if self._buffered else self._file.read(_PIECE)
            if not taken:
                return taken
            self._rest = taken
        now, self._rest = self._rest[:size], self._rest[size:]
        return now
