// Numbers that kernels and host share. kernels/build.rs turns each #define into a Rust constant of
// gpu::runtime::tuning.
#pragma once

// Threads per CTA of kernels with one thread per item.
#define THREADS 256
// Bytes of a suffix that the first sort of `ls` compares.
#define FIRST_SYMBOLS 8
// Number of zero bytes that must follow a text.
#define TEXT_PADDING 128

// Threads of a CTA that sorts or merges a tile.
#define TILE_THREADS 256
// Items per thread of such a CTA.
#define TILE_ITEMS 8
// Items per tile.
#define TILE 2048

// Bins of segment sizes: 2, 4, 8, 16, 32, MEDIUM_LOW, MEDIUM_HIGH, LARGE and all above.
#define SIZE_BINS 9
// Number of bins whose segments are sorted by a part of a warp.
#define SMALL_BINS 5
// Items in the largest segment that is sorted by a CTA of few threads.
#define MEDIUM_LOW 256
// Threads of that CTA.
#define MEDIUM_LOW_THREADS 64
// Items in the largest segment that is sorted by one CTA: a tile.
#define MEDIUM_HIGH 2048
// Items in the largest segment sorted by merging tiles. Larger ones get a radix sort each.
#define LARGE 1048576

// Positions per CTA of a kernel that makes first keys or chooses minimizers.
#define KEY_TILE 4096
// Words of counts: one per byte value, one for CTAs, three for repeats.
#define BYTE_COUNT_WORDS 260
// Bytes whose part of a text's CRC-32 one thread computes. A multiple of 4.
#define CHECKSUM_CHUNK 512
// Bytes compared to find out if a text is repeated at all.
#define REPEAT_SHORT 24
// Bytes compared to find out if a text is repeated over long distances.
#define REPEAT_LONG 1024
// Distance between the groups of 8 bytes that this comparison reads.
#define REPEAT_STEP 128
// Items in the largest group that a CTA sorts in shared memory.
#define HALO 128
// Maximum items of a refining CTA: HALO, a tile, HALO. At most 2048, since a member has 11 bits.
#define REFINE_TILE 1536
// Threads of a refining CTA.
#define REFINE_THREADS 384
// Items per thread of a refining CTA.
#define REFINE_ITEMS 4
// Words with one bit for each of its items.
#define REFINE_WORDS 48
// Number of refining CTAs that a multiprocessor runs at once.
#define REFINE_CTAS 5
// Maximum number of bytes that a round of text skips if a whole group shares them.
#define SKIP 64
// Items per CTA of a kernel that selects minimizers or marks ranks.
#define MARK_TILE 1536
// Items per thread of such a CTA.
#define MARK_ITEMS 6
// Words with one bit for each of its items.
#define MARK_WORDS 48
// Maximum number of words of a compacted tile.
#define MOST_WORDS 48
// Items per thread of the kernel that makes keys of a list.
#define LIST_ITEMS 4
// Maximum number of positions behind a minimizer with which it is compared.
#define MOST_WINDOW 64
// Maximum number of positions behind a minimizer of the sparse level with which it is compared.
#define MOST_SPARSE_WINDOW 256

// Keys of a list: the next symbols.
#define TEXT_KEYS 0
// Keys of a list of minimizers: ranks of later minimizers.
#define MINIMIZER_KEYS 1
// Keys of a list: rank of the next minimizer.
#define FINISH_KEYS 2
// Keys of a list of sparse minimizers: ranks of later sparse ones, or text.
#define SPARSE_KEYS 3
// Keys of a list of minimizers: rank of the next sparse one, or as MINIMIZER_KEYS.
#define DENSE_KEYS 4

// Bytes of a BWT that a CTA of the inverse counts.
#define INVERSE_TILE 4096

// Number of context leaves for run lengths. Each leaf has a table of 16 symbols.
#define RUN_LEAVES 64
// Number of context leaves for MTF ranks.
#define RANK_LEAVES 256
// Number of tables of extra bits, which follow those of the leaves.
#define EXTRA_TABLES 12
// Number of all tables of a block.
#define MODEL_TABLES 332
// Warps per CTA that codes slices. Each warp codes one slice.
#define CODER_WARPS 4
// Slices per CTA that encodes them by rANS, with one thread per state.
#define ENCODE_SLICES 32
// Bound on the averages of run lengths and of MTF ranks.
#define AVERAGES 608
// Bytes of a BWT in which a CTA finds the heads of runs.
#define RUN_TILE 4096

// Rows in which a CTA finds the heads of runs.
#define LCP_ROWS 2048
// Minimum number of bytes of a row that two loads of 16 bytes contain.
#define LCP_CERTAIN 17
// Number of bytes that a thread compares.
#define LCP_SHORT 64
// Number of bytes up to which a warp compares.
#define LCP_LONG 4096
// Bytes per tile of a longer comparison.
#define LCP_TILE 16384
// Rows of an LCP array that go to the host together.
#define LCP_CHUNK 2097152
// Byte of an LCP value that is as large or larger. Such a value is sent separately.
#define LCP_LONG_BYTE 255
// Rows per thread of the kernel that makes these bytes.
#define LCP_ROW_ITEMS 4
// Rows per CTA of that kernel: a tile, whose long values are stored together.
#define LCP_SPLIT 1024
// Start given for a tile without long values.
#define LCP_NO_VALUES 0xFFFFFFFF
// Largest text whose positions go to the host in 3 bytes each.
#define LCP_PACKED 16777216
// Number of values in a block of a table of range minima.
#define MINIMA_BLOCK 64

// Maximum number of GPUs that sort one text together.
#define MOST_PROCESSORS 64
// Number of first-key bits by which these GPUs divide its suffixes.
#define RANGE_BITS 11

// Word of the host flags for a count of items, which the host polls.
#define FLAG_ITEMS 0
// Word for a count of groups, which is written before that of items.
#define FLAG_GROUPS 1
// Word for the row of the whole text.
#define FLAG_PRIMARY 2
// First of the words for the counts of all byte values.
#define FLAG_BYTE_COUNTS 64
// First of the words that the host uploads to the device.
#define FLAG_UPLOAD 320
// Number of words that the host can upload.
#define UPLOAD_WORDS 256
// Number of words of the host flags.
#define FLAG_WORDS 576
