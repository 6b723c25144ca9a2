// What every kernel file uses.
#pragma once

#include <cstdint>

#include "runtime/tuning.h"

// Marks a struct that the host fills: kernels/build.rs makes a Rust struct of its fields.
#define SHARED

// The number of this thread in its grid. Grids have at most 2^32 threads: one for each of up to
// 2^32 - 2 items.
__device__ inline uint32_t global_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }
