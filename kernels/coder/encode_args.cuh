// The arrays of a block whose BWT is coded, from runs to coded slices.
#pragma once

#include "coder/slice_models.cuh"

// Where a slice begins: the first byte, and the number of the run that this is in.
struct SHARED SliceStart {
    uint32_t byte, run;
};

// A BWT of n bytes, from 1 to 2^31 - 1, and all that is made of it.
struct SHARED EncodeArgs {
    const ContextMaps* maps;
    // [0..n - 1] and behind it bytes that can be read, up to the next multiple of 16
    const uint8_t* bwt;
    // [0..tiles] runs that begin in each tile of RUN_TILE bytes, and 0; then those before it
    uint32_t* tile_runs;
    uint32_t* heads;             // [0..n] where each run begins; behind the last n
    SliceStart* slices;          // [0..most_slices] and behind the last n and the number of runs
    uint32_t* slice_count;       // [0]
    // Of run r of slice s, the item r + s: the run in which a slice is cut has an item in both.
    uint8_t* mtf_ranks;          // [0..n + most_slices - 1] 0 for the last of a slice
    // [0..n + most_slices - 1] 0 where no slice has the item, and behind the last up to the next
    // multiple of 4: the run length less one, LONG_RUN_NUMBER at most, and behind RUN_NUMBER_BITS
    // its leaf; from bit 16 on the MTF rank less one, or 0, and from bit 24 on its leaf
    uint32_t* symbols;
    uint8_t* lists;              // [0..256 * most_slices - 1] the first symbols of each slice
    uint32_t* list_sizes;        // [0..most_slices - 1] how many these are
    uint32_t* counts;            // [0..16 * MODEL_TABLES + 255] of symbols by table; then of bytes
    const uint32_t* tables;      // [0..16 * MODEL_TABLES - 1] first slot; from bit 16 on how many
    uint8_t* words;              // [0..n] the words of each slice, within its place in the BWT
    uint32_t* states;            // [0..2 * most_slices - 1]
    // [0..most_slices] coded bytes of each slice, and 0 behind the last; then those before it
    uint32_t* coded_starts;
    uint8_t* coded;              // [0..n - 1] all coded slices
    uint32_t n, tiles, most_slices;
    uint32_t slice_runs;         // runs of a slice at most
    uint32_t slice_bytes;        // bytes of a slice at most
};

namespace {

constexpr uint32_t RUN_NUMBER_BITS = 10, LONG_RUN_NUMBER = (1u << RUN_NUMBER_BITS) - 1;

// A slice as the kernels see it, and its runs.
struct RunSlice {
    uint32_t number, start, end;
    uint32_t first, runs;  // number of its first run, and how many there are
    uint32_t items;        // number of its first item
    const uint32_t* heads;

    // Slices that are not there have no runs.
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

    // What the loads of a run need, and 0 where there is none. They are begun long before `start`
    // and `end` wait for them.
    __device__ __forceinline__ uint32_t head(uint32_t run) const { return run <= runs ? heads[first + run] : 0; }
    __device__ __forceinline__ uint32_t start_of(uint32_t head) const { return max(head, start); }
    __device__ __forceinline__ uint32_t end_of(uint32_t next_head) const { return min(next_head, end); }
};

}  // namespace
