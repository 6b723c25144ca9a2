// The sparse level of minimizers, chosen among the dense ones.

#include "sort/minimizers.cuh"

// Marks the sparse minimizers: dense ones at which the hash of 8 symbols is at most that of each
// dense one in the next `window` positions.
extern "C" __global__ void __launch_bounds__(THREADS)
    mark_sparse(const uint8_t* bytes, uint32_t n, const uint32_t* dense, uint32_t window, uint32_t* bitmap,
                uint32_t words) {
    __shared__ uint32_t hashes[KEY_TILE + MOST_SPARSE_WINDOW];
    const uint32_t base = blockIdx.x * KEY_TILE, left = base < n ? n - base : 0;
    for (uint32_t i = threadIdx.x; i < KEY_TILE + window; i += THREADS) {
        const bool inside = i < left && is_minimizer(dense, base + i);
        const uint64_t hash = inside ? (load8(bytes, base + i) + 1) * 0x9E3779B97F4A7C15ull >> 33 : 0;
        hashes[i] = inside ? static_cast<uint32_t>(hash) * 0x85EBCA6Bu >> 1 : ~0u;
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < KEY_TILE; i += THREADS) {
        const bool minimizer = is_window_minimum(hashes[i] != ~0u, hashes + i, window);
        const uint32_t bits = __ballot_sync(~0u, minimizer);
        if ((i & 31) == 0 && (base + i) / 32 < words) bitmap[(base + i) / 32] = bits;
    }
}

// Copies the ranks of the minimizers of a bitmap.
extern "C" __global__ void copy_ranks(const uint32_t* bitmap, uint32_t words, const uint64_t* from, uint64_t* to) {
    const uint32_t w = global_thread();
    if (w >= words) return;
    for (uint32_t bits = bitmap[w]; bits; bits &= bits - 1) {
        const uint32_t at = w * 32 + __ffs(bits) - 1;
        to[at] = from[at];
    }
}

// result[0]: number of items of a list in groups of depth below `deep`. result[1]: complement of
// the smallest depth. Both are 0 at the start.
extern "C" __global__ void __launch_bounds__(THREADS)
    survey(const uint32_t* groups, const uint64_t* group_heads, uint32_t items, uint32_t deep, uint32_t* result) {
    uint32_t shallow = 0, least = ~0u;
    for (uint64_t j = global_thread(); j < items; j += gridDim.x * THREADS) {
        const uint32_t depth = depth_of(group_heads[groups[j]]);
        shallow += depth < deep;
        least = min(least, depth);
    }
    shallow = __reduce_add_sync(~0u, shallow);
    least = __reduce_min_sync(~0u, least);
    if ((threadIdx.x & 31) == 0) {
        if (shallow) atomicAdd(result, shallow);
        atomicMax(result + 1, ~least);
    }
}
