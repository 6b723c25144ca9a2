// Answers many queries at a time for range minima and longest common extensions, with 16 threads
// each. It uses the minima of blocks of 64 values and a sparse table over them.
// src/lcp/range_minima.rs has the same table.

#include "runtime/common.cuh"

const uint32_t ALL = 0xFFFFFFFF, NONE = 0xFFFFFFFF;

// [in] values [0..64 * blocks), of which n count
//
// [in] levels: level k has blocks + 1 - 2^k minima, each of 2^k blocks; the levels are stored one
// behind the other
struct SHARED MinimaView {
    const uint32_t* values;
    uint32_t* levels;
    uint32_t n, blocks;
};

// Makes level `level` from the one below it.
struct SHARED LevelArgs {
    MinimaView minima;
    uint32_t level, none;
};

// [in]  queries [0..2 * count): both ends of each range; or two positions, whose rows are in places
// [0..n)
//
// [out] found [0..count)
struct SHARED MinimaQueries {
    MinimaView minima;
    const uint32_t* places;
    const uint32_t* queries;
    uint32_t* found;
    uint32_t count, none;
};

// Index of the first minimum of level k.
__device__ __forceinline__ uint64_t level_start(uint32_t blocks, uint32_t k) {
    return static_cast<uint64_t>(k) * (blocks + 1ull) + 1 - (1ull << k);
}

// The smallest value of a block within a range, by 16 threads.
__device__ __forceinline__ uint32_t least_in_block(const MinimaView& minima, uint32_t block, uint32_t from,
                                                   uint32_t to) {
    const uint32_t at = block * MINIMA_BLOCK + 4 * (threadIdx.x & 15);
    const uint4 four = __ldg(reinterpret_cast<const uint4*>(minima.values) + at / 4);
    const uint32_t values[4] = {four.x, four.y, four.z, four.w};
    uint32_t least = NONE;
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
        if (at + i >= from && at + i < to) least = min(least, values[i]);
    }
    return least;
}

// Makes level 0, with half of a warp per block.
extern "C" __global__ void __launch_bounds__(THREADS) block_minima(MinimaView minima) {
    const uint32_t block = global_thread() / 16;
    const uint32_t within = min(block, minima.blocks - 1);
    uint32_t least = least_in_block(minima, within, 0, minima.n);
    for (uint32_t step = 8; step > 0; step /= 2) least = min(least, __shfl_xor_sync(ALL, least, step));
    if (block < minima.blocks && (threadIdx.x & 15) == 0) minima.levels[block] = least;
}

// Makes each level above it.
extern "C" __global__ void double_blocks(LevelArgs args) {
    const MinimaView& minima = args.minima;
    const uint32_t i = global_thread(), k = args.level, half = 1u << (k - 1);
    if (i + 2ull * half > minima.blocks) return;
    const uint32_t* below = minima.levels + level_start(minima.blocks, k - 1);
    minima.levels[level_start(minima.blocks, k) + i] = min(below[i], below[i + half]);
}

// The smallest value of a range that is not empty, by 16 threads.
__device__ __forceinline__ uint32_t least_of(const MinimaView& minima, uint32_t from, uint32_t to) {
    const uint32_t first = from / MINIMA_BLOCK, last = (to - 1) / MINIMA_BLOCK;
    uint32_t least = least_in_block(minima, first, from, to);
    if (first < last) least = min(least, least_in_block(minima, last, from, to));
    if (first + 1 < last) {
        const uint32_t k = 31 - __clz(last - first - 1);
        const uint32_t* level = minima.levels + level_start(minima.blocks, k);
        least = min(least, min(__ldg(level + first + 1), __ldg(level + last - (1u << k))));
    }
    return least;
}

// Calls `find` for each query with 16 threads, and takes the smallest of their results.
template <class Find>
__device__ __forceinline__ void each_query(const MinimaQueries& job, Find find) {
    const uint32_t query = global_thread() / 16;
    uint32_t least = NONE;
    if (query < job.count) least = find(job.queries[2 * query], job.queries[2 * query + 1]);
    for (uint32_t step = 8; step > 0; step /= 2) least = min(least, __shfl_xor_sync(ALL, least, step));
    if (query < job.count && (threadIdx.x & 15) == 0) job.found[query] = least;
}

// Finds the smallest value of each range; the largest number for an empty range.
extern "C" __global__ void __launch_bounds__(THREADS) least_of_ranges(MinimaQueries job) {
    each_query(job, [&](uint32_t from, uint32_t to) { return from < to ? least_of(job.minima, from, to) : NONE; });
}

// Finds the length of the common prefix of the suffixes at two positions.
extern "C" __global__ void __launch_bounds__(THREADS) longest_extensions(MinimaQueries job) {
    each_query(job, [&](uint32_t a, uint32_t b) {
        if (a == b) return job.minima.n - a;
        const uint32_t row = job.places[a], other = job.places[b];
        return least_of(job.minima, min(row, other) + 1, max(row, other) + 1);
    });
}
