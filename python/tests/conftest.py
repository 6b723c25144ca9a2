"""What the tests share."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def command() -> str:
    """The command ``bwz``: ``$BWZ_COMMAND``, or what cargo has built."""
    built = [ROOT / "target" / profile / "bwz" for profile in ("release", "debug")]
    places = [os.environ.get("BWZ_COMMAND"), *map(str, built), shutil.which("bwz")]
    found = [place for place in places if place and os.path.exists(place)]
    assert found, "there is no command bwz: cargo build, or set BWZ_COMMAND"
    return found[0]


@pytest.fixture(scope="session")
def text() -> bytes:
    """3 MB of lines, which compress."""
    chance = random.Random(7)
    words = [b"%x" % chance.getrandbits(20) for _ in range(3000)]
    lines = (b" ".join(chance.choices(words, k=8)) + b"\n" for _ in range(70_000))
    return b"".join(lines)[:3_000_000]
