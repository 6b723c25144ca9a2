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

#include "runtime/common.cuh"

// A block of 1 to 2^31 - 1 symbols, and all arrays made from it.
struct SHARED InverseArgs {
    const uint8_t* bytes;      // [0..n + TEXT_PADDING - 1] the BWT, without the sentinel
    // [0..256 * tiles - 1] counts of a piece, by symbol, then by tile; later their exclusive sums
    uint32_t* counts;
    // [0..255] by symbol: offsets that turn these sums into counts of all rows before a tile
    uint32_t* offsets;
    // [0..255] by symbol: number of rows that have come; later the first row that starts with it
    uint32_t* firsts;
    // [0..n] number of rows before each that have the same symbol; undefined for the sentinel's row
    uint32_t* ranks;
    // [0..n] LF, or LF of LF; the symbols of both rows, and flags for the rows that are nodes
    uint2* lf_squared;
    uint2* links;              // [0..nodes - 1] the next node, and its distance in symbols
    uint2* followed;           // [0..nodes - 1] links of twice the reach
    // [0..chunks * chunk_size - 1] parts of stretches, each at the end of its chunk
    uint8_t* symbols;
    // [0..chunks - nodes - 1] for each chunk that is not the first of its node: the node, and the
    // number of symbols of its stretch before the chunk. The first chunk of a node has the node's
    // number.
    uint2* chunks;
    uint32_t* lengths;         // [0..nodes - 1] number of symbols from each node to the next
    uint32_t* used;            // [0] number of chunks in use, without the first one of each node
    // [0..sample_count - 1] the rows, from 1 to n, of the suffixes at multiples of a rate
    const uint32_t* samples;
    uint8_t* text;             // [0..n] the sentinel's entry, and the text
    // [0] not 0 if this is the BWT of no text, or the samples are not its own
    uint32_t* contradictions;
    uint32_t n, primary, sample_count, log_rate;
    uint32_t first_tile, tiles;  // of the current piece
    // range of the text to write; multiples of 8, except for the end of the text
    uint32_t from, to;
    uint32_t row_bits;         // number of bits of a row
    // a power of two; a number whose row would be above n has no node
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
constexpr uint32_t FIRST_IS_NODE = 1u << 16, SECOND_IS_NODE = 1u << 17;

// Multipliers of the hash, and their inverses modulo every power of two up to 2^32.
constexpr uint32_t MIX_A = 0x9E3779B1u, MIX_B = 0x85EBCA6Bu;
constexpr uint32_t inverse_of(uint32_t odd) {
    uint32_t x = odd;
    for (int i = 0; i < 5; i++) x *= 2 - odd * x;
    return x;
}
constexpr uint32_t UNMIX_A = inverse_of(MIX_A), UNMIX_B = inverse_of(MIX_B);
static_assert(MIX_A * UNMIX_A == 1 && MIX_B * UNMIX_B == 1, "inverses");

// The hash of a row: a permutation of the numbers below 2^row_bits that keeps 0. The rows with the
// smallest hashes are nodes, and the hash is the number of the node.
__device__ inline uint32_t hash_of(const InverseArgs& v, uint32_t row) {
    const uint32_t mask = (1u << v.row_bits) - 1, half = (v.row_bits + 1) / 2;
    row ^= row >> half;
    row = row * MIX_A & mask;
    row ^= row >> half;
    return row * MIX_B & mask;
}

__device__ inline uint32_t row_of(const InverseArgs& v, uint32_t hash) {
    const uint32_t mask = (1u << v.row_bits) - 1, half = (v.row_bits + 1) / 2;
    hash = hash * UNMIX_B & mask;
    hash ^= hash >> half;
    hash = hash * UNMIX_A & mask;
    return hash ^ hash >> half;
}

__device__ inline bool is_node(const InverseArgs& v, uint32_t row) { return hash_of(v, row) < v.nodes; }

// The symbol of a row. For the sentinel's row it is undefined, and may be a byte of the padding.
__device__ inline uint32_t symbol_of(const InverseArgs& v, uint32_t row) { return v.bytes[row - (row > v.primary)]; }

// The node at which a walk ended, and its length in symbols.
struct Stretch {
    uint32_t node, length;
    bool found;
};

// Walks from a row to the next node, at least one step.
__device__ inline Stretch walk(const InverseArgs& v, uint32_t row) {
    uint32_t length = 0;
    for (;;) {
        const uint2 jump = __ldcg(v.lf_squared + row);
        row = jump.x;
        if (jump.y & FIRST_IS_NODE) return {hash_of(v, row), length + 1, true};
        length += 2;
        if (jump.y & SECOND_IS_NODE) return {hash_of(v, row), length, true};
        if (length >= v.longest) return {0, length, false};
    }
}

// Writes the bytes of a word, lowest first, to text[at..end - 1]: 8 aligned ones, or fewer.
__device__ inline void store(uint8_t* text, uint32_t at, uint32_t end, uint64_t word) {
    if (end - at == 8) {
        *reinterpret_cast<uint64_t*>(text + at) = word;
        return;
    }
    for (; at < end; at++, word >>= 8) text[at] = static_cast<uint8_t>(word);
}

// A word of 8 aligned symbols of a chunk.
__device__ inline uint64_t* word_at(const InverseArgs& v, uint32_t chunk, uint32_t at) {
    return reinterpret_cast<uint64_t*>(v.symbols + static_cast<uint64_t>(chunk) * v.chunk_size + at);
}

}  // namespace

