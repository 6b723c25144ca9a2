// The CRC-32 of a text, as FORMAT.md has it for a block's raw bytes.
//
// A CRC is the remainder of a polynomial whose coefficients are the bits of the text. Each thread
// takes the remainder of its own chunk, four bytes at a time by tables ("slicing by four"). It
// multiplies it by x^(8 k) for the k bytes behind the chunk, modulo the polynomial of CRC-32, as
// crc32_combine of zlib does. The remainder of the text is the sum (XOR) of these products.
//
// Words are read aligned. The bytes in front of the text in its first word count as zeros, which do
// not change a remainder.

#include "runtime/common.cuh"

namespace {

// The polynomial, with the coefficient of x^0 in the highest bit, as in all numbers here.
constexpr uint32_t POLYNOMIAL = 0xEDB88320u;
constexpr uint32_t ONE = 1u << 31;

__host__ __device__ constexpr uint32_t times_x(uint32_t a) { return a & 1 ? (a >> 1) ^ POLYNOMIAL : a >> 1; }

__host__ __device__ constexpr uint32_t multiply(uint32_t a, uint32_t b) {
    uint32_t product = 0;
    for (uint32_t bit = ONE; bit; bit >>= 1) {
        if (a & bit) product ^= b;
        b = times_x(b);
    }
    return product;
}

// x^(8 * 2^k) at k. A text has less than 2^31 bytes.
struct BytePowers {
    uint32_t at[32];
};
constexpr BytePowers byte_powers() {
    BytePowers powers = {};
    uint32_t power = ONE >> 8;
    for (int k = 0; k < 32; k++) {
        powers.at[k] = power;
        power = multiply(power, power);
    }
    return powers;
}
__constant__ const BytePowers BYTE_POWERS = byte_powers();

// Multiplies a remainder by x^(8 * bytes): that of a text before as many zeros.
__device__ uint32_t move_ahead(uint32_t remainder, uint32_t bytes) {
    for (int k = 0; bytes; bytes >>= 1, k++) {
        if (bytes & 1) remainder = multiply(BYTE_POWERS.at[k], remainder);
    }
    return remainder;
}

// The remainders of every byte with 0 to 3 zeros behind it.
__device__ void make_tables(uint32_t (*tables)[256]) {
    uint32_t remainder = threadIdx.x;
    for (int table = 0; table < 4; table++) {
        for (int bit = 0; bit < 8; bit++) remainder = times_x(remainder);
        tables[table][threadIdx.x] = remainder;
    }
}

}  // namespace

// text [0..n - 1], n below 2^31, at any address; sum [0] is 0 before, and the CRC-32 after. There
// is a thread for each CHECKSUM_CHUNK bytes of the words that hold the text.
extern "C" __global__ void __launch_bounds__(THREADS) add_chunks(const uint8_t* text, uint32_t n, uint32_t* sum) {
    static_assert(THREADS == 256, "a thread for each byte of a table");
    __shared__ uint32_t tables[4][256];
    make_tables(tables);
    __syncthreads();
    const uint32_t skew = reinterpret_cast<uint64_t>(text) & 3;
    const uint8_t* bytes = text - skew;
    const uint32_t* words = reinterpret_cast<const uint32_t*>(bytes);
    const uint32_t end = skew + n;
    uint32_t at = min(global_thread() * CHECKSUM_CHUNK, end);
    const uint32_t to = min(at + CHECKSUM_CHUNK, end);
    uint32_t remainder = 0;
    for (; at + 4 <= to; at += 4) {
        const uint32_t word = words[at / 4];
        remainder ^= at ? word : word & 0xFFFFFFFFu << 8 * skew;
        remainder = tables[3][remainder & 255] ^ tables[2][remainder >> 8 & 255] ^ tables[1][remainder >> 16 & 255] ^
                    tables[0][remainder >> 24];
    }
    for (; at < to; at++) {
        const uint32_t byte = at < skew ? 0 : bytes[at];
        remainder = remainder >> 8 ^ tables[0][(remainder ^ byte) & 255];
    }
    remainder = move_ahead(remainder, end - to);
    // CRC-32 inverts the first 32 bits of the text, and its result.
    if (global_thread() == 0) remainder ^= ~move_ahead(0xFFFFFFFFu, n);
    for (int lanes = 16; lanes; lanes /= 2) remainder ^= __shfl_xor_sync(0xFFFFFFFFu, remainder, lanes);
    if (threadIdx.x % 32 == 0 && remainder) atomicXor(sum, remainder);
}
