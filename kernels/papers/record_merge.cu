// Compares suffixes by Lemma 1 of the paper: any two suffixes that begin with the same v symbols
// compare as the sample suffixes at the same distance behind both. A suffix is a record of the data
// for this: its position, the name of its first symbols, and the ranks of the next sample suffixes,
// one for each element of the cover.
//
// Lists of records are merged by merge path. Each CTA first gathers the names of its tile.

#include "primitives/merge_path.cuh"

struct SHARED RecordsView {
    const uint32_t* positions;
    const uint32_t* names;
    const uint32_t* ranks;     // grouped by element
    const uint32_t* meetings;  // by difference of residues: the elements at which two suffixes meet
    uint64_t stride;           // from one element's ranks to those of the next
    uint32_t period;
};

// Compares record i of `a` with record j of `b`, which have the same name.
__device__ __forceinline__ bool rank_less(const RecordsView& a, uint32_t i, const RecordsView& b, uint32_t j) {
    const uint32_t from = a.positions[i] % a.period, to = b.positions[j] % a.period;
    const uint32_t meeting = a.meetings[from >= to ? from - to : from + a.period - to];
    return a.ranks[(meeting & 0xffff) * a.stride + i] < b.ranks[(meeting >> 16) * b.stride + j];
}

__device__ __forceinline__ bool record_less(const RecordsView& a, uint32_t i, const RecordsView& b, uint32_t j) {
    const uint32_t x = a.names[i], y = b.names[j];
    return x != y ? x < y : rank_less(a, i, b, j);
}

// columns[c * items + i] = rank of the next sample suffix at element c from position first + i on.
// The ranks begin at `first`, and extend one period behind these items.
extern "C" __global__ void rank_columns(const uint32_t* ranks, const uint32_t* elements, uint32_t size,
                                        uint32_t period, uint32_t first, uint32_t items, uint32_t* columns) {
    const uint32_t i = global_thread();
    if (i >= items) return;
    const uint32_t residue = (first + i) % period;
    for (uint32_t c = 0; c < size; c++) {
        const uint32_t element = elements[c];
        const uint32_t distance = element >= residue ? element - residue : element + period - residue;
        columns[static_cast<uint64_t>(c) * items + i] = ranks[static_cast<uint64_t>(i) + distance];
    }
}

// keys[i] = key by which records of one residue are sorted: the name, followed by the rank.
extern "C" __global__ void record_keys(const uint32_t* names, const uint32_t* ranks, uint32_t items, uint32_t bits,
                                       uint64_t* keys) {
    const uint32_t i = global_thread();
    if (i < items) keys[i] = static_cast<uint64_t>(names[i]) << bits | ranks[i];
}

// residues[t] = residue of the position of record list[t].
extern "C" __global__ void record_residues(const uint32_t* positions, const uint32_t* list, uint32_t period,
                                           uint32_t items, uint32_t* residues) {
    const uint32_t t = global_thread();
    if (t < items) residues[t] = positions[list[t]] % period;
}

// Two sorted lists to merge, one behind the other.
struct SHARED RecordMergeArgs {
    RecordsView records;
    const uint32_t* list;
    uint32_t* splits;
    uint32_t* out;
    uint32_t a_len, items, tiles;
};

// First level of merge path: the tiles.
extern "C" __global__ void split_records(const __grid_constant__ RecordMergeArgs a) {
    const auto less = [&](uint32_t j, uint32_t i) { return record_less(a.records, j, a.records, i); };
    split_tiles(a.list, a.a_len, a.list + a.a_len, a.items - a.a_len, a.tiles, a.splits, less);
}

// Second level: each CTA merges one tile, and each of its threads TILE_ITEMS items.
extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    merge_records(const __grid_constant__ RecordMergeArgs a) {
    __shared__ uint32_t records[TILE], names[TILE];
    __shared__ uint16_t from[TILE];
    const uint32_t begin = blockIdx.x * TILE, count = min(a.items - begin, static_cast<uint32_t>(TILE));
    const uint32_t a_begin = a.splits[blockIdx.x], a_count = a.splits[blockIdx.x + 1] - a_begin;
    const uint32_t b_begin = a.a_len + (begin - a_begin);
    for (uint32_t x = threadIdx.x; x < count; x += TILE_THREADS) {
        records[x] = a.list[x < a_count ? a_begin + x : b_begin + (x - a_count)];
        names[x] = a.records.names[records[x]];
    }
    __syncthreads();
    const auto less = [&](uint32_t j, uint32_t i) {
        return names[j] != names[i] ? names[j] < names[i] : rank_less(a.records, records[j], a.records, records[i]);
    };
    merge_tile(CountingIterator{0}, a_count, count - a_count, from, less);
    __syncthreads();
    for (uint32_t x = threadIdx.x; x < count; x += TILE_THREADS) a.out[begin + x] = records[from[x]];
}

struct SHARED RecordCountArgs {
    RecordsView records, others;
    const uint32_t* list;
    uint32_t* counts;
    uint32_t len, items;
};

// counts[t] = number of records of a sorted list that are less than record t of others.
extern "C" __global__ void count_less_records(const __grid_constant__ RecordCountArgs a) {
    const uint32_t t = global_thread();
    if (t >= a.items) return;
    const auto is_less = [&](uint32_t k) { return record_less(a.records, a.list[k], a.others, t); };
    a.counts[t] = partition_point(0, a.len, is_less);
}
