// Anchors: positions chosen by their content, whose ranks settle all others.
#pragma once

#include "ties.cuh"

// A position is an anchor where the hash of the symbols at it is the least of the next so many; so whether it is one
// shows in the `look` symbols from it on, and equal texts have equal anchors. id: (depth << 32 | rank) by position, for
// anchors.
struct Anchors {
    const u32* bitmap;
    const u64* id;
    u32 look;
    int rank_bits;
};

__device__ __forceinline__ bool is_anchor(const u32* bm, u32 p) { return (__ldg(bm + (p >> 5)) >> (p & 31)) & 1; }
// Last anchor in (p, hi], or p when there is none.
__device__ __forceinline__ u32 last_anchor(const u32* bm, u32 p, u32 hi) {
    if (hi <= p) return p;
    u32 w = hi >> 5, b = __ldg(bm + w) & (0xffffffffu >> (31 - (hi & 31)));
    for (;;) {
        if (b) {
            u32 q = (w << 5) + 31 - __clz(b);
            return q > p ? q : p;
        }
        if (w == 0 || (w << 5) <= p) return p;
        b = __ldg(bm + --w);
    }
}
// First anchor in [p, hi], or hi + 1 when there is none.
__device__ __forceinline__ u32 first_anchor(const u32* bm, u32 p, u32 hi) {
    u32 w = p >> 5, b = __ldg(bm + w) & (0xffffffffu << (p & 31));
    for (;;) {
        if (b) {
            u32 q = (w << 5) + __ffs(b) - 1;
            return q <= hi ? q : hi + 1;
        }
        if (((w + 1) << 5) > hi) return hi + 1;
        b = __ldg(bm + ++w);
    }
}

// Key (W bits) of suffix v in a group of depth d: where the depth fixes an anchor q, its rank; else the text up to
// where q is fixed, then its rank; else (no anchor near, or no room) text alone. FINISH: q is the first anchor from v on
// (its rank settles all); otherwise the last one that the depth fixes, beyond v. nd: depth of those whose keys tie.
template <bool FINISH>
__device__ __forceinline__ u64 rank_key(const u32* lut, Text x, Anchors s, u32 v, u32 d, int W, u32& nd) {
    u32 q = ~0u, end = v + d, hi = min(end + 16, x.n - 1), t = 0;
    if (!FINISH && d > s.look) {
        u32 c = last_anchor(s.bitmap, v, end - s.look);
        if (c > v) q = c;
    }
    if (q == ~0u) {
        u32 c = first_anchor(s.bitmap, FINISH ? v : v + 1, hi);
        if (c <= hi) q = c;
    }
    if (q != ~0u) {
        u32 need = q + s.look;
        if (need <= end) {
            u64 r = __ldg(s.id + q), key = (u32)r;
            nd = max(d, q - v + (u32)(r >> 32));
            if (!FINISH && W >= 2 * s.rank_bits) {  // room for a second jump, from where the first one ends
                u32 dq = (u32)(r >> 32), c = dq > s.look ? last_anchor(s.bitmap, q, q + dq - s.look) : q;
                key <<= s.rank_bits;
                if (c > q && c < x.n) {
                    u64 r2 = __ldg(s.id + c);
                    key |= (u32)r2;
                    nd = max(nd, c - v + (u32)(r2 >> 32));
                }
            }
            return key;
        }
        if (need <= x.n) t = need - end;
    }
    u64 key = 0;
    int used = 0;
    u32 a = 0;
    Reader r(x.t, end);
    while (used < W && end + a < x.n) {
        if (t && a == t) {
            if (used + s.rank_bits <= W) {
                u64 i = __ldg(s.id + q);
                nd = max(d + t, q - v + (u32)(i >> 32));
                return (key | (u64)(u32)i << (64 - used - s.rank_bits)) >> (64 - W);
            }
            t = 0;
        }
        u32 e = lut[r.get(a)];
        key |= ((u64)(e & ~63u) << 32) >> used;
        used += e & 63;
        a++;
    }
    nd = d + (used > W ? a - 1 : a);
    return key >> (64 - W);
}
