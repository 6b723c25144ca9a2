"""Arguments of every kind to every door, and objects that are used as they should not be."""

from __future__ import annotations

import copy
import io
import os
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import bwz

GENOME = b">chr1 first\nACGTac\ngtAC\n>chr2\nTTT\n"
FILE = bwz.compress(b"she sells sea shells " * 500, index=True)
TOO_MANY_THREADS = [1025, 4096, 65_536, 2**31, 2**32, 2**63, 2**64, 10**30, -1, -(2**64)]
ODD = [None, "x", b"x", b"", "", 1.5, float("nan"), float("inf"), True, [], [1], (), {}, object, 1j]
NUMBERS = [0, 1, -1, 255, 256, 2**31, 2**32, 2**63 - 1, 2**63, 2**64, -(2**63), 10**30]


def doors(**options: Any) -> list[Any]:
    """Every way to give options to bwz, as calls."""
    return [
        lambda: bwz.compress(b"abc", **options),
        lambda: bwz.decompress(FILE, **options),
        lambda: bwz.Compressor(**options).flush(),
        lambda: bwz.Decompressor(**options).decompress(FILE),
        lambda: bwz.Archive(io.BytesIO(FILE), **options).count(["sea"]),
        lambda: bwz.open(io.BytesIO(FILE), **options).read(),
        lambda: bwz.open(io.BytesIO(), "wb", **options).close(),
    ]


@pytest.mark.parametrize("threads", TOO_MANY_THREADS)
def test_threads_out_of_range_are_refused_at_every_door(threads: int) -> None:
    for door in doors(threads=threads):
        with pytest.raises(ValueError, match="0 to 1024"):
            door()


@pytest.mark.parametrize("threads", [0, 1, 2, 63, 64, 65, 512, 1024])
def test_threads_in_range_are_taken_and_bounded(threads: int, text: bytes) -> None:
    for door in doors(threads=threads):
        door()
    path, peak, done = Path("/proc/self/status"), 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while path.exists() and not done.is_set():
            [line] = [line for line in path.read_text().splitlines() if "Threads:" in line]
            peak = max(peak, int(line.split()[1]))
            time.sleep(0.002)

    watcher = threading.Thread(target=watch)
    watcher.start()
    file = bwz.compress(text, block_size=100_000, threads=threads)
    assert bwz.decompress(file, threads=threads) == text
    done.set()
    watcher.join()
    most = min(max(4 * len(os.sched_getaffinity(0)), 64), 1024)
    # Each one has up to two of the pipeline beside it.
    assert peak < 3 * most + 60


def test_a_small_input_starts_few_threads() -> None:
    began = time.monotonic()
    for _ in range(50):
        bwz.compress(b"abc", threads=1024)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
@pytest.mark.parametrize(
    "make",
    [
        bwz.Compressor,
        bwz.Decompressor,
        lambda: bwz.Archive(io.BytesIO(FILE)),
        lambda: bwz.open(io.BytesIO(FILE)),
    ],
)
def test_what_has_threads_is_not_copied(make: Any, copied: Any) -> None:
    made = make()
    with pytest.raises(TypeError, match="copied or pickled"):
        copied(made)


class ForgetfulCompressor(bwz.Compressor):
    def __init__(self) -> None:
        pass


class ForgetfulDecompressor(bwz.Decompressor):
    def __init__(self) -> None:
        pass


class ForgetfulArchive(bwz.Archive):
    def __init__(self) -> None:
        pass


class ForgetfulFile(bwz.BwzFile):
    def __init__(self) -> None:
        pass


