// Slices by static rANS, from the last run to the first, as rANS is a stack.
//
// A state takes its symbols one after the other, and next to nothing beside this is work. So each
// state has a thread, and a warp codes 16 slices: the threads of its run half have the states of run
// lengths, those of its rank half those of MTF ranks. What a run has not, such as extra bits, is
// pushed as a symbol that has all slots, which leaves a state as it is; so no slice waits for another
// to take a way of its own. The symbols of four runs are looked up while those of the four before
// are pushed. A run takes about 200 cycles, however many slices there are. The CPU's way is
// src/coder/static_encoder.rs.

#include "coder/encode_args.cuh"

namespace {

// Slots of a symbol: the first, and from bit 16 on how many; and 2^32 over that, rounded down.
struct Slots {
    uint32_t slots, inverse;
};

__device__ __forceinline__ Slots slots_of(uint32_t start, uint32_t freq) {
    return {start | freq << 16, 0xFFFFFFFF / max(freq, 1u)};
}

// Of a symbol that has all slots.
constexpr Slots ALL_SLOTS = {1u << (SLOT_BITS + 16), 0xFFFFFFFF >> SLOT_BITS};

// A value of so many bits, all of which are equally likely; of none, a symbol that has all slots.
struct Plain {
    uint32_t value, bits;
};

// A number from 10 on is its bucket and, pushed before that, the highest of its extra bits by a
// table, those below as they are, and of a long run how many these are.
struct ExtraBits {
    Slots high;
    Plain low, width;
};

// Looks up the highest of the extra bits, `number` being 10 or more.
__device__ __forceinline__ Slots high_slots(const Slots* tables, uint32_t half, uint32_t number) {
    const uint32_t shifted = number - 6, width = 31 - __clz(shifted), left = width - min(width, 4u);
    return tables[16 * extra_table(half, width) + ((shifted - (1u << width)) >> left)];
}

// A run, as one half sees it.
struct HalfRun {
    Slots bucket;
    uint32_t number;  // 0 where no run is
};

// A state of a slice, and the words that both states of it have given, from the last on.
struct Stack {
    uint32_t lane, half, state;
    uint16_t* words;
    uint32_t given, room;

    __device__ __forceinline__ void give(bool gives, uint32_t number, uint32_t word) const {
        if (gives && number < room) words[room - 1 - number] = static_cast<uint16_t>(word);
    }

    // Makes the state small enough for a symbol of so many slots. Gives whether it has to give a
    // word for that, which is in the lower half of `before`.
    __device__ __forceinline__ bool shrink(uint32_t freq, uint32_t& before) {
        const bool full = state > (freq << 17) - 1;
        before = state;
        if (full) state >>= 16;
        return full;
    }

    // Puts a symbol on the state.
    __device__ __forceinline__ bool put(Slots symbol, uint32_t& before) {
        const uint32_t freq = symbol.slots >> 16, others = (1u << SLOT_BITS) - freq;
        const bool gives = shrink(freq, before);
        const uint32_t quotient = __umulhi(state, symbol.inverse), rest = state - quotient * freq;
        state += (symbol.slots & 0xFFFF) + quotient * others;
        // The inverse is too small by less than 1, and so is the quotient.
        if (rest >= freq) state += others;
        return gives;
    }

    __device__ __forceinline__ bool put(Plain plain, uint32_t& before) {
        const uint32_t left = SLOT_BITS - plain.bits;
        const bool gives = shrink(1u << left, before);
        state = (state >> left << SLOT_BITS) + (plain.value << left) + (state & ((1u << left) - 1));
        return gives;
    }

    // Pushes a symbol of each half, the rank half's first.
    template <class Symbol>
    __device__ __forceinline__ void push(Symbol symbol) {
        uint32_t before;
        const bool gives = put(symbol, before);
        const uint32_t both = __ballot_sync(ALL_LANES, gives) >> (lane & 15);
        give(gives, given + (half ? 0 : both >> 16 & 1), before);
        given += __popc(both & 0x00010001);
    }

    // Pushes the extra bits of a run, those of the MTF rank first, and none of a half where they
    // have no bits.
    __device__ __forceinline__ void push_extra(const ExtraBits& extra) {
        uint32_t low, high, width;
        const bool gives_low = put(extra.low, low), gives_high = put(extra.high, high);
        const bool gives_width = put(extra.width, width);
        const uint32_t own = gives_low + gives_high + gives_width;
        const uint32_t other = __shfl_xor_sync(ALL_LANES, own, 16), number = given + (half ? 0 : other);
        give(gives_low, number, low);
        give(gives_high, number + gives_low, high);
        give(gives_width, number + gives_low + gives_high, width);
        given += own + other;
    }

