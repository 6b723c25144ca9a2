// Encodes slices by static rANS, from the last run to the first, since rANS is a stack.
//
// A state takes its symbols one after the other; all other work can be done beside that. So each
// state has a thread, and a warp encodes 16 slices: the threads of its run half have the states of
// run lengths, those of its rank half the states of MTF ranks. If one slice has extra bits and
// another has none, the other pushes a symbol that has all slots, which leaves its state unchanged.
// So all slices take the same path, except for runs of 135 bytes and more. Four runs are looked up
// at once, and pushed without a branch between them.
//
// A run takes about 300 cycles, most of them spent on waiting for the data that the states need
// next. In that time, thousands of slices encode a run each. The CPU does this in
// src/coder/static_encoder.rs.

#include "coder/encode_args.cuh"

namespace {

// Slots of a symbol: the first, and from bit 16 on their number; and 2^32 / number, rounded down.
struct Slots {
    uint32_t slots, inverse;
};

__device__ __forceinline__ Slots slots_of(uint32_t start, uint32_t freq) {
    return {start | freq << 16, 0xFFFFFFFF / max(freq, 1u)};
}

// The slots of a symbol that has all of them.
__device__ __forceinline__ Slots all_slots() { return {1u << (SLOT_BITS + 16), 0xFFFFFFFF >> SLOT_BITS}; }

// A value of `bits` bits, all equally likely. With 0 bits it is a symbol that has all slots.
struct Plain {
    uint32_t value, bits;
};

// The extra bits of a number from 10 on, which are pushed before its bucket: their number, and the
// number of those that no table has. A table has the highest ones. The last bucket of run lengths
// does not tell their number, so that is pushed too.
struct Width {
    uint32_t shifted, width, left;

    __device__ __forceinline__ explicit Width(uint32_t number) {
        shifted = number - 6;
        width = 31 - __clz(shifted);
        left = width - min(width, 4u);
    }

    __device__ __forceinline__ uint32_t extra() const { return shifted - (1u << width); }

    // Index, in all tables, of the symbol made of the highest extra bits.
    __device__ __forceinline__ uint32_t item(uint32_t half) const {
        return 16 * extra_table(half, width) + (extra() >> left);
    }
};

// The smallest number in the last bucket. From it on, a run is long.
constexpr uint32_t LONG_RUN = (1u << LAST_BUCKET_WIDTH) + 6;
// Index of an item, behind all tables, that has all slots.
constexpr uint32_t ALL_SLOTS_ITEM = TABLE_WORDS;

// Symbols to push for a number: bits 0 to 3 have its bucket, from bit 4 on the item of its highest
// extra bits, from bit 20 on the number of the lower ones, and from bit 24 on these. It does not
// work for long runs.
__device__ uint32_t symbols_of(uint32_t half, uint32_t number) {
    if (number < DIRECT) return number | ALL_SLOTS_ITEM << 4;
    const Width width(number);
    const uint32_t low = width.extra() & ((1u << width.left) - 1);
    return min(width.width + 8, LAST_BUCKET) | width.item(half) << 4 | width.left << 20 | low << 24;
}

struct Shared {
    Slots tables[TABLE_WORDS + 1];
    uint32_t symbols[2][256];  // by half and number
};

// A state of a slice, and the words that both states of the slice have given, from the last on.
struct Stack {
    uint32_t lane, half, state;
    uint16_t* words;
    uint32_t given, room;

    // Index of the next word; negative if there is no room for it.
    __device__ __forceinline__ int place() const { return static_cast<int>(room - given) - 1; }

    __device__ __forceinline__ void give(bool gives, int place, uint32_t word) const {
        if (gives && place >= 0) words[place] = static_cast<uint16_t>(word);
    }

    // Makes the state small enough for a symbol with `freq` slots. Returns true if the state must
    // give a word for that, which is the lower half of `before`.
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

    // Pushes a symbol of each half. The rank half's comes first.
    template <class Symbol>
    __device__ __forceinline__ void push(Symbol symbol) {
        uint32_t before;
        const bool gives = put(symbol, before);
        const uint32_t both = __ballot_sync(ALL_LANES, gives) >> (lane & 15);
        give(gives, place() - static_cast<int>(half ? 0 : both >> 16 & 1), before);
        given += __popc(both & 0x00010001);
    }

