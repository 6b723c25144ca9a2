// Groups of suffixes that are equal so far, on the rows of one GPU. The list of unresolved suffixes
// is in the order of its rows. The groups at both ends may continue on other GPUs.

#include "distributed/suffix_words.cuh"

// Arrays for resolved suffixes. Rows are those of this GPU, from 0.
struct SHARED RowsView {
    uint8_t* bytes;              // for each row, the byte before its suffix
    uint64_t* sa;                // for each row, its position, if all are wanted; else null
    uint64_t* sample_positions;  // the sampled suffixes on this GPU, in any order
    uint32_t* sample_rows;
    uint32_t* sample_count;
    uint64_t rate_mask;
};

// Puts the numbers of groups, masked by `mask`, above keys of `bits` bits.
extern "C" __global__ void compose_keys(uint64_t* keys, const uint32_t* groups, uint32_t items, uint32_t bits,
                                        uint32_t mask) {
    const uint32_t t = global_thread();
    if (t < items) keys[t] |= static_cast<uint64_t>(groups[t] & mask) << bits;
}

// heads[t] = the row of an item that begins a group, 0 for the others. The first item always begins
// a group here.
//
// [in]     bits         number of key bits below the old group's number; 64 if there were no groups
//
// [in]     first_stays  1 if the first item keeps its rank, else 0
//
// [in,out] kept         the groups that keep their rank (suffix_words.cuh); none at the start
extern "C" __global__ void mark_heads(const uint64_t* keys, const uint32_t* rows, uint32_t items, uint32_t bits,
                                      uint32_t first_stays, uint32_t* heads, uint32_t* kept) {
    const uint32_t t = global_thread();
    if (t >= items) return;
    const uint64_t differs = t ? keys[t] ^ keys[t - 1] : 0;
    const bool stays = t ? bits < 64 && differs >> bits : first_stays;
    const bool begins = t == 0 || differs;
    heads[t] = begins ? rows[t] : 0;
    if (begins && stays) keep_rank(kept, rows[t]);
}

// Writes the facts that other GPUs must know of a list of at least one item: its first and last
// key, the row of its last head, and its first row.
extern "C" __global__ void list_ends(const uint64_t* keys, const uint32_t* rows, const uint32_t* heads,
                                     uint32_t items, uint64_t* ends) {
    ends[0] = keys[0];
    ends[1] = keys[items - 1];
    ends[2] = heads[items - 1];
    ends[3] = rows[0];
}

// Marks unresolved items: 1 << 32, and 1 more for the first item of a group here. heads[t] is now
// the row of the first item of the group of item t.
//
// [in] open_front  1 if the first group began on an earlier GPU, else 0
//
// [in] open_back   1 if the last group continues on a later GPU, else 0
extern "C" __global__ void mark_unresolved(const uint32_t* heads, const uint32_t* rows, uint32_t items,
                                           uint32_t open_front, uint32_t open_back, uint64_t* marks) {
    const uint32_t t = global_thread();
    if (t >= items) return;
    const bool head = heads[t] == rows[t];
    const bool last = t + 1 == items ? !open_back : heads[t + 1] == rows[t + 1];
    const bool alone = head && last && !(t == 0 && open_front);
    marks[t] = alone ? 0 : (1ull << 32) + head;
}

// Words of `facts`: the length of the first group, the start of the last one, and the smallest
// number of symbols in the first key of an unresolved suffix.
const uint32_t FRONT = 0, BACK = 1, LEAST = 2;

// A list that is divided into resolved and unresolved suffixes.
struct SHARED ListView {
    const uint64_t* suffixes;
    const uint32_t* rows;
    const uint64_t* sums;  // sums of the marks up to each item
    uint64_t* new_suffixes;
    uint32_t* new_rows;
    uint32_t* new_groups;  // group number of each item in the new list
    uint32_t* facts;
    RowsView out;
    uint32_t items;
    uint32_t groups;  // number of groups in the new list
};

// Writes resolved suffixes to their rows, and the others to the front of a new list.
extern "C" __global__ void part_list(ListView list) {
    const uint32_t t = global_thread();
    const bool inside = t < list.items;
    const uint64_t sum = inside ? list.sums[t] : 0, before = inside && t > 0 ? list.sums[t - 1] : 0;
    const uint64_t suffix = inside ? list.suffixes[t] : 0;
    const bool goes_on = sum != before;
    const uint32_t least = __reduce_min_sync(~0u, goes_on ? symbols_of(suffix) : ~0u);
    if ((threadIdx.x & 31) == 0 && least != ~0u) atomicMin(&list.facts[LEAST], least);
    if (!inside) return;
    const uint32_t row = list.rows[t];
    if (goes_on) {
        const uint32_t to = static_cast<uint32_t>(before >> 32), group = static_cast<uint32_t>(sum) - 1;
        list.new_suffixes[to] = suffix;
        list.new_rows[to] = row;
        list.new_groups[to] = group;
        const bool head = static_cast<uint32_t>(sum) != static_cast<uint32_t>(before);
        if (head && group == 1) list.facts[FRONT] = to;
        if (head && group + 1 == list.groups) list.facts[BACK] = to;
        return;
    }
    const RowsView& out = list.out;
    const uint64_t position = position_of(suffix);
    out.bytes[row] = static_cast<uint8_t>(before_of(suffix));
    if (out.sa) out.sa[row] = position;
    if ((position & out.rate_mask) == 0) {
        const uint32_t sample = atomicAdd(out.sample_count, 1);
        out.sample_positions[sample] = position;
        out.sample_rows[sample] = row;
    }
}
