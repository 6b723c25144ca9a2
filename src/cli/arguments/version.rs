//! The version of this build.

use std::sync::LazyLock;

/// Returns the text of `--version`: the version, and the line of [`kernels`].
pub(crate) fn long() -> &'static str {
    static TEXT: LazyLock<String> =
        LazyLock::new(|| format!("{}\n{}", env!("CARGO_PKG_VERSION"), kernels()));
    &TEXT
}

/// Returns a line about the kernels of this build: their CUDA version and compute capabilities, or
/// that there are none.
pub(crate) fn kernels() -> String {
    if !bwz::cuda::is_built() {
        return "kernels: none, since this build has no CUDA".into();
    }
    let built = bwz::cuda::BUILT;
    let archs: Vec<String> = built
        .archs
        .iter()
        .map(|arch| format!("{}.{}", arch / 10, arch % 10))
        .collect();
    format!(
        "kernels: CUDA {}, for compute capability {}",
        built.cuda,
        archs.join(", ")
    )
}
