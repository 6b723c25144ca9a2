#!/usr/bin/env bash
# How many lines of each module the fuzz targets reach from their seeds and from what they found (fuzz/corpus), in percent.
# Needs cargo-fuzz and `rustup component add llvm-tools --toolchain nightly`.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$(dirname "$(find "$(rustc +nightly --print sysroot)" -name llvm-cov)")
host=$(rustc +nightly -vV | sed -n 's/host: //p')
objects=()
for path in fuzz/fuzz_targets/*.rs; do
    target=$(basename "$path" .rs)
    inputs=("fuzz/seeds/$target")
    [[ -d fuzz/corpus/$target ]] && inputs+=("fuzz/corpus/$target")
    case $target in blocks | doors) inputs+=(format/conformance/valid format/conformance/unsupported format/conformance/invalid) ;; esac
    cargo +nightly fuzz coverage --no-trace-compares "$target" "${inputs[@]}"
    objects+=(-object "target/$host/coverage/$host/release/$target")
done
"$tools/llvm-profdata" merge -sparse fuzz/coverage/*/coverage.profdata -o fuzz/coverage/all.profdata

# Columns 8 and 9 are the lines of a file and those of them that no input reaches.
"$tools/llvm-cov" report -instr-profile=fuzz/coverage/all.profdata "${objects[@]:1}" -sources src |
    awk '/\.rs / {
        split($1, path, "/"); module = path[1]
        if ($1 ~ /^bwt\/inverse/) module = "bwt/inverse"
        lines[module] += $8; missed[module] += $9
    }
    END { for (m in lines) printf "%-14s %6d lines %6.1f %%\n", m, lines[m], 100 * (1 - missed[m] / lines[m]) }' |
    sort
