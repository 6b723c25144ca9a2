"""The types of arguments."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import IO, Any, Literal, TypeAlias, TypedDict

Buffer: TypeAlias = Any
"""Any object with the buffer protocol whose bytes are contiguous."""

Effort: TypeAlias = Literal["fast", "default", "best"]

StreamCheck: TypeAlias = Literal["crc32", "xxh3", "blake3"]

PathOrFile: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes] | IO[bytes]

Pattern: TypeAlias = bytes | bytearray | str
"""``str`` stands for its bytes in UTF-8."""

Patterns: TypeAlias = Iterable[Pattern]

Progress: TypeAlias = Callable[[int], object]
"""Called with the number of raw bytes that were done since the last call."""


class Options(TypedDict, total=False):
    """The options of :func:`bwz.compress`."""

    block_size: int | None
    split_at: bytes | None
    effort: Effort | None
    threads: int | None
    memory: int | None
    device: str | None
    index: bool | int | None
    verify: bool | None
    trust_gpus: bool | None
    notes: Mapping[str, str] | None
    content_size: int | None
    stream_check: StreamCheck | None
    progress: Progress | None
