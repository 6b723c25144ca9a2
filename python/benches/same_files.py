"""Whether ``bwz.open`` writes the command's bytes and reads them back: ``python same_files.py COMMAND FILE...``.

Each file is written on 1 thread and on 2 at level 6 and compared with what COMMAND, a path of ``bwz``, makes of it, then read
whole and from 1,000 random places. A line is printed for each file; the first difference ends with an error.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from pathlib import Path

import bwz

PIECE = 1 << 10
PLACES = 1000


def check(command: str, path: Path) -> int:
    """Bytes of the file that both make."""
    raw = path.read_bytes()
    expected = subprocess.run([command, "-6", "-kc", path], check=True, capture_output=True).stdout
    for threads in (1, 2):
        with tempfile.NamedTemporaryFile(suffix=".bwz") as file:
            with bwz.open(file.name, "wb", threads=threads) as out:
                out.write(raw)
            assert Path(file.name).read_bytes() == expected, f"{path}: other bytes on {threads}"
            with bwz.open(file.name, threads=threads) as again:
                assert again.read() == raw, f"{path}: not read back on {threads}"
                chance = random.Random(threads)
                for _ in range(PLACES):
                    at = chance.randrange(len(raw) + 1)
                    again.seek(at)
                    assert again.read(PIECE) == raw[at : at + PIECE], f"{path}: from {at}"
    return len(expected)


def main() -> None:
    """Checks all that are named."""
    command, *paths = sys.argv[1:]
    for path in map(Path, paths):
        print(f"{path.name:20} {path.stat().st_size:12} {check(command, path):12}", flush=True)


if __name__ == "__main__":
    main()
