// Inverts a Burrows-Wheeler transform into the text.
//
// LF maps the row of the suffix at p to that of the suffix at p - 1, and the sentinel's row to 0.
// LF sorts the rows stably, so it is a permutation of the rows 0..n whatever the bytes are. For the
// BWT of a text it is one cycle. From row 0 the cycle runs through the text from its last symbol to
// its first, and then through the sentinel's entry, which holds no symbol.
//
// The cycle is cut at nodes. These are rows picked by a hash, one in a few dozen, so that no order
// in the text can put them all in one part of it. Each node has a thread, which walks to the next
// node and writes the symbols of this stretch to one or more chunks of memory. Pointer jumping
// finds the distance of each node from the end of the cycle; then the chunks are copied into place.
// So any block gives a GPU as many walks at a time as it needs. Only the first of the block's
// samples is needed; the others are checked.
//
// A walk goes two rows at a time by the LF squared table, which saves every other random read. It
// stops at a node that it would pass, since every stretch ends there.
//
// The BWT comes in pieces, and the text goes out in pieces. LF has two parts. The number of a row
// among those with equal symbols is known once the row has come; the first row of each symbol is
// known once all rows have come. The whole text is known at once.
//
// Each kernel that handles rows exists twice: for rows of 32 bits, and as `..._wide` for rows of 64
// bits, with which a block may have more than 2^32 symbols. Wide rows take no more memory: an entry
// of the LF squared table has 46 bits for a row, and the number of a row among those with equal
// symbols is counted from the beginning of its piece.

#include "runtime/common.cuh"

// A block of 1 symbol and more, and all arrays made from it.
struct SHARED InverseArgs {
    // [0..n + TEXT_PADDING - 1] the BWT, without the sentinel; once LF is squared, the text is in
    // its place
    const uint8_t* bytes;
    // [0..256 * tiles - 1] counts of a piece, by symbol, then by tile; later their exclusive sums
    uint32_t* counts;
    // [0..255] by symbol: offsets that turn these sums into counts of all rows before a tile, or of
    // those of the piece if rows are wide
    uint32_t* offsets;
    // [0..255] by symbol: number of rows that have come; later the first row that starts with it
    uint64_t* firsts;
    // [0..256 * pieces - 1] if rows are wide, by piece, then by symbol: number of rows before it
    uint64_t* before;
    // [0..n] number of rows before each, or before it in its piece if rows are wide, that have the
    // same symbol; undefined for the sentinel's row
    uint32_t* ranks;
    uint2* lf_squared;         // [0..n] a Jump from each row
    uint64_t* links;           // [0..nodes - 1] a link from each node to the next
    uint64_t* followed;        // [0..nodes - 1] links of twice the reach
    // [0..chunks * chunk_size - 1] parts of stretches, each at the end of its chunk; in the place
    // of the ranks, which are not needed any more
    uint8_t* symbols;
    // [0..chunks - nodes - 1] for each chunk that is not the first of its node: the node, and the
    // number of symbols of its stretch before the chunk. The first chunk of a node has the node's
    // number.
    uint2* chunks;
    uint32_t* lengths;         // [0..nodes - 1] number of symbols from each node to the next
    uint32_t* used;            // [0] number of chunks in use, without the first one of each node
    // [0..sample_count - 1] the rows, from 1 to n, of the suffixes at multiples of a rate
    const uint64_t* samples;
    uint8_t* text;             // [0..n] the sentinel's entry, and the text; in the place of `bytes`
    // [0] not 0 if this is the BWT of no text, or the samples are not its own
    uint32_t* contradictions;
    uint64_t n, primary;
    // range of the text to write; multiples of 8, except for the end of the text
    uint64_t from, to;
    uint32_t sample_count, log_rate;
    uint32_t piece, first_tile, tiles;  // the current piece: its number, first tile and tiles
    uint32_t log_piece;        // if rows are wide, pieces have 2^log_piece bytes
    uint32_t row_bits;         // number of bits of a row
    // a power of two below 2^24; a number whose row would be above n has no node
    uint32_t nodes;
    // a multiple of 8; there is a chunk for each node, and one for each full chunk that n symbols
    // make
    uint32_t chunk_size;
    // length at which a stretch is given up; only a block made for it has such a stretch
    uint32_t longest;
};