@pytest.mark.parametrize(
    ("make", "use"),
    [
        (ForgetfulCompressor, lambda made: made.compress(b"abc")),
        (ForgetfulCompressor, lambda made: made.flush()),
        (ForgetfulDecompressor, lambda made: made.decompress(b"abc")),
        (ForgetfulDecompressor, lambda made: made.flush()),
        (ForgetfulDecompressor, lambda made: made.eof),
        (ForgetfulDecompressor, lambda made: made.needs_input),
        (ForgetfulArchive, lambda made: made.info),
        (ForgetfulArchive, lambda made: made.count(["a"])),
        (ForgetfulArchive, lambda made: made.read_range(0, 1)),
        (ForgetfulFile, lambda made: made.read(1)),
        (ForgetfulFile, lambda made: made.write(b"abc")),
        (ForgetfulFile, lambda made: made.seek(0)),
        (ForgetfulFile, lambda made: made.tell()),
        (ForgetfulFile, lambda made: made.readable()),
        (ForgetfulFile, lambda made: made.name),
    ],
)
def test_a_subclass_that_was_not_initialized_says_so(make: Any, use: Any) -> None:
    made = make()
    with pytest.raises(ValueError, match=r"super\(\).__init__"):
        use(made)
    if hasattr(made, "close"):
        made.close()


class LyingFile(io.BytesIO):
    """A file one of whose methods gives something else."""

    def __init__(self, data: bytes, method: str, lie: Any) -> None:
        super().__init__(data)
        self.__dict__[method] = lambda *arguments: lie(*arguments) if callable(lie) else lie


@pytest.mark.parametrize(
    ("lie", "error"),
    [
        (lambda data: len(data) + 1, ValueError),
        (lambda data: 2**31, ValueError),
        (2**64, ValueError),
        (10**30, ValueError),
        (-1, ValueError),
        (-(2**70), ValueError),
        (0, ValueError),
        (None, BlockingIOError),
        ("3", TypeError),
        (b"3", TypeError),
        (3.0, TypeError),
        ([], TypeError),
    ],
)
@pytest.mark.parametrize("size", [0, 100, 3_000_000])
def test_a_write_that_lies_is_refused(lie: Any, error: Any, size: int) -> None:
    file = bwz.open(LyingFile(b"", "write", lie), "wb", level=1)
    with pytest.raises(error, match=r"write\(\) of the file object"):
        for _ in range(4):
            file.write(os.urandom(size))
        file.close()
    assert file.closed or file.close() is None


@pytest.mark.parametrize(
    ("method", "lie", "error"),
    [
        ("read", lambda size=-1: b"x" * (size + 1), ValueError),
        ("read", lambda size=-1: b"x" * 10_000_000, ValueError),
        ("read", "text", TypeError),
        ("read", None, BlockingIOError),
        ("read", 7, TypeError),
        ("read", [b"x"], TypeError),
        ("read", memoryview(b"x"), TypeError),
        ("seek", lambda offset, whence=0: offset + 1 if whence == 0 else 10_000, ValueError),
        ("seek", "0", TypeError),
        ("seek", -1, TypeError),
        ("seek", 10**30, TypeError),
        ("tell", -1, TypeError),
        ("tell", "0", TypeError),
        ("tell", None, TypeError),
        ("tell", 2**64, TypeError),
    ],
)
def test_a_file_that_lies_when_it_is_read_is_refused(method: str, lie: Any, error: Any) -> None:
    for use in [
        lambda file: bwz.Archive(file).read_range(0, 5),
        lambda file: bwz.open(file).read(),
    ]:
        with pytest.raises(error, match=rf"{method}\(.*\) of the file object"):
            use(LyingFile(FILE, method, lie))


def test_seeks_that_say_nothing_are_believed() -> None:
    class Old:
        def __init__(self) -> None:
            self.file = io.BytesIO(FILE)
            self.read, self.tell = self.file.read, self.file.tell

        def seek(self, *where: int) -> None:
            self.file.seek(*where)

    assert bwz.Archive(Old()).read_range(4, 9) == b"sells"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "read",
    [
        lambda path: bwz.decompress(b""),
        lambda path: bwz.decompress(bytearray()),
        lambda path: bwz.open(path).read(),
        lambda path: bwz.open(path, "rt", encoding="utf-8").read(),
        lambda path: bwz.open(path).readline(),
        lambda path: bwz.open(io.BytesIO(b"")).read(1),
        lambda path: bwz.Archive(path),
        lambda path: bwz.Archive(io.BytesIO(b"")),
        lambda path: bwz.Decompressor().flush(),
    ],
)
def test_nothing_is_an_end_of_file(read: Any, tmp_path: Path) -> None:
    path = tmp_path / "empty.bwz"
    path.write_bytes(b"")
    with pytest.raises(EOFError, match="empty") as raised:
        read(path)
    assert isinstance(raised.value, bwz.TruncatedError)


