"""A log that is written, read line by line, and searched without being decompressed."""

import bwz

lines = [f"{n:06} {'ERROR disk full' if n % 1000 == 7 else 'ok'}\n" for n in range(100_000)]
with bwz.open("log.bwz", "wt", level=3, index=True, encoding="utf-8") as log:
    log.writelines(lines)

with bwz.open("log.bwz", "rt", encoding="utf-8") as log:
    assert next(log) == lines[0]

with bwz.Archive("log.bwz") as archive:
    [errors] = archive.locate(["ERROR"], limit=1000)
    print(errors.count, "errors in", archive.info.raw_size, "bytes")
    at = errors.positions[0]
    line = archive.read_range(at - 7, at + 16).decode()
    print("one of them:", line.strip())
    assert (errors.count, line) == (100, lines[7])