namespace {

constexpr uint32_t WARPS = THREADS / 32;
constexpr uint32_t TILE_ROUNDS = INVERSE_TILE / THREADS;
// True for rows of 64 bits.
template <class Row>
constexpr bool IS_WIDE = sizeof(Row) == 8;

constexpr uint32_t FIRST_IS_NODE = 1u << 16, SECOND_IS_NODE = 1u << 17;

// Multipliers of the hash, and their inverses modulo every power of two up to 2^32 or 2^64.
template <class Row>
constexpr Row MIX_A = IS_WIDE<Row> ? static_cast<Row>(0x9E3779B97F4A7C15ull) : static_cast<Row>(0x9E3779B1u);
template <class Row>
constexpr Row MIX_B = IS_WIDE<Row> ? static_cast<Row>(0xC2B2AE3D27D4EB4Fu) : static_cast<Row>(0x85EBCA6Bu);
template <class Row>
constexpr Row inverse_of(Row odd) {
    Row x = odd;
    for (int i = 0; i < 5; i++) x *= 2 - odd * x;
    return x;
}
template <class Row>
constexpr Row UNMIX_A = inverse_of(MIX_A<Row>);
template <class Row>
constexpr Row UNMIX_B = inverse_of(MIX_B<Row>);
static_assert(MIX_A<uint32_t> * UNMIX_A<uint32_t> == 1 && MIX_B<uint32_t> * UNMIX_B<uint32_t> == 1, "inverses");
static_assert(MIX_A<uint64_t> * UNMIX_A<uint64_t> == 1 && MIX_B<uint64_t> * UNMIX_B<uint64_t> == 1, "inverses");

// The number of this thread in a grid with one thread per row.
template <class Row>
__device__ __forceinline__ Row row_thread() {
    return static_cast<Row>(blockIdx.x) * blockDim.x + threadIdx.x;
}

template <class Row>
__device__ __forceinline__ Row row_mask(const InverseArgs& v) {
    return ~static_cast<Row>(0) >> (8 * sizeof(Row) - v.row_bits);
}

// The hash of a row: a permutation of the numbers below 2^row_bits that keeps 0. The rows with the
// smallest hashes are nodes, and the hash is the number of the node.
template <class Row>
__device__ __forceinline__ Row hash_of(const InverseArgs& v, Row row) {
    const Row mask = row_mask<Row>(v);
    const uint32_t half = (v.row_bits + 1) / 2;
    row ^= row >> half;
    row = row * MIX_A<Row> & mask;
    row ^= row >> half;
    return row * MIX_B<Row> & mask;
}

template <class Row>
__device__ __forceinline__ Row row_of(const InverseArgs& v, uint32_t node) {
    const Row mask = row_mask<Row>(v);
    const uint32_t half = (v.row_bits + 1) / 2;
    Row hash = node * UNMIX_B<Row> & mask;
    hash ^= hash >> half;
    hash = hash * UNMIX_A<Row> & mask;
    return hash ^ hash >> half;
}

template <class Row>
__device__ __forceinline__ bool is_node(const InverseArgs& v, Row row) {
    return hash_of(v, row) < v.nodes;
}

// The symbol of a row. For the sentinel's row it is undefined, and may be a byte of the padding.
template <class Row>
__device__ __forceinline__ uint32_t symbol_of(const InverseArgs& v, Row row) {
    return v.bytes[row - (row > static_cast<Row>(v.primary))];
}

// An entry of the LF squared table: LF, or LF of LF; the symbols of both rows, and flags for the
// rows that are nodes.
template <class Row>
struct Jump {
    static constexpr uint32_t LABEL_BITS = 18;
    Row row;
    uint32_t label;

