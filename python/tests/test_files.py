"""The file object: reading, seeking, closing, and who reads from it."""

from __future__ import annotations

import bz2
import io
import os
import random
import shutil
import subprocess
import sys
import threading

import pandas
import pyarrow
import pyarrow.csv
import pytest

import bwz


@pytest.fixture(scope="module", params=[{"block_size": 100_000}, {"level": 1, "index": True}])
def path(request, text, tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "text.bwz"
    path.write_bytes(bwz.compress(text, **request.param))
    return path


@pytest.mark.parametrize("threads", [1, 2])
def test_a_thousand_seeks_read_what_the_raw_file_has(path, text, threads):
    chance = random.Random(threads)
    raw = io.BytesIO(text)
    with bwz.open(path, threads=threads) as file:
        for _ in range(1000):
            size = chance.choice([1, 10, 1000, 200_000])
            match chance.randrange(4):
                case 0:
                    at = (chance.randrange(len(text) + 10), 0)
                case 1:
                    at = (-chance.randrange(len(text)), 2)
                case 2:
                    at = (chance.randrange(3000), 1)
                case _:
                    at = (raw.tell(), 0)
            assert file.seek(*at) == raw.seek(*at)
            assert file.read(size) == raw.read(size)
            assert file.tell() == raw.tell()


def test_seeks_in_a_file_object_that_stands_somewhere(path, text):
    below = io.BytesIO(b"in front" + path.read_bytes())
    below.seek(8)
    with bwz.open(below) as file:
        assert file.read(10) == text[:10]
        assert file.seek(-10, 2) == len(text) - 10
        assert file.read() == text[-10:]
        file.seek(0)
        assert file.read() == text
    assert not below.closed


def test_copyfileobj_text_and_lines(path, text):
    copy = io.BytesIO()
    with bwz.open(path) as file:
        shutil.copyfileobj(file, copy)
    assert copy.getvalue() == text
    with io.TextIOWrapper(bwz.open(path), encoding="ascii") as lines:
        assert sum(map(len, lines)) == len(text)
    with bwz.open(path) as file:
        assert file.peek(1)[:1] == text[:1]
        assert file.readline() == text[: text.index(b"\n") + 1]
        assert list(file) == text.splitlines(keepends=True)[1:]


@pytest.mark.parametrize("newline", [None, "", "\n", "\r", "\r\n"])
def test_line_ends_are_those_of_bz2(tmp_path, newline):
    raw = b"one\r\ntwo\rthree\n\nlast"
    kinds = []
    for module in (bz2, bwz):
        (tmp_path / "in").write_bytes(module.compress(raw))
        with module.open(tmp_path / "in", "rt", encoding="utf-8", newline=newline) as lines:
            read = list(lines)
        with module.open(tmp_path / "out", "wt", encoding="utf-8", newline=newline) as out:
            out.write("a\nb\r\nc\n")
        with module.open(tmp_path / "out") as written:
            kinds.append((read, written.read()))
    assert kinds[0] == kinds[1]


def test_readinto_fills_what_it_is_given(path, text):
    buffer = bytearray(1_000_000)
    with bwz.open(path) as file:
        assert file.readinto(buffer) == len(buffer)
        assert buffer == text[: len(buffer)]
        numbers = memoryview(bytearray(80)).cast("Q")
        assert file.readinto(numbers) == 80
        with pytest.raises((TypeError, ValueError, BufferError)):
            file.readinto(bytes(10))


def test_a_stream_that_does_not_seek(path, text):
    read, write = os.pipe()

    def feed():
        with open(write, "wb") as pipe:
            pipe.write(path.read_bytes())

    feeder = threading.Thread(target=feed)
    feeder.start()
    with open(read, "rb") as pipe, bwz.open(pipe) as file:
        assert not file.seekable()
        with pytest.raises(io.UnsupportedOperation):
            file.seek(10)
        assert file.read() == text
    feeder.join()


def test_pandas_and_pyarrow_read_a_file(tmp_path):
    table = pandas.DataFrame(
        {"n": range(50_000), "word": [["a", "b", "c"][n % 3] for n in range(50_000)]}
    )
    path = tmp_path / "table.bwz"
    with bwz.open(path, "wt", encoding="utf-8", newline="") as out:
        table.to_csv(out, index=False)
    with bwz.open(path) as file:
        assert pandas.read_csv(file).equals(table)
    with bwz.open(path) as file:
        assert pyarrow.csv.read_csv(file).to_pandas().equals(table)
    with bwz.open(path) as file:
        native = pyarrow.PythonFile(file, mode="r")
        native.seek(7)
        assert native.read(4) == b"0,a\n"


def test_closing_waits_for_a_read_of_another_thread(path, text):
    file = bwz.open(path, threads=1)
    ended = []

    def read():
        try:
            while file.read(10_000):
                pass
        except ValueError as error:
            ended.append(str(error))

    reader = threading.Thread(target=read)
    reader.start()
    file.peek()
    file.close()
    reader.join(30)
    assert not reader.is_alive()
    assert not ended or "closed" in ended[0]


def test_closed_files_say_so(path):
    file = bwz.open(path)
    file.close()
    file.close()
    for use in (file.read, file.tell, file.readable, file.seekable, file.readline):
        with pytest.raises(ValueError):
            use()
    archive = bwz.Archive(path)
    archive.close()
    archive.close()
    with pytest.raises(ValueError):
        archive.count([b"a"])


def test_what_a_mode_does_not_allow(path, tmp_path):
    with bwz.open(path) as file, pytest.raises(io.UnsupportedOperation):
        file.write(b"")
    with bwz.open(tmp_path / "new", "wb") as file, pytest.raises(io.UnsupportedOperation):
        file.read()
    for mode in ("", "q", "rw", "rbt"):
        with pytest.raises(ValueError):
            bwz.open(path, mode)
    with pytest.raises(ValueError):
        bwz.open(path, "rb", encoding="utf-8")
    with pytest.raises(TypeError):
        bwz.open(3.5)
    with pytest.raises(FileNotFoundError) as missing:
        bwz.open(tmp_path / "missing")
    assert str(missing.value.filename) == str(tmp_path / "missing")


def test_many_threads_and_a_fork(path, text):
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(bwz.open(path, threads=2).read()))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [text] * 8
    child = os.fork()
    if child == 0:
        os._exit(0 if bwz.open(path, threads=2).read() == text else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_an_abandoned_file_is_no_whole_one(tmp_path):
    path = tmp_path / "part.bwz"
    file = bwz.open(path, "wb", level=1)
    file.write(b"text")
    file.abandon()
    assert file.closed
    with pytest.raises(bwz.BwzError):
        bwz.open(path).read()


def test_blocks_end_on_request(tmp_path, text):
    path = tmp_path / "log.bwz"
    parts = [text[:7], text[7:100_000], text[100_000:100_001]]
    with bwz.open(path, "wb", stream_check="xxh3") as log:
        log.end_block()
        for number, part in enumerate(parts):
            log.write(part)
            log.flush()
            log.end_block()
            log.end_block()
            written = b"".join(parts[: number + 1])
            with bwz.open(path) as others:
                assert others.read(len(written)) == written
                with pytest.raises(bwz.TruncatedError):
                    others.read(1)
        log.write(b"the end")
    with bwz.Archive(path) as archive:
        assert [block.raw_end for block in archive.blocks()] == [7, 100_000, 100_001, 100_008]
    assert bwz.open(path).read() == b"".join(parts) + b"the end"
    with pytest.raises(io.UnsupportedOperation):
        bwz.open(path).end_block()
    with pytest.raises(ValueError, match="closed"):
        log.end_block()


def test_a_killed_writer_loses_only_what_follows_the_last_block(tmp_path, command):
    path = tmp_path / "log.bwz"
    script = "import bwz, os, sys; log = bwz.open(sys.argv[1], 'wb'); log.write(b'kept'); log.end_block(); log.write(b'lost'); os._exit(9)"
    assert subprocess.run([sys.executable, "-c", script, path]).returncode == 9
    assert bwz.open(path).read1() == b"kept"
    subprocess.run([command, "recover", path, "-o", tmp_path / "saved", "-q"])
    assert (tmp_path / "saved").read_bytes() == b"kept"


def test_blocks_that_end_in_a_file_object_are_passed_on():
    class Flushed(io.BytesIO):
        flushed = b""

        def flush(self):
            self.flushed = self.getvalue()

    below = Flushed()
    with bwz.open(below, "wb") as out:
        out.write(b"some text")
        out.end_block()
        decompressor = bwz.Decompressor()
        assert decompressor.decompress(below.flushed) == b"some text"


def test_an_error_of_a_block_that_ends_is_raised():
    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(28, "no space")

    out = bwz.open(Full(), "wb")
    out.write(b"text")
    with pytest.raises(OSError, match="no space"):
        out.end_block()
    with pytest.raises(io.UnsupportedOperation, match="has failed"):
        out.end_block()
    out.close()
