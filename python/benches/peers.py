"""bwz beside the codecs that Python has, on one file in memory: ``python peers.py FILE [RUNS]``.

Printed are, of each, the size, MB/s of raw bytes each way (the median of the runs, which take turns), and how long it takes to
read 64 KiB from 1,000 places, for those that can. ``zstandard`` and ``indexed_bzip2`` are measured where they are installed.
"""

from __future__ import annotations

import bz2
import importlib
import io
import lzma
import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, BinaryIO

import bwz

PIECE = 64 << 10
PLACES = 1000

Codec = tuple[Callable[[bytes], bytes], Callable[[bytes], bytes], Callable[[bytes], BinaryIO] | None]


def installed(name: str) -> Any:
    """A module, or None, of which it says so."""
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"{name} is not installed", file=sys.stderr)
        return None


def codecs() -> dict[str, Codec]:
    """How each compresses, decompresses, and opens what it has compressed to seek in it."""
    every: dict[str, Codec] = {
        "bwz -6": (bwz.compress, bwz.decompress, lambda file: bwz.open(io.BytesIO(file))),
        "bwz -6, 1 thread": (
            lambda raw: bwz.compress(raw, threads=1),
            lambda file: bwz.decompress(file, threads=1),
            None,
        ),
        "bz2 -9": (bz2.compress, bz2.decompress, None),
        "lzma -6": (lzma.compress, lzma.decompress, None),
    }
    if zstandard := installed("zstandard"):
        for level in (3, 19):
            compressor = zstandard.ZstdCompressor(level=level, threads=-1)
            every[f"zstandard -{level}"] = (
                compressor.compress,
                zstandard.ZstdDecompressor().decompress,
                None,
            )
    if indexed_bzip2 := installed("indexed_bzip2"):
        every["indexed_bzip2"] = (
            bz2.compress,
            lambda file: indexed_bzip2.open(io.BytesIO(file), parallelization=0).read(),
            lambda file: indexed_bzip2.open(io.BytesIO(file), parallelization=0),
        )
    return every


def timed(work: Callable[[bytes], Any], given: bytes) -> tuple[float, Any]:
    """Seconds, and what came out."""
    start = time.perf_counter()
    made = work(given)
    return time.perf_counter() - start, made


def reads(opened: BinaryIO, raw: bytes) -> float:
    """Milliseconds that a read takes, of those from random places, which are checked."""
    chance = random.Random(1)
    start = time.perf_counter()
    for _ in range(PLACES):
        at = chance.randrange(max(1, len(raw) - PIECE))
        opened.seek(at)
        assert opened.read(PIECE) == raw[at : at + PIECE]
    return (time.perf_counter() - start) * 1000 / PLACES


def main() -> None:
    """Measures all in turns, and prints a table."""
    with open(sys.argv[1], "rb") as file:
        raw = file.read()
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    every = codecs()
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in every}
    made: dict[str, bytes] = {}
    for _ in range(runs):
        for name, (compress, decompress, _) in every.items():
            took, made[name] = timed(compress, raw)
            times[name][0].append(took)
            took, again = timed(decompress, made[name])
            times[name][1].append(took)
            assert again == raw, name
    print(f"{'':18} {'bytes':>12} {'compress':>9} {'restore':>9}  ms per read of 64 KiB")
    for name, (there, back) in times.items():
        rates = [len(raw) / 1e6 / statistics.median(took) for took in (there, back)]
        opener = every[name][2]
        seeks = f"{reads(opener(made[name]), raw):8.2f}" if opener else ""
        print(f"{name:18} {len(made[name]):12} {rates[0]:9.1f} {rates[1]:9.1f}  {seeks}")


if __name__ == "__main__":
    main()
