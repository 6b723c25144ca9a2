//! Frames in, raw stream out: [`decompress`] for a `Write`, [`Decoder`] as a `Read`.
//!
//! Blocks flow reader -> segment decoders -> inverse -> writer through a [`Pipeline`]; segments of one block after another and
//! lanes of one inverse are spread over the same rayon pool; GPUs take part in the inverse where that is faster. No byte is given out
//! before its block's checksum held.

use crate::allocation;
use crate::bwt::{self, Bwt, Unsorter};
use crate::coder;
use crate::compress::Summary;
use crate::error::{Error, Flaw, Result};
use crate::events::{Listener, Step};
use crate::filter::{self, Filtered};
use crate::frame::{
    BlockHeader, BwtPayload, CodedBlock, FrameReader, Index, Kind, Shape, checksum_holds,
};
use crate::memory::{Plan, Shortage};
use crate::options::{MAX_BLOCK_SIZE, Options};
use crate::pipeline::Pipeline;
use crate::raw::{Raw, Run};
use crate::sorters::Unsorters;
use crate::threads::{self, Threads};
use rayon::ThreadPool;
use std::fmt;
use std::io::{self, Read, Write};
use std::iter;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

/// Decompresses all frames of `input`.
///
/// Blocks are worked on side by side, as many as threads and memory allow, and written in order.
///
/// # Errors
/// [`Error::Format`] where the input is damaged or not ours: what was written before it is right and complete
/// up to that block. [`Error::Limit`] where a block needs more memory than the options allow, [`Error::OutputLimit`] where it makes
/// more output. [`Error::Io`] from either side.
///
/// ```
/// let options = bwz::Options::new();
/// let mut file = Vec::new();
/// bwz::compress(&b"a rose is a rose"[..], &mut file, &options)?;
///
/// let mut text = Vec::new();
/// bwz::decompress(&file[..], &mut text, &options)?;
/// assert_eq!(text, b"a rose is a rose");
/// # Ok::<(), bwz::Error>(())
/// ```
pub fn decompress<R: Read + Send, W: Write>(
    input: R,
    mut output: W,
    options: &Options,
) -> Result<Summary> {
    let mut frames = FrameReader::new(input, options);
    let mut raw_size = 0;
    let mut write = |raw: Raw| {
        raw_size += raw.len() as u64;
        Ok(raw.write(0..raw.len(), &mut output)?)
    };
    if let Some(raw) = small_first(&mut frames, options)? {
        write(raw)?;
    }
    let mut pool = None;
    while let Some(block_size) = frames.next_block_size()? {
        let pool = match &mut pool {
            Some(pool) => pool,
            none => none.insert(Arc::new(threads::pool(options)?)),
        };
        let (number, offset) = frames.place();
        let started = start_above(block_size, pool, options);
        let (planned, pipeline) = started.map_err(|e| e.at(number, offset))?;
        let blocks = iter::from_fn(|| frames.next_block(planned));
        pipeline.run(blocks, &mut write, || options.listener().failed())?;
    }
    output.flush()?;
    Ok(Summary { raw_size, coded_size: frames.offset() })
}

/// Restores the first block where it is small: most often no other follows, for which threads would have to be started.
fn small_first(frames: &mut FrameReader<impl Read>, options: &Options) -> Result<Option<Raw>> {
    let size = frames.next_block_size()?;
    let Some(size) = size.filter(|&size| threads::calling_does(size, options)) else {
        return Ok(None);
    };
    let (number, offset) = frames.place();
    let (_, stages) = plan(size, Threads::Calling, options).map_err(|e| e.at(number, offset))?;
    let block = frames.next_block(size);
    block.map(|block| stages.finish(stages.decode(block?)?)).transpose()
}

/// From a coded block to its raw bytes.
type Restoring = Pipeline<CodedBlock, Raw, Error>;

/// Starts the stages for the blocks of a frame, and somewhat larger ones where the memory allows: frames whose blocks
/// grow little by little shall not start them anew each time. Gives the size that they are for.
fn start_above(
    block_size: u32,
    pool: &Arc<ThreadPool>,
    options: &Options,
) -> Result<(u32, Restoring)> {
    let rounded = block_size.max(1 << 20).checked_next_power_of_two().unwrap_or(block_size);
    let roomy = rounded.min(MAX_BLOCK_SIZE);
    match start(roomy, pool, options) {
        Err(Error::Limit { .. }) => Ok((block_size, start(block_size, pool, options)?)),
        started => Ok((roomy, started?)),
    }
}

