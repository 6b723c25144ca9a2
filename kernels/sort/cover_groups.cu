// Prefix doubling over the cover of the skew algorithm: splits sorted lists into groups of equal
// suffixes, and sorts small groups.
//
// Rows count from 1. The rank of a suffix is the row of the first suffix of its group, so a group
// of one has its final rank. Two lists hold the suffixes in groups of more than one. The keys of
// large groups are sorted before they come here. Small groups, of up to HALO suffixes, are sorted
// in the shared memory of one CTA. A CTA reads a tile of the list and HALO items on both sides of
// it. It owns the small groups that start in its tile, and the items of larger groups in its tile.
//
// Ranks are only read here. Changes are listed, and written once all CTAs have finished.

#include "block/text.cuh"
#include "sort/cover_indices.cuh"
#include "primitives/compaction.cuh"
#include "primitives/small_groups.cuh"

// Kind of list that is split: all suffixes, sorted by their first symbols; large groups, sorted by
// keys; or small groups, sorted here by ranks.
enum Kind { FIRST, SORTED, SMALL };

// The byte values that occur, numbered from 1 in `bits` bits. A key holds `symbols` of them.
struct SHARED AlphabetView {
    const uint32_t* numbers;
    uint32_t symbols, bits;
};

// Both lists in one memory: large groups from its front, small ones from its back, in chunks taken
// one after the other.
struct SHARED CoverListView {
    uint32_t* suffixes;
    uint32_t* ranks;
    uint32_t* rows;    // of large groups
    uint32_t* groups;  // of large groups: their numbers
};

// The suffix suffixes[k] has got the rank ranks[k].
struct SHARED CoverChangesView {
    uint32_t* suffixes;
    uint32_t* ranks;
};

struct SHARED CoverGroupsArgs {
    const uint64_t* keys;  // except SMALL: keys by which the list is sorted, group by group
    const uint32_t* suffixes;
    const uint32_t* from_ranks;  // FIRST: none, all are in one group
    const uint32_t* from_rows;   // SORTED
    uint32_t items;
    uint32_t depth;   // length of the common prefix in small groups
    uint32_t step;    // length of the common prefix in all groups
    uint32_t rounds;  // maximum number of rounds on small groups
    TextView text;
    AlphabetView alphabet;      // FIRST
    const uint32_t* ranks;  // SMALL: by cover index
    uint32_t* order;        // gets suffixes by row
    CoverListView list;              // gets the unresolved items; has room for `room`
    uint32_t room;
    CoverChangesView changes;   // FIRST: item j is row j + 1
    uint32_t* counts;  // of small groups' items, of changes; 0 at the start
    uint32_t* larges;  // FIRST, SORTED: gets the counts of large groups' items, and of large groups
    uint64_t* status;  // FIRST, SORTED: a word, and one per tile; 0 at the start
    int tiles;
};

// The next symbols of a suffix as a key.
__device__ __forceinline__ uint64_t symbols_at(const uint32_t* numbers, TextView text, uint32_t at, uint32_t symbols,
                                               uint32_t bits) {
    uint64_t key = 0, bytes = 0;
    for (uint32_t k = 0; k < symbols; k++) {
        if (k % 8 == 0) bytes = load8(text.bytes, at + k);
        key = key << bits | (at + k < text.n ? numbers[bytes & 255] : 0);
        bytes >>= 8;
    }
    return key;
}

// The ranks `depth` and `depth + step` symbols behind a suffix; 0 past the end. Both distances are
// multiples of 3.
__device__ __forceinline__ uint64_t ranks_at(const uint32_t* ranks, uint32_t n, uint32_t suffix, uint32_t depth,
                                             uint32_t step) {
    const uint64_t first = static_cast<uint64_t>(suffix) + depth, second = first + step;
    const uint64_t high = first < n ? __ldg(ranks + cover_index(static_cast<uint32_t>(first))) : 0;
    const uint64_t low = second < n ? __ldg(ranks + cover_index(static_cast<uint32_t>(second))) : 0;
    return high << 32 | low;
}

