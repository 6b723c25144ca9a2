// Entries of a list in the shared memory of a CTA: their groups, as bits of the entries that begin one, and the sort of
// small groups by counting.
#pragma once

#include "common.cuh"

// CTAs that a multiprocessor is to hold at once. Those of 8.6 to 8.9 and from 11.0 on hold 1536 threads, the others 2048.
#if defined(__CUDA_ARCH__) && ((__CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900) || __CUDA_ARCH__ >= 1100)
#define RESIDENT (1536 / REFINE_THREADS)
#else
#define RESIDENT REFINE_CTAS
#endif

// An entry that is tied: its place in the CTA, and the first and the number of its group.
__device__ __forceinline__ uint32_t tie(int place, int first, int members) {
    return place | first << 11 | (members - 1) << 22;
}
__device__ __forceinline__ int place_of(uint32_t tie) { return tie & 2047; }
__device__ __forceinline__ int first_of(uint32_t tie) { return (tie >> 11) & 2047; }
__device__ __forceinline__ int members_of(uint32_t tie) { return (tie >> 22) + 1; }

const int FAR = 1 << 20;

// The last head at or before an entry, or far away where there is none within HALO.
__device__ __forceinline__ int head_before(const uint32_t* heads, int x) {
    int w = x >> 5;
    uint32_t bits = heads[w] & (~0u >> (31 - (x & 31)));
    for (int i = 0; i < HALO / 32 && !bits && w > 0; i++) bits = heads[--w];
    return bits ? w * 32 + 31 - __clz(bits) : -FAR;
}

// The first head behind an entry, or far away where there is none within HALO.
__device__ __forceinline__ int head_after(const uint32_t* heads, int words, int x) {
    int w = (x + 1) >> 5;
    if (w >= words) return FAR;
    uint32_t bits = heads[w] & (~0u << ((x + 1) & 31));
    for (int i = 0; i < HALO / 32 && !bits && w + 1 < words; i++) bits = heads[++w];
    return bits ? w * 32 + __ffs(bits) - 1 : FAR;
}

// What an entry is to a CTA, which reads a tile of a list and HALO entries on both sides of it: it owns the groups of up to
// HALO entries that start in its tile, and of larger ones the entries in its tile.
struct Standing {
    int first, end;  // of its group; of a large one, as far as is seen
    bool own, large, tied;
};

// The same for entry x of so many, if it is in the list.
__device__ __forceinline__ Standing standing(const uint32_t* heads, int entries, int x, bool inside) {
    if (x < HALO || !inside) return {};
    const int first = head_before(heads, x), end = head_after(heads, entries >> 5, x), last = entries - HALO;
    const bool small = end - first <= HALO;
    const bool own = small ? first >= HALO && first < last : x < last;
    return {first, end, own, own && !small, own && small && end - first > 1};
}

// Where an entry comes to lie when its group is sorted by `keys`, and its group of equal ones then.
__device__ __forceinline__ uint32_t sorted_tie(const uint64_t* keys, uint32_t t) {
    const int x = place_of(t), first = first_of(t), end = first + members_of(t);
    const uint64_t key = keys[x];
    int less = 0, equal = 0, before = 0;
    for (int y = first; y < end; y++) {
        const uint64_t other = keys[y];
        less += other < key;
        equal += other == key;
        before += other == key && y < x;
    }
    return tie(first + less + before, first + less, equal);
}
