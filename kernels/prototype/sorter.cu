#include "kernels.cuh"
#include "sorter.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <algorithm>
#include <cuda_runtime.h>
#define CK(e) do { cudaError_t r_ = (e); if (r_ != cudaSuccess) { fprintf(stderr, "%s:%d %s: %s\n", __FILE__, __LINE__, #e, cudaGetErrorString(r_)); exit(1); } } while (0)
extern "C" size_t cubs_sort_temp(uint32_t n);
extern "C" int cubs_sort(void*, size_t, uint64_t*, uint64_t*, uint32_t*, uint32_t*, uint32_t, int, int, cudaStream_t);

static u32 div_up(u32 a, u32 b) { return (u32)(((u64)a + b - 1) / b); }
static int bits_for(u64 x) { int b = 0; while (b < 63 && (1ull << b) < x) b++; return b; }   // values 0..x-1
#define env(k, d) ([&] { static const char* e_ = getenv(k); return e_ ? atoi(e_) : (int)(d); }())   // tuning knobs of the lab

// ---- the alphabetic code (Garsia-Wachs) --------------------------------------------------------------------------
struct Code { u32 lut[256]; int maxlen; double avg; };
static Code make_code(const u32* hist, u32 n) {
  struct Node { u64 w; int l, r; };
  std::vector<Node> nodes; std::vector<int> seq, leafOf;
  u64 floor_ = std::max<u64>(1, n >> 12);
  nodes.push_back({1, -1, -1}); leafOf.push_back(-1);                       // the sentinel
  for (int c = 0; c < 256; c++) if (hist[c]) { nodes.push_back({std::max<u64>(hist[c], floor_), -1, -1}); leafOf.push_back(c); }
  int leaves = (int)nodes.size();
  for (int i = 0; i < leaves; i++) seq.push_back(i);
  auto w = [&](int i) -> u64 { return i < 0 || i >= (int)seq.size() ? ~0ull >> 1 : nodes[seq[i]].w; };
  int i = 1;
  while (seq.size() > 1) {
    while (w(i - 1) > w(i + 1)) i++;                                        // least i with w[i-1] <= w[i+1]
    u64 x = w(i - 1) + w(i); int node = (int)nodes.size(); nodes.push_back({x, seq[i - 1], seq[i]});
    seq.erase(seq.begin() + i - 1, seq.begin() + i + 1);
    int j = i - 2; while (j >= 0 && w(j) < x) j--;                          // after the last one not lighter
    seq.insert(seq.begin() + j + 1, node);
    i = std::max(1, j);
  }
  std::vector<int> depth(nodes.size(), 0);
  for (int k = (int)nodes.size() - 1; k >= leaves; k--) { depth[nodes[k].l] = depth[k] + 1; depth[nodes[k].r] = depth[k] + 1; }
  Code c; memset(&c, 0, sizeof c); u64 code = 0; double bits = 0;
  for (int k = 0; k < leaves; k++) {
    if (k) { code++; int a = depth[k - 1], b = depth[k]; code = b >= a ? code << (b - a) : code >> (a - b); }
    if (leafOf[k] >= 0) { c.lut[leafOf[k]] = (u32)(code << 8) | depth[k]; bits += (double)hist[leafOf[k]] * depth[k]; }
    c.maxlen = std::max(c.maxlen, depth[k]);
  }
  c.avg = bits / n;
  if (c.maxlen > 24) { fprintf(stderr, "code too long: %d\n", c.maxlen); exit(1); }
  return c;
}