    // Pushes a run that is not long: extra bits of the MTF rank, those of the run length, both
    // buckets.
    __device__ __forceinline__ void push_run(Plain low, Slots high, Slots bucket) {
        uint32_t before[3];
        const bool gives_low = put(low, before[0]), gives_high = put(high, before[1]);
        const bool gives_bucket = put(bucket, before[2]);
        const int own = gives_low + gives_high + (gives_bucket ? 256 : 0);
        const int other = __shfl_xor_sync(ALL_LANES, own, 16), first = place() - (half ? 0 : other & 255);
        const int extra = (own & 255) + (other & 255), behind = place() - extra - (half ? 0 : other >> 8);
        give(gives_low, first, before[0]);
        give(gives_high, first - gives_low, before[1]);
        give(gives_bucket, behind, before[2]);
        given += extra + (own >> 8) + (other >> 8);
    }

    // Pushes all extra bits of one half. A half without extra bits has number 0.
    __device__ __forceinline__ void push_long_extra(const Slots* tables, uint32_t number) {
        const bool large = number >= DIRECT;
        const Width width(large ? number : 7);
        // The decoder takes eight bits at a time, and the remaining ones last.
        uint32_t done = width.left % 8;
        push(Plain{width.extra() & ((1u << done) - 1), done});
        while (__any_sync(ALL_LANES, done < width.left)) {
            const uint32_t bits = done < width.left ? 8 : 0;
            push(Plain{bits ? width.extra() >> done & 255 : 0, bits});
            done += bits;
        }
        push(tables[large ? width.item(half) : ALL_SLOTS_ITEM]);
        const bool last = half == 0 && width.width >= LAST_BUCKET_WIDTH;
        push(last ? Plain{width.width - LAST_BUCKET_WIDTH, LAST_WIDTH_BITS} : Plain{0, 0});
    }
};

// Offsets of one half's data in the symbols of a run, and its tables.
struct HalfView {
    uint32_t number_at, most, leaf_at, leaves, first_table;
    const uint32_t* symbols;

    __device__ __forceinline__ HalfView(const Shared& shared, uint32_t half) {
        number_at = half ? 16 : 0;
        most = half ? 255 : LONG_RUN_NUMBER;
        leaf_at = half ? 24 : RUN_NUMBER_BITS;
        leaves = half ? RANK_LEAVES : RUN_LEAVES;
        first_table = half ? RUN_LEAVES : 0;
        symbols = shared.symbols[half];
    }
};

// A run, as one half sees it. If there is no run, it has number 0 and all slots.
struct HalfRun {
    uint32_t number, symbols;
    Slots high, bucket;

    // No branches: every value of an item without a run selects some entry.
    __device__ __forceinline__ void find(const Slots* tables, const HalfView& view, uint32_t item, bool valid) {
        number = valid ? item >> view.number_at & view.most : 0;
        symbols = view.symbols[min(number, 255u)];
        const uint32_t table = view.first_table + (item >> view.leaf_at & (view.leaves - 1));
        bucket = tables[valid ? 16 * table + (symbols & 15) : ALL_SLOTS_ITEM];
        high = tables[symbols >> 4 & 0x1FFF];
    }

    __device__ __forceinline__ Plain low() const { return {symbols >> 24, symbols >> 20 & 7}; }
};

// The runs of a slice, four items at a time from the end on, as they lie in words of 16 bytes.
struct ItemGroups {
    const uint4* symbols;
    uint32_t first, runs;   // items of the slice
    uint32_t end, count;    // number of the group behind the last, and number of groups

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

    // The number of a run in the slice, or at least `runs` if there is no such run.
    __device__ __forceinline__ uint32_t run(uint32_t group, uint32_t item) const {
        return group < count ? 4 * (end - 1 - group) + item - first : 0xFFFFFFFF;
    }
};

// Pushes the runs of a slice. The largest numbers of four runs decide how all slices push them. So
// there is no branch between runs, and the words of one are given while the next changes the
// states.
__device__ void push_runs(const Shared& shared, const RunSlice& slice, const ItemGroups& groups, Stack& stack) {
    const uint32_t most = __reduce_max_sync(ALL_LANES, groups.count), half = stack.half;
    const uint32_t long_run = half ? 256 : LONG_RUN;
    const HalfView view(shared, half);
    uint4 next = groups.load(0), later = groups.load(1);
    for (uint32_t group = 0; group < most; group++) {
        const uint32_t items[4] = {next.w, next.z, next.y, next.x};
        next = later;
        later = groups.load(group + 2);
        HalfRun runs[4];
        uint32_t largest = 0;
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            runs[k].find(shared.tables, view, items[k], groups.run(group, 3 - k) < groups.runs);
            largest = max(largest, runs[k].number);
        }
        const bool any_large = __any_sync(ALL_LANES, largest >= DIRECT);
        if (__any_sync(ALL_LANES, largest >= long_run)) {
#pragma unroll 1
            for (uint32_t k = 0; k < 4; k++) {
                const uint32_t item = k < 2 ? (k ? items[1] : items[0]) : (k == 2 ? items[2] : items[3]);
                const uint32_t run = groups.run(group, 3 - k);
                HalfRun here;
                here.find(shared.tables, view, item, run < groups.runs);
                uint32_t number = here.number;
                if (!__any_sync(ALL_LANES, number >= long_run)) {
                    stack.push_run(here.low(), here.high, here.bucket);
                    continue;
                }
                if (half == 0 && number == LONG_RUN_NUMBER) {
                    number = slice.end_of(slice.head(run + 1)) - slice.start_of(slice.head(run)) - 1;
                }
                stack.push_long_extra(shared.tables, half ? number : 0);
                stack.push_long_extra(shared.tables, half ? 0 : number);
                stack.push(here.bucket);
            }
        } else if (any_large) {
#pragma unroll
            for (uint32_t k = 0; k < 4; k++) stack.push_run(runs[k].low(), runs[k].high, runs[k].bucket);
        } else {
#pragma unroll
            for (uint32_t k = 0; k < 4; k++) stack.push(runs[k].bucket);
        }
    }
}

