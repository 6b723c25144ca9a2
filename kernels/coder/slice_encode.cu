// Slices by static rANS: a warp for each slice, from its last run to its first, as rANS is a stack.
//
// The run half of the warp has the state of run lengths, the rank half that of MTF ranks, and a run
// costs a step in which both take a bucket. 32 runs are prepared at a time, a lane for each. The
// CPU's way is src/coder/static_encoder.rs.

#include "coder/encode_args.cuh"

namespace {

// Slots of a symbol: the first, and from bit 16 on how many; and 2^32 over that, rounded down.
struct Slots {
    uint32_t slots, inverse;
};

__device__ __forceinline__ Slots slots_of(uint32_t start, uint32_t freq) {
    return {start | freq << 16, 0xFFFFFFFF / freq};
}

struct Shared {
    uint32_t tables[TABLE_WORDS];
    Slots prepared[CODER_WARPS][2][32];
    Slots extra[CODER_WARPS][2][32];  // of the highest extra bits, where a number has some
    uint8_t alphabet_ranks[256];  // of each byte how many smaller ones occur in the BWT
    uint32_t alphabet_size;
};

// The states, each in all lanes of its half, and the words that they have given, from the last on.
struct Stack {
    uint32_t lane, half, state;
    uint16_t* words;
    uint32_t given, room;

    __device__ __forceinline__ void give(uint32_t number) const {
        if ((lane & 15) == 0 && number < room) words[room - 1 - number] = static_cast<uint16_t>(state);
    }

    // The state with a symbol on it. It was made small enough for that.
    __device__ __forceinline__ void put(Slots symbol) {
        const uint32_t freq = symbol.slots >> 16;
        uint32_t quotient = __umulhi(state, symbol.inverse), rest = state - quotient * freq;
        // The inverse is too small by less than 1, and so is the quotient.
        if (rest >= freq) {
            quotient++;
            rest -= freq;
        }
        state = (quotient << SLOT_BITS) + rest + (symbol.slots & 0xFFFF);
    }

    // Pushes a symbol of each half, the rank half's first.
    __device__ __forceinline__ void push_both(Slots symbol) {
        const bool full = state >> 17 >= symbol.slots >> 16;
        const uint32_t who = __ballot_sync(ALL_LANES, full);
        if (full) {
            give(given + (half ? 0 : who >> 31));
            state >>= 16;
        }
        given += __popc(who & 0x00010001);
        put(symbol);
    }

    // Pushes a symbol of one half.
    __device__ __forceinline__ void push(uint32_t which, Slots symbol) {
        const bool full = half == which && state >> 17 >= symbol.slots >> 16;
        if (full) {
            give(given);
            state >>= 16;
        }
        given += __any_sync(ALL_LANES, full);
        if (half == which) put(symbol);
    }

    // Pushes a value of so many bits, all of which are equally likely.
    __device__ __forceinline__ void push_plain(uint32_t which, uint32_t value, uint32_t bits) {
        const uint32_t left = SLOT_BITS - bits;
        const bool full = half == which && state >> 17 >= 1u << left;
        if (full) {
            give(given);
            state >>= 16;
        }
        given += __any_sync(ALL_LANES, full);
        if (half == which) state = (state >> left << SLOT_BITS) + (value << left) + (state & ((1u << left) - 1));
    }

