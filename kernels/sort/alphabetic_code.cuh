// The text as a stream of code bits. The code is alphabetic (src/gpu/sort/alphabetic_code.rs):
// coded texts compare as the texts do, however many of their first bits are compared, and equal
// bits hold equal whole symbols. Entry c of a code table is the code of symbol c << 8 | its number
// of bits, which is 1 to 24.
#pragma once

#include "block/text.cuh"

// The bits of `symbols` whole symbols, with the last bit lowest.
struct Bits {
    uint64_t key;
    uint32_t used, symbols;
};

// Takes the codes of the symbols from a position on, until the next code does not fit into `width`
// bits or `most` symbols are taken. Returns true if a code did not fit; the key then also holds its
// first bits, and is full.
__device__ __forceinline__ bool take(const uint32_t* code_table, const uint8_t* bytes, uint32_t at, uint32_t most,
                                     uint32_t width, Bits& bits) {
    const uint64_t* words = reinterpret_cast<const uint64_t*>(bytes) + (at >> 3);
    const uint32_t shift = (at & 7) * 8;
    const uint64_t w0 = __ldg(words), w1 = __ldg(words + 1), w2 = __ldg(words + 2);
    uint64_t now = join(w0, w1, shift), next = join(w1, w2, shift);
    // The key is kept in two halves, since shifts of 64 bits take several instructions.
    uint32_t high = 0, low = 0, used = 0, i = 0;
    bool full = false;
    while (i < most) {
        const uint32_t code = code_table[static_cast<uint32_t>(now) & 255], length = code & 255;
        now >>= 8;
        if (used + length > width) {
            const uint32_t room = width - used;
            const uint64_t key = (static_cast<uint64_t>(high) << 32 | low) << room | (code >> 8) >> (length - room);
            high = static_cast<uint32_t>(key >> 32);
            low = static_cast<uint32_t>(key);
            full = true;
            break;
        }
        high = __funnelshift_l(low, high, length);
        low = low << length | code >> 8;
        used += length;
        i++;
        if ((i & 7) == 0) {
            now = next;
            if (i > 8) now = load8(bytes, at + i);
        }
    }
    bits.key = static_cast<uint64_t>(high) << 32 | low;
    bits.used = used;
    bits.symbols = i;
    return full;
}

// Bits padded to `width` with zeros, like those of the end of the text.
__device__ __forceinline__ uint64_t padded(const Bits& bits, bool full, uint32_t width) {
    if (full) return bits.key;
    return bits.used ? bits.key << (width - bits.used) : 0;
}

// The first `width` bits of the text from a position on, and the number of whole symbols in them.
__device__ __forceinline__ uint64_t encode(const uint32_t* code_table, TextView text, uint32_t at, uint32_t width,
                                           uint32_t& symbols) {
    Bits bits;
    const bool full = take(code_table, text.bytes, at, text.n - at, width, bits);
    symbols = bits.symbols;
    return padded(bits, full, width);
}
