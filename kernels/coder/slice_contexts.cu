// Finds the symbols of a slice's runs: MTF ranks, and the counts of symbols in each table. One warp
// per slice, 32 runs at a time. The CPU does this in src/coder/mtf.rs and slice_symbols.rs.

#include "coder/encode_args.cuh"

namespace {

struct Lists {
    uint8_t mtf_ranks[CODER_WARPS][256];  // by symbol
    uint8_t symbols[CODER_WARPS][256];    // by MTF rank
    uint8_t moved[CODER_WARPS][256];      // 1 if the symbol of an MTF rank moves to the front
};

// A bit for each lane whose value is at most this lane's limit. Both have BITS bits, which all
// lanes compare from the highest on.
template <uint32_t BITS>
__device__ __forceinline__ uint32_t lanes_up_to(uint32_t value, uint32_t limit) {
    uint32_t below = 0, equal = ALL_LANES;
#pragma unroll
    for (uint32_t bit = BITS; bit-- > 0;) {
        const uint32_t set = __ballot_sync(ALL_LANES, value >> bit & 1), own = limit >> bit & 1 ? ALL_LANES : 0;
        below |= equal & ~set & own;
        equal &= ~(set ^ own);
    }
    return below | equal;
}

// Finds MTF ranks backwards. The list holds the symbols in the order in which they occur next;
// symbols not seen yet are behind all others.
struct RankFinder {
    uint32_t lane;
    uint8_t *mtf_ranks, *symbols, *moved;
    uint32_t seen;  // number of symbols seen so far

    // Finds the MTF ranks of 32 runs. A lane without a run has a symbol of NO_SYMBOL or more,
    // unlike all others. Afterwards the symbols of all runs are moved to the front of the list.
    __device__ __forceinline__ uint32_t find(uint32_t symbol, bool valid) {
        const uint32_t before = (1u << lane) - 1, after = ~before << 1;
        const uint32_t same = __match_any_sync(ALL_LANES, symbol);
        // The runs before and behind this one with the same symbol; -1 and 32 if there are none.
        const int last = 31 - __clz(same & before);
        const int next = same & after ? __ffs(same & after) - 1 : 32;
        const int listed = valid ? mtf_ranks[symbol] : 0;
        const uint32_t fresh = __ballot_sync(ALL_LANES, valid && next == 32 && listed >= static_cast<int>(seen));
        // Counts the symbols that occur before this one occurs again, each at the first of its
        // runs. If the symbol recurs among these runs, all of them count. Otherwise the symbols
        // before it in the list count, and those of the symbols behind it that occur earlier.
        const uint32_t between = after & ((next < 32 ? 1u << next : 0) - 1);
        const uint32_t firsts = lanes_up_to<5>(last + 1, min(lane + 1, 31u));
        const uint32_t behind = ~lanes_up_to<8>(listed, listed), counted = next < 32 ? ALL_LANES : behind;
        int rank = (next < 32 ? 0 : listed) + __popc(between & firsts & counted);
        if (fresh >> lane & 1) rank = min(rank, static_cast<int>(seen + __popc(fresh & after)));
        move(symbol, valid, last < 0, listed);
        seen += __popc(fresh);
        return rank;
    }