    // The random access of a walk.
    __device__ __forceinline__ static Jump from(const InverseArgs& v, Row row) {
        const uint2 entry = __ldcg(v.lf_squared + row);
        if constexpr (!IS_WIDE<Row>) return {entry.x, entry.y};
        const Row high = static_cast<Row>(entry.y) << (32 - LABEL_BITS);
        return {high | entry.x >> LABEL_BITS, entry.x & ((1u << LABEL_BITS) - 1)};
    }

    __device__ __forceinline__ uint2 entry() const {
        if constexpr (!IS_WIDE<Row>) return make_uint2(row, label);
        const uint64_t word = static_cast<uint64_t>(row) << LABEL_BITS | label;
        return make_uint2(static_cast<uint32_t>(word), static_cast<uint32_t>(word >> 32));
    }
};

// A link: the next node, and from bit 0 on its distance in symbols.
constexpr uint32_t DISTANCE_BITS = 40;
constexpr uint64_t DISTANCE_MASK = (1ull << DISTANCE_BITS) - 1;

__device__ __forceinline__ uint64_t link_to(uint32_t node, uint64_t distance) {
    return static_cast<uint64_t>(node) << DISTANCE_BITS | distance;
}

__device__ __forceinline__ uint32_t node_of(uint64_t link) { return static_cast<uint32_t>(link >> DISTANCE_BITS); }

// The number of symbols from a node to the end of the cycle, once all links are followed.
__device__ __forceinline__ uint64_t to_end(const InverseArgs& v, uint32_t node) {
    return v.links[node] & DISTANCE_MASK;
}

// The node at which a walk ended, and its length in symbols.
struct Stretch {
    uint32_t node, length;
    bool found;
};

// Walks from a row to the next node, at least one step.
template <class Row>
__device__ __forceinline__ Stretch walk(const InverseArgs& v, Row row) {
    uint32_t length = 0;
    for (;;) {
        const auto jump = Jump<Row>::from(v, row);
        row = jump.row;
        if (jump.label & FIRST_IS_NODE) return {static_cast<uint32_t>(hash_of(v, row)), length + 1, true};
        length += 2;
        if (jump.label & SECOND_IS_NODE) return {static_cast<uint32_t>(hash_of(v, row)), length, true};
        if (length >= v.longest) return {0, length, false};
    }
}

// Writes the bytes of a word, lowest first, to text[at..end - 1]: 8 aligned ones, or fewer.
template <class Row>
__device__ __forceinline__ void store(uint8_t* text, Row at, Row end, uint64_t word) {
    if (end - at == 8) {
        *reinterpret_cast<uint64_t*>(text + at) = word;
        return;
    }
    for (; at < end; at++, word >>= 8) text[at] = static_cast<uint8_t>(word);
}

// A word of 8 aligned symbols of a chunk.
__device__ __forceinline__ uint64_t* word_at(const InverseArgs& v, uint32_t chunk, uint32_t at) {
    return reinterpret_cast<uint64_t*>(v.symbols + static_cast<uint64_t>(chunk) * v.chunk_size + at);
}

// counts[c * tiles + t] = number of symbols c in tile t of the piece. A CTA has one tile. A thread
// has 16 neighbouring symbols, and counts equal neighbours together.
template <class Row>
__device__ __forceinline__ void count_tiles_of(const InverseArgs& v) {
    static_assert(INVERSE_TILE == 16 * THREADS && THREADS == 256, "a thread has 16 symbols, and one to sum up");
    static_assert(TEXT_PADDING >= 16, "16 symbols may be read where one is");
    __shared__ uint32_t counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    const Row n = v.n, from = static_cast<Row>(v.first_tile + blockIdx.x) * INVERSE_TILE + threadIdx.x * 16;
    if (from < n) {
        const uint32_t items = n - from < 16 ? n - from : 16;
        const uint4 all = *reinterpret_cast<const uint4*>(v.bytes + from);
        const uint32_t words[4] = {all.x, all.y, all.z, all.w};
        uint32_t symbol = words[0] & 255, run = 0;
#pragma unroll
        for (uint32_t i = 0; i < 16; i++) {
            const uint32_t next = words[i / 4] >> 8 * (i % 4) & 255;
            if (i < items && next != symbol) {
                atomicAdd(counts + symbol, run);
                symbol = next;
                run = 0;
            }
            run += i < items;
        }
        atomicAdd(counts + symbol, run);
    }
    __syncthreads();
    v.counts[threadIdx.x * v.tiles + blockIdx.x] = counts[threadIdx.x];
}

// Computes the offsets of the piece whose counts were summed, and updates firsts. One CTA, with a
// thread per symbol.
template <class Row>
__device__ __forceinline__ void count_piece_of(const InverseArgs& v) {
    static_assert(THREADS == 256, "a thread has a symbol");
    __shared__ Row sums[256];
    const Row n = v.n, start = static_cast<Row>(v.first_tile) * INVERSE_TILE;
    const Row end = static_cast<Row>(v.first_tile + v.tiles) * INVERSE_TILE, count = v.firsts[threadIdx.x];
    const uint32_t c = threadIdx.x, size = min(n, end) - start;
    const uint32_t before = v.counts[c * v.tiles], after = c == 255 ? size : v.counts[(c + 1) * v.tiles];
    v.offsets[c] = (IS_WIDE<Row> ? 0 : count) - before;
    if (IS_WIDE<Row>) v.before[256 * v.piece + c] = count;
    sums[c] = count + (after - before);
    if (end < n) {
        v.firsts[c] = sums[c];
        return;
    }
    // Row 0 starts with no symbol.
    Row first = 1;
    __syncthreads();
    for (uint32_t other = 0; other < c; other++) first += sums[other];
    v.firsts[c] = first;
}

// Computes ranks from the counts of all symbols before each tile. Each warp has a part of the tile,
// and takes 32 neighbours at a time.
template <class Row>
__device__ __forceinline__ void rank_tiles_of(const InverseArgs& v) {
    constexpr uint32_t NONE = 256;
    __shared__ uint32_t counts[WARPS][256];
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const Row n = v.n, primary = v.primary;
    const Row from = static_cast<Row>(v.first_tile + blockIdx.x) * INVERSE_TILE + warp * (INVERSE_TILE / WARPS) + lane;
    uint32_t symbols[TILE_ROUNDS], ranks[TILE_ROUNDS];
#pragma unroll
    for (uint32_t k = 0; k < TILE_ROUNDS; k++) symbols[k] = from + 32 * k < n ? v.bytes[from + 32 * k] : NONE;
    for (uint32_t w = 0; w < WARPS; w++) counts[w][threadIdx.x] = 0;
    __syncthreads();
    // Number of equal symbols before each in this part of the tile.
#pragma unroll
    for (uint32_t k = 0; k < TILE_ROUNDS; k++) {
        const uint32_t equal = __match_any_sync(~0u, symbols[k]);
        const uint32_t before = symbols[k] == NONE ? 0 : counts[warp][symbols[k]];
        ranks[k] = before + __popc(equal & ((1u << lane) - 1));
        __syncwarp();
        if (symbols[k] != NONE && lane + 1 == __ffs(equal)) counts[warp][symbols[k]] = before + __popc(equal);
        __syncwarp();
    }
    __syncthreads();
    uint32_t start = v.offsets[threadIdx.x] + v.counts[threadIdx.x * v.tiles + blockIdx.x];
    for (uint32_t w = 0; w < WARPS; w++) {
        const uint32_t count = counts[w][threadIdx.x];
        counts[w][threadIdx.x] = start;
        start += count;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < TILE_ROUNDS; k++) {
        const Row i = from + 32 * k;
        if (i < n) v.ranks[i + (i >= primary)] = counts[warp][symbols[k]] + ranks[k];
    }
}

// Makes the LF squared table from ranks. Equal symbols of neighbouring rows have neighbouring LF,
// so reading there is no random access.
template <class Row>
__device__ __forceinline__ void square_lf_of(const InverseArgs& v) {
    static_assert(THREADS == 256, "a thread has a symbol");
    __shared__ Row firsts[256];
    firsts[threadIdx.x] = v.firsts[threadIdx.x];
    __syncthreads();
    const Row row = row_thread<Row>(), primary = v.primary, n = v.n;
    if (row > n) return;
    const auto step = [&](Row row, uint32_t symbol) -> Row {
        if (row == primary) return 0;
        Row rank = v.ranks[row];
        if (IS_WIDE<Row>) rank += v.before[(row - (row > primary)) >> v.log_piece << 8 | symbol];
        return firsts[symbol] + rank;
    };
    const uint32_t symbol = symbol_of(v, row);
    const Row first = step(row, symbol);
    const uint32_t other = symbol_of(v, first);
    const Row second = step(first, other);
    const bool ends = is_node(v, first);
    const uint32_t nodes = (ends ? FIRST_IS_NODE : 0) | (is_node(v, second) ? SECOND_IS_NODE : 0);
    v.lf_squared[row] = Jump<Row>{ends ? first : second, symbol | other << 8 | nodes}.entry();
}

// Writes the symbols, links and lengths of all stretches. The first chunk of a node has its number;
// a stretch that does not fit goes on in another chunk. Symbols come from the last to the first,
// and are written 8 at a time.
template <class Row>
__device__ __forceinline__ void walk_stretches_of(const InverseArgs& v) {
    const uint32_t node = global_thread();
    if (node >= v.nodes) return;
    Row row = row_of<Row>(v, node);
    uint32_t length = 0, next = 0, chunk = node;
    uint32_t room = v.chunk_size;  // in the chunk
    uint64_t word = 0;
    bool ended = row > static_cast<Row>(v.n);
    while (!ended && length < v.longest) {
        const auto jump = Jump<Row>::from(v, row);
        ended = jump.label & (FIRST_IS_NODE | SECOND_IS_NODE);
        row = jump.row;
        for (uint32_t s = 0; s < (jump.label & FIRST_IS_NODE ? 1 : 2); s++) {
            if (room == 0) {
                const uint32_t further = atomicAdd(v.used, 1u);
                v.chunks[further] = make_uint2(node, length);
                chunk = v.nodes + further;
                room = v.chunk_size;
            }
            word = word << 8 | (jump.label >> 8 * s & 255);
            length++;
            room--;
            if (room % 8 == 0) *word_at(v, chunk, room) = word;
        }
        if (ended) next = hash_of(v, row);
    }
    if (room % 8 != 0) *word_at(v, chunk, room / 8 * 8) = word << 8 * (room % 8);
    // A stretch that is given up links to node 0, at which all links end. The sum at node 0 is then
    // too small.
    v.links[node] = link_to(next, length);
    v.lengths[node] = length;
}

// Checks that the cycle of row 0 has all rows, and that each sample has its place on it: the suffix
// at p has p symbols and the sentinel's entry before it.
template <class Row>
__device__ __forceinline__ void check_of(const InverseArgs& v) {
    const uint32_t k = global_thread();
    if (k == 0 && to_end(v, 0) != v.n + 1) *v.contradictions = 1;
    if (k >= v.sample_count) return;
    const Row row = v.samples[k], hash = hash_of(v, row);
    const Stretch stretch = hash < v.nodes ? Stretch{static_cast<uint32_t>(hash), 0, true} : walk(v, row);
    const uint64_t beyond = stretch.node == 0 ? 0 : to_end(v, stretch.node);
    const uint64_t place = (static_cast<uint64_t>(k) << v.log_rate) + 1;
    if (!stretch.found || stretch.length + beyond != place) *v.contradictions = 1;
}

// Copies the symbols of all chunks that belong to text[from..to - 1] there, if this is the BWT of a
// text. A thread has one chunk, and goes from its end.
template <class Row>
__device__ __forceinline__ void place_of(const InverseArgs& v) {
    const uint32_t chunk = global_thread();
    if (to_end(v, 0) != v.n + 1 || chunk >= v.nodes + *v.used) return;
    const uint2 part = chunk < v.nodes ? make_uint2(chunk, 0) : v.chunks[chunk - v.nodes];
    Row at = static_cast<Row>(to_end(v, part.x)) - part.y, end = at;
    // Most chunks lie elsewhere. A number that has no node has a length of 0, at 0.
    const Row first = v.from, behind = v.to;
    if (end <= first || end >= behind + v.chunk_size) return;
    const Row start = at - min(v.lengths[part.x] - part.y, v.chunk_size);
    uint64_t out = 0;
    for (uint32_t from = v.chunk_size; at > start;) {
        from -= 8;
        uint64_t word = *word_at(v, chunk, from);
#pragma unroll
        for (uint32_t s = 0; s < 8; s++, word <<= 8) {
            if (at == start) break;
            out = out << 8 | word >> 56;
            at--;
            if (at % 8 == 0 || at == start) {
                if (at >= first && at < behind) store(v.text, at, end, out);
                end = at;
            }
        }
    }
}

}  // namespace

