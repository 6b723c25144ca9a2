// Minimizers: positions chosen by their content. Their ranks resolve all other suffixes.
#pragma once

#include "sort/unsorted_groups.cuh"

// A level of minimizers. The `span` symbols from a position on decide if it is a minimizer, so
// equal texts have equal minimizers.
struct SHARED MinimizersView {
    const uint32_t* bitmap;  // a bit per position
    // for minimizers, by position: depth << 32 | SA index of the group
    const uint64_t* ranks;
    uint32_t span, rank_bits;
    uint32_t floor;  // smallest depth of any group of these
};

__device__ __forceinline__ uint32_t rank_of(uint64_t packed) { return static_cast<uint32_t>(packed); }
__device__ __forceinline__ uint32_t depth_of(uint64_t packed) { return static_cast<uint32_t>(packed >> 32); }

// Returns true if a candidate position is a minimizer: its hash is at most that of each of the next
// `window` positions.
__device__ __forceinline__ bool is_window_minimum(bool candidate, const uint32_t* hashes, uint32_t window) {
    const uint32_t hash = hashes[0];
    for (uint32_t o = 1; candidate && o <= window; o++) candidate = hash <= hashes[o];
    return candidate;
}

__device__ __forceinline__ bool is_minimizer(const uint32_t* bitmap, uint32_t at) {
    return (__ldg(bitmap + (at >> 5)) >> (at & 31)) & 1;
}

// The last minimizer in (low, high], or `low` if there is none.
__device__ __forceinline__ uint32_t last_minimizer(const uint32_t* bitmap, uint32_t low, uint32_t high) {
    if (high <= low) return low;
    uint32_t w = high >> 5, bits = __ldg(bitmap + w) & (~0u >> (31 - (high & 31)));
    for (;;) {
        if (bits) return max((w << 5) + 31 - __clz(bits), low);
        if (w == 0 || (w << 5) <= low) return low;
        bits = __ldg(bitmap + --w);
    }
}

// The first minimizer in [low, high], or high + 1 if there is none.
__device__ __forceinline__ uint32_t first_minimizer(const uint32_t* bitmap, uint32_t low, uint32_t high) {
    uint32_t w = low >> 5, bits = __ldg(bitmap + w) & (~0u << (low & 31));
    for (;;) {
        if (bits) return min((w << 5) + __ffs(bits) - 1, high + 1);
        if ((w << 5) + 31 >= high) return high + 1;
        bits = __ldg(bitmap + ++w);
    }
}

// Number of further symbols of text that are worth comparing to reach a minimizer.
const uint32_t NEAR = 16;

// The key, of `width` bits, of a suffix in a group of depth `depth`. If these symbols fix a
// minimizer, the key is its rank. Otherwise it is the text up to the end of the symbols that fix
// the next minimizer, followed by its rank; or text alone, if no minimizer is near or there is no
// room for the rank. `next` is the depth of a group of equal keys.
//
// FINISH: the minimizer is the first from the suffix on, whose rank resolves the suffix once all
// ranks are final. Otherwise it is the last one that is fixed, behind the suffix itself. If there
// is room, the rank at the end of the jump from that minimizer follows.
template <bool FINISH>
__device__ __forceinline__ uint64_t rank_key(const uint32_t* code_table, TextView text, MinimizersView minimizers,
                                             uint32_t suffix, uint32_t depth, uint32_t width, uint32_t& next) {
    const uint32_t NONE = ~0u, end = suffix + depth, high = text.n - end > NEAR ? end + NEAR : text.n - 1;
    uint32_t minimizer = NONE, symbols = 0;
    if (!FINISH && depth > minimizers.span) {
        const uint32_t last = last_minimizer(minimizers.bitmap, suffix, end - minimizers.span);
        if (last > suffix) minimizer = last;
    }
    if (minimizer == NONE) {
        const uint32_t first = first_minimizer(minimizers.bitmap, FINISH ? suffix : suffix + 1, high);
        if (first <= high) minimizer = first;
    }
    if (minimizer != NONE) {
        const uint64_t fixed = static_cast<uint64_t>(minimizer) + minimizers.span;
        if (fixed <= end) {
            const uint64_t packed = __ldg(minimizers.ranks + minimizer);
            const uint32_t jump = depth_of(packed);
            uint64_t key = rank_of(packed);
            next = max(depth, minimizer - suffix + jump);
            if (!FINISH && width >= 2 * minimizers.rank_bits) {
                const uint32_t second = jump > minimizers.span ? last_minimizer(minimizers.bitmap, minimizer,
                                                                                minimizer + jump - minimizers.span)
                                                               : minimizer;
                key <<= minimizers.rank_bits;
                if (second > minimizer && second < text.n) {
                    const uint64_t beyond = __ldg(minimizers.ranks + second);
                    key |= rank_of(beyond);
                    next = max(next, second - suffix + depth_of(beyond));
                }
            }
            return key;
        }
        if (fixed <= text.n) symbols = static_cast<uint32_t>(fixed) - end;
    }
    Bits bits;
    bool full = take(code_table, text.bytes, end, symbols ? symbols : text.n - end, width, bits);
    if (symbols && !full && bits.used + minimizers.rank_bits <= width) {
        const uint64_t packed = __ldg(minimizers.ranks + minimizer);
        next = max(depth + symbols, minimizer - suffix + depth_of(packed));
        return (bits.key << minimizers.rank_bits | rank_of(packed)) << (width - bits.used - minimizers.rank_bits);
    }
    if (symbols && !full) full = take(code_table, text.bytes, end, text.n - end, width, bits);
    next = depth + bits.symbols;
    return padded(bits, full, width);
}

