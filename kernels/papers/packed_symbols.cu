// Makes the first keys of suffixes: their first symbols, packed into an integer that compares as
// they do.

#include "runtime/common.cuh"

// Slot t gets the suffix at n - 1 - t and its first FIRST_SYMBOLS bytes, big end first, padded with
// zeros.
//
// A suffix too short for all these bytes may have the key of a longer one, and is then the smaller
// of the two. Slots go from the shortest suffix to the longest, so a stable sort puts it first.
//
// [in]  text  n bytes and TEXT_PADDING zeros
//
// [out] keys, pos  n items each
extern "C" __global__ void pack_symbols(const uint64_t* text, uint32_t n, uint64_t* keys, uint32_t* pos) {
    const uint32_t i = global_thread();
    if (i >= n) return;
    const uint32_t p = n - 1 - i;
    const uint32_t shift = p % 8 * 8;
    uint64_t word = text[p / 8] >> shift;
    if (shift) word |= text[p / 8 + 1] << (64 - shift);
    const uint32_t low = __byte_perm(static_cast<uint32_t>(word), 0, 0x0123);
    const uint32_t high = __byte_perm(static_cast<uint32_t>(word >> 32), 0, 0x0123);
    keys[i] = static_cast<uint64_t>(low) << 32 | high;
    pos[i] = p;
}
