// Rules that encoding and decoding a slice of static rANS share: the table that codes a number, and
// the model state of a slice. FORMAT.md's chapter on static rANS defines them.
//
// Lanes 0 to 15 of a warp are the *run half*, which handles run lengths; lanes 16 to 31 are the
// *rank half*, which handles MTF ranks. A warp decodes one slice, each lane having one symbol of a
// table. It encodes 16 slices, each lane having one state.
#pragma once

#include "runtime/common.cuh"

// Maps from model states to tables, the same for all blocks.
struct SHARED ContextMaps {
    // by number: 40 * sqrt(number + 1) - 40, and from bit 24 on a quantised last MTF rank
    uint32_t roots[256];
    uint8_t run_context[608];       // [0..AVERAGES - 1] by a symbol's average run length
    uint8_t rank_context[608];      // by a symbol's average MTF rank
    uint8_t all_rank_context[608];  // by the average MTF rank of all symbols
    // by run_context * 128 + rank_context * 8 + quantised last MTF rank: leaf of run lengths
    uint8_t run_leaf[1408];
    uint8_t own_rank[1408];         // by the same index: own node of MTF ranks
    uint8_t rank_leaf[768];         // by own_rank * 8 + all_rank_context
};

namespace {

constexpr uint32_t ALL_LANES = 0xFFFFFFFF;
constexpr uint32_t SLOT_BITS = 15, SLOT_MASK = (1u << SLOT_BITS) - 1, LOWER_BOUND = 1u << 16;
// The first bucket with extra bits, and the one that does not tell their number.
constexpr uint32_t DIRECT = 10, LAST_BUCKET = 15, LAST_BUCKET_WIDTH = 7;
// Number of bits that tell this number instead.
constexpr uint32_t LAST_WIDTH_BITS = 5;
constexpr uint32_t TABLE_WORDS = MODEL_TABLES * 16, FIRST_EXTRA_TABLE = RUN_LEAVES + RANK_LEAVES;
// The symbol of a lane without one.
constexpr uint32_t NO_SYMBOL = 256;

// Two averages in a word: that of run lengths in bits 0 to 9, that of MTF ranks in bits 12 to 21.
constexpr uint32_t RANK_SHIFT = 12, AVERAGE_MASK = 0x3FF3FF, ROUNDING = 0x2002;

// The amount that a run adds to averages: the roots of its numbers, rounding, and from bit 24 on
// its quantised MTF rank.
__device__ __forceinline__ uint32_t what_is_added(const uint32_t* roots, uint32_t run_number, uint32_t rank_number) {
    const uint32_t run = roots[min(run_number, 255u)] & 0xFFF, rank = roots[min(rank_number, 255u)];
    return run + ((rank & 0xFFF) << RANK_SHIFT) + (rank & 0xFF000000) + ROUNDING;
}

__device__ __forceinline__ uint32_t added(uint32_t averages, uint32_t what) {
    return (3 * averages + what) >> 2 & AVERAGE_MASK;
}

// Updates the average MTF rank of all symbols.
__device__ __forceinline__ uint32_t added_to_all(uint32_t average, uint32_t what) {
    return (3 * average + (what >> RANK_SHIFT & 0xFFF)) >> 2;
}

// Index of a symbol's own context, given its averages and its quantised last MTF rank.
__device__ __forceinline__ uint32_t own_context(uint32_t run_context, uint32_t rank_context, uint32_t last_rank) {
    return 128 * run_context + 8 * rank_context + last_rank;
}

// The table of the highest extra bits, of run lengths (half 0) or MTF ranks (half 1).
__device__ __forceinline__ uint32_t extra_table(uint32_t half, uint32_t width) {
    return FIRST_EXTRA_TABLE + half * (EXTRA_TABLES / 2) + min(width, LAST_BUCKET_WIDTH) - 2;
}

// The number of this warp in its CTA, in a form that the compiler knows to be equal in all lanes.
// It then knows that they take the same path, and need not synchronise before each vote.
__device__ __forceinline__ uint32_t warp_number() { return __shfl_sync(ALL_LANES, threadIdx.x / 32, 0); }

// Copies words with all threads of the CTA.
__device__ __forceinline__ void copy_words(void* to, const void* from, uint32_t words) {
    for (uint32_t i = threadIdx.x; i < words; i += blockDim.x) {
        static_cast<uint32_t*>(to)[i] = __ldg(static_cast<const uint32_t*>(from) + i);
    }
}

}  // namespace
