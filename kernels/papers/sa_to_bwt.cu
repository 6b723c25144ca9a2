// Makes the Burrows-Wheeler transform and its samples from the suffix array.

#include "runtime/common.cuh"

// samples[k] = the row, from 1, of the suffix at k << log_rate. The row of the whole text also goes
// to the host flags.
extern "C" __global__ void sample_rows(const uint32_t* sa, uint32_t n, uint32_t log_rate, uint32_t* samples,
                                       uint32_t* host_flags) {
    const uint32_t t = global_thread();
    if (t >= n) return;
    const uint32_t p = sa[t];
    if ((p & ((1u << log_rate) - 1)) == 0) samples[p >> log_rate] = t + 1;
    if (p == 0) host_flags[FLAG_PRIMARY] = t + 1;
}

// Writes the byte before each suffix in the order of the suffixes. The empty suffix comes first, so
// SA index t is row t + 1. The suffix at 0 has no byte before it, and the host knows the byte
// before the empty suffix.
extern "C" __global__ void last_column(const uint8_t* text, const uint32_t* sa, uint32_t n, uint8_t* rows) {
    const uint32_t t = global_thread();
    if (t >= n) return;
    const uint32_t p = sa[t];
    if (p > 0) rows[t + 1] = text[p - 1];
}
