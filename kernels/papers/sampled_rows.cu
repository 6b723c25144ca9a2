// Turns sorted positions into the words from which rows are made.

#include "distributed/suffix_words.cuh"

// suffixes[t] = the suffix at positions[t], with the byte before it if all bytes are here.
extern "C" __global__ void position_words(const uint32_t* positions, const uint8_t* bytes, uint32_t items,
                                          uint64_t* suffixes) {
    const uint32_t t = global_thread();
    if (t >= items) return;
    const uint32_t position = positions[t];
    suffixes[t] = suffix_word(position, 0, bytes && position ? bytes[position - 1] : 0);
}

// befores[i] = the byte before byte i.
extern "C" __global__ void bytes_before(const uint8_t* bytes, uint32_t before, uint32_t items, uint64_t* befores) {
    const uint32_t i = global_thread();
    if (i < items) befores[i] = i ? bytes[i - 1] : before;
}

// Puts the byte before each suffix into its word.
extern "C" __global__ void add_before(uint64_t* suffixes, const uint64_t* befores, uint32_t items) {
    const uint32_t t = global_thread();
    if (t < items) suffixes[t] |= befores[t];
}