    // Pushes the extra bits of a number from 10 on, of which the highest are prepared.
    __device__ __forceinline__ void push_extra(uint32_t which, uint32_t number, Slots high) {
        const uint32_t shifted = number - 6, width = 31 - __clz(shifted), extra = shifted - (1u << width);
        const uint32_t left = width - min(width, 4u);
        // The decoder takes eight bits at a time, and then what is left.
        uint32_t done = left % 8;
        if (done) push_plain(which, extra & ((1u << done) - 1), done);
        for (; done < left; done += 8) push_plain(which, extra >> done & 255, 8);
        push(which, high);
        if (which == 0 && width >= LAST_BUCKET_WIDTH) push_plain(0, width - LAST_BUCKET_WIDTH, 5);
    }
};

// The slots of the highest extra bits of a number from 10 on.
__device__ __forceinline__ Slots extra_slots(uint32_t which, uint32_t number, const uint32_t* tables) {
    const uint32_t shifted = number - 6, width = 31 - __clz(shifted), left = width - min(width, 4u);
    const uint32_t slots = tables[16 * extra_table(which, width) + ((shifted - (1u << width)) >> left)];
    return slots_of(slots & 0xFFFF, slots >> 16);
}

// Pushes the runs of a slice.
__device__ void push_runs(const EncodeArgs& v, Shared& shared, uint32_t warp, const RunSlice& slice, Stack& stack) {
    Slots(*prepared)[32] = shared.prepared[warp];
    Slots(*extra)[32] = shared.extra[warp];
    const uint32_t lane = stack.lane;
    for (uint32_t end = (slice.runs + 31) & ~31u; end > 0; end -= 32) {
        const uint32_t run = end - 32 + lane, item = slice.items + run;
        const bool valid = run < slice.runs;
        uint32_t run_number = 0, rank_number = 0;
        bool large = false;
        if (valid) {
            const uint32_t symbols = v.symbols[item], run_symbol = symbols & 0xFFFF, rank_symbol = symbols >> 16;
            const uint32_t run_slots = shared.tables[run_symbol];
            const uint32_t rank_slots = shared.tables[16 * RUN_LEAVES + rank_symbol];
            prepared[0][lane] = slots_of(run_slots & 0xFFFF, run_slots >> 16);
            prepared[1][lane] = slots_of(rank_slots & 0xFFFF, rank_slots >> 16);
            if ((run_symbol & 15) >= DIRECT) {
                run_number = slice.run_end(run) - slice.run_start(run) - 1;
                extra[0][lane] = extra_slots(0, run_number, shared.tables);
            }
            if ((rank_symbol & 15) >= DIRECT) {
                rank_number = v.mtf_ranks[item] - 1;
                extra[1][lane] = extra_slots(1, rank_number, shared.tables);
            }
            large = run_number || rank_number;
        }
        const uint32_t larges = __ballot_sync(ALL_LANES, large);
        __syncwarp();
        for (int k = static_cast<int>(min(32u, slice.runs - (end - 32))) - 1; k >= 0; k--) {
            const Slots symbol = prepared[stack.half][k];
            if (larges >> k & 1) {
                const uint32_t long_run = __shfl_sync(ALL_LANES, run_number, k);
                const uint32_t far_rank = __shfl_sync(ALL_LANES, rank_number, k);
                if (far_rank) stack.push_extra(1, far_rank, extra[1][k]);
                if (long_run) stack.push_extra(0, long_run, extra[0][k]);
            }
            stack.push_both(symbol);
        }
        __syncwarp();
    }
}

// Pushes the first symbols of a slice, and before them their number.
__device__ void push_symbols(const EncodeArgs& v, const Shared& shared, Slots* prepared, const RunSlice& slice,
                             Stack& stack) {
    const uint32_t lane = stack.lane, count = v.list_sizes[slice.number], all = shared.alphabet_size;
    const uint8_t* list = v.lists + 256 * static_cast<size_t>(slice.number);
    for (uint32_t end = (count + 31) & ~31u; end > 0; end -= 32) {
        const uint32_t i = end - 32 + lane;
        if (i < count) {
            // The smaller bytes that are not in the list yet.
            uint32_t value = shared.alphabet_ranks[list[i]];
            for (uint32_t k = 0; k < i; k++) value -= list[k] < list[i];
            const uint32_t start = (value << SLOT_BITS) / (all - i);
            prepared[lane] = slots_of(start, ((value + 1) << SLOT_BITS) / (all - i) - start);
        }
        __syncwarp();
        for (int k = static_cast<int>(min(32u, count - (end - 32))) - 1; k >= 0; k--) stack.push(1, prepared[k]);
        __syncwarp();
    }
    const uint32_t start = ((count - 1) << SLOT_BITS) / all;
    stack.push(1, slots_of(start, (count << SLOT_BITS) / all - start));
}

// Copies bytes with all threads of a CTA, four at a time where they go.
__device__ void copy_bytes(uint8_t* to, const uint8_t* from, uint32_t len) {
    const uint32_t ahead = min(static_cast<uint32_t>(-reinterpret_cast<uintptr_t>(to)) & 3, len);
    if (threadIdx.x < ahead) to[threadIdx.x] = from[threadIdx.x];
    to += ahead;
    from += ahead;
    len -= ahead;
    const uint32_t shift = 8 * (reinterpret_cast<uintptr_t>(from) & 3);
    const uint32_t* words = reinterpret_cast<const uint32_t*>(from - shift / 8);
    for (uint32_t i = threadIdx.x; i < len / 4; i += blockDim.x) {
        // The word behind is read only where bytes of it are wanted.
        const uint32_t high = shift ? words[i + 1] : 0;
        reinterpret_cast<uint32_t*>(to)[i] = __funnelshift_r(words[i], high, shift);
    }
    if (threadIdx.x < len % 4) to[len / 4 * 4 + threadIdx.x] = from[len / 4 * 4 + threadIdx.x];
}

// Where the words of a slice are: behind the first even byte of its place.
__device__ __forceinline__ uint32_t words_start(uint32_t slice_start) { return (slice_start + 1) & ~1u; }

// As many words as a slice may have at most if it is to be shorter than its bytes.
__device__ __forceinline__ uint32_t most_words(uint32_t size) { return size >= 9 ? (size - 9) / 2 : 0; }

}  // namespace