// Doubles the reach of links. Those to node 0, at which the cycle ends, stay.
extern "C" __global__ void __launch_bounds__(THREADS) follow(const InverseArgs v) {
    const uint32_t node = global_thread();
    if (node >= v.nodes) return;
    uint64_t link = v.links[node];
    if (node_of(link) != 0) {
        const uint64_t next = v.links[node_of(link)];
        link = link_to(node_of(next), (link + next) & DISTANCE_MASK);
    }
    v.followed[node] = link;
}

extern "C" __global__ void __launch_bounds__(THREADS) count_tiles(const InverseArgs v) {
    count_tiles_of<uint32_t>(v);
}

extern "C" __global__ void __launch_bounds__(THREADS) count_tiles_wide(const InverseArgs v) {
    count_tiles_of<uint64_t>(v);
}

extern "C" __global__ void __launch_bounds__(THREADS) count_piece(const InverseArgs v) {
    count_piece_of<uint32_t>(v);
}

extern "C" __global__ void __launch_bounds__(THREADS) count_piece_wide(const InverseArgs v) {
    count_piece_of<uint64_t>(v);
}

extern "C" __global__ void __launch_bounds__(THREADS) rank_tiles(const InverseArgs v) {
    rank_tiles_of<uint32_t>(v);
}

