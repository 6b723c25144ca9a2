//! The mutator of whole files: half of the changes are libFuzzer's, half are made by someone who
//! knows the format.

#[path = "../tests/common/mutation/mod.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod mutation;

/// Changes the `size` bytes at the front of `data` to at most `max_size` and gives their new
/// number.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let file = &data[..size];
    if file.starts_with(&bwz::MAGIC) && seed.is_multiple_of(2) {
        let changed = mutation::mutate(file, seed.into());
        if (1..=max_size).contains(&changed.len()) {
            data[..changed.len()].copy_from_slice(&changed);
            return changed.len();
        }
    }
    libfuzzer_sys::fuzzer_mutate(data, size, max_size)
}
