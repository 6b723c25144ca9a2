"""Files compressed, read and searched by Dask: here by the threads of one machine, and after
`distributed.Client("scheduler:8786")` by a cluster, where only the paths are others."""

import tempfile
from pathlib import Path

import bwz.dask
import dask

dask.config.set(scheduler="threads")
folder = Path(tempfile.mkdtemp())
for day in range(3):
    lines = (f"{n} day {day}: {'error' if n % 1000 == day else 'fine'}\n" for n in range(20_000))
    (folder / f"{day}.log").write_text("".join(lines))

# Blocks that end with a line can be read apart; an index makes counting cheap.
bwz.dask.compress(f"{folder}/*.log", folder / "small", level=1, split_at=b"\n", index=True).compute()

lines = bwz.dask.read_text(f"{folder}/small/*.bwz", blocksize=64 << 20)
print(lines.filter(lambda line: line.endswith("error\n")).count().compute(), "errors")

for file in bwz.dask.count(f"{folder}/small/*.bwz", ["error", "fine"]).compute():
    print(Path(file.path).name, file.counts)
