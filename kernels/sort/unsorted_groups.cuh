// Lists of unresolved suffixes.
#pragma once

#include "sort/alphabetic_code.cuh"

// Whole groups of unresolved suffixes, in the order of their SA indices; a suffix ends in an SA
// index of its own group.
struct SHARED UnsortedGroupsView {
    uint32_t* sa_indices;
    uint32_t* suffixes;  // within a group in any order
    uint32_t* groups;    // which group each is in
    // of each group: depth << 32 | its first SA index
    uint64_t* group_heads;
};
