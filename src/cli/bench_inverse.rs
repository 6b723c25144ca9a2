//! `bwz bench inverse`: the inverse transform alone, on a GPU, on all threads, and by libsais on
//! one.
//!
//! For each, the best and the median of all runs in MB/s. A file is one block, or with `--block`
//! several. On a GPU each of these has memory of its own, and `-j` of them are in flight at a time:
//! the time is that from pinned memory of the host to the same for all of them. Every text is
//! compared with what was sorted.

use super::args::Talk;
use super::bench::say;
use super::bench_args::InverseArgs;
use super::bench_sort::row;
use super::console::Task;
use super::exit::Exit;
use super::files;
use super::input::Input;
use super::size;
use bwz::bwt::{self, Bwt, Sorter};
use bwz::{Device, Error, MAX_BLOCK_SIZE, Result};
use std::io::Read;
use std::time::{Duration, Instant};

/// Measures with each file.
pub fn run(args: &InverseArgs) -> Exit {
    let talk = Talk { verbose: 0, quiet: false, no_progress: true };
    files::each(&args.files, None, talk, Task::Compressing, |name| {
        let mut text = Vec::new();
        Input::open(name, true)?.source.read_to_end(&mut text)?;
        let size = args.block.unwrap_or(u64::MAX).min(MAX_BLOCK_SIZE.into()) as usize;
        if text.is_empty() || size == 0 {
            return Err(Error::Usage("there is nothing to restore".into()));
        }
        let blocks = text.len().div_ceil(size);
        say(format_args!(
            "{name}: {} bytes in {}, best and median of {}",
            text.len(),
            size::count(blocks as u64, "block"),
            args.beside.runs
        ))?;
        one(args, &text, size)
    })
}

fn one(args: &InverseArgs, text: &[u8], size: usize) -> Result<()> {
    let blocks = sorted(args.beside.device, text, size)?;
    if !args.beside.no_cpu {
        libsais(args, text, &blocks)?;
        let invert = |blocks: Vec<Bwt>| blocks.into_iter().map(bwt::invert).collect();
        let (times, texts): (_, Vec<_>) = time(args.beside.runs, || Ok(blocks.clone()), invert)?;
        assert!(texts.concat() == text, "the CPU does not give back what went in");
        row("bwz", text.len(), &times, "on all threads, block after block")?;
    }
    match args.beside.device {
        Device::Cuda(number) => gpu(args, number, text, &blocks),
        Device::Auto | Device::Cpu => Ok(()),
    }
}

/// The transforms of all blocks. What sorts them gives its memory back.
fn sorted(device: Device, text: &[u8], size: usize) -> Result<Vec<Bwt>> {
    let mut sorter = Sorter::new(device)?;
    text.chunks(size).map(|block| sorter.sort(block, bwt::sample_rate(block.len()))).collect()
}

#[allow(unsafe_code)]
fn libsais(args: &InverseArgs, text: &[u8], blocks: &[Bwt]) -> Result<()> {
    use ::libsais::{bwt::Bwt, typestate::OwnedBuffer};
    let prepare = || {
        let parts = blocks.iter().map(|block| (block.bytes.clone(), block.samples[0] as usize));
        // SAFETY: the parts are those of a sorted block, and `Sorter` gives them as libsais does.
        let of = |(bytes, primary)| unsafe { Bwt::<u8, OwnedBuffer>::from_parts(bytes, primary) };
        Ok(parts.map(of).collect::<Vec<_>>())
    };
    let invert = |blocks: Vec<Bwt<u8, OwnedBuffer>>| {
        let invert = |block: Bwt<u8, OwnedBuffer>| {
            block.unbwt().with_owned_temporary_array_buffer32().single_threaded().run()
        };
        let restored = blocks.into_iter().map(invert).collect::<Result<Vec<_>, _>>();
        restored.map_err(|e| Error::Usage(format!("libsais: {e:?}").into()))
    };
    let (times, _) = time(args.beside.runs, prepare, invert)?;
    row("libsais", text.len(), &times, "on one thread")
}

fn gpu(args: &InverseArgs, number: u32, text: &[u8], blocks: &[Bwt]) -> Result<()> {
    let in_flight = usize::from(args.in_flight).min(blocks.len());
    let size = blocks[0].bytes.len();
    let places = blocks.iter().zip(text.chunks(size)).map(|(bwt, text)| {
        let mut inverse = bwz::gpu::InverseBwt::new(number)?;
        inverse.reserve(bwt.bytes.len() as u32, bwt.samples.len() as u32)?;
        Ok(Place { bwt, text, inverse })
    });
    let mut places = places.collect::<Result<Vec<Place>>>()?;
    // The first run is for the driver.
    restore_all(&mut places, in_flight)?;
    let runs = (0..args.beside.runs).map(|_| restore_all(&mut places, in_flight));
    let mut times = runs.collect::<Result<Vec<_>>>()?;
    times.sort();
    row("gpu", text.len(), &times, &format!("with copies, {in_flight} in flight"))?;
    let memory = places[0].inverse.memory() as f64 / size as f64;
    say(format_args!("    {memory:.1} bytes of memory each"))
}

/// A block, and what it is restored with.
struct Place<'a> {
    bwt: &'a Bwt,
    text: &'a [u8],
    inverse: bwz::gpu::InverseBwt,
}

/// How long it takes to restore all blocks, so many at a time.
fn restore_all(places: &mut [Place], in_flight: usize) -> Result<Duration> {
    use std::sync::{Mutex, PoisonError};
    for Place { bwt, inverse, .. } in &mut *places {
        inverse.input(bwt.bytes.len())?.copy_from_slice(&bwt.bytes);
    }
    let jobs = Mutex::new(places.iter_mut());
    let restored = Mutex::new(Vec::new());
    let work = || -> Result<()> {
        loop {
            let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(Place { bwt, text, inverse }) = job else { return Ok(()) };
            let out = inverse.invert_input(bwt.sample_rate, &bwt.samples)?;
            restored.lock().unwrap_or_else(PoisonError::into_inner).push((out, *text));
        }
    };
    let start = Instant::now();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..in_flight).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no panic"))
    })?;
    let took = start.elapsed();
    let restored = restored.into_inner().unwrap_or_else(PoisonError::into_inner);
    let right = restored.iter().filter(|(out, text)| out == text).count();
    assert_eq!(right, restored.len(), "the GPU does not give back what went in");
    Ok(took)
}

/// The times of all runs in order, without what prepares each, and what came of the last.
fn time<A, B>(
    runs: u16,
    mut prepare: impl FnMut() -> Result<A>,
    mut work: impl FnMut(A) -> Result<B>,
) -> Result<(Vec<Duration>, B)> {
    let mut times = Vec::new();
    loop {
        let input = prepare()?;
        let start = Instant::now();
        let done = work(input)?;
        times.push(start.elapsed());
        if times.len() == usize::from(runs) {
            times.sort();
            return Ok((times, done));
        }
    }
}
