// Chooses minimizers, and ranks those that are unresolved by prefix doubling.

#include "primitives/compaction.cuh"
#include "sort/minimizers.cuh"

// Marks the minimizers: positions at which the hash of `symbols` symbols is at most that of each of
// the next `window` positions. counts: a sum of all minimizers and a number of CTAs, both 0 at the
// start. The last CTA publishes the sum.
extern "C" __global__ void __launch_bounds__(THREADS)
    mark_minimizers(const uint8_t* bytes, uint32_t n, uint32_t symbols, uint32_t window, uint32_t* bitmap,
                    uint32_t words, uint32_t* counts, uint32_t* host_flags) {
    __shared__ uint32_t hashes[KEY_TILE + MOST_WINDOW];
    __shared__ uint32_t found;
    if (threadIdx.x == 0) found = 0;
    const uint32_t base = blockIdx.x * KEY_TILE, left = base < n ? n - base : 0;
    const uint64_t mask = symbols >= 8 ? ~0ull : (1ull << (8 * symbols)) - 1;
    for (uint32_t i = threadIdx.x; i < KEY_TILE + window; i += THREADS) {
        const bool inside = i < left;
        const uint64_t hash = inside ? ((load8(bytes, base + i) & mask) + 1) * 0x9E3779B97F4A7C15ull >> 32 : 0;
        hashes[i] = inside ? static_cast<uint32_t>(hash) * 0x85EBCA6Bu : ~0u;
    }
    __syncthreads();
    uint32_t mine = 0;
    for (uint32_t i = threadIdx.x; i < KEY_TILE; i += THREADS) {
        const bool minimizer = is_window_minimum(i < left, hashes + i, window);
        const uint32_t bits = __ballot_sync(~0u, minimizer);
        if ((i & 31) == 0 && (base + i) / 32 < words) {
            bitmap[(base + i) / 32] = bits;
            mine += __popc(bits);
        }
    }
    if (mine) atomicAdd(&found, mine);
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(counts, found);
        __threadfence();
        if (atomicAdd(counts + 1, 1) == gridDim.x - 1) publish_counts(host_flags, atomicAdd(counts, 0), 0);
    }
}

// Gives resolved minimizers their SA indices as ranks. `sa` holds the suffix array from `first` on;
// unresolved suffixes are ~0 there.
extern "C" __global__ void rank_resolved(const uint32_t* sa, uint32_t items, uint32_t first, const uint32_t* bitmap,
                                         uint64_t* ranks) {
    const uint32_t j = global_thread();
    if (j >= items) return;
    const uint32_t suffix = sa[j];
    if (suffix != ~0u && is_minimizer(bitmap, suffix)) ranks[suffix] = first + j;
}

// Gives the minimizers of a list the SA indices and the depths of their groups as ranks.
extern "C" __global__ void rank_unresolved(const uint32_t* suffixes, const uint32_t* groups,
                                           const uint64_t* group_heads, uint32_t items, uint64_t* ranks) {
    const uint32_t j = global_thread();
    if (j < items) ranks[suffixes[j]] = group_heads[groups[j]];
}

// Sets the SA index in a rank and leaves its depth, since no unresolved suffix shares the rank any
// more.
__device__ __forceinline__ void set_sa_index(uint64_t* ranks, uint32_t minimizer, uint32_t sa_index) {
    reinterpret_cast<uint32_t*>(ranks)[2 * static_cast<size_t>(minimizer)] = sa_index;
}

// Gives the minimizers that refine_minimizers has resolved their SA indices as ranks.
extern "C" __global__ void rank_local(const uint32_t* resolved, const uint32_t* sa_indices, uint32_t items,
                                      uint64_t* ranks) {
    const uint32_t j = global_thread();
    if (j < items && resolved[j] != ~0u) set_sa_index(ranks, resolved[j], sa_indices[j]);
}

struct SHARED SelectArgs {
    UnsortedGroupsView from, to;
    const uint32_t* bitmap;
    uint64_t* ranks;
    uint64_t* status;
    uint32_t* host_flags;
    uint32_t items;
    int tiles;
};

// Copies the minimizers of a list, in order, and gives them the SA indices and the depths of their
// groups as ranks. They stay in the groups of the old list.
extern "C" __global__ void __launch_bounds__(THREADS) select_minimizers(const __grid_constant__ SelectArgs a) {
    const auto read = [&](uint32_t j) { return a.from.suffixes[j]; };
    const auto wanted = [&](uint32_t suffix) { return is_minimizer(a.bitmap, suffix); };
    const auto write = [&](uint32_t at, uint32_t j, uint32_t suffix) {
        const uint32_t group = a.from.groups[j];
        a.to.sa_indices[at] = a.from.sa_indices[j];
        a.to.suffixes[at] = suffix;
        a.to.groups[at] = group;
        a.ranks[suffix] = a.from.group_heads[group];
    };
    compact(a.items, a.status, a.tiles, a.host_flags, read, wanted, write);
}

