"""What a read of 64 KiB costs in a large file: ``python range_reads.py COMPRESSED [READS]``.

Printed are the median milliseconds, the mean of the processor's, and the bytes of the file that are read, of reads from random
places, each by an archive that is opened anew, by one that stays open, and by a ``BwzFile``, all with one thread.
"""

from __future__ import annotations

import io
import random
import statistics
import sys
import time
from collections.abc import Callable

import bwz

PIECE = 64 << 10


class Counted(io.FileIO):
    """A file that counts the bytes that are read of it."""

    given = 0

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        number = super().readinto(buffer)
        self.given += number or 0
        return number or 0

    def read(self, size: int | None = -1, /) -> bytes:
        given = super().read(-1 if size is None else size)
        self.given += len(given or b"")
        return given or b""


def measure(name: str, file: Counted, places: list[int], read: Callable[[int], bytes]) -> None:
    file.given = 0
    times = []
    before = time.process_time()
    for place in places:
        start = time.perf_counter()
        assert len(read(place)) == PIECE
        times.append(time.perf_counter() - start)
    cpu = (time.process_time() - before) / len(places)
    median, given = statistics.median(times), file.given / len(places)
    print(f"{name:24} {median * 1000:9.2f} ms {cpu * 1000:9.2f} ms of CPU {given / 1e6:8.3f} MB a read")


def main() -> None:
    path = sys.argv[1]
    number = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    # Each has its own, since threads of one that is open read ahead in it.
    with (
        Counted(path) as file,
        Counted(path) as below,
        bwz.Archive(file, threads=1) as archive,
        bwz.open(below, threads=1) as opened,
    ):
        size = archive.info.raw_size
        chance = random.Random(1)
        places = [chance.randrange(size - PIECE) for _ in range(number)]
        print(f"{size} raw bytes, {sum(1 for _ in archive.blocks())} blocks, tables in {file.given} bytes")

        def anew(place: int) -> bytes:
            other.seek(0)
            with bwz.Archive(other, threads=1) as archive:
                return archive.read_range(place, place + PIECE)

        def sought(place: int) -> bytes:
            opened.seek(place)
            return opened.read(PIECE)

        with Counted(path) as other:
            measure("Archive, opened anew", other, places, anew)
        measure("Archive", file, places, lambda place: archive.read_range(place, place + PIECE))
        measure("BwzFile", below, places, sought)


if __name__ == "__main__":
    main()
