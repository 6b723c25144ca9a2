"""A cluster of processes on this machine over files of bwz, with a worker killed: ``python cluster.py FOLDER FILE...``.

From the raw bytes of the FILEs, one behind the other and again from the first, 1 GB is written to FOLDER as 20 files, half of
them with an index and split at lines. The lengths of all words are counted, and 1,000 patterns in each file: without Dask, by
2 processes, by 4, and the words once more by 4 of which one is killed. The first that differs ends with an error.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bwz
import bwz.dask
import dask
from dask._task_spec import Alias
from dask.bag import Bag
from distributed import Client, LocalCluster

FILES = 20
SIZE = 50_000_000
PARTITION = 32 << 20
PATTERNS = 1000
PATTERN = 12
CHECKED = 10
"""Patterns that are looked for in the raw bytes as well, by Python alone."""


def raw_file(raw: bytes, n: int) -> bytes:
    start = n * SIZE % len(raw)
    return (raw[start:] + raw * (SIZE // len(raw) + 1))[:SIZE]


def write(folder: Path, raw: bytes) -> list[Path]:
    """The files, those that are there already as they are."""
    paths = [folder / f"{n:02}.bwz" for n in range(FILES)]
    for n, path in enumerate(paths):
        options: dict[str, Any] = {"index": True, "split_at": b"\n"} if n % 2 else {}
        if not path.exists():
            path.write_bytes(bwz.compress(raw_file(raw, n), level=4, **options))
    return paths


def word_lengths(lines: list[str]) -> list[Counter[int]]:
    return [Counter(len(word) for line in lines for word in line.split())]


def occurrences(raw: bytes, pattern: bytes) -> int:
    """Overlapping ones too."""
    number, at = 0, raw.find(pattern)
    while at >= 0:
        number, at = number + 1, raw.find(pattern, at + 1)
    return number


def words(folder: Path) -> Bag:
    lines = bwz.dask.read_text(f"{folder}/*.bwz", PARTITION, encoding="latin-1")
    counted = lines.map_partitions(word_lengths)
    (fused,) = dask.optimize(counted)
    tasks = [task for task in dict(fused.__dask_graph__()).values() if not isinstance(task, Alias)]
    assert len(tasks) == counted.npartitions, "more tasks than partitions"
    return counted


def timed(name: str, work: Callable[[], Any]) -> Any:
    start = time.perf_counter()
    made = work()
    print(f"{name:48} {time.perf_counter() - start:7.1f} s", flush=True)
    return made


def with_cluster(processes: int, folder: Path, patterns: list[bytes], lengths: Counter[int], found: list[Any]) -> None:
    with (
        LocalCluster(n_workers=processes, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        counted = timed(f"words, {processes} processes", lambda: sum(words(folder).compute(), Counter()))
        assert counted == lengths
        counts = bwz.dask.count(f"{folder}/*.bwz", patterns)
        assert counts.npartitions == len(dict(counts.__dask_graph__())) == FILES
        assert timed(f"{PATTERNS} patterns, {processes} processes", counts.compute) == found
        if processes > 2:
            counted = timed(f"words, one of {processes} processes killed", lambda: killed(client, words(folder)))
            assert counted == lengths


def killed(client: Client, lengths: Bag) -> Counter[int]:
    """What comes of it where a worker is killed that has a result."""
    futures = client.compute(lengths.to_delayed())
    while sum(future.done() for future in futures) < len(futures) // 2:
        time.sleep(0.05)
    held = client.has_what()
    victim = max(held, key=lambda worker: len(held[worker]))
    os.kill(client.run(os.getpid, workers=[victim])[victim], signal.SIGKILL)
    print(f"    a worker with {len(held[victim])} of {len(futures)} results is killed", flush=True)
    return sum((counter for part in client.gather(futures) for counter in part), Counter())


def main() -> None:
    folder, *names = sys.argv[1:]
    raw = b"".join(Path(name).read_bytes() for name in names)
    chance = random.Random(1)
    starts = [chance.randrange(len(raw) - PATTERN) for _ in range(PATTERNS)]
    patterns = [raw[start : start + PATTERN] for start in starts]
    paths = timed("compress", lambda: write(Path(folder), raw))
    print(f"{FILES * SIZE} bytes in {sum(path.stat().st_size for path in paths)}")
    alone = timed("words, of the raw bytes", lambda: of_the_raw(raw))
    found = timed(f"{PATTERNS} patterns, without Dask", lambda: [count(path, patterns) for path in paths])
    for n in range(FILES):
        these = raw_file(raw, n)
        expected = [occurrences(these, pattern) for pattern in patterns[:CHECKED]]
        assert found[n].counts[:CHECKED] == expected, paths[n]
    for processes in (2, 4):
        with_cluster(processes, Path(folder), patterns, alone, found)


def of_the_raw(raw: bytes) -> Counter[int]:
    lengths: Counter[int] = Counter()
    for n in range(FILES):
        lengths += word_lengths(raw_file(raw, n).decode("latin-1").split("\n"))[0]
    return lengths


def count(path: Path, patterns: list[bytes]) -> bwz.dask.Counts:
    with bwz.Archive(path, threads=1) as archive:
        return bwz.dask.Counts(str(path), archive.count(patterns))


if __name__ == "__main__":
    main()
