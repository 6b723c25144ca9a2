// The last steps of `skew-pd`: the suffixes at multiples of 3 from the order of the cover, and the merge of both.
//
// To compare a suffix j with one of the cover, i, takes their first symbols and the ranks behind these: one symbol
// where i mod 3 is 1, two where it is 2. A CTA gathers what its tile needs of that before it merges: all reads at random
// places are on their way at once then, while those of a bisection would wait for each other.

#include "merge_path.cuh"
#include "slots.cuh"
#include "ties.cuh"

// What suffixes are compared by. Symbols are counted from 1, and behind the text they are 0, as ranks are.
struct Cover {
    const uint8_t* text;
    uint32_t n;
    const uint32_t* ranks;  // by slot, and zeros for the three positions behind the text

    __device__ __forceinline__ uint64_t symbol(uint32_t i) const { return i < n ? __ldg(text + i) + 1u : 0; }
    __device__ __forceinline__ uint64_t rank(uint32_t i) const { return __ldg(ranks + slot_of(i)); }

    __device__ __forceinline__ uint64_t one(uint32_t i) const { return symbol(i) << 32 | rank(i + 1); }
    __device__ __forceinline__ uint64_t two(uint32_t i) const {
        return (symbol(i) << 9 | symbol(i + 1)) << 32 | rank(i + 2);
    }

    // Of a suffix of the cover, with how many symbols are compared.
    __device__ __forceinline__ uint64_t key(uint32_t i) const { return i % 3 == 1 ? one(i) << 1 : two(i) << 1 | 1; }

    __device__ __forceinline__ bool operator()(uint32_t j, uint32_t i) const {
        return i % 3 == 1 ? one(j) < one(i) : two(j) < two(i);
    }
};

struct Zeros {
    const uint32_t* order;  // of the cover
    const uint8_t* text;
    uint32_t* zeros;
    uint32_t* keys;
    uint64_t* status;
    uint32_t* counts;  // gets how many there are
    uint32_t items;
    int tiles;
};

// The suffixes at multiples of 3, in the order of those one behind them, with their first symbols as keys.
extern "C" __global__ void __launch_bounds__(THREADS) list_zeros(const __grid_constant__ Zeros a) {
    __shared__ uint32_t wanted[MARK_WORDS], tile;
    __shared__ Places places;
    if (threadIdx.x == 0) tile = next_tile(a.status);
    __syncthreads();
    const uint32_t base = tile * MARK_TILE, bit = 1u << (threadIdx.x & 31);
    uint32_t suffixes[MARK_ITEMS];
    for (int q = 0; q < MARK_ITEMS; q++) {
        const uint32_t x = q * THREADS + threadIdx.x;
        suffixes[q] = base + x < a.items ? a.order[base + x] : 0;
        const uint32_t bits = __ballot_sync(~0u, suffixes[q] % 3 == 1);
        if (bit == 1) wanted[x >> 5] = bits;
    }
    __syncthreads();
    places.count(wanted, wanted, MARK_WORDS, a.status, tile, a.tiles, a.counts);
    for (int q = 0; q < MARK_ITEMS; q++) {
        const uint32_t x = q * THREADS + threadIdx.x;
        if (!(wanted[x >> 5] & bit)) continue;
        const uint32_t at = places.item(wanted, x >> 5, bit);
        a.zeros[at] = suffixes[q] - 1;
        a.keys[at] = __ldg(a.text + suffixes[q] - 1);
    }
}

// As in merge_path.cu, with suffixes for integers: a are those of the cover, b the others.
extern "C" __global__ void partition_cover(const uint8_t* text, uint32_t n, const uint32_t* ranks, const uint32_t* a,
                                           uint32_t a_len, const uint32_t* b, uint32_t b_len, uint32_t tiles,
                                           uint32_t* splits) {
    const uint32_t k = global_thread();
    if (k > tiles) return;
    const uint64_t diagonal = min(static_cast<uint64_t>(k) * TILE, static_cast<uint64_t>(a_len) + b_len);
    splits[k] = merge_split(a, a_len, b, b_len, static_cast<uint32_t>(diagonal), Cover{text, n, ranks});
}

// Compares entries of a tile by what was gathered.
struct EntryLess {
    const uint64_t* ones;
    const uint64_t* twos;

    __device__ bool operator()(uint32_t j, uint32_t i) const {
        const uint64_t key = ones[i];
        return (key & 1 ? twos[j] : ones[j]) < key >> 1;
    }
};

// Entries by themselves.
struct Entries {
    uint32_t base;
    __device__ uint32_t operator[](uint32_t i) const { return base + i; }
    __device__ Entries operator+(uint32_t i) const { return {base + i}; }
};

extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    merge_cover(const uint8_t* text, uint32_t n, const uint32_t* ranks, const uint32_t* a, uint32_t a_len,
                const uint32_t* b, uint32_t b_len, const uint32_t* splits, uint32_t* out) {
    // Of suffixes of the cover, their keys; of the others, what one symbol and what two symbols give.
    __shared__ uint64_t ones[TILE], twos[TILE];
    __shared__ uint16_t from[TILE];
    const Cover cover = {text, n, ranks};
    const uint32_t begin = blockIdx.x * TILE, count = min(a_len + b_len - begin, TILE);
    const uint32_t a_begin = splits[blockIdx.x], b_begin = begin - a_begin;
    const uint32_t a_count = splits[blockIdx.x + 1] - a_begin;
#pragma unroll
    for (uint32_t k = 0; k < TILE_ITEMS; k++) {
        const uint32_t x = k * TILE_THREADS + threadIdx.x;
        if (x < a_count) {
            ones[x] = cover.key(a[a_begin + x]);
        } else if (x < count) {
            const uint32_t j = b[b_begin + x - a_count];
            ones[x] = cover.one(j);
            twos[x] = cover.two(j);
        }
    }
    __syncthreads();
    merge_tile(Entries{0}, a_count, count - a_count, from, EntryLess{ones, twos});
    __syncthreads();
    for (uint32_t x = threadIdx.x; x < count; x += TILE_THREADS) {
        const uint32_t source = from[x];
        out[begin + x] = source < a_count ? a[a_begin + source] : b[b_begin + source - a_count];
    }
}
