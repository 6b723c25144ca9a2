//! Raw stream in, frame out: [`compress`] for a `Read`, [`Encoder`] as a `Write`.
//!
//! Blocks flow reader -> sorters (after the filters) -> coders -> writer through a [`Pipeline`]. What takes long is done on one rayon pool of as
//! many threads as the options say, segment by segment; the pipeline's own threads put blocks together and hand them on. `memory`
//! says what that takes.

use crate::allocation;
use crate::bwt::{self, Bwt};
use crate::coder::{self, Effort};
use crate::error::{Error, Flaw, Result};
use crate::events::{Listener, Step};
use crate::filter::{self, Filtered};
use crate::fm_index;
use crate::frame::{self, BlockHeader, BwtPayload, CodedBlock, FrameWriter, Index, Kind, Shape};
use crate::memory::Plan;
use crate::options::Options;
use crate::pipeline::Pipeline;
use crate::raw::{Raw, RawBlock, RawBlocks, Run, Spare};
use crate::sorters::Sorters;
use crate::threads::{self, Threads};
use std::fmt;
use std::io::{self, Read, Write};
use std::iter;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// What went in and what came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Bytes of the raw stream.
    pub raw_size: u64,
    /// Bytes of the compressed file.
    pub coded_size: u64,
}

/// Compresses all of `input` into one frame.
///
/// Blocks are worked on side by side, as many as threads and memory allow; the output does not depend on either.
///
/// # Errors
/// [`Error::Io`] from either side, [`Error::Limit`] where one block needs more memory than the options allow.
///
/// ```
/// let text = b"to be or not to be".repeat(100);
/// let mut file = Vec::new();
/// let summary = bwz::compress(&text[..], &mut file, &bwz::Options::new())?;
/// assert_eq!(summary.coded_size, file.len() as u64);
/// assert!(file.len() < 300);
/// # Ok::<(), bwz::Error>(())
/// ```
pub fn compress<R: Read + Send, W: Write>(
    input: R,
    output: W,
    options: &Options,
) -> Result<Summary> {
    let mut blocks = RawBlocks::new(input, first_block_size(options), options.listener().clone());
    let first = blocks.next().transpose()?;
    blocks.block_size = options.block_size();
    let Some(mut first) = first else {
        return Ok(summary(FrameWriter::start(output, 0)?.finish()?).1);
    };
    let block_size = first.raw.len() as u32;
    first.alone = block_size < options.block_size();
    if first.alone && threads::calling_does(block_size, options) {
        let (_, stages) = plan(block_size, Threads::Calling, blocks.spare, options)?;
        let mut writer = FrameWriter::start(output, block_size)?;
        writer.block(&stages.finish(stages.sort(first)?)?)?;
        return Ok(summary(writer.finish()?).1);
    }
    let pipeline = start(block_size, options, blocks.spare.clone())?;
    let mut writer = FrameWriter::start(output, block_size)?;
    let blocks = iter::once(Ok(first)).chain(blocks);
    pipeline.run(blocks, |block| writer.block(&block), || options.listener().failed())?;
    Ok(summary(writer.finish()?).1)
}

/// The largest block that the memory allows.
fn largest(options: &Options) -> u64 {
    Plan::largest_block(options.allowance(), options.chosen_effort())
}

/// How much to take for the first block: no more than shows that it is too large.
fn first_block_size(options: &Options) -> u32 {
    options.block_size().min(u32::try_from(largest(options) + 1).unwrap_or(u32::MAX))
}

fn summary<W>((output, raw_size, coded_size): (W, u64, u64)) -> (W, Summary) {
    (output, Summary { raw_size, coded_size })
}