def test_a_step_of_nothing_gives_nothing() -> None:
    assert bwz.Decompressor().decompress(b"") == b""


@pytest.mark.parametrize("index", [False, True, 0, 8])
def test_locate_gives_all_or_as_many_as_are_asked_for(index: Any) -> None:
    text = b"ab" * 5000
    archive = bwz.Archive(io.BytesIO(bwz.compress(text, block_size=3000, index=index)))
    every = list(range(0, 10_000, 2))
    assert archive.locate(["ab"])[0] == (5000, every)
    assert archive.locate(["ab"], None)[0] == (5000, every)
    for limit in [0, 1, 7, 999, 1000, 1001, 4999, 5000, 5001, 2**31, 2**63, 2**64 - 1]:
        count, positions = archive.locate(["ab"], limit=limit)[0]
        assert (count, positions) == (5000, every[:limit])
    for limit in [-1, -(2**63), 2**64, 10**30]:
        with pytest.raises(ValueError, match="limit"):
            archive.locate(["ab"], limit)
    for wrong in ["1", 1.0, b"1", []]:
        with pytest.raises(TypeError, match="limit"):
            archive.locate(["ab"], wrong)


OPTIONS = [
    "level",
    "threads",
    "memory",
    "device",
    "effort",
    "index",
    "verify",
    "trust_gpus",
    "notes",
    "content_size",
    "stream_check",
    "block_size",
    "split_at",
    "match_case",
    "ignore_case",
    "letters",
    "mismatches",
    "limit_output",
    "no_such_option",
]


@pytest.mark.parametrize("trust_gpus", [None, False, True])
def test_the_bytes_are_the_same_whether_gpus_are_trusted_or_not(trust_gpus: bool | None) -> None:
    text = b"one two three " * 5000
    expected = bwz.compress(text)
    assert bwz.compress(text, trust_gpus=trust_gpus) == expected
    compressor = bwz.Compressor(trust_gpus=trust_gpus)
    assert compressor.compress(text) + compressor.flush() == expected
    file = io.BytesIO()
    with bwz.open(file, "wb", trust_gpus=trust_gpus) as writer:
        writer.write(text)
    assert bwz.decompress(file.getvalue()) == text
    with pytest.raises(TypeError, match="trust_gpus is True or False"):
        bwz.compress(text, trust_gpus="no")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", OPTIONS)
def test_options_of_any_kind_are_taken_or_refused(name: str) -> None:
    for value in ODD + NUMBERS:
        for door in doors(**{name: value}):
            try:
                door()
            except (TypeError, ValueError, bwz.BwzError) as error:
                assert str(error)


ARCHIVE_CALLS = {
    "count": lambda archive, value: archive.count(value),
    "count one": lambda archive, value: archive.count([value]),
    "locate": lambda archive, value: archive.locate(value),
    "locate one": lambda archive, value: archive.locate([value]),
    "limit": lambda archive, value: archive.locate(["AC"], value),
    "start": lambda archive, value: archive.read_range(value, 5),
    "end": lambda archive, value: archive.read_range(1, value),
    "extract": lambda archive, value: archive.extract(value),
    "extract pair": lambda archive, value: archive.extract([(value, value)]),
    "extract one": lambda archive, value: archive.extract([value]),
    "region": lambda archive, value: archive.region(value, 0, 5),
    "region start": lambda archive, value: archive.region("chr1", value, 5),
    "region end": lambda archive, value: archive.region("chr1", 0, value),
    "places": lambda archive, value: archive.places(value),
    "places one": lambda archive, value: archive.places([value]),
}