/// Starts the stages for blocks of up to `block_size` bytes.
pub(crate) fn start(
    block_size: u32,
    pool: &Arc<ThreadPool>,
    options: &Options,
) -> Result<Restoring> {
    let (plan, stages) = plan(block_size, Threads::Pool(Arc::clone(pool)), options)?;
    let stages = Arc::new(stages);
    let decoders = (0..plan.coders).map(|_| {
        let stages = Arc::clone(&stages);
        move |block: CodedBlock| stages.decode(block)
    });
    let unsorters = (0..plan.workers).map(|_| {
        let stages = Arc::clone(&stages);
        move |half: Half| stages.finish(half)
    });
    let stages = Arc::clone(&stages);
    let arrive = move |block: &CodedBlock| {
        if let Kind::Bwt(_) = block.header.kind {
            stages.unsorters.expect(block.header.raw_size);
        }
    };
    Ok(Pipeline::start(plan.depth, arrive, decoders.collect(), unsorters.collect())?)
}

/// Plans the stages for blocks of up to `block_size` bytes.
fn plan(block_size: u32, pool: Threads, options: &Options) -> Result<(Plan, Stages)> {
    let plan = options.plan_to_decode(block_size)?;
    let stages = Stages {
        unsorters: Unsorters::new(plan.workers, block_size, options)?,
        pool,
        shortage: plan.shortage,
        last_run: Mutex::new(None),
        listener: options.listener().clone(),
    };
    Ok((plan, stages))
}

/// The two stages, shared by the workers.
struct Stages {
    unsorters: Unsorters,
    pool: Threads,
    /// Why segments with large models are refused, if they are.
    shortage: Option<Shortage>,
    /// The last block that turned out to be one run, as it was coded.
    last_run: Mutex<Option<(CodedBlock, Run)>>,
    listener: Listener,
}

/// What the first stage hands to the second.
enum Half {
    /// With the block as it was coded, where that is worth keeping.
    Decoded(Box<Decoded>, Option<CodedBlock>),
    /// A block that is coded like one before, which was this.
    Known(Run),
}

/// A run takes less than one byte in so many, the samples of an index included.
const RUN_SHARE: usize = 32;

impl Stages {
    fn decode(&self, block: CodedBlock) -> Result<Half> {
        let (offset, from) = (block.header.raw_offset, Instant::now());
        if let Some(run) = self.known_run(&block) {
            self.listener.done(offset, [(Step::Check, from, Instant::now())]);
            return Ok(Half::Known(run));
        }
        let may_be_run = block.payload.len() < block.header.raw_size as usize / RUN_SHARE;
        let coded = may_be_run.then(|| block.clone());
        let decoded = decode_with(block, self.shortage, |log, segments, bwt| {
            self.decode_segments(log, segments, bwt)
        })?;
        self.listener.done(offset, [(Step::Decode, from, Instant::now())]);
        Ok(Half::Decoded(Box::new(decoded), coded))
    }

    /// What the last run was, if this block differs from it in its place alone.
    fn known_run(&self, block: &CodedBlock) -> Option<Run> {
        let last = self.last_run.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, run) = last.as_ref()?;
        let header = BlockHeader { raw_offset: known.header.raw_offset, ..block.header };
        (header == known.header && block.payload == known.payload).then_some(*run)
    }

    fn finish(&self, half: Half) -> Result<Raw> {
        match half {
            Half::Known(run) => Ok(Raw::Run(run)),
            Half::Decoded(decoded, coded) => {
                let raw = Raw::from(self.unsort(*decoded)?);
                if let (Raw::Run(run), Some(coded)) = (&raw, coded) {
                    let mut last = self.last_run.lock().unwrap_or_else(PoisonError::into_inner);
                    *last = Some((coded, *run));
                }
                Ok(raw)
            }
        }
    }

    fn decode_segments(&self, log: u8, segments: &[&[u8]], bwt: &mut [u8]) -> Result<(), Flaw> {
        let flaw = OnceLock::new();
        let pairs = coder::pairs_to_decode(log, segments, bwt)?;
        self.pool.each(pairs, |pair| coder::decode_unless(&flaw, pair));
        flaw.into_inner().map_or(Ok(()), Err)
    }

    fn unsort(&self, decoded: Decoded) -> Result<Vec<u8>> {
        let (offset, mut steps) = (decoded.block.header.raw_offset, Vec::new());
        let restored = invert(decoded, |bwt| {
            let (text, timed) = self.unsorters.unsort(bwt, &self.pool)?;
            steps = timed;
            Ok(text)
        })?;
        let from = Instant::now();
        let raw = self.pool.install(|| check(restored))?;
        steps.push((Step::Check, from, Instant::now()));
        self.listener.done(offset, steps);
        Ok(raw)
    }
}