// ---- workspace ---------------------------------------------------------------------------------------------------
struct Sorter {
  u32 max; cudaStream_t st; size_t bytes = 0;
  u8 *text, *bwt; u32 *sa, *samples, *vals0, *vals1, *lut, *hist, *bitmap, *counter; u64 *keys0, *keys1, *id, *status; List lists[5]; u32* bitmap2; u64* id2;
  void* temp; size_t tempBytes; u32 *ctl, *hostLut, *hostHist, *ctlDev, *histDev; size_t statusWords;
};
template <class T> static T* dev(Sorter* s, size_t count) { void* p; size_t b = (count * sizeof(T) + 255) & ~(size_t)255; CK(cudaMalloc(&p, b)); s->bytes += b; return (T*)p; }
void* pinned_alloc(size_t b) { void* p; CK(cudaHostAlloc(&p, b, cudaHostAllocDefault)); return p; }
Sorter* sorter_new(u32 n) {
  Sorter* s = new Sorter; s->max = n; size_t m = (size_t)n + 64;
  CK(cudaStreamCreate(&s->st));
  s->text = dev<u8>(s, m + 64); s->bwt = dev<u8>(s, m); s->sa = dev<u32>(s, m); s->samples = dev<u32>(s, m);
  s->vals0 = dev<u32>(s, m); s->vals1 = dev<u32>(s, m); s->keys0 = dev<u64>(s, m); s->keys1 = dev<u64>(s, m); s->id = dev<u64>(s, m);
  s->lut = dev<u32>(s, 256); s->hist = dev<u32>(s, 256); s->bitmap = dev<u32>(s, m / 32 + 16); s->bitmap2 = dev<u32>(s, m / 32 + 16); s->id2 = dev<u64>(s, m);
  s->statusWords = m / 128 + 8; s->status = dev<u64>(s, s->statusWords); 
  for (List& l : s->lists) { l.slot = dev<u32>(s, m); l.val = dev<u32>(s, m); l.gid = dev<u32>(s, m); l.gdepth = dev<u32>(s, m / 2 + 64); l.ghead = dev<u32>(s, m / 2 + 64); }
  s->tempBytes = cubs_sort_temp(n); s->temp = dev<u8>(s, s->tempBytes);
  CK(cudaHostAlloc((void**)&s->ctl, 64, cudaHostAllocMapped)); CK(cudaHostGetDevicePointer((void**)&s->ctlDev, s->ctl, 0));
  s->hostLut = (u32*)pinned_alloc(1024); s->hostHist = (u32*)pinned_alloc(1024);
  return s;
}
void sorter_free(Sorter* s) {
  for (void* p : {(void*)s->text, (void*)s->bwt, (void*)s->sa, (void*)s->samples, (void*)s->vals0, (void*)s->vals1, (void*)s->keys0, (void*)s->keys1, (void*)s->id, (void*)s->lut, (void*)s->hist, (void*)s->bitmap, (void*)s->bitmap2, (void*)s->id2, (void*)s->status, s->temp}) cudaFree(p);
  for (List& l : s->lists) for (u32* p : {l.slot, l.val, l.gid, l.gdepth, l.ghead}) cudaFree(p);
  cudaFreeHost(s->ctl); cudaFreeHost(s->hostLut); cudaFreeHost(s->hostHist); cudaStreamDestroy(s->st); delete s;
}
size_t sorter_bytes(Sorter* s) { return s->bytes; }

// ---- stage trace -------------------------------------------------------------------------------------------------
bool sorter_trace = false;
struct Stage { std::string name; cudaEvent_t e; };
static std::vector<Stage> stages;
static void stage(Sorter* s, const char* name, u32 a = 0, u32 b = 0) {
  if (!sorter_trace) return;
  char t[96]; snprintf(t, sizeof t, "%s %u %u", name, a, b); cudaEvent_t e; CK(cudaEventCreate(&e)); CK(cudaEventRecord(e, s->st)); stages.push_back({t, e});
}
std::string sorter_report() {
  std::string r; char t[160];
  for (size_t i = 1; i < stages.size(); i++) { float ms; cudaEventElapsedTime(&ms, stages[i - 1].e, stages[i].e); snprintf(t, sizeof t, "    %8.1f us  %s\n", ms * 1000, stages[i].name.c_str()); r += t; }
  if (stages.size() > 1) { float ms; cudaEventElapsedTime(&ms, stages[0].e, stages.back().e); snprintf(t, sizeof t, "    %8.1f us  total\n", ms * 1000); r += t; }
  for (Stage& x : stages) cudaEventDestroy(x.e);
  stages.clear(); return r;
}