struct SHARED ListKeysArgs {
    UnsortedGroupsView list;
    TextView text;
    const uint32_t* code_table;
    MinimizersView dense, sparse;
    uint64_t* keys;
    uint32_t items, kind, width;
};

// Makes the keys of a list: group << width | key.
extern "C" __global__ void __launch_bounds__(THREADS) list_keys(const __grid_constant__ ListKeysArgs a) {
    __shared__ uint32_t code_table[256];
    load_table(code_table, a.code_table);
    __syncthreads();
    for (uint32_t q = 0; q < LIST_ITEMS; q++) {
        const uint32_t j = (blockIdx.x * LIST_ITEMS + q) * THREADS + threadIdx.x;
        if (j >= a.items) return;
        const uint32_t group = a.list.groups[j], depth = depth_of(a.list.group_heads[group]);
        uint32_t next;
        const uint64_t key =
            list_key(a.kind, code_table, a.text, a.dense, a.sparse, a.list.suffixes[j], depth, a.width, next);
        a.keys[j] = static_cast<uint64_t>(group) << a.width | key;
    }
}

struct SHARED MarkRanksArgs {
    const uint64_t* keys;
    const uint32_t* suffixes;
    const uint32_t* sa_indices;
    const uint64_t* group_heads;  // of the groups before the sort
    TextView text;
    const uint32_t* code_table;
    MinimizersView dense, sparse;
    uint64_t* ranks;
    UnsortedGroupsView to;
    uint64_t* status;
    uint32_t* host_flags;
    uint32_t items, kind, width;
    int tiles;
};

// Ends a round of doubling. Minimizers with a key of their own get their rank; the others go to the
// next list.
extern "C" __global__ void __launch_bounds__(THREADS) mark_ranks(const __grid_constant__ MarkRanksArgs a) {
    __shared__ uint32_t code_table[256], heads[MARK_WORDS + 1], unresolved[MARK_WORDS], unresolved_heads[MARK_WORDS],
        tile;
    __shared__ Compaction compaction;
    const uint32_t tid = threadIdx.x, bit = 1u << (tid & 31);
    if (tid == 0) tile = next_tile(a.status);
    load_table(code_table, a.code_table);
    __syncthreads();
    const uint32_t base = tile * MARK_TILE, left = a.items - base;
    uint64_t keys[MARK_ITEMS];
#pragma unroll
    for (int q = 0; q < MARK_ITEMS; q++) {
        const uint32_t x = q * THREADS + tid, j = base + x;
        keys[q] = x < left ? a.keys[j] : 0;
        const uint32_t bits = __ballot_sync(~0u, j == 0 || x >= left || keys[q] != a.keys[j - 1]);
        if (bit == 1) heads[x >> 5] = bits;
    }
    if (tid == 0) {
        const uint32_t j = base + MARK_TILE;
        heads[MARK_WORDS] = MARK_TILE >= left || a.keys[j] != a.keys[j - 1];
    }
    __syncthreads();
    if (tid < MARK_WORDS) {
        // An item is resolved if it is a head and followed by one.
        const uint32_t head = heads[tid], next = head >> 1 | heads[tid + 1] << 31, x = tid * 32;
        const uint32_t inside = x >= left ? 0 : left - x < 32 ? (1u << (left - x)) - 1 : ~0u;
        unresolved[tid] = ~(head & next) & inside;
        unresolved_heads[tid] = unresolved[tid] & head;
    }
    __syncthreads();
    compaction.count(unresolved, unresolved_heads, MARK_WORDS, a.status, tile, a.tiles, a.host_flags);
#pragma unroll
    for (int q = 0; q < MARK_ITEMS; q++) {
        const uint32_t x = q * THREADS + tid, w = x >> 5, j = base + x;
        if (x >= left) continue;
        const uint32_t suffix = a.suffixes[j], sa_index = a.sa_indices[j];
        if (!(unresolved[w] & bit)) {
            set_sa_index(a.ranks, suffix, sa_index);
            continue;
        }
        const uint32_t at = compaction.item(unresolved, w, bit), group = compaction.group(unresolved_heads, w, bit);
        a.to.sa_indices[at] = sa_index;
        a.to.suffixes[at] = suffix;
        a.to.groups[at] = group;
        if (unresolved_heads[w] & bit) {
            uint32_t next;
            list_key(a.kind, code_table, a.text, a.dense, a.sparse, suffix, depth_of(a.group_heads[keys[q] >> a.width]),
                     a.width, next);
            a.to.group_heads[group] = static_cast<uint64_t>(next) << 32 | sa_index;
        }
    }
}
