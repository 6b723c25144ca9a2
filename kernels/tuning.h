// Numbers that kernels and host share. kernels/build.rs turns each #define into a Rust constant of gpu::tuning.
#pragma once

// Threads per CTA of kernels that give each item a thread.
#define THREADS 256
// Bytes of a suffix that the first sort of `ls` compares.
#define FIRST_SYMBOLS 8
// Percent of all suffixes still tied after 16 bytes above which `default` leaves `ls` for `skew`.
#define HOPELESS_PERCENT 97
// Bytes behind a text that must be there and zero.
#define TEXT_PADDING 16

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
