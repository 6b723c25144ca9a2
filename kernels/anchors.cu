// Ranks of anchors: choosing them, and prefix doubling among those that are still tied.

#include "anchors.cuh"

// After refine_anchors: the settled anchors' ranks.
extern "C" __global__ void __launch_bounds__(THREADS) rank_local(const u32* settled, const u32* slots, u32 m, u64* id) {
    u32 j = blockIdx.x * THREADS + threadIdx.x;
    if (j < m) {
        u32 v = settled[j];
        if (v != ~0u) ((u32*)id)[2 * (size_t)v] = slots[j];
    }
}

// Bit p set: the hash of k symbols at p is the least of the next tau + 1 such hashes (ties allowed).
extern "C" __global__ void __launch_bounds__(THREADS)
    mark_anchors(const u8* text, u32 n, int k, int tau, u32* bitmap, u32 words) {
    __shared__ u32 id[KEY_TILE + 64];
    const Text x = {text, n};
    u32 base = blockIdx.x * KEY_TILE;
    u64 mask = k >= 8 ? ~0ull : (1ull << (8 * k)) - 1;
    for (u32 i = threadIdx.x; i < KEY_TILE + tau; i += THREADS)
        id[i] = base + i < x.n
                    ? (u32)((((load8(x.t, base + i) & mask) + 1) * 0x9E3779B97F4A7C15ull) >> 32) * 0x85EBCA6Bu
                    : 0xffffffffu;
    __syncthreads();
    for (u32 i = threadIdx.x; i < KEY_TILE; i += THREADS) {
        bool s = base + i < x.n;
        u32 me = id[i];
        for (int o = 1; s && o <= tau; o++) s = me <= id[i + o];
        u32 b = __ballot_sync(~0u, s);
        if ((i & 31) == 0 && (base + i) / 32 < words) bitmap[(base + i) / 32] = b;
    }
}
// Ranks of the is_anchor suffixes: the settled ones by slot, then (rank_tied) the tied ones by their group.
extern "C" __global__ void __launch_bounds__(THREADS) rank_settled(const u32* sa, u32 n, const u32* bitmap, u64* id) {
    u32 j = blockIdx.x * THREADS + threadIdx.x;
    if (j < n) {
        u32 v = sa[j];
        if (is_anchor(bitmap, v)) id[v] = j;
    }
}
extern "C" __global__ void __launch_bounds__(THREADS)
    rank_tied(const u32* val, const u32* gid, const u32* gdepth, const u32* ghead, u32 m, const u32* bitmap, u64* id) {
    u32 j = blockIdx.x * THREADS + threadIdx.x;
    if (j < m) {
        u32 v = val[j];
        if (is_anchor(bitmap, v)) {
            u32 g = gid[j];
            id[v] = (u64)gdepth[g] << 32 | ghead[g];
        }
    }
}
// The is_anchor members of a list, order kept; group numbers stay the old list's.
struct Select {
    List l, out;
    const u32* bitmap;
    u64* status;
    u32* ctl;
    u32 m;
    int tiles;
};
extern "C" __global__ void __launch_bounds__(THREADS) select_anchors(const __grid_constant__ Select a) {
    __shared__ u32 lb[MARK_WORDS + 2], shared_tile;
    __shared__ Emit em;
    if (threadIdx.x == 0) shared_tile = atomicAdd(reinterpret_cast<u32*>(a.status), 1);
    __syncthreads();
    int tile = shared_tile, lane = threadIdx.x & 31;
    u32 j0 = tile * MARK_TILE;
    u32 vs[MARK_ITEMS];
    for (int q = 0; q < MARK_ITEMS; q++) {
        int x = q * THREADS + threadIdx.x;
        vs[q] = j0 + x < a.m ? a.l.val[j0 + x] : 0;
        u32 b = __ballot_sync(~0u, j0 + x < a.m && is_anchor(a.bitmap, vs[q]));
        if (lane == 0) lb[x >> 5] = b;
    }
    __syncthreads();
    emit_prefix(em, lb, lb, MARK_WORDS, a.status + 1, tile, a.tiles, a.ctl);
    u32 bc = (u32)(em.base & 0x7fffffff);
    for (int q = 0; q < MARK_ITEMS; q++) {
        int x = q * THREADS + threadIdx.x;
        u32 bit = 1u << lane;
        if (lb[x >> 5] & bit) {
            u32 p = bc + em.wp[x >> 5] + __popc(lb[x >> 5] & (bit - 1));
            a.out.slot[p] = a.l.slot[j0 + x];
            a.out.val[p] = vs[q];
            a.out.gid[p] = a.l.gid[j0 + x];
        }
    }
}
struct ListKeys {
    List l;
    Text x;
    const u32* lut;
    Anchors s;
    u64* keys;
    u32 m;
    u32 mode;
    int W;
};
// Keys of a list, group << W | key. TEXT_KEYS: the next symbols; ANCHOR_KEYS: anchors, by the ranks of later anchors;
// FINISH_KEYS: the rest, by the rank of the next anchor.
extern "C" __global__ void __launch_bounds__(THREADS) list_keys(const __grid_constant__ ListKeys a) {
    __shared__ u32 lut[256];
    load_lut(lut, a.lut);
    __syncthreads();
    const u32 j = global_thread();
    if (j >= a.m) return;
    u32 v = a.l.val[j], g = a.l.gid[j], d = a.l.gdepth[g], nd;
    u64 key = a.mode == TEXT_KEYS     ? encode(lut, a.x, v + d, a.W, nd)
              : a.mode == ANCHOR_KEYS ? rank_key<false>(lut, a.x, a.s, v, d, a.W, nd)
                                      : rank_key<true>(lut, a.x, a.s, v, d, a.W, nd);
    a.keys[j] = (u64)g << a.W | key;
}
struct Mark {
    const u64* keys;
    const u32* vals;
    const u32* slots;
    const u32* gdepth;  // the sorted list
    Text x;
    const u32* lut;
    Anchors s;
    u64* id;
    List out;
    u64* status;
    u32* ctl;
    u32 m;
    int W;
    int tiles;
};
// One doubling round's end: settled anchors get their rank, tied ones go to the next list.
extern "C" __global__ void __launch_bounds__(THREADS) mark_ranks(const __grid_constant__ Mark a) {
    __shared__ u32 lut[256], hb[MARK_WORDS + 2], lb[MARK_WORDS + 2], lh[MARK_WORDS + 2], shared_tile;
    __shared__ Emit em;
    int tid = threadIdx.x, lane = tid & 31;
    if (tid == 0) shared_tile = atomicAdd(reinterpret_cast<u32*>(a.status), 1);
    load_lut(lut, a.lut);
    __syncthreads();
    int tile = shared_tile;
    u32 j0 = tile * MARK_TILE;
    u64 key[MARK_ITEMS];
#pragma unroll
    for (int q = 0; q < MARK_ITEMS; q++) {
        int x = q * THREADS + tid;
        u32 j = j0 + x;
        key[q] = j < a.m ? a.keys[j] : 0;
        bool h = j == 0 || j >= a.m || key[q] != a.keys[j - 1];
        u32 b = __ballot_sync(~0u, h);
        if (lane == 0) hb[x >> 5] = b;
    }
    if (tid == 0) {
        u32 j = j0 + MARK_TILE;
        hb[MARK_WORDS] = j >= a.m || a.keys[j] != a.keys[j - 1];
    }
    __syncthreads();
    if (tid < MARK_WORDS) {
        u32 h = hb[tid], next = h >> 1 | hb[tid + 1] << 31, left = ~(h & next), j = j0 + tid * 32;
        left = j >= a.m ? 0 : a.m - j < 32 ? left & ((1u << (a.m - j)) - 1) : left;
        lb[tid] = left;
        lh[tid] = left & h;
    }
    __syncthreads();
    emit_prefix(em, lb, lh, MARK_WORDS, a.status + 1, tile, a.tiles, a.ctl);
    u32 bc = (u32)(em.base & 0x7fffffff), bh = (u32)(em.base >> 31);
#pragma unroll
    for (int q = 0; q < MARK_ITEMS; q++) {
        int x = q * THREADS + tid, w = x >> 5;
        u32 j = j0 + x, bit = 1u << lane;
        if (j >= a.m) continue;
        u32 v = a.vals[j], slot = a.slots[j];
        if (!(lb[w] & bit)) {
            ((u32*)a.id)[2 * (size_t)v] = slot;
            continue;
        }
        u32 p = bc + em.wp[w] + __popc(lb[w] & (bit - 1)), g = bh + em.hp[w] + __popc(lh[w] & (bit | (bit - 1))) - 1;
        a.out.slot[p] = slot;
        a.out.val[p] = v;
        a.out.gid[p] = g;
        if (lh[w] & bit) {
            u32 d;
            rank_key<false>(lut, a.x, a.s, v, a.gdepth[key[q] >> a.W], a.W, d);
            a.out.ghead[g] = slot;
            a.out.gdepth[g] = d;
        }
    }
}