// Makes the first key at each cover index. A thread makes two neighbouring keys, which share all
// but one symbol.
extern "C" __global__ void __launch_bounds__(THREADS)
    cover_runs(const uint8_t* text, uint32_t n, const uint32_t* numbers, uint32_t symbols, uint32_t bits,
               uint32_t count, uint64_t* keys, uint32_t* suffixes) {
    __shared__ uint32_t shared_numbers[256];
    load_table(shared_numbers, numbers);
    __syncthreads();
    const uint32_t index = 2 * global_thread(), at = cover_position(index);
    if (index >= count) return;
    const uint64_t key = symbols_at(shared_numbers, {text, n}, at, symbols, bits);
    keys[index] = key;
    suffixes[index] = at;
    if (index + 1 >= count) return;
    const uint32_t end = at + symbols;
    const uint64_t all = ~0ull >> (64 - symbols * bits);
    keys[index + 1] = (key << bits | (end < n ? shared_numbers[text[end]] : 0)) & all;
    suffixes[index + 1] = at + 1;
}

// Makes keys of large groups: the number of the group, and the rank, of `bits` bits, `depth`
// symbols behind each suffix. If `two` is not 0, the rank 2 * `depth` symbols behind follows.
extern "C" __global__ void large_keys(const uint32_t* suffixes, const uint32_t* groups, uint32_t m,
                                      const uint32_t* ranks, uint32_t n, uint32_t depth, uint32_t bits, uint32_t two,
                                      uint64_t* keys) {
    const uint32_t t = global_thread();
    if (t >= m) return;
    const uint64_t pair = ranks_at(ranks, n, suffixes[t], depth, depth);
    const uint64_t key = static_cast<uint64_t>(groups[t]) << bits | pair >> 32;
    keys[t] = two ? key << bits | (pair & ~0u) : key;
}

// Writes changed ranks.
extern "C" __global__ void write_ranks(const uint32_t* suffixes, const uint32_t* ranks, uint32_t m,
                                       uint32_t* by_cover_index) {
    const uint32_t t = global_thread();
    if (t < m) by_cover_index[cover_index(suffixes[t])] = ranks[t];
}

// Positions of a CTA's items in two lists that have no order among CTAs.
struct UnorderedCompaction {
    uint32_t first[REFINE_WORDS], second[REFINE_WORDS], first_base, second_base, first_count;

    // For all threads of a CTA. Ends with a barrier.
    __device__ __forceinline__ void take(const uint32_t* firsts, const uint32_t* seconds, uint32_t* counts) {
        const int lane = threadIdx.x & 31;
        if (threadIdx.x < 32) {
            const uint64_t sum = scan_bits(firsts, seconds, REFINE_WORDS, first, second);
            if (lane == 0) {
                first_count = items_of(sum);
                first_base = first_count ? atomicAdd(counts, first_count) : 0;
                second_base = groups_of(sum) ? atomicAdd(counts + 1, groups_of(sum)) : 0;
            }
        }
        __syncthreads();
    }
};

template <int KIND>
struct Splitter {
    struct Shared {
        uint64_t keys[REFINE_TILE];
        uint32_t suffixes[REFINE_TILE], rows[REFINE_TILE], members[REFINE_TILE], numbers[256];
        // A bit per item: begins a group, began one before, belongs to this CTA, is in a large
        // group.
        uint32_t heads[REFINE_WORDS], old_heads[REFINE_WORDS], own[REFINE_WORDS], large[REFINE_WORDS];
        // A bit per item: begins a large group, stays in a small one, has a changed rank.
        uint32_t large_heads[REFINE_WORDS], small[REFINE_WORDS], changed[REFINE_WORDS];
        uint32_t member_count, tile, spanning_row;
        UnorderedCompaction unordered;
        Compaction compaction;
    };

    const CoverGroupsArgs& a;
    Shared& s;

    __device__ __forceinline__ uint32_t old_rank(uint32_t j) const { return KIND == FIRST ? 1 : a.from_ranks[j]; }
    __device__ __forceinline__ uint32_t old_row(uint32_t j) const { return KIND == FIRST ? j + 1 : a.from_rows[j]; }

