// Numbers that kernels and host share. kernels/build.rs turns each #define into a Rust constant of
// gpu::runtime::tuning.
#pragma once

// Threads per CTA of kernels that give each item a thread.
#define THREADS 256
// Bytes of a suffix that the first sort of `ls` compares.
#define FIRST_SYMBOLS 8
// Bytes behind a text that must be there and zero.
#define TEXT_PADDING 128

// Threads of a CTA that sorts or merges a tile.
#define TILE_THREADS 256
// Items of each of these threads.
#define TILE_ITEMS 8
// Items of a tile.
#define TILE 2048

// Bins of segment sizes: 2, 4, 8, 16, 32, MEDIUM_LOW, MEDIUM_HIGH, LARGE and all above.
#define SIZE_BINS 9
// Bins whose segments a part of a warp sorts.
#define SMALL_BINS 5
// Items of the largest segment that a CTA of few threads sorts.
#define MEDIUM_LOW 256
// Threads of that CTA.
#define MEDIUM_LOW_THREADS 64
// Items of the largest segment that one CTA sorts: a tile.
#define MEDIUM_HIGH 2048
// Items of the largest segment that is sorted by merging tiles; a larger one has a radix sort of
// its own.
#define LARGE 1048576

// Positions of a CTA that makes first keys or chooses minimizers.
#define KEY_TILE 4096
// Words of counts: of each byte, of CTAs, and of repeats.
#define BYTE_COUNT_WORDS 260
// Bytes that are compared to see what is repeated at all, and over long distances; and how far
// apart 8 bytes are looked at in the latter.
#define REPEAT_SHORT 24
#define REPEAT_LONG 1024
#define REPEAT_STEP 128
// Members of the largest group that a CTA sorts in shared memory.
#define HALO 128
// Most items of a refining CTA: HALO, a tile, HALO. At most 2048: a group member has 11 bits for
// it.
#define REFINE_TILE 1536
// Threads of a refining CTA.
#define REFINE_THREADS 384
// Items of each of these threads.
#define REFINE_ITEMS 4
// Words of 32 bits, one for each of these items.
#define REFINE_WORDS 48
// Refining CTAs that run on a multiprocessor at once.
#define REFINE_CTAS 5
// Bytes that a round of text skips at most where all of a group have them in common.
#define SKIP 64
// Items of a CTA that selects minimizers or marks ranks.
#define MARK_TILE 1536
// Items of each of its threads.
#define MARK_ITEMS 6
// Words of 32 bits, one for each of these items.
#define MARK_WORDS 48
// Words of a tile that is compacted, at most.
#define MOST_WORDS 48
// Items of a thread that makes keys of a list.
#define LIST_ITEMS 4
// Positions behind a minimizer that it is compared with, at most.
#define MOST_WINDOW 64
// The same for minimizers of the sparse level.
#define MOST_SPARSE_WINDOW 256

// Keys of a list: the next symbols.
#define TEXT_KEYS 0
// Keys of a list of minimizers: the ranks of later minimizers.
#define MINIMIZER_KEYS 1
// Keys of a list: the rank of the next minimizer.
#define FINISH_KEYS 2
// Keys of a list of minimizers of the sparse level: the ranks of later ones, or text.
#define SPARSE_KEYS 3
// Keys of a list of minimizers: the rank of the next one of the sparse level, or as MINIMIZER_KEYS.
#define DENSE_KEYS 4

// Symbols of a transform that a CTA of the inverse counts.
#define INVERSE_TILE 4096

// Leaves of contexts, each with a table of 16 symbols: of run lengths.
#define RUN_LEAVES 64
// The same of MTF ranks.
#define RANK_LEAVES 256
// Tables of extra bits, which come behind these.
#define EXTRA_TABLES 12
// Tables of a block: all these.
#define MODEL_TABLES 332
// Warps of a CTA that codes slices, each a slice.
#define CODER_WARPS 4
// Slices of a CTA that codes them by rANS, each with a thread for either state.
#define ENCODE_SLICES 32
// Averages of run lengths and MTF ranks are below this.
#define AVERAGES 608
// Bytes of a BWT that a CTA looks at for the heads of runs.
#define RUN_TILE 4096

// Rows of a CTA that looks for the heads of runs.
#define LCP_ROWS 2048
// Bytes of each that two loads of 16 bytes have at least.
#define LCP_CERTAIN 17
// Bytes that a thread compares, and up to which a warp does.
#define LCP_SHORT 64
#define LCP_LONG 4096
// Bytes of a tile of what is longer.
#define LCP_TILE 16384
// Rows of an LCP array that go to the host together.
#define LCP_CHUNK 2097152
// Values that do not fit the byte of a row, which has the largest number instead, are sent apart.
#define LCP_LONG_BYTE 255
// Rows of a thread that makes these bytes, and of a CTA: the tile whose values lie together there.
#define LCP_ROW_ITEMS 4
#define LCP_SPLIT 1024
// Stands for the place of these values where a tile has none.
#define LCP_NO_VALUES 0xFFFFFFFF
// Bytes of a text whose positions go to the host in 3 bytes, at most.
#define LCP_PACKED 16777216
// Values of which a table of range minima has the least.
#define MINIMA_BLOCK 64

// GPUs that sort one text together, at most.
#define MOST_PROCESSORS 64
// Bits of a first key by which they part its suffixes among themselves.
#define RANGE_BITS 11

// Words of the host flags: a count of items, for which the host waits.
#define FLAG_ITEMS 0
// A count of groups, which is written before.
#define FLAG_GROUPS 1
// The row of the whole text.
#define FLAG_PRIMARY 2
// The counts of all bytes.
#define FLAG_BYTE_COUNTS 64
// What the host uploads to the device, and how many words that has.
#define FLAG_UPLOAD 320
#define UPLOAD_WORDS 256
// Words of the host flags in all.
#define FLAG_WORDS 576
