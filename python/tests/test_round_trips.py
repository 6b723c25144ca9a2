"""What goes in comes out, by every way in and out, and the bytes are those of the command."""

from __future__ import annotations

import array
import io
import subprocess

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bwz

OPTIONS = [
    {"level": 1},
    {"level": 1, "index": True},
    {"level": 1, "index": 0},
    {"level": 1, "effort": "best"},
    {"level": 1, "split_at": b"\n"},
]
FLAGS = [
    ["-1"],
    ["-1", "--index"],
    ["-1", "--index", "--sample-rate", "0"],
    ["-1", "--best"],
    ["-1", "--split-at", "\\n"],
]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("options", OPTIONS)
def test_all_ways_give_the_same_bytes_and_the_text_back(text, options, threads):
    text = text[:1_500_000]
    whole = bwz.compress(text, threads=threads, **options)

    compressor = bwz.Compressor(threads=threads, **options)
    parts = [compressor.compress(text[at : at + 99_999]) for at in range(0, len(text), 99_999)]
    assert b"".join(parts) + compressor.flush() == whole

    file = io.BytesIO()
    with bwz.open(file, "wb", threads=threads, **options) as out:
        for at in range(0, len(text), 12_345):
            out.write(text[at : at + 12_345])
        assert out.tell() == len(text)
    assert file.getvalue() == whole

    assert bwz.decompress(whole, threads=threads) == text
    decompressor = bwz.Decompressor(threads=threads)
    parts = [decompressor.decompress(whole[at : at + 9999]) for at in range(0, len(whole), 9999)]
    assert b"".join(parts) == text
    assert decompressor.eof
    assert decompressor.flush() == b""
    with bwz.open(io.BytesIO(whole), threads=threads) as raw:
        assert raw.read() == text


@pytest.mark.parametrize("options, flags", list(zip(OPTIONS, FLAGS)))
def test_the_bytes_are_those_of_the_command(command, text, options, flags):
    made = subprocess.run([command, "-c", *flags], input=text, check=False, capture_output=True)
    assert made.returncode == 0, made.stderr
    assert bwz.compress(text, **options) == made.stdout


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=300), max_size=6), st.sampled_from([1, 7, 100, 1 << 20]))
def test_frames_that_follow_each_other_are_one_stream(texts, block_size):
    file = b"".join(bwz.compress(text, block_size=block_size, threads=1) for text in texts)
    if texts:
        assert bwz.decompress(file, threads=1) == b"".join(texts)
        assert bwz.open(io.BytesIO(file), threads=1).read() == b"".join(texts)
        assert bwz.Archive(io.BytesIO(file)).info.raw_size == sum(map(len, texts))


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=5000), st.integers(1, 700), st.integers(1, 5000))
def test_steps_of_any_size(text, step, most):
    file = bwz.compress(text, block_size=1000, threads=1)
    decompressor = bwz.Decompressor(threads=1)
    out = []
    for at in range(0, len(file), step):
        part = decompressor.decompress(file[at : at + step], most)
        while part:
            assert len(part) <= most
            out.append(part)
            part = decompressor.decompress(b"", most)
        assert decompressor.needs_input
    assert b"".join(out) == text
    assert decompressor.eof


def test_appending_adds_a_frame(tmp_path):
    path = tmp_path / "two.bwz"
    with bwz.open(path, "xb") as out:
        out.write(b"one")
    with pytest.raises(FileExistsError):
        bwz.open(path, "xb")
    with bwz.open(path, "at", encoding="utf-8") as out:
        out.write(" and twö")
    with bwz.open(path, "rt", encoding="utf-8") as text:
        assert text.read() == "one and twö"
    with bwz.Archive(path) as archive:
        assert len(archive.info.frames) == 2


def test_nothing_is_added_behind_what_is_no_frame(tmp_path):
    path = tmp_path / "part.bwz"
    whole = bwz.compress(b"one")
    for behind in (whole[:-1], b"plain text", b"x" * 100, whole + b"\n"):
        path.write_bytes(behind)
        with pytest.raises(bwz.FormatError, match="does not end where a frame does") as refused:
            bwz.open(path, "ab")
        assert refused.value.offset == max(0, len(behind) - 36)
        assert path.read_bytes() == behind
    path.write_bytes(b"")
    with bwz.open(path, "ab") as out:
        out.write(b"one")
    assert path.read_bytes() == whole


def test_any_buffer_is_taken():
    numbers = array.array("I", range(1000))
    assert bwz.decompress(bwz.compress(numbers)) == numbers.tobytes()
    view = memoryview(bytearray(b"abcdef"))
    assert bwz.decompress(bytearray(bwz.compress(view[1:4]))) == b"bcd"
    with pytest.raises(TypeError):
        bwz.compress("text")
    table = numpy.arange(12, dtype=">f4").reshape(3, 4)
    for given in (table, table[:0], table[1:], table.astype("M8[s]"), numpy.zeros(3, "i4,f8"), numpy.float64(1)):
        assert bwz.decompress(bwz.compress(given)) == given.tobytes()
    for torn in (table.T, table[:, ::2], memoryview(b"abcd")[::2]):
        with pytest.raises((ValueError, BufferError), match="contiguous"):
            bwz.compress(torn)


@pytest.mark.parametrize(
    "wrong, error",
    [
        ({"level": 0}, bwz.UsageError),
        ({"level": 999}, ValueError),
        ({"level": "9"}, TypeError),
        ({"index": 3}, bwz.UsageError),
        ({"effort": "most"}, ValueError),
        ({"device": "tpu"}, bwz.UsageError),
        ({"threads": -1}, ValueError),
    ],
)
def test_options_that_make_no_sense(wrong, error):
    with pytest.raises(error):
        bwz.compress(b"text", **wrong)
