"""A range of a compressed file that lies somewhere else: only its blocks are read.

With s3fs or gcsfs installed, `memory://` may be `s3://` or `gs://`; `https://` needs aiohttp.
"""

import bwz.fsspec
import fsspec

with fsspec.open("memory://logs/today.bwz", "wb", compression="bwz") as file:
    for n in range(100_000):
        file.write(b"%d: all is well\n" % n)

fs, path = fsspec.url_to_fs("bwz::memory://logs/today.bwz")
print(fs.info(path)["compressed_size"], "bytes hold", fs.size(path))
print(fs.cat_file(path, start=-19).decode(), end="")

with fsspec.open("bwz::memory://logs/today.bwz", "rt") as lines:
    print(next(lines), end="")