extern "C" __global__ void __launch_bounds__(THREADS) rank_tiles_wide(const InverseArgs v) {
    rank_tiles_of<uint64_t>(v);
}

extern "C" __global__ void __launch_bounds__(THREADS) square_lf(const InverseArgs v) {
    square_lf_of<uint32_t>(v);
}

extern "C" __global__ void __launch_bounds__(THREADS) square_lf_wide(const InverseArgs v) {
    square_lf_of<uint64_t>(v);
}

extern "C" __global__ void __launch_bounds__(THREADS) walk_stretches(const InverseArgs v) {
    walk_stretches_of<uint32_t>(v);
}

extern "C" __global__ void __launch_bounds__(THREADS) walk_stretches_wide(const InverseArgs v) {
    walk_stretches_of<uint64_t>(v);
}

extern "C" __global__ void __launch_bounds__(THREADS) check(const InverseArgs v) {
    check_of<uint32_t>(v);
}

extern "C" __global__ void __launch_bounds__(THREADS) check_wide(const InverseArgs v) {
    check_of<uint64_t>(v);
}

extern "C" __global__ void __launch_bounds__(THREADS) place(const InverseArgs v) {
    place_of<uint32_t>(v);
}

extern "C" __global__ void __launch_bounds__(THREADS) place_wide(const InverseArgs v) {
    place_of<uint64_t>(v);
}
