// Groups of suffixes that are equal so far, on the rows of one GPU: a list of what is unresolved,
// in the order of its rows, of which groups at both ends may go on on other GPUs.

#include "distributed/suffix_words.cuh"

// Where resolved suffixes go. Rows are those of this GPU, from 0.
struct SHARED RowsView {
    uint8_t* bytes;              // of each row the byte before its suffix
    uint64_t* sa;                // of each row its position, where all are wanted; else null
    uint64_t* sample_positions;  // the sampled suffixes that lie here, in any order
    uint32_t* sample_rows;
    uint32_t* sample_count;
    uint64_t rate_mask;
};

// Puts what the mask leaves of the numbers of the groups above keys of so many bits.
extern "C" __global__ void compose_keys(uint64_t* keys, const uint32_t* groups, uint32_t items, uint32_t bits,
                                        uint32_t mask) {
    const uint32_t t = global_thread();
    if (t < items) keys[t] |= static_cast<uint64_t>(groups[t] & mask) << bits;
}

// heads[t] = the row of an item that begins a group, 0 for the others. The first item begins one
// here.
//
// [in]     bits         the numbers of the groups before are above so many bits; 64 where there
//                       were none
// [in]     first_stays  whether the first of these keeps its rank (1 or 0), as others do
// [in,out] kept         the groups that keep their rank (suffix_words.cuh), none before
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

// What other GPUs have to know of a list of one item or more: its first key and its last one, the
// row of its last head, and its first row.
extern "C" __global__ void list_ends(const uint64_t* keys, const uint32_t* rows, const uint32_t* heads,
                                     uint32_t items, uint64_t* ends) {
    ends[0] = keys[0];
    ends[1] = keys[items - 1];
    ends[2] = heads[items - 1];
    ends[3] = rows[0];
}

// Marks what is unresolved: 1 << 32, and 1 more for the first of a group here. heads[t] is the row
// of the first of the group of item t now.
//
// [in] open_front, open_back  whether the first group began on an earlier GPU, and whether the last
//                             one goes on on a later one (1 or 0)
extern "C" __global__ void mark_unresolved(const uint32_t* heads, const uint32_t* rows, uint32_t items,
                                           uint32_t open_front, uint32_t open_back, uint64_t* marks) {
    const uint32_t t = global_thread();
    if (t >= items) return;
    const bool head = heads[t] == rows[t];
    const bool last = t + 1 == items ? !open_back : heads[t + 1] == rows[t + 1];
    const bool alone = head && last && !(t == 0 && open_front);
    marks[t] = alone ? 0 : (1ull << 32) + head;
}

// Words of `facts`: the length of the first group, the start of the last one, and the least number
// of symbols in the first key of an unresolved suffix.
const uint32_t FRONT = 0, BACK = 1, LEAST = 2;

// A list that is parted into what is resolved and what is not.
struct SHARED ListView {
    const uint64_t* suffixes;
    const uint32_t* rows;
    const uint64_t* sums;  // of the marks up to each item
    uint64_t* new_suffixes;
    uint32_t* new_rows;
    uint32_t* new_groups;  // the number of each one's group in the new list
    uint32_t* facts;
    RowsView out;
    uint32_t items;
    uint32_t groups;  // of the new list
};

// Resolved suffixes go to their rows, the others to the front of a new list.
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
