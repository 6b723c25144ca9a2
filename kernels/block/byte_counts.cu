// Counts the bytes of a text, and estimates how much of it is repeated.

#include "block/text.cuh"
#include "runtime/host_flags.cuh"

// The positions among 16 that are checked for repeats, about one in 2^log_every. They are chosen by
// 8 bytes of the text, so that all copies of a text have the same ones. Runs of one byte, which say
// little, have none.
__device__ __forceinline__ uint32_t choose(const uint32_t* words, uint32_t log_every) {
    uint32_t chosen = 0;
#pragma unroll
    for (int k = 0; k < 16; k++) {
        const uint32_t* at = words + (k >> 2);
        const int shift = 8 * (k & 3);
        const uint32_t low = __funnelshift_r(at[0], at[1], shift), high = __funnelshift_r(at[1], at[2], shift);
        chosen |= ((low - high) * 0x9E3779B1u >> (32 - log_every) == 1 ? 1u : 0u) << k;
    }
    return chosen;
}

__device__ __forceinline__ uint64_t mix(uint64_t hash, uint64_t bytes) {
    hash = (hash ^ bytes) * 0x9E3779B97F4A7C15ull;
    return hash ^ hash >> 32;
}

// Maximum number of positions that a CTA checks. On a GPU with at least 20 multiprocessors there
// are fewer, unless the text has a short period.
const uint32_t MOST_LISTED = 2048;

// Returns true if a text with this hash was met before. Some texts are missed: those met at the
// same time, and those that share an entry.
__device__ __forceinline__ bool met(uint32_t* table, uint32_t table_size, uint64_t hash) {
    volatile uint32_t* entry = table + (hash & (table_size - 1));
    const uint32_t mark = hash >> 32;
    // The exchange is made only if the entry differs: with a short period, all threads would write
    // to one entry.
    return *entry == mark || atomicExch(const_cast<uint32_t*>(entry), mark) == mark;
}

// Number of positions checked, and numbers of those whose next REPEAT_SHORT and REPEAT_LONG bytes
// were met before. Of the latter bytes, only some are compared.
struct RepeatCounts {
    uint32_t looked, near, far;

    __device__ __forceinline__ void look(const uint8_t* bytes, uint32_t at, uint32_t* tables, uint32_t table_size) {
        uint64_t hash = 0;
#pragma unroll
        for (int i = 0; i < REPEAT_SHORT; i += 8) hash = mix(hash, load8(bytes, at + i));
        looked++;
        near += met(tables, table_size, hash);
#pragma unroll
        for (int i = REPEAT_STEP; i <= REPEAT_LONG; i += REPEAT_STEP) hash = mix(hash, load8(bytes, at + i - 8));
        far += met(tables + table_size, table_size, hash);
    }
};

// A share in 1/1024.
__device__ __forceinline__ uint32_t share(uint32_t part, uint32_t all) {
    return all ? (static_cast<uint64_t>(part) << 10) / all : 0;
}

// counts: one per byte value, a number of CTAs, RepeatCounts, and two tables for these. A table has
// a power of two of words, or none. All are 0 at the start. The last CTA copies the counts to the
// host flags, and publishes the shares of repeats.
extern "C" __global__ void __launch_bounds__(THREADS) count_bytes(const uint8_t* bytes, uint32_t n, uint32_t* counts,
                                                                  uint32_t table_size, uint32_t log_every,
                                                                  uint32_t* host_flags) {
    const uint32_t WARPS = THREADS / 32;
    __shared__ uint32_t own[WARPS][256];
    // The positions to check. They are checked together, since each takes several dependent reads.
    __shared__ uint32_t listed, list[MOST_LISTED];
    __shared__ uint32_t repeated[3];
    __shared__ bool last;
    const uint32_t tid = threadIdx.x;
    for (uint32_t w = 0; w < WARPS; w++) own[w][tid] = 0;
    if (tid < 3) repeated[tid] = 0;
    if (tid == 0) listed = 0;
    __syncthreads();
    uint32_t* mine = own[tid / 32];
    const uint4* fours = reinterpret_cast<const uint4*>(bytes);
    for (uint32_t i = blockIdx.x * THREADS + tid; i < n / 16; i += gridDim.x * THREADS) {
        const uint4 four = __ldg(fours + i);
        const uint2 next = __ldg(reinterpret_cast<const uint2*>(fours + i + 1));
        const uint32_t words[6] = {four.x, four.y, four.z, four.w, next.x, next.y};
        if (table_size && n - 16 * i >= 16 + REPEAT_LONG) {
            for (uint32_t chosen = choose(words, log_every); chosen; chosen &= chosen - 1) {
                const uint32_t place = atomicAdd(&listed, 1);
                if (place < MOST_LISTED) list[place] = 16 * i + __ffs(chosen) - 1;
            }
        }
#pragma unroll
        for (int w = 0; w < 4; w++) {
            const uint32_t word = words[w];
            // In a run, all threads would wait for one counter.
            if (word == (word & 255) * 0x01010101u) {
                atomicAdd(&mine[word & 255], 4);
                continue;
            }
            for (int b = 0; b < 4; b++) atomicAdd(&mine[(word >> (8 * b)) & 255], 1);
        }
    }
    if (blockIdx.x == 0 && tid < n % 16) atomicAdd(&mine[bytes[n / 16 * 16 + tid]], 1);
    __syncthreads();
    RepeatCounts repeats = {0, 0, 0};
    for (uint32_t i = tid; i < min(listed, MOST_LISTED); i += THREADS) {
        repeats.look(bytes, list[i], counts + BYTE_COUNT_WORDS, table_size);
    }
    if (repeats.looked) {
        atomicAdd(&repeated[0], repeats.looked);
        atomicAdd(&repeated[1], repeats.near);
        atomicAdd(&repeated[2], repeats.far);
    }
    __syncthreads();
    uint32_t sum = 0;
    for (uint32_t w = 0; w < WARPS; w++) sum += own[w][tid];
    if (sum) atomicAdd(&counts[tid], sum);
    if (tid < 3 && repeated[tid]) atomicAdd(&counts[257 + tid], repeated[tid]);
    __threadfence();
    __syncthreads();
    if (tid == 0) last = atomicAdd(&counts[256], 1) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    host_flags[FLAG_BYTE_COUNTS + tid] = atomicAdd(&counts[tid], 0);
    __threadfence_system();
    __syncthreads();
    if (tid > 0) return;
    const uint32_t looked = atomicAdd(&counts[257], 0);
    publish_counts(host_flags, share(atomicAdd(&counts[258], 0), looked), share(atomicAdd(&counts[259], 0), looked));
}
