// Mapped host flags: words of host memory that the host polls. The host side is
// src/gpu/runtime/host_flags.rs.
#pragma once

#include "runtime/common.cuh"

// Publishes two numbers to the host, which polls the first word of the host flags.
__device__ __forceinline__ void publish_counts(uint32_t* host_flags, uint32_t items, uint32_t groups) {
    volatile uint32_t* words = host_flags;
    words[FLAG_GROUPS] = groups;
    __threadfence_system();
    words[FLAG_ITEMS] = items;
}
