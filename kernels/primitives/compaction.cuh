// Compaction: finds the positions in the next list of the items of a tile that stay, in order, by
// decoupled look-back.
#pragma once

#include "runtime/host_flags.cuh"

// Two counts in one word: of items and of groups. A group has at least two items, so both counts
// fit in 63 bits if there are fewer than 2^32 items.
__device__ __forceinline__ uint64_t pack(uint32_t items, uint32_t groups) {
    return static_cast<uint64_t>(groups) << 32 | items;
}
__device__ __forceinline__ uint32_t items_of(uint64_t counts) { return static_cast<uint32_t>(counts); }
__device__ __forceinline__ uint32_t groups_of(uint64_t counts) { return static_cast<uint32_t>(counts >> 32); }

// The sum of the counts of all tiles before this one (Merrill and Garland, Single-pass parallel
// prefix scan with decoupled look-back, 2016). For the first warp of a CTA. `status` has a word per
// tile: first 0, then the counts of the tile, then the sum up to and with it. The highest bit marks
// a sum, which can take all bits below. The counts of a tile are small, and are marked by the next
// bit. Tiles are numbered in the order in which their CTAs start, so a tile that is waited for is
// running.
__device__ __forceinline__ uint64_t look_back(volatile uint64_t* status, int tile, uint64_t own) {
    const uint64_t ADDS = 1ull << 62, SUM = 1ull << 63;
    const int lane = threadIdx.x & 31;
    if (lane == 0) status[tile] = (tile == 0 ? SUM : ADDS) | own;
    uint64_t before = 0;
    int at = tile - 1 - lane;
    while (tile > 0) {
        uint64_t word;
        do {
            word = at >= 0 ? status[at] : SUM;
        } while (__any_sync(~0u, (word >> 62) == 0));
        const bool is_sum = word >> 63;
        const uint32_t sums = __ballot_sync(~0u, is_sum);
        uint64_t value = (sums && lane > __ffs(sums) - 1) ? 0 : word & (is_sum ? SUM - 1 : ADDS - 1);
        for (int o = 16; o; o >>= 1) value += __shfl_xor_sync(~0u, value, o);
        before += value;
        if (sums) break;
        at -= 32;
    }
    if (lane == 0 && tile > 0) status[tile] = SUM | (before + own);
    return before;
}

// The number of this CTA's tile, for its first thread. Word 0 of the status counts the tiles.
__device__ __forceinline__ uint32_t next_tile(uint64_t* status) {
    return atomicAdd(reinterpret_cast<unsigned int*>(status), 1);
}

// Computes for each word of two bitmaps the number of bits set in the words before it. Returns the
// numbers of all bits, as a pair. For the first warp of a CTA.
__device__ __forceinline__ uint64_t scan_bits(const uint32_t* unresolved, const uint32_t* heads, int words,
                                              uint32_t* items, uint32_t* groups) {
    const int lane = threadIdx.x & 31;
    uint64_t sum = 0;
    for (int first = 0; first < words; first += 32) {
        const int w = first + lane;
        const uint64_t own = w < words ? pack(__popc(unresolved[w]), __popc(heads[w])) : 0;
        uint64_t up_to = own;
        for (int o = 1; o < 32; o <<= 1) {
            const uint64_t other = __shfl_up_sync(~0u, up_to, o);
            if (lane >= o) up_to += other;
        }
        if (w < words) {
            items[w] = items_of(sum + up_to - own);
            groups[w] = groups_of(sum + up_to - own);
        }
        sum += __shfl_sync(~0u, up_to, 31);
    }
    return sum;
}

// Positions of a tile's items in the next list: those of each word of 32 bits within the tile, and
// that of the tile.
struct Compaction {
    uint32_t items[MOST_WORDS], groups[MOST_WORDS];
    uint64_t base;

    // unresolved, heads: a bit for each item that stays, and for the first one of each group. The
    // last tile publishes the numbers of both. For all threads of a CTA; ends with a barrier.
    __device__ __forceinline__ void count(const uint32_t* unresolved, const uint32_t* heads, int words,
                                          uint64_t* status, int tile, int tiles, uint32_t* host_flags) {
        const int lane = threadIdx.x & 31;
        if (threadIdx.x < 32) {
            const uint64_t sum = scan_bits(unresolved, heads, words, items, groups);
            const uint64_t before = look_back(status + 1, tile, sum);
            if (lane == 0) {
                base = before;
                if (tile == tiles - 1) publish_counts(host_flags, items_of(before + sum), groups_of(before + sum));
            }
        }
        __syncthreads();
    }

    // The position of an item that stays, and the number of its group.
    __device__ __forceinline__ uint32_t item(const uint32_t* unresolved, int w, uint32_t bit) const {
        return items_of(base) + items[w] + __popc(unresolved[w] & (bit - 1));
    }
    __device__ __forceinline__ uint32_t group(const uint32_t* heads, int w, uint32_t bit) const {
        return groups_of(base) + groups[w] + __popc(heads[w] & (bit | (bit - 1))) - 1;
    }
};

// Goes over MARK_TILE items of a list and keeps the wanted ones in order. read(j) is item j, and
// write(at, j, item) puts it into the next list. For all threads of a CTA. The last tile publishes
// the number of kept items, and no groups.
template <class Read, class Wanted, class Write>
__device__ __forceinline__ void compact(uint32_t items, uint64_t* status, int tiles, uint32_t* host_flags, Read read,
                                        Wanted wanted, Write write) {
    __shared__ uint32_t kept[MARK_WORDS], heads[MARK_WORDS], tile;
    __shared__ Compaction compaction;
    if (threadIdx.x == 0) tile = next_tile(status);
    __syncthreads();
    const uint32_t base = tile * MARK_TILE, bit = 1u << (threadIdx.x & 31);
    uint32_t found[MARK_ITEMS];
    for (int q = 0; q < MARK_ITEMS; q++) {
        const uint32_t x = q * THREADS + threadIdx.x;
        const bool inside = x < items - base;
        found[q] = inside ? read(base + x) : 0;
        const uint32_t bits = __ballot_sync(~0u, inside && wanted(found[q]));
        if (bit == 1) {
            kept[x >> 5] = bits;
            heads[x >> 5] = 0;
        }
    }
    __syncthreads();
    compaction.count(kept, heads, MARK_WORDS, status, tile, tiles, host_flags);
    for (int q = 0; q < MARK_ITEMS; q++) {
        const uint32_t x = q * THREADS + threadIdx.x;
        if (kept[x >> 5] & bit) write(compaction.item(kept, x >> 5, bit), base + x, found[q]);
    }
}
