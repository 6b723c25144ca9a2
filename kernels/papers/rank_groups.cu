// Groups of suffixes that are equal as far as they have been compared, in prefix doubling.
//
// Rows count from 1. The rank of a suffix is the row of the first suffix of its group, so a group
// of one has its final rank. Ranks of suffixes in different groups compare as the suffixes do. A
// list has the suffixes in groups of more than one. It keeps, for each item, its row, which stays,
// and the suffix that is there now.

#include "runtime/common.cuh"

// Computes the head rows of ranks after the first sort: the row of each group's head, 0 for the
// others. A suffix of fewer than FIRST_SYMBOLS symbols is a group of its own, whatever its padded
// key is.
extern "C" __global__ void first_heads(const uint64_t* keys, const uint32_t* pos, uint32_t n, uint32_t* head_rows) {
    const uint32_t t = global_thread();
    if (t >= n) return;
    const bool head = t == 0 || keys[t] != keys[t - 1] || pos[t - 1] + FIRST_SYMBOLS > n;
    head_rows[t] = head ? t + 1 : 0;
}

// rows[t] = t + 1.
extern "C" __global__ void first_rows(uint32_t n, uint32_t* rows) {
    const uint32_t t = global_thread();
    if (t < n) rows[t] = t + 1;
}

// Computes the head rows of ranks in a list whose groups have been sorted by `keys`. `ranks` are
// those before the sort.
extern "C" __global__ void list_heads(const uint32_t* keys, const uint32_t* ranks, const uint32_t* rows, uint32_t m,
                                      uint32_t* head_rows) {
    const uint32_t t = global_thread();
    if (t >= m) return;
    const bool head = t == 0 || ranks[t] != ranks[t - 1] || keys[t] != keys[t - 1];
    head_rows[t] = head ? rows[t] : 0;
}

// Writes the new ranks, and marks unresolved items.
//
// [in]  pos, rows, ranks  m items: the list
//
// [out] isa   ranks by position
//
// [out] sa    positions by row - 1, of suffixes that are groups of their own
//
// [out] marks 1 << 32 for unresolved items, and 1 more for the head of a group
extern "C" __global__ void resolve(const uint32_t* pos, const uint32_t* rows, const uint32_t* ranks, uint32_t m,
                                  uint32_t* isa, uint32_t* sa, uint64_t* marks) {
    const uint32_t t = global_thread();
    if (t >= m) return;
    const bool head = ranks[t] == rows[t];
    const bool next_is_head = t + 1 == m || ranks[t + 1] == rows[t + 1];
    const bool alone = head && next_is_head;
    isa[pos[t]] = ranks[t];
    if (alone) sa[rows[t] - 1] = pos[t];
    marks[t] = alone ? 0 : (1ull << 32) + head;
}

// Copies unresolved items to the front of a new list.
//
// [in]  sums    inclusive sums of the marks
//
// [out] starts  index of the head of each group in the new list, and behind the last its length
extern "C" __global__ void compact(const uint32_t* pos, const uint32_t* rows, const uint32_t* ranks,
                                   const uint64_t* sums, uint32_t m, uint32_t* new_pos, uint32_t* new_rows,
                                   uint32_t* new_ranks, uint32_t* starts) {
    const uint32_t t = global_thread();
    if (t >= m) return;
    const uint64_t sum = sums[t];
    const uint64_t before = t == 0 ? 0 : sums[t - 1];
    if (t + 1 == m) starts[static_cast<uint32_t>(sum)] = static_cast<uint32_t>(sum >> 32);
    if (sum == before) return;
    const uint32_t to = static_cast<uint32_t>(before >> 32);
    new_pos[to] = pos[t];
    new_rows[to] = rows[t];
    new_ranks[to] = ranks[t];
    if (static_cast<uint32_t>(sum) != static_cast<uint32_t>(before)) starts[static_cast<uint32_t>(before)] = to;
}

// keys[t] = the rank of the suffix `depth` behind; 0 if that is the empty one.
extern "C" __global__ void rank_keys(const uint32_t* pos, uint32_t m, const uint32_t* isa, uint32_t n, uint32_t depth,
                                     uint32_t* keys) {
    const uint32_t t = global_thread();
    if (t >= m) return;
    const uint64_t next = static_cast<uint64_t>(pos[t]) + depth;
    keys[t] = next < n ? isa[next] : 0;
}
