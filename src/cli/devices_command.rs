//! `bwz devices` and `bwz --version`: what was built in, and what is there.

use super::console::{self, printable};
use super::descriptors;
use super::exit::Exit;
use super::size::human;
use bwz::cuda::DeviceInfo;
use std::io::Write;
use std::sync::LazyLock;

/// What `--version` says: the version, and what the kernels were built with, if there are any.
pub fn long_version() -> &'static str {
    static TEXT: LazyLock<String> =
        LazyLock::new(|| format!("{}\n{}", env!("CARGO_PKG_VERSION"), kernels()));
    &TEXT
}

/// Lists the devices that blocks can be sorted and searched on.
pub fn run() -> Exit {
    let mut lines = vec![kernels()];
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    lines.push(format!("cpu     {threads} threads"));
    match bwz::cuda::devices() {
        Ok(devices) => lines.extend(devices.iter().map(gpu)),
        // Not having any is an answer, not a failure.
        Err(e) => lines.push(format!("cuda    none: {e}")),
    }
    let text: String = lines.iter().map(|line| printable(line) + "\n").collect();
    match descriptors::stdout().and_then(|mut out| out.write_all(text.as_bytes())) {
        Ok(()) => Exit::Fine,
        Err(e) => console::fail(&e.into()),
    }
}

fn kernels() -> String {
    if !bwz::cuda::is_built() {
        return "kernels: none, as this build has no CUDA in it".into();
    }
    let built = bwz::cuda::BUILT;
    let archs: Vec<String> =
        built.archs.iter().map(|arch| format!("{}.{}", arch / 10, arch % 10)).collect();
    format!("kernels: CUDA {}, for compute capability {}", built.cuda, archs.join(", "))
}

fn gpu(gpu: &DeviceInfo) -> String {
    let ((major, minor), memory) = (gpu.capability, human(gpu.memory));
    format!("cuda:{:<2} {}, {memory}, compute capability {major}.{minor}", gpu.number, gpu.name)
}
