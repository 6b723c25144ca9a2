// The rANS states of a slice that is being decoded, and the words that they take.
#pragma once

#include "coder/slice_models.cuh"

namespace {

// A loaded word and the one behind it, of which the four bytes from bit `shift` on are wanted. They
// are joined only when they are used, so that no lane waits for the load before.
struct WordBytes {
    uint32_t low, high;

    __device__ __forceinline__ uint32_t pair(uint32_t shift) const { return __funnelshift_r(low, high, shift); }
};

// The words of a slice, 32 at a time. Each lane has a word and the one behind it.
struct Words {
    const uint8_t* bytes;
    uint32_t count;   // number of words; words behind them read as 0
    uint32_t base;    // number of the word of lane 0
    uint32_t passed;  // words taken since then
    uint32_t now;
    WordBytes next;   // the word 32 words on
    uint32_t pair;    // the next word, and from bit 16 on the one behind it

    __device__ __forceinline__ const uint8_t* place(uint32_t at) const {
        return bytes + 2 * static_cast<size_t>(min(at, count));
    }

    // Behind the end it loads other bytes, since a condition would make it wait for the load.
    __device__ __forceinline__ WordBytes load(uint32_t at) const {
        const uint8_t* from = place(at);
        const uint32_t* words = reinterpret_cast<const uint32_t*>(from - (reinterpret_cast<uintptr_t>(from) & 3));
        return {__ldg(words), __ldg(words + 1)};
    }

    __device__ __forceinline__ uint32_t used(const WordBytes& loaded, uint32_t at) const {
        const uint32_t words = at < count ? count - at : 0;
        const uint32_t pair = loaded.pair(8 * (reinterpret_cast<uintptr_t>(place(at)) & 3));
        return words > 1 ? pair : words * (pair & 0xFFFF);
    }

    __device__ __forceinline__ void begin(const uint8_t* from, uint32_t words, uint32_t lane) {
        bytes = from;
        count = words;
        base = passed = 0;
        now = used(load(lane), lane);
        next = load(32 + lane);
        pair = __shfl_sync(ALL_LANES, now, 0);
    }

    // Takes up to 32 words.
    __device__ __forceinline__ void take(uint32_t words, uint32_t lane) {
        passed += words;
        if (is_through()) go_on(lane);
        look();
    }

    // The three steps of taking words. The second is seldom needed.
    __device__ __forceinline__ bool is_through() const { return passed >= 32; }

    __device__ __forceinline__ void go_on(uint32_t lane) {
        passed -= 32;
        base += 32;
        now = used(next, base + lane);
        next = load(base + 32 + lane);
    }

    __device__ __forceinline__ void look() { pair = __shfl_sync(ALL_LANES, now, passed); }

    __device__ __forceinline__ uint32_t taken() const { return base + passed; }
};

// The two states, each in all lanes of its half, and the words that they take.
struct States {
    uint32_t lane, half;
    uint32_t state;
    Words words;

    // Sets the next state of one half, which takes a word if the state is low.
    __device__ __forceinline__ void set(uint32_t which, uint32_t next) {
        const bool mine = half == which, low = mine && next < LOWER_BOUND;
        if (mine) state = low ? next << 16 | (words.pair & 0xFFFF) : next;
        words.take(__any_sync(ALL_LANES, low), lane);
    }

    // Takes a symbol of one half by a table.
    __device__ __forceinline__ uint32_t take(uint32_t which, const uint32_t* table) {
        const uint32_t entry = table[lane & 15], slot = state & SLOT_MASK, start = entry & 0xFFFF;
        const uint32_t symbol = __popc(__ballot_sync(ALL_LANES, half == which && slot >= start)) - 1;
        const uint32_t next = (entry >> 16) * (state >> SLOT_BITS) + slot - start;
        set(which, __shfl_sync(ALL_LANES, next, 16 * which + symbol));
        return symbol;
    }

    // Takes a value of `bits` bits, all values being equally likely.
    __device__ __forceinline__ uint32_t take_plain(uint32_t which, uint32_t bits) {
        const uint32_t left = SLOT_BITS - bits, slot = state & SLOT_MASK;
        const uint32_t value = __shfl_sync(ALL_LANES, slot >> left, 16 * which);
        set(which, (state >> SLOT_BITS << left) + (slot & ((1u << left) - 1)));
        return value;
    }

    // Takes a value below n, which is 1 to 256, of the rank half. All values are equally likely.
    __device__ __forceinline__ uint32_t take_uniform(uint32_t n) {
        const uint32_t slot = state & SLOT_MASK, value = ((slot + 1) * n - 1) >> SLOT_BITS;
        const uint32_t start = (value << SLOT_BITS) / n, end = ((value + 1) << SLOT_BITS) / n;
        set(1, (end - start) * (state >> SLOT_BITS) + slot - start);
        return __shfl_sync(ALL_LANES, value, 16);
    }

    // Takes a number with two to seven extra bits, four of which come by a table, so it takes two
    // words at most. All lanes compute the state of that half after each of the two parts.
    __device__ __forceinline__ uint32_t take_extra(uint32_t which, uint32_t width, const uint32_t* tables) {
        const uint32_t entry = tables[16 * extra_table(which, width) + (lane & 15)];
        const uint32_t slot = state & SLOT_MASK, start = entry & 0xFFFF;
        const uint32_t high = __popc(__ballot_sync(ALL_LANES, half == which && slot >= start)) - 1;
        const uint32_t moved = (entry >> 16) * (state >> SLOT_BITS) + slot - start;
        const uint32_t first = __shfl_sync(ALL_LANES, moved, 16 * which + high);
        const uint32_t takes_first = first < LOWER_BOUND;
        const uint32_t middle = takes_first ? first << 16 | (words.pair & 0xFFFF) : first;
        const uint32_t bits = width - min(width, 4u), left = SLOT_BITS - bits;
        const uint32_t value = (middle & SLOT_MASK) >> left;
        const uint32_t last = (middle >> SLOT_BITS << left) + (middle & ((1u << left) - 1));
        const uint32_t takes_last = last < LOWER_BOUND;
        const uint32_t word = takes_first ? words.pair >> 16 : words.pair & 0xFFFF;
        if (half == which) state = takes_last ? last << 16 | word : last;
        words.take(takes_first + takes_last, lane);
        return (1u << width) + ((high & ((1u << min(width, 4u)) - 1)) << bits | value) + 6;
    }

    // Takes a number with any number of extra bits, which only long runs have.
    __device__ __forceinline__ uint32_t take_long_extra(uint32_t which, uint32_t width, const uint32_t* tables) {
        uint32_t extra = take(which, tables + 16 * extra_table(which, width)) & ((1u << min(width, 4u)) - 1);
        for (uint32_t left = width - min(width, 4u); left > 0;) {
            const uint32_t bits = min(left, 8u);
            left -= bits;
            extra = extra << bits | take_plain(which, bits);
        }
        return (1u << width) + extra + 6;
    }
};

}  // namespace
