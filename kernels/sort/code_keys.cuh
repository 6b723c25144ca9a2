// The first keys of a tile of suffixes, in the alphabetic code.
#pragma once

#include "sort/alphabetic_code.cuh"

// Positions per thread.
const uint32_t RUN = KEY_TILE / THREADS;

// Keys of the suffixes from `base` on: the first 56 bits of their code, and below them the byte
// before the suffix. That byte is carried along so that it need not be gathered once the suffix has
// its row.
struct KeyTile {
    uint32_t code_table[256];
    // a word between the parts of two threads keeps them in different banks
    uint64_t keys[KEY_TILE + KEY_TILE / RUN];

    __device__ __forceinline__ uint64_t key(uint32_t i) const { return keys[i + i / RUN]; }

    // For all threads of a CTA, once the code table is loaded. Ends with a barrier.
    //
    // Each thread goes backwards from its last position, since the key of a position is its code
    // followed by the key of the next one.
    __device__ __forceinline__ void fill(TextView text, uint32_t base) {
        const uint32_t begin = base + threadIdx.x * RUN;
        if (begin < text.n) {
            uint64_t key = 0;
            uint32_t symbols;
            if (text.n - begin > RUN) key = encode(code_table, text, begin + RUN, 64, symbols);
            const uint4 run = __ldg(reinterpret_cast<const uint4*>(text.bytes + begin));
            const uint32_t words[4] = {run.x, run.y, run.z, run.w};
#pragma unroll
            for (int k = RUN - 1; k >= 0; k--) {
                const uint32_t code = code_table[(words[k >> 2] >> (8 * (k & 3))) & 255], length = code & 255;
                key = begin + k < text.n ? (static_cast<uint64_t>(code >> 8) << (64 - length)) | (key >> length) : 0;
                const uint32_t before = k         ? (words[(k - 1) >> 2] >> (8 * ((k - 1) & 3))) & 255
                                        : begin ? text.bytes[begin - 1]
                                                : 0;
                keys[threadIdx.x * (RUN + 1) + k] = (key & ~255ull) | before;
            }
        }
        __syncthreads();
    }
};
