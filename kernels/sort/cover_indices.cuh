// The cover of `skew-pd`: the positions that are not multiples of 3. They have *cover indices* in
// their order. So the ranks of both positions behind a multiple of 3 are neighbours, and a distance
// that is a multiple of 3 covers a fixed number of cover indices.
//
// If n mod 3 is 1, position n has an index too, so that each multiple of 3 is followed by one.
#pragma once

#include "runtime/common.cuh"

__device__ __forceinline__ uint32_t cover_index(uint32_t position) { return position - (position + 2) / 3; }
__device__ __forceinline__ uint32_t cover_position(uint32_t index) { return index + index / 2 + 1; }