    // The same of one half, with any number of bits. A half that has none has number 0.
    __device__ __forceinline__ void push_long_extra(const Slots* tables, uint32_t number) {
        const bool large = number >= DIRECT;
        const uint32_t shifted = large ? number - 6 : 1, width = 31 - __clz(shifted), extra = shifted - (1u << width);
        const uint32_t left = width - min(width, 4u);
        // The decoder takes eight bits at a time, and then what is left.
        uint32_t done = left % 8;
        push(Plain{extra & ((1u << done) - 1), done});
        while (__any_sync(ALL_LANES, done < left)) {
            const uint32_t bits = done < left ? 8 : 0;
            push(Plain{bits ? extra >> done & 255 : 0, bits});
            done += bits;
        }
        push(large ? high_slots(tables, half, number) : ALL_SLOTS);
        const bool last = half == 0 && width >= LAST_BUCKET_WIDTH;
        push(last ? Plain{width - LAST_BUCKET_WIDTH, LAST_WIDTH_BITS} : Plain{0, 0});
    }
};

// Looks up the bucket of a half of a run.
__device__ __forceinline__ HalfRun half_run(const Slots* tables, uint32_t half, uint32_t symbols, bool valid) {
    const uint32_t number = half ? symbols >> 16 & 255 : symbols & LONG_RUN_NUMBER;
    const uint32_t table = half ? RUN_LEAVES + (symbols >> 24) : symbols >> RUN_NUMBER_BITS & (RUN_LEAVES - 1);
    const uint32_t bucket = number < DIRECT ? number : min(39u - __clz(number - 6), LAST_BUCKET);
    return valid ? HalfRun{tables[16 * table + bucket], number} : HalfRun{ALL_SLOTS, 0};
}

// The extra bits of a number, of which the lowest are fewer than eight.
__device__ __forceinline__ ExtraBits extra_bits(const Slots* tables, uint32_t half, uint32_t number) {
    ExtraBits extra = {ALL_SLOTS, {0, 0}, {0, 0}};
    if (number >= DIRECT) {
        const uint32_t shifted = number - 6, width = 31 - __clz(shifted), left = width - min(width, 4u);
        extra.high = high_slots(tables, half, number);
        extra.low = {shifted & ((1u << left) - 1), left};
        if (half == 0 && width >= LAST_BUCKET_WIDTH) extra.width = {width - LAST_BUCKET_WIDTH, LAST_WIDTH_BITS};
    }
    return extra;
}

// The runs of a slice, four items at a time from the end on, as they lie in words of 16 bytes.
struct ItemGroups {
    const uint4* symbols;
    uint32_t first, runs;   // items of the slice
    uint32_t end, count;    // group behind the last, and how many there are

    __device__ __forceinline__ ItemGroups(const EncodeArgs& v, const RunSlice& slice) {
        symbols = reinterpret_cast<const uint4*>(v.symbols);
        first = slice.items;
        runs = slice.runs;
        end = (first + runs + 3) / 4;
        count = runs ? end - first / 4 : 0;
    }

    __device__ __forceinline__ uint4 load(uint32_t group) const {
        return group < count ? __ldg(symbols + (end - 1 - group)) : make_uint4(0, 0, 0, 0);
    }

    // The number of a run in the slice; `runs` or more where there is none.
    __device__ __forceinline__ uint32_t run(uint32_t group, uint32_t item) const {
        return group < count ? 4 * (end - 1 - group) + item - first : 0xFFFFFFFF;
    }
};

// Pushes the runs of a slice.
__device__ void push_runs(const Slots* tables, const RunSlice& slice, const ItemGroups& groups, Stack& stack) {
    const uint32_t most = __reduce_max_sync(ALL_LANES, groups.count), half = stack.half;
    uint4 next = groups.load(0), later = groups.load(1);
    for (uint32_t group = 0; group < most; group++) {
        const uint32_t symbols[4] = {next.w, next.z, next.y, next.x};
        next = later;
        later = groups.load(group + 2);
        HalfRun runs[4];
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            runs[k] = half_run(tables, half, symbols[k], groups.run(group, 3 - k) < groups.runs);
        }
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            const uint32_t number = runs[k].number;
            if (__any_sync(ALL_LANES, number >= DIRECT)) {
                const bool is_long = half == 0 && number == LONG_RUN_NUMBER;
                if (__any_sync(ALL_LANES, is_long)) {
                    const uint32_t run = is_long ? groups.run(group, 3 - k) : 0;
                    const uint32_t len = is_long ? slice.run_end(run) - slice.run_start(run) - 1 : number;
                    stack.push_long_extra(tables, half ? number : 0);
                    stack.push_long_extra(tables, half ? 0 : len);
                } else {
                    stack.push_extra(extra_bits(tables, half, number));
                }
            }
            stack.push(runs[k].bucket);
        }
    }
}

