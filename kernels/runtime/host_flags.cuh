// Mapped host flags: words of the host's memory, for which the host polls.
// src/gpu/runtime/host_flags.rs is the other side.
#pragma once

#include "runtime/common.cuh"

// Tells the host, which waits for the first word of the host flags, two numbers.
__device__ __forceinline__ void publish_counts(uint32_t* host_flags, uint32_t items, uint32_t groups) {
    volatile uint32_t* words = host_flags;
    words[FLAG_GROUPS] = groups;
    __threadfence_system();
    words[FLAG_ITEMS] = items;
}
