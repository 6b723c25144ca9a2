// Splits a sorted list of suffixes into groups of equal keys, and sorts small groups further in
// shared memory.
//
// A CTA reads a tile of the list and HALO items on both sides of it. A group is small if it has up
// to HALO suffixes. The CTA owns the small groups that start in its tile, and the items of larger
// groups in its tile. It sorts its small groups again and again by more text or by ranks, each time
// only the unresolved ones. Resolved suffixes go to the results, the others in order to the next
// list.

#include "block/block_output.cuh"
#include "primitives/compaction.cuh"
#include "primitives/small_groups.cuh"
#include "sort/minimizers.cuh"

struct SHARED RefineArgs {
    // the sorted list: group << width | next bits; null if the list stays in its groups
    const uint64_t* keys;
    const uint32_t* groups;    // the groups of the list, if there are no keys
    const uint32_t* suffixes;  // may be out.sa
    const uint32_t* sa_indices;     // FIRST: none, item j has SA index j
    const uint64_t* group_heads;     // of the groups before the sort
    uint32_t items;
    uint32_t width;
    // FIRST: low bits of a key that were not sorted; the lowest 8 are the byte before the suffix
    uint32_t dropped;
    uint32_t rounds;   // maximum number of rounds on small groups
    uint32_t cta_items;  // items of a CTA: HALO, a tile, HALO
    uint32_t stop;     // a CTA stops if more than this many sixteenths of a round stay unresolved
    TextView text;
    const uint32_t* code_table;
    MinimizersView minimizers;
    OutputView out;
    UnsortedGroupsView to;          // gets the unresolved items; its `group_heads` may be `keys`
    uint32_t* resolved;  // MINIMIZERS: gets the resolved ones, by item; ~0 for the others
    uint64_t* status;   // a word, and one per tile; 0 at the start
    int tiles;
};

// Kind of list that is refined: all suffixes; a list by text; a list by the ranks of minimizers; a
// list of minimizers.
enum Kind { FIRST, TEXT, FINISH, MINIMIZERS };

// Length of the common prefix at two positions, up to `limit` and to SKIP bytes.
__device__ __forceinline__ uint32_t common_bytes(const uint8_t* bytes, uint32_t a, uint32_t b, uint32_t limit) {
    uint32_t common = SKIP;
#pragma unroll
    for (int i = SKIP / 8 - 1; i >= 0; i--) {
        const uint64_t differ = load8(bytes + 8 * i, a) ^ load8(bytes + 8 * i, b);
        if (differ) common = 8 * i + (__ffsll(differ) - 1) / 8;
    }
    return min(common, limit);
}

template <int KIND>
struct Refiner {
    // FIRST keeps the byte before the suffix below the depth.
    static const int DEPTH_SHIFT = KIND == FIRST ? 8 : 0;

    struct Shared {
        uint64_t keys[REFINE_TILE];
        uint32_t suffixes[REFINE_TILE], depths[REFINE_TILE], members[REFINE_TILE], code_table[256];
        uint16_t firsts[REFINE_TILE / 2];  // of the groups that are sorted here
        // A bit per item: begins a group, is unresolved, is unresolved and begins a group, belongs
        // to this CTA.
        uint32_t heads[REFINE_WORDS + 1], unresolved[REFINE_WORDS], unresolved_heads[REFINE_WORDS], own[REFINE_WORDS];
        uint32_t member_count, first_count, tile;
        Compaction compaction;
    };

    const RefineArgs& a;
    Shared& s;

    // Depth of the group with this key. Without keys it is the depth before.
    __device__ __forceinline__ uint32_t group_depth(uint64_t key, uint32_t suffix) const {
        uint32_t symbols;
        if (KIND == FIRST) {
            encode(s.code_table, a.text, suffix, 64 - a.dropped, symbols);
            return symbols;
        }
        if (!a.keys) return depth_of(a.group_heads[key]);
        const uint32_t depth = depth_of(a.group_heads[key >> a.width]);
        encode(s.code_table, a.text, suffix + depth, a.width, symbols);
        return depth + symbols;
    }

    __device__ __forceinline__ uint64_t next_key(uint32_t suffix, uint32_t& depth) const {
        uint32_t next;
        uint64_t key;
        if (KIND == FINISH || KIND == MINIMIZERS) {
            key = rank_key<KIND == FINISH>(s.code_table, a.text, a.minimizers, suffix, depth, 64, next);
            depth = next;
        } else {
            key = encode(s.code_table, a.text, suffix + depth, 64, next);
            depth += next;
        }
        return key;
    }

