// The ends of common prefixes: how far each suffix agrees with the one before it in order, in the
// order of the text, as the first position where they differ.
//
// A suffix whose byte before it is that of the suffix before it agrees one byte less than the
// suffix at the position before does: it is reducible (J. Karkkainen, G. Manzini, S. J. Puglisi,
// Permuted longest-common-prefix array, 2009), and both end at the same position. So only those
// that begin a run in the last column are compared, the others take the largest end before them:
// ends never fall in the order of the text. What is compared has less than 2 n log n bytes in all.
//
// Comparing goes in three steps: LCP_SHORT bytes by a thread; the next, up to LCP_LONG, by a warp;
// then windows, each larger than the one before, by all CTAs, a tile each.

#include "block/text.cuh"
#include "runtime/host_flags.cuh"

const uint32_t NOT_FOUND = 0xFFFFFFFF, ALL = 0xFFFFFFFF;

// Rows that are compared on, and where they differ, from their starts.
struct SHARED LongList {
    uint32_t* rows;
    uint32_t* found;
};

// [in]  text [0..n + TEXT_PADDING), sa [0..n), rows [0..n]: the last column, SA index t at t + 1
// [out] ends [0..n): where suffixes end that begin a run; 0 at first
//       listed [0..n), now [0..capacity): what the next steps compare
//       counts: of listed; of long rows, for each window
struct SHARED IrreducibleArgs {
    const uint8_t* text;
    const uint32_t* sa;
    const uint8_t* rows;
    uint32_t* ends;
    uint32_t* listed;
    LongList now;
    uint32_t* counts;
    uint32_t n, capacity;
};

// A window of LCP_TILE * tiles bytes, from `from` on. Which window it is counts from 1.
struct SHARED WindowArgs {
    IrreducibleArgs lists;
    LongList next;
    uint32_t from, tiles, window, none;
};

// The suffix of a row, and the one before it.
struct Neighbours {
    uint32_t pos, before, limit;

    __device__ __forceinline__ Neighbours(const IrreducibleArgs& args, uint32_t row)
        : pos(args.sa[row]), before(args.sa[row - 1]), limit(args.n - max(pos, before)) {}
};

// The text from a position on, 8 bytes at a time.
struct Words {
    const uint64_t* next;
    uint64_t low;
    uint32_t shift;

    __device__ __forceinline__ Words(const uint8_t* text, uint32_t at)
        : next(reinterpret_cast<const uint64_t*>(text) + (at >> 3)), shift((at & 7) * 8) {
        low = __ldg(next++);
    }

    __device__ __forceinline__ uint64_t take() {
        const uint64_t high = __ldg(next++), word = join(low, high, shift);
        low = high;
        return word;
    }
};

__device__ __forceinline__ uint32_t first_byte(uint64_t differing) { return (__ffsll(differing) - 1) >> 3; }

// Whether a row begins a run of the last column. The byte before the whole text is none.
__device__ __forceinline__ bool begins_run(const IrreducibleArgs& args, uint32_t row) {
    return args.rows[row + 1] != args.rows[row] || args.sa[row] == 0 || args.sa[row - 1] == 0;
}

// Adds the items of those threads of a warp that have one to a list; gives their places.
__device__ __forceinline__ uint32_t append(uint32_t* count, bool has_one) {
    const uint32_t those = __ballot_sync(__activemask(), has_one), lane = threadIdx.x & 31;
    if (!has_one) return 0;
    const uint32_t leader = __ffs(those) - 1;
    uint32_t from = 0;
    if (lane == leader) from = atomicAdd(count, __popc(those));
    return __shfl_sync(those, from, leader) + __popc(those & ((1u << lane) - 1));
}

// The first step. Of a tile of rows those that begin runs come together first, so that no thread
// waits for others that compare.
extern "C" __global__ void __launch_bounds__(THREADS) compare_heads(IrreducibleArgs args) {
    __shared__ uint32_t heads[LCP_ROWS], count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    const uint32_t from = blockIdx.x * LCP_ROWS;
    for (uint32_t i = threadIdx.x; i < LCP_ROWS; i += THREADS) {
        const uint32_t row = from + i;
        const bool is_head = row < args.n && row > 0 && begins_run(args, row);
        const uint32_t place = append(&count, is_head);
        if (is_head) heads[place] = row;
        // The first suffix has nothing before it.
        if (row == 0) args.ends[args.sa[0]] = args.sa[0];
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += THREADS) {
        const Neighbours two(args, heads[i]);
        Words a(args.text, two.pos), b(args.text, two.before);
        uint32_t equal = 0;
        uint64_t differing = 0;
        while (equal < min(two.limit, LCP_SHORT)) {
            differing = a.take() ^ b.take();
            if (differing) break;
            equal += 8;
        }
        if (differing) equal += first_byte(differing);
        const bool goes_on = !differing && equal < two.limit;
        if (!goes_on) args.ends[two.pos] = two.pos + min(equal, two.limit);
        const uint32_t place = append(args.counts, goes_on);
        if (goes_on) args.listed[place] = heads[i];
    }
}

