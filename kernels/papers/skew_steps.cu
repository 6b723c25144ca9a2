// The steps of the skew algorithm: sorts the suffixes at positions i with i mod 3 = 1 or 2 by
// triples, and merges the others in (Karkkainen and Sanders, Simple linear work suffix array
// construction, 2003).
//
// *Cover indices* number the positions of the cover: index t < mod1_len is position 3 t + 1, the
// others are 3 (t - mod1_len) + 2. If n mod 3 is 1, position n has an index too, so that the
// suffixes of the first kind end in a triple that no other has. Symbols are counted from 1; behind
// the end of the text they are 0.

#include "primitives/merge_path.cuh"

struct Bytes {
    const uint8_t* text;
    uint32_t n;
    __device__ uint32_t operator[](uint32_t i) const { return i < n ? text[i] + 1u : 0; }
};

struct Names {
    const uint32_t* text;
    uint32_t n;
    __device__ uint32_t operator[](uint32_t i) const { return i < n ? text[i] : 0; }
};

__device__ uint32_t position(uint32_t index, uint32_t mod1_len) {
    return index < mod1_len ? 3 * index + 1 : 3 * (index - mod1_len) + 2;
}

// The triple of bytes at each index as a number below 257^3, which is less than 2^25.
extern "C" __global__ void byte_triples(const uint8_t* text, uint32_t n, uint32_t mod1_len, uint32_t count,
                                        uint32_t* keys, uint32_t* cover_indices) {
    const uint32_t t = global_thread();
    if (t >= count) return;
    const Bytes s = {text, n};
    const uint32_t i = position(t, mod1_len);
    keys[t] = (s[i] * 257 + s[i + 1]) * 257 + s[i + 2];
    cover_indices[t] = t;
}

// The second and the third symbol of the triple at each index, of `bits` bits each.
extern "C" __global__ void name_pairs(const uint32_t* text, uint32_t n, uint32_t mod1_len, uint32_t count,
                                      uint32_t bits, uint64_t* keys, uint32_t* cover_indices) {
    const uint32_t t = global_thread();
    if (t >= count) return;
    const Names s = {text, n};
    const uint32_t i = position(t, mod1_len);
    keys[t] = static_cast<uint64_t>(s[i + 1]) << bits | s[i + 2];
    cover_indices[t] = t;
}

// The first symbol of the triple at each of the given cover indices.
extern "C" __global__ void name_firsts(const uint32_t* text, uint32_t n, uint32_t mod1_len,
                                       const uint32_t* cover_indices, uint32_t count, uint32_t* keys) {
    const uint32_t t = global_thread();
    if (t < count) keys[t] = Names{text, n}[position(cover_indices[t], mod1_len)];
}

__device__ void count_heads(bool head, uint32_t* total) {
    const uint32_t count = __syncthreads_count(head);
    if (threadIdx.x == 0 && count) atomicAdd(total, count);
}

// heads[t] = 1 if a triple differs from the one before, else 0.
//
// [in,out] total  grows by the number of heads
extern "C" __global__ void byte_triple_heads(const uint32_t* keys, uint32_t count, uint32_t* heads, uint32_t* total) {
    const uint32_t t = global_thread();
    const bool head = t < count && (t == 0 || keys[t] != keys[t - 1]);
    if (t < count) heads[t] = head;
    count_heads(head, total);
}

extern "C" __global__ void name_triple_heads(const uint32_t* text, uint32_t n, uint32_t mod1_len,
                                             const uint32_t* cover_indices, uint32_t count, uint32_t* heads,
                                             uint32_t* total) {
    const uint32_t t = global_thread();
    bool head = t == 0;
    if (t > 0 && t < count) {
        const Names s = {text, n};
        const uint32_t i = position(cover_indices[t], mod1_len), j = position(cover_indices[t - 1], mod1_len);
        head = s[i] != s[j] || s[i + 1] != s[j + 1] || s[i + 2] != s[j + 2];
    }
    if (t < count) heads[t] = head;
    count_heads(head, total);
}

// names[cover_indices[t]] = values[t].
extern "C" __global__ void scatter(const uint32_t* cover_indices, const uint32_t* values, uint32_t count,
                                   uint32_t* names) {
    const uint32_t t = global_thread();
    if (t < count) names[cover_indices[t]] = values[t];
}

// ranks[cover_indices[t]] = t + 1.
extern "C" __global__ void scatter_order(const uint32_t* cover_indices, uint32_t count, uint32_t* ranks) {
    const uint32_t t = global_thread();
    if (t < count) ranks[cover_indices[t]] = t + 1;
}

// flags[t] = 1 for cover indices of the first kind. In their order, the suffixes one before them
// are sorted except for their first symbol.
extern "C" __global__ void flag_mod1(const uint32_t* cover_indices, uint32_t count, uint32_t mod1_len, uint8_t* flags) {
    const uint32_t t = global_thread();
    if (t < count) flags[t] = cover_indices[t] < mod1_len;
}

