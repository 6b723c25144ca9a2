// What the kernels of `default` share: the text as a stream of code bits, lists of tied suffixes, and the
// order-preserving compaction of such lists across CTAs. src/gpu/ties.rs has the same structs.
#pragma once

#include "common.cuh"

typedef unsigned long long u64;
typedef uint32_t u32;
typedef uint16_t u16;
typedef uint8_t u8;

// A list of suffixes still tied: whole groups, in slot order. A suffix ends in one of the slots of its own group.
// Item j: slot[j], val[j] (the suffix there, in any order within a group), gid[j] (its group).
// Group g: gdepth[g] symbols are known equal, ghead[g] is its first slot.
struct List {
    u32 *slot, *val, *gid, *gdepth, *ghead;
};

// n bytes, and TEXT_PADDING zeros behind them.
struct Text {
    const u8* t;
    u32 n;
};

// Where results go: row slot + 1 of the last column (which has a hole at the row of the whole text), samples, and for
// those who want it all the suffix array. ctl is host memory: [0] items left, [1] groups left, [2] the row of the whole
// text.
struct Out {
    u32* sa;
    u8* bwt;
    u32* samples;
    u32* ctl;
    u32 rmask, rshift, whole_sa;
};

// lut[c] = the code of c in the high bits | its length in the low 6.
struct Reader {  // symbols from a position on, 16 fetched at once
    const u8* t;
    u32 p;
    u64 buf, next;
    __device__ __forceinline__ static u64 join(u64 lo, u64 hi, u32 s) { return s ? (lo >> s) | (hi << (64 - s)) : lo; }
    __device__ __forceinline__ Reader(const u8* t_, u32 p_) : t(t_), p(p_) {
        const u64* a = (const u64*)t + (p >> 3);
        u32 s = (p & 7) * 8;
        u64 w0 = __ldg(a), w1 = __ldg(a + 1), w2 = __ldg(a + 2);
        buf = join(w0, w1, s);
        next = join(w1, w2, s);
    }
    __device__ __forceinline__ u32 get(u32 a) {  // call with a = 0, 1, 2, ...
        if (a && (a & 7) == 0) {
            if (a == 8)
                buf = next;
            else {
                u32 q = p + a;
                const u64* w = (const u64*)t + (q >> 3);
                buf = join(__ldg(w), __ldg(w + 1), (q & 7) * 8);
            }
        }
        u32 c = buf & 255;
        buf >>= 8;
        return c;
    }
};
__device__ __forceinline__ u64 load8(const u8* t, u32 p) {
    const u64* a = (const u64*)t + (p >> 3);
    return Reader::join(__ldg(a), __ldg(a + 1), (p & 7) * 8);
}
// First `bits` bits of the code stream from position p (right-aligned); adv = whole symbols they hold.
__device__ __forceinline__ u64 encode(const u32* lut, Text x, u32 p, int bits, u32& adv) {
    u64 key = 0;
    int used = 0;
    u32 a = 0;
    Reader r(x.t, p);
    while (used < bits && p + a < x.n) {
        u32 e = lut[r.get(a)];
        key |= ((u64)(e & ~63u) << 32) >> used;
        used += e & 63;
        a++;
    }
    adv = used > bits ? a - 1 : a;
    return key >> (64 - bits);
}
__device__ __forceinline__ void load_lut(u32* s, const u32* g) {
    for (int i = threadIdx.x; i < 256; i += blockDim.x) s[i] = g[i];
}

// Order-preserving compaction across tiles by decoupled look-back.
// agg: two 31-bit counts packed as hi << 31 | lo. Called by warp 0; returns the exclusive prefix.
__device__ __forceinline__ u64 lookback(volatile u64* st, int tile, u64 agg) {
    const u64 AGG = 1ull << 62, PRE = 2ull << 62, VAL = AGG - 1;
    int lane = threadIdx.x & 31;
    if (lane == 0) st[tile] = (tile == 0 ? PRE : AGG) | agg;
    u64 excl = 0;
    int idx = tile - 1 - lane;
    while (tile > 0) {
        u64 s;
        do {
            s = idx >= 0 ? st[idx] : PRE;
        } while (__any_sync(~0u, (s >> 62) == 0));
        u32 pre = __ballot_sync(~0u, (s >> 62) == 2);
        u64 v = (pre && lane > __ffs(pre) - 1) ? 0 : (s & VAL);
        for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
        excl += v;
        if (pre) break;
        idx -= 32;
    }
    if (lane == 0 && tile > 0) st[tile] = PRE | (excl + agg);
    return excl;
}
// Prefix sums over `words` bit words of two sets (lb: elements, lh: heads); total goes through look-back.
struct Emit {
    u32 wp[REFINE_WORDS], hp[REFINE_WORDS];
    u64 base;
};
__device__ __forceinline__ void emit_prefix(Emit& e, const u32* lb, const u32* lh, int words, u64* st, int tile,
                                            int tiles, u32* ctl) {
    int lane = threadIdx.x & 31;
    if (threadIdx.x < 32) {
        u64 run = 0;
        for (int w0 = 0; w0 < words; w0 += 32) {
            int w = w0 + lane;
            u64 c = w < words ? ((u64)__popc(lh[w]) << 31 | __popc(lb[w])) : 0, x = c;
            for (int o = 1; o < 32; o <<= 1) {
                u64 y = __shfl_up_sync(~0u, x, o);
                if (lane >= o) x += y;
            }
            if (w < words) {
                u64 p = run + x - c;
                e.wp[w] = (u32)(p & 0x7fffffff);
                e.hp[w] = (u32)(p >> 31);
            }
            run += __shfl_sync(~0u, x, 31);
        }
        u64 b = lookback(st, tile, run);
        if (lane == 0) {
            e.base = b;
            if (tile == tiles - 1) {
                b += run;
                ctl[0] = (u32)(b & 0x7fffffff);
                ctl[1] = (u32)(b >> 31);
            }
        }
    }
    __syncthreads();
}
__device__ __forceinline__ int prev_head(const u32* hb,
                                         int x) {  // last head at or before x, far away when none within HALO
    int w = x >> 5;
    u32 b = hb[w] & (0xffffffffu >> (31 - (x & 31)));
    for (int i = 0; i < HALO / 32 && !b && w > 0; i++) b = hb[--w];
    return b ? w * 32 + 31 - __clz(b) : -1000000;
}
__device__ __forceinline__ int next_head(const u32* hb, int words,
                                         int x) {  // first head after x, far away when none within HALO
    int w = (x + 1) >> 5;
    if (w >= words) return 1000000;
    u32 b = hb[w] & (0xffffffffu << ((x + 1) & 31));
    for (int i = 0; i < HALO / 32 && !b && w + 1 < words; i++) b = hb[++w];
    return b ? w * 32 + __ffs(b) - 1 : 1000000;
}