// Where two suffixes first differ from `from` on, or `to`, by a warp.
__device__ __forceinline__ uint32_t compare(const IrreducibleArgs& args, const Neighbours& two, uint32_t from,
                                            uint32_t to) {
    const uint32_t lane = threadIdx.x & 31;
    for (; from < to; from += 256) {
        const uint32_t at = from + 8 * lane;
        const uint64_t differing = at < to ? load8(args.text, two.pos + at) ^ load8(args.text, two.before + at) : 0;
        const uint32_t those = __ballot_sync(ALL, differing != 0);
        if (those) {
            const uint32_t leader = __ffs(those) - 1;
            return min(to, __shfl_sync(ALL, at + first_byte(differing | 1ull << 63), leader));
        }
    }
    return to;
}

// The second step: a warp for each row.
extern "C" __global__ void __launch_bounds__(THREADS) compare_listed(IrreducibleArgs args) {
    const uint32_t warps = gridDim.x * (THREADS / 32), lane = threadIdx.x & 31;
    const uint32_t count = args.counts[0];
    for (uint32_t i = global_thread() / 32; i < count; i += warps) {
        const Neighbours two(args, args.listed[i]);
        const uint32_t to = min(two.limit, LCP_LONG);
        uint32_t equal = compare(args, two, LCP_SHORT, to);
        if (equal == to && to < two.limit) {
            uint32_t place = 0;
            if (lane == 0) place = atomicAdd(args.counts + 1, 1);
            place = __shfl_sync(ALL, place, 0);
            if (place < args.capacity) {
                if (lane == 0) args.now.rows[place] = args.listed[i], args.now.found[place] = NOT_FOUND;
                continue;
            }
            // No text has so many. It would take long, and no more.
            equal = compare(args, two, to, two.limit);
        }
        if (lane == 0) args.ends[two.pos] = two.pos + equal;
    }
}

// Publishes how many rows are listed, and how many go on to the third step.
extern "C" __global__ void publish_long(const uint32_t* counts, uint32_t* host_flags) {
    publish_counts(host_flags, counts[0], counts[1]);
}

// The third step: each row's window in tiles, the first tiles of all rows first. A tile behind a
// difference that is known is left out.
extern "C" __global__ void __launch_bounds__(THREADS) compare_window(WindowArgs args) {
    const IrreducibleArgs& lists = args.lists;
    const uint64_t count = min(lists.counts[args.window], lists.capacity);
    __shared__ bool is_behind;
    for (uint64_t unit = blockIdx.x; unit < count * args.tiles; unit += gridDim.x) {
        uint32_t* found = lists.now.found + unit % count;
        const Neighbours two(lists, lists.now.rows[unit % count]);
        const uint64_t start = args.from + unit / count * LCP_TILE;
        __syncthreads();
        if (threadIdx.x == 0) is_behind = start >= min(*static_cast<volatile uint32_t*>(found), two.limit);
        __syncthreads();
        if (is_behind) continue;
        const uint32_t end = min(start + LCP_TILE, static_cast<uint64_t>(two.limit));
        uint32_t least = end == two.limit ? end : NOT_FOUND;
#pragma unroll 4
        for (uint32_t at = start + 8 * threadIdx.x; at < end; at += 8 * THREADS) {
            const uint64_t differing = load8(lists.text, two.pos + at) ^ load8(lists.text, two.before + at);
            if (differing) least = min(least, at + first_byte(differing));
        }
        least = __reduce_min_sync(ALL, least);
        if ((threadIdx.x & 31) == 0 && least != NOT_FOUND) atomicMin(found, least);
    }
}

// Writes the ends that a window has found, and lists the rows that go on to the next.
extern "C" __global__ void __launch_bounds__(THREADS) end_window(WindowArgs args) {
    const IrreducibleArgs& lists = args.lists;
    const uint32_t count = min(lists.counts[args.window], lists.capacity);
    for (uint32_t i = global_thread(); i < count; i += gridDim.x * THREADS) {
        const uint32_t row = lists.now.rows[i], found = lists.now.found[i], pos = lists.sa[row];
        if (found != NOT_FOUND) {
            lists.ends[pos] = pos + found;
            continue;
        }
        const uint32_t place = atomicAdd(lists.counts + args.window + 1, 1);
        args.next.rows[place] = row;
        args.next.found[place] = NOT_FOUND;
    }
}