    // Reads the items, and marks the heads of groups.
    __device__ __forceinline__ void load(long long begin) const {
        for (int x = threadIdx.x; x < REFINE_TILE; x += REFINE_THREADS) {
            const long long j = begin + x;
            if (j < 0 || j >= a.items) continue;
            s.suffixes[x] = a.suffixes[j];
            s.keys[x] = KIND == SMALL ? old_rank(j) : a.keys[j];
            if (KIND != SMALL) s.rows[x] = old_row(j);
        }
        __syncthreads();
        for (int x = threadIdx.x; x < REFINE_TILE; x += REFINE_THREADS) {
            const long long j = begin + x;
            const bool head = j <= 0 || j >= a.items || (x > 0 && s.keys[x] != s.keys[x - 1]);
            const uint32_t bits = __ballot_sync(~0u, head);
            if ((threadIdx.x & 31) == 0) s.heads[x >> 5] = s.old_heads[x >> 5] = bits;
        }
        __syncthreads();
        if (KIND == SMALL) {
            for (int x = threadIdx.x; x < REFINE_TILE; x += REFINE_THREADS) {
                if (begin + x < 0 || begin + x >= a.items) continue;
                s.rows[x] = static_cast<uint32_t>(s.keys[x]) + x - head_before(s.heads, x);
            }
            __syncthreads();
        }
    }

    // Finds the items that belong to this CTA, and lists the small groups of more than one.
    __device__ __forceinline__ void list_members(long long begin) const {
        const int lane = threadIdx.x & 31;
        for (int x = threadIdx.x; x < REFINE_TILE; x += REFINE_THREADS) {
            const auto [first, end, own, large, unresolved] = ownership(s.heads, REFINE_TILE, x, begin + x < a.items);
            const uint32_t owned = __ballot_sync(~0u, own), larges = __ballot_sync(~0u, large);
            const uint32_t members = __ballot_sync(~0u, unresolved);
            uint32_t at = 0;
            if (lane == 0) {
                s.own[x >> 5] = owned;
                s.large[x >> 5] = larges;
                s.large_heads[x >> 5] = larges & s.heads[x >> 5];
                if (members) at = atomicAdd(&s.member_count, __popc(members));
            }
            at = __shfl_sync(~0u, at, 0) + __popc(members & ((1u << lane) - 1));
            if (unresolved) s.members[at] = member(x, first, end - first);
        }
        __syncthreads();
    }

    // Finds the first row of the group that spans the lower border of the tile, if its head is not
    // in the CTA's items.
    __device__ __forceinline__ void find_spanning(long long begin) const {
        if (KIND == SMALL || threadIdx.x > 0 || begin < 0 || head_before(s.heads, HALO) >= 0) return;
        const uint32_t j = static_cast<uint32_t>(begin), row = s.rows[0];
        const uint64_t key = s.keys[0];
        uint32_t low = j - (row - old_rank(j)), high = j;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (a.keys[middle] < key) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        s.spanning_row = row - (j - low);
    }

    // The first row of an item's group.
    __device__ __forceinline__ uint32_t rank(int x, bool large) const {
        if (KIND == SMALL || !large) return s.rows[head_before(s.heads, x)];
        int w = x >> 5;
        uint32_t bits = s.heads[w] & (~0u >> (31 - (x & 31)));
        while (!bits && w > 0) bits = s.heads[--w];
        return bits ? s.rows[w * 32 + 31 - __clz(bits)] : s.spanning_row;
    }

    // Sorts each small group by one more key. Returns the number of unresolved items.
    __device__ __forceinline__ int round(int count, uint32_t depth) const {
        __syncthreads();
        for (int i = threadIdx.x; i < count; i += REFINE_THREADS) {
            const int x = index_of(s.members[i]);
            s.keys[x] = KIND == SMALL ? ranks_at(a.ranks, a.text.n, s.suffixes[x], depth, a.step)
                                      : symbols_at(s.numbers, a.text, s.suffixes[x] + depth, a.alphabet.symbols,
                                                   a.alphabet.bits);
        }
        uint32_t suffixes[REFINE_ITEMS];
        const auto take = [&](int q, int x) { suffixes[q] = s.suffixes[x]; };
        const auto put = [&](int q, uint32_t member) {
            const int x = index_of(member);
            s.suffixes[x] = suffixes[q];
            if (x == first_of(member)) atomicOr(&s.heads[x >> 5], 1u << (x & 31));
        };
        return sort_groups(s.keys, s.members, &s.member_count, count, take, put);
    }