// Turns cover indices of the first kind into the positions before them, 3 t, with their first
// symbols as keys.
template <class Symbols>
__device__ void mod0_keys(const Symbols& s, uint32_t* cover_indices, uint32_t count, uint32_t* keys) {
    const uint32_t t = global_thread();
    if (t >= count) return;
    const uint32_t i = 3 * cover_indices[t];
    cover_indices[t] = i;
    keys[t] = s[i];
}

extern "C" __global__ void byte_mod0_keys(const uint8_t* text, uint32_t n, uint32_t* cover_indices, uint32_t count,
                                          uint32_t* keys) {
    mod0_keys(Bytes{text, n}, cover_indices, count, keys);
}

extern "C" __global__ void name_mod0_keys(const uint32_t* text, uint32_t n, uint32_t* cover_indices, uint32_t count,
                                          uint32_t* keys) {
    mod0_keys(Names{text, n}, cover_indices, count, keys);
}

// Turns cover indices into positions.
extern "C" __global__ void cover_positions(const uint32_t* cover_indices, uint32_t count, uint32_t mod1_len,
                                           uint32_t* positions) {
    const uint32_t t = global_thread();
    if (t < count) positions[t] = position(cover_indices[t], mod1_len);
}

// Compares the suffix at j, a multiple of 3, with one of the cover at i.
template <class Symbols>
struct SuffixLess {
    Symbols s;
    const uint32_t* ranks;
    uint32_t mod1_len;

    __device__ uint32_t rank(uint32_t i) const {
        if (i >= s.n) return 0;
        return ranks[i % 3 == 1 ? i / 3 : mod1_len + i / 3];
    }

    __device__ bool operator()(uint32_t j, uint32_t i) const {
        if (s[j] != s[i]) return s[j] < s[i];
        if (i % 3 == 1) return rank(j + 1) < rank(i + 1);
        if (s[j + 1] != s[i + 1]) return s[j + 1] < s[i + 1];
        return rank(j + 2) < rank(i + 2);
    }
};

// First level of merge path: the tiles, of which each CTA merges one. a are the suffixes of the
// cover, b the others.
extern "C" __global__ void byte_suffix_partition(const uint8_t* text, uint32_t n, const uint32_t* ranks,
                                                 uint32_t mod1_len, const uint32_t* a, uint32_t a_len,
                                                 const uint32_t* b, uint32_t b_len, uint32_t tiles, uint32_t* splits) {
    split_tiles(a, a_len, b, b_len, tiles, splits, SuffixLess<Bytes>{{text, n}, ranks, mod1_len});
}

extern "C" __global__ void name_suffix_partition(const uint32_t* text, uint32_t n, const uint32_t* ranks,
                                                 uint32_t mod1_len, const uint32_t* a, uint32_t a_len,
                                                 const uint32_t* b, uint32_t b_len, uint32_t tiles, uint32_t* splits) {
    split_tiles(a, a_len, b, b_len, tiles, splits, SuffixLess<Names>{{text, n}, ranks, mod1_len});
}

template <class Symbols>
__device__ void merge(const SuffixLess<Symbols>& less, const uint32_t* a, uint32_t a_len, const uint32_t* b,
                      uint32_t b_len, const uint32_t* splits, uint32_t* out) {
    __shared__ uint32_t items[TILE];
    __shared__ uint16_t from[TILE];
    const uint32_t begin = blockIdx.x * TILE, count = min(a_len + b_len - begin, TILE);
    const uint32_t a_begin = splits[blockIdx.x], b_begin = begin - a_begin;
    const uint32_t a_count = splits[blockIdx.x + 1] - a_begin;
    for (uint32_t i = threadIdx.x; i < count; i += TILE_THREADS) {
        items[i] = i < a_count ? a[a_begin + i] : b[b_begin + i - a_count];
    }
    __syncthreads();
    merge_tile(items, a_count, count - a_count, from, less);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += TILE_THREADS) out[begin + i] = items[from[i]];
}

extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    byte_suffix_merge(const uint8_t* text, uint32_t n, const uint32_t* ranks, uint32_t mod1_len, const uint32_t* a,
                      uint32_t a_len, const uint32_t* b, uint32_t b_len, const uint32_t* splits, uint32_t* out) {
    merge(SuffixLess<Bytes>{{text, n}, ranks, mod1_len}, a, a_len, b, b_len, splits, out);
}

extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    name_suffix_merge(const uint32_t* text, uint32_t n, const uint32_t* ranks, uint32_t mod1_len, const uint32_t* a,
                      uint32_t a_len, const uint32_t* b, uint32_t b_len, const uint32_t* splits, uint32_t* out) {
    merge(SuffixLess<Names>{{text, n}, ranks, mod1_len}, a, a_len, b, b_len, splits, out);
}
