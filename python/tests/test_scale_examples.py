"""The examples for fsspec and Dask, as they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
SAID = {
    "ranges_anywhere.py": ["bytes hold 1888890", "99999: all is well", "0: all is well"],
    "words_on_a_cluster.py": ["60 errors", "0.log.bwz [20, 19980]", "2.log.bwz [20, 19980]"],
}


@pytest.mark.parametrize("name", SAID)
def test_an_example_says_what_it_should(name: str, tmp_path: Path) -> None:
    script = [sys.executable, EXAMPLES / name]
    ended = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True)
    for line in SAID[name]:
        assert line in ended.stdout
