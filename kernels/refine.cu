// Splits a sorted list of suffixes into groups of equal keys, and sorts small groups further in shared memory.

#include "anchors.cuh"

struct Refine {
    const u64* keys;
    const u32* gids;
    const u32* vals;
    const u32* slots;
    u32 m;              // the sorted list; slots null: element j owns slot j
    int W, drop;        // key = group << W | next bits; the low `drop` bits were not sorted
    const u32* gdepth;  // depth of each group before this sort (null: first round, depth 0)
    int rounds;         // rounds allowed on small groups
    int rn;             // local entries of a CTA: HALO, a tile, HALO
    int stop;           // a CTA stops when more than stop/16 of a round stay tied
    Text x;
    const u32* lut;
    Anchors s;
    Out o;
    List out;
    u32* settled;
    u64* status;
    int tiles;
};

// What is refined: all suffixes; a list by text; a list by the ranks of anchors; the anchors themselves.
enum { FIRST, TEXT, FINISH, ANCHORS };

// Depth (symbols known equal) of the group whose member is v with this key. Without keys: the depth as stored.
template <int KIND>
__device__ __forceinline__ u32 group_depth(const Refine& a, const u32* lut, u64 key, u32 v) {
    u32 adv;
    if (KIND == FIRST) {
        encode(lut, a.x, v, 64 - a.drop, adv);
        return adv;
    }
    if (a.gids) return a.gdepth[key];
    u32 d = a.gdepth[key >> a.W];
    encode(lut, a.x, v + d, a.W, adv);
    return d + adv;
}
template <int KIND>
__device__ __forceinline__ u64 next_key(const Refine& a, const u32* lut, u32 v, u32& d) {
    if (KIND == FINISH || KIND == ANCHORS) {
        u32 nd;
        u64 k = rank_key<KIND == FINISH>(lut, a.x, a.s, v, d, 64, nd);
        d = nd;
        return k;
    }
    u32 adv;
    u64 k = encode(lut, a.x, v + d, 64, adv);
    d += adv;
    return k;
}
__device__ __forceinline__ void finish(const Out& o, u32 slot, u32 v, u8 before) {
    if (v)
        o.bwt[slot + 1] = before;
    else
        o.ctl[2] = slot + 1;
    if ((v & o.rmask) == 0) o.samples[v >> o.rshift] = slot + 1;
}
// Splits the sorted list into groups of equal keys. Groups of 2..HALO members are sorted further right here; what is
// settled goes to its row (ANCHORS: is noted in settled[]), what is not goes to the next list (order kept).
template <int KIND>
__device__ __forceinline__ void refine_body(const Refine& a) {
    __shared__ u64 k[REFINE_TILE];
    __shared__ u32 v[REFINE_TILE], d[REFINE_TILE], wl[REFINE_TILE], lut[256];
    __shared__ u16 hl[REFINE_TILE / 2];
    __shared__ u32 hb[REFINE_WORDS + 1], lb[REFINE_WORDS], lh[REFINE_WORDS], ob[REFINE_WORDS], cnt, hcnt, shared_tile;
    __shared__ Emit em;
    const int SH = KIND == FIRST ? 8 : 0;  // FIRST: d = depth << 8 | byte before the suffix
    int tid = threadIdx.x, lane = tid & 31, rn = a.rn, words = rn >> 5, last = rn - HALO;
    if (tid == 0) {
        shared_tile = atomicAdd(reinterpret_cast<u32*>(a.status), 1);
        cnt = hcnt = 0;
    }
    load_lut(lut, a.lut);
    __syncthreads();
    int tile = shared_tile;
    long long j0 = (long long)tile * (rn - 2 * HALO) - HALO;
    for (int x = tid; x < rn; x += REFINE_THREADS) {
        long long j = j0 + x;
        if (j >= 0 && j < a.m) {
            u64 key = KIND != FIRST && a.gids ? a.gids[j] : a.keys[j];
            if (KIND == FIRST) {
                d[x] = (u32)key & 255;
                key >>= a.drop;
            }
            k[x] = key;
            v[x] = a.vals[j];
        }
    }
    __syncthreads();
    for (int x = tid; x < rn; x += REFINE_THREADS) {
        long long j = j0 + x;
        bool h = j <= 0 || j >= a.m || (x > 0 && k[x] != k[x - 1]);
        u32 b = __ballot_sync(__activemask(), h);
        if (lane == 0) hb[x >> 5] = b;
    }
    __syncthreads();
    for (int x = tid; x < rn; x += REFINE_THREADS) {
        bool large = false, own = false, work = false;
        int s = 0, e = 0;
        if (x >= HALO && j0 + x < a.m) {
            s = prev_head(hb, x);
            e = next_head(hb, words, x);
            bool small = e - s <= HALO;
            own = small ? s >= HALO && s < last : x < last;
            large = own && !small;
            work = own && small && e - s > 1;
        }
        u32 am = __activemask(), bo = __ballot_sync(am, own), bl = __ballot_sync(am, large),
            bw = __ballot_sync(am, work), bh = __ballot_sync(am, work && x == s), p = 0, h = 0;
        if (lane == 0) {
            ob[x >> 5] = bo;
            lb[x >> 5] = bl;
            lh[x >> 5] = bl & hb[x >> 5];
            if (bw) p = atomicAdd(&cnt, __popc(bw));
            if (bh) h = atomicAdd(&hcnt, __popc(bh));
        }
        p = __shfl_sync(am, p, 0) + __popc(bw & ((1u << lane) - 1));
        h = __shfl_sync(am, h, 0) + __popc(bh & ((1u << lane) - 1));
        if (work) {
            wl[p] = x | s << 11 | (e - s - 1) << 22;
            if (x == s) hl[h] = x;
        }
    }
    __syncthreads();
    int c = cnt;
    for (int i = tid; i < hcnt; i += REFINE_THREADS) {
        int x = hl[i];
        k[x] = group_depth<KIND>(a, lut, k[x], v[x]);
    }
    __syncthreads();
    for (int i = tid; i < c; i += REFINE_THREADS) {
        int x = wl[i] & 2047, s = (wl[i] >> 11) & 2047;
        u32 g = (u32)k[s];
        d[x] = SH ? g << SH | d[x] : g;
    }
    for (int r = 0; r < a.rounds && c; r++) {
        __syncthreads();
        u32 nw[REFINE_ITEMS], nv[REFINE_ITEMS], nd[REFINE_ITEMS];
        for (int i = tid; i < c; i += REFINE_THREADS) {
            int x = wl[i] & 2047;
            u32 old = d[x], dd = old >> SH;
            k[x] = next_key<KIND>(a, lut, v[x], dd);
            d[x] = SH ? dd << SH | (old & 255) : dd;
        }
        if (tid == 0) cnt = 0;
        __syncthreads();
#pragma unroll
        for (int q = 0; q < REFINE_ITEMS; q++) {
            int i = q * REFINE_THREADS + tid;
            nw[q] = 0;
            if (i < c) {
                u32 w = wl[i];
                int x = w & 2047, s = (w >> 11) & 2047, e = s + (w >> 22) + 1, less = 0, eq = 0, before = 0;
                u64 kx = k[x];
                for (int f = s; f < e; f++) {
                    u64 kf = k[f];
                    less += kf < kx;
                    eq += kf == kx;
                    before += kf == kx && f < x;
                }
                nw[q] = (s + less + before) | (s + less) << 11 | (eq - 1) << 22;
                nv[q] = v[x];
                nd[q] = d[x];
            }
        }
        __syncthreads();
#pragma unroll
        for (int q = 0; q < REFINE_ITEMS; q++)
            if (q * REFINE_THREADS < c) {
                bool more = false;
                u32 w = nw[q];
                if (q * REFINE_THREADS + tid < c) {
                    v[w & 2047] = nv[q];
                    d[w & 2047] = nd[q];
                    more = (w >> 22) > 0;
                }
                u32 b = __ballot_sync(~0u, more), p = 0;
                if (lane == 0 && b) p = atomicAdd(&cnt, __popc(b));
                p = __shfl_sync(~0u, p, 0) + __popc(b & ((1u << lane) - 1));
                if (more) wl[p] = w;
            }
        __syncthreads();
        int was = c;
        c = cnt;
        if (c * 16 > was * a.stop) break;
    }
    __syncthreads();
    for (int i = tid; i < c; i += REFINE_THREADS) {
        int x = wl[i] & 2047;
        atomicOr(&lb[x >> 5], 1u << (x & 31));
        if (x == ((wl[i] >> 11) & 2047)) atomicOr(&lh[x >> 5], 1u << (x & 31));
    }
    __syncthreads();
    emit_prefix(em, lb, lh, words, a.status + 1, tile, a.tiles, a.o.ctl);
    u32 bc = (u32)(em.base & 0x7fffffff), bh = (u32)(em.base >> 31);
    for (int x = tid; x < rn; x += REFINE_THREADS) {
        int w = x >> 5;
        u32 bit = 1u << lane;
        if (!(ob[w] & bit)) continue;
        u32 j = (u32)(j0 + x), slot = KIND != FIRST ? a.slots[j] : j, vx = v[x];
        bool left = lb[w] & bit;
        if (KIND == ANCHORS)
            a.settled[j] = left ? ~0u : vx;
        else if (KIND != FINISH || a.o.whole_sa)
            a.o.sa[slot] = vx;
        if (!left) {
            if (KIND != ANCHORS) finish(a.o, slot, vx, KIND == FIRST ? (u8)d[x] : vx ? a.x.t[vx - 1] : 0);
            continue;
        }
        u32 p = bc + em.wp[w] + __popc(lb[w] & (bit - 1)), g = bh + em.hp[w] + __popc(lh[w] & (bit | (bit - 1))) - 1;
        a.out.slot[p] = slot;
        a.out.val[p] = vx;
        a.out.gid[p] = g;
        if (lh[w] & bit) {
            a.out.ghead[g] = slot;
            bool small = next_head(hb, words, x) - prev_head(hb, x) <= HALO;
            a.out.gdepth[g] = small ? d[x] >> SH : group_depth<KIND>(a, lut, k[x], vx);
        }
    }
}
extern "C" __global__ void __launch_bounds__(REFINE_THREADS, 3) refine_first(const __grid_constant__ Refine a) {
    refine_body<FIRST>(a);
}
extern "C" __global__ void __launch_bounds__(REFINE_THREADS, 3) refine_text(const __grid_constant__ Refine a) {
    refine_body<TEXT>(a);
}
extern "C" __global__ void __launch_bounds__(REFINE_THREADS, 3) refine_finish(const __grid_constant__ Refine a) {
    refine_body<FINISH>(a);
}
extern "C" __global__ void __launch_bounds__(REFINE_THREADS, 3) refine_anchors(const __grid_constant__ Refine a) {
    refine_body<ANCHORS>(a);
}
