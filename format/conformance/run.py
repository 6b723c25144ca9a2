#!/usr/bin/env python3
"""Runs a decoder of the bwz format on the files of this kit (FORMAT.md, chapter 21).

    python3 run.py [--level PROFILES] [--stdin] COMMAND...

COMMAND is run with the name of each file as its last argument or, with --stdin, with the file as
its standard input. It writes the raw bytes to standard output and ends with 0 (restored), 1
(unsupported) or 2 (damaged). If it writes a number of chapter 16 in parentheses to standard error,
such as (R07), the number is compared too. --level core+filters leaves out the files that need other
profiles.

Example: python3 run.py python3 ../decoder.py

Exit status: 0 all as the MANIFEST says; 1 not so.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import os
import re
import subprocess
import sys

KIT = os.path.dirname(os.path.abspath(__file__))
FOLDERS = ["valid", "unsupported", "invalid"]


def difference(command, by_stdin, name, result):
    """Runs the command on a file. Returns what differs from its result in MANIFEST, or None."""
    path = os.path.join(KIT, name)
    with open(path, "rb") as file:
        done = subprocess.run(command + ([] if by_stdin else [path]), capture_output=True,
                              stdin=file if by_stdin else subprocess.DEVNULL)
    code = FOLDERS.index(name.split("/")[0])
    if done.returncode != code:
        return "exit code %d, not %d" % (done.returncode, code)
    if code == 0:
        raw = "%s %d" % (hashlib.sha256(done.stdout).hexdigest(), len(done.stdout))
        return None if raw == result else "other raw bytes"
    numbers = re.findall(r"\(([RU]\d\d)\)", done.stderr.decode(errors="replace"))
    return None if not numbers or result in numbers else "%s, not %s" % (numbers[0], result)


def main():
    """The command. Returns the exit status."""
    parser = argparse.ArgumentParser(usage="run.py [--level PROFILES] [--stdin] COMMAND...")
    parser.add_argument("--level", help="profiles with + between them; default: all")
    parser.add_argument("--stdin", action="store_true", help="give files by standard input")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND")
    arguments = parser.parse_args()
    if not arguments.command:
        parser.error("no COMMAND")
    with open(os.path.join(KIT, "MANIFEST"), encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    if arguments.level:
        has = set(arguments.level.split("+"))
        lines = [line for line in lines if set(line[1].split("+")) <= has]

    def run(line):
        return difference(arguments.command, arguments.stdin, line[0], line[2])

    right, all_files = collections.Counter(), collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (name, level, _, reason), wrong in zip(lines, pool.map(run, lines)):
            place = level, name.split("/")[0]
            all_files[place] += 1
            right[place] += wrong is None
            if wrong:
                print("%s: %s (%s)" % (name, wrong, reason))
    print("%-24s" % "level" + "".join("%14s" % folder for folder in FOLDERS))
    for level in sorted({level for level, _ in all_files}):
        counts = [(right[level, folder], all_files[level, folder]) for folder in FOLDERS]
        print("%-24s" % level + "".join("%14s" % ("%d of %d" % count) for count in counts))
    print("%d of %d files as MANIFEST says" % (sum(right.values()), len(lines)))
    return 0 if sum(right.values()) == len(lines) else 1


if __name__ == "__main__":
    sys.exit(main())
