// occ(c, at): the number of occurrences of byte c among the first `at` bytes of a BWT. The arrays
// are those of src/fm_index on the host, which bit_sliced_rank.rs and byte_rank.rs explain.
#pragma once

#include "runtime/common.cuh"

// Bytes per line, and the code of a symbol that has none.
const uint32_t LINE = 64, NO_CODE = 255;

// Tables in which every step looks up symbols. src/gpu/search/device_index.rs fills them.
struct SHARED SymbolTables {
    uint32_t starts[257];     // first row of each byte, and the number of rows
    uint8_t codes[256];       // planes: code of each byte; bytes: its column of counters
    uint8_t kmer_codes[256];  // code of each byte in the k-mer table
    uint8_t symbols[16];      // planes: symbol of each code
};

// An index in device memory. src/gpu/search/device_index.rs has the same struct.
struct SHARED IndexView {
    const SymbolTables* tables;
    // planes: a line per stretch; bytes: whole lines, the first byte at offset `skew`
    const uint4* lines;
    // absolute counters, one group per 256 lines of planes or 512 lines of bytes
    const uint32_t* supers;
    const uint16_t* counters;        // bytes: `stride` counters per border
    const uint32_t* rare_places;     // planes: positions of all symbols without a code, ascending
    const uint32_t* rare_by_symbol;  // the same positions, grouped by symbol
    const uint32_t* rare_ends;       // end of each symbol's group there
    const uint8_t* rare_symbols;     // the symbol at each of `rare_places`
    const uint2* kmers;              // interval of each string of `kmer_length` symbols
    uint32_t n, primary, rare, skew, log, stride, kmer_length, kmer_sigma;

    // The number of stored bytes above a row. The row `primary` has no stored byte.
    __device__ uint32_t stored(uint32_t row) const { return row - (row > primary); }
};

// Number of ascending positions below `at`.
__device__ inline uint32_t places_before(const uint32_t* places, uint32_t count, uint32_t at) {
    uint32_t low = 0;
    while (low < count) {
        const uint32_t middle = (low + count) / 2;
        if (__ldg(places + middle) < at) low = middle + 1;
        else count = middle;
    }
    return low;
}

// The bits below `place`, of the 32 from position `first` on.
__device__ inline uint32_t bits_below(uint32_t place, uint32_t first) {
    const uint32_t bits = place > first ? place - first : 0;
    return bits < 32 ? (1u << bits) - 1 : ~0u;
}

// A word of a line held in registers, selected by an index known only at run time.
template <uint32_t COUNT>
__device__ inline uint32_t pick(const uint32_t* words, uint32_t index) {
    uint32_t word = 0;
#pragma unroll
    for (uint32_t k = 0; k < COUNT; k++) word = k == index ? words[k] : word;
    return word;
}

// Counters and bit planes of 2^P symbols in one line.
template <uint32_t P>
struct BitSliced {
    static const uint32_t COUNTERS = 1u << (P - 1), PLANE = (LINE / 4 - COUNTERS) / P, PLACES = 32 * PLANE,
                          SUPER_LOG = 8;

    static __device__ void load(const IndexView& index, uint32_t at, uint32_t* words) {
        const uint4* line = index.lines + at / PLACES * (LINE / 16);
#pragma unroll
        for (uint32_t k = 0; k < LINE / 16; k++) {
            const uint4 four = __ldg(line + k);
            words[4 * k] = four.x, words[4 * k + 1] = four.y, words[4 * k + 2] = four.z, words[4 * k + 3] = four.w;
        }
    }

