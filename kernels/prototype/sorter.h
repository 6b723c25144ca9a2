#pragma once
#include <cstdint>
#include <cstddef>
#include <string>
struct Sorter;
Sorter* sorter_new(uint32_t max_n);
void sorter_free(Sorter*);
// All host buffers pinned. out: n bytes; samples: (n-1)/r+1 words, r a power of two. Returns the primary row.
uint32_t sorter_bwt(Sorter*, const uint8_t* text, uint32_t n, uint8_t* out, uint32_t r, uint32_t* samples);
extern bool sorter_trace;             // time every stage
std::string sorter_report();          // the last traced run
size_t sorter_bytes(Sorter*);
void* pinned_alloc(size_t);
