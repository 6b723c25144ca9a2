//! What this build is.

use std::sync::LazyLock;

/// What `--version` says: the version, and what the kernels were built with, if there are any.
pub fn long() -> &'static str {
    static TEXT: LazyLock<String> =
        LazyLock::new(|| format!("{}\n{}", env!("CARGO_PKG_VERSION"), kernels()));
    &TEXT
}

/// What the kernels were built with, if there are any.
pub fn kernels() -> String {
    if !bwz::cuda::is_built() {
        return "kernels: none, as this build has no CUDA in it".into();
    }
    let built = bwz::cuda::BUILT;
    let archs: Vec<String> =
        built.archs.iter().map(|arch| format!("{}.{}", arch / 10, arch % 10)).collect();
    format!("kernels: CUDA {}, for compute capability {}", built.cuda, archs.join(", "))
}
