"""The examples, as they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
SAID = {
    "ranges_anywhere.py": ["bytes hold 1888890", "99999: all is well", "0: all is well"],
    "words_on_a_cluster.py": ["60 errors", "0.log.bwz [20, 19980]", "2.log.bwz [20, 19980]"],
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_says_what_it_should(example: Path, tmp_path: Path) -> None:
    script = [sys.executable, example]
    ended = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True)
    assert ended.stdout
    for line in SAID.get(example.name, []):
        assert line in ended.stdout


def test_what_is_expected_is_of_examples() -> None:
    assert SAID.keys() <= {example.name for example in EXAMPLES}