    // Writes resolved items to their rows and the others to the lists, and lists the changes.
    __device__ __forceinline__ void emit(long long begin, int tile) const {
        const uint32_t bit = 1u << (threadIdx.x & 31);
        uint32_t ranks[REFINE_ITEMS];
#pragma unroll
        for (int q = 0; q < REFINE_ITEMS; q++) {
            const int x = q * REFINE_THREADS + threadIdx.x, w = x >> 5;
            const bool own = s.own[w] & bit, large = s.large[w] & bit;
            bool unresolved = false, changed = false;
            if (own) {
                ranks[q] = rank(x, large);
                unresolved = !large && head_after(s.heads, REFINE_WORDS, x) - head_before(s.heads, x) > 1;
                if (KIND == SMALL) changed = ranks[q] != s.rows[head_before(s.old_heads, x)];
                if (KIND == SORTED) changed = ranks[q] != old_rank(begin + x);
            }
            const uint32_t smalls = __ballot_sync(~0u, unresolved), changes = __ballot_sync(~0u, changed);
            if (bit == 1) {
                s.small[w] = smalls;
                s.changed[w] = changes;
            }
        }
        __syncthreads();
        s.unordered.take(s.small, s.changed, a.counts);
        if (KIND != SMALL) s.compaction.count(s.large, s.large_heads, REFINE_WORDS, a.status, tile, a.tiles, a.larges);
#pragma unroll
        for (int q = 0; q < REFINE_ITEMS; q++) {
            const int x = q * REFINE_THREADS + threadIdx.x, w = x >> 5;
            if (!(s.own[w] & bit)) continue;
            const uint32_t suffix = s.suffixes[x], row = s.rows[x];
            if (KIND == FIRST) {
                a.changes.ranks[row - 1] = ranks[q];
            } else if (s.changed[w] & bit) {
                const uint32_t at = s.unordered.second_base + s.unordered.second[w] + __popc(s.changed[w] & (bit - 1));
                a.changes.suffixes[at] = suffix;
                a.changes.ranks[at] = ranks[q];
            }
            if (KIND == FIRST || !((s.small[w] | s.large[w]) & bit)) a.order[row - 1] = suffix;
            if (s.small[w] & bit) {
                const uint32_t end = s.unordered.first_base + s.unordered.first_count;
                const uint32_t at = a.room - end + s.unordered.first[w] + __popc(s.small[w] & (bit - 1));
                a.list.suffixes[at] = suffix;
                a.list.ranks[at] = ranks[q];
            }
            if (KIND != SMALL && s.large[w] & bit) {
                const uint32_t at = s.compaction.item(s.large, w, bit);
                a.list.suffixes[at] = suffix;
                a.list.ranks[at] = ranks[q];
                a.list.rows[at] = row;
                a.list.groups[at] = s.compaction.group(s.large_heads, w, bit);
            }
        }
    }

    __device__ __forceinline__ void run() const {
        if (threadIdx.x == 0) {
            s.tile = KIND == SMALL ? blockIdx.x : next_tile(a.status);
            s.member_count = 0;
        }
        if (KIND == FIRST) load_table(s.numbers, a.alphabet.numbers);
        __syncthreads();
        const int tile = s.tile;
        const long long begin = static_cast<long long>(tile) * (REFINE_TILE - 2 * HALO) - HALO;
        load(begin);
        list_members(begin);
        find_spanning(begin);
        int count = s.member_count;
        if (KIND != SORTED) {
            const uint32_t further = KIND == SMALL ? 2 * a.step : a.alphabet.symbols;
            for (uint32_t r = 0; r < a.rounds && count; r++) count = round(count, a.depth + r * further);
        }
        __syncthreads();
        emit(begin, tile);
    }
};

template <int KIND>
__device__ __forceinline__ void split(const CoverGroupsArgs& a) {
    __shared__ typename Splitter<KIND>::Shared shared;
    Splitter<KIND>{a, shared}.run();
}

extern "C" __global__ void __launch_bounds__(REFINE_THREADS, RESIDENT)
    split_first(const __grid_constant__ CoverGroupsArgs a) {
    split<FIRST>(a);
}
extern "C" __global__ void __launch_bounds__(REFINE_THREADS, RESIDENT)
    split_sorted(const __grid_constant__ CoverGroupsArgs a) {
    split<SORTED>(a);
}
extern "C" __global__ void __launch_bounds__(REFINE_THREADS, RESIDENT)
    split_small(const __grid_constant__ CoverGroupsArgs a) {
    split<SMALL>(a);
}