@pytest.mark.parametrize("call", ARCHIVE_CALLS)
def test_archives_take_or_refuse_any_argument(call: str) -> None:
    archive = bwz.Archive(io.BytesIO(bwz.compress(GENOME, index=True)))
    for value in ODD + NUMBERS:
        try:
            ARCHIVE_CALLS[call](archive, value)
        except (TypeError, ValueError, bwz.BwzError) as error:
            assert str(error)
        # It goes on.
        assert archive.read_range(0, 5) == b">chr1"


@pytest.mark.parametrize("value", [*ODD, *NUMBERS])
def test_what_is_no_file_and_no_bytes_is_refused(value: Any) -> None:
    is_bytes = isinstance(value, bytes)
    for make in [bwz.Archive, bwz.open, lambda value: bwz.open(value, "wb")]:
        if isinstance(value, (str, bytes)):
            continue
        with pytest.raises((TypeError, ValueError)):
            make(value)
    file = bwz.open(io.BytesIO(FILE))
    for call in [
        bwz.compress,
        bwz.decompress,
        bwz.Compressor().compress,
        bwz.Decompressor().decompress,
        bwz.open(io.BytesIO(), "wb").write,
        file.readinto,
    ]:
        try:
            call(value)
        except (TypeError, ValueError, EOFError, bwz.BwzError) as error:
            assert is_bytes or isinstance(error, (TypeError, ValueError))
    for method in [file.read, file.read1, file.readline, file.seek, file.peek]:
        try:
            method(value)
        except (TypeError, ValueError, OverflowError, MemoryError) as error:
            assert str(error) or isinstance(error, MemoryError)


def test_one_object_is_used_by_many_threads(text: bytes) -> None:
    file = bwz.compress(text, block_size=200_000, index=True)
    archive = bwz.Archive(io.BytesIO(file))
    reader = bwz.open(io.BytesIO(file))
    # All is one block, which comes out at the end.
    compressor, decompressor = bwz.Compressor(block_size=4_000_000), bwz.Decompressor()
    decompressed: list[bytes] = []

    def work(number: int) -> int:
        start = number * 31_337 % (len(text) - 100)
        assert archive.read_range(start, start + 100) == text[start : start + 100]
        assert archive.count([text[:6]])[0] > 0
        compressor.compress(b"%04d\n" % number * 1000)
        decompressed.append(decompressor.decompress(b""))
        return len(reader.read(1000))

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(40))) == 40_000
    whole = bwz.decompress(compressor.flush())
    assert sorted(whole.split()) == sorted(b"%04d" % n for n in range(40) for _ in range(1000))
    assert not any(decompressed)


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="it looks into /proc")
def test_a_thousand_opens_and_closes_leave_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.bwz"
    path.write_bytes(FILE)
    script = f"""
import gc, io, os, time
import bwz

path, file = {str(path)!r}, open({str(path)!r}, "rb").read()

def once():
    with bwz.Archive(path) as archive:
        archive.count(["sea"])
    with bwz.open(path) as lines:
        lines.read(10)
    with bwz.open(path + ".out", "wb", level=1) as out:
        out.write(b"abc")
    bwz.Archive(path)
    bwz.Compressor().compress(b"abc")
    bwz.Decompressor().decompress(file[:50])

def size():
    gc.collect()
    time.sleep(0.5)
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    memory, threads = (int(status[key].split()[0]) for key in ("VmRSS", "Threads"))
    return len(os.listdir("/proc/self/fd")), threads, memory

for _ in range(100):
    once()
before = size()
for _ in range(1000):
    once()
print(*before, *size())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    descriptors, threads, memory, *after = map(int, done.stdout.split())
    assert after[0] == descriptors
    assert after[1] <= threads
    assert after[2] < memory + 20_000
