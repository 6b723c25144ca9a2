// Definitions that every kernel file uses.
#pragma once

#include <cstdint>

#include "runtime/tuning.h"

// Marks a struct that the host fills. kernels/build.rs makes a Rust struct with the same fields.
#define SHARED

// The number of this thread in its grid. A grid has at most 2^32 threads: one per item, and there
// are at most 2^32 - 2 items.
__device__ inline uint32_t global_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

// The first number in [low, high) for which `before` is false, or `high`. `before` must be false
// for all numbers behind it too.
template <class Before>
__device__ __forceinline__ uint32_t partition_point(uint32_t low, uint32_t high, Before before) {
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (before(middle)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// The last of ascending items in [low, high) that is at most `number`. The first item must be.
__device__ __forceinline__ uint32_t last_up_to(const uint32_t* items, uint32_t low, uint32_t high, uint32_t number) {
    return partition_point(low + 1, high, [&](uint32_t i) { return items[i] <= number; }) - 1;
}
