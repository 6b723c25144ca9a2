// Sorts segments by keys, with a method for each range of sizes, as GPU-LS does.
//
// A part of a warp sorts a small segment (up to 32 items), 32 / size of them per warp. A CTA sorts
// a medium one. Larger ones are sorted by merging, the largest by a radix sort: see
// src/papers/gpu_sorts/binned_sort.rs.

#include <cub/block/block_merge_sort.cuh>

#include "primitives/merge_path.cuh"

__device__ uint32_t bin_of(uint32_t size) {
    if (size <= 32) return size <= 2 ? 0 : 32 - __clz(size - 1) - 1;
    if (size <= MEDIUM_LOW) return SMALL_BINS;
    if (size <= MEDIUM_HIGH) return SMALL_BINS + 1;
    return size <= LARGE ? SMALL_BINS + 2 : SMALL_BINS + 3;
}

// [out] counts  number of segments in each bin of sizes; 0 at the start
extern "C" __global__ void count_bins(const uint32_t* starts, uint32_t segments, uint32_t* counts) {
    __shared__ uint32_t local[SIZE_BINS];
    if (threadIdx.x < SIZE_BINS) local[threadIdx.x] = 0;
    __syncthreads();
    const uint32_t s = global_thread();
    if (s < segments) atomicAdd(&local[bin_of(starts[s + 1] - starts[s])], 1);
    __syncthreads();
    if (threadIdx.x < SIZE_BINS && local[threadIdx.x]) atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}

// Lists the segments bin by bin, in any order within a bin.
//
// [in,out] cursors  start of each bin's list, and at the end its end
extern "C" __global__ void fill_bins(const uint32_t* starts, uint32_t segments, uint32_t* cursors, uint32_t* lists) {
    __shared__ uint32_t local[SIZE_BINS], base[SIZE_BINS];
    if (threadIdx.x < SIZE_BINS) local[threadIdx.x] = 0;
    __syncthreads();
    const uint32_t s = global_thread();
    uint32_t kind = 0, place = 0;
    if (s < segments) {
        kind = bin_of(starts[s + 1] - starts[s]);
        place = atomicAdd(&local[kind], 1);
    }
    __syncthreads();
    if (threadIdx.x < SIZE_BINS) base[threadIdx.x] = atomicAdd(&cursors[threadIdx.x], local[threadIdx.x]);
    __syncthreads();
    if (s < segments) lists[base[kind] + place] = s;
}

// Bitonic sort of one item per lane in groups of WIDTH lanes. Items past a segment's end are larger
// than all others.
template <int WIDTH>
__device__ void sort_small(const uint32_t* starts, const uint32_t* list, uint32_t count, uint32_t* keys,
                           uint32_t* values) {
    const uint32_t place = global_thread() / WIDTH, lane = threadIdx.x % WIDTH;
    uint32_t begin = 0, size = 0;
    if (place < count) {
        begin = starts[list[place]];
        size = starts[list[place] + 1] - begin;
    }
    const bool inside = lane < size;
    uint64_t item = inside ? static_cast<uint64_t>(keys[begin + lane]) << 32 | lane : ~0ull;
    const uint32_t value = inside ? values[begin + lane] : 0;
#pragma unroll
    for (int run = 2; run <= WIDTH; run *= 2) {
#pragma unroll
        for (int stride = run / 2; stride > 0; stride /= 2) {
            const uint64_t other = __shfl_xor_sync(~0u, item, stride, WIDTH);
            const bool up = (lane & run) == 0 || run == WIDTH, low = (lane & stride) == 0;
            if ((other < item) == (up == low)) item = other;
        }
    }
    const uint32_t sorted = __shfl_sync(~0u, value, static_cast<int>(item % WIDTH), WIDTH);
    if (!inside) return;
    keys[begin + lane] = static_cast<uint32_t>(item >> 32);
    values[begin + lane] = sorted;
}

#define SORT_SMALL(WIDTH)                                                                                     \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                     \
        sort_small_##WIDTH(const uint32_t* starts, const uint32_t* list, uint32_t count, uint32_t* keys,      \
                           uint32_t* values) {                                                                \
        sort_small<WIDTH>(starts, list, count, keys, values);                                                 \
    }
SORT_SMALL(2)
SORT_SMALL(4)
SORT_SMALL(8)
SORT_SMALL(16)
SORT_SMALL(32)

// Sorts one segment of up to THREADS_PER_CTA * ITEMS items by one CTA.
template <int THREADS_PER_CTA, int ITEMS>
__device__ void sort_medium(const uint32_t* starts, const uint32_t* list, uint32_t* keys, uint32_t* values) {
    using Sort = cub::BlockMergeSort<uint32_t, THREADS_PER_CTA, ITEMS, uint32_t>;
    __shared__ typename Sort::TempStorage storage;
    const uint32_t segment = list[blockIdx.x], begin = starts[segment], size = starts[segment + 1] - begin;
    const uint32_t base = threadIdx.x * ITEMS;
    uint32_t items[ITEMS], payload[ITEMS];
    for (uint32_t i = 0; i < ITEMS; ++i) {
        items[i] = base + i < size ? keys[begin + base + i] : ~0u;
        payload[i] = base + i < size ? values[begin + base + i] : 0;
    }
    Sort(storage).StableSort(items, payload, Smaller(), static_cast<int>(size), ~0u);
    for (uint32_t i = 0; i < ITEMS && base + i < size; ++i) {
        keys[begin + base + i] = items[i];
        values[begin + base + i] = payload[i];
    }
}

extern "C" __global__ void __launch_bounds__(MEDIUM_LOW_THREADS)
    sort_medium_low(const uint32_t* starts, const uint32_t* list, uint32_t* keys, uint32_t* values) {
    sort_medium<MEDIUM_LOW_THREADS, MEDIUM_LOW / MEDIUM_LOW_THREADS>(starts, list, keys, values);
}

extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    sort_medium_high(const uint32_t* starts, const uint32_t* list, uint32_t* keys, uint32_t* values) {
    sort_medium<TILE_THREADS, MEDIUM_HIGH / TILE_THREADS>(starts, list, keys, values);
}
