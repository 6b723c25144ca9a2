// Finds the runs of a BWT, and divides it into slices like `cut` in src/coder/slice_cuts.rs.

#include "coder/encode_args.cuh"

namespace {

constexpr uint32_t BYTES = RUN_TILE / THREADS;
static_assert(BYTES == 16, "a thread reads four words");

// A bit for each of this thread's 16 bytes, set if it begins a run.
__device__ __forceinline__ uint32_t heads_of(const EncodeArgs& v, uint32_t at) {
    if (at >= v.n) return 0;
    const uint4 four = __ldg(reinterpret_cast<const uint4*>(v.bwt + at));
    const uint32_t words[4] = {four.x, four.y, four.z, four.w};
    uint32_t before = at ? static_cast<uint32_t>(__ldg(v.bwt + at - 1)) << 24 : ~four.x << 24;
    uint32_t heads = 0;
#pragma unroll
    for (uint32_t w = 0; w < 4; w++) {
        const uint32_t differ = words[w] ^ __funnelshift_l(before, words[w], 8);
#pragma unroll
        for (uint32_t b = 0; b < 4; b++) heads |= (differ >> (8 * b) & 255 ? 1u : 0u) << (4 * w + b);
        before = words[w];
    }
    return v.n - at >= 16 ? heads : heads & ((1u << (v.n - at)) - 1);
}

// The sum over the threads before this one. With the last thread's own, it is the sum of the CTA.
__device__ __forceinline__ uint32_t sum_before(uint32_t own) {
    __shared__ uint32_t sums[THREADS / 32];
    const uint32_t lane = threadIdx.x % 32;
    uint32_t up_to = own;
    for (uint32_t o = 1; o < 32; o <<= 1) {
        const uint32_t other = __shfl_up_sync(ALL_LANES, up_to, o);
        if (lane >= o) up_to += other;
    }
    if (lane == 31) sums[threadIdx.x / 32] = up_to;
    __syncthreads();
    uint32_t before = up_to - own;
    for (uint32_t w = 0; w < threadIdx.x / 32; w++) before += sums[w];
    return before;
}

}  // namespace

// One CTA per tile.
extern "C" __global__ void __launch_bounds__(THREADS) count_run_heads(const EncodeArgs v) {
    const uint32_t own = __popc(heads_of(v, blockIdx.x * RUN_TILE + threadIdx.x * BYTES));
    const uint32_t before = sum_before(own);
    if (threadIdx.x == THREADS - 1) v.tile_runs[blockIdx.x] = before + own;
    if (blockIdx.x == 0 && threadIdx.x == 0) v.tile_runs[v.tiles] = 0;
}

// One CTA per tile, once the number of runs before it is known.
extern "C" __global__ void __launch_bounds__(THREADS) write_run_heads(const EncodeArgs v) {
    const uint32_t at = blockIdx.x * RUN_TILE + threadIdx.x * BYTES;
    uint32_t heads = heads_of(v, at);
    uint32_t to = v.tile_runs[blockIdx.x] + sum_before(__popc(heads));
    for (; heads; heads &= heads - 1) v.heads[to++] = at + __ffs(heads) - 1;
    if (blockIdx.x == 0 && threadIdx.x == 0) v.heads[v.tile_runs[v.tiles]] = v.n;
}

// One warp. Each lane has one of the next slices, up to the first with too many bytes, which is
// cut.
extern "C" __global__ void __launch_bounds__(32) cut_slices(const EncodeArgs v) {
    const uint32_t lane = threadIdx.x, runs = v.tile_runs[v.tiles];
    // Slices get somewhat fewer runs than allowed, so that the last has no fewer than the others.
    // In a part of a BWT, that number is that of the whole.
    const uint32_t parts = (runs - 1) / v.slice_runs + 1;
    const uint32_t slice_runs = v.spreads_runs ? (runs - 1) / parts + 1 : v.slice_runs;
    uint32_t count = 0, byte = 0, run = 0;
    while (byte < v.n) {
        const uint64_t next_run = run + static_cast<uint64_t>(lane + 1) * slice_runs;
        const uint32_t end_run = next_run < runs ? static_cast<uint32_t>(next_run) : runs;
        uint32_t end = v.heads[end_run], start = __shfl_up_sync(ALL_LANES, end, 1);
        uint32_t start_run = __shfl_up_sync(ALL_LANES, end_run, 1);
        if (lane == 0) {
            start = byte;
            start_run = run;
        }
        const uint32_t cut = __ballot_sync(ALL_LANES, end - start > v.slice_bytes);
        const uint32_t whole = cut ? __ffs(cut) - 1 : 32;
        // Slices behind the end of the BWT have no bytes.
        const bool here = lane < whole + (cut ? 1 : 0) && start < v.n;
        if (here) v.slices[count + lane] = {start, start_run};
        count += __popc(__ballot_sync(ALL_LANES, here));
        if (cut) {
            byte = __shfl_sync(ALL_LANES, start, whole) + v.slice_bytes;
            run = last_up_to(v.heads, __shfl_sync(ALL_LANES, start_run, whole), runs, byte);
        } else {
            byte = __shfl_sync(ALL_LANES, end, 31);
            run = __shfl_sync(ALL_LANES, end_run, 31);
        }
    }
    if (lane == 0) {
        v.slices[count] = {v.n, runs};
        *v.slice_count = count;
    }
}
