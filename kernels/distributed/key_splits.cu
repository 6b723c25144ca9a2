// Finds the cuts of sorted keys, so that each GPU gets as many keys as it has rows.

#include "runtime/common.cuh"

// counts[i] = number of keys of range i / per_range that are less than candidates[i].
//
// [in] ranges  start and end of each range of `keys`, in which keys are sorted
extern "C" __global__ void count_less(const uint64_t* keys, const uint32_t* ranges, const uint64_t* candidates,
                                      uint32_t per_range, uint32_t items, uint32_t* counts) {
    const uint32_t i = global_thread();
    if (i >= items) return;
    const uint32_t start = ranges[2 * (i / per_range)];
    const auto is_less = [&](uint32_t k) { return keys[k] < candidates[i]; };
    counts[i] = partition_point(start, ranges[2 * (i / per_range) + 1], is_less) - start;
}
