// Finds the ends of common prefixes: for each suffix, in the order of the text, the first position
// at which it differs from its predecessor in suffix order.
//
// A suffix is reducible if the bytes before it and before its predecessor are equal (J. Karkkainen,
// G. Manzini, S. J. Puglisi, Permuted longest-common-prefix array, 2009). Its common prefix is then
// one byte shorter than that of the suffix at the position before, and both end at the same
// position. So only suffixes that begin a run in the last column are compared. The others take the
// largest end before them, since ends never fall in the order of the text. All comparisons together
// have fewer than 2 n log n bytes.
//
// A comparison has three steps: a thread compares LCP_SHORT bytes; a warp the next, up to LCP_LONG;
// all CTAs the rest in windows, each larger than the one before, with one tile per CTA.
//
// If most suffixes differ soon, the first bytes of all rows are compared first, and are read once
// for both neighbours. A value found so needs no end, which saves a random write and a random read.
// If a reducible suffix agrees for longer, its end is at least LCP_CERTAIN bytes away, and so is
// that of the irreducible suffix that shares this end. So only ends of such suffixes are needed.

#include "block/text.cuh"
#include "runtime/host_flags.cuh"

const uint32_t NOT_FOUND = 0xFFFFFFFF, ALL = 0xFFFFFFFF;

// Rows whose comparison goes on, and the distances from their starts at which they differ.
struct SHARED LongList {
    uint32_t* rows;
    uint32_t* found;
};

// [in]  text [0..n + TEXT_PADDING), sa [0..n), rows [0..n]: the last column, SA index t at t + 1
//
// [out] ends [0..n): ends of suffixes that begin a run; 0 at the start
//
// [out] listed [0..n), now [0..capacity): rows that the next steps compare
//
// [out] counts: of listed; of long rows, for each window
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

// [out] known [0..n): length of each row's common prefix, up to a byte below `least`; or
// LCP_LONG_BYTE if `ends` has it
struct SHARED RowsArgs {
    IrreducibleArgs lists;
    uint8_t* known;
    uint32_t least, none;
};

// A window of LCP_TILE * tiles bytes from `from` on. Windows are numbered from 1.
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

// Up to 32 bytes from a position on, padded with zeros: the bytes that two loads contain from there
// on, which are at least LCP_CERTAIN.
struct FirstBytes {
    uint64_t words[4];
    uint32_t pos;

    __device__ __forceinline__ FirstBytes(const uint8_t* text, uint32_t pos) : pos(pos) {
        const ulonglong2* from = reinterpret_cast<const ulonglong2*>(text) + (pos >> 4);
        const ulonglong2 low = __ldg(from), high = __ldg(from + 1);
        const bool second = pos & 8;
        const uint64_t all[5] = {second ? low.y : low.x, second ? high.x : low.y, second ? high.y : high.x,
                                 second ? 0 : high.y, 0};
#pragma unroll
        for (uint32_t i = 0; i < 4; i++) words[i] = join(all[i], all[i + 1], (pos & 7) * 8);
    }

    __device__ __forceinline__ uint32_t count() const { return 32 - (pos & 15); }
};

// The first bytes of the thread before in its warp.
__device__ __forceinline__ FirstBytes of_thread_before(FirstBytes bytes) {
    bytes.pos = __shfl_up_sync(ALL, bytes.pos, 1);
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) bytes.words[i] = __shfl_up_sync(ALL, bytes.words[i], 1);
    return bytes;
}

__device__ __forceinline__ uint32_t first_byte(uint64_t differing) { return (__ffsll(differing) - 1) >> 3; }

// Returns true if a row begins a run of the last column. The byte before the whole text equals
// none.
__device__ __forceinline__ bool begins_run(const IrreducibleArgs& args, uint32_t row) {
    return args.rows[row + 1] != args.rows[row] || args.sa[row] == 0 || args.sa[row - 1] == 0;
}

// Appends the items of those threads of a warp that have one to a list. Returns their positions.
__device__ __forceinline__ uint32_t append(uint32_t* count, bool has_one) {
    const uint32_t those = __ballot_sync(__activemask(), has_one), lane = threadIdx.x & 31;
    if (!has_one) return 0;
    const uint32_t leader = __ffs(those) - 1;
    uint32_t from = 0;
    if (lane == leader) from = atomicAdd(count, __popc(those));
    return __shfl_sync(those, from, leader) + __popc(those & ((1u << lane) - 1));
}

// Compares the suffix of a row that begins a run with its predecessor, up to LCP_SHORT bytes. The
// first `equal` of them are known to be equal.
__device__ __forceinline__ void compare_short(const IrreducibleArgs& args, uint32_t row, uint32_t equal) {
    const Neighbours two(args, row);
    Words a(args.text, two.pos + equal), b(args.text, two.before + equal);
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
    if (goes_on) args.listed[place] = row;
}

