// CUB primitives behind plain C entries (in-stream, preallocated temp storage).
#include <cub/device/device_radix_sort.cuh>
#include <cstdint>
extern "C" size_t cubs_sort_temp(uint32_t n) {
  size_t t = 0; cub::DoubleBuffer<uint64_t> k(nullptr, nullptr); cub::DoubleBuffer<uint32_t> v(nullptr, nullptr);
  cub::DeviceRadixSort::SortPairs(nullptr, t, k, v, n, 0, 64);
  return t;
}
// Sorts pairs on key bits [lo, hi); returns which of the two buffers holds the result (0 or 1), -1 on error.
extern "C" int cubs_sort(void* temp, size_t tempBytes, uint64_t* k0, uint64_t* k1, uint32_t* v0, uint32_t* v1, uint32_t n, int lo, int hi, cudaStream_t s) {
  cub::DoubleBuffer<uint64_t> k(k0, k1); cub::DoubleBuffer<uint32_t> v(v0, v1);
  if (cub::DeviceRadixSort::SortPairs(temp, tempBytes, k, v, n, lo, hi, s) != cudaSuccess) return -1;
  return k.selector;
}
