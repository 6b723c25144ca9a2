"""Files restored to the memory of a GPU, and data compressed from it.

For tensors and columns that are on the GPU anyway: of torch, CuPy, JAX, Numba, RMM and cuDF. The
raw bytes of most blocks never come to the host.

>>> import torch                                                       # doctest: +SKIP
>>> out = torch.empty(size, dtype=torch.uint8, device="cuda")          # doctest: +SKIP
>>> bwz.cuda.decompress_into("tokens.bwz", out)                        # doctest: +SKIP
>>> tokens = torch.from_dlpack(bwz.cuda.decompress_to_device("tokens.bwz")).view(torch.int16)
...                                                                    # doctest: +SKIP

Memory of other libraries is any object with ``__dlpack__`` or ``__cuda_array_interface__``: a
contiguous array of ``uint8`` or ``int8``, of any shape. Every call returns after its work on the GPU
has ended, so nothing needs to wait for it. No function holds the GIL while it works. Ctrl-C ends
each after the blocks in work, a few at most.

The GPU itself restores a block and checks its CRC-32 if the block has no filters, no index, at most
1 GiB, is not stored, and was not compressed with ``effort="best"``. Other blocks are restored on the
host, and copied: text often has filters, which the CPU undoes. :attr:`Restored.by_host` says how many.

This module needs a build with the feature ``cuda`` (:data:`bwz.CUDA_BUILT`) and a driver. Without
them its functions raise :class:`bwz.DeviceError`; they never use the CPU alone.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _bwz
from ._bwz import DeviceBuffer, GpuDecoder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol, TypeAlias

    from ._types import Buffer, Effort, PathOrFile, StreamCheck

    class HasDlpack(Protocol):
        """An array that other libraries can use."""

        def __dlpack__(self, *, stream: Any = ...) -> Any: ...
        def __dlpack_device__(self) -> tuple[Any, int]: ...

    class HasCudaArray(Protocol):
        """An array of version 3 of the CUDA array interface."""

        @property
        def __cuda_array_interface__(self) -> dict[str, Any]: ...

    DeviceArray: TypeAlias = HasDlpack | HasCudaArray

__all__ = [
    "DeviceBuffer",
    "GpuDecoder",
    "Restored",
    "compress",
    "decompress_into",
    "decompress_to_device",
]


class Restored(NamedTuple):
    """The result of :func:`decompress_into`."""

    nbytes: int
    """Number of bytes written, from the first byte of the memory on."""
    on_gpu: int
    """Number of blocks whose raw bytes were never on the host."""
    by_host: int
    """Number of blocks that were restored on the host, and copied."""


def decompress_into(
    file: Buffer | PathOrFile,
    out: DeviceArray,
    *,
    range: tuple[int, int] | None = None,
    stream: int | None = None,
    decoder: GpuDecoder | None = None,
    threads: int | None = None,
    memory: int | None = None,
    limit_output: int | None = None,
) -> Restored:
    """Decompresses all frames of ``file`` into memory of a GPU.

    Args:
        file: The bytes of a bwz file, as any object of the host with contiguous bytes; a path, as
            ``str`` or ``os.PathLike``; or a seekable file object, from its position on.
        out: The memory. It may be longer than the data. An array of JAX must not be changed, but
            does not say so, and is taken.
        range: Start and end of the raw bytes to restore, in place of all. Only the blocks that hold
            them are read and decoded.
        stream: Number of the stream on which work with ``out`` is queued, such as
            ``torch.cuda.current_stream().cuda_stream``; 1 is the legacy default stream. It is
            waited for. An array with ``__dlpack__`` has the legacy default stream wait for its own
            work if ``stream`` is not given; for other arrays the stream that they name is waited
            for, if they name one.
        decoder: Keeps its working memory for further calls. Without one, each call takes that memory
            and gives it back, which takes longer than a few small blocks.
        threads: As in :func:`bwz.compress`, like ``memory``.
        memory: Maximum number of bytes of the host's memory.
        limit_output: Maximum number of bytes of output.

    Raises:
        TypeError: ``out`` is no array of a GPU.
        ValueError: ``out`` is read-only, not contiguous, on the CPU, or has other items.
        UsageError: ``out`` is too small, or the range is not within the data; nothing is written
            then. Or ``out`` is on another GPU than ``decoder``.
        FormatError: The file is damaged. ``out`` then has arbitrary bytes.
        DeviceError: There is no such GPU, or this build has no CUDA.
    """
    with _Opened(file) as opened:
        done = _bwz.decompress_into(
            opened,
            out,
            decoder,
            range,
            stream,
            threads=threads,
            memory=memory,
            limit_output=limit_output,
        )
    return Restored(*done)


def decompress_to_device(
    file: Buffer | PathOrFile,
    *,
    device: int = 0,
    range: tuple[int, int] | None = None,
    decoder: GpuDecoder | None = None,
    threads: int | None = None,
    memory: int | None = None,
    limit_output: int | None = None,
) -> DeviceBuffer:
    """Decompresses all frames of ``file`` into new memory of a GPU.

    The result owns the memory. Other libraries use it without a copy: by ``torch.from_dlpack``,
    ``cupy.from_dlpack``, ``jax.dlpack.from_dlpack``, or ``numba.cuda.as_cuda_array``. It is freed
    with the last object that uses it.

    Args:
        file: As in :func:`decompress_into`, like the arguments that are not listed here.
        device: Number of the GPU, unless there is a ``decoder``, which has its own.
        decoder: As in :func:`decompress_into`.

    Raises:
        Exception: As :func:`decompress_into`. ``DeviceError`` also if the GPU has too little memory.
    """
    with _Opened(file) as opened:
        return _bwz.decompress_to_device(
            opened,
            decoder,
            device,
            range,
            threads=threads,
            memory=memory,
            limit_output=limit_output,
        )


def compress(
    data: DeviceArray,
    level: int | None = None,
    *,
    stream: int | None = None,
    block_size: int | None = None,
    split_at: bytes | None = None,
    effort: Effort | None = None,
    threads: int | None = None,
    memory: int | None = None,
    device: str | None = None,
    index: bool | int | None = None,
    verify: bool | None = None,
    notes: Mapping[str, str] | None = None,
    stream_check: StreamCheck | None = None,
) -> bytes:
    """Compresses memory of a GPU into one frame, the bytes that :func:`bwz.compress` makes of it.

    The data is copied to the host piece by piece, since the CPU chooses and applies the filters;
    blocks go to a GPU again to be sorted and coded.

    Args:
        data: The memory, as in :func:`decompress_into`. It may be read-only.
        level: As in :func:`bwz.compress`, like the arguments that are not listed here.
        stream: As in :func:`decompress_into`.
    """
    return _bwz.compress_from_device(
        data,
        stream,
        level=level,
        block_size=block_size,
        split_at=split_at,
        effort=effort,
        threads=threads,
        memory=memory,
        device=device,
        index=index,
        verify=verify,
        notes=notes,
        stream_check=stream_check,
    )


class _Opened:
    """A file as the compiled part takes it: its bytes, a descriptor, or an object."""

    def __init__(self, file: Any) -> None:
        is_path = isinstance(file, (str, os.PathLike))
        self._file = open(file, "rb", buffering=0) if is_path else None
        self._object = file

    def __enter__(self) -> Any:
        return self._object if self._file is None else self._file.fileno()

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
