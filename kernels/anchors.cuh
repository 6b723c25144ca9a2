// Anchors: positions chosen by their content, whose ranks settle all others.
#pragma once

#include "ties.cuh"

// Whether a position is an anchor shows in the `look` symbols from it on, so equal texts have equal anchors.
struct Anchors {
    const uint32_t* bitmap;  // a bit for each position
    const uint64_t* ranks;   // of anchors, by position: symbols known << 32 | slot of its group
    uint32_t look, rank_bits;
    uint32_t floor;  // the least number of symbols known of any group of these
};

__device__ __forceinline__ uint32_t rank_of(uint64_t known) { return static_cast<uint32_t>(known); }
__device__ __forceinline__ uint32_t depth_of(uint64_t known) { return static_cast<uint32_t>(known >> 32); }

__device__ __forceinline__ bool is_anchor(const uint32_t* bitmap, uint32_t at) {
    return (__ldg(bitmap + (at >> 5)) >> (at & 31)) & 1;
}

// The last anchor in (low, high], or low where there is none.
__device__ __forceinline__ uint32_t last_anchor(const uint32_t* bitmap, uint32_t low, uint32_t high) {
    if (high <= low) return low;
    uint32_t w = high >> 5, bits = __ldg(bitmap + w) & (~0u >> (31 - (high & 31)));
    for (;;) {
        if (bits) return max((w << 5) + 31 - __clz(bits), low);
        if (w == 0 || (w << 5) <= low) return low;
        bits = __ldg(bitmap + --w);
    }
}

// The first anchor in [low, high], or high + 1 where there is none.
__device__ __forceinline__ uint32_t first_anchor(const uint32_t* bitmap, uint32_t low, uint32_t high) {
    uint32_t w = low >> 5, bits = __ldg(bitmap + w) & (~0u << (low & 31));
    for (;;) {
        if (bits) return min((w << 5) + __ffs(bits) - 1, high + 1);
        if (((w + 1) << 5) > high) return high + 1;
        bits = __ldg(bitmap + ++w);
    }
}

// Symbols of text that are worth comparing to reach an anchor.
const uint32_t NEAR = 16;

// The key, of `width` bits, of a suffix in a group of which `depth` symbols are known to be equal. Where these fix an
// anchor: its rank. Else the text up to where the next anchor is fixed, then its rank; or the text alone where there is
// none near or no room. `next` is how many symbols are equal where keys are.
//
// FINISH: the anchor is the first from the suffix on, which settles it once all ranks are final. Otherwise it is the
// last one that is fixed, beyond the suffix itself; and where there is room, the rank at the end of the jump from that
// follows.
template <bool FINISH>
__device__ __forceinline__ uint64_t rank_key(const uint32_t* codes, Text text, Anchors anchors, uint32_t suffix,
                                             uint32_t depth, uint32_t width, uint32_t& next) {
    const uint32_t NONE = ~0u, end = suffix + depth, high = min(end + NEAR, text.n - 1);
    uint32_t anchor = NONE, symbols = 0;
    if (!FINISH && depth > anchors.look) {
        const uint32_t last = last_anchor(anchors.bitmap, suffix, end - anchors.look);
        if (last > suffix) anchor = last;
    }
    if (anchor == NONE) {
        const uint32_t first = first_anchor(anchors.bitmap, FINISH ? suffix : suffix + 1, high);
        if (first <= high) anchor = first;
    }
    if (anchor != NONE) {
        const uint32_t fixed = anchor + anchors.look;
        if (fixed <= end) {
            const uint64_t known = __ldg(anchors.ranks + anchor);
            const uint32_t jump = depth_of(known);
            uint64_t key = rank_of(known);
            next = max(depth, anchor - suffix + jump);
            if (!FINISH && width >= 2 * anchors.rank_bits) {
                const uint32_t second = jump > anchors.look
                                            ? last_anchor(anchors.bitmap, anchor, anchor + jump - anchors.look)
                                            : anchor;
                key <<= anchors.rank_bits;
                if (second > anchor && second < text.n) {
                    const uint64_t beyond = __ldg(anchors.ranks + second);
                    key |= rank_of(beyond);
                    next = max(next, second - suffix + depth_of(beyond));
                }
            }
            return key;
        }
        if (fixed <= text.n) symbols = fixed - end;
    }
    Bits bits;
    bool full = take(codes, text.bytes, end, symbols ? symbols : text.n - end, width, bits);
    if (symbols && !full && bits.used + anchors.rank_bits <= width) {
        const uint64_t known = __ldg(anchors.ranks + anchor);
        next = max(depth + symbols, anchor - suffix + depth_of(known));
        return (bits.key << anchors.rank_bits | rank_of(known)) << (width - bits.used - anchors.rank_bits);
    }
    if (symbols && !full) full = take(codes, text.bytes, end, text.n - end, width, bits);
    next = depth + bits.symbols;
    return padded(bits, full, width);
}

// Keys while there are two levels of anchors: where the known symbols fix a sparse one, its rank. Else for sparse ones,
// which are ranked among themselves, the rank of a dense one, or text; for dense ones as without.
// The dense ranks stand still meanwhile: they are used only where that takes every group further.
template <bool SPARSE>
__device__ __forceinline__ uint64_t leveled_key(const uint32_t* codes, Text text, Anchors dense, Anchors sparse,
                                                uint32_t suffix, uint32_t depth, uint32_t width, uint32_t& next) {
    if (depth > sparse.look) {
        const uint32_t end = suffix + depth - sparse.look;
        const uint32_t at = SPARSE ? last_anchor(sparse.bitmap, suffix, end) : first_anchor(sparse.bitmap, suffix, end);
        if (SPARSE ? at > suffix : at <= end) {
            const uint64_t known = __ldg(sparse.ranks + at);
            next = max(depth, at - suffix + depth_of(known));
            return rank_of(known);
        }
    }
    if (!SPARSE) return rank_key<false>(codes, text, dense, suffix, depth, width, next);
    const uint32_t at = depth > dense.look ? last_anchor(dense.bitmap, suffix, suffix + depth - dense.look) : suffix;
    if (at > suffix && at - suffix + sparse.floor > depth) {
        const uint64_t known = __ldg(dense.ranks + at);
        next = max(depth, at - suffix + depth_of(known));
        return rank_of(known);
    }
    const uint64_t key = encode(codes, text, suffix + depth, width, next);
    next += depth;
    return key;
}

// The key that a list is sorted by, in one of the ways of tuning.h.
__device__ __forceinline__ uint64_t list_key(uint32_t kind, const uint32_t* codes, Text text, Anchors dense,
                                             Anchors sparse, uint32_t suffix, uint32_t depth, uint32_t width,
                                             uint32_t& next) {
    switch (kind) {
        case TEXT_KEYS: {
            const uint64_t key = encode(codes, text, suffix + depth, width, next);
            next += depth;
            return key;
        }
        case FINISH_KEYS:
            return rank_key<true>(codes, text, dense, suffix, depth, width, next);
        case SPARSE_KEYS:
            return leveled_key<true>(codes, text, dense, sparse, suffix, depth, width, next);
        case DENSE_KEYS:
            return leveled_key<false>(codes, text, dense, sparse, suffix, depth, width, next);
        default:
            return rank_key<false>(codes, text, dense, suffix, depth, width, next);
    }
}
