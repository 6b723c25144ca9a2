// Makes the first keys of the suffixes that begin in one GPU's part of a text.

#include "distributed/suffix_words.cuh"
#include "sort/alphabetic_code.cuh"

// Item i is the suffix at `first` + i. Its key is the first 64 bits of its code.
//
// [in]  bytes      `available` bytes of the text, at least 64 more than n if the text has them
//
// [in]  before     the byte before the first suffix
//
// [in]  table      the code
//
// [out] keys, suffixes  n items
extern "C" __global__ void part_keys(const uint8_t* bytes, uint32_t n, uint32_t available, uint64_t first,
                                     uint32_t before, const uint32_t* table, uint64_t* keys, uint64_t* suffixes) {
    __shared__ uint32_t code_table[256];
    load_table(code_table, table);
    __syncthreads();
    const uint32_t i = global_thread();
    if (i >= n) return;
    uint32_t symbols;
    keys[i] = encode(code_table, {bytes, available}, i, 64, symbols);
    suffixes[i] = suffix_word(first + i, symbols, i ? bytes[i - 1] : before);
}
