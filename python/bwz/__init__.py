"""bwz: block-sorting compression with seekable files that can be searched without
decompressing them.

>>> import bwz, io
>>> text = b"she sells sea shells by the sea shore. " * 1000
>>> file = bwz.compress(text, level=9, index=True)
>>> bwz.decompress(file) == text
True
>>> bwz.Archive(io.BytesIO(file)).count([b"sea", b"land"])
[2000, 0]

Sizes, offsets and limits are in bytes. The bytes written depend only on ``level`` or
``block_size``, ``split_at``, ``effort``, ``index``, ``notes``, ``content_size`` and
``stream_check``, and are those that the command ``bwz`` writes. ``threads``, ``memory`` and ``device`` set the resources. No function holds the GIL while it
works, and Ctrl-C ends each at once.
"""

from ._archive import Archive, Block, Frame, IndexedBlocks, Info, Matches, Record, Region
from ._bwz import CUDA_BUILT, DEFAULT_LEVEL, DEFAULT_SAMPLE_RATE, __version__
from ._errors import (
    BwzError,
    DeviceError,
    FormatError,
    LimitError,
    OutputLimitError,
    TruncatedError,
    UnsupportedError,
    UsageError,
    VersionError,
)
from ._file import BwzFile, open
from ._members import Member
from ._steps import Compressor, Decompressor, compress, decompress

__all__ = [
    "CUDA_BUILT",
    "DEFAULT_LEVEL",
    "DEFAULT_SAMPLE_RATE",
    "Archive",
    "Block",
    "BwzError",
    "BwzFile",
    "Compressor",
    "Decompressor",
    "DeviceError",
    "FormatError",
    "Frame",
    "IndexedBlocks",
    "Info",
    "LimitError",
    "Matches",
    "Member",
    "OutputLimitError",
    "Record",
    "Region",
    "TruncatedError",
    "UnsupportedError",
    "UsageError",
    "VersionError",
    "__version__",
    "compress",
    "decompress",
    "open",
]
