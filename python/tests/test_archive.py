"""Ranges, search and records; the examples of the documentation."""

from __future__ import annotations

import doctest
import importlib
import io
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bwz

GENOME = b">chr1 first\nACGTac\ngtAC\n>chr2\nTTT\n"


def occurrences(text: bytes, pattern: bytes) -> list[int]:
    places = range(len(text) - len(pattern) + 1)
    return [at for at in places if text[at : at + len(pattern)] == pattern]


@settings(max_examples=50, deadline=None)
@given(
    st.text("ab", min_size=1, max_size=200),
    st.lists(st.text("ab", min_size=1, max_size=5), max_size=5),
    st.sampled_from([False, True, 0]),
)
def test_search_finds_what_is_there(text, patterns, index):
    text = text.encode()
    archive = bwz.Archive(io.BytesIO(bwz.compress(text, block_size=64, index=index)))
    expected = [occurrences(text, pattern.encode()) for pattern in patterns]
    assert archive.count(patterns) == list(map(len, expected))
    assert [found.positions for found in archive.locate(patterns)] == expected


def test_patterns_are_a_list():
    archive = bwz.Archive(io.BytesIO(bwz.compress(b"abab")))
    assert archive.count(pattern for pattern in (b"ab", bytearray(b"b"), "a")) == [2, 2, 2]
    for one in (b"ab", "ab"):
        with pytest.raises(TypeError, match="not one"):
            archive.count(one)
    with pytest.raises(TypeError):
        archive.count([1])


@pytest.mark.parametrize("index", [False, True])
def test_ranges(text, index):
    archive = bwz.Archive(io.BytesIO(bwz.compress(text, block_size=400_000, index=index)))
    chance = random.Random(1)
    spans = [sorted(chance.choices(range(len(text) + 1), k=2)) for _ in range(20)]
    for start, end in spans:
        assert archive.read_range(start, end) == text[start:end]
    assert archive.extract(map(tuple, spans)) == [text[start:end] for start, end in spans]
    blocks = archive.blocks()
    assert len(blocks) == archive.info.blocks == 8
    assert (blocks[0].raw_start, blocks[-1].raw_end) == (0, len(text))
    assert archive.info.indexed == index
    assert 0 < archive.cost.coded_bytes


def test_records_of_a_genome():
    with bwz.Archive(io.BytesIO(bwz.compress(GENOME, index=True))) as genome:
        assert genome.info.has_sequences
        first = bwz.Record("chr1", 10, 12, 6, 7, None, True)
        assert genome.records()[0] == first
        assert genome.region("chr1", 4, 8) == b"acgt"
        assert genome.places([16]) == [bwz.Region(0, 4)]
        assert genome.places([2]) == [None]
        assert genome.count(["acgt"]) == [2]
        with pytest.raises(bwz.UsageError):
            genome.region("chr9", 0, 1)
    with bwz.Archive(io.BytesIO(bwz.compress(GENOME, index=True)), match_case=True) as genome:
        assert genome.count(["acgt"]) == [1]
    with bwz.Archive(io.BytesIO(bwz.compress(b"error, Error")), ignore_case=True) as log:
        assert log.count(["eRROR"]) == [2]


@pytest.mark.parametrize("name", ["", "._archive", "._file", "._members", "._steps"])
def test_documentation(name):
    module = importlib.import_module("bwz" + name)
    found = doctest.testmod(module)
    assert found.attempted > 0 and found.failed == 0


def test_what_is_indexed_is_known():
    genome = b">c\n" + b"ACGTTGCA" * 500 + b"\n"
    cases = [
        (genome, {"index": True}, (1, 0, 0, 0)),
        (b"a line\n" * 500, {"index": True}, (0, 1, 0, 0)),
        (b"a line\n" * 500, {}, (0, 0, 0, 1)),
        (b"x", {"index": True}, (0, 0, 1, 0)),
        (b"", {"index": True}, (0, 0, 0, 0)),
    ]
    for raw, options, expected in cases:
        with bwz.Archive(io.BytesIO(bwz.compress(raw, **options))) as archive:
            assert archive.indexed_blocks() == expected
            assert archive.info.frames[0].index_of_sequences == (expected[0] > 0)


def test_zeros_behind_the_last_frame_are_padding():
    raw = b"some text\n" * 300
    for zeros in (1, 31, 32, 33, 10240, 1_000_000):
        file = bwz.compress(raw) + bytes(zeros)
        assert bwz.decompress(file) == raw
        assert bwz.open(io.BytesIO(file)).read() == raw
        with bwz.Archive(io.BytesIO(file)) as archive:
            assert archive.read_range(10, 20) == raw[10:20]
        decompressor = bwz.Decompressor()
        got = b"".join(decompressor.decompress(file[i : i + 7919]) for i in range(0, len(file), 7919))
        assert decompressor.eof and got + decompressor.flush() == raw