    // Reads the items. Other CTAs may write those of their groups meanwhile, but not their keys.
    __device__ __forceinline__ void load(long long begin) const {
        const int cta_items = a.cta_items;
        for (int x = threadIdx.x; x < cta_items; x += REFINE_THREADS) {
            const long long j = begin + x;
            if (j >= 0 && j < a.items) {
                uint64_t key = KIND != FIRST && !a.keys ? a.groups[j] : a.keys[j];
                if (KIND == FIRST) {
                    s.depths[x] = static_cast<uint32_t>(key) & 255;
                    key >>= a.dropped;
                }
                s.keys[x] = key;
                s.suffixes[x] = a.suffixes[j];
            }
        }
        __syncthreads();
        for (int x = threadIdx.x; x < cta_items; x += REFINE_THREADS) {
            const long long j = begin + x;
            const bool head = j <= 0 || j >= a.items || (x > 0 && s.keys[x] != s.keys[x - 1]);
            const uint32_t bits = __ballot_sync(__activemask(), head);
            if ((threadIdx.x & 31) == 0) s.heads[x >> 5] = bits;
        }
        __syncthreads();
    }

    // Finds the items that belong to this CTA, and lists those that it has to sort.
    __device__ __forceinline__ void list_members(long long begin) const {
        const int cta_items = a.cta_items, lane = threadIdx.x & 31;
        for (int x = threadIdx.x; x < cta_items; x += REFINE_THREADS) {
            const auto [first, end, own, large, unresolved] = ownership(s.heads, cta_items, x, begin + x < a.items);
            const uint32_t active = __activemask(), owned = __ballot_sync(active, own);
            const uint32_t larges = __ballot_sync(active, large), members = __ballot_sync(active, unresolved);
            const uint32_t firsts = __ballot_sync(active, unresolved && x == first);
            uint32_t at = 0, first_at = 0;
            if (lane == 0) {
                s.own[x >> 5] = owned;
                s.unresolved[x >> 5] = larges;
                s.unresolved_heads[x >> 5] = larges & s.heads[x >> 5];
                if (members) at = atomicAdd(&s.member_count, __popc(members));
                if (firsts) first_at = atomicAdd(&s.first_count, __popc(firsts));
            }
            at = __shfl_sync(active, at, 0) + __popc(members & ((1u << lane) - 1));
            first_at = __shfl_sync(active, first_at, 0) + __popc(firsts & ((1u << lane) - 1));
            if (unresolved) {
                s.members[at] = member(x, first, end - first);
                if (x == first) s.firsts[first_at] = x;
            }
        }
        __syncthreads();
    }

    __device__ __forceinline__ void start_depths(int count) const {
        for (int i = threadIdx.x; i < s.first_count; i += REFINE_THREADS) {
            const int x = s.firsts[i];
            s.keys[x] = group_depth(s.keys[x], s.suffixes[x]);
        }
        __syncthreads();
        for (int i = threadIdx.x; i < count; i += REFINE_THREADS) {
            const int x = index_of(s.members[i]);
            const uint32_t depth = static_cast<uint32_t>(s.keys[first_of(s.members[i])]);
            s.depths[x] = DEPTH_SHIFT ? depth << DEPTH_SHIFT | s.depths[x] : depth;
        }
    }

    // Skips up to SKIP bytes that a whole group has in common, which saves rounds on long repeats.
    __device__ __forceinline__ void skip_common(int count) const {
        for (int i = threadIdx.x; i < count; i += REFINE_THREADS) {
            const int x = index_of(s.members[i]);
            if (x == first_of(s.members[i])) s.keys[x] = SKIP;
        }
        __syncthreads();
        for (int i = threadIdx.x; i < count; i += REFINE_THREADS) {
            const int x = index_of(s.members[i]), first = first_of(s.members[i]);
            if (x == first) continue;
            const uint32_t p = s.suffixes[x] + s.depths[x], q = s.suffixes[first] + s.depths[x];
            const uint32_t common = common_bytes(a.text.bytes, p, q, a.text.n - max(p, q));
            if (common < SKIP) atomicMin(reinterpret_cast<unsigned long long*>(&s.keys[first]), common);
        }
        __syncthreads();
        for (int i = threadIdx.x; i < count; i += REFINE_THREADS) {
            s.depths[index_of(s.members[i])] += static_cast<uint32_t>(s.keys[first_of(s.members[i])]);
        }
        __syncthreads();
    }

    // Sorts each group by one more key. Returns the number of unresolved items.
    __device__ __forceinline__ int round(int count) const {
        __syncthreads();
        if (KIND == TEXT) skip_common(count);
        for (int i = threadIdx.x; i < count; i += REFINE_THREADS) {
            const int x = index_of(s.members[i]);
            const uint32_t old = s.depths[x];
            uint32_t depth = old >> DEPTH_SHIFT;
            s.keys[x] = next_key(s.suffixes[x], depth);
            s.depths[x] = DEPTH_SHIFT ? depth << DEPTH_SHIFT | (old & 255) : depth;
        }
        uint32_t suffixes[REFINE_ITEMS], depths[REFINE_ITEMS];
        const auto take = [&](int q, int x) {
            suffixes[q] = s.suffixes[x];
            depths[q] = s.depths[x];
        };
        const auto put = [&](int q, uint32_t member) {
            s.suffixes[index_of(member)] = suffixes[q];
            s.depths[index_of(member)] = depths[q];
        };
        return sort_groups(s.keys, s.members, &s.member_count, count, take, put);
    }