// counts[c * tiles + t] = number of symbols c in tile t of the piece. A CTA has one tile. A thread
// has 16 neighbouring symbols, and counts equal neighbours together.
extern "C" __global__ void __launch_bounds__(THREADS) count_tiles(const InverseArgs v) {
    static_assert(INVERSE_TILE == 16 * THREADS && THREADS == 256, "a thread has 16 symbols, and one to sum up");
    static_assert(TEXT_PADDING >= 16, "16 symbols may be read where one is");
    __shared__ uint32_t counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    const uint32_t from = (v.first_tile + blockIdx.x) * INVERSE_TILE + threadIdx.x * 16;
    if (from < v.n) {
        const uint32_t items = min(16u, v.n - from);
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
extern "C" __global__ void __launch_bounds__(THREADS) count_piece(const InverseArgs v) {
    static_assert(THREADS == 256, "a thread has a symbol");
    __shared__ uint32_t sums[256];
    const uint32_t c = threadIdx.x, end = (v.first_tile + v.tiles) * INVERSE_TILE;
    const uint32_t size = min(v.n, end) - v.first_tile * INVERSE_TILE;
    const uint32_t before = v.counts[c * v.tiles], after = c == 255 ? size : v.counts[(c + 1) * v.tiles];
    const uint32_t count = v.firsts[c];
    v.offsets[c] = count - before;
    sums[c] = count + after - before;
    if (end < v.n) {
        v.firsts[c] = sums[c];
        return;
    }
    // Row 0 starts with no symbol.
    uint32_t first = 1;
    __syncthreads();
    for (uint32_t other = 0; other < c; other++) first += sums[other];
    v.firsts[c] = first;
}

// Computes ranks from the counts of all symbols before each tile. Each warp has a part of the tile,
// and takes 32 neighbours at a time.
extern "C" __global__ void __launch_bounds__(THREADS) rank_tiles(const InverseArgs v) {
    constexpr uint32_t NONE = 256;
    __shared__ uint32_t counts[WARPS][256];
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const uint32_t from = (v.first_tile + blockIdx.x) * INVERSE_TILE + warp * (INVERSE_TILE / WARPS) + lane;
    uint32_t symbols[TILE_ROUNDS], ranks[TILE_ROUNDS];
#pragma unroll
    for (uint32_t k = 0; k < TILE_ROUNDS; k++) symbols[k] = from + 32 * k < v.n ? v.bytes[from + 32 * k] : NONE;
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
        const uint32_t i = from + 32 * k;
        if (i < v.n) v.ranks[i + (i >= v.primary)] = counts[warp][symbols[k]] + ranks[k];
    }
}

// Makes the LF squared table from ranks. Equal symbols of neighbouring rows have neighbouring LF,
// so reading there is no random access.
extern "C" __global__ void __launch_bounds__(THREADS) square_lf(const InverseArgs v) {
    static_assert(THREADS == 256, "a thread has a symbol");
    __shared__ uint32_t firsts[256];
    firsts[threadIdx.x] = v.firsts[threadIdx.x];
    __syncthreads();
    const uint32_t row = global_thread();
    if (row > v.n) return;
    const auto step = [&](uint32_t row, uint32_t symbol) {
        return row == v.primary ? 0 : firsts[symbol] + v.ranks[row];
    };
    const uint32_t symbol = symbol_of(v, row), first = step(row, symbol);
    const uint32_t other = symbol_of(v, first), second = step(first, other);
    const bool ends = is_node(v, first);
    const uint32_t nodes = (ends ? FIRST_IS_NODE : 0) | (is_node(v, second) ? SECOND_IS_NODE : 0);
    v.lf_squared[row] = make_uint2(ends ? first : second, symbol | other << 8 | nodes);
}

// Writes the symbols, links and lengths of all stretches. The first chunk of a node has its number;
// a stretch that does not fit goes on in another chunk. Symbols come from the last to the first,
// and are written 8 at a time.
extern "C" __global__ void __launch_bounds__(THREADS) walk_stretches(const InverseArgs v) {
    const uint32_t node = global_thread();
    if (node >= v.nodes) return;
    uint32_t row = row_of(v, node), length = 0, next = 0, chunk = node;
    uint32_t room = v.chunk_size;  // in the chunk
    uint64_t word = 0;
    bool ended = row > v.n;
    while (!ended && length < v.longest) {
        const uint2 jump = __ldcg(v.lf_squared + row);
        ended = jump.y & (FIRST_IS_NODE | SECOND_IS_NODE);
        row = jump.x;
        for (uint32_t s = 0; s < (jump.y & FIRST_IS_NODE ? 1 : 2); s++) {
            if (room == 0) {
                const uint32_t further = atomicAdd(v.used, 1u);
                v.chunks[further] = make_uint2(node, length);
                chunk = v.nodes + further;
                room = v.chunk_size;
            }
            word = word << 8 | (jump.y >> 8 * s & 255);
            length++;
            room--;
            if (room % 8 == 0) *word_at(v, chunk, room) = word;
        }
        if (ended) next = hash_of(v, row);
    }
    if (room % 8 != 0) *word_at(v, chunk, room / 8 * 8) = word << 8 * (room % 8);
    // A stretch that is given up links to node 0, at which all links end. The sum at node 0 is then
    // too small.
    v.links[node] = make_uint2(next, length);
    v.lengths[node] = length;
}

// Doubles the reach of links. Those to node 0, at which the cycle ends, stay.
extern "C" __global__ void __launch_bounds__(THREADS) follow(const InverseArgs v) {
    const uint32_t node = global_thread();
    if (node >= v.nodes) return;
    uint2 link = v.links[node];
    if (link.x != 0) {
        const uint2 next = v.links[link.x];
        link = make_uint2(next.x, link.y + next.y);
    }
    v.followed[node] = link;
}

// Checks that the cycle of row 0 has all rows, and that each sample has its place on it: the suffix
// at p has p symbols and the sentinel's entry before it.
extern "C" __global__ void __launch_bounds__(THREADS) check(const InverseArgs v) {
    const uint32_t k = global_thread();
    if (k == 0 && v.links[0].y != v.n + 1) *v.contradictions = 1;
    if (k >= v.sample_count) return;
    const uint32_t row = v.samples[k];
    Stretch stretch = {hash_of(v, row), 0, true};
    if (stretch.node >= v.nodes) stretch = walk(v, row);
    const uint32_t beyond = stretch.node == 0 ? 0 : v.links[stretch.node].y;
    if (!stretch.found || stretch.length + beyond != (k << v.log_rate) + 1) *v.contradictions = 1;
}

// Copies the symbols of all chunks that belong to text[from..to - 1] there, if this is the BWT of a
// text. A thread has one chunk, and goes from its end.
extern "C" __global__ void __launch_bounds__(THREADS) place(const InverseArgs v) {
    const uint32_t chunk = global_thread();
    if (v.links[0].y != v.n + 1 || chunk >= v.nodes + *v.used) return;
    const uint2 part = chunk < v.nodes ? make_uint2(chunk, 0) : v.chunks[chunk - v.nodes];
    uint32_t at = v.links[part.x].y - part.y, end = at;
    // Most chunks lie elsewhere. A number that has no node has a length of 0, at 0.
    if (end <= v.from || end >= v.to + v.chunk_size) return;
    const uint32_t start = at - min(v.lengths[part.x] - part.y, v.chunk_size);
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
                if (at >= v.from && at < v.to) store(v.text, at, end, out);
                end = at;
            }
        }
    }
}
