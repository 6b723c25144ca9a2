// The last steps of `skew-pd`: sorts the suffixes at multiples of 3 by the order of the cover, and
// merges both.
//
// A suffix j is compared with one of the cover, i, by their first symbols and the ranks behind
// these: one symbol if i mod 3 is 1, two if it is 2. A CTA gathers the data of its tile before it
// merges. All random reads are then in progress at once, whereas those of a bisection would wait
// for each other.

#include "block/block_output.cuh"
#include "sort/cover_indices.cuh"
#include "primitives/compaction.cuh"
#include "primitives/merge_path.cuh"

// Data by which suffixes are compared. Symbols are counted from 1. Behind the text, symbols and
// ranks are 0.
struct SHARED CoverView {
    const uint8_t* text;
    uint32_t n;
    const uint32_t* ranks;  // by cover index, and 0 for the three positions behind the text

    __device__ __forceinline__ uint64_t symbol(uint32_t i) const { return i < n ? __ldg(text + i) + 1u : 0; }
    __device__ __forceinline__ uint64_t rank(uint32_t i) const { return __ldg(ranks + cover_index(i)); }

    __device__ __forceinline__ uint64_t one(uint32_t i) const { return symbol(i) << 32 | rank(i + 1); }
    __device__ __forceinline__ uint64_t two(uint32_t i) const {
        return (symbol(i) << 9 | symbol(i + 1)) << 32 | rank(i + 2);
    }

    __device__ __forceinline__ bool operator()(uint32_t j, uint32_t i) const {
        return i % 3 == 1 ? one(j) < one(i) : two(j) < two(i);
    }
};

struct SHARED Mod0Args {
    const uint32_t* order;  // of the cover
    const uint8_t* text;
    uint32_t* mod0;
    uint32_t* keys;
    uint64_t* status;
    uint32_t* counts;  // gets their number
    uint32_t items;
    int tiles;
};

// Lists the suffixes at multiples of 3, in the order of the suffixes one behind them, with their
// first symbols as keys.
extern "C" __global__ void __launch_bounds__(THREADS) list_mod0(const __grid_constant__ Mod0Args a) {
    const auto read = [&](uint32_t j) { return a.order[j]; };
    const auto follows_mod0 = [](uint32_t suffix) { return suffix % 3 == 1; };
    const auto write = [&](uint32_t at, uint32_t, uint32_t suffix) {
        a.mod0[at] = suffix - 1;
        a.keys[at] = __ldg(a.text + suffix - 1);
    };
    compact(a.items, a.status, a.tiles, a.counts, read, follows_mod0, write);
}

struct SHARED CoverMergeArgs {
    CoverView by;
    const uint32_t* cover;
    const uint32_t* mod0;
    uint32_t cover_len, mod0_len;
    uint32_t* splits;
    OutputView out;
    uint32_t tiles;
};

// First level of merge path: the tiles, of which each CTA merges one.
extern "C" __global__ void __launch_bounds__(THREADS) partition_cover(const __grid_constant__ CoverMergeArgs a) {
    split_tiles(a.cover, a.cover_len, a.mod0, a.mod0_len, a.tiles, a.splits, a.by);
}

// The byte before a position and the two from there on, the first one lowest. The byte before
// position 0 is 0.
__device__ __forceinline__ uint32_t bytes_around(const uint8_t* text, uint32_t i) {
    const uint64_t* words = reinterpret_cast<const uint64_t*>(text);
    if (i == 0) return static_cast<uint32_t>(__ldg(words) << 8 & 0xffffff);
    const uint32_t at = i - 1, shift = (at & 7) * 8;
    uint64_t bytes = __ldg(words + (at >> 3)) >> shift;
    if (shift > 40) bytes |= __ldg(words + (at >> 3) + 1) << (64 - shift);
    return static_cast<uint32_t>(bytes & 0xffffff);
}

// Gathered data of the items of a tile. For suffixes of the cover, `ones` has their comparison key,
// with a lowest bit that tells if the key has two symbols. For the others, `ones` has the key of
// one symbol, and `twos` that of two.
struct Gathered {
    uint64_t ones[TILE], twos[TILE];
    uint8_t before[TILE];

    // Reads the data of an item in as few words as hold it.
    __device__ __forceinline__ void gather(const CoverView& by, uint32_t x, uint32_t i) {
        const uint32_t bytes = bytes_around(by.text, i);
        const uint64_t symbol = (bytes >> 8 & 255) + 1, second = i + 1 < by.n ? (bytes >> 16) + 1 : 0;
        const uint64_t pair = symbol << 9 | second;
        before[x] = static_cast<uint8_t>(bytes);
        const uint32_t kind = i % 3;
        if (kind == 0) {
            const uint2 ranks = __ldg(reinterpret_cast<const uint2*>(by.ranks + cover_index(i)));
            ones[x] = symbol << 32 | ranks.x;
            twos[x] = pair << 32 | ranks.y;
        } else {
            const uint64_t key = (kind == 1 ? symbol : pair) << 32 | by.rank(i + kind);
            ones[x] = key << 1 | (kind == 2);
        }
    }
};

// Compares an item that is not of the cover with one that is.
struct GatheredLess {
    const Gathered& gathered;

    __device__ __forceinline__ bool operator()(uint32_t j, uint32_t i) const {
        const uint64_t key = gathered.ones[i];
        return (key & 1 ? gathered.twos[j] : gathered.ones[j]) < key >> 1;
    }
};

extern "C" __global__ void __launch_bounds__(TILE_THREADS) merge_cover(const __grid_constant__ CoverMergeArgs a) {
    __shared__ Gathered gathered;
    __shared__ uint16_t from[TILE];
    const uint32_t begin = blockIdx.x * TILE, count = min(a.cover_len + a.mod0_len - begin, TILE);
    const uint32_t cover_begin = a.splits[blockIdx.x], cover_count = a.splits[blockIdx.x + 1] - cover_begin;
    const uint32_t* cover = a.cover + cover_begin;
    const uint32_t* mod0 = a.mod0 + (begin - cover_begin);
#pragma unroll
    for (uint32_t k = 0; k < TILE_ITEMS; k++) {
        const uint32_t x = k * TILE_THREADS + threadIdx.x;
        if (x < count) gathered.gather(a.by, x, x < cover_count ? cover[x] : mod0[x - cover_count]);
    }
    __syncthreads();
    merge_tile(CountingIterator{0}, cover_count, count - cover_count, from, GatheredLess{gathered});
    __syncthreads();
    for (uint32_t x = threadIdx.x; x < count; x += TILE_THREADS) {
        const uint32_t source = from[x];
        const uint32_t suffix = source < cover_count ? cover[source] : mod0[source - cover_count];
        a.out.sa[begin + x] = suffix;
        write_row(a.out, begin + x, suffix, [&] { return gathered.before[source]; });
    }
}
