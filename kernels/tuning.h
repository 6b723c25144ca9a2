// Numbers that kernels and host share. kernels/build.rs turns each #define into a Rust constant of gpu::tuning.
#pragma once

// Threads per CTA of kernels that give each item a thread.
#define THREADS 256
// Bytes of a suffix that the first sort of `ls` compares.
#define FIRST_SYMBOLS 8
// Bytes behind a text that must be there and zero.
#define TEXT_PADDING 64

// Threads of a CTA that sorts or merges a tile.
#define TILE_THREADS 256
// Items of each of these threads.
#define TILE_ITEMS 8
// Items of a tile.
#define TILE 2048

// Kinds of segment sizes: 2, 4, 8, 16, 32, MEDIUM_LOW, MEDIUM_HIGH, LARGE and all above.
#define SIZE_CLASSES 9
// Classes whose segments a part of a warp sorts.
#define SMALL_CLASSES 5
// Items of the largest segment that a CTA of few threads sorts.
#define MEDIUM_LOW 256
// Threads of that CTA.
#define MEDIUM_LOW_THREADS 64
// Items of the largest segment that one CTA sorts: a tile.
#define MEDIUM_HIGH 2048
// Items of the largest segment that is sorted by merging tiles; a larger one has a radix sort of its own.
#define LARGE 1048576

// Positions of a CTA that makes first keys or chooses anchors.
#define KEY_TILE 4096
// Members of the largest group that a CTA sorts in shared memory.
#define HALO 128
// Most local entries of a refining CTA: HALO, a tile, HALO.
#define REFINE_TILE 2048
// Threads of a refining CTA.
#define REFINE_THREADS 512
// Entries of each of these threads.
#define REFINE_ITEMS 4
// Words of 32 bits, one for each of these entries.
#define REFINE_WORDS 64
// Refining CTAs that fill a large GPU: lists shorter than so many whole tiles are cut into smaller ones.
#define REFINE_CTAS 396
// Items of a CTA that selects anchors or marks ranks.
#define MARK_TILE 1536
// Items of each of its threads.
#define MARK_ITEMS 6
// Words of 32 bits, one for each of these items.
#define MARK_WORDS 48
// Keys of a list: the next symbols.
#define TEXT_KEYS 0
// Keys of a list of anchors: the ranks of later anchors.
#define ANCHOR_KEYS 1
// Keys of a list: the rank of the next anchor.
#define FINISH_KEYS 2
