// Decodes slices of static rANS into a BWT, with one warp per slice.
//
// A run takes one step, in which both halves of the warp decode a bucket at once. Each lane
// compares the slot of its half's state with the start of its symbol. One ballot gives both
// symbols, and one shuffle the new states. The tables of a run depend on nothing later than the run
// before the last, and its symbol is known as early. So the tables of the next run are looked up
// meanwhile, and a step takes hardly longer than the states do. One branch per step handles all
// that is rare in text: extra bits, MTF ranks of 8 and more, and other words.
//
// The MTF list: all lanes have its first eight symbols, and each of 31 lanes has eight of the
// others.
//
// Whatever the coded bytes are, nothing is read or written outside of the slice. Each step writes
// at least one byte, and a slice ends when its raw size is reached.

#include <cstddef>

#include "coder/decode_states.cuh"

// A slice: its range in the coded bytes of all slices, and its range in the BWT, in bytes.
struct SHARED CodedSlice {
    uint32_t coded_start, coded_size;
    uint32_t raw_start, raw_size;
};

// The slices of a block. Sizes are at least 1, a coded size is at most the raw size, and all slices
// lie within `coded` and `bwt`.
struct SHARED DecodeArgs {
    const ContextMaps* maps;
    const uint32_t* tables;      // [0..16 * MODEL_TABLES - 1] first slot; from bit 16 on the number
    const uint8_t* alphabet;     // [0..255] 1 if a byte occurs in the BWT, else 0
    const CodedSlice* slices;    // [0..slice_count - 1]
    const uint8_t* coded;        // followed by 8 readable bytes
    uint8_t* bwt;
    uint32_t* flaws;             // [0..slice_count - 1] a Flaw for each slice
    uint32_t slice_count;
};

namespace {

// Flaw of a slice. src/gpu/bwt_decoder/tests.rs has the CPU's words for each.
enum Flaw {
    WHOLE = 0,
    ENDS_EARLY = 1,
    SMALL_STATE = 2,
    WIDE_RUN = 3,
    LONG_RUN = 4,
    LAST_RANK = 5,
    END_STATE = 6,
    WORDS_LEFT = 7,
    LARGE_RANK = 8,
};

// Number of items per warp and per half of a warp, indexed by symbol and NO_SYMBOL.
constexpr uint32_t AVERAGES_OF_WARP = NO_SYMBOL + 4, OWN_OF_HALF = NO_SYMBOL + 4;

struct Shared {
    uint32_t tables[TABLE_WORDS];
    ContextMaps maps;
    uint32_t what_is_added[256];  // by 16 * bucket of the run length + bucket of the MTF rank
    uint32_t selectors[8];        // of the two byte permutations that move the front to a rank
    uint32_t averages[CODER_WARPS * AVERAGES_OF_WARP];
    // by symbol, for each half of each warp: leaf of run lengths, own node of MTF ranks
    uint8_t own[CODER_WARPS * 2 * OWN_OF_HALF];
};

// Byte selectors that move the front of 8 symbols to rank bucket + 1, 1 to 7. With 7 all symbols
// stay.
__device__ __forceinline__ uint32_t selectors(uint32_t bucket) {
    uint32_t selectors = 0;
    for (uint32_t k = 0; k < 8; k++) {
        const uint32_t from = bucket == 7 ? k : k <= bucket ? k + 1 : (k == bucket + 1 ? 0 : k);
        selectors |= (from & 7) << (4 * k);
    }
    return selectors;
}

// Like __byte_perm, but without clearing bits of the selectors, which are clear already.
__device__ __forceinline__ uint32_t permuted(uint32_t first, uint32_t second, uint32_t selectors) {
    uint32_t bytes;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(first), "r"(second), "r"(selectors));
    return bytes;
}

// The symbols by MTF rank.
struct MtfList {
    uint32_t head[2];  // the first eight, in all lanes
    uint32_t rest[2];  // lane k has those of ranks 8 * k + 8 to 8 * k + 15

    // Loads the 256 symbols from shared memory.
    __device__ __forceinline__ void load(const uint8_t* list, uint32_t lane) {
        const uint32_t* words = reinterpret_cast<const uint32_t*>(list);
        head[0] = words[0];
        head[1] = words[1];
        rest[0] = lane < 31 ? words[2 * lane + 2] : 0;
        rest[1] = lane < 31 ? words[2 * lane + 3] : 0;
    }

    // Moves the front to a rank from 1 to 7.
    __device__ __forceinline__ void put_near(uint32_t selectors) {
        const uint32_t first = head[0], second = head[1];
        head[0] = permuted(first, second, selectors);
        head[1] = permuted(first, second, selectors >> 16);
    }

