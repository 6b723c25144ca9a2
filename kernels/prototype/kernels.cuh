// Device code of the suffix sorter: all our own kernels. See NOTES.md for the algorithm.
#pragma once
#include <cstdint>
typedef unsigned long long u64; typedef uint32_t u32; typedef uint16_t u16; typedef uint8_t u8;

#define THREADS 256
#define KTILE 4096          // positions per CTA in build_keys, mark_samples
#ifndef HALO
#define HALO 128            // small groups have at most HALO members
#define RN 1536             // most local entries of a refine CTA: HALO + tile + HALO
#define RTHREADS 384
#define RCTAS 5
#endif
#define RITEMS (RN / RTHREADS)
#define RWORDS (RN / 32)

// A list of suffixes still tied: whole groups, in slot order. Element j may end in slot[] of its own group only.
struct List { u32 *slot, *val, *gid, *gdepth, *ghead; };

struct Text { const u8* t; u32 n; };                                  // padded with 64 zero bytes
struct Sync { const u32* bitmap; const u64* id; u32 look, rankBits, floor; };  // sample bitmap, (depth << 32 | rank) by position, lookahead
struct Out { u32* sa; u8* bwt; u32* samples; u32 rmask; int rshift; u32* ctl; };

// ---- encoded text ------------------------------------------------------------------------------------------------
// lut[c] = code << 8 | length.
__device__ __forceinline__ u64 join(u64 lo, u64 hi, u32 s) { return s ? (lo >> s) | (hi << (64 - s)) : lo; }
__device__ __forceinline__ u64 load8(const u8* t, u32 p) { const u64* a = (const u64*)t + (p >> 3); return join(__ldg(a), __ldg(a + 1), (p & 7) * 8); }
struct Bits { u64 key; u32 used, adv; };                              // right-aligned bits of `adv` whole symbols
// Appends symbols from position p on to b until the next one does not fit in `bits`, or `most` are taken. True: stopped by a full
// key, which then also holds the part of the next symbol that fits.
__device__ __forceinline__ bool take(const u32* lut, const u8* text, u32 p, u32 most, u32 bits, Bits& b) {
  const u64* a = (const u64*)text + (p >> 3); u32 sh = (p & 7) * 8, i = 0, hi = 0, lo = 0, used = 0;
  u64 w0 = __ldg(a), w1 = __ldg(a + 1), w2 = __ldg(a + 2), buf = join(w0, w1, sh), next = join(w1, w2, sh);
  bool full = false;
  while (i < most) {
    u32 e = lut[(u32)buf & 255], len = e & 255; buf >>= 8;
    if (used + len > bits) {
      u32 room = bits - used; u64 key = (u64)hi << 32 | lo; key = key << room | (e >> 8) >> (len - room); hi = (u32)(key >> 32); lo = (u32)key;
      full = true; break;
    }
    hi = __funnelshift_l(lo, hi, len); lo = lo << len | e >> 8; used += len; i++;
    if ((i & 7) == 0) { buf = next; if (i > 8) buf = load8(text, p + i); }
  }
  b.key = (u64)hi << 32 | lo; b.used = used; b.adv = i; return full;
}
// First `bits` bits of the code stream from position p (right-aligned); adv = whole symbols they hold.
__device__ __forceinline__ u64 encode(const u32* lut, Text x, u32 p, u32 bits, u32& adv) {
  Bits b; bool full = take(lut, x.t, p, x.n - p, bits, b); adv = b.adv;
  return full ? b.key : b.used ? b.key << (bits - b.used) : 0;
}
__device__ __forceinline__ void load_lut(u32* s, const u32* g) { for (int i = threadIdx.x; i < 256; i += blockDim.x) s[i] = g[i]; }

// ---- samples -----------------------------------------------------------------------------------------------------
__device__ __forceinline__ bool sampled(const u32* bm, u32 p) { return (__ldg(bm + (p >> 5)) >> (p & 31)) & 1; }
// Last sample in (p, hi], or p when there is none.
__device__ __forceinline__ u32 last_sample(const u32* bm, u32 p, u32 hi) {
  if (hi <= p) return p;
  u32 w = hi >> 5, b = __ldg(bm + w) & (0xffffffffu >> (31 - (hi & 31)));
  for (;;) {
    if (b) { u32 q = (w << 5) + 31 - __clz(b); return q > p ? q : p; }
    if (w == 0 || (w << 5) <= p) return p;
    b = __ldg(bm + --w);
  }
}
// First sample in [p, hi], or hi + 1 when there is none.
__device__ __forceinline__ u32 first_sample(const u32* bm, u32 p, u32 hi) {
  u32 w = p >> 5, b = __ldg(bm + w) & (0xffffffffu << (p & 31));
  for (;;) {
    if (b) { u32 q = (w << 5) + __ffs(b) - 1; return q <= hi ? q : hi + 1; }
    if (((w + 1) << 5) > hi) return hi + 1;
    b = __ldg(bm + ++w);
  }
}

