// Divides the suffixes of a text among GPUs by their first keys: each gets a range of keys.

#include "sort/code_keys.cuh"

const uint32_t SHIFT = 64 - RANGE_BITS;

// Counts the keys with each value of the first RANGE_BITS bits, of the suffixes in tiles from
// `first_tile` to before `end_tile`. `counts` is 0 at the start.
extern "C" __global__ void __launch_bounds__(THREADS)
    count_keys(const uint8_t* bytes, uint32_t n, const uint32_t* table, uint32_t first_tile, uint32_t end_tile,
               uint32_t* counts) {
    __shared__ KeyTile tile;
    __shared__ uint32_t own[1 << RANGE_BITS];
    load_table(tile.code_table, table);
    for (uint32_t key = threadIdx.x; key < 1 << RANGE_BITS; key += THREADS) own[key] = 0;
    for (uint32_t t = first_tile + blockIdx.x; t < end_tile; t += gridDim.x) {
        __syncthreads();
        const uint32_t base = t * KEY_TILE;
        tile.fill({bytes, n}, base);
        for (uint32_t i = threadIdx.x; i < KEY_TILE && i < n - base; i += THREADS) {
            atomicAdd(&own[tile.key(i) >> SHIFT], 1);
        }
    }
    __syncthreads();
    for (uint32_t key = threadIdx.x; key < 1 << RANGE_BITS; key += THREADS) {
        if (own[key]) atomicAdd(&counts[key], own[key]);
    }
}

// Writes the suffixes whose first key bits are in [low, high), in any order, with their keys, as
// far as there is room. `cursor` is 0 at the start, and gets their number.
extern "C" __global__ void __launch_bounds__(THREADS)
    range_keys(const uint8_t* bytes, uint32_t n, const uint32_t* table, uint32_t low, uint32_t high, uint32_t* cursor,
               uint32_t room, uint64_t* keys, uint32_t* suffixes) {
    __shared__ KeyTile tile;
    __shared__ uint32_t places[THREADS / 32];
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x & 31;
    if (threadIdx.x < THREADS / 32) places[threadIdx.x] = 0;
    load_table(tile.code_table, table);
    __syncthreads();
    const uint32_t base = blockIdx.x * KEY_TILE;
    tile.fill({bytes, n}, base);
    const auto is_wanted = [&](uint32_t i) {
        const uint32_t first = tile.key(i) >> SHIFT;
        return i < n - base && low <= first && first < high;
    };
    uint32_t wanted = 0;
    for (uint32_t i = threadIdx.x; i < KEY_TILE; i += THREADS) wanted += __popc(__ballot_sync(~0u, is_wanted(i)));
    if (lane == 0) places[warp] = wanted;
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t sum = 0;
        for (uint32_t w = 0; w < THREADS / 32; w++) sum += places[w];
        uint32_t at = sum ? atomicAdd(cursor, sum) : 0;
        for (uint32_t w = 0; w < THREADS / 32; w++) {
            const uint32_t own = places[w];
            places[w] = at;
            at += own;
        }
    }
    __syncthreads();
    uint32_t at = places[warp];
    for (uint32_t i = threadIdx.x; i < KEY_TILE; i += THREADS) {
        const uint32_t bits = __ballot_sync(~0u, is_wanted(i));
        const uint32_t to = at + __popc(bits & ((1u << lane) - 1));
        if (is_wanted(i) && to < room) {
            keys[to] = tile.key(i);
            suffixes[to] = base + i;
        }
        at += __popc(bits);
    }
}
