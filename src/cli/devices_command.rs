//! `bwz devices`: lists the devices of this machine, and the CUDA version of the kernels.

use crate::cli::arguments::size::human;
use crate::cli::arguments::version;
use crate::cli::files::descriptors;
use crate::cli::report::console::{self, printable};
use crate::cli::report::exit::Exit;
use bwz::cuda::DeviceInfo;
use std::io::Write;

/// Lists the devices that blocks can be sorted and searched on.
pub(super) fn run() -> Exit {
    let mut lines = vec![version::kernels()];
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    lines.push(format!("cpu     {threads} threads"));
    match bwz::cuda::devices() {
        Ok(devices) => lines.extend(devices.iter().map(gpu)),
        // Having no GPU is an answer, not a failure.
        Err(e) => lines.push(format!("cuda    none: {e}")),
    }
    let text: String = lines
        .iter()
        .map(|line| printable(line) + "\n")
        .collect();
    match descriptors::stdout().and_then(|mut out| out.write_all(text.as_bytes())) {
        Ok(()) => Exit::Fine,
        Err(e) => console::fail(&e.into()),
    }
}

fn gpu(gpu: &DeviceInfo) -> String {
    let (major, minor) = gpu.capability;
    let memory = human(gpu.memory);
    format!(
        "cuda:{:<2} {}, {memory}, compute capability {major}.{minor}",
        gpu.number, gpu.name
    )
}
