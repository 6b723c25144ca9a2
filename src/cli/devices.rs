//! `bwz devices` and `bwz --version`: what was built in, and what is there.

use super::bench::say;
use super::console;
use super::exit::Exit;
use bwz::Result;
use std::sync::LazyLock;

/// What `--version` says: the version, and what the kernels were built with, if there are any.
pub fn long_version() -> &'static str {
    static TEXT: LazyLock<String> =
        LazyLock::new(|| format!("{}\n{}", env!("CARGO_PKG_VERSION"), kernels()));
    &TEXT
}

/// Lists the devices that blocks can be sorted and searched on.
pub fn run() -> Exit {
    match list() {
        Ok(()) => Exit::Fine,
        Err(e) => console::fail(&e),
    }
}

fn list() -> Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    say(format_args!("{}", kernels()))?;
    say(format_args!("cpu     {threads} threads"))?;
    gpus()
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

fn gpus() -> Result<()> {
    let devices = match bwz::cuda::devices() {
        Ok(devices) => devices,
        // Not having any is an answer, not a failure.
        Err(e) => return say(format_args!("cuda    none: {e}")),
    };
    for gpu in devices {
        let (major, minor) = gpu.capability;
        let memory = super::size::human(gpu.memory);
        say(format_args!(
            "cuda:{:<2} {}, {memory}, compute capability {major}.{minor}",
            gpu.number, gpu.name
        ))?;
    }
    Ok(())
}
