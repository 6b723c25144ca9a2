// The cover of `skew-pd`: the positions that are no multiples of 3, which have *cover indices* in
// their order. So the ranks of both positions behind a multiple of 3 lie side by side, and a
// multiple of 3 symbols further is as many cover indices further.
//
// Where n mod 3 is 1, position n has an index too, so that each multiple of 3 has one behind it.
#pragma once

#include "runtime/common.cuh"

__device__ __forceinline__ uint32_t cover_index(uint32_t position) { return position - (position + 2) / 3; }
__device__ __forceinline__ uint32_t cover_position(uint32_t index) { return index + index / 2 + 1; }
