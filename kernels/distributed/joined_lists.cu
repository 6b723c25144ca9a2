// Joins the unresolved minimizers of all GPUs on one GPU, which reads the lists of the others in
// place.

#include "sort/minimizers.cuh"

struct SHARED JoinArgs {
    UnsortedGroupsView from, to;
    uint64_t* ranks;
    uint32_t items;
    // numbers before this GPU's: rows of the text, items and groups of the joined list
    uint32_t row, item, group;
};

// Appends a list. Its rows and groups are counted from those of its GPU. Each minimizer gets the
// row and the depth of its group as its rank.
extern "C" __global__ void join_list(JoinArgs a) {
    const uint32_t i = global_thread();
    if (i >= a.items) return;
    const uint32_t at = a.item + i, suffix = a.from.suffixes[i], group = a.from.groups[i];
    a.to.sa_indices[at] = a.from.sa_indices[i] + a.row;
    a.to.suffixes[at] = suffix;
    a.to.groups[at] = group + a.group;
    // A row has 32 bits, so the sum does not carry into the depth.
    a.ranks[suffix] = a.from.group_heads[group] + a.row;
}

// Appends the heads of the list's groups.
extern "C" __global__ void join_heads(const uint64_t* from, uint32_t groups, uint32_t row, uint64_t* to) {
    const uint32_t g = global_thread();
    if (g < groups) to[g] = from[g] + row;
}