// The first step. The rows of a tile that begin runs are first collected, so that no thread idles
// while others compare.
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
        // The first suffix has no predecessor.
        if (row == 0) args.ends[args.sa[0]] = args.sa[0];
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += THREADS) {
        compare_short(args, heads[i], 0);
    }
}

// Number of bytes before the first one below `least`; 32 if there is none.
__device__ __forceinline__ uint32_t before_break(const FirstBytes& bytes, uint32_t least) {
    uint32_t count = 32;
#pragma unroll
    for (int i = 7; i >= 0; i--) {
        const uint32_t four = static_cast<uint32_t>(bytes.words[i / 2] >> (i % 2 * 32));
        const uint32_t below = __vcmpltu4(four, least * 0x01010101);
        if (below) count = 4 * i + (__ffs(below) - 1) / 8;
    }
    return count;
}

// The first step if most suffixes differ soon: the first bytes of all rows, 4 rows per thread.
extern "C" __global__ void __launch_bounds__(THREADS) compare_rows(RowsArgs rows) {
    static_assert(LCP_ROW_ITEMS == 4, "positions of a thread are one load, its bytes one store");
    __shared__ uint32_t heads[LCP_ROW_ITEMS * THREADS], count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    const IrreducibleArgs& args = rows.lists;
    const uint32_t from = global_thread() * LCP_ROW_ITEMS, lane = threadIdx.x & 31;
    uint32_t pos[LCP_ROW_ITEMS] = {};
    if (from + LCP_ROW_ITEMS <= args.n) {
        const uint4 four = __ldg(reinterpret_cast<const uint4*>(args.sa + from));
        pos[0] = four.x, pos[1] = four.y, pos[2] = four.z, pos[3] = four.w;
    } else {
        for (uint32_t i = 0; from + i < args.n; i++) pos[i] = args.sa[from + i];
    }
    const FirstBytes own[LCP_ROW_ITEMS] = {{args.text, pos[0]}, {args.text, pos[1]}, {args.text, pos[2]},
                                           {args.text, pos[3]}};
    FirstBytes before = of_thread_before(own[LCP_ROW_ITEMS - 1]);
    if (lane == 0 && from > 0 && from < args.n) before = FirstBytes(args.text, args.sa[from - 1]);
    uint32_t bytes = 0;
#pragma unroll
    for (uint32_t i = 0; i < LCP_ROW_ITEMS; i++) {
        const FirstBytes& a = own[i];
        const FirstBytes& b = i > 0 ? own[i - 1] : before;
        const uint32_t row = from + i, limit = args.n - max(a.pos, b.pos), compared = min(a.count(), b.count());
        uint32_t equal = 32;
#pragma unroll
        for (int word = 3; word >= 0; word--) {
            const uint64_t differing = a.words[word] ^ b.words[word];
            if (differing) equal = 8 * word + first_byte(differing);
        }
        const bool is_row = row > 0 && row < args.n, is_known = equal < compared || limit <= compared;
        equal = min(min(equal, compared), limit);
        const bool is_head = is_row && equal >= LCP_CERTAIN &&
                             (args.rows[row + 1] != args.rows[row] || a.pos == 0 || b.pos == 0);
        if (is_head && is_known) args.ends[a.pos] = a.pos + equal;
        const uint32_t place = append(&count, is_head && !is_known);
        if (is_head && !is_known) heads[place] = row;
        if (rows.least > 0) equal = min(equal, before_break(a, rows.least));
        bytes |= (!is_row ? 0 : is_known ? equal : LCP_LONG_BYTE) << (8 * i);
    }
    if (from + LCP_ROW_ITEMS <= args.n) {
        reinterpret_cast<uint32_t*>(rows.known)[from / LCP_ROW_ITEMS] = bytes;
    } else {
        for (uint32_t i = 0; from + i < args.n; i++) rows.known[from + i] = bytes >> (8 * i);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += THREADS) compare_short(args, heads[i], LCP_CERTAIN - 1);
}

// The first difference of two suffixes from `from` on, or `to`. By a warp.
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

// The second step: one warp per row.
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
            // No text has this many long rows. Comparing here only takes longer.
            equal = compare(args, two, to, two.limit);
        }
        if (lane == 0) args.ends[two.pos] = two.pos + equal;
    }
}

// Publishes the number of listed rows, and of those that go on to the third step.
extern "C" __global__ void publish_long(const uint32_t* counts, uint32_t* host_flags) {
    publish_counts(host_flags, counts[0], counts[1]);
}

// The third step: each row's window in tiles, the first tiles of all rows first. A tile behind a
// known difference is skipped.
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
