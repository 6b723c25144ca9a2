// From the suffix array to the Burrows-Wheeler transform and its samples.

#include "common.cuh"

// samples[k] = the row, from 1, of the suffix at k << log_rate.
extern "C" __global__ void sample_rows(const uint32_t* sa, uint32_t n, uint32_t log_rate, uint32_t* samples) {
    const uint32_t t = global_thread();
    if (t >= n) return;
    const uint32_t p = sa[t];
    if ((p & ((1u << log_rate) - 1)) == 0) samples[p >> log_rate] = t + 1;
}

// The byte before each suffix, in the order of the suffixes with the empty one before all others. The suffix at 0 has
// none and is left out: samples[0] is its row.
extern "C" __global__ void last_column(const uint8_t* text, const uint32_t* sa, uint32_t n, const uint32_t* samples,
                                       uint8_t* out) {
    const uint32_t t = global_thread();
    if (t >= n) return;
    if (t == 0) out[0] = text[n - 1];
    const uint32_t p = sa[t], row = t + 1;
    if (p > 0) out[row < samples[0] ? row : row - 1] = text[p - 1];
}
