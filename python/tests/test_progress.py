"""Progress: a callable gets numbers of raw bytes that add up, in the thread of the caller."""

from __future__ import annotations

import gc
import io
import threading
import weakref
from pathlib import Path

import pytest

import bwz

BLOCK = 100_000


class Bar:
    """Adds up the bytes. Fails after some of them, if told."""

    def __init__(self, most: int | None = None) -> None:
        self.done = 0
        self.calls = 0
        self.most = most
        self.threads: set[int] = set()

    def update(self, count: int) -> None:
        assert count > 0
        self.done += count
        self.calls += 1
        self.threads.add(threading.get_ident())
        if self.most is not None and self.done > self.most:
            raise KeyError("enough")


def test_bytes_add_up_to_the_raw_size(text: bytes) -> None:
    for raw in (b"", b"x", text[:50_000], text):
        to, back = Bar(), Bar()
        file = bwz.compress(raw, block_size=BLOCK, progress=to.update)
        assert bwz.decompress(file, progress=back.update) == raw
        assert to.done == back.done == len(raw)
        assert to.threads | back.threads <= {threading.get_ident()}
        assert file == bwz.compress(raw, block_size=BLOCK)


def test_a_file_is_counted_as_it_is_written(text: bytes, tmp_path: Path) -> None:
    bar = Bar()
    with bwz.open(tmp_path / "x.bwz", "wb", block_size=BLOCK, threads=2, progress=bar.update) as out:
        for start in range(0, len(text), 10_000):
            out.write(text[start : start + 10_000])
            assert bar.done <= out.tell()
        # A few blocks may wait, not all of them.
        assert bar.done > len(text) // 4
        out.end_block()
        assert bar.done == len(text)
        out.write(b"more")
    assert bar.done == len(text) + 4
    assert bar.calls > 5
    assert bar.threads == {threading.get_ident()}
    with bwz.open(tmp_path / "y.bwz", "wt", encoding="utf-8", progress=bar.update) as out:
        out.write("words")
    assert bar.done == len(text) + 9


@pytest.mark.parametrize("seekable", [True, False])
def test_a_file_is_counted_as_it_is_read(text: bytes, seekable: bool) -> None:
    file = io.BytesIO(bwz.compress(text, block_size=BLOCK))
    file.seekable = lambda: seekable  # type: ignore[method-assign]
    bar = Bar()
    with bwz.open(file, progress=bar.update) as lines:
        before = 0
        for line in lines:
            before += len(line)
            assert before <= bar.done <= before + (128 << 10)
    assert bar.done == len(text)
    file.seek(0)
    bar = Bar()
    with bwz.open(file, progress=bar.update) as reader:
        assert reader.read() == text
    assert bar.done == len(text)
    assert bar.calls >= 3


def test_an_exception_ends_the_work(text: bytes, tmp_path: Path) -> None:
    file = bwz.compress(text, block_size=BLOCK)
    with pytest.raises(KeyError, match="enough"):
        bwz.compress(text, block_size=BLOCK, progress=Bar(most=BLOCK).update)
    with pytest.raises(KeyError, match="enough"):
        bwz.decompress(file, progress=Bar(most=BLOCK).update)
    with pytest.raises(KeyError, match="enough"):
        bwz.open(io.BytesIO(file), progress=Bar(most=BLOCK).update).read()
    with bwz.open(tmp_path / "x.bwz", "wb", block_size=BLOCK, progress=Bar(most=BLOCK).update) as out:
        with pytest.raises(KeyError, match="enough"):
            out.write(text)
            out.end_block()
        with pytest.raises(io.UnsupportedOperation, match="has failed"):
            out.write(b"more")


def test_what_is_not_callable_is_refused(tmp_path: Path) -> None:
    for call in (
        lambda: bwz.compress(b"x", progress=3),
        lambda: bwz.decompress(b"x", progress=3),
        lambda: bwz.open(tmp_path / "x.bwz", "wb", progress=3),
        lambda: bwz.open(io.BytesIO(), progress=3),
    ):
        with pytest.raises(TypeError, match="progress is a callable, not 3"):
            call()


@pytest.mark.parametrize("mode", ["rb", "wb"])
def test_a_callable_that_refers_to_the_file_is_freed(mode: str, tmp_path: Path) -> None:
    bwz.open(tmp_path / "x.bwz", "wb").close()

    class Shown(Bar):
        file: object = None

    shown = Shown()
    shown.file = bwz.open(tmp_path / "x.bwz", mode, progress=shown.update)
    shown.file.close()
    seen = weakref.ref(shown)
    del shown
    gc.collect()
    assert seen() is None
