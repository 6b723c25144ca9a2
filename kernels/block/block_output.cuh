// Where the results of a sort go: the suffix array, the last column and the samples of a block.
#pragma once

#include "runtime/common.cuh"

// Where results go: SA index t is row t + 1 of the last column (which has a hole at the row of the whole text) and in samples.
struct Out {
    uint32_t* sa;
    uint8_t* rows;
    uint32_t* samples;
    uint32_t* host_flags;
    uint32_t rate_mask, log_rate, whole_sa;
};
