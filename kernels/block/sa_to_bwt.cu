// From the suffix array to the Burrows-Wheeler transform and its samples.

#include "runtime/common.cuh"

// samples[k] = the row, from 1, of the suffix at k << log_rate. That of the whole text goes to the
// host flags too.
extern "C" __global__ void sample_rows(const uint32_t* sa, uint32_t n, uint32_t log_rate, uint32_t* samples,
                                       uint32_t* host_flags) {
    const uint32_t t = global_thread();
    if (t >= n) return;
    const uint32_t p = sa[t];
    if ((p & ((1u << log_rate) - 1)) == 0) samples[p >> log_rate] = t + 1;
    if (p == 0) host_flags[FLAG_PRIMARY] = t + 1;
}

// The byte before each suffix, in the order of the suffixes with the empty one before all others:
// so that of SA index t is in row t + 1. The suffix at 0 has none, and the host knows that of the
// empty one.
extern "C" __global__ void last_column(const uint8_t* text, const uint32_t* sa, uint32_t n, uint8_t* rows) {
    const uint32_t t = global_thread();
    if (t >= n) return;
    const uint32_t p = sa[t];
    if (p > 0) rows[t + 1] = text[p - 1];
}
