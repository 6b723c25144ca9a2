// A suffix in one word, so that a sort moves nothing beside its key and this word.
#pragma once

#include "runtime/common.cuh"

// The word of a suffix: its position in 40 bits; the number of whole symbols in its first key; and
// the byte before it, which in the end goes to the BWT.
__device__ __forceinline__ uint64_t suffix_word(uint64_t position, uint32_t symbols, uint32_t before) {
    return position << 16 | symbols << 8 | before;
}
__device__ __forceinline__ uint64_t position_of(uint64_t suffix) { return suffix >> 16; }
__device__ __forceinline__ uint32_t symbols_of(uint64_t suffix) { return static_cast<uint32_t>(suffix) >> 8 & 255; }
__device__ __forceinline__ uint32_t before_of(uint64_t suffix) { return static_cast<uint32_t>(suffix) & 255; }

// Returns true if the group that begins at this row keeps the rank that it had. `kept` has a bit
// per row of a GPU.
__device__ __forceinline__ bool keeps_rank(const uint32_t* kept, uint32_t row) {
    return kept[row >> 5] >> (row & 31) & 1;
}
__device__ __forceinline__ void keep_rank(uint32_t* kept, uint32_t row) {
    atomicOr(&kept[row >> 5], 1u << (row & 31));
}