// A CTA for CODER_WARPS slices. The counts tell which bytes occur.
extern "C" __global__ void __launch_bounds__(32 * CODER_WARPS) encode_slices(const EncodeArgs v) {
    __shared__ Shared shared;
    copy_words(shared.tables, v.tables, TABLE_WORDS);
    for (uint32_t i = threadIdx.x; i < 256; i += blockDim.x) {
        uint32_t rank = 0;
        for (uint32_t byte = 0; byte < i; byte++) rank += v.counts[TABLE_WORDS + byte] > 0;
        shared.alphabet_ranks[i] = rank;
        if (i == 255) shared.alphabet_size = rank + (v.counts[TABLE_WORDS + 255] > 0);
    }
    __syncthreads();
    const uint32_t warp = warp_number(), lane = threadIdx.x % 32;
    const RunSlice slice(v, blockIdx.x * CODER_WARPS + warp);
    if (slice.runs == 0) return;
    const uint32_t size = slice.end - slice.start;
    uint16_t* words = reinterpret_cast<uint16_t*>(v.words + words_start(slice.start));
    Stack stack = {lane, lane / 16, LOWER_BOUND, words, 0, most_words(size)};
    push_runs(v, shared, warp, slice, stack);
    push_symbols(v, shared, shared.prepared[warp][1], slice, stack);
    if ((lane & 15) == 0) v.states[2 * slice.number + stack.half] = stack.state;
    if (lane == 0) v.coded_starts[slice.number] = size >= 9 && stack.given <= stack.room ? 8 + 2 * stack.given : size;
}

// A CTA for each slice, when it is known where it goes.
extern "C" __global__ void __launch_bounds__(THREADS) gather_slices(const EncodeArgs v) {
    if (blockIdx.x >= *v.slice_count) return;
    const uint32_t start = v.slices[blockIdx.x].byte, size = v.slices[blockIdx.x + 1].byte - start;
    const uint32_t coded_start = v.coded_starts[blockIdx.x];
    const uint32_t coded_size = v.coded_starts[blockIdx.x + 1] - coded_start;
    uint8_t* to = v.coded + coded_start;
    if (coded_size == size) return copy_bytes(to, v.bwt + start, size);
    if (threadIdx.x < 8) to[threadIdx.x] = v.states[2 * blockIdx.x + threadIdx.x / 4] >> (8 * (threadIdx.x % 4)) & 255;
    const uint32_t behind = words_start(start) + 2 * most_words(size), words = coded_size - 8;
    copy_bytes(to + 8, v.words + behind - words, words);
}
