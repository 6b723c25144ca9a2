"""numcodecs: chunks of arrays compressed by bwz, as zarr and others store them.

>>> import numcodecs
>>> codec = numcodecs.get_codec({"id": "bwz", "level": 1})
>>> codec.decode(codec.encode(b"sea shells " * 100)) == b"sea shells " * 100
True
"""

from __future__ import annotations

from typing import Any

import bwz
from numcodecs import register_codec
from numcodecs.abc import Codec
from numcodecs.compat import ensure_contiguous_ndarray, ndarray_copy


class Bwz(Codec):
    """A codec that stores each chunk as a bwz file of its own.

    Parameters
    ----------
    level:
        Blocks of ``1 MiB << (level - 1)``, from 1 to 9. A chunk below 1 MiB has the same bytes at
        each level.
    threads:
        Threads that compute; 1 by default, since chunks are processed in parallel. It is not part of
        the configuration.
    """

    codec_id = "bwz"

    def __init__(self, level: int = 6, threads: int = 1) -> None:
        self.level = level
        self.threads = threads

    def encode(self, buf: Any) -> bytes:
        return bwz.compress(_bytes(buf), level=self.level, threads=self.threads)

    def decode(self, buf: Any, out: Any = None) -> Any:
        return ndarray_copy(bwz.decompress(_bytes(buf)), out)

    def get_config(self) -> dict[str, Any]:
        return {"id": self.codec_id, "level": self.level}


def _bytes(buf: Any) -> memoryview:
    return memoryview(ensure_contiguous_ndarray(buf)).cast("B")


register_codec(Bwz)