// Keys while there are two levels of minimizers. If the known symbols fix a sparse minimizer, the
// key is its rank. Otherwise a sparse minimizer, which is ranked among its own level, gets the rank
// of a dense one or text as its key; a dense minimizer gets the same key as with one level. The
// dense ranks do not change meanwhile, so they are used only if that takes every group further.
template <bool SPARSE>
__device__ __forceinline__ uint64_t leveled_key(const uint32_t* code_table, TextView text, MinimizersView dense,
                                                MinimizersView sparse, uint32_t suffix, uint32_t depth, uint32_t width,
                                                uint32_t& next) {
    if (depth > sparse.span) {
        const uint32_t end = suffix + depth - sparse.span;
        const uint32_t at =
            SPARSE ? last_minimizer(sparse.bitmap, suffix, end) : first_minimizer(sparse.bitmap, suffix, end);
        if (SPARSE ? at > suffix : at <= end) {
            const uint64_t packed = __ldg(sparse.ranks + at);
            next = max(depth, at - suffix + depth_of(packed));
            return rank_of(packed);
        }
    }
    if (!SPARSE) return rank_key<false>(code_table, text, dense, suffix, depth, width, next);
    const uint32_t at = depth > dense.span ? last_minimizer(dense.bitmap, suffix, suffix + depth - dense.span) : suffix;
    if (at > suffix && at - suffix + sparse.floor > depth) {
        const uint64_t packed = __ldg(dense.ranks + at);
        next = max(depth, at - suffix + depth_of(packed));
        return rank_of(packed);
    }
    const uint64_t key = encode(code_table, text, suffix + depth, width, next);
    next += depth;
    return key;
}

// The key by which a list is sorted, of one of the kinds in tuning.h.
__device__ __forceinline__ uint64_t list_key(uint32_t kind, const uint32_t* code_table, TextView text,
                                             MinimizersView dense, MinimizersView sparse, uint32_t suffix,
                                             uint32_t depth, uint32_t width, uint32_t& next) {
    switch (kind) {
        case TEXT_KEYS: {
            const uint64_t key = encode(code_table, text, suffix + depth, width, next);
            next += depth;
            return key;
        }
        case FINISH_KEYS:
            return rank_key<true>(code_table, text, dense, suffix, depth, width, next);
        case SPARSE_KEYS:
            return leveled_key<true>(code_table, text, dense, sparse, suffix, depth, width, next);
        case DENSE_KEYS:
            return leveled_key<false>(code_table, text, dense, sparse, suffix, depth, width, next);
        default:
            return rank_key<false>(code_table, text, dense, suffix, depth, width, next);
    }
}
