// Arrays of a block whose BWT is encoded, from runs to coded slices.
#pragma once

#include "coder/slice_models.cuh"

// Start of a slice: its first byte, and the number of the run that contains it.
struct SHARED SliceStart {
    uint32_t byte, run;
};

// A BWT of n bytes, 1 and more, and all arrays made from it. Bytes and items have numbers of 32
// bits: n + most_slices is below 2^32.
struct SHARED EncodeArgs {
    const ContextMaps* maps;
    // [0..n - 1] followed by readable bytes, up to the next multiple of 16
    const uint8_t* bwt;
    // [0..tiles] number of runs that begin in each tile of RUN_TILE bytes, and 0; later exclusive
    // sums
    uint32_t* tile_runs;
    uint32_t* heads;             // [0..n] start of each run; behind the last n
    SliceStart* slices;          // [0..most_slices] and behind the last n and the number of runs
    uint32_t* slice_count;       // [0]
    // Run r of slice s has item r + s. A run cut by the end of a slice has an item in both slices.
    uint8_t* mtf_ranks;          // [0..n + most_slices - 1] 0 for the last of a slice
    // [0..n + most_slices - 1] symbols of each item: the run length less one, at most
    // LONG_RUN_NUMBER; from bit RUN_NUMBER_BITS on its leaf; from bit 16 on the MTF rank less one,
    // or 0; from bit 24 on its leaf. 0 for items of no slice, and behind the last up to the next
    // multiple of 4
    uint32_t* symbols;
    uint8_t* lists;              // [0..256 * most_slices - 1] first symbols of each slice
    uint32_t* list_sizes;        // [0..most_slices - 1] number of these
    uint32_t* counts;            // [0..16 * MODEL_TABLES + 255] of symbols by table; then of bytes
    const uint32_t* tables;      // [0..16 * MODEL_TABLES - 1] first slot; from bit 16 on the number
    uint8_t* words;              // [0..n] words of each slice, within its range of the BWT
    uint32_t* states;            // [0..2 * most_slices - 1]
    // [0..most_slices] coded size of each slice, and 0 behind the last; later exclusive sums
    uint32_t* coded_starts;
    uint8_t* coded;              // [0..n - 1] all coded slices
    uint32_t n, tiles, most_slices;
    uint32_t slice_runs;         // maximum number of runs in a slice
    uint32_t spreads_runs;       // 1 if slices get fewer runs, so that the last has no fewer
    uint32_t slice_bytes;        // maximum number of bytes in a slice
};

namespace {

constexpr uint32_t RUN_NUMBER_BITS = 10, LONG_RUN_NUMBER = (1u << RUN_NUMBER_BITS) - 1;

// A slice as the kernels see it, and its runs.
struct RunSlice {
    uint32_t number, start, end;
    uint32_t first, runs;  // number of its first run, and number of its runs
    uint32_t items;        // number of its first item
    const uint32_t* heads;

    // A slice that does not exist has no runs.
    __device__ __forceinline__ RunSlice(const EncodeArgs& v, uint32_t slice) {
        number = slice;
        start = end = first = runs = items = 0;
        heads = v.heads;
        if (slice >= *v.slice_count) return;
        const SliceStart here = v.slices[slice], next = v.slices[slice + 1];
        start = here.byte;
        end = next.byte;
        first = here.run;
        runs = next.run - first + (heads[next.run] < end ? 1 : 0);
        items = first + slice;
    }

    // The head that the loads of a run need, and 0 if there is no such run. The load is begun long
    // before `start_of` and `end_of` wait for it.
    __device__ __forceinline__ uint32_t head(uint32_t run) const { return run <= runs ? heads[first + run] : 0; }
    __device__ __forceinline__ uint32_t start_of(uint32_t head) const { return max(head, start); }
    __device__ __forceinline__ uint32_t end_of(uint32_t next_head) const { return min(next_head, end); }
};

}  // namespace
