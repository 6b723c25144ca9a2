"""Forks, other processes, the end of Python, and pipes that nothing comes through."""

from __future__ import annotations

import io
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path

import bwz
import pytest


@pytest.fixture
def path(text: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "text.bwz"
    path.write_bytes(bwz.compress(text, block_size=300_000))
    return path


def in_child(work: Callable[[], bool]) -> bool:
    """Whether `work` is so in a process that is forked off, within a time."""
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        try:
            os._exit(0 if work() else 1)
        except BaseException as raised:
            os.write(2, f"in the child: {raised!r}\n".encode())
            os._exit(2)
    return os.waitpid(child, 0)[1] == 0


def refused(work: Callable[[], object]) -> bool:
    try:
        work()
    except ValueError as error:
        return "in this process" in str(error)
    return False


def test_what_is_read_from_a_path_goes_on_in_both_processes(path: Path, text: bytes) -> None:
    with bwz.open(path) as file, bwz.Archive(path) as archive:
        assert file.read(200_000) == text[:200_000]
        archive.read_range(0, 10)
        assert in_child(lambda: file.read() == text[200_000:])
        assert in_child(lambda: file.seek(7) == 7 and file.read(9) == text[7:16])
        assert in_child(lambda: archive.read_range(9, 20) == text[9:20] and archive.count([b"\n"]) == [text.count(b"\n")])
        assert in_child(lambda: file.close() is None and archive.close() is None)
        assert file.read() == text[200_000:]
        assert archive.read_range(9, 20) == text[9:20]


def test_what_another_process_opened_is_refused(path: Path, text: bytes) -> None:
    file = bwz.open(io.BytesIO(path.read_bytes()))
    archive = bwz.Archive(io.BytesIO(path.read_bytes()))
    decompressor = bwz.Decompressor()
    file.read(10)
    assert in_child(lambda: refused(lambda: file.seek(1_000_000) and file.read()))
    assert in_child(lambda: refused(lambda: archive.read_range(0, 1)))
    assert in_child(lambda: refused(lambda: decompressor.decompress(path.read_bytes())) and refused(decompressor.flush))
    assert file.read() == text[10:]


def test_a_file_that_is_written_belongs_to_one_process(tmp_path: Path) -> None:
    for below in (tmp_path / "new.bwz", io.BytesIO()):
        file = bwz.open(below, "wb")
        file.write(b"one")
        assert in_child(lambda: refused(lambda: file.write(b"two")))
        assert in_child(lambda: file.close() is None)
        assert in_child(lambda: file.abandon() is None)
        file.write(b"three")
        file.close()
        data = below.getvalue() if isinstance(below, io.BytesIO) else below.read_bytes()
        assert bwz.decompress(data) == b"onethree"


def read_all(path: Path) -> bytes:
    return bwz.open(path).read()


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_pools(path: Path, text: bytes, method: str) -> None:
    with get_context(method).Pool(1) as pool:
        assert pool.map(read_all, [path] * 2) == [text] * 2


def test_files_are_not_pickled_or_copied(path: Path) -> None:
    for opened in (bwz.open(path), bwz.Archive(path)):
        with opened, pytest.raises(TypeError, match="open its path"):
            pickle.dumps(opened)


UNCLOSED = """
import bwz, io, sys
below = open(sys.argv[1], "wb")
file = bwz.open(below, sys.argv[2])
file.write("text" if "t" in sys.argv[2] else b"text")
"""


@pytest.mark.parametrize("mode", ["wb", "wt"])
def test_a_file_that_is_never_closed_is_whole_at_the_end(tmp_path: Path, mode: str) -> None:
    script = [sys.executable, "-c", UNCLOSED, tmp_path / "new", mode]
    ran = subprocess.run(script, check=True, capture_output=True, timeout=60)
    assert not ran.stderr
    assert bwz.open(tmp_path / "new").read() == b"text"


STUCK = """
import os, signal, sys
import bwz
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have turned it off
print("ready", flush=True)
def path():
    with bwz.open("/dev/stdin") as file: file.read()
def lines():
    for line in bwz.open("/dev/stdin", "rt"): pass
def buffered():
    with bwz.open(sys.stdin.buffer) as file: file.read()
def text():
    for line in bwz.open(sys.stdin.buffer, "rt"): pass
def unbuffered():
    with open(0, "rb", buffering=0, closefd=False) as below, bwz.open(below) as file: file.read()
def write():
    with bwz.open("/dev/stdout", "wb", block_size=1 << 20, threads=1) as file:
        while True: file.write(os.urandom(1 << 20))
try:
    {f.__name__: f for f in (path, lines, buffered, text, unbuffered, write)}[sys.argv[1]]()
except KeyboardInterrupt:
    sys.exit(7)
"""


@pytest.fixture
def stuck() -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    """Starts a process that waits for a pipe."""
    started: list[subprocess.Popen[bytes]] = []

    def start(way: str) -> subprocess.Popen[bytes]:
        script = [sys.executable, "-c", STUCK, way]
        process = subprocess.Popen(script, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        started.append(process)
        assert process.stdout and process.stdout.readline() == b"ready\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("sent", [0, 400_000])
@pytest.mark.parametrize("way", ["path", "lines", "buffered", "text", "unbuffered", "write"])
def test_an_interrupt_ends_the_wait_for_a_pipe(
    stuck: Callable[[str], subprocess.Popen[bytes]], way: str, sent: int, path: Path
) -> None:
    process = stuck(way)
    assert process.stdin
    if way != "write":
        process.stdin.write(path.read_bytes()[:sent])
        process.stdin.flush()
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=10) == 7


def test_a_pipe_gives_what_has_come_and_closing_ends_the_wait(path: Path, text: bytes) -> None:
    """What is buffered already is not waited for."""
    data = path.read_bytes()
    small = bwz.compress(b"small")
    for buffering in (-1, 0, 1 << 20):
        read, write = os.pipe()
        with open(write, "wb", buffering=0) as feed, open(read, "rb", buffering) as below:
            feed.write(b"head" + small)
            assert below.read(4) == b"head"
            feed.write(data[:30_000])
            file = bwz.open(below)
            assert file.read(5) == b"small"
            started = time.monotonic()
            file.close()
            assert time.monotonic() - started < 2
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat, bwz.open(cat.stdout) as file:
        assert file.read() == text
