//! Range minima and longest common extensions in device memory: the host side of
//! `kernels/lcp/device_minima.cu`.

use crate::base::error::Result;
use crate::gpu::runtime::kernel_structs::{LevelArgs, MinimaQueries, MinimaView};
use crate::gpu::runtime::tuning::{MINIMA_BLOCK, THREADS};
use crate::gpu::runtime::{Arena, ArenaAllocator, Array, Gpu, measure};

/// Number of threads that share the minimum of a range.
const TOGETHER: u32 = 16;

/// Values with the table of their minima, in memory of their own that all streams of the GPU can
/// read. The values of an LCP array come with the row of each position.
#[derive(Debug)]
pub(crate) struct DeviceMinima {
    view: MinimaView,
    /// Device address of the rows of positions; 0 if there are none.
    places: u64,
    /// The memory that both point into.
    _memory: Arena,
}

struct DeviceMinimaArrays<'m> {
    values: Array<'m, u32>,
    levels: Array<'m, u32>,
    places: Array<'m, u32>,
}

impl<'m> DeviceMinimaArrays<'m> {
    fn allocate(arena: &mut ArenaAllocator<'m>, n: u32, places: u32) -> Self {
        let blocks = n.div_ceil(MINIMA_BLOCK) as usize;
        DeviceMinimaArrays {
            values: arena.array(blocks * MINIMA_BLOCK as usize),
            levels: arena.array(blocks * (blocks.ilog2() as usize + 1)),
            places: arena.array(places as usize),
        }
    }
}

impl DeviceMinima {
    /// Copies values and rows to the device, makes the table, and waits for it. There must be at
    /// least one value, and either as many rows or none.
    pub(crate) fn new(gpu: &Gpu, values: &[u32], rows: &[u32]) -> Result<Self> {
        assert!(!values.is_empty() && (rows.is_empty() || rows.len() == values.len()));
        let n = values.len() as u32;
        let places = rows.len() as u32;
        let size = measure(|arena| Ok(DeviceMinimaArrays::allocate(arena, n, places)))?;
        let mut memory = Arena::new(gpu, size)?;
        let arrays = DeviceMinimaArrays::allocate(&mut memory.allocator(), n, places);
        gpu.write(values, arrays.values)?;
        if places > 0 {
            gpu.write(rows, arrays.places)?;
        }
        let view = MinimaView {
            values: arrays.values.address(),
            levels: arrays.levels.address(),
            n,
            blocks: n.div_ceil(MINIMA_BLOCK),
        };
        make_levels(gpu, view)?;
        gpu.wait()?;
        let places = if places > 0 {
            arrays.places.address()
        } else {
            0
        };
        Ok(DeviceMinima {
            view,
            places,
            _memory: memory,
        })
    }

    /// Queues queries for the smallest value of each range. `queries` holds both ends of each
    /// range. The answer for an empty range is `u32::MAX`.
    #[allow(unsafe_code)]
    pub(crate) fn least(&self, gpu: &Gpu, queries: Array<u32>, found: Array<u32>) -> Result<()> {
        let job = self.job(queries, found);
        let ctas = ctas(job.count);
        // SAFETY: the struct is the kernel's, and its arrays are long enough. The caller sees to it
        // that ranges end within the values.
        unsafe { gpu.launch_struct("device_minima/least_of_ranges", ctas, THREADS, &job) }
    }

    /// Queues queries for the longest common prefix of the suffixes at two positions.
    ///
    /// # Panics
    /// If there are no rows of positions.
    #[allow(unsafe_code)]
    pub(crate) fn longest(&self, gpu: &Gpu, queries: Array<u32>, found: Array<u32>) -> Result<()> {
        assert!(self.places > 0, "these are not the values of an LCP array");
        let job = self.job(queries, found);
        let ctas = ctas(job.count);
        // SAFETY: as above. The caller sees to it that positions lie in the text.
        unsafe { gpu.launch_struct("device_minima/longest_extensions", ctas, THREADS, &job) }
    }

    fn job(&self, queries: Array<u32>, found: Array<u32>) -> MinimaQueries {
        let count = found.len();
        assert!(queries.len() == 2 * count);
        let queries = queries.address();
        let found = found.address();
        MinimaQueries {
            minima: self.view,
            places: self.places,
            queries,
            found,
            count,
            none: 0,
        }
    }
}

fn ctas(queries: u32) -> u32 {
    queries.div_ceil(THREADS / TOGETHER)
}

/// Queues the kernels that make the table.
#[allow(unsafe_code)]
fn make_levels(gpu: &Gpu, view: MinimaView) -> Result<()> {
    // SAFETY: the struct is the kernel's, and there is room for all levels.
    unsafe {
        gpu.launch_struct(
            "device_minima/block_minima",
            ctas(view.blocks),
            THREADS,
            &view,
        )?
    };
    for level in 1..=view.blocks.ilog2() {
        let args = LevelArgs {
            minima: view,
            level,
            none: 0,
        };
        let ctas = view.blocks.div_ceil(THREADS);
        // SAFETY: as above.
        unsafe { gpu.launch_struct("device_minima/double_blocks", ctas, THREADS, &args)? };
    }
    Ok(())
}
