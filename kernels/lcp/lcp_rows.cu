// Makes the LCP array, in the order of the suffixes, from the ends of common prefixes in the order
// of the text; and selects wanted rows.

#include "runtime/common.cuh"
#include "runtime/host_flags.cuh"

// marks[n - 1 - i] = distance of position i from the end of the text if its byte is below `least`,
// else
// 0. The running maximum of the marks gives the next such position.
extern "C" __global__ void mark_breaks(const uint8_t* text, uint32_t n, uint32_t least, uint32_t* marks) {
    const uint32_t i = global_thread();
    if (i >= n) return;
    marks[n - 1 - i] = text[i] < least ? n - i : 0;
}

// Ends common prefixes at the next such position.
extern "C" __global__ void end_at_breaks(const uint32_t* marks, uint32_t n, uint32_t* ends) {
    const uint32_t i = global_thread();
    if (i >= n) return;
    ends[i] = min(ends[i], n - marks[n - 1 - i]);
}

// Length of the common prefix of row k, from 0, and the row before it.
//
// [in] known [0..n), or null: these lengths, or LCP_LONG_BYTE if `ends` has it.
__device__ __forceinline__ uint32_t common_of_row(const uint32_t* sa, const uint32_t* ends, const uint8_t* known,
                                                  uint32_t k) {
    const uint32_t byte = known ? known[k] : LCP_LONG_BYTE;
    if (byte < LCP_LONG_BYTE) return byte;
    const uint32_t p = sa[k];
    return ends[p] - p;
}

// lcp[k] = this length. Also finds the largest one of a row whose predecessor lies on the other
// side of the position `border`. longest: 0 at the start.
extern "C" __global__ void __launch_bounds__(THREADS)
    lcp_of_rows(const uint32_t* sa, const uint32_t* ends, const uint8_t* known, uint32_t n, uint32_t border,
                uint32_t* lcp, uint32_t* longest) {
    uint32_t most = 0;
    for (uint32_t k = global_thread(); k < n; k += gridDim.x * THREADS) {
        const uint32_t common = common_of_row(sa, ends, known, k);
        lcp[k] = common;
        // No position lies before 0.
        if (border > 0 && k > 0 && (sa[k] < border) != (sa[k - 1] < border)) most = max(most, common);
    }
    most = __reduce_max_sync(0xFFFFFFFF, most);
    if ((threadIdx.x & 31) == 0 && most > 0) atomicMax(longest, most);
}

// Packs positions below 2^24 for the way to the host: four in three words, 3 bytes each. The last
// words may hold fewer.
extern "C" __global__ void pack_suffixes(const uint32_t* sa, uint32_t n, uint32_t* words) {
    const uint32_t i = global_thread(), k = 4 * i;
    if (k >= n) return;
    uint32_t pos[4];
    for (uint32_t item = 0; item < 4; item++) pos[item] = k + item < n ? sa[k + item] : 0;
    words[3 * i] = pos[0] | pos[1] << 24;
    words[3 * i + 1] = pos[1] >> 8 | pos[2] << 16;
    words[3 * i + 2] = pos[2] >> 16 | pos[3] << 8;
}

// Packs the LCP array for the way to the host. Each CTA has a tile of LCP_SPLIT rows.
//
// [in]  sa [0..n), ends [0..n), known [0..n) or null: as above; `known` may be `bytes`
//
// [out] bytes [0..n): the values of lcp_of_rows, at most LCP_LONG_BYTE
//
// [out] large [0..n): the values of at least LCP_LONG_BYTE. Those of chunk c begin at c *
// LCP_CHUNK, and those of a tile are in the order of its rows.
//
// [out] starts: start of each tile's values within those of its chunk, or LCP_NO_VALUES
//
// [out] counts: number of large values in each chunk, 0 at the start
extern "C" __global__ void __launch_bounds__(THREADS)
    split_lcp(const uint32_t* sa, const uint32_t* ends, const uint8_t* known, uint32_t n, uint8_t* bytes,
              uint32_t* large, uint32_t* starts, uint32_t* counts) {
    static_assert(LCP_ROW_ITEMS * THREADS == LCP_SPLIT && LCP_ROW_ITEMS * THREADS / 32 == 32, "a warp counts a tile");
    // For every 32 rows: number of large values of the tile before them, plus the start of the
    // tile.
    __shared__ uint32_t places[32];
    const uint32_t tile = blockIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const uint32_t chunk = tile / (LCP_CHUNK / LCP_SPLIT);
    uint32_t values[LCP_ROW_ITEMS], those[LCP_ROW_ITEMS];
#pragma unroll
    for (uint32_t i = 0; i < LCP_ROW_ITEMS; i++) {
        const uint32_t k = tile * LCP_SPLIT + i * THREADS + threadIdx.x;
        values[i] = k < n ? common_of_row(sa, ends, known, k) : 0;
        if (k < n) bytes[k] = min(values[i], LCP_LONG_BYTE);
        those[i] = __ballot_sync(0xFFFFFFFF, values[i] >= LCP_LONG_BYTE);
        if (lane == 0) places[i * (THREADS / 32) + warp] = __popc(those[i]);
    }
    __syncthreads();
    if (warp == 0) {
        const uint32_t own = places[lane];
        uint32_t sum = own;
        for (uint32_t step = 1; step < 32; step *= 2) {
            const uint32_t before = __shfl_up_sync(0xFFFFFFFF, sum, step);
            if (lane >= step) sum += before;
        }
        uint32_t start = 0;
        if (lane == 31) {
            if (sum > 0) start = atomicAdd(counts + chunk, sum);
            starts[tile] = sum > 0 ? start : LCP_NO_VALUES;
        }
        start = __shfl_sync(0xFFFFFFFF, start, 31);
        places[lane] = start + sum - own;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < LCP_ROW_ITEMS; i++) {
        if (values[i] < LCP_LONG_BYTE) continue;
        const uint32_t before = __popc(those[i] & ((1u << lane) - 1));
        large[static_cast<uint64_t>(chunk) * LCP_CHUNK + places[i * (THREADS / 32) + warp] + before] = values[i];
    }
}

// flags[k] = 1 if row k shares at least `least` bytes, at least `longest` bytes and at least 1 with
// the row before it or behind it.
extern "C" __global__ void mark_rows(const uint32_t* lcp, uint32_t n, uint32_t least, const uint32_t* longest,
                                     uint8_t* flags) {
    const uint32_t k = global_thread();
    if (k >= n) return;
    const uint32_t wanted = max(max(least, *longest), 1);
    flags[k] = lcp[k] >= wanted || (k + 1 < n && lcp[k + 1] >= wanted);
}