// Key (W bits) of suffix v in a group of depth d: where the depth fixes a sample q, its rank; else the text up to where q is
// fixed, then its rank; else (no sample near, or no room) text alone. FINISH: q is the first sample from v on (its rank settles
// all); otherwise the last one the depth fixes, beyond v. nd: depth of those whose keys tie.
template <bool FINISH> __device__ __forceinline__ u64 rank_key(const u32* lut, Text x, Sync s, u32 v, u32 d, u32 W, u32& nd) {
  u32 q = ~0u, end = v + d, hi = min(end + 16, x.n - 1), t = 0;
  if (!FINISH && d > s.look) { u32 c = last_sample(s.bitmap, v, end - s.look); if (c > v) q = c; }
  if (q == ~0u) { u32 c = first_sample(s.bitmap, FINISH ? v : v + 1, hi); if (c <= hi) q = c; }
  if (q != ~0u) {
    u32 need = q + s.look;
    if (need <= end) {
      u64 r = __ldg(s.id + q), key = (u32)r; nd = max(d, q - v + (u32)(r >> 32));
      if (!FINISH && W >= 2 * s.rankBits) {                            // room for a second jump, from where the first one ends
        u32 dq = (u32)(r >> 32), c = dq > s.look ? last_sample(s.bitmap, q, q + dq - s.look) : q;
        key <<= s.rankBits;
        if (c > q && c < x.n) { u64 r2 = __ldg(s.id + c); key |= (u32)r2; nd = max(nd, c - v + (u32)(r2 >> 32)); }
      }
      return key;
    }
    if (need <= x.n) t = need - end;
  }
  Bits b; bool full = take(lut, x.t, end, t ? t : x.n - end, W, b);
  if (t && !full && b.used + s.rankBits <= W) {
    u64 i = __ldg(s.id + q); nd = max(d + t, q - v + (u32)(i >> 32));
    return (b.key << s.rankBits | (u32)i) << (W - b.used - s.rankBits);
  }
  if (t && !full) full = take(lut, x.t, end, x.n - end, W, b);         // no room for the rank: text alone
  nd = d + b.adv;
  return full ? b.key : b.used ? b.key << (W - b.used) : 0;
}

// Two levels of samples (thinning). Where the depth fixes a sample of the sparse level (hi), its rank; else as among the dense ones.
// mode 3: sparse samples, doubling among themselves; 4: dense samples, settled by the first sparse one.
__device__ __forceinline__ u64 any_key(int mode, const u32* lut, Text x, Sync s, Sync hi, u32 v, u32 d, u32 W, u32& nd) {
  if (mode == 0) { u64 k = encode(lut, x, v + d, W, nd); nd += d; return k; }
  if (mode == 2) return rank_key<true>(lut, x, s, v, d, W, nd);
  if (mode >= 3 && d > hi.look) {
    u32 end = v + d - hi.look, q = mode == 3 ? last_sample(hi.bitmap, v, end) : first_sample(hi.bitmap, v, end);
    if (mode == 3 ? q > v : q <= end) { u64 r = __ldg(hi.id + q); nd = max(d, q - v + (u32)(r >> 32)); return (u32)r; }
  }
  if (mode == 3) {                                                     // the dense ranks stand still: useful only where every group is deep enough
    u32 q = d > s.look ? last_sample(s.bitmap, v, v + d - s.look) : v;
    if (q > v && q - v + hi.floor > d) { u64 r = __ldg(s.id + q); nd = max(d, q - v + (u32)(r >> 32)); return (u32)r; }
    u64 k = encode(lut, x, v + d, W, nd); nd += d; return k;
  }
  return rank_key<false>(lut, x, s, v, d, W, nd);
}

