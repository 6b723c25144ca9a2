// From the ends of common prefixes, in the order of the text, to the LCP array, in that of the
// suffixes; and which rows of it are wanted.

#include "runtime/common.cuh"
#include "runtime/host_flags.cuh"

// marks[n - 1 - i] = how far position i is before the end of the text where its byte is below
// `least`, else 0: the largest of those up to it is that of the next such position.
extern "C" __global__ void mark_breaks(const uint8_t* text, uint32_t n, uint32_t least, uint32_t* marks) {
    const uint32_t i = global_thread();
    if (i >= n) return;
    marks[n - 1 - i] = text[i] < least ? n - i : 0;
}

// Ends common prefixes where the next such position is.
extern "C" __global__ void end_at_breaks(const uint32_t* marks, uint32_t n, uint32_t* ends) {
    const uint32_t i = global_thread();
    if (i >= n) return;
    ends[i] = min(ends[i], n - marks[n - 1 - i]);
}

// lcp[k] = what the suffix of row k, from 0, has in common with the one before.
extern "C" __global__ void lcp_of_rows(const uint32_t* sa, const uint32_t* ends, uint32_t n, uint32_t* lcp) {
    const uint32_t k = global_thread();
    if (k >= n) return;
    const uint32_t p = sa[k];
    lcp[k] = ends[p] - p;
}

// For the way to the host: bytes[k] = lcp[k], or LCP_LONG_BYTE where it is no less; flags[k] =
// whether that is so; counts[c] = how many are so in chunk c, 0 at first.
extern "C" __global__ void __launch_bounds__(THREADS) split_long(const uint32_t* lcp, uint32_t n, uint8_t* bytes,
                                                                uint8_t* flags, uint32_t* counts) {
    const uint32_t from = global_thread() * LCP_ROW_ITEMS;
    uint32_t long_rows = 0;
    for (uint32_t k = from; k < min(from + LCP_ROW_ITEMS, n); k++) {
        const bool is_long = lcp[k] >= LCP_LONG_BYTE;
        bytes[k] = is_long ? LCP_LONG_BYTE : lcp[k];
        flags[k] = is_long;
        long_rows += is_long;
    }
    // All rows of a warp are of one chunk.
    long_rows = __reduce_add_sync(0xFFFFFFFF, long_rows);
    if ((threadIdx.x & 31) == 0 && long_rows > 0) atomicAdd(counts + from / LCP_CHUNK, long_rows);
}

// The largest LCP of a row below whose neighbour lies on the other side of the position `border`.
// longest: 0 at first.
extern "C" __global__ void __launch_bounds__(THREADS) longest_across(const uint32_t* sa, const uint32_t* lcp,
                                                                    uint32_t n, uint32_t border, uint32_t* longest) {
    uint32_t most = 0;
    for (uint32_t k = global_thread() + 1; k < n; k += gridDim.x * THREADS) {
        if ((sa[k] < border) != (sa[k - 1] < border)) most = max(most, lcp[k]);
    }
    most = __reduce_max_sync(0xFFFFFFFF, most);
    if ((threadIdx.x & 31) == 0 && most > 0) atomicMax(longest, most);
}

// flags[k] = whether row k agrees with the one before it or behind it for at least `least` bytes,
// or as many as `longest` says, and for 1.
extern "C" __global__ void mark_rows(const uint32_t* lcp, uint32_t n, uint32_t least, const uint32_t* longest,
                                     uint8_t* flags) {
    const uint32_t k = global_thread();
    if (k >= n) return;
    const uint32_t wanted = max(max(least, *longest), 1);
    flags[k] = lcp[k] >= wanted || (k + 1 < n && lcp[k + 1] >= wanted);
}