// Pushes the first symbols of a slice, and before them their number. `alphabet` has a bit for each
// byte that occurs in the BWT.
__device__ void push_symbols(const EncodeArgs& v, const uint32_t (&alphabet)[8], const RunSlice& slice, Stack& stack) {
    const bool mine = stack.half && slice.runs;
    const uint32_t count = mine ? v.list_sizes[slice.number] : 0;
    const uint8_t* list = v.lists + 256 * static_cast<size_t>(slice.number);
    // Each symbol is coded as its number among the bytes that are not before it in the list.
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
        Slots slots = all_slots();
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
    Slots slots = all_slots();
    if (mine) {
        const uint32_t start = ((count - 1) << SLOT_BITS) / all;
        slots = slots_of(start, (count << SLOT_BITS) / all - start);
    }
    stack.push(slots);
}

// Copies bytes with all threads of a CTA, four at a time to aligned words.
__device__ void copy_bytes(uint8_t* to, const uint8_t* from, uint32_t len) {
    const uint32_t ahead = min(static_cast<uint32_t>(-reinterpret_cast<uintptr_t>(to)) & 3, len);
    if (threadIdx.x < ahead) to[threadIdx.x] = from[threadIdx.x];
    to += ahead;
    from += ahead;
    len -= ahead;
    const uint32_t shift = 8 * (reinterpret_cast<uintptr_t>(from) & 3);
    const uint32_t* words = reinterpret_cast<const uint32_t*>(from - shift / 8);
    for (uint32_t i = threadIdx.x; i < len / 4; i += blockDim.x) {
        // The next word is read only if bytes of it are wanted.
        const uint32_t high = shift ? words[i + 1] : 0;
        reinterpret_cast<uint32_t*>(to)[i] = __funnelshift_r(words[i], high, shift);
    }
    if (threadIdx.x < len % 4) to[len / 4 * 4 + threadIdx.x] = from[len / 4 * 4 + threadIdx.x];
}

// Offset of a slice's words: the first even byte of its range.
__device__ __forceinline__ uint32_t words_start(uint32_t slice_start) { return (slice_start + 1) & ~1u; }

// Maximum number of words of a slice that is to be shorter than its bytes.
__device__ __forceinline__ uint32_t most_words(uint32_t size) { return size >= 9 ? (size - 9) / 2 : 0; }

}  // namespace

// One CTA for ENCODE_SLICES slices. The counts tell which bytes occur.
extern "C" __global__ void __launch_bounds__(2 * ENCODE_SLICES) encode_slices(const EncodeArgs v) {
    __shared__ Shared shared;
    for (uint32_t i = threadIdx.x; i < TABLE_WORDS; i += blockDim.x) {
        const uint32_t slots = __ldg(v.tables + i);
        shared.tables[i] = slots_of(slots & 0xFFFF, slots >> 16);
    }
    if (threadIdx.x == 0) shared.tables[ALL_SLOTS_ITEM] = all_slots();
    for (uint32_t i = threadIdx.x; i < 512; i += blockDim.x) {
        shared.symbols[i / 256][i % 256] = symbols_of(i / 256, i % 256);
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
    push_runs(shared, slice, ItemGroups(v, slice), stack);
    push_symbols(v, alphabet, slice, stack);
    if (slice.runs == 0) return;
    v.states[2 * slice.number + stack.half] = stack.state;
    const uint32_t coded = size >= 9 && stack.given <= stack.room ? 8 + 2 * stack.given : size;
    if (stack.half == 0) v.coded_starts[slice.number] = coded;
}

// One CTA per slice, once its start in the coded bytes is known.
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