/// Both stages in one, for a block that comes alone.
pub(crate) fn restore(block: CodedBlock, shortage: Option<Shortage>) -> Result<Vec<u8>> {
    unsort(decode(block, shortage)?, &Unsorter::new())
}

/// A block on its way from the segment decoders to the inverse; its header stays to say what must come out.
pub(crate) struct Decoded {
    pub block: CodedBlock,
    /// The transform of the block's text, and the index where there is one; a stored block has neither.
    pub bwt: Option<Bwt>,
    pub index: Option<Index>,
    /// What the filters need.
    side: Vec<u8>,
}

impl Decoded {
    /// Whether the transform is not of the raw bytes but of what filters made of them.
    pub fn is_filtered(&self) -> bool {
        matches!(self.block.header.kind, Kind::Bwt(Shape { filters: 1.., .. }))
    }
}

/// Decodes a block's segments side by side on the current rayon pool; with a `shortage`, none that need large models.
pub(crate) fn decode(block: CodedBlock, shortage: Option<Shortage>) -> Result<Decoded> {
    decode_with(block, shortage, |log, segments, bwt| coder::decode_segments(log, segments, bwt))
}

/// The same by what decodes segments, given the logarithm of their size and the place for them.
fn decode_with(
    mut block: CodedBlock,
    shortage: Option<Shortage>,
    decode_segments: impl FnOnce(u8, &[&[u8]], &mut [u8]) -> Result<(), Flaw>,
) -> Result<Decoded> {
    block.check_payload().map_err(|flaw| block.error(flaw))?;
    let Kind::Bwt(shape) = block.header.kind else {
        return Ok(Decoded { block, bwt: None, index: None, side: Vec::new() });
    };
    let raw_size = block.header.raw_size;
    let parts = BwtPayload::from_bytes(&block.payload, raw_size, shape);
    let parts = parts.map_err(|flaw| block.error(flaw))?;
    if let Some(shortage) = shortage
        && parts.segments.iter().any(|segment| coder::needs_large_models(segment))
    {
        let what = format!("a block of {raw_size} bytes coded with --best");
        return Err(shortage.error(what).at(block.number, block.offset));
    }
    let (text_size, side) = match parts.filtered {
        Some(filtered) => {
            let side = allocation::copied(filtered.side).ok_or(Flaw::NO_MEMORY)?;
            (filtered.text_size, side)
        }
        None => (raw_size, Vec::new()),
    };
    let BwtPayload { samples, index, segments, .. } = parts;
    let mut bytes = bwt::zeroed(text_size as usize)?;
    decode_segments(shape.segment_size_log, &segments, &mut bytes)
        .and_then(|()| match &index {
            Some(index) => index.check(&segments, &bytes, shape.segment_size_log),
            None => Ok(()),
        })
        .map_err(|flaw| block.error(flaw))?;
    let bwt = Bwt { bytes, sample_rate: 1 << shape.sample_rate_log, samples };
    block.payload = Vec::new();
    Ok(Decoded { block, bwt: Some(bwt), index, side })
}

/// Restores the block on the CPU and checks it.
pub(crate) fn unsort(decoded: Decoded, unsorter: &Unsorter) -> Result<Vec<u8>> {
    check(invert(decoded, |bwt| unsorter.unsort(bwt))?)
}

/// Puts the text in the place of the payload, where a stored block has it.
fn invert(mut decoded: Decoded, inverse: impl FnOnce(Bwt) -> Result<Vec<u8>>) -> Result<Decoded> {
    if let Some(bwt) = decoded.bwt.take() {
        let CodedBlock { number, offset, .. } = decoded.block;
        decoded.block.payload = inverse(bwt).map_err(|e| e.at(number, offset))?;
    }
    Ok(decoded)
}

