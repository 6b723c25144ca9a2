"""The codec of numcodecs: found by its name, exact, and the same when read from its configuration."""

from __future__ import annotations

from importlib.metadata import entry_points

import numcodecs
import numpy as np
import pytest
from bwz.numcodecs import Bwz


@pytest.mark.parametrize("kind", ["u1", "<i4", ">f8", "M8[s]"])
def test_arrays_come_back(kind: str) -> None:
    array = np.arange(5000).astype(kind).reshape(50, 100)
    codec = numcodecs.get_codec({"id": "bwz", "level": 1})
    assert codec == Bwz(level=1) and numcodecs.get_codec(codec.get_config()) == codec
    coded = codec.encode(array)
    assert len(coded) < array.nbytes
    assert np.frombuffer(codec.decode(coded), kind).tolist() == array.ravel().tolist()
    out = np.empty_like(array)
    codec.decode(coded, out)
    assert (out == array).all()


def test_empty_chunks_come_back() -> None:
    assert bytes(Bwz().decode(Bwz().encode(b""))) == b""


@pytest.mark.parametrize("group", ["fsspec.specs", "numcodecs.codecs"])
def test_it_is_found_by_its_entry_point(group: str) -> None:
    [entry] = entry_points(group=group, name="bwz")
    assert entry.load().__module__.startswith("bwz.")
