// What every kernel file uses.
#pragma once

#include <cstdint>

#include "runtime/tuning.h"

// Marks a struct that the host fills: kernels/build.rs makes a Rust struct of its fields.
#define SHARED

// The number of this thread in its grid. Grids have at most 2^32 threads: one for each of up to
// 2^32 - 2 items.
__device__ inline uint32_t global_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

// The first number from `low` on of which `before` does not hold, or `high`. It holds of none
// behind that.
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

// The last of ascending items from `low` on that is not above a number, as the first of them is.
__device__ __forceinline__ uint32_t last_up_to(const uint32_t* items, uint32_t low, uint32_t high, uint32_t number) {
    return partition_point(low + 1, high, [&](uint32_t i) { return items[i] <= number; }) - 1;
}
