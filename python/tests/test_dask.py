"""Dask with two processes: what it gives is what is had without it, even where a worker is killed."""

from __future__ import annotations

import os
import re
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import bwz
import bwz.dask
import dask
import pytest
from distributed import Client, LocalCluster
from test_fsspec import text

FILES = 4
SIZE = 120_000
BLOCK = 10_000
PATTERNS = [b"sea", b"shells are", b"ells\nshe", b"absent", b" 1"]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files with and without an index, split at lines and not."""
    folder = tmp_path_factory.mktemp("files")
    for n, options in enumerate([{}, {"index": True}, {"split_at": b"\n"}, {"index": True, "split_at": b"\n"}]):
        file = bwz.compress(text(SIZE, seed=n), block_size=BLOCK, **options)
        (folder / f"{n}.bwz").write_bytes(file)
    return folder


def raws() -> list[bytes]:
    return [text(SIZE, seed=n) for n in range(FILES)]


def words() -> Counter[str]:
    return sum((Counter(raw.decode().split()) for raw in raws()), Counter())


def tasks(collection: dask.base.DaskMethodsMixin) -> int:
    return len(dict(collection.__dask_graph__()))


def positions(raw: bytes, pattern: bytes) -> list[int]:
    return [match.start() for match in re.finditer(b"(?=" + re.escape(pattern) + b")", raw)]


def test_bytes_are_the_files(client: Client, folder: Path) -> None:
    parts = bwz.dask.read_bytes(f"{folder}/*.bwz", 5 * BLOCK // 2)
    assert len(parts) == FILES * 6
    assert all(tasks(part) == len(parts) for part in parts[:2])
    assert b"".join(dask.compute(*parts)) == b"".join(raws())


def test_words_are_counted(client: Client, folder: Path) -> None:
    expected = words()
    for blocksize in (1, 5 * BLOCK // 2, 1 << 30):
        lines = bwz.dask.read_text(f"{folder}/*.bwz", blocksize)
        assert tasks(lines) == lines.npartitions
        assert dict(lines.str.split().flatten().frequencies().compute()) == expected
    assert lines.npartitions == FILES
    records = bwz.dask.bag([f"{folder}/2.bwz", f"{folder}/0.bwz"], delimiter=b"e", trust_cuts=False).compute()
    assert b"".join(records) == raws()[2] + raws()[0]
    assert all(record.index(b"e") == len(record) - 1 for record in records[:1000])


def test_patterns_are_counted_and_located(client: Client, folder: Path) -> None:
    counts = bwz.dask.count(f"{folder}/*.bwz", PATTERNS)
    matches = bwz.dask.locate(f"{folder}/*.bwz", [pattern.decode() for pattern in PATTERNS])
    assert tasks(counts) == tasks(matches) == counts.npartitions == FILES
    expected = [[positions(raw, pattern) for pattern in PATTERNS] for raw in raws()]
    assert [found.positions for found in matches.compute()] == expected
    assert [found.counts for found in counts.compute()] == [[len(places) for places in file] for file in expected]
    assert [Path(found.path).name for found in counts.compute()] == [f"{n}.bwz" for n in range(FILES)]
    few = bwz.dask.locate(f"{folder}/*.bwz", ["sea"], 3).compute()
    assert all(len(found.positions[0]) == 3 for found in few)


def test_files_are_compressed(client: Client, tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    for n, raw in enumerate(raws()):
        (tmp_path / f"raw/{n}.txt").write_bytes(raw)
    written = bwz.dask.compress(f"{tmp_path}/raw/*.txt", tmp_path / "out", level=1, split_at=b"\n")
    assert tasks(written) == FILES
    names = written.compute()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [f"{n}.txt.bwz" for n in range(FILES)]
    for name, raw in zip(names, raws(), strict=True):
        assert Path(name).read_bytes() == bwz.compress(raw, level=1, split_at=b"\n")
    with pytest.raises(ValueError, match="same name"):
        bwz.dask.compress([f"{tmp_path}/raw/0.txt"] * 2, tmp_path / "out")
    with pytest.raises(FileNotFoundError, match="absent"):
        bwz.dask.read_bytes(f"{tmp_path}/absent*")


def slowly(lines: list[str]) -> list[str]:
    time.sleep(0.1)
    return lines


def test_a_killed_workers_partitions_are_done_again(client: Client, folder: Path) -> None:
    expected = words()
    lines = bwz.dask.read_text(f"{folder}/*.bwz", BLOCK).map_partitions(slowly)
    counted = client.compute(lines.str.split().flatten().frequencies())
    victim = next(iter(client.run(os.getpid).values()))
    deadline = time.monotonic() + 30
    while sum(len(keys) for keys in client.has_what().values()) < 10:
        assert time.monotonic() < deadline, "the work does not begin"
        time.sleep(0.05)
    assert not counted.done()
    os.kill(victim, signal.SIGKILL)
    assert dict(counted.result(timeout=60)) == expected
    assert victim not in client.run(os.getpid).values()