/// Plans the two stages for blocks no larger than the first.
fn plan(first: u32, pool: Threads, spare: Spare, options: &Options) -> Result<(Plan, Stages)> {
    // A first block that is too large was not read to its end: the error is that of a full one.
    let block_size = if u64::from(first) > largest(options) { options.block_size() } else { first };
    let effort = options.chosen_effort();
    let plan = Plan::new(block_size, options.allowance(), effort)?;
    let sample_rate = sample_rate(block_size as usize, options.index_rate());
    let stages = Stages {
        sorters: Sorters::new(plan.workers, block_size, sample_rate, options)?,
        pool,
        effort,
        index: options.index_rate(),
        last_run: Mutex::new(None),
        spare,
        listener: options.listener().clone(),
    };
    Ok((plan, stages))
}

/// Starts the two stages for blocks no larger than the first.
fn start(
    first: u32,
    options: &Options,
    spare: Spare,
) -> Result<Pipeline<RawBlock, CodedBlock, Error>> {
    let pool = Threads::Pool(threads::pool(options)?.into());
    let (plan, stages) = plan(first, pool, spare, options)?;
    let stages = Arc::new(stages);
    let sorters = (0..plan.workers).map(|_| {
        let stages = Arc::clone(&stages);
        move |block: RawBlock| stages.sort(block)
    });
    let coders = (0..plan.coders).map(|_| {
        let stages = Arc::clone(&stages);
        move |half: Half| stages.finish(half)
    });
    let stages = Arc::clone(&stages);
    let arrive = move |block: &RawBlock| {
        if let Raw::Bytes(bytes) = &block.raw {
            stages.sorters.expect(bytes.len());
        }
    };
    Ok(Pipeline::start(plan.depth, arrive, sorters.collect(), coders.collect())?)
}

/// A block on its way from the sorter to the coder; its text stays for the case that it must be stored.
struct Sorted {
    filtered: Filtered,
    raw_size: usize,
    raw_offset: u64,
    checksum: u32,
    bwt: Bwt,
}

/// What the first stage hands to the second.
enum Half {
    Sorted(Sorted),
    /// A block that is one run.
    Coded(CodedBlock),
}

/// What the threads of the pipeline share.
struct Stages {
    sorters: Sorters,
    pool: Threads,
    effort: Effort,
    /// The sample rate of the blocks' index, if they get one.
    index: Option<u32>,
    /// The last block that was one run: others of that byte and length differ from it in their place alone.
    last_run: Mutex<Option<(Run, CodedBlock)>>,
    spare: Spare,
    listener: Listener,
}

impl Stages {
    fn sort(&self, RawBlock { raw, offset, alone }: RawBlock) -> Result<Half> {
        match raw {
            Raw::Bytes(bytes) => self.sort_bytes(bytes, offset, alone).map(Half::Sorted),
            Raw::Run(run) => self.code_run(run, offset, alone).map(Half::Coded),
        }
    }

    fn code_run(&self, run: Run, offset: u64, alone: bool) -> Result<CodedBlock> {
        let from = Instant::now();
        let mut last = self.last_run.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, block)) = last.as_ref().filter(|(known, _)| *known == run) {
            let mut block = block.clone();
            block.header.raw_offset = offset;
            self.listener.done(offset, [(Step::Code, from, Instant::now())]);
            return Ok(block);
        }
        let block = self.code(self.sort_bytes(run.to_bytes()?, offset, alone)?)?;
        *last = Some((run, block.clone()));
        Ok(block)
    }

    fn finish(&self, half: Half) -> Result<CodedBlock> {
        match half {
            Half::Sorted(sorted) => self.code(sorted),
            Half::Coded(block) => Ok(block),
        }
    }

    fn sort_bytes(&self, bytes: Vec<u8>, raw_offset: u64, alone: bool) -> Result<Sorted> {
        let raw_size = bytes.len();
        let (checksum, filtered) =
            self.pool.install(|| (crc32fast::hash(&bytes), self.filtered(bytes)));
        let filtered = filtered?;
        let sample_rate = sample_rate(filtered.text.len(), self.index);
        let threads = if alone { self.pool.count() } else { 1 };
        let (bwt, steps) = self.sorters.sort(&filtered.text, sample_rate, threads, &self.pool)?;
        self.listener.done(raw_offset, steps);
        Ok(Sorted { filtered, raw_size, raw_offset, checksum, bwt })
    }

    /// What is searched for is in the raw bytes, so an indexed block gets no filters.
    fn filtered(&self, block: Vec<u8>) -> Result<Filtered, Flaw> {
        match self.index {
            Some(_) => Ok(Filtered::unchanged(block)),
            None => filter::apply(block, || self.sorters.free()),
        }
    }

    fn code(&self, sorted: Sorted) -> Result<CodedBlock> {
        let (offset, from) = (sorted.raw_offset, Instant::now());
        let block = code(sorted, self.effort, self.index.is_some(), &self.pool, &self.spare);
        self.listener.done(offset, [(Step::Code, from, Instant::now())]);
        block
    }
}

