"""What a file says about its content, and frames and blocks that are passed over or not known."""

from __future__ import annotations

import io
import zlib

import pytest

import bwz
from bwz._types import StreamCheck


def test_notes_are_read_before_the_data() -> None:
    file = bwz.compress(b"results", notes={"comment": "run 7", "who": "me"})
    frame = bwz.Archive(io.BytesIO(file)).info.frames[0]
    assert frame.notes == [("comment", "run 7"), ("who", "me")]
    assert frame.private is None
    for wrong in [{"": "x"}, {"a=b": "x"}, {"k": "x" * 70_000}]:
        with pytest.raises(bwz.UsageError):
            bwz.compress(b"", notes=wrong)
    with pytest.raises(TypeError, match="notes"):
        bwz.compress(b"", notes={1: "x"})  # type: ignore[dict-item]


def test_a_size_that_is_wrong_is_an_error() -> None:
    assert bwz.decompress(bwz.compress(b"seven by", content_size=8)) == b"seven by"
    with pytest.raises(bwz.UsageError, match="8 bytes, but has 7"):
        bwz.compress(b"results", content_size=8)


@pytest.mark.parametrize(("check", "size"), [("xxh3", 8), ("blake3", 32)])
def test_a_digest_is_checked(check: StreamCheck, size: int) -> None:
    raw = b"a rose is a rose " * 100
    file = bytearray(bwz.compress(raw, stream_check=check))
    assert bwz.decompress(file) == raw
    # The digest ends before the footer. Its table gets a right checksum.
    digest = len(file) - 36 - size
    file[digest] ^= 1
    table = digest - 4 - 3
    checksum = zlib.crc32(file[table : table + 3] + file[digest : digest + size])
    file[digest - 4 : digest] = checksum.to_bytes(4, "little")
    with pytest.raises(bwz.FormatError, match="stream check"):
        bwz.decompress(file)
    with pytest.raises(ValueError, match="crc32, xxh3 or blake3"):
        bwz.compress(raw, stream_check="md5")  # type: ignore[arg-type]


def test_a_block_that_is_not_known_is_not_damaged() -> None:
    raw = b"a rose is a rose " * 100
    file = bytearray(bwz.compress(raw))
    header = 23
    # Coding, in the header of the first block.
    file[header + 9] = 5
    checksum = zlib.crc32(file[header : header + 37])
    file[header + 37 : header + 41] = checksum.to_bytes(4, "little")
    with pytest.raises(bwz.UnsupportedError, match="coding 5") as caught:
        bwz.decompress(file)
    assert (caught.value.block, caught.value.offset) == (0, header)