// ---- the sort ----------------------------------------------------------------------------------------------------
struct Job { Sorter* s; Text x; Sync y, hi; Out o; u32 n; };
static void arm(Sorter*);
static void clear_status(Sorter* s, u32 tiles) { arm(s); CK(cudaMemsetAsync(s->status, 0, ((size_t)tiles + 1) * 8, s->st)); }
// The look-back counter lives in status[0].
static u32* counter_of(Sorter* s) { return (u32*)s->status; }
// The host's half of the hand-over of counts: ctl[0] is armed before a launch, the kernel's last tile writes ctl[1], then ctl[0].
static void arm(Sorter* s) { ((volatile u32*)s->ctl)[0] = ~0u; }
static void counts(Sorter* s, u32& m, u32& g) {
  volatile u32* c = s->ctl;
  for (u32 spins = 0; c[0] == ~0u; spins++) if ((spins & 0xfffff) == 0xfffff) { cudaError_t e = cudaStreamQuery(s->st); if (e != cudaErrorNotReady) { CK(e); if (c[0] == ~0u) { fprintf(stderr, "no counts\n"); exit(1); } } }
  __sync_synchronize(); m = c[0]; g = c[1];
}
static int sort_list(Sorter* s, u32* vals, u32 m, int lo, int hi) {
  int w = cubs_sort(s->temp, s->tempBytes, (uint64_t*)s->keys0, (uint64_t*)s->keys1, vals, s->vals1, m, lo, hi, s->st);
  if (w < 0) { fprintf(stderr, "sort failed\n"); exit(1); }
  return w;
}
static int tile_entries(u32 m) {        // local entries of a refine CTA: small tiles where the list is small
  u32 t = ((m / 396) + 31) & ~31u; return (int)std::min<u32>(std::max<u32>(t, 128), RN - 2 * HALO) + 2 * HALO;
}
// keys null: the groups of the list itself.
static void refine(Job& j, int kind, const u64* keys, const u32* vals, const List* in, u32 m, int W, int drop, int rounds, const List& out) {
  Sorter* s = j.s; int rn = tile_entries(m); u32 tiles = div_up(m, rn - 2 * HALO); clear_status(s, tiles);
  Refine a = {keys, keys ? nullptr : in->gid, vals, in ? in->slot : nullptr, m, W, drop, in ? in->gdepth : nullptr, rounds, rn, kind == FIRST ? env("ST1", 7) : kind == SAMPLES ? env("ST2", 12) : 16, j.x, s->lut, j.y, j.o, out, s->vals0, s->status + 1, counter_of(s), (int)tiles};
  auto kernel = kind == FIRST ? refine_first : kind == TEXT ? refine_text : kind == FINISH ? refine_finish : refine_samples;
  kernel<<<tiles, RTHREADS, 0, s->st>>>(a); CK(cudaGetLastError());
}
static void make_keys(Job& j, int mode, const List& l, u32 m, int W) {
  list_keys<<<div_up(m, 4 * THREADS), THREADS, 0, j.s->st>>>(mode, l, m, W, j.x, j.s->lut, j.y, j.hi, j.s->keys0); CK(cudaGetLastError());
}
static void scatter_tied(Job& j, const List& l, u32 m, u64* id) {
  if (m) { scatter_list<<<div_up(m, THREADS), THREADS, 0, j.s->st>>>(l, m, j.s->bitmap, id); CK(cudaGetLastError()); }
}
static u32 select(Job& j, const List& l, u32 m, const u32* bitmap, const List& out) {
  Sorter* s = j.s; u32 tiles = div_up(m, MN), count, unused; clear_status(s, tiles);
  select_samples<<<tiles, THREADS, 0, s->st>>>(l, m, bitmap, out, s->status + 1, counter_of(s), tiles, s->ctlDev); CK(cudaGetLastError());
  counts(s, count, unused); return count;
}
// Prefix doubling over a list of samples until each has its own rank. a: the list (its depths may lie elsewhere: gdepth0), b: spare.
// mode 1: the dense level; where it does not shrink it goes on with a sparse level first (mode 3) and is then settled by it (mode 4).
static void double_ranks(Job& j, int mode, List a, List b, u32* gdepth0, u32 sm, u32 sg, int tau) {
  Sorter* s = j.s; u32 first = sm; bool thinned = false; u64* id = mode == 3 ? s->id2 : s->id;
  u32* gdepth = a.gdepth; a.gdepth = gdepth0;
  auto flip = [&] { if (gdepth) { a.gdepth = gdepth; gdepth = nullptr; } std::swap(a, b); };
  for (int round = 0; sm; round++) {
    if (mode == 1 && !thinned && round >= env("THIN", 3) && sm > (u32)env("THINM", 1000000) && sm > first / 2) {
      int tau2 = std::min(240, tau * env("THINX", 8)); u32 words = j.n / 32 + 8;
      j.hi.look = tau2 + std::max<u32>(8, j.y.look);
      least_depth<<<1, 1024, 0, s->st>>>(a.gdepth, sg, s->ctlDev + 3); CK(cudaGetLastError());
      CK(cudaMemsetAsync(s->hist, 0, 4, s->st));
      count_shallow<<<264, THREADS, 0, s->st>>>(a, sm, env("THIND", j.hi.look + tau2), s->hist); CK(cudaGetLastError());
      CK(cudaMemcpyAsync(s->hostHist, s->hist, 4, cudaMemcpyDeviceToHost, s->st)); CK(cudaStreamSynchronize(s->st));
      j.hi.floor = s->ctl[3]; u32 shallow = s->hostHist[0]; stage(s, " least depth, shallow", j.hi.floor, shallow);
      if (shallow <= sm / env("THINF", 5)) {
        thinned = true;
        mark_sparse<<<div_up(words * 32, KTILE), THREADS, 0, s->st>>>(j.x, s->bitmap, tau2, s->bitmap2, words); CK(cudaGetLastError());
        copy_ranks<<<div_up(words, THREADS), THREADS, 0, s->st>>>(s->bitmap2, words, s->id, s->id2); CK(cudaGetLastError());
        u32 m2 = select(j, a, sm, s->bitmap2, s->lists[3]); stage(s, " sparse level", m2, sg);
        if (m2 < sm / 2) { double_ranks(j, 3, s->lists[3], s->lists[4], a.gdepth, m2, sg, tau); mode = 4; }
      }
    }
    if (mode == 1 && (sm <= 65536 || (round >= env("LR0", 2) && sm / sg < (u32)env("LG", 64)))) {   // small groups: several jumps in one launch
      refine(j, SAMPLES, nullptr, a.val, &a, sm, 0, 0, env("LR", 16), b);
      u32 was = sm; counts(s, sm, sg);
      scatter_settled<<<div_up(was, THREADS), THREADS, 0, s->st>>>(s->vals0, a.slot, was, s->id); CK(cudaGetLastError());
      scatter_tied(j, b, sm, id); flip();
      stage(s, " local rounds; left", sm, sg);
      if (!sm) break;
    }
    int gb = bits_for(sg), W = std::max(24, (int)j.y.rankBits);
    if (mode == 1 && round < 2) W = std::min(64 - gb, W + env("WX1", 24)); else if (sm < (u32)env("TWO", 1000000) && gb + 2 * (int)j.y.rankBits <= 64) W = std::max(W, 2 * (int)j.y.rankBits);
    make_keys(j, mode, a, sm, W);
    stage(s, " keys");
    int w = sort_list(s, a.val, sm, 0, W + gb);
    stage(s, " sort bits", W + gb);
    u32 tiles = div_up(sm, MN); clear_status(s, tiles);
    Mark mk = {w ? s->keys1 : s->keys0, w ? s->vals1 : a.val, a.slot, sm, W, a.gdepth, j.x, s->lut, j.y, j.hi, mode, id, b, s->status + 1, counter_of(s), (int)tiles, s->ctlDev};
    mark_ranks<<<tiles, THREADS, 0, s->st>>>(mk); CK(cudaGetLastError());
    counts(s, sm, sg); scatter_tied(j, b, sm, id); flip();
    stage(s, " mark; left", sm, sg);
  }
}
// Ranks of all samples.
static void rank_samples(Job& j, int cur, u32 m, u32 groups, const Code& c) {
  Sorter* s = j.s; List& l = s->lists[cur];
  double sym = 64 / c.avg;
  int k = env("K", c.avg >= 4.5 ? 1 : std::min(8, std::max(2, (int)(10 / c.avg + 0.5)))), tau = env("TAU", j.n < (u32)env("TAUN", 20000000) || c.avg >= 4.5 ? 4 : std::min(30, std::max(4, (int)(sym * 0.6))));
  j.y.look = k + tau;
  u32 words = j.n / 32 + 8;
  mark_samples<<<div_up(words * 32, KTILE), THREADS, 0, s->st>>>(j.x, k, tau, s->bitmap, words); CK(cudaGetLastError());
  stage(s, "mark samples k tau", k, tau);
  scatter_all<<<div_up(j.n, THREADS), THREADS, 0, s->st>>>(s->sa, j.n, s->bitmap, s->id); CK(cudaGetLastError());
  scatter_tied(j, l, m, s->id);
  stage(s, "scatter ranks");
  List a = s->lists[(cur + 1) % 3], b = s->lists[(cur + 2) % 3];
  u32 sm = select(j, l, m, s->bitmap, a);
  stage(s, "select samples", sm, groups);
  double_ranks(j, 1, a, b, l.gdepth, sm, groups, tau);
}
static void sort_suffixes(Job& j, const Code& c) {
  Sorter* s = j.s; u32 n = j.n, m, g; int cur = 0;
  build_keys<<<div_up(n, KTILE), THREADS, 0, s->st>>>(j.x, s->lut, s->keys0, s->vals0); CK(cudaGetLastError());
  stage(s, "keys");
  int drop = env("DROP", c.avg > 7.5 ? 16 : 8);
  int w = sort_list(s, s->vals0, n, drop, 64);
  stage(s, "sort");
  refine(j, FIRST, w ? s->keys1 : s->keys0, w ? s->vals1 : s->vals0, nullptr, n, 64, drop, env("R1", 3), s->lists[cur]);
  counts(s, m, g); stage(s, "refine; left", m, g);
  for (int r = 0; m && m < n / env("TN", 32) && r < env("TR", 3); r++) {        // few left: text rounds
    List &l = s->lists[cur], &o = s->lists[(cur + 1) % 3]; int rounds = m < 32768 ? 128 : 8;
    if (m / g < 16) refine(j, TEXT, nullptr, l.val, &l, m, 0, 0, rounds, o);
    else {
      int W = std::min(48, 64 - bits_for(g));
      make_keys(j, 0, l, m, W);
      w = sort_list(s, l.val, m, 0, W + bits_for(g));
      refine(j, TEXT, w ? s->keys1 : s->keys0, w ? s->vals1 : l.val, &l, m, W, 0, rounds, o);
    }
    counts(s, m, g); stage(s, "text round; left", m, g); cur = (cur + 1) % 3;
  }
  if (!m) return;
  rank_samples(j, cur, m, g, c);
  if (m / g < (u32)env("SG", 16)) { List &l = s->lists[cur], &o = s->lists[(cur + 1) % 3];                   // small groups by rank, without a sort
    refine(j, FINISH, nullptr, l.val, &l, m, 0, 0, 64, o); counts(s, m, g); stage(s, "small groups by rank; left", m, g); cur = (cur + 1) % 3; }
  while (m) {
    List &l = s->lists[cur], &o = s->lists[(cur + 1) % 3]; int gb = bits_for(g), W = std::min(64 - gb, (int)j.y.rankBits + env("WX", 30));
    make_keys(j, 2, l, m, W);
    stage(s, " keys");
    w = sort_list(s, l.val, m, 0, W + gb);
    stage(s, " sort bits", W + gb);
    refine(j, FINISH, w ? s->keys1 : s->keys0, w ? s->vals1 : l.val, &l, m, W, 0, 64, o);
    counts(s, m, g); stage(s, "rank round; left", m, g); cur = (cur + 1) % 3;
  }
}
u32 sorter_bwt(Sorter* s, const u8* text, u32 n, u8* out, u32 r, u32* samples) {
  if (n == 0) return 0;
  stage(s, "start");
  CK(cudaMemsetAsync(s->text + (n & ~63u), 0, 128, s->st));
  CK(cudaMemcpyAsync(s->text, text, n, cudaMemcpyHostToDevice, s->st));
  stage(s, "copy in");
  CK(cudaMemsetAsync(s->hist, 0, 1024, s->st));
  histogram<<<std::min<u32>(264, div_up(n, 16384)), THREADS, 0, s->st>>>(s->text, n, s->hist); CK(cudaGetLastError());
  CK(cudaMemcpyAsync(s->hostHist, s->hist, 1024, cudaMemcpyDeviceToHost, s->st));
  CK(cudaMemsetAsync(s->samples, 0, 0, s->st));
  CK(cudaStreamSynchronize(s->st));
  Code c = make_code(s->hostHist, n);
  memcpy(s->hostLut, c.lut, 1024);
  CK(cudaMemcpyAsync(s->lut, s->hostLut, 1024, cudaMemcpyHostToDevice, s->st));
  stage(s, "code");
  int shift = 0; while ((1u << shift) < r) shift++;
  Job j = {s, {s->text, n}, {s->bitmap, s->id, 0, (u32)bits_for(n), 0}, {s->bitmap2, s->id2, 0, (u32)bits_for(n), 0}, {s->sa, s->bwt, s->samples, r - 1, shift, s->ctlDev}, n};
  sort_suffixes(j, c);
  CK(cudaStreamSynchronize(s->st));
  u32 p = s->ctl[2];
  out[0] = text[n - 1];
  if (p > 1) CK(cudaMemcpyAsync(out + 1, s->bwt + 1, p - 1, cudaMemcpyDeviceToHost, s->st));
  if (p < n) CK(cudaMemcpyAsync(out + p, s->bwt + p + 1, n - p, cudaMemcpyDeviceToHost, s->st));
  CK(cudaMemcpyAsync(samples, s->samples, ((size_t)(n - 1) / r + 1) * 4, cudaMemcpyDeviceToHost, s->st));
  CK(cudaStreamSynchronize(s->st));
  stage(s, "copy out");
  return p;
}
