// Ascending numbers, and items copied in a given order.

#include "runtime/common.cuh"

// to[t] = first + t.
extern "C" __global__ void count_from(uint32_t first, uint32_t items, uint32_t* to) {
    const uint32_t t = global_thread();
    if (t < items) to[t] = first + t;
}

// to[t] = from[order[t]].
extern "C" __global__ void take_words(const uint64_t* from, const uint32_t* order, uint32_t items, uint64_t* to) {
    const uint32_t t = global_thread();
    if (t < items) to[t] = from[order[t]];
}

// to[t] = from[order[t]], for words of 32 bits.
extern "C" __global__ void take_items(const uint32_t* from, const uint32_t* order, uint32_t items, uint32_t* to) {
    const uint32_t t = global_thread();
    if (t < items) to[t] = from[order[t]];
}
