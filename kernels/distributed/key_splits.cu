// Where sorted keys are cut, so that each GPU gets as many as it has rows.

#include "runtime/common.cuh"

// counts[i] = how many keys of range i / per_range are less than candidates[i].
//
// [in] ranges  two items for each range of `keys`, which is sorted: its start and its end
extern "C" __global__ void count_less(const uint64_t* keys, const uint32_t* ranges, const uint64_t* candidates,
                                      uint32_t per_range, uint32_t items, uint32_t* counts) {
    const uint32_t i = global_thread();
    if (i >= items) return;
    const uint32_t start = ranges[2 * (i / per_range)];
    const auto is_less = [&](uint32_t k) { return keys[k] < candidates[i]; };
    counts[i] = partition_point(start, ranges[2 * (i / per_range) + 1], is_less) - start;
}
