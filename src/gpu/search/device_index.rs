//! An FM-index in device memory that searches many patterns at a time: the host side of
//! `kernels/search/device_index.cu`.
//!
//! The arrays are those of `fm_index`, byte for byte, and are explained there. [`IndexArrays`]
//! lends them.

use crate::base::error::Result;
use crate::gpu::interface::{IndexArrays, RankArrays, SampleArrays};
use crate::gpu::runtime::kernel_structs::{
    IndexView, LocateArgs, SamplesView, SearchArgs, SymbolTables,
};
use crate::gpu::runtime::tuning::THREADS;
use crate::gpu::runtime::{Arena, ArenaAllocator, Array, Gpu};
use std::sync::{Arc, Weak};

/// Position that [`positions`] gives if the samples contradict the BWT.
pub(crate) const NO_POS: u32 = u32::MAX;

/// Size of a line in bytes.
const LINE: usize = 64;

/// Number of CTAs per multiprocessor: as many as it holds at once.
const CTAS: u32 = 8;

/// An index in memory of its own, which all streams of its GPU can read.
#[derive(Debug)]
pub(crate) struct DeviceIndex {
    id: Weak<()>,
    view: IndexView,
    kernels: [&'static str; 2],
    samples: Option<(SamplesView, Arena)>,
    /// The memory that `view` points into.
    _memory: Arena,
}

impl DeviceIndex {
    /// Bytes of device memory that an index takes without its samples.
    pub(crate) fn size(arrays: &IndexArrays) -> Result<usize> {
        let mut measure = Upload {
            gpu: None,
            arena: ArenaAllocator::measuring(),
        };
        view(&mut measure, arrays)?;
        Ok(measure.arena.used())
    }

    /// Copies an index to the device, and waits for the copy.
    pub(crate) fn new(gpu: &Gpu, arrays: &IndexArrays) -> Result<DeviceIndex> {
        let mut memory = Arena::new(gpu, Self::size(arrays)?)?;
        let view = view(
            &mut Upload {
                gpu: Some(gpu),
                arena: memory.allocator(),
            },
            arrays,
        )?;
        let kernels = match arrays.rank {
            RankArrays::BitSliced { planes: 2, .. } => {
                ["device_index/search_two", "device_index/locate_two"]
            }
            RankArrays::BitSliced { planes: 3, .. } => {
                ["device_index/search_three", "device_index/locate_three"]
            }
            RankArrays::BitSliced { .. } => {
                ["device_index/search_four", "device_index/locate_four"]
            }
            RankArrays::Bytes { .. } => ["device_index/search_bytes", "device_index/locate_bytes"],
        };
        Ok(DeviceIndex {
            id: Arc::downgrade(arrays.id),
            view,
            kernels,
            samples: None,
            _memory: memory,
        })
    }

    /// Returns true if this is the index with these arrays.
    pub(crate) fn is_of(&self, arrays: &IndexArrays) -> bool {
        Weak::ptr_eq(&self.id, &Arc::downgrade(arrays.id))
    }

    /// Returns true if the host still has the index.
    pub(crate) fn is_wanted(&self) -> bool {
        self.id.strong_count() > 0
    }

    /// Returns true if it has the k-mer table, or if there is none.
    pub(crate) fn has_kmers_of(&self, arrays: &IndexArrays) -> bool {
        self.view.kmer_length > 0 || arrays.kmers.is_none()
    }

    /// Returns true if it has these samples.
    pub(crate) fn has_samples(&self, samples: &SampleArrays) -> bool {
        self.samples
            .as_ref()
            .is_some_and(|(view, _)| view.rate == samples.rate)
    }

    /// Bytes of device memory that samples take.
    pub(crate) fn samples_size(samples: &SampleArrays) -> Result<usize> {
        let mut measure = Upload {
            gpu: None,
            arena: ArenaAllocator::measuring(),
        };
        samples_view(&mut measure, samples)?;
        Ok(measure.arena.used())
    }

    /// Adds samples, which replace earlier ones.
    pub(crate) fn add_samples(&mut self, gpu: &Gpu, samples: &SampleArrays) -> Result<()> {
        self.samples = None;
        let mut memory = Arena::new(gpu, Self::samples_size(samples)?)?;
        let arena = memory.allocator();
        let view = samples_view(
            &mut Upload {
                gpu: Some(gpu),
                arena,
            },
            samples,
        )?;
        self.samples = Some((view, memory));
        Ok(())
    }
}

/// Allocates arrays, and fills them if there is a GPU; without one it only measures.
struct Upload<'a, 'm> {
    gpu: Option<&'a Gpu>,
    arena: ArenaAllocator<'m>,
}

impl Upload<'_, '_> {
    fn array<T: cudarc::driver::ValidAsZeroBits>(&mut self, items: &[T]) -> Result<u64> {
        self.array_at(0, items)
    }

