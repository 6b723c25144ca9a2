// The text as a stream of code bits: counting the symbols that the code is made for, and the first keys of suffixes.

#include "ties.cuh"

// hist: 256 counts, 0 at the start.
extern "C" __global__ void __launch_bounds__(THREADS) count_bytes(const u8* t, u32 n, u32* hist) {
    __shared__ u32 h[8][256];
    for (int i = threadIdx.x; i < 2048; i += THREADS) (&h[0][0])[i] = 0;
    __syncthreads();
    u32* mine = h[threadIdx.x >> 5];
    const uint4* a = (const uint4*)t;
    u32 q = n / 16;
    for (u32 i = blockIdx.x * THREADS + threadIdx.x; i < q; i += gridDim.x * THREADS) {
        uint4 v = __ldg(a + i);
        u32 w[4] = {v.x, v.y, v.z, v.w};
        for (int k = 0; k < 4; k++) {
            if (w[k] == (w[k] & 255) * 0x01010101u) {
                atomicAdd(&mine[w[k] & 255], 4);
                continue;
            }
            for (int b = 0; b < 4; b++) atomicAdd(&mine[(w[k] >> (8 * b)) & 255], 1);
        }
    }
    if (blockIdx.x == 0)
        for (u32 i = q * 16 + threadIdx.x; i < n; i += THREADS) atomicAdd(&mine[t[i]], 1);
    __syncthreads();
    u32 s = 0;
    for (int k = 0; k < 8; k++) s += h[k][threadIdx.x];
    if (s) atomicAdd(&hist[threadIdx.x], s);
}

// keys[i] = first 56 bits of the code stream from i, then the byte before i; vals[i] = i.
extern "C" __global__ void __launch_bounds__(THREADS)
    code_keys(const u8* text, u32 n, const u32* lut_global, u64* keys, u32* vals) {
    __shared__ u32 lut[256];
    __shared__ u64 out[KEY_TILE + KEY_TILE / 16];
    const Text x = {text, n};
    load_lut(lut, lut_global);
    __syncthreads();
    u32 base = blockIdx.x * KEY_TILE, e = base + threadIdx.x * 16 + 16, adv;
    u64 key = 0;
    if (e < x.n) key = encode(lut, x, e, 64, adv);
    if (e - 16 < x.n) {
        uint4 v = __ldg((const uint4*)(x.t + e - 16));
        u32 w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int k = 15; k >= 0; k--) {
            u32 c = lut[(w[k >> 2] >> (8 * (k & 3))) & 255];
            key = e - 16 + k < x.n ? ((u64)(c & ~63u) << 32) | (key >> (c & 63)) : 0;
            u32 before = k ? (w[(k - 1) >> 2] >> (8 * ((k - 1) & 3))) & 255 : e > 16 ? x.t[e - 17] : 0;
            out[threadIdx.x * 17 + k] = (key & ~255ull) | before;
        }
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < KEY_TILE && base + i < x.n; i += THREADS) {
        keys[base + i] = out[i + i / 16];
        vals[base + i] = base + i;
    }
}