/// The sample rate of a text of `len` bytes, given that of its index.
fn sample_rate(len: usize, index: Option<u32>) -> u32 {
    let usual = bwt::sample_rate(len);
    // At rate 0 an index is for counting alone and needs no more samples than the inverse.
    index.filter(|&rate| rate > 0).map_or(usual, |rate| rate.min(usual))
}

/// Codes a block's segments side by side, or stores the block where that is not longer.
fn code(
    sorted: Sorted,
    effort: Effort,
    indexed: bool,
    pool: &Threads,
    spare: &Spare,
) -> Result<CodedBlock> {
    let Sorted { filtered, raw_size, raw_offset, checksum, bwt } = sorted;
    // A search decodes one segment for each of its steps.
    let segment_size_log = match indexed {
        true => fm_index::segment_log(&bwt.bytes),
        false => coder::segment_log(&bwt.bytes, effort),
    };
    let mut segments = vec![Vec::new(); bwt.bytes.len().div_ceil(1 << segment_size_log)];
    let pairs = coder::pairs_to_encode(segment_size_log, &bwt.bytes, &mut segments);
    pool.each(pairs, |(segment, coded)| coder::encode(segment, effort, coded));
    let primary = bwt.samples[0];
    let index = indexed
        .then(|| Index::new(&filtered.text, &bwt.bytes, primary, segment_size_log, &segments));
    // What is done with goes before the payload is put together: it is the tightest moment.
    drop(bwt.bytes);
    let text_size = filtered.text.len() as u32;
    let payload = BwtPayload {
        filtered: (filtered.flags != 0)
            .then_some(frame::Filtered { text_size, side: &filtered.side }),
        samples: bwt.samples,
        index,
        segments: segments.iter().map(Vec::as_slice).collect(),
    }
    .to_bytes()?;
    drop(segments);
    let (filters, sample_rate_log) = (filtered.flags, bwt.sample_rate.ilog2() as u8);
    let (kind, payload) = if payload.len() < raw_size {
        spare.keep(filtered.text);
        (Kind::Bwt(Shape { filters, sample_rate_log, segment_size_log, indexed }), payload)
    } else {
        drop(payload);
        (Kind::Stored, filter::undo(filtered, raw_size)?)
    };
    let header = BlockHeader {
        kind,
        raw_size: raw_size as u32,
        coded_size: payload.len() as u32,
        raw_checksum: checksum,
        raw_offset,
        payload_checksum: crc32fast::hash(&payload),
    };
    Ok(CodedBlock { header, payload, number: 0, offset: 0 })
}