    // Moves the symbols of these runs to the front, in the order of their first runs. Symbols
    // before the last of them in the list move back, from the end on, so that none is overwritten.
    __device__ __forceinline__ void move(uint32_t symbol, bool valid, bool first, uint32_t listed) {
        const uint32_t firsts = __ballot_sync(ALL_LANES, valid && first);
        if (valid && first) moved[listed] = 1;
        const uint32_t last = __reduce_max_sync(ALL_LANES, listed);
        __syncwarp();
        uint32_t behind = 0;
        for (int chunk = last / 32; chunk >= 0; chunk--) {
            const uint32_t at = 32 * chunk + lane, there = symbols[at];
            const uint32_t gone = __ballot_sync(ALL_LANES, moved[at]);
            const uint32_t to = at + behind + __popc(gone >> lane >> 1);
            __syncwarp();
            if (!(gone >> lane & 1) && at < last) {
                symbols[to] = there;
                mtf_ranks[there] = to;
            }
            moved[at] = 0;
            behind += __popc(gone);
            __syncwarp();
        }
        if (valid && first) {
            const uint32_t to = __popc(firsts & ((1u << lane) - 1));
            symbols[to] = symbol;
            mtf_ranks[symbol] = to;
        }
        __syncwarp();
    }
};

struct Counting {
    ContextMaps maps;
    uint32_t counts[TABLE_WORDS + 256];
    uint32_t averages[CODER_WARPS][256];
};

// Counts a number in its tables.
__device__ __forceinline__ void count(uint32_t* counts, uint32_t half, uint32_t table, uint32_t number) {
    uint32_t bucket = number;
    if (number >= DIRECT) {
        const uint32_t shifted = number - 6, width = 31 - __clz(shifted);
        bucket = min(width + 8, LAST_BUCKET);
        const uint32_t high = (shifted - (1u << width)) >> (width - min(width, 4u));
        atomicAdd(&counts[16 * extra_table(half, width) + high], 1u);
    }
    atomicAdd(&counts[16 * (table + (half ? RUN_LEAVES : 0)) + bucket], 1u);
}

// Counts the symbols of a slice's runs.
__device__ void count_runs(const EncodeArgs& v, Counting& shared, uint32_t* averages, const RunSlice& slice) {
    const uint32_t lane = threadIdx.x % 32;
    const ContextMaps& maps = shared.maps;
    for (uint32_t i = lane; i < 256; i += 32) averages[i] = 0;
    __syncwarp();
    // The average over all symbols before the last run, and the amount that run adds.
    uint32_t all = 0, last = ROUNDING;
    // Loads are begun long before use: heads 64 runs ahead, symbols and ranks 32 runs ahead.
    uint32_t next = slice.head(lane), next_end = slice.head(lane + 1);
    uint32_t later = slice.head(lane + 32), later_end = slice.head(lane + 33);
    uint32_t next_symbol = __ldg(v.bwt + slice.start_of(next));
    uint32_t next_rank = lane < slice.runs ? v.mtf_ranks[slice.items + lane] : 0;
    for (uint32_t first = 0; first < slice.runs; first += 32) {
        const uint32_t run = first + lane, item = slice.items + run;
        const bool valid = run < slice.runs;
        const uint32_t symbol = valid ? next_symbol : NO_SYMBOL + lane;
        const uint32_t len = valid ? slice.end_of(next_end) - slice.start_of(next) : 1;
        const uint32_t rank_number = valid ? max(next_rank, 1u) - 1 : 0;
        next = later;
        next_end = later_end;
        later = slice.head(run + 64);
        later_end = slice.head(run + 65);
        next_symbol = __ldg(v.bwt + slice.start_of(next));
        next_rank = run + 32 < slice.runs ? v.mtf_ranks[item + 32] : 0;
        const uint32_t what = what_is_added(maps.roots, len - 1, rank_number);
        // The averages of this symbol. Each run updates them after the run before it with the same
        // symbol. From bit 24 on they hold its last MTF rank, quantised.
        const uint32_t same = __match_any_sync(ALL_LANES, symbol), before = same & ((1u << lane) - 1);
        const uint32_t turn = __popc(before), turns = __reduce_max_sync(ALL_LANES, turn);
        uint32_t own = valid && turn == 0 ? averages[symbol] : 0;
        uint32_t with_run = added(own, what) | (what & 0xFF000000);
        for (uint32_t k = 1; k <= turns; k++) {
            const uint32_t of_last = __shfl_sync(ALL_LANES, with_run, 31 - __clz(before));
            own = turn == k ? of_last : own;
            with_run = turn == k ? added(own, what) | (what & 0xFF000000) : with_run;
        }
        // All averages are read before the first is written.
        __syncwarp();
        if (valid && same >> lane == 1) averages[symbol] = with_run;
        __syncwarp();
        // The average over all symbols, updated run after run.
        uint32_t one_late = __shfl_up_sync(ALL_LANES, what, 1), around = 0;
        if (lane == 0) one_late = last;
        for (uint32_t k = 0; k < 32; k++) {
            if (lane == k) around = all;
            all = added_to_all(all, __shfl_sync(ALL_LANES, one_late, k));
        }
        last = __shfl_sync(ALL_LANES, what, 31);
        if (!valid) continue;

        const uint32_t run_context = maps.run_context[own & 1023];
        const uint32_t rank_context = maps.rank_context[own >> RANK_SHIFT & 1023];
        const uint32_t context = own_context(run_context, rank_context, own >> 24);
        const uint32_t run_leaf = maps.run_leaf[context];
        const uint32_t rank_leaf = maps.rank_leaf[8 * maps.own_rank[context] + maps.all_rank_context[around]];
        const uint32_t run_symbol = run_leaf << RUN_NUMBER_BITS | min(len - 1, LONG_RUN_NUMBER);
        v.symbols[item] = run_symbol | (rank_leaf << 8 | rank_number) << 16;
        count(shared.counts, 0, run_leaf, len - 1);
        count(shared.counts, 1, rank_leaf, rank_number);
        atomicAdd(&shared.counts[TABLE_WORDS + symbol], len);
    }
    // The items between two slices, and those behind the last, are read together with a slice's
    // last item.
    const uint32_t end = slice.items + slice.runs;
    const bool is_free = slice.runs && slice.head(slice.runs) == slice.end, is_last = slice.end == v.n;
    if (is_free && (lane == 0 || (is_last && end + lane < ((end + 3) & ~3u)))) v.symbols[end + lane] = 0;
}

}  // namespace

