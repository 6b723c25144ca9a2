// Sorts each segment of a list by keys: Baxter's segmented sort, as Wang, Baxter and Owens use it
// for suffixes.
//
// First each tile is sorted alone, segment by segment. Then neighbouring runs of 1, 2, 4 ... tiles
// are merged. A merge can change only the one segment that spans the border between its two runs.
// So a tile without such a segment does nothing, and the host stops once no segment spans a border.
//
// The *level* of a segment is the last pass that has a border inside it. Up to that pass, the whole
// segment moves from one buffer to the other in each pass, merged or unchanged. After it, the
// segment stays. Segments of even level end in the second buffer and are copied back at the end.
//
// starts[s] is the first item of segment s, and starts[segments] the number of items, m.

#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_scan.cuh>

#include "primitives/merge_path.cuh"

// A segment that spans the border below a tile; none if both ends are equal.
struct Span {
    uint32_t begin, end;
};

// The last pass with a border inside the segment. Borders of pass p lie at odd multiples of TILE <<
// p.
__device__ uint32_t level(Span span) {
    const uint32_t first = span.begin / TILE + 1, last = (span.end - 1) / TILE;
    return 31 - __clz((first - 1) ^ last);
}

__device__ bool moves(Span span, uint32_t pass) { return span.begin < span.end && level(span) >= pass; }

// [in]  shortest, longest  range of the lengths of segments to sort
//
// [out] first   for each tile, the segment of its first item
//
// [out] spans   for each tile and behind the last, the segment that spans its lower border
//
// [out] levels  1 + the highest level of all segments; 0 at the start
extern "C" __global__ void segment_spans(const uint32_t* starts, uint32_t segments, uint32_t m, uint32_t shortest,
                                         uint32_t longest, uint32_t* first, Span* spans, uint32_t* levels) {
    const uint32_t k = global_thread();
    const uint32_t tiles = (m - 1) / TILE + 1;
    if (k > tiles) return;
    Span span = {0, 0};
    if (k < tiles) {
        const uint32_t s = last_up_to(starts, 0, segments, k * TILE);
        const uint32_t begin = starts[s], end = starts[s + 1];
        first[k] = s;
        if (begin < k * TILE && end - begin >= shortest && end - begin <= longest) span = {begin, end};
    }
    spans[k] = span;
    if (span.begin < span.end) atomicMax(levels, level(span) + 1);
}

struct Tagged {
    uint32_t key;
    uint32_t segment;
};

struct TaggedLess {
        __device__ bool operator()(const Tagged& a, const Tagged& b) const {
        return a.segment < b.segment || (a.segment == b.segment && a.key < b.key);
    }
};

// Sorts one tile, segment by segment.
struct TileSort {
    using Scan = cub::BlockScan<uint32_t, TILE_THREADS>;
    using Sort = cub::BlockMergeSort<Tagged, TILE_THREADS, TILE_ITEMS, uint32_t>;
    union Storage {
        uint8_t heads[TILE];
        typename Scan::TempStorage scan;
        typename Sort::TempStorage sort;
    };

    Storage& storage;
    uint32_t begin, len;

    // Returns true if a segment of a wanted length has two items in this tile.
    __device__ bool wanted(const uint32_t* starts, uint32_t segments, uint32_t first, uint32_t shortest,
                           uint32_t longest) const {
        bool found = false;
        for (uint32_t s = first + threadIdx.x; s < segments && starts[s] < begin + len; s += TILE_THREADS) {
            const uint32_t size = starts[s + 1] - starts[s];
            found |= size > 1 && size >= shortest && size <= longest;
        }
        return __syncthreads_or(found);
    }

    // Finds the number of each item's segment, counted from 0 in the tile.
    __device__ void number(const uint32_t* starts, uint32_t segments, uint32_t first, uint32_t (&tags)[TILE_ITEMS]) {
        for (uint32_t i = threadIdx.x; i < TILE; i += TILE_THREADS) storage.heads[i] = 0;
        __syncthreads();
        for (uint32_t s = first + 1 + threadIdx.x; s < segments && starts[s] < begin + len; s += TILE_THREADS) {
            storage.heads[starts[s] - begin] = 1;
        }
        __syncthreads();
        for (uint32_t i = 0; i < TILE_ITEMS; ++i) tags[i] = storage.heads[threadIdx.x * TILE_ITEMS + i];
        __syncthreads();
        Scan(storage.scan).InclusiveSum(tags, tags);
        __syncthreads();
    }

    __device__ void run(uint32_t* keys, uint32_t* values, const uint32_t (&tags)[TILE_ITEMS]) {
        Tagged items[TILE_ITEMS];
        uint32_t payload[TILE_ITEMS];
        const uint32_t base = threadIdx.x * TILE_ITEMS;
        for (uint32_t i = 0; i < TILE_ITEMS; ++i) {
            const bool inside = base + i < len;
            items[i] = {inside ? keys[begin + base + i] : 0, tags[i]};
            payload[i] = inside ? values[begin + base + i] : 0;
        }
        Sort(storage.sort).StableSort(items, payload, TaggedLess(), static_cast<int>(len), Tagged{0, ~0u});
        for (uint32_t i = 0; i < TILE_ITEMS && base + i < len; ++i) {
            keys[begin + base + i] = items[i].key;
            values[begin + base + i] = payload[i];
        }
    }
};

extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    sort_tiles(const uint32_t* starts, uint32_t segments, const uint32_t* first, uint32_t m, uint32_t shortest,
               uint32_t longest, uint32_t* keys, uint32_t* values) {
    __shared__ TileSort::Storage storage;
    const uint32_t begin = blockIdx.x * TILE;
    TileSort tile = {storage, begin, min(m - begin, TILE)};
    if (!tile.wanted(starts, segments, first[blockIdx.x], shortest, longest)) return;
    uint32_t tags[TILE_ITEMS];
    tile.number(starts, segments, first[blockIdx.x], tags);
    tile.run(keys, values, tags);
}

// The merge, in one pass, of the part of a segment in one pair of runs.
struct Pair {
    uint32_t begin, border, end;

    __device__ Pair(Span span, uint32_t tile, uint32_t pass) {
        // 64 bits, since the end of a pair may lie behind the last item that 32 bits can count.
        const uint64_t low = static_cast<uint64_t>(tile >> (pass + 1) << (pass + 1)) * TILE;
        const uint64_t middle = low + (static_cast<uint64_t>(TILE) << pass);
        const uint64_t high = low + (static_cast<uint64_t>(TILE) << (pass + 1));
        begin = static_cast<uint32_t>(max(low, static_cast<uint64_t>(span.begin)));
        end = static_cast<uint32_t>(min(high, static_cast<uint64_t>(span.end)));
        border = static_cast<uint32_t>(min(max(middle, static_cast<uint64_t>(begin)), static_cast<uint64_t>(end)));
    }

    __device__ uint32_t left() const { return border - begin; }
    __device__ uint32_t right() const { return end - border; }
};

// splits[k] = number of items of the left run before the lower border of tile k, if that border
// lies inside a pair.
extern "C" __global__ void partition_segments(const Span* spans, uint32_t tiles, uint32_t pass, const uint32_t* keys,
                                              uint32_t* splits) {
    const uint32_t k = global_thread();
    if (k >= tiles || !moves(spans[k], pass)) return;
    const Pair pair(spans[k], k, pass);
    splits[k] = merge_split(keys + pair.begin, pair.left(), keys + pair.border, pair.right(), k * TILE - pair.begin,
                            Smaller());
}

struct Lists {
    const uint32_t* keys;
    const uint32_t* values;
    uint32_t* out_keys;
    uint32_t* out_values;
};

// Merges the items begin..end of a pair. `a_begin` items of the left run come before `begin`, and
// `a_end` before `end`.
__device__ void merge_range(const Lists& lists, const Pair& pair, uint32_t begin, uint32_t end, uint32_t a_begin,
                            uint32_t a_end, uint32_t* keys, uint16_t* from) {
    const uint32_t a = pair.begin + a_begin, b = pair.border + (begin - pair.begin - a_begin);
    const uint32_t a_count = a_end - a_begin, count = end - begin;
    for (uint32_t i = threadIdx.x; i < count; i += TILE_THREADS) {
        keys[i] = lists.keys[i < a_count ? a + i : b + (i - a_count)];
    }
    __syncthreads();
    merge_tile(keys, a_count, count - a_count, from, Smaller());
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += TILE_THREADS) {
        const uint32_t source = from[i];
        lists.out_keys[begin + i] = keys[source];
        lists.out_values[begin + i] = lists.values[source < a_count ? a + source : b + (source - a_count)];
    }
    __syncthreads();
}

// Merges one tile in one pass. At most two of its segments span a border of tiles: its first and
// last.
extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    merge_segments(const Span* spans, const uint32_t* splits, uint32_t m, uint32_t pass, const uint32_t* keys,
                   const uint32_t* values, uint32_t* out_keys, uint32_t* out_values) {
    __shared__ uint32_t tile_keys[TILE];
    __shared__ uint16_t from[TILE];
    const Lists lists = {keys, values, out_keys, out_values};
    const uint32_t tile = blockIdx.x, begin = tile * TILE, end = min(m - begin, TILE) + begin;
    const Span low = spans[tile], high = spans[tile + 1];
    // The split at the end of the tile, unless the pair or the segment ends first.
    const bool pair_ends = ((tile + 1) & ((2u << pass) - 1)) == 0;
    if (moves(low, pass)) {
        const Pair pair(low, tile, pass);
        const bool starts = (tile & ((2u << pass) - 1)) == 0;
        const uint32_t stop = min(end, low.end);
        const uint32_t a_begin = starts ? 0 : splits[tile];
        const uint32_t a_end = stop == pair.end || pair_ends ? pair.left() : splits[tile + 1];
        merge_range(lists, pair, begin, stop, a_begin, a_end, tile_keys, from);
    }
    if (high.begin >= begin && moves(high, pass)) {
        const Pair pair(high, tile, pass);
        const uint32_t a_end = pair_ends ? pair.left() : splits[tile + 1];
        merge_range(lists, pair, high.begin, end, 0, a_end, tile_keys, from);
    }
}

// Copies segments that ended in the second buffer back to the first.
extern "C" __global__ void copy_back_segments(const Span* spans, uint32_t m, uint32_t* keys, uint32_t* values,
                                              const uint32_t* other_keys, const uint32_t* other_values) {
    const uint32_t tile = blockIdx.x, begin = tile * TILE, end = min(m - begin, TILE) + begin;
    const Span low = spans[tile], high = spans[tile + 1];
    const bool low_moves = moves(low, 0) && level(low) % 2 == 0;
    const bool high_moves = moves(high, 0) && level(high) % 2 == 0;
    for (uint32_t i = begin + threadIdx.x; i < end; i += TILE_THREADS) {
        if ((low_moves && i < low.end) || (high_moves && i >= high.begin)) {
            keys[i] = other_keys[i];
            values[i] = other_values[i];
        }
    }
}
