"""What goes wrong: damage, limits, files that fail, and signals."""

from __future__ import annotations

import io
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
import zlib
from contextlib import contextmanager

import pytest

import bwz


class Broken(Exception):
    """What a file raises."""


class BreakingFile(io.BytesIO):
    """A file whose reads and writes fail after some."""

    def __init__(self, data: bytes = b"", calls: int = 0) -> None:
        super().__init__(data)
        self.calls = calls

    def _count(self):
        self.calls -= 1
        if self.calls < 0:
            raise Broken("on purpose")

    def read(self, size=-1):
        self._count()
        return super().read(size)

    def write(self, data):
        self._count()
        return super().write(data)


def test_damage_is_named_by_block_and_offset(text):
    file = bytearray(bwz.compress(text, block_size=500_000))
    block = bwz.Archive(io.BytesIO(file)).blocks()[3]
    file[(block.coded_start + block.coded_end) // 2] ^= 1
    file = bytes(file)

    def archive():
        bwz.Archive(io.BytesIO(file)).read_range(1_499_999, 2_000_000)

    def steps():
        decompressor = bwz.Decompressor()
        assert decompressor.decompress(file) == text[:1_500_000]
        decompressor.flush()

    def seek():
        raw = bwz.open(io.BytesIO(file))
        raw.seek(1_600_000)
        raw.read(1)

    ways = [
        lambda: bwz.decompress(file),
        lambda: bwz.open(io.BytesIO(file)).read(),
        steps,
        archive,
        seek,
    ]
    for way in ways:
        with pytest.raises(bwz.FormatError) as damaged:
            way()
        assert (damaged.value.block, damaged.value.offset) == (3, block.coded_start)
        again = pickle.loads(pickle.dumps(damaged.value))
        assert (str(again), again.block) == (str(damaged.value), 3)
    raw = bwz.open(io.BytesIO(file))
    assert raw.read(1_500_000) == text[:1_500_000]


def test_a_file_that_ends_too_early_is_an_end_of_file(text):
    file = bwz.compress(text, level=1)
    for end in (40, 1000, len(file) - 1):
        for way in (bwz.decompress, lambda part: bwz.open(io.BytesIO(part)).read()):
            with pytest.raises(EOFError) as cut:
                way(file[:end])
            assert isinstance(cut.value, bwz.TruncatedError)
        decompressor = bwz.Decompressor()
        decompressor.decompress(file[:end])
        assert not decompressor.eof
        with pytest.raises(bwz.TruncatedError):
            decompressor.flush()


def test_a_decompressor_that_has_failed_says_so_again():
    for data in (b"plain text" * 10, bwz.compress(b"abc")[:-1] + b"x"):
        decompressor = bwz.Decompressor()
        with pytest.raises(bwz.FormatError):
            while decompressor.decompress(data):
                data = b""
        for use in (lambda: decompressor.decompress(data), decompressor.flush):
            with pytest.raises(ValueError, match="failed before"):
                use()


def test_what_has_no_bytes_does_not_end_a_file():
    out = io.BytesIO()
    with bwz.open(out, "wb") as writer:
        writer.write(b"one ")
        for wrong in ("text", 3, memoryview(b"abcd")[::2]):
            with pytest.raises((TypeError, BufferError)):
                writer.write(wrong)
        writer.write(b"two")
    assert bwz.decompress(out.getvalue()) == b"one two"


def test_sizes_that_a_file_claims_are_not_trusted(text):
    raw = text[:200_000]
    file = bwz.compress(raw)
    for claimed in (0, 1, 199_999, 200_001, 1 << 24, 1 << 55):
        footer = claimed.to_bytes(7, "little") + file[-29:-8]
        footer += zlib.crc32(footer).to_bytes(4, "little") + file[-4:]
        with pytest.raises(bwz.FormatError, match="raw size does not match"):
            bwz.decompress(file[:-36] + footer)
    zeros = bytes(30_000_000)
    assert bwz.decompress(bwz.compress(zeros)) == zeros
    assert bwz.decompress(file + bwz.compress(zeros)) == raw + zeros


def test_other_files_and_limits():
    with pytest.raises(bwz.FormatError, match="not a bwz file"):
        bwz.decompress(b"plain text")
    with pytest.raises(bwz.FormatError, match="not a bwz file"):
        bwz.Archive(io.BytesIO(b"plain text"))
    with pytest.raises(bwz.OutputLimitError) as much:
        bwz.decompress(bwz.compress(bytes(100_000)), limit_output=99_999)
    assert (much.value.needed, much.value.allowed) == (100_000, 99_999)
    with pytest.raises(MemoryError) as small:
        bwz.decompress(bwz.compress(bytes(1000) + b"a" * 1_000_000), memory=1000)
    assert isinstance(small.value, bwz.LimitError)
    with pytest.raises(bwz.UsageError):
        bwz.Archive(io.BytesIO(bwz.compress(b"abc"))).read_range(1, 4)
    if not bwz.CUDA_BUILT:
        with pytest.raises(bwz.DeviceError):
            bwz.compress(b"abc", device="cuda")


def test_what_a_file_raises_comes_through(text):
    file = bwz.compress(text, block_size=100_000)
    with pytest.raises(Broken):
        bwz.open(BreakingFile(file, 0)).read()
    with pytest.raises(Broken):
        bwz.open(BreakingFile(file, 30)).read()
    with pytest.raises(Broken):
        bwz.Archive(BreakingFile(file, 1))
    out = BreakingFile(calls=1)
    with pytest.raises(Broken), bwz.open(out, "wb", block_size=100_000) as writer:
        for _ in range(100):
            writer.write(text)
    with pytest.raises(OSError), bwz.open("/dev/full", "wb") as writer:
        writer.write(text)


def test_file_objects_that_are_none():
    class Text(io.BytesIO):
        def read(self, size=-1):
            return "text"

    with pytest.raises(TypeError, match="not bytes"):
        bwz.open(Text(b"123")).read()


INTERRUPTED = """
import os, signal, sys, threading, time
import bwz
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have turned it off
noise = os.urandom(32 << 20).hex().encode()  # takes seconds, as what repeats itself does not
def compress(): bwz.compress(noise, level=9, threads=1, effort="best")
def write():
    with bwz.open("/dev/null", "wb", level=9, threads=1, effort="best") as out:
        while True: out.write(noise)
sent = 0.0
def send():
    global sent
    sent = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(1.0, send).start()
try:
    {"compress": compress, "write": write}[sys.argv[1]]()
except KeyboardInterrupt:
    print(time.monotonic() - sent, flush=True)
    os._exit(0)
os._exit(1)
"""


@pytest.mark.parametrize("way", ["compress", "write"])
def test_an_interrupt_ends_work_at_once(way):
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, way], check=False, capture_output=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    assert float(ran.stdout) < 2


@contextmanager
def interrupted():
    """An exception that a signal raises ends at once what is done here."""
    before = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError()))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        from_here = time.monotonic()
        with pytest.raises(TimeoutError):
            yield
        assert time.monotonic() - from_here < 2
    finally:
        signal.signal(signal.SIGALRM, before)


def test_an_interrupted_archive_goes_on():
    chance = random.Random(3)
    text = chance.randbytes(40_000_000)
    archive = bwz.Archive(io.BytesIO(bwz.compress(text, threads=2)), threads=1)
    with interrupted():
        archive.count([b"never there %d" % n for n in range(3000)])
    assert archive.count([text[1000:1010]]) == [1]


def test_an_interrupted_decompression_may_be_done_again(text):
    file = bwz.compress(text, effort="best", threads=1)
    with interrupted():
        bwz.decompress(file, threads=1)
    assert bwz.decompress(file) == text


def test_the_gil_is_released():
    noise = os.urandom(8_000_000)
    steps, done = 0, threading.Event()

    def work():
        bwz.compress(noise, threads=1)
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    while not done.is_set():
        steps += 1
        time.sleep(0.001)
    worker.join()
    assert steps > 20
