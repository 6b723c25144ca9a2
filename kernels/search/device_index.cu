// Searches many patterns at a time in an FM-index: their intervals by backward search, and the
// positions of rows by walks along LF.

#include "search/occ.cuh"

const uint32_t ALL = 0xFFFFFFFF, NO_POS = 0xFFFFFFFF;

// [in]  text [0..8 * ceil(starts[count] / 8)), starts [0..count]: pattern k is
// text[starts[k]..starts[k + 1])
//
// [out] rows [0..2 * count): both ends of the interval of each pattern
struct SHARED SearchArgs {
    IndexView index;
    const uint64_t* text;
    const uint32_t* starts;
    uint32_t* rows;
    uint32_t count;
};

// The sampled rows: a bit per row, the number of sampled rows before each group of 512, and the
// number of the sample at each sampled row.
struct SHARED SamplesView {
    const uint64_t* marks;
    const uint32_t* ranks;
    const uint32_t* numbers;
    uint32_t rate, none;
};

// [in]  rows [0..count), each at most n
//
// [out] positions [0..count): NO_POS if the samples contradict the BWT
struct SHARED LocateArgs {
    IndexView index;
    SamplesView samples;
    const uint32_t* rows;
    uint32_t* positions;
    uint32_t count;
};

__device__ inline void load_tables(SymbolTables& tables, const IndexView& index) {
    const uint32_t* from = reinterpret_cast<const uint32_t*>(index.tables);
    uint32_t* to = reinterpret_cast<uint32_t*>(&tables);
    for (uint32_t i = threadIdx.x; i < sizeof(SymbolTables) / 4; i += blockDim.x) to[i] = from[i];
    __syncthreads();
}

// A search in progress, from the last symbol of its pattern to the first, for one end of the
// interval.
struct PatternSearch {
    const uint64_t* text;
    uint64_t word;       // the eight symbols around `at`
    uint32_t begin, at;  // the rest of the pattern
    uint32_t row;

    __device__ uint32_t next() {
        at--;
        if (at % 8 == 7) word = __ldg(text + at / 8);
        return word >> (8 * (at % 8)) & 255;
    }

    __device__ void rewind(uint32_t end) {
        at = end;
        if (end > begin) word = __ldg(text + (end - 1) / 8);
    }

    // Starts a search. If the k-mer table has the interval of the last symbols, it begins behind
    // them.
    __device__ void start(const SearchArgs& job, const SymbolTables& tables, uint32_t number, uint32_t upper) {
        const IndexView& index = job.index;
        const uint32_t end = __ldg(job.starts + number + 1);
        begin = __ldg(job.starts + number);
        row = upper ? index.n + 1 : 0;
        rewind(end);
        if (index.kmer_length == 0 || end - begin < index.kmer_length) return;
        uint32_t kmer = 0, digit = 1;
        for (uint32_t k = 0; k < index.kmer_length; k++, digit *= index.kmer_sigma) {
            const uint32_t code = tables.kmer_codes[next()];
            if (code == NO_CODE) return rewind(end);
            kmer += code * digit;
        }
        const uint2 interval = __ldg(index.kmers + kmer);
        row = upper ? interval.y : interval.x;
    }

    // Moves the end of the interval of P to that of cP, c being the next symbol.
    template <class Occ>
    __device__ void step(const IndexView& index, const SymbolTables& tables) {
        const uint32_t c = next(), first = tables.starts[c];
        // If c does not occur in the block, both ends become 0, since its code has no meaning.
        row = first == tables.starts[c + 1] ? 0 : first + Occ::occ(index, tables, c, index.stored(row));
    }
};

// Two neighbouring threads search each pattern, one for each end of its interval. As soon as the
// interval is narrow they read the same line, which is then loaded once. A pair that has finished
// goes on with another pattern while its neighbours still search.
template <class Occ>
__device__ void search(const SearchArgs& job) {
    __shared__ SymbolTables tables;
    load_tables(tables, job.index);
    const uint32_t upper = threadIdx.x % 2, pairs = gridDim.x * blockDim.x / 2;
    uint32_t number = global_thread() / 2;
    PatternSearch pattern = {job.text, 0, 0, 0, 0};
    if (number < job.count) pattern.start(job, tables, number, upper);
    while (__any_sync(ALL, number < job.count)) {
        const uint32_t other = __shfl_xor_sync(ALL, pattern.row, 1);
        if (number >= job.count) continue;
        if (pattern.at != pattern.begin && pattern.row != other) {
            pattern.step<Occ>(job.index, tables);
            continue;
        }
        job.rows[2 * number + upper] = pattern.row;
        number += pairs;
        if (number < job.count) pattern.start(job, tables, number, upper);
    }
}

// The position of a row if it is sampled, else NO_POS.
__device__ inline uint32_t sampled_pos(const SamplesView& samples, uint32_t row) {
    const uint64_t word = __ldg(samples.marks + row / 64);
    if ((word >> (row % 64) & 1) == 0) return NO_POS;
    uint32_t rank = __ldg(samples.ranks + row / 512);
    for (uint32_t w = row / 512 * 8; w < row / 64; w++) rank += __popcll(__ldg(samples.marks + w));
    rank += __popcll(word & ((1ull << (row % 64)) - 1));
    return __ldg(samples.numbers + rank) * samples.rate;
}

// Each thread makes one walk after the other.
template <class Occ>
__device__ void locate(const LocateArgs& job) {
    __shared__ SymbolTables tables;
    const IndexView& index = job.index;
    load_tables(tables, index);
    const uint32_t threads = gridDim.x * blockDim.x;
    uint32_t number = global_thread(), steps = 0;
    uint32_t row = number < job.count ? job.rows[number] : 0;
    while (number < job.count) {
        const uint32_t pos = sampled_pos(job.samples, row);
        if (pos == NO_POS && steps < job.samples.rate) {
            const uint32_t above = index.stored(row);
            // The primary index has no byte, so any byte will do: in an intact block no walk goes
            // on from there.
            const uint32_t c = Occ::byte(index, tables, min(above, index.n - 1));
            row = min(tables.starts[c] + Occ::occ(index, tables, c, above), index.n);
            steps++;
            continue;
        }
        // The sum itself is not compared, since it may exceed 2^32.
        const bool sound = pos != NO_POS && pos <= index.n && steps <= index.n - pos;
        job.positions[number] = sound ? pos + steps : NO_POS;
        number += threads;
        steps = 0;
        if (number < job.count) row = job.rows[number];
    }
}

#define KERNELS(NAME, OCC)                                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS) search_##NAME(SearchArgs job) { search<OCC>(job); }    \
    extern "C" __global__ void __launch_bounds__(THREADS) locate_##NAME(LocateArgs job) { locate<OCC>(job); }

KERNELS(two, BitSliced<2>)
KERNELS(three, BitSliced<3>)
KERNELS(four, BitSliced<4>)
KERNELS(bytes, ByteRank)
