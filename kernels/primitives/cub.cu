// The device-wide primitives of CUB that bwz uses, as C functions for src/gpu/primitives/cub.rs.
//
// Each function takes its temporary storage and the driver's stream, and returns CUDA's error code
// (0 is success). With a null `temp`, it only writes the number of bytes it needs to `temp_bytes`.
// Sorts take pairs of buffers, with the data in the first ones. `*selector` tells if the result is
// there (0) or in the others (1).

#include <cstdint>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

namespace {

struct Max {
    __host__ __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return a > b ? a : b; }
};

template <class Key, class Value>
int sort_pairs(void* temp, size_t* temp_bytes, Key* keys, Key* other_keys, Value* values, Value* other_values,
               uint32_t num_items, int begin_bit, int end_bit, int* selector, cudaStream_t stream) {
    cub::DoubleBuffer<Key> d_keys(keys, other_keys);
    cub::DoubleBuffer<Value> d_values(values, other_values);
    const cudaError_t error = cub::DeviceRadixSort::SortPairs(temp, *temp_bytes, d_keys, d_values, num_items,
                                                              begin_bit, end_bit, stream);
    *selector = d_keys.selector;
    return error;
}

}  // namespace

extern "C" {

int bwz_cub_sort_pairs_u32(void* temp, size_t* temp_bytes, uint32_t* keys, uint32_t* other_keys, uint32_t* values,
                           uint32_t* other_values, uint32_t num_items, int begin_bit, int end_bit, int* selector,
                           cudaStream_t stream) {
    return sort_pairs(temp, temp_bytes, keys, other_keys, values, other_values, num_items, begin_bit, end_bit,
                      selector, stream);
}

int bwz_cub_sort_pairs_u64(void* temp, size_t* temp_bytes, uint64_t* keys, uint64_t* other_keys, uint32_t* values,
                           uint32_t* other_values, uint32_t num_items, int begin_bit, int end_bit, int* selector,
                           cudaStream_t stream) {
    return sort_pairs(temp, temp_bytes, keys, other_keys, values, other_values, num_items, begin_bit, end_bit,
                      selector, stream);
}

int bwz_cub_sort_pairs_u64_u64(void* temp, size_t* temp_bytes, uint64_t* keys, uint64_t* other_keys, uint64_t* values,
                               uint64_t* other_values, uint32_t num_items, int begin_bit, int end_bit, int* selector,
                               cudaStream_t stream) {
    return sort_pairs(temp, temp_bytes, keys, other_keys, values, other_values, num_items, begin_bit, end_bit,
                      selector, stream);
}

int bwz_cub_sort_keys_u64(void* temp, size_t* temp_bytes, uint64_t* keys, uint64_t* other_keys, uint32_t num_items,
                          int begin_bit, int end_bit, int* selector, cudaStream_t stream) {
    cub::DoubleBuffer<uint64_t> d_keys(keys, other_keys);
    const cudaError_t error =
        cub::DeviceRadixSort::SortKeys(temp, *temp_bytes, d_keys, num_items, begin_bit, end_bit, stream);
    *selector = d_keys.selector;
    return error;
}

// `out` may equal `in` in all scans.
int bwz_cub_exclusive_sum_u32(void* temp, size_t* temp_bytes, const uint32_t* in, uint32_t* out, uint32_t num_items,
                              cudaStream_t stream) {
    return cub::DeviceScan::ExclusiveSum(temp, *temp_bytes, in, out, num_items, stream);
}

int bwz_cub_inclusive_sum_u32(void* temp, size_t* temp_bytes, const uint32_t* in, uint32_t* out, uint32_t num_items,
                              cudaStream_t stream) {
    return cub::DeviceScan::InclusiveSum(temp, *temp_bytes, in, out, num_items, stream);
}

int bwz_cub_inclusive_sum_u64(void* temp, size_t* temp_bytes, const uint64_t* in, uint64_t* out, uint32_t num_items,
                              cudaStream_t stream) {
    return cub::DeviceScan::InclusiveSum(temp, *temp_bytes, in, out, num_items, stream);
}

int bwz_cub_inclusive_max_u32(void* temp, size_t* temp_bytes, const uint32_t* in, uint32_t* out, uint32_t num_items,
                              cudaStream_t stream) {
    return cub::DeviceScan::InclusiveScan(temp, *temp_bytes, in, out, Max(), num_items, stream);
}

// Copies the items whose flag is not 0 to `out`, and their number to `num_selected`.
int bwz_cub_select_flagged_u32(void* temp, size_t* temp_bytes, const uint32_t* in, const uint8_t* flags, uint32_t* out,
                               uint32_t* num_selected, uint32_t num_items, cudaStream_t stream) {
    return cub::DeviceSelect::Flagged(temp, *temp_bytes, in, flags, out, num_selected, num_items, stream);
}

}  // extern "C"