    // Moves the front to a rank from 8 to 255. Each lane before that of the rank gives its first
    // symbol to the lane before it, and appends the next lane's first symbol. The lane of the rank
    // inserts the front, as if it were the front of its own eight.
    __device__ __forceinline__ void put_far(const uint32_t* all_selectors, uint32_t mtf_rank, uint32_t lane) {
        const uint32_t up = __shfl_sync(ALL_LANES, rest[0], 0), after = __shfl_down_sync(ALL_LANES, rest[0], 1);
        const uint32_t last = (mtf_rank - 8) / 8;
        const uint32_t selectors = all_selectors[lane < last ? 6 : (mtf_rank - 1) & 7];
        const uint32_t first = __byte_perm(rest[0], lane < last ? after : head[0], 0x3214), second = rest[1];
        const uint32_t moved[2] = {permuted(first, second, selectors), permuted(first, second, selectors >> 16)};
        // No branch, so that the compiler knows that all lanes stay together.
        rest[0] = lane <= last ? moved[0] : rest[0];
        rest[1] = lane <= last ? moved[1] : rest[1];
        head[0] = __funnelshift_r(head[0], head[1], 8);
        head[1] = head[1] >> 8 | up << 24;
    }
};

// Decodes the first symbols of a slice into `list`, and fills it up to 256. Returns their number.
__device__ uint32_t take_symbols(States& states, const uint8_t* alphabet, uint8_t* list) {
    // A bit for each of eight bytes, set if it occurs and is not in the list yet.
    const uint32_t lane = states.lane;
    uint32_t left = 0;
    for (uint32_t k = 0; k < 8; k++) {
        left |= (alphabet[8 * lane + k] ? 1u : 0u) << k;
        list[8 * lane + k] = 0;
    }
    uint32_t before = __popc(left);
    for (uint32_t o = 1; o < 32; o <<= 1) {
        const uint32_t other = __shfl_up_sync(ALL_LANES, before, o);
        if (lane >= o) before += other;
    }
    // An alphabet is never empty; the maximum keeps the shifts and divisions below defined.
    uint32_t all = max(__shfl_sync(ALL_LANES, before, 31), 1u);
    before -= __popc(left);
    __syncwarp();
    const uint32_t count = states.take_uniform(all) + 1;
    for (uint32_t i = 0; i < count; i++, all--) {
        const uint32_t wanted = states.take_uniform(all);
        const bool found = wanted >= before && wanted < before + __popc(left);
        if (wanted < before) before--;
        if (found) {
            uint32_t bits = left;
            for (uint32_t k = wanted - before; k > 0; k--) bits &= bits - 1;
            list[i] = 8 * lane + __ffs(bits) - 1;
            left ^= bits & -bits;
        }
    }
    __syncwarp();
    return count;
}

// Writes the bytes of a run behind its first 32.
__device__ __forceinline__ void write_rest(uint8_t* out, uint32_t len, uint32_t symbol, uint32_t lane) {
    if (len <= 32) return;
    uint32_t at = 32 + lane;
    const uint32_t ahead = static_cast<uint32_t>(-reinterpret_cast<uintptr_t>(out + 32)) & 15;
    if (len >= 1024) {
        if (lane < ahead) out[at] = symbol;
        const uint32_t four = symbol * 0x01010101u, pieces = (len - 32 - ahead) / 16;
        uint4* to = reinterpret_cast<uint4*>(out + 32 + ahead);
#pragma unroll 1
        for (uint32_t i = lane; i < pieces; i += 32) to[i] = make_uint4(four, four, four, four);
        at += ahead + 16 * pieces;
    }
#pragma unroll 1
    for (; at < len; at += 32) out[at] = symbol;
}

// Keeps a number in a register, since the compiler would compute it again in each step.
__device__ __forceinline__ uint32_t kept(uint32_t number) {
    asm volatile("" : "+r"(number));
    return number;
}

// Offsets in shared memory of the data of one half of a warp.
struct HalfView {
    uint32_t averages, own, tables;
    uint32_t own_map;  // bytes from the beginning of the maps on

    __device__ __forceinline__ HalfView(uint32_t warp, uint32_t lane) {
        const uint32_t half = lane / 16;
        averages = kept(warp * AVERAGES_OF_WARP);
        own = kept((2 * warp + half) * OWN_OF_HALF);
        tables = kept((half ? 16 * RUN_LEAVES : 0) + (lane & 15));
        own_map = kept(half ? offsetof(ContextMaps, own_rank) : offsetof(ContextMaps, run_leaf));
    }
};

