// The first keys of all suffixes, and the count of symbols that their code is made from.

#include "ties.cuh"

// counts: of each byte, and a number of CTAs; 0 at the start. The last CTA puts the counts into the mailbox.
extern "C" __global__ void __launch_bounds__(THREADS)
    count_bytes(const uint8_t* bytes, uint32_t n, uint32_t* counts, uint32_t* mailbox) {
    const uint32_t WARPS = THREADS / 32;
    __shared__ uint32_t own[WARPS][256];
    __shared__ bool last;
    const uint32_t tid = threadIdx.x;
    for (uint32_t w = 0; w < WARPS; w++) own[w][tid] = 0;
    __syncthreads();
    uint32_t* mine = own[tid / 32];
    const uint4* fours = reinterpret_cast<const uint4*>(bytes);
    for (uint32_t i = blockIdx.x * THREADS + tid; i < n / 16; i += gridDim.x * THREADS) {
        const uint4 four = __ldg(fours + i);
        const uint32_t words[4] = {four.x, four.y, four.z, four.w};
        for (uint32_t word : words) {
            // Runs would have all threads wait for one counter.
            if (word == (word & 255) * 0x01010101u) {
                atomicAdd(&mine[word & 255], 4);
                continue;
            }
            for (int b = 0; b < 4; b++) atomicAdd(&mine[(word >> (8 * b)) & 255], 1);
        }
    }
    if (blockIdx.x == 0 && tid < n % 16) atomicAdd(&mine[bytes[n / 16 * 16 + tid]], 1);
    __syncthreads();
    uint32_t sum = 0;
    for (uint32_t w = 0; w < WARPS; w++) sum += own[w][tid];
    if (sum) atomicAdd(&counts[tid], sum);
    __threadfence();
    __syncthreads();
    if (tid == 0) last = atomicAdd(&counts[256], 1) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    mailbox[MAIL_COUNTS + tid] = atomicAdd(&counts[tid], 0);
    __threadfence_system();
    __syncthreads();
    if (tid == 0) tell(mailbox, n, 0);
}

// Positions of each thread.
const uint32_t RUN = KEY_TILE / THREADS;

// Slot i gets suffix i. Its key is the first 56 bits of its code, and below them the byte before it, which goes along so
// that it need not be gathered when the suffix has found its row.
//
// Each thread goes backwards from its last position, since the key of a position is its code followed by the key of the
// next one.
extern "C" __global__ void __launch_bounds__(THREADS)
    code_keys(const uint8_t* bytes, uint32_t n, const uint32_t* code_table, uint64_t* keys, uint32_t* suffixes) {
    __shared__ uint32_t codes[256];
    __shared__ uint64_t tile[KEY_TILE + KEY_TILE / RUN];  // a word between threads keeps them in different banks
    const Text text = {bytes, n};
    load_codes(codes, code_table);
    __syncthreads();
    const uint32_t base = blockIdx.x * KEY_TILE, begin = base + threadIdx.x * RUN, end = begin + RUN;
    if (begin < n) {
        uint64_t key = 0;
        uint32_t symbols;
        if (end < n) key = encode(codes, text, end, 64, symbols);
        const uint4 run = __ldg(reinterpret_cast<const uint4*>(bytes + begin));
        const uint32_t words[4] = {run.x, run.y, run.z, run.w};
#pragma unroll
        for (int k = RUN - 1; k >= 0; k--) {
            const uint32_t code = codes[(words[k >> 2] >> (8 * (k & 3))) & 255], length = code & 255;
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
