// Merges two sorted runs of keys that lie one behind the other. Each key comes with its suffix.

#include "primitives/merge_path.cuh"

// First level of merge path: the tiles. The first run has a_len of the `items` keys.
extern "C" __global__ void split_runs(const uint64_t* keys, uint32_t a_len, uint32_t items, uint32_t tiles,
                                      uint32_t* splits) {
    split_tiles(keys, a_len, keys + a_len, items - a_len, tiles, splits, Smaller());
}

// Second level: each CTA merges one tile, and each of its threads TILE_ITEMS items.
extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    merge_runs(const uint64_t* keys, const uint64_t* suffixes, uint32_t a_len, uint32_t items, const uint32_t* splits,
               uint64_t* out_keys, uint64_t* out_suffixes) {
    __shared__ uint64_t tile[TILE];
    __shared__ uint16_t from[TILE];
    const uint32_t begin = blockIdx.x * TILE, count = min(items - begin, static_cast<uint32_t>(TILE));
    const uint32_t a_begin = splits[blockIdx.x], a_count = splits[blockIdx.x + 1] - a_begin;
    const uint32_t b_begin = a_len + (begin - a_begin);
    for (uint32_t i = threadIdx.x; i < count; i += TILE_THREADS) {
        tile[i] = i < a_count ? keys[a_begin + i] : keys[b_begin + (i - a_count)];
    }
    __syncthreads();
    merge_tile(static_cast<uint64_t*>(tile), a_count, count - a_count, from, Smaller());
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += TILE_THREADS) {
        const uint32_t source = from[i];
        out_keys[begin + i] = tile[source];
        out_suffixes[begin + i] = suffixes[source < a_count ? a_begin + source : b_begin + (source - a_count)];
    }
}
