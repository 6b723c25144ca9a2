// Lists of unresolved suffixes.
#pragma once

#include "sort/alphabetic_code.cuh"

// Whole groups of unresolved suffixes, in the order of their SA indices. The final SA index of a
// suffix is one of those of its group.
struct SHARED UnsortedGroupsView {
    uint32_t* sa_indices;
    uint32_t* suffixes;  // in any order within a group
    uint32_t* groups;    // group number of each item
    // for each group: depth << 32 | first SA index
    uint64_t* group_heads;
};