    static __device__ uint32_t occ(const IndexView& index, const SymbolTables& tables, uint32_t c, uint32_t at) {
        const uint32_t code = tables.codes[c];
        if (code == NO_CODE) {
            const uint32_t first = c ? __ldg(index.rare_ends + c - 1) : 0;
            return places_before(index.rare_by_symbol + first, __ldg(index.rare_ends + c) - first, at);
        }
        uint32_t words[LINE / 4];
        load(index, at, words);
        uint32_t count = __ldg(index.supers + ((at / PLACES >> SUPER_LOG) << P) + code);
        count += pick<COUNTERS>(words, code / 2) >> (16 * (code % 2)) & 0xFFFF;
#pragma unroll
        for (uint32_t word = 0; word < PLANE; word++) {
            uint32_t same = bits_below(at % PLACES, 32 * word);
#pragma unroll
            for (uint32_t plane = 0; plane < P; plane++) {
                same &= words[COUNTERS + plane * PLANE + word] ^ ((code >> plane & 1) - 1);
            }
            count += __popc(same);
        }
        // Symbols without a code are stored as code 0.
        return code ? count : count - places_before(index.rare_places, index.rare, at);
    }

    static __device__ uint32_t byte(const IndexView& index, const SymbolTables& tables, uint32_t at) {
        uint32_t words[LINE / 4], code = 0;
        load(index, at, words);
#pragma unroll
        for (uint32_t plane = 0; plane < P; plane++) {
            const uint32_t word = pick<PLANE>(words + COUNTERS + plane * PLANE, at % PLACES / 32);
            code |= (word >> (at % 32) & 1) << plane;
        }
        if (code == 0) {
            const uint32_t rare = places_before(index.rare_places, index.rare, at);
            if (rare < index.rare && __ldg(index.rare_places + rare) == at) return __ldg(index.rare_symbols + rare);
        }
        return tables.symbols[code];
    }
};

// The bytes themselves, with counters at borders of one or more lines.
struct ByteRank {
    static const uint32_t SUPER_LINES = 512;

    static __device__ uint32_t occ(const IndexView& index, const SymbolTables& tables, uint32_t c, uint32_t at) {
        const uint32_t place = at + index.skew, column = tables.codes[c];
        const uint32_t line = (place / LINE + (1u << index.log >> 1)) >> index.log << index.log;
        const uint32_t above = __ldg(index.supers + line / SUPER_LINES * index.stride + column) +
                               __ldg(index.counters + (line >> index.log) * index.stride + column);
        // The nearest border may lie on either side. Bytes before the first or behind the last are
        // not part of the text.
        const uint32_t border = line * LINE;
        if (border <= place) return above + count(index, c, max(border, index.skew), place);
        return above - count(index, c, place, min(border, index.skew + index.n));
    }

    static __device__ uint32_t byte(const IndexView& index, const SymbolTables&, uint32_t at) {
        return __ldg(reinterpret_cast<const uint8_t*>(index.lines) + at + index.skew);
    }

    // Number of occurrences of c at the positions from `begin` to `end`.
    static __device__ uint32_t count(const IndexView& index, uint32_t c, uint32_t begin, uint32_t end) {
        uint32_t sum = 0;
        for (uint32_t line = begin / LINE * LINE; line < end; line += LINE) {
            const uint4* fours = index.lines + line / 16;
            uint4 parts[LINE / 16];
            // All parts are requested before one is waited for.
#pragma unroll
            for (uint32_t k = 0; k < LINE / 16; k++) {
                const uint32_t at = line + 16 * k;
                parts[k] = at < end && at + 16 > begin ? __ldg(fours + k) : make_uint4(0, 0, 0, 0);
            }
#pragma unroll
            for (uint32_t k = 0; k < LINE / 16; k++) {
                const uint32_t words[4] = {parts[k].x, parts[k].y, parts[k].z, parts[k].w};
#pragma unroll
                for (uint32_t w = 0; w < 4; w++) {
                    const uint32_t at = line + 16 * k + 4 * w;
                    sum += __popc(equal(words[w], c) & bytes_below(end, at) & ~bytes_below(begin, at));
                }
            }
        }
        return sum;
    }

    // The lowest bit of each of four bytes, set if the byte is c.
    static __device__ uint32_t equal(uint32_t word, uint32_t c) {
        return __vcmpeq4(word, c * 0x01010101u) & 0x01010101u;
    }

    // The bytes below `place`, of the four from position `first` on.
    static __device__ uint32_t bytes_below(uint32_t place, uint32_t first) {
        const uint32_t bytes = place > first ? place - first : 0;
        return bytes < 4 ? (1u << (8 * bytes)) - 1 : ~0u;
    }
};