// ---- order-preserving compaction across tiles (decoupled look-back) ---------------------------------------------
// agg: two 31-bit counts packed as hi << 31 | lo. Called by warp 0; returns the exclusive prefix.
__device__ __forceinline__ u64 lookback(volatile u64* st, int tile, u64 agg) {
  const u64 AGG = 1ull << 62, PRE = 2ull << 62, VAL = AGG - 1;
  int lane = threadIdx.x & 31;
  if (lane == 0) st[tile] = (tile == 0 ? PRE : AGG) | agg;
  u64 excl = 0; int idx = tile - 1 - lane;
  while (tile > 0) {
    u64 s;
    do { s = idx >= 0 ? st[idx] : PRE; } while (__any_sync(~0u, (s >> 62) == 0));
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
// Prefix sums over RWORDS bit words of two sets (lb: elements, lh: heads); total goes through look-back.
// Prefix sums over `words` bit words of two sets (lb: elements, lh: heads); total goes through look-back.
#define EWORDS (RWORDS > 48 ? RWORDS : 48)
struct Emit { u32 wp[EWORDS], hp[EWORDS]; u64 base; };
__device__ __forceinline__ void emit_prefix(Emit& e, const u32* lb, const u32* lh, int words, u64* st, int tile, int tiles, u32* ctl) {
  int lane = threadIdx.x & 31;
  if (threadIdx.x < 32) {
    u64 run = 0;
    for (int w0 = 0; w0 < words; w0 += 32) {
      int w = w0 + lane; u64 c = w < words ? ((u64)__popc(lh[w]) << 31 | __popc(lb[w])) : 0, x = c;
      for (int o = 1; o < 32; o <<= 1) { u64 y = __shfl_up_sync(~0u, x, o); if (lane >= o) x += y; }
      if (w < words) { u64 p = run + x - c; e.wp[w] = (u32)(p & 0x7fffffff); e.hp[w] = (u32)(p >> 31); }
      run += __shfl_sync(~0u, x, 31);
    }
    u64 b = lookback(st, tile, run);
    if (lane == 0) { e.base = b; if (tile == tiles - 1) { b += run; volatile u32* c = ctl; c[1] = (u32)(b >> 31); __threadfence_system(); c[0] = (u32)(b & 0x7fffffff); }  /* the host waits for ctl[0] */ }
  }
  __syncthreads();
}
__device__ __forceinline__ int prev_head(const u32* hb, int x) {       // last head at or before x, far away when none within HALO
  int w = x >> 5; u32 b = hb[w] & (0xffffffffu >> (31 - (x & 31)));
  for (int i = 0; i < HALO / 32 && !b && w > 0; i++) b = hb[--w];
  return b ? w * 32 + 31 - __clz(b) : -1000000;
}
__device__ __forceinline__ int next_head(const u32* hb, int words, int x) {  // first head after x, far away when none within HALO
  int w = (x + 1) >> 5; if (w >= words) return 1000000;
  u32 b = hb[w] & (0xffffffffu << ((x + 1) & 31));
  for (int i = 0; i < HALO / 32 && !b && w + 1 < words; i++) b = hb[++w];
  return b ? w * 32 + __ffs(b) - 1 : 1000000;
}

// ---- kernels -----------------------------------------------------------------------------------------------------
extern "C" __global__ void __launch_bounds__(THREADS) histogram(const u8* t, u32 n, u32* hist) {
  __shared__ u32 h[8][256];
  for (int i = threadIdx.x; i < 2048; i += THREADS) (&h[0][0])[i] = 0;
  __syncthreads();
  u32* mine = h[threadIdx.x >> 5];
  const uint4* a = (const uint4*)t; u32 q = n / 16;
  for (u32 i = blockIdx.x * THREADS + threadIdx.x; i < q; i += gridDim.x * THREADS) {
    uint4 v = __ldg(a + i); u32 w[4] = {v.x, v.y, v.z, v.w};
    for (int k = 0; k < 4; k++) {
      if (w[k] == (w[k] & 255) * 0x01010101u) { atomicAdd(&mine[w[k] & 255], 4); continue; }
      for (int b = 0; b < 4; b++) atomicAdd(&mine[(w[k] >> (8 * b)) & 255], 1);
    }
  }
  if (blockIdx.x == 0) for (u32 i = q * 16 + threadIdx.x; i < n; i += THREADS) atomicAdd(&mine[t[i]], 1);
  __syncthreads();
  u32 s = 0; for (int k = 0; k < 8; k++) s += h[k][threadIdx.x];
  if (s) atomicAdd(&hist[threadIdx.x], s);
}

// keys[i] = first 56 bits of the code stream from i, then the byte before i; vals[i] = i.
extern "C" __global__ void __launch_bounds__(THREADS) build_keys(Text x, const u32* lutG, u64* keys, u32* vals) {
  __shared__ u32 lut[256]; __shared__ u64 out[KTILE + KTILE / 16];
  load_lut(lut, lutG); __syncthreads();
  u32 base = blockIdx.x * KTILE, e = base + threadIdx.x * 16 + 16, adv; u64 key = 0;
  if (e < x.n) key = encode(lut, x, e, 64, adv);
  if (e - 16 < x.n) {
    uint4 v = __ldg((const uint4*)(x.t + e - 16)); u32 w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int k = 15; k >= 0; k--) {
      u32 c = lut[(w[k >> 2] >> (8 * (k & 3))) & 255];
      key = e - 16 + k < x.n ? ((u64)(c >> 8) << (64 - (c & 255))) | (key >> (c & 255)) : 0;
      u32 before = k ? (w[(k - 1) >> 2] >> (8 * ((k - 1) & 3))) & 255 : e > 16 ? x.t[e - 17] : 0;
      out[threadIdx.x * 17 + k] = (key & ~255ull) | before;
    }
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < KTILE && base + i < x.n; i += THREADS) { keys[base + i] = out[i + i / 16]; vals[base + i] = base + i; }
}

struct Refine {
  const u64* keys; const u32* gids; const u32* vals; const u32* slots; u32 m;  // the sorted list; slots null: element j owns slot j
  int W, drop;          // key = group << W | next bits; the low `drop` bits were not sorted
  const u32* gdepth;    // depth of each group before this sort (null: first round, depth 0)
  int rounds, rn, stop; // rounds allowed on small groups; local entries per CTA; a CTA stops when more than stop/16 of a round stay tied
  Text x; const u32* lut; Sync s; Out o; List out; u32* settled; u64* status; u32* counter; int tiles;
};
enum { FIRST, TEXT, FINISH, SAMPLES };   // what refine works on: all suffixes; a list by text; by ranks of samples; the samples themselves
// Depth (symbols known equal) of the group whose member is v with this key. gids instead of keys: the depth is as stored.
template <int KIND> __device__ __forceinline__ u32 group_depth(const Refine& a, const u32* lut, u64 key, u32 v) {
  u32 adv;
  if (KIND == FIRST) { encode(lut, a.x, v, 64 - a.drop, adv); return adv; }
  if (a.gids) return a.gdepth[key];
  u32 d = a.gdepth[key >> a.W]; encode(lut, a.x, v + d, a.W, adv); return d + adv;
}
template <int KIND> __device__ __forceinline__ u64 next_key(const Refine& a, const u32* lut, u32 v, u32& d) {
  if (KIND == FINISH || KIND == SAMPLES) { u32 nd; u64 k = rank_key<KIND == FINISH>(lut, a.x, a.s, v, d, 64, nd); d = nd; return k; }
  u32 adv; u64 k = encode(lut, a.x, v + d, 64, adv); d += adv; return k;
}
__device__ __forceinline__ void finish(const Out& o, u32 slot, u32 v, u8 before) {
  if (v) o.bwt[slot + 1] = before; else o.ctl[2] = slot + 1;
  if ((v & o.rmask) == 0) o.samples[v >> o.rshift] = slot + 1;
}
// Splits the sorted list into groups of equal keys. Groups of 2..HALO members are sorted further right here; what is
// settled goes to its row (SAMPLES: is noted in settled[]), what is not goes to the next list (order kept).
template <int KIND> __device__ __forceinline__ void refine_body(const Refine& a) {
  __shared__ u64 k[RN]; __shared__ u32 v[RN], d[RN], wl[RN], lut[256]; __shared__ u16 hl[RN / 2];
  __shared__ u32 hb[RWORDS + 1], lb[RWORDS], lh[RWORDS], ob[RWORDS], cnt, hcnt, tileS; __shared__ Emit em;
  const int SH = KIND == FIRST ? 8 : 0;                                // FIRST: d = depth << 8 | byte before the suffix
  int tid = threadIdx.x, lane = tid & 31, rn = a.rn, words = rn >> 5, last = rn - HALO;
  if (tid == 0) { tileS = atomicAdd(a.counter, 1); cnt = hcnt = 0; }
  load_lut(lut, a.lut); __syncthreads();
  int tile = tileS; long long j0 = (long long)tile * (rn - 2 * HALO) - HALO;
  for (int x = tid; x < rn; x += RTHREADS) {
    long long j = j0 + x;
    if (j >= 0 && j < a.m) {
      u64 key = KIND != FIRST && a.gids ? a.gids[j] : a.keys[j];
      if (KIND == FIRST) { d[x] = (u32)key & 255; key >>= a.drop; }
      k[x] = key; v[x] = a.vals[j];
    }
  }
  __syncthreads();
  for (int x = tid; x < rn; x += RTHREADS) {
    long long j = j0 + x; bool h = j <= 0 || j >= a.m || (x > 0 && k[x] != k[x - 1]);
    u32 b = __ballot_sync(__activemask(), h); if (lane == 0) hb[x >> 5] = b;
  }
  __syncthreads();
  for (int x = tid; x < rn; x += RTHREADS) {
    bool large = false, own = false, work = false; int s = 0, e = 0;
    if (x >= HALO && j0 + x < a.m) {
      s = prev_head(hb, x); e = next_head(hb, words, x);
      bool small = e - s <= HALO;
      own = small ? s >= HALO && s < last : x < last;
      large = own && !small; work = own && small && e - s > 1;
    }
    u32 am = __activemask(), bo = __ballot_sync(am, own), bl = __ballot_sync(am, large), bw = __ballot_sync(am, work), bh = __ballot_sync(am, work && x == s), p = 0, h = 0;
    if (lane == 0) { ob[x >> 5] = bo; lb[x >> 5] = bl; lh[x >> 5] = bl & hb[x >> 5]; if (bw) p = atomicAdd(&cnt, __popc(bw)); if (bh) h = atomicAdd(&hcnt, __popc(bh)); }
    p = __shfl_sync(am, p, 0) + __popc(bw & ((1u << lane) - 1)); h = __shfl_sync(am, h, 0) + __popc(bh & ((1u << lane) - 1));
    if (work) { wl[p] = x | s << 11 | (e - s - 1) << 22; if (x == s) hl[h] = x; }
  }
  __syncthreads();
  int c = cnt;
  for (int i = tid; i < hcnt; i += RTHREADS) { int x = hl[i]; k[x] = group_depth<KIND>(a, lut, k[x], v[x]); }
  __syncthreads();
  for (int i = tid; i < c; i += RTHREADS) { int x = wl[i] & 2047, s = (wl[i] >> 11) & 2047; u32 g = (u32)k[s]; d[x] = SH ? g << SH | d[x] : g; }
  for (int r = 0; r < a.rounds && c; r++) {
    __syncthreads();
    u32 nw[RITEMS], nv[RITEMS], nd[RITEMS];
    for (int i = tid; i < c; i += RTHREADS) { int x = wl[i] & 2047; u32 old = d[x], dd = old >> SH; k[x] = next_key<KIND>(a, lut, v[x], dd); d[x] = SH ? dd << SH | (old & 255) : dd; }
    if (tid == 0) cnt = 0;
    __syncthreads();
#pragma unroll
    for (int q = 0; q < RITEMS; q++) {
      int i = q * RTHREADS + tid; nw[q] = 0;
      if (i < c) {
        u32 w = wl[i]; int x = w & 2047, s = (w >> 11) & 2047, e = s + (w >> 22) + 1, less = 0, eq = 0, before = 0; u64 kx = k[x];
        for (int f = s; f < e; f++) { u64 kf = k[f]; less += kf < kx; eq += kf == kx; before += kf == kx && f < x; }
        nw[q] = (s + less + before) | (s + less) << 11 | (eq - 1) << 22; nv[q] = v[x]; nd[q] = d[x];
      }
    }
    __syncthreads();
#pragma unroll
    for (int q = 0; q < RITEMS; q++) if (q * RTHREADS < c) {
      bool more = false; u32 w = nw[q];
      if (q * RTHREADS + tid < c) { v[w & 2047] = nv[q]; d[w & 2047] = nd[q]; more = (w >> 22) > 0; }
      u32 b = __ballot_sync(~0u, more), p = 0;
      if (lane == 0 && b) p = atomicAdd(&cnt, __popc(b));
      p = __shfl_sync(~0u, p, 0) + __popc(b & ((1u << lane) - 1));
      if (more) wl[p] = w;
    }
    __syncthreads();
    int was = c; c = cnt;
    if (c * 16 > was * a.stop) break;
  }
  __syncthreads();
  for (int i = tid; i < c; i += RTHREADS) { int x = wl[i] & 2047; atomicOr(&lb[x >> 5], 1u << (x & 31)); if (x == ((wl[i] >> 11) & 2047)) atomicOr(&lh[x >> 5], 1u << (x & 31)); }
  __syncthreads();
  emit_prefix(em, lb, lh, words, a.status, tile, a.tiles, a.o.ctl);
  u32 bc = (u32)(em.base & 0x7fffffff), bh = (u32)(em.base >> 31);
  for (int x = tid; x < rn; x += RTHREADS) {
    int w = x >> 5; u32 bit = 1u << lane;
    if (!(ob[w] & bit)) continue;
    u32 j = (u32)(j0 + x), slot = KIND != FIRST ? a.slots[j] : j, vx = v[x]; bool left = lb[w] & bit;
    if (KIND == SAMPLES) a.settled[j] = left ? ~0u : vx; else if (KIND != FINISH) a.o.sa[slot] = left ? ~0u : vx;   // tied ones get their rank from their list
    if (!left) { if (KIND != SAMPLES) finish(a.o, slot, vx, KIND == FIRST ? (u8)d[x] : vx ? a.x.t[vx - 1] : 0); continue; }
    u32 p = bc + em.wp[w] + __popc(lb[w] & (bit - 1)), g = bh + em.hp[w] + __popc(lh[w] & (bit | (bit - 1))) - 1;
    a.out.slot[p] = slot; a.out.val[p] = vx; a.out.gid[p] = g;
    if (lh[w] & bit) {
      a.out.ghead[g] = slot;
      bool small = next_head(hb, words, x) - prev_head(hb, x) <= HALO;
      a.out.gdepth[g] = small ? d[x] >> SH : group_depth<KIND>(a, lut, k[x], vx);
    }
  }
}
extern "C" __global__ void __launch_bounds__(RTHREADS, RCTAS) refine_first(const __grid_constant__ Refine a) { refine_body<FIRST>(a); }
extern "C" __global__ void __launch_bounds__(RTHREADS, RCTAS) refine_text(const __grid_constant__ Refine a) { refine_body<TEXT>(a); }
extern "C" __global__ void __launch_bounds__(RTHREADS, RCTAS) refine_finish(const __grid_constant__ Refine a) { refine_body<FINISH>(a); }
extern "C" __global__ void __launch_bounds__(RTHREADS, RCTAS) refine_samples(const __grid_constant__ Refine a) { refine_body<SAMPLES>(a); }
// After refine_samples: the settled samples' ranks.
extern "C" __global__ void __launch_bounds__(THREADS) scatter_settled(const u32* settled, const u32* slots, u32 m, u64* id) {
  u32 j = blockIdx.x * THREADS + threadIdx.x;
  if (j < m) { u32 v = settled[j]; if (v != ~0u) ((u32*)id)[2 * (size_t)v] = slots[j]; }
}

// Bit p set: the hash of k symbols at p is the least of the next tau + 1 such hashes (ties allowed).
extern "C" __global__ void __launch_bounds__(THREADS) mark_samples(Text x, int k, int tau, u32* bitmap, u32 words) {
  __shared__ u32 id[KTILE + 64];
  u32 base = blockIdx.x * KTILE; u64 mask = k >= 8 ? ~0ull : (1ull << (8 * k)) - 1;
  for (u32 i = threadIdx.x; i < KTILE + tau; i += THREADS)
    id[i] = base + i < x.n ? (u32)((((load8(x.t, base + i) & mask) + 1) * 0x9E3779B97F4A7C15ull) >> 32) * 0x85EBCA6Bu : 0xffffffffu;
  __syncthreads();
  for (u32 i = threadIdx.x; i < KTILE; i += THREADS) {
    bool s = base + i < x.n; u32 me = id[i];
    for (int o = 1; s && o <= tau; o++) s = me <= id[i + o];
    u32 b = __ballot_sync(~0u, s);
    if ((i & 31) == 0 && (base + i) / 32 < words) bitmap[(base + i) / 32] = b;
  }
}
// Ranks of the sampled suffixes: the settled ones by slot, then (scatter_list) the tied ones by their group.
extern "C" __global__ void __launch_bounds__(THREADS) scatter_all(const u32* sa, u32 n, const u32* bitmap, u64* id) {
  u32 j = blockIdx.x * THREADS + threadIdx.x;
  if (j < n) { u32 v = sa[j]; if (v != ~0u && sampled(bitmap, v)) id[v] = j; }
}
extern "C" __global__ void __launch_bounds__(THREADS) scatter_list(List l, u32 m, const u32* bitmap, u64* id) {
  u32 j = blockIdx.x * THREADS + threadIdx.x;
  if (j < m) { u32 v = l.val[j]; if (sampled(bitmap, v)) { u32 g = l.gid[j]; id[v] = (u64)l.gdepth[g] << 32 | l.ghead[g]; } }
}
// The sampled members of a list, order kept; group numbers stay the old list's.
#define MN 1536             // elements per CTA in select_samples, mark_ranks
#define MITEMS (MN / THREADS)
#define MWORDS (MN / 32)
extern "C" __global__ void __launch_bounds__(THREADS) select_samples(List l, u32 m, const u32* bitmap, List out, u64* status, u32* counter, int tiles, u32* ctl) {
  __shared__ u32 lb[MWORDS + 2], tileS; __shared__ Emit em;
  if (threadIdx.x == 0) tileS = atomicAdd(counter, 1);
  __syncthreads();
  int tile = tileS, lane = threadIdx.x & 31; u32 j0 = tile * MN; u32 vs[MITEMS];
  for (int q = 0; q < MITEMS; q++) {
    int x = q * THREADS + threadIdx.x; vs[q] = j0 + x < m ? l.val[j0 + x] : 0;
    u32 b = __ballot_sync(~0u, j0 + x < m && sampled(bitmap, vs[q])); if (lane == 0) lb[x >> 5] = b;
  }
  __syncthreads();
  emit_prefix(em, lb, lb, MWORDS, status, tile, tiles, ctl);
  u32 bc = (u32)(em.base & 0x7fffffff);
  for (int q = 0; q < MITEMS; q++) {
    int x = q * THREADS + threadIdx.x; u32 bit = 1u << lane;
    if (lb[x >> 5] & bit) { u32 p = bc + em.wp[x >> 5] + __popc(lb[x >> 5] & (bit - 1)); out.slot[p] = l.slot[j0 + x]; out.val[p] = vs[q]; out.gid[p] = l.gid[j0 + x]; }
  }
}
// Keys of a list, group << W | key. mode 0: text; 1: samples, by the ranks of later samples; 2: the rest, by the rank of the next sample.
extern "C" __global__ void __launch_bounds__(THREADS) list_keys(int mode, List l, u32 m, int W, Text x, const u32* lutG, Sync s, Sync hi, u64* keys) {
  __shared__ u32 lut[256]; load_lut(lut, lutG); __syncthreads();
  for (int q = 0; q < 4; q++) {
    u32 j = (blockIdx.x * 4 + q) * THREADS + threadIdx.x; if (j >= m) return;
    u32 g = l.gid[j], nd; keys[j] = (u64)g << W | any_key(mode, lut, x, s, hi, l.val[j], l.gdepth[g], W, nd);
  }
}
struct Mark { const u64* keys; const u32* vals; const u32* slots; u32 m; int W; const u32* gdepth; Text x; const u32* lut; Sync s, hi; int mode; u64* id; List out; u64* status; u32* counter; int tiles; u32* ctl; };
// One doubling round's end: settled samples get their rank, tied ones go to the next list.
extern "C" __global__ void __launch_bounds__(THREADS) mark_ranks(const __grid_constant__ Mark a) {
  __shared__ u32 lut[256], hb[MWORDS + 2], lb[MWORDS + 2], lh[MWORDS + 2], tileS; __shared__ Emit em;
  int tid = threadIdx.x, lane = tid & 31;
  if (tid == 0) tileS = atomicAdd(a.counter, 1);
  load_lut(lut, a.lut); __syncthreads();
  int tile = tileS; u32 j0 = tile * MN; u64 key[MITEMS];
#pragma unroll
  for (int q = 0; q < MITEMS; q++) {
    int x = q * THREADS + tid; u32 j = j0 + x; key[q] = j < a.m ? a.keys[j] : 0;
    bool h = j == 0 || j >= a.m || key[q] != a.keys[j - 1];
    u32 b = __ballot_sync(~0u, h); if (lane == 0) hb[x >> 5] = b;
  }
  if (tid == 0) { u32 j = j0 + MN; hb[MWORDS] = j >= a.m || a.keys[j] != a.keys[j - 1]; }
  __syncthreads();
  if (tid < MWORDS) {
    u32 h = hb[tid], next = h >> 1 | hb[tid + 1] << 31, left = ~(h & next), j = j0 + tid * 32;
    left = j >= a.m ? 0 : a.m - j < 32 ? left & ((1u << (a.m - j)) - 1) : left;
    lb[tid] = left; lh[tid] = left & h;
  }
  __syncthreads();
  emit_prefix(em, lb, lh, MWORDS, a.status, tile, a.tiles, a.ctl);
  u32 bc = (u32)(em.base & 0x7fffffff), bh = (u32)(em.base >> 31);
#pragma unroll
  for (int q = 0; q < MITEMS; q++) {
    int x = q * THREADS + tid, w = x >> 5; u32 j = j0 + x, bit = 1u << lane; if (j >= a.m) continue;
    u32 v = a.vals[j], slot = a.slots[j];
    if (!(lb[w] & bit)) { ((u32*)a.id)[2 * (size_t)v] = slot; continue; }
    u32 p = bc + em.wp[w] + __popc(lb[w] & (bit - 1)), g = bh + em.hp[w] + __popc(lh[w] & (bit | (bit - 1))) - 1;
    a.out.slot[p] = slot; a.out.val[p] = v; a.out.gid[p] = g;
    if (lh[w] & bit) {
      u32 d; any_key(a.mode, lut, a.x, a.s, a.hi, v, a.gdepth[key[q] >> a.W], a.W, d);
      a.out.ghead[g] = slot; a.out.gdepth[g] = d;
    }
  }
}

// The sparse level: samples whose hash of 8 symbols is the least among the dense samples of the next tau positions.
extern "C" __global__ void __launch_bounds__(THREADS) mark_sparse(Text x, const u32* dense, int tau, u32* bitmap, u32 words) {
  __shared__ u32 id[KTILE + 256];
  u32 base = blockIdx.x * KTILE;
  for (u32 i = threadIdx.x; i < KTILE + tau; i += THREADS)
    id[i] = base + i < x.n && sampled(dense, base + i) ? (u32)(((load8(x.t, base + i) + 1) * 0x9E3779B97F4A7C15ull) >> 33) * 0x85EBCA6Bu >> 1 : 0xffffffffu;
  __syncthreads();
  for (u32 i = threadIdx.x; i < KTILE; i += THREADS) {
    u32 me = id[i]; bool s = me != 0xffffffffu;
    for (int o = 1; s && o <= tau; o++) s = me <= id[i + o];
    u32 b = __ballot_sync(~0u, s);
    if ((i & 31) == 0 && (base + i) / 32 < words) bitmap[(base + i) / 32] = b;
  }
}
extern "C" __global__ void __launch_bounds__(THREADS) copy_ranks(const u32* bitmap, u32 words, const u64* from, u64* to) {
  u32 w = blockIdx.x * THREADS + threadIdx.x; if (w >= words) return;
  for (u32 b = bitmap[w]; b; b &= b - 1) { u32 p = w * 32 + __ffs(b) - 1; to[p] = from[p]; }
}

extern "C" __global__ void __launch_bounds__(THREADS) count_shallow(List l, u32 m, u32 deep, u32* result) {
  u32 c = 0; for (u32 j = blockIdx.x * THREADS + threadIdx.x; j < m; j += gridDim.x * THREADS) c += l.gdepth[l.gid[j]] < deep;
  c = __reduce_add_sync(~0u, c); if ((threadIdx.x & 31) == 0 && c) atomicAdd(result, c);
}
extern "C" __global__ void __launch_bounds__(1024) least_depth(const u32* gdepth, u32 groups, u32* result) {
  __shared__ u32 w[32]; u32 d = ~0u;
  for (u32 g = threadIdx.x; g < groups; g += 1024) d = min(d, gdepth[g]);
  d = __reduce_min_sync(~0u, d); if ((threadIdx.x & 31) == 0) w[threadIdx.x >> 5] = d;
  __syncthreads();
  if (threadIdx.x < 32) { d = __reduce_min_sync(~0u, w[threadIdx.x]); if (threadIdx.x == 0) *result = d; }
}
