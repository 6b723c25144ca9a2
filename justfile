# Recipes for daily work. `just` lists them; https://just.systems

# The tests that write the committed files of the format if BWZ_BLESS is set.
format_tests := "cargo test --locked --no-fail-fast --test conformance --test tidy -- committed_kit crashes"

[private]
default:
    @just --list

# Format, lints, rules of the sources and unit tests: what to run before each commit
quick:
    cargo fmt --check
    cargo clippy --locked --all-targets -- -D warnings
    cargo test --locked --test tidy
    cargo test --locked --lib --bins

# All tests
test:
    cargo test --locked

# The first run may still read old files while it writes new ones, so it may fail.
#
# Writes the committed files of the format anew, after a change of it: review what git shows
bless:
    -BWZ_BLESS=1 {{format_tests}}
    BWZ_BLESS=1 {{format_tests}}
    {{format_tests}}

# Sizes and speeds of files beside those of other compressors: just bench FILE...
bench +files:
    cargo bench --bench peers -- -n 3 -T 2 {{files}}

# One fuzz target from its seeds: just fuzz parsers 600
fuzz target seconds="60":
    mkdir -p fuzz/corpus/{{target}}
    ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=8 cargo +nightly fuzz run --no-trace-compares {{target}} fuzz/corpus/{{target}} fuzz/seeds/{{target}} {{ if target =~ '^(blocks|doors)$' { "format/conformance/valid format/conformance/unsupported format/conformance/invalid" } else { "" } }} -- \
        -max_total_time={{seconds}} -timeout=20 -detect_leaks=0 -rss_limit_mb=2048 -max_len=4096

# The library's tests on this machine's GPUs; they fail if there is none
gpu:
    BWZ_REQUIRE_GPU=1 cargo test --locked --features cuda --lib --test library

# Licences, versions, sources and known vulnerabilities of all dependencies (needs cargo-deny)
deny:
    cargo deny --locked check
