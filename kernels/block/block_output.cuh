// Arrays for the results of a sort: the suffix array, the last column and the samples of a block.
#pragma once

#include "runtime/common.cuh"

// SA index t is row t + 1 of the last column and of the samples. The last column has a hole at the
// row of the whole text.
struct SHARED OutputView {
    uint32_t* sa;
    uint8_t* rows;
    uint32_t* samples;
    uint32_t* host_flags;
    uint32_t rate_mask, log_rate, whole_sa;
};

// Writes the row of a suffix to the last column, before() being the byte before the suffix. The row
// of the whole text is written as the primary index instead. A sampled suffix also gets its sample.
template <class Before>
__device__ __forceinline__ void write_row(const OutputView& out, uint32_t sa_index, uint32_t suffix, Before before) {
    if (suffix > 0) {
        out.rows[sa_index + 1] = before();
    } else {
        out.host_flags[FLAG_PRIMARY] = sa_index + 1;
    }
    if ((suffix & out.rate_mask) == 0) out.samples[suffix >> out.log_rate] = sa_index + 1;
}
