// Routes ranks to and from the GPUs that keep them. Each GPU keeps the ranks of its part of the
// text.

#include "distributed/suffix_words.cuh"

const uint32_t NO_SLOT = ~0u;

// A batch of suffixes. Each has a position whose rank it asks for, or its own rank to send.
struct SHARED RouteView {
    const uint64_t* suffixes;
    const uint32_t* heads;  // if ranks are sent: first rows of the groups
    const uint32_t* kept;   // groups that keep their rank, which is not sent
    uint32_t* cursors;    // for each GPU: number of items for it, later its next slot
    uint32_t* slots;      // for each suffix: its index among the items sent
    uint32_t* positions;  // sent: positions within the part of the receiving GPU
    uint64_t text_size;
    uint64_t part_size;
    uint64_t behind;    // distance from the suffix to the position,
    uint32_t by_depth;  // to which the symbols of its first key are added if this is 1
    uint32_t items;
};

// The position of suffix i, or the size of the text if it has none.
__device__ __forceinline__ uint64_t target_of(const RouteView& route, uint32_t i) {
    if (i >= route.items || (route.heads && keeps_rank(route.kept, route.heads[i]))) return route.text_size;
    const uint64_t suffix = route.suffixes[i];
    return position_of(suffix) + route.by_depth * symbols_of(suffix) + route.behind;
}

// Counts a CTA's suffixes for each GPU. Returns the number of earlier ones for the same GPU.
__device__ __forceinline__ uint32_t count_in_cta(uint32_t* own, bool goes, uint32_t owner) {
    for (uint32_t q = threadIdx.x; q < MOST_PROCESSORS; q += blockDim.x) own[q] = 0;
    __syncthreads();
    const uint32_t lane = threadIdx.x & 31, alike = __match_any_sync(~0u, goes ? owner : NO_SLOT);
    const uint32_t first = __ffs(alike) - 1, before = __popc(alike & ((1u << lane) - 1));
    uint32_t base = 0;
    if (goes && lane == first) base = atomicAdd(&own[owner], __popc(alike));
    base = __shfl_sync(~0u, base, first);
    __syncthreads();
    return base + before;
}

extern "C" __global__ void count_owners(RouteView route) {
    __shared__ uint32_t own[MOST_PROCESSORS];
    const uint32_t i = global_thread();
    const uint64_t target = target_of(route, i);
    const bool goes = target < route.text_size;
    count_in_cta(own, goes, goes ? target / route.part_size : 0);
    for (uint32_t q = threadIdx.x; q < MOST_PROCESSORS; q += blockDim.x) {
        if (own[q]) atomicAdd(&route.cursors[q], own[q]);
    }
}

extern "C" __global__ void fill_slots(RouteView route) {
    __shared__ uint32_t own[MOST_PROCESSORS];
    const uint32_t i = global_thread();
    const uint64_t target = target_of(route, i);
    const bool goes = target < route.text_size;
    const uint32_t owner = goes ? target / route.part_size : 0;
    const uint32_t before = count_in_cta(own, goes, owner);
    for (uint32_t q = threadIdx.x; q < MOST_PROCESSORS; q += blockDim.x) {
        if (own[q]) own[q] = atomicAdd(&route.cursors[q], own[q]);
    }
    __syncthreads();
    if (i >= route.items) return;
    const uint32_t slot = goes ? own[owner] + before : NO_SLOT;
    route.slots[i] = slot;
    if (goes) route.positions[slot] = static_cast<uint32_t>(target - owner * route.part_size);
}

// keys[i] = the answer for suffix i; 0 for the empty suffix, which no GPU keeps.
extern "C" __global__ void take_answers(const uint64_t* answers, const uint32_t* slots, uint32_t items,
                                        uint64_t* keys) {
    const uint32_t i = global_thread();
    if (i < items) keys[i] = slots[i] == NO_SLOT ? 0 : answers[slots[i]];
}

// Writes the rank of each suffix to its slot, if it has one. The rank is the row, from 1, of the
// head of its group. This GPU's rows begin at `first_row`. The group at `open_row`, which begins on
// an earlier GPU, has rank `open_rank`.
extern "C" __global__ void place_ranks(const uint32_t* heads, const uint32_t* slots, uint32_t items,
                                       uint64_t first_row, uint32_t open_row, uint64_t open_rank, uint64_t* sent) {
    const uint32_t i = global_thread();
    if (i >= items || slots[i] == NO_SLOT) return;
    const uint32_t row = heads[i];
    sent[slots[i]] = row == open_row ? open_rank : first_row + row + 1;
}

// ranks[positions[i]] = sent[i].
extern "C" __global__ void store_ranks(const uint32_t* positions, const uint64_t* sent, uint32_t items,
                                       uint64_t* ranks) {
    const uint32_t i = global_thread();
    if (i < items) ranks[positions[i]] = sent[i];
}
