// Pairs of an item's number and a value, on their way to the GPUs that keep the items. The number
// is in the upper half of a word.

#include "runtime/common.cuh"

__device__ __forceinline__ uint64_t item_pair(uint32_t item, uint32_t value) {
    return static_cast<uint64_t>(item) << 32 | value;
}

// out[item - first] = the value.
extern "C" __global__ void store_pairs(const uint64_t* pairs, uint32_t items, uint32_t first, uint32_t* out) {
    const uint32_t t = global_thread();
    if (t < items) out[static_cast<uint32_t>(pairs[t] >> 32) - first] = static_cast<uint32_t>(pairs[t]);
}

// The sampled positions of a text of n symbols. Those of one element of the cover are together.
struct SHARED SampleView {
    const uint32_t* elements;  // of the cover
    const uint32_t* columns;   // for each residue, the number of its element, or ~0
    const uint32_t* starts;    // for each element, the index of its first position
    const uint32_t* shifts;    // for each element, offset from an index to the position of its pair
    uint32_t period;
    uint32_t size;  // number of elements
    uint32_t n;
};

struct SHARED SampledPairsArgs {
    SampleView sample;
    const uint32_t* values;
    uint64_t* pairs;
    uint32_t first, items;
};

// Writes the indices of the sampled ones of `items` positions from `first` on, with their names.
// The empty suffix has the smallest name.
extern "C" __global__ void sampled_names(const __grid_constant__ SampledPairsArgs a) {
    const uint32_t i = global_thread();
    if (i >= a.items) return;
    const SampleView& sample = a.sample;
    const uint32_t position = a.first + i, column = sample.columns[position % sample.period];
    if (column == ~0u) return;
    const uint32_t index = sample.starts[column] + position / sample.period;
    a.pairs[index - sample.shifts[column]] = item_pair(index, position == sample.n ? 1 : a.values[i]);
}

// Writes the positions of sorted sample suffixes with their ranks, the first of which is `first`.
extern "C" __global__ void sampled_ranks(const __grid_constant__ SampledPairsArgs a) {
    const uint32_t t = global_thread();
    if (t >= a.items) return;
    const SampleView& sample = a.sample;
    const uint32_t index = a.values[t];
    const uint32_t column = last_up_to(sample.starts, 0, sample.size, index);
    const uint32_t position = (index - sample.starts[column]) * sample.period + sample.elements[column];
    a.pairs[t] = item_pair(position, a.first + t);
}