// Decodes the runs of a slice after its states. All threads of the warp take the same path.
//
// Most of a step is waiting: for shared memory, votes and shuffles. So independent work is
// interleaved, in the order in which it becomes ready.
__device__ uint32_t decode_runs(Shared& shared, uint32_t warp, const uint8_t* alphabet, States states, uint32_t odd,
                                uint8_t* out, uint32_t size) {
    const uint32_t lane = states.lane, half = states.half;
    const HalfView at(warp, lane);
    const uint8_t* maps = reinterpret_cast<const uint8_t*>(&shared.maps);
    // The averages are not in use yet.
    uint8_t* symbols = reinterpret_cast<uint8_t*>(shared.averages + at.averages);
    const uint32_t count = take_symbols(states, alphabet, symbols);
    MtfList list;
    list.load(symbols, lane);
    __syncwarp();
    for (uint32_t i = lane; i < AVERAGES_OF_WARP; i += 32) shared.averages[at.averages + i] = 0;
    for (uint32_t i = lane % 16; i < OWN_OF_HALF; i += 16) shared.own[at.own + i] = maps[at.own_map];
    __syncwarp();

    uint32_t symbol = list.head[0] & 255, left = size, all = 0;
    const uint32_t first_own = maps[at.own_map];
    uint32_t entry = shared.tables[at.tables + 16 * (half ? shared.maps.rank_leaf[8 * first_own] : first_own)];
    // For the run before: its symbol, the amount it adds, and the quantised averages of its symbol.
    uint32_t last_symbol = NO_SYMBOL, what = ROUNDING, run_context = 0, rank_context = 0;
    uint32_t symbol_averages = 0;
    uint8_t* to = out;
    // Bound on MTF ranks, each less one, within both the list and its first eight symbols.
    const uint32_t near_ranks = min(count - 1, 7u);
    const uint32_t low_half = kept(half ? 0xFFFF0000 : 0x0000FFFF), base = kept(16 * half - 1);
    for (;;) {
        // Both buckets. The amount that the run adds is looked up as if it had no extra bits.
        const uint32_t slot = states.state & SLOT_MASK, start = entry & 0xFFFF;
        const uint32_t found = __ballot_sync(ALL_LANES, slot >= start);
        uint32_t run_number = __popc(found & 0xFFFF) - 1, rank_number = __popc(found >> 16) - 1;
        uint32_t next_what = shared.what_is_added[16 * run_number + rank_number];
        const uint32_t selectors = shared.selectors[rank_number & 7];
        // The context of the last symbol, and the average of all symbols for the next run.
        const uint32_t last_own = maps[at.own_map + own_context(run_context, rank_context, what >> 24)];
        const uint32_t next_symbol = list.head[0] >> 8 & 255;
        // An entry that is being written is not read: NO_SYMBOL is read in its place.
        const uint32_t kept_own = shared.own[at.own + (next_symbol == last_symbol ? NO_SYMBOL : next_symbol)];
        all = added_to_all(all, what);
        const uint32_t around = shared.maps.all_rank_context[all];

        // The states.
        const uint32_t moved = (entry >> 16) * (states.state >> SLOT_BITS) + slot - start;
        const uint32_t next_state = __shfl_sync(ALL_LANES, moved, __popc(found & low_half) + base);
        shared.own[at.own + last_symbol] = last_own;
        const uint32_t next_own = next_symbol == last_symbol ? last_own : kept_own;
        const uint32_t rank_leaf = shared.maps.rank_leaf[8 * (next_own & 127) + around];
        const uint32_t low = __ballot_sync(ALL_LANES, next_state < LOWER_BOUND);
        // The rank half takes the second word if the run half takes one, as lane 0 tells.
        const uint32_t word = low & half ? states.words.pair >> 16 : states.words.pair & 0xFFFF;
        states.state = next_state < LOWER_BOUND ? next_state << 16 | word : next_state;
        const uint32_t next_entry = shared.tables[at.tables + 16 * (half ? rank_leaf : next_own)];
        states.words.passed += __popc(low & 0x00010001);

        // Updates the model state by the run. The rest of the update is done beside the next run.
        const auto end_run = [&](uint32_t len) {
            what = next_what;
            const uint32_t averages = added(symbol_averages, what);
            // Every lane writes the entry that it will read, and none that it reads here. The
            // barrier orders the reads and writes of one run before the writes of the next.
            __syncwarp();
            shared.averages[at.averages + symbol] = averages;
            run_context = shared.maps.run_context[averages & 1023];
            rank_context = shared.maps.rank_context[averages >> RANK_SHIFT];
            symbol_averages = shared.averages[at.averages + next_symbol];
            if (lane < len) to[lane] = symbol;
            to += len;
            left -= len;
            last_symbol = symbol;
            symbol = next_symbol;
            entry = next_entry;
        };
        // A branch takes as long as several lookups, so all rare cases share one.
        const bool is_long = run_number >= min(left - 1, DIRECT), is_far = rank_number >= near_ranks;
        const bool is_rare = is_long | is_far | states.words.is_through();
        if (!is_rare) {
            states.words.look();
            list.put_near(selectors);
            end_run(run_number + 1);
            continue;
        }
        if (states.words.is_through()) states.words.go_on(lane);
        states.words.look();
        if (found & (1u << DIRECT | 1u << (DIRECT + 16))) {
            if (run_number == LAST_BUCKET) {
                const uint32_t width = LAST_BUCKET_WIDTH + states.take_plain(0, 5);
                if (width > 30) return WIDE_RUN;
                run_number = states.take_long_extra(0, width, shared.tables);
            } else if (run_number >= DIRECT) {
                run_number = states.take_extra(0, run_number - 8, shared.tables);
            }
            if (rank_number >= DIRECT) rank_number = states.take_extra(1, rank_number - 8, shared.tables);
            next_what = what_is_added(shared.maps.roots, run_number, rank_number);
        }
        const uint32_t len = run_number + 1;
        if (len >= left || rank_number + 1 >= count) {
            if (len > left) return LONG_RUN;
            if (len < left) return LARGE_RANK;
            if (lane < len) to[lane] = symbol;
            write_rest(to, len, symbol, lane);
            if (rank_number > 0) return LAST_RANK;
            if (!__all_sync(ALL_LANES, states.state == LOWER_BOUND)) return END_STATE;
            return states.words.taken() == states.words.count && !odd ? WHOLE : WORDS_LEFT;
        }
        write_rest(to, len, symbol, lane);
        end_run(len);
        if (rank_number < 7) {
            list.put_near(selectors);
        } else {
            list.put_far(shared.selectors, rank_number + 1, lane);
        }
    }
}

