// The first keys of all suffixes, in the alphabetic code.

#include "sort/alphabetic_code.cuh"

// Positions of each thread.
const uint32_t RUN = KEY_TILE / THREADS;

// Slot i gets suffix i. Its key is the first 56 bits of its code, and below them the byte before
// it, which goes along so that it need not be gathered when the suffix has found its row.
//
// Each thread goes backwards from its last position, since the key of a position is its code
// followed by the key of the next one.
extern "C" __global__ void __launch_bounds__(THREADS)
    code_keys(const uint8_t* bytes, uint32_t n, const uint32_t* table, uint64_t* keys, uint32_t* suffixes) {
    __shared__ uint32_t code_table[256];
    // a word between threads keeps them in different banks
    __shared__ uint64_t tile[KEY_TILE + KEY_TILE / RUN];
    const TextView text = {bytes, n};
    load_table(code_table, table);
    __syncthreads();
    const uint32_t base = blockIdx.x * KEY_TILE, begin = base + threadIdx.x * RUN;
    if (begin < n) {
        uint64_t key = 0;
        uint32_t symbols;
        if (n - begin > RUN) key = encode(code_table, text, begin + RUN, 64, symbols);
        const uint4 run = __ldg(reinterpret_cast<const uint4*>(bytes + begin));
        const uint32_t words[4] = {run.x, run.y, run.z, run.w};
#pragma unroll
        for (int k = RUN - 1; k >= 0; k--) {
            const uint32_t code = code_table[(words[k >> 2] >> (8 * (k & 3))) & 255], length = code & 255;
            key = begin + k < n ? (static_cast<uint64_t>(code >> 8) << (64 - length)) | (key >> length) : 0;
            const uint32_t before = k         ? (words[(k - 1) >> 2] >> (8 * ((k - 1) & 3))) & 255
                                    : begin ? bytes[begin - 1]
                                            : 0;
            tile[threadIdx.x * (RUN + 1) + k] = (key & ~255ull) | before;
        }
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < KEY_TILE && base + i < n; i += THREADS) {
        keys[base + i] = tile[i + i / RUN];
        suffixes[base + i] = base + i;
    }
}