    /// Uploads items behind a gap, in whole lines.
    fn array_at<T: cudarc::driver::ValidAsZeroBits>(
        &mut self,
        gap: usize,
        items: &[T],
    ) -> Result<u64> {
        let line = LINE.div_ceil(size_of::<T>());
        let array: Array<T> = self
            .arena
            .array((gap + items.len()).next_multiple_of(line));
        if let Some(gpu) = self.gpu
            && !items.is_empty()
        {
            let from = gap as u32;
            let to = (gap + items.len()) as u32;
            // Kernels also read the bytes beside the items, although no result depends on them.
            gpu.zero(array)?;
            gpu.write(items, array.part(from..to))?;
        }
        Ok(array.address())
    }
}

fn view(upload: &mut Upload, arrays: &IndexArrays) -> Result<IndexView> {
    let mut view = IndexView {
        tables: upload.array(&[tables(arrays)])?,
        supers: upload.array(arrays.supers)?,
        n: arrays.len as u32,
        primary: arrays.primary,
        ..IndexView::default()
    };
    match arrays.rank {
        RankArrays::BitSliced {
            lines,
            places,
            rare_symbols,
            by_symbol,
            ends,
            ..
        } => {
            view.lines = upload.array(lines)?;
            view.rare_places = upload.array(places)?;
            view.rare_symbols = upload.array(rare_symbols)?;
            view.rare_by_symbol = upload.array(by_symbol)?;
            view.rare_ends = upload.array(ends)?;
            view.rare = places.len() as u32;
        }
        RankArrays::Bytes {
            bytes,
            skew,
            log,
            stride,
            counters,
        } => {
            view.lines = upload.array_at(skew, bytes)?;
            view.counters = upload.array(counters)?;
            (view.skew, view.log, view.stride) = (skew as u32, log as u32, stride as u32);
        }
    }
    if let Some(kmers) = arrays.kmers {
        view.kmers = upload.array(kmers.intervals.as_flattened())?;
        (view.kmer_length, view.kmer_sigma) = (kmers.length as u32, kmers.sigma as u32);
    }
    Ok(view)
}

/// The tables in which a search looks up symbols.
fn tables(arrays: &IndexArrays) -> SymbolTables {
    let symbols = match arrays.rank {
        RankArrays::BitSliced { symbols, .. } => *symbols,
        RankArrays::Bytes { .. } => [0; 16],
    };
    let kmer_codes = arrays
        .kmers
        .map_or([255; 256], |kmers| *kmers.codes);
    SymbolTables {
        starts: *arrays.starts,
        codes: *arrays.codes,
        kmer_codes,
        symbols,
    }
}

fn samples_view(upload: &mut Upload, samples: &SampleArrays) -> Result<SamplesView> {
    Ok(SamplesView {
        marks: upload.array(samples.marks)?,
        ranks: upload.array(samples.ranks)?,
        numbers: upload.array(samples.numbers)?,
        rate: samples.rate,
        none: 0,
    })
}

/// Number of CTAs for `threads` threads. If there are more threads than the GPU holds, each takes
/// several items.
fn ctas(gpu: &Gpu, threads: u32) -> u32 {
    threads
        .div_ceil(THREADS)
        .min(CTAS * gpu.processors())
}

/// Queues the search of patterns. Pattern k is `text[starts[k]..starts[k + 1]]`, and its interval
/// is written to `rows[2 * k..2 * k + 2]`. `text` is read in words of 8 bytes.
#[allow(unsafe_code)]
pub(crate) fn intervals(
    gpu: &Gpu,
    index: &DeviceIndex,
    text: Array<u8>,
    starts: Array<u32>,
    rows: Array<u32>,
) -> Result<()> {
    let count = rows.len() / 2;
    assert!(starts.len() > count && text.len().is_multiple_of(8));
    let text = text.address();
    let starts = starts.address();
    let rows = rows.address();
    let job = SearchArgs {
        index: index.view,
        text,
        starts,
        rows,
        count,
    };
    // SAFETY: the struct is the kernel's, the index is alive, and `starts` and `rows` are long
    // enough. The caller sees to it that the starts ascend and lie within the text.
    unsafe { gpu.launch_struct(index.kernels[0], ctas(gpu, 2 * count), THREADS, &job) }
}

/// Queues walks from rows, each at most n, to their positions.
///
/// # Panics
/// If the index was not given its samples.
#[allow(unsafe_code)]
pub(crate) fn positions(
    gpu: &Gpu,
    index: &DeviceIndex,
    rows: Array<u32>,
    positions: Array<u32>,
) -> Result<()> {
    let count = positions.len();
    assert!(rows.len() >= count);
    let (samples, _) = index
        .samples
        .as_ref()
        .expect("samples were added");
    let rows = rows.address();
    let positions = positions.address();
    let job = LocateArgs {
        index: index.view,
        samples: *samples,
        rows,
        positions,
        count,
    };
    // SAFETY: the struct is the kernel's, the index is alive, and there are `count` rows and
    // positions.
    unsafe { gpu.launch_struct(index.kernels[1], ctas(gpu, count), THREADS, &job) }
}
