// Sorts the first symbols of suffixes as strings of words, and names them: equal strings have equal
// names.

#include "runtime/common.cuh"

// symbols[i] = the symbol of byte i; 0 behind the available ones.
extern "C" __global__ void byte_symbols(const uint8_t* bytes, uint32_t available, const uint32_t* table,
                                        uint32_t items, uint32_t* symbols) {
    const uint32_t i = global_thread();
    if (i < items) symbols[i] = i < available ? table[bytes[i]] : 0;
}

// words[i] = `count` symbols of `bits` bits each, from symbol i + from on.
extern "C" __global__ void string_words(const uint32_t* symbols, uint32_t from, uint32_t count, uint32_t bits,
                                        uint32_t items, uint64_t* words) {
    const uint32_t i = global_thread();
    if (i >= items) return;
    uint64_t word = 0;
    for (uint32_t k = 0; k < count; k++) {
        word = (count == 1 ? 0 : word << bits) | symbols[static_cast<uint64_t>(i) + from + k];
    }
    words[i] = word;
}

// heads[t] = t + 1 if row t is the first one or differs from the row before in this word. Other
// heads stay.
extern "C" __global__ void mark_changes(const uint64_t* words, const uint32_t* order, uint32_t items,
                                        uint32_t* heads) {
    const uint32_t t = global_thread();
    if (t < items && (t == 0 || words[order[t]] != words[order[t - 1]])) heads[t] = t + 1;
}

// pairs[t] = the position of row t, above the name of its string. The name is that of the first row
// with this string; heads[t] is that row here, from 1, or 0 if it is on an earlier GPU.
//
// [in]  first_row  number of the first row here, among all
//
// [in]  open_name  name of the rows whose head is on an earlier GPU
//
// [out] repeated   set to 1 if a string occurs twice
extern "C" __global__ void name_rows(const uint32_t* heads, const uint32_t* positions, const uint32_t* order,
                                     uint32_t items, uint32_t first_row, uint32_t open_name, uint64_t* pairs,
                                     uint32_t* repeated) {
    const uint32_t t = global_thread();
    if (t >= items) return;
    const uint32_t head = heads[t], name = head ? first_row + head + 1 : open_name;
    pairs[t] = static_cast<uint64_t>(positions[order[t]]) << 32 | name;
    if (head != t + 1) *repeated = 1;
}