/// Compresses what is written to it; the frame is complete only after [`Encoder::finish`].
///
/// Blocks are compressed by threads of their own and written by whoever calls `write`, so `W` never leaves the
/// caller's thread. `flush` passes on what is ready; it does not cut a block short, since that would change the output.
///
/// ```
/// use std::io::Write;
///
/// let mut encoder = bwz::Encoder::new(Vec::new(), &bwz::Options::new());
/// encoder.write_all(b"one block of text")?;
/// let (file, summary) = encoder.finish()?;
/// assert_eq!(summary.raw_size, 17);
/// assert_eq!(&file[..4], b"\xF7bwz");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Encoder<W: Write> {
    options: Options,
    block_size: usize,
    block: Vec<u8>,
    spare: Spare,
    offset: u64,
    state: State<W>,
}

/// The frame's header holds the size of the first block, so it waits until that is known.
enum State<W: Write> {
    Fresh(W),
    Running {
        writer: FrameWriter<W>,
        pipeline: Pipeline<RawBlock, CodedBlock, Error>,
    },
    /// An error was given out; nothing more is written.
    Failed,
}

impl<W: Write> fmt::Debug for Encoder<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").field("options", &self.options).finish_non_exhaustive()
    }
}

impl<W: Write> Encoder<W> {
    /// An encoder that writes one frame to `output`.
    pub fn new(output: W, options: &Options) -> Self {
        Encoder {
            options: options.clone(),
            block_size: first_block_size(options) as usize,
            block: Vec::new(),
            spare: Spare::default(),
            offset: 0,
            state: State::Fresh(output),
        }
    }

    /// Compresses what is left, ends the frame and gives the output back.
    ///
    /// # Errors
    /// As [`compress`]; also where a write before has failed.
    pub fn finish(mut self) -> Result<(W, Summary)> {
        if !self.block.is_empty() {
            self.submit()?;
        }
        match mem::replace(&mut self.state, State::Failed) {
            State::Fresh(output) => Ok(summary(FrameWriter::start(output, 0)?.finish()?)),
            State::Running { mut writer, mut pipeline } => {
                while let Some(block) = pipeline.next() {
                    writer.block(&block?)?;
                }
                Ok(summary(writer.finish()?))
            }
            State::Failed => Err(failed_before()),
        }
    }

    /// Hands the gathered block to the pipeline; first writes what is ready, and waits for the oldest one if the pipeline is full.
    fn submit(&mut self) -> Result<()> {
        let mut next = self.spare.take();
        next.clear();
        let bytes = mem::replace(&mut self.block, next);
        let alone = self.offset == 0 && bytes.len() < self.options.block_size() as usize;
        let raw = RawBlock { offset: self.offset, raw: bytes.into(), alone };
        self.offset += raw.raw.len() as u64;
        // Until it is put back, an early return leaves the encoder failed.
        let (mut writer, mut pipeline) = match mem::replace(&mut self.state, State::Failed) {
            State::Fresh(output) => {
                let block_size = raw.raw.len() as u32;
                let pipeline = start(block_size, &self.options, self.spare.clone())?;
                (FrameWriter::start(output, block_size)?, pipeline)
            }
            State::Running { writer, pipeline } => (writer, pipeline),
            State::Failed => return Err(failed_before()),
        };
        while (pipeline.is_full() || pipeline.is_ready())
            && let Some(block) = pipeline.next()
        {
            writer.block(&block?)?;
        }
        pipeline.submit(Ok(raw));
        self.state = State::Running { writer, pipeline };
        Ok(())
    }
}

fn failed_before() -> Error {
    Error::Io(io::Error::other("the encoder has failed before"))
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if matches!(self.state, State::Failed) {
            return Err(failed_before().into());
        }
        if self.block.len() == self.block_size {
            self.submit()?;
            self.block_size = self.options.block_size() as usize;
        }
        let taken = bytes.len().min(self.block_size - self.block.len());
        allocation::reserve(&mut self.block, taken).ok_or(Flaw::NO_MEMORY).map_err(Error::from)?;
        self.block.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.state {
            State::Fresh(output) => output.flush(),
            State::Running { writer, .. } => writer.output().flush(),
            State::Failed => Err(failed_before().into()),
        }
    }
}
