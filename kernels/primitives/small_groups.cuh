// Items of a list in the shared memory of a CTA: their groups, as bits for the items that begin
// one, and a sort of small groups by counting.
#pragma once

#include "runtime/common.cuh"

// Number of CTAs that a multiprocessor is to hold at once. Those of capability 8.6 to 8.9 and from
// 11.0 on hold 1536 threads, the others 2048.
#if defined(__CUDA_ARCH__) && ((__CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900) || __CUDA_ARCH__ >= 1100)
#define RESIDENT (1536 / REFINE_THREADS)
#else
#define RESIDENT REFINE_CTAS
#endif

// An unresolved item: its index in the CTA, the first index of its group, and the size of its
// group.
__device__ __forceinline__ uint32_t member(int index, int first, int size) {
    return index | first << 11 | (size - 1) << 22;
}
__device__ __forceinline__ int index_of(uint32_t member) { return member & 2047; }
__device__ __forceinline__ int first_of(uint32_t member) { return (member >> 11) & 2047; }
__device__ __forceinline__ int group_size_of(uint32_t member) { return (member >> 22) + 1; }

const int FAR = 1 << 20;

// The last head at or before an item, or a far one if there is none within HALO.
__device__ __forceinline__ int head_before(const uint32_t* heads, int x) {
    int w = x >> 5;
    uint32_t bits = heads[w] & (~0u >> (31 - (x & 31)));
    for (int i = 0; i < HALO / 32 && !bits && w > 0; i++) bits = heads[--w];
    return bits ? w * 32 + 31 - __clz(bits) : -FAR;
}

// The first head behind an item, or a far one if there is none within HALO.
__device__ __forceinline__ int head_after(const uint32_t* heads, int words, int x) {
    int w = (x + 1) >> 5;
    if (w >= words) return FAR;
    uint32_t bits = heads[w] & (~0u << ((x + 1) & 31));
    for (int i = 0; i < HALO / 32 && !bits && w + 1 < words; i++) bits = heads[++w];
    return bits ? w * 32 + __ffs(bits) - 1 : FAR;
}

// Relation of an item to a CTA. A CTA reads a tile of a list and HALO items on both sides of it. It
// owns the groups of up to HALO items that start in its tile, and the items of larger groups in its
// tile.
struct Ownership {
    int first, end;  // of its group; of a large group, as far as it is visible
    bool own, large, unresolved;
};

// The relation of item x of `items` items to the CTA, if it is inside the list.
__device__ __forceinline__ Ownership ownership(const uint32_t* heads, int items, int x, bool inside) {
    if (x < HALO || !inside) return {};
    const int first = head_before(heads, x), end = head_after(heads, items >> 5, x), last = items - HALO;
    const bool small = end - first <= HALO;
    const bool own = small ? first >= HALO && first < last : x < last;
    return {first, end, own, own && !small, own && small && end - first > 1};
}

// Position of an item after its group is sorted by `keys`, with its new group of equal keys.
__device__ __forceinline__ uint32_t sorted_member(const uint64_t* keys, uint32_t t) {
    const int x = index_of(t), first = first_of(t), end = first + group_size_of(t);
    const uint64_t key = keys[x];
    int less = 0, equal = 0, before = 0;
    for (int y = first; y < end; y++) {
        const uint64_t other = keys[y];
        less += other < key;
        equal += other == key;
        before += other == key && y < x;
    }
    return member(first + less + before, first + less, equal);
}

// Positions at the end of a list in shared memory for the lanes that append an item, in no order
// among warps. For whole warps.
__device__ __forceinline__ uint32_t append(bool more, uint32_t* count) {
    const int lane = threadIdx.x & 31;
    const uint32_t bits = __ballot_sync(~0u, more);
    uint32_t at = 0;
    if (lane == 0 && bits) at = atomicAdd(count, __popc(bits));
    return __shfl_sync(~0u, at, 0) + __popc(bits & ((1u << lane) - 1));
}

// Sorts each group of a list of members by `keys`, which are indexed by item. The list becomes that
// of the members of groups of more than one; `member_count` gets their number, which is returned.
// For all threads of a CTA, with up to REFINE_ITEMS members each. take(q, x) keeps in registers, as
// number q, the data that moves with item x, and put(q, member) writes it to its new position.
template <class Take, class Put>
__device__ __forceinline__ int sort_groups(const uint64_t* keys, uint32_t* members, uint32_t* member_count, int count,
                                           Take take, Put put) {
    const int tid = threadIdx.x;
    if (tid == 0) *member_count = 0;
    __syncthreads();
    uint32_t sorted[REFINE_ITEMS];
#pragma unroll
    for (int q = 0; q < REFINE_ITEMS; q++) {
        const int i = q * REFINE_THREADS + tid;
        sorted[q] = 0;
        if (i < count) {
            sorted[q] = sorted_member(keys, members[i]);
            take(q, index_of(members[i]));
        }
    }
    __syncthreads();
#pragma unroll
    for (int q = 0; q < REFINE_ITEMS; q++) {
        if (q * REFINE_THREADS >= count) continue;
        bool more = false;
        if (q * REFINE_THREADS + tid < count) {
            put(q, sorted[q]);
            more = group_size_of(sorted[q]) > 1;
        }
        const uint32_t at = append(more, member_count);
        if (more) members[at] = sorted[q];
    }
    __syncthreads();
    return *member_count;
}
