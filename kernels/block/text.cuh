// The text of a block, and tables by byte value.
#pragma once

#include "runtime/common.cuh"

// A text of n bytes, followed by TEXT_PADDING zeros.
struct SHARED TextView {
    const uint8_t* bytes;
    uint32_t n;
};

// Loads a table with an item per byte value into shared memory.
__device__ __forceinline__ void load_table(uint32_t* table, const uint32_t* from) {
    for (uint32_t i = threadIdx.x; i < 256; i += blockDim.x) table[i] = from[i];
}

// The 8 bytes that begin at bit `shift` of 16 bytes.
__device__ __forceinline__ uint64_t join(uint64_t low, uint64_t high, uint32_t shift) {
    return shift ? (low >> shift) | (high << (64 - shift)) : low;
}

// The 8 bytes at a position, the first one lowest.
__device__ __forceinline__ uint64_t load8(const uint8_t* bytes, uint32_t at) {
    const uint64_t* words = reinterpret_cast<const uint64_t*>(bytes) + (at >> 3);
    return join(__ldg(words), __ldg(words + 1), (at & 7) * 8);
}