    // Marks the remaining members as unresolved.
    __device__ __forceinline__ void mark_left(int count) const {
        __syncthreads();
        for (int i = threadIdx.x; i < count; i += REFINE_THREADS) {
            const int x = index_of(s.members[i]);
            atomicOr(&s.unresolved[x >> 5], 1u << (x & 31));
            if (x == first_of(s.members[i])) atomicOr(&s.unresolved_heads[x >> 5], 1u << (x & 31));
        }
        __syncthreads();
    }

    // Writes resolved items to the results, and the others to the next list.
    __device__ __forceinline__ void emit(long long begin) const {
        const int cta_items = a.cta_items, words = cta_items >> 5;
        for (int x = threadIdx.x; x < cta_items; x += REFINE_THREADS) {
            const int w = x >> 5;
            const uint32_t bit = 1u << (x & 31);
            if (!(s.own[w] & bit)) continue;
            const uint32_t j = static_cast<uint32_t>(begin + x);
            const uint32_t sa_index = KIND == FIRST ? j : a.sa_indices[j], suffix = s.suffixes[x];
            const bool unresolved = s.unresolved[w] & bit;
            if (KIND == MINIMIZERS) {
                a.resolved[j] = unresolved ? ~0u : suffix;
            } else if (KIND != FINISH || a.out.whole_sa) {
                a.out.sa[sa_index] = unresolved ? ~0u : suffix;
            }
            if (!unresolved) {
                const auto before = [&] {
                    return KIND == FIRST ? static_cast<uint8_t>(s.depths[x]) : a.text.bytes[suffix - 1];
                };
                if (KIND != MINIMIZERS) write_row(a.out, sa_index, suffix, before);
                continue;
            }
            const uint32_t at = s.compaction.item(s.unresolved, w, bit),
                           group = s.compaction.group(s.unresolved_heads, w, bit);
            a.to.sa_indices[at] = sa_index;
            a.to.suffixes[at] = suffix;
            a.to.groups[at] = group;
            if (s.unresolved_heads[w] & bit) {
                const int members = head_after(s.heads, words, x) - head_before(s.heads, x);
                const uint32_t depth = members <= HALO ? s.depths[x] >> DEPTH_SHIFT : group_depth(s.keys[x], suffix);
                a.to.group_heads[group] = static_cast<uint64_t>(depth) << 32 | sa_index;
            }
        }
    }

    __device__ __forceinline__ void run() const {
        if (threadIdx.x == 0) {
            s.tile = next_tile(a.status);
            s.member_count = s.first_count = 0;
        }
        load_table(s.code_table, a.code_table);
        __syncthreads();
        const int tile = s.tile;
        const long long begin = static_cast<long long>(tile) * (static_cast<int>(a.cta_items) - 2 * HALO) - HALO;
        load(begin);
        list_members(begin);
        int count = s.member_count;
        start_depths(count);
        for (uint32_t r = 0; r < a.rounds && count; r++) {
            const int before = count;
            count = round(count);
            if (count * 16 > before * static_cast<int>(a.stop)) break;
        }
        mark_left(count);
        s.compaction.count(s.unresolved, s.unresolved_heads, a.cta_items >> 5, a.status, tile, a.tiles,
                           a.out.host_flags);
        emit(begin);
    }
};

template <int KIND>
__device__ __forceinline__ void refine(const RefineArgs& a) {
    __shared__ typename Refiner<KIND>::Shared shared;
    Refiner<KIND>{a, shared}.run();
}

extern "C" __global__ void __launch_bounds__(REFINE_THREADS, RESIDENT)
    refine_first(const __grid_constant__ RefineArgs a) {
    refine<FIRST>(a);
}
extern "C" __global__ void __launch_bounds__(REFINE_THREADS) refine_text(const __grid_constant__ RefineArgs a) {
    refine<TEXT>(a);
}
extern "C" __global__ void __launch_bounds__(REFINE_THREADS, RESIDENT)
    refine_finish(const __grid_constant__ RefineArgs a) {
    refine<FINISH>(a);
}
extern "C" __global__ void __launch_bounds__(REFINE_THREADS, RESIDENT)
    refine_minimizers(const __grid_constant__ RefineArgs a) {
    refine<MINIMIZERS>(a);
}
