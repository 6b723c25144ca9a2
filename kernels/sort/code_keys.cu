// The first keys of all suffixes, in the alphabetic code.

#include "sort/code_keys.cuh"

// Writes suffix i and its key to slot i.
extern "C" __global__ void __launch_bounds__(THREADS)
    code_keys(const uint8_t* bytes, uint32_t n, const uint32_t* table, uint64_t* keys, uint32_t* suffixes) {
    __shared__ KeyTile tile;
    load_table(tile.code_table, table);
    __syncthreads();
    const uint32_t base = blockIdx.x * KEY_TILE;
    tile.fill({bytes, n}, base);
    for (uint32_t i = threadIdx.x; i < KEY_TILE && base + i < n; i += THREADS) {
        keys[base + i] = tile.key(i);
        suffixes[base + i] = base + i;
    }
}