__device__ __forceinline__ uint32_t word_at(const uint8_t* bytes) {
    return __ldg(bytes) | __ldg(bytes + 1) << 8 | __ldg(bytes + 2) << 16 | __ldg(bytes + 3) << 24;
}

// Decodes a slice with one warp. Returns its flaw.
__device__ uint32_t decode_slice(const DecodeArgs& v, Shared& shared, uint32_t warp, const CodedSlice& slice) {
    const uint8_t* coded = v.coded + slice.coded_start;
    uint8_t* out = v.bwt + slice.raw_start;
    States states;
    states.lane = threadIdx.x % 32;
    states.half = states.lane / 16;
    if (slice.coded_size == slice.raw_size) {
        for (uint32_t i = states.lane; i < slice.raw_size; i += 32) out[i] = __ldg(coded + i);
        return WHOLE;
    }
    if (slice.coded_size < 8) return ENDS_EARLY;
    states.state = word_at(coded + 4 * states.half);
    if (__any_sync(ALL_LANES, states.state < LOWER_BOUND)) return SMALL_STATE;
    states.words.begin(coded + 8, (slice.coded_size - 8) / 2, states.lane);
    return decode_runs(shared, warp, v.alphabet, states, slice.coded_size % 2, out, slice.raw_size);
}

}  // namespace

// One CTA decodes CODER_WARPS slices.
extern "C" __global__ void __launch_bounds__(32 * CODER_WARPS) decode_slices(const DecodeArgs v) {
    __shared__ Shared shared;
    copy_words(shared.tables, v.tables, TABLE_WORDS);
    copy_words(&shared.maps, v.maps, sizeof(ContextMaps) / 4);
    if (threadIdx.x < 8) shared.selectors[threadIdx.x] = selectors(threadIdx.x);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < 256; i += blockDim.x) {
        shared.what_is_added[i] = what_is_added(shared.maps.roots, i / 16, i % 16);
    }
    __syncthreads();
    const uint32_t warp = warp_number(), number = blockIdx.x * CODER_WARPS + warp;
    if (number >= v.slice_count) return;
    const uint32_t flaw = decode_slice(v, shared, warp, v.slices[number]);
    if (threadIdx.x % 32 == 0) v.flaws[number] = flaw;
}