// Pushes the first symbols of a slice, and before them their number. `alphabet` has a bit for each
// byte that occurs in the BWT.
__device__ void push_symbols(const EncodeArgs& v, const uint32_t (&alphabet)[8], const RunSlice& slice, Stack& stack) {
    const bool mine = stack.half && slice.runs;
    const uint32_t count = mine ? v.list_sizes[slice.number] : 0;
    const uint8_t* list = v.lists + 256 * static_cast<size_t>(slice.number);
    // Each symbol is coded as its number among the bytes that are not in the list before it.
    uint32_t left[8], all = 0;
#pragma unroll
    for (uint32_t w = 0; w < 8; w++) {
        left[w] = alphabet[w];
        all += __popc(alphabet[w]);
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t symbol = list[i];
#pragma unroll
        for (uint32_t w = 0; w < 8; w++) left[w] &= ~(symbol / 32 == w ? 1u << (symbol % 32) : 0);
    }
    for (uint32_t i = __reduce_max_sync(ALL_LANES, count); i-- > 0;) {
        Slots slots = ALL_SLOTS;
        if (i < count) {
            const uint32_t symbol = list[i], bit = 1u << (symbol % 32);
            uint32_t value = 0;
#pragma unroll
            for (uint32_t w = 0; w < 8; w++) {
                value += __popc(w < symbol / 32 ? left[w] : w == symbol / 32 ? left[w] & (bit - 1) : 0);
                left[w] |= symbol / 32 == w ? bit : 0;
            }
            const uint32_t start = (value << SLOT_BITS) / (all - i);
            slots = slots_of(start, ((value + 1) << SLOT_BITS) / (all - i) - start);
        }
        stack.push(slots);
    }
    Slots slots = ALL_SLOTS;
    if (mine) {
        const uint32_t start = ((count - 1) << SLOT_BITS) / all;
        slots = slots_of(start, (count << SLOT_BITS) / all - start);
    }
    stack.push(slots);
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

// A CTA for ENCODE_SLICES slices. The counts tell which bytes occur.
extern "C" __global__ void __launch_bounds__(2 * ENCODE_SLICES) encode_slices(const EncodeArgs v) {
    __shared__ Slots tables[TABLE_WORDS];
    for (uint32_t i = threadIdx.x; i < TABLE_WORDS; i += blockDim.x) {
        const uint32_t slots = __ldg(v.tables + i);
        tables[i] = slots_of(slots & 0xFFFF, slots >> 16);
    }
    __syncthreads();
    const uint32_t warp = warp_number(), lane = threadIdx.x % 32;
    uint32_t alphabet[8];
#pragma unroll
    for (uint32_t w = 0; w < 8; w++) {
        alphabet[w] = __ballot_sync(ALL_LANES, v.counts[TABLE_WORDS + 32 * w + lane] > 0);
    }
    const RunSlice slice(v, blockIdx.x * ENCODE_SLICES + 16 * warp + lane % 16);
    const uint32_t size = slice.end - slice.start;
    uint16_t* words = reinterpret_cast<uint16_t*>(v.words + words_start(slice.start));
    Stack stack = {lane, lane / 16, LOWER_BOUND, words, 0, most_words(size)};
    push_runs(tables, slice, ItemGroups(v, slice), stack);
    push_symbols(v, alphabet, slice, stack);
    if (slice.runs == 0) return;
    v.states[2 * slice.number + stack.half] = stack.state;
    const uint32_t coded = size >= 9 && stack.given <= stack.room ? 8 + 2 * stack.given : size;
    if (stack.half == 0) v.coded_starts[slice.number] = coded;
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