// One CTA for CODER_WARPS slices.
extern "C" __global__ void __launch_bounds__(32 * CODER_WARPS) find_mtf_ranks(const EncodeArgs v) {
    __shared__ Lists lists;
    const uint32_t warp = warp_number(), lane = threadIdx.x % 32;
    const RunSlice slice(v, blockIdx.x * CODER_WARPS + warp);
    if (slice.runs == 0) return;
    RankFinder finder = {lane, lists.mtf_ranks[warp], lists.symbols[warp], lists.moved[warp], 0};
    for (uint32_t i = lane; i < 256; i += 32) {
        finder.mtf_ranks[i] = finder.symbols[i] = i;
        finder.moved[i] = 0;
    }
    __syncwarp();
    // Loads are begun long before use: heads 64 runs back, symbols 32 runs back. Runs before the
    // first do not exist; their numbers wrap around, and `head` gives 0 for them.
    uint32_t run = ((slice.runs + 31) & ~31u) - 32 + lane, later = slice.head(run - 32);
    uint32_t next_symbol = __ldg(v.bwt + slice.start_of(slice.head(run)));
    for (uint32_t end = (slice.runs + 31) & ~31u; end > 0; end -= 32, run -= 32) {
        const bool valid = run < slice.runs;
        const uint32_t symbol = valid ? next_symbol : NO_SYMBOL + lane;
        next_symbol = __ldg(v.bwt + slice.start_of(later));
        later = slice.head(run - 64);
        const uint32_t mtf_rank = finder.find(symbol, valid);
        if (valid) v.mtf_ranks[slice.items + run] = mtf_rank;
    }
    for (uint32_t i = lane; i < finder.seen; i += 32) v.lists[256 * slice.number + i] = finder.symbols[i];
    if (lane == 0) v.list_sizes[slice.number] = finder.seen;
}

// One CTA for CODER_WARPS slices, once the MTF ranks are known.
extern "C" __global__ void __launch_bounds__(32 * CODER_WARPS) count_contexts(const EncodeArgs v) {
    __shared__ Counting shared;
    copy_words(&shared.maps, v.maps, sizeof(ContextMaps) / 4);
    for (uint32_t i = threadIdx.x; i < TABLE_WORDS + 256; i += blockDim.x) shared.counts[i] = 0;
    __syncthreads();
    const uint32_t warp = warp_number();
    const RunSlice slice(v, blockIdx.x * CODER_WARPS + warp);
    count_runs(v, shared, shared.averages[warp], slice);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < TABLE_WORDS + 256; i += blockDim.x) {
        if (shared.counts[i]) atomicAdd(&v.counts[i], shared.counts[i]);
    }
}
