// Merges two sorted lists of integers, each with a value: the two-level partition alone, for tests
// and as an example.

#include "primitives/merge_path.cuh"

struct Smaller {
    __device__ bool operator()(uint32_t a, uint32_t b) const { return a < b; }
};

// First level: the tiles.
extern "C" __global__ void merge_partition(const uint32_t* a, uint32_t a_len, const uint32_t* b, uint32_t b_len,
                                           uint32_t tiles, uint32_t* splits) {
    split_tiles(a, a_len, b, b_len, tiles, splits, Smaller());
}

// Second level: each CTA merges one tile, each of its threads TILE_ITEMS items.
extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    merge_pairs(const uint32_t* a, const uint32_t* a_values, uint32_t a_len, const uint32_t* b,
                const uint32_t* b_values, uint32_t b_len, const uint32_t* splits, uint32_t* out,
                uint32_t* out_values) {
    __shared__ uint32_t keys[TILE];
    __shared__ uint16_t from[TILE];
    const uint32_t begin = blockIdx.x * TILE;
    const uint32_t end = min(begin + TILE, a_len + b_len);
    const uint32_t a_begin = splits[blockIdx.x], b_begin = begin - a_begin;
    const uint32_t a_count = splits[blockIdx.x + 1] - a_begin, count = end - begin;
    for (uint32_t i = threadIdx.x; i < count; i += TILE_THREADS) {
        keys[i] = i < a_count ? a[a_begin + i] : b[b_begin + i - a_count];
    }
    __syncthreads();
    merge_tile(keys, a_count, count - a_count, from, Smaller());
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += TILE_THREADS) {
        const uint32_t source = from[i];
        out[begin + i] = keys[source];
        out_values[begin + i] =
            source < a_count ? a_values[a_begin + source] : b_values[b_begin + source - a_count];
    }
}