/// Restores the block from the text that [`invert`] gives, and checks it.
fn check(Decoded { block, index, side, .. }: Decoded) -> Result<Vec<u8>> {
    let (number, offset, header) = (block.number, block.offset, block.header);
    let located = |flaw: Flaw| flaw.at(Some(number), offset);
    let mut raw = block.payload;
    if let Kind::Bwt(Shape { filters: flags @ 1.., .. }) = header.kind {
        let filtered = Filtered { text: raw, flags, side };
        raw = filter::undo(filtered, header.raw_size as usize).map_err(located)?;
    }
    if checksum_holds(header.raw_checksum, &raw) {
        let sound = index.map_or(Ok(()), |index| index.check_edges(&raw));
        return sound.map(|()| raw).map_err(located);
    }
    Err(Flaw("the checksum of the block's restored bytes is wrong").at(Some(number), offset))
}

/// Decompresses what it reads; works ahead on threads of its own.
///
/// `R` is read by whoever calls `read`, so it never leaves the caller's thread; while it waits for its source, so does the caller,
/// and what is ready or went wrong meanwhile is given out by the next `read` that returns. After an error every read is one.
///
/// ```
/// use std::io::Read;
///
/// let mut file = Vec::new();
/// bwz::compress(&b"a rose is a rose"[..], &mut file, &bwz::Options::new())?;
///
/// let mut text = String::new();
/// bwz::Decoder::new(&file[..], &bwz::Options::new()).read_to_string(&mut text)?;
/// assert_eq!(text, "a rose is a rose");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Decoder<R> {
    options: Options,
    pool: Option<Arc<ThreadPool>>,
    frames: FrameReader<R>,
    running: Option<Running>,
    raw: Raw,
    given: usize,
    failed: bool,
}

/// A pipeline, and the block size that its memory was planned for.
struct Running {
    planned: u32,
    pipeline: Restoring,
}

impl<R> fmt::Debug for Decoder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").field("options", &self.options).finish_non_exhaustive()
    }
}

impl<R: Read> Decoder<R> {
    /// A decoder of all frames of `input`.
    pub fn new(input: R, options: &Options) -> Self {
        Decoder {
            options: options.clone(),
            pool: None,
            frames: FrameReader::new(input, options),
            running: None,
            raw: Raw::Bytes(Vec::new()),
            given: 0,
            failed: false,
        }
    }

    /// The next block's raw bytes, or `None` at the end.
    fn next_block(&mut self) -> Result<Option<Raw>> {
        loop {
            if self.running.is_none() {
                let Some(block_size) = self.frames.next_block_size()? else {
                    return Ok(None);
                };
                let pool = match self.pool.take() {
                    Some(pool) => pool,
                    None => Arc::new(threads::pool(&self.options)?),
                };
                let (number, offset) = self.frames.place();
                let started = start_above(block_size, &pool, &self.options);
                let (planned, pipeline) = started.map_err(|e| e.at(number, offset))?;
                self.pool = Some(pool);
                self.running = Some(Running { planned, pipeline });
            }
            let Running { planned, pipeline } = self.running.as_mut().expect("just started");
            while !pipeline.is_full()
                && let Some(block) = self.frames.next_block(*planned)
            {
                pipeline.submit(block);
                // Reading may take long, so what is ready does not wait for more than one block.
                if pipeline.is_ready() {
                    break;
                }
            }
            match pipeline.next() {
                Some(raw) => return raw.map(Some),
                None => self.running = None,
            }
        }
    }
}

impl<R: Read> Read for Decoder<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.failed {
            return Err(io::Error::other("the decoder has failed before"));
        }
        if self.given == self.raw.len() {
            self.given = 0;
            self.raw = match self.next_block() {
                Ok(block) => block.unwrap_or(Raw::Bytes(Vec::new())),
                Err(e) => {
                    self.raw = Raw::Bytes(Vec::new());
                    self.running = None;
                    self.failed = true;
                    return Err(e.into());
                }
            };
        }
        let count = out.len().min(self.raw.len() - self.given);
        self.raw.read_at(self.given, &mut out[..count]);
        self.given += count;
        Ok(count)
    }
}
