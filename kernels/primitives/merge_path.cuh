// Merge path: cuts two sorted lists so that their merge can be made in equal pieces.
//
// In a merge, each item taken is a step along A or along B. The position on this path after
// `diagonal` steps is found by bisection, without the steps before (Green, McColl and Bader, GPU
// merge path, 2012). Among equal items, those of A come first.
#pragma once

#include "runtime/common.cuh"

// The order of numbers.
struct Smaller {
    template <class T>
    __device__ bool operator()(T a, T b) const {
        return a < b;
    }
};

// Number of items of A among the first `diagonal` items of the merge. `less(b, a)` compares an item
// of B with one of A.
template <class A, class B, class Less>
__device__ uint32_t merge_split(const A& a, uint32_t a_len, const B& b, uint32_t b_len, uint32_t diagonal, Less less) {
    uint32_t low = diagonal > b_len ? diagonal - b_len : 0;
    uint32_t high = diagonal < a_len ? diagonal : a_len;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (less(b[diagonal - 1 - middle], a[middle])) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

// splits[k] = number of items of A among the first k * TILE of the merge, for each k up to the
// number of tiles. One thread per split.
template <class A, class B, class Less>
__device__ void split_tiles(const A& a, uint32_t a_len, const B& b, uint32_t b_len, uint32_t tiles, uint32_t* splits,
                            Less less) {
    const uint32_t k = global_thread();
    if (k > tiles) return;
    const uint64_t diagonal = min(static_cast<uint64_t>(k) * TILE, static_cast<uint64_t>(a_len) + b_len);
    splits[k] = merge_split(a, a_len, b, b_len, static_cast<uint32_t>(diagonal), less);
}

// The items of a tile, represented by their numbers.
struct CountingIterator {
    uint32_t base;
    __device__ uint32_t operator[](uint32_t i) const { return base + i; }
    __device__ CountingIterator operator+(uint32_t i) const { return {base + i}; }
};

// Merges a tile in shared memory: `items` holds a_len items of A and behind them b_len of B. Each
// thread of the CTA finds its TILE_ITEMS items of the merge, and writes their indices in `items` to
// `from`.
template <class Items, class Less>
__device__ void merge_tile(Items items, uint32_t a_len, uint32_t b_len, uint16_t* from, Less less) {
    const uint32_t len = a_len + b_len;
    const uint32_t begin = min(threadIdx.x * TILE_ITEMS, len);
    const uint32_t end = min(begin + TILE_ITEMS, len);
    const Items b_items = items + a_len;
    uint32_t a = merge_split(items, a_len, b_items, b_len, begin, less);
    uint32_t b = begin - a;
    for (uint32_t out = begin; out < end; ++out) {
        const bool take_a = b == b_len || (a < a_len && !less(b_items[b], items[a]));
        from[out] = static_cast<uint16_t>(take_a ? a++ : a_len + b++);
    }
}
