//! Compression of a raw stream into a frame: [`compress`] for a `Read`, [`Encoder`] as a `Write`.
//!
//! Blocks flow reader -> [`BlockEncoder`] -> writer through a [`Pipeline`].

use crate::base::allocation;
use crate::base::error::{Error, Flaw, Result};
use crate::base::threads::Threads;
use crate::coder::Coding;
use crate::engine::encode::{self, BlockEncoder};
use crate::engine::pipeline::Pipeline;
use crate::engine::raw::{BlockCut, BlockEnd, RawBlock, RawBlocks, Spare, StreamFacts};
use crate::engine::thread_pool;
use crate::frame::{
    CodedBlock, Features, FrameHeader, FrameWriter, IndexedBlocks, header_tables_to_bytes,
};
use crate::options::Options;
use crate::options::events::Step;
use std::fmt;
use std::io::{self, Read, Write};
use std::iter;
use std::mem;

/// Sizes of a compressed stream, and its index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Bytes of the raw stream.
    pub raw_size: u64,
    /// Bytes of the compressed file, without padding after its last frame.
    pub coded_size: u64,
    /// Index of the blocks.
    pub indexed: IndexedBlocks,
}

/// Compresses all of `input` into one frame.
///
/// As many blocks are compressed side by side as threads and memory allow. The output does not
/// depend on either.
///
/// # Errors
/// [`Error::Io`] from either side, [`Error::Limit`] if one block needs more memory than the options
/// allow.
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
    let cut = BlockCut::new(options);
    let mut blocks = RawBlocks::new(
        input,
        first_block_size(options),
        cut,
        options.run.listener.clone(),
    );
    blocks.facts = StreamFacts::new(options.stream_check);
    let first = blocks.next().transpose()?;
    blocks.block_size = options.block_size();
    let facts = blocks.facts.clone();
    let Some(mut first) = first else {
        return Ok(finish(start(output, 0, options)?, &facts, options)?.1);
    };
    // A first block that others follow may have been cut shorter than the others are.
    first.alone = blocks.ended;
    let block_size = if first.alone {
        first.raw.len() as u64
    } else {
        options.block_size()
    };
    if first.alone && thread_pool::calling_does(block_size, options) {
        let (_, encoder) =
            BlockEncoder::planned(block_size, Threads::Calling, blocks.spare, options)?;
        let mut writer = start(output, block_size, options)?;
        write(&mut writer, encoder.encode(first)?, options)?;
        return Ok(finish(writer, &facts, options)?.1);
    }
    let work = if first.alone { block_size } else { u64::MAX };
    let (plan, pipeline) =
        encode::start(block_size, &options.for_work(work), blocks.spare.clone())?;
    blocks.ahead = plan.ahead;
    let mut writer = start(output, block_size, options)?;
    let alone = first.alone;
    let blocks = iter::once(Ok(first)).chain(blocks);
    let sink = |block| {
        write(&mut writer, block, options)?;
        if !alone {
            writer.write_pending()?;
        }
        Ok(())
    };
    pipeline.run(blocks, sink, || options.run.listener.failed())?;
    Ok(finish(writer, &facts, options)?.1)
}

/// Starts a frame of blocks of up to `block_size` bytes.
fn start<W: Write>(output: W, block_size: u64, options: &Options) -> Result<FrameWriter<W>> {
    let coding = match options.effort.into() {
        Coding::StaticRans => Features::STATIC_RANS,
        Coding::ContextMixing => Features::CONTEXT_MIXING,
    };
    let features = match options.index {
        Some(_) => coding
            .with(Features::INDEX)
            .with(Features::SEQUENCES),
        None => coding.with(Features::FILTERS),
    };
    let header = FrameHeader {
        check: options.stream_check.id(),
        ..FrameHeader::new(block_size, features)
    };
    let tables = header_tables_to_bytes(options.content_size, &options.notes);
    FrameWriter::start(output, header, &tables)
}

/// Writes a block, as a step of its own for the listener.
fn write<W: Write>(
    writer: &mut FrameWriter<W>,
    block: CodedBlock,
    options: &Options,
) -> Result<()> {
    let size = block.header.raw_size;
    options
        .run
        .listener
        .time(block.number, size, Step::Write, || writer.block(&block))
}

/// Returns the size with which the first block is read. If blocks are larger than the memory
/// allows, it is one byte more than the memory allows, which is enough to find that.
fn first_block_size(options: &Options) -> u64 {
    options
        .block_size()
        .min(options.largest_block() + 1)
}

/// Ends the frame, and returns the output and the summary. `facts` are those of all its blocks.
fn finish<W: Write>(
    writer: FrameWriter<W>,
    facts: &StreamFacts,
    options: &Options,
) -> Result<(W, Summary)> {
    let raw_size = writer.raw_size();
    if let Some(size) = options.content_size
        && size != raw_size
    {
        let what = format!("the content was to have {size} bytes, but has {raw_size}");
        return Err(Error::Usage(what.into()));
    }
    let (digest, members) = facts.finish();
    let (output, raw_size, coded_size, indexed) = writer.finish(digest, members)?;
    Ok((
        output,
        Summary {
            raw_size,
            coded_size,
            indexed,
        },
    ))
}

/// Compresses the bytes that are written to it. The frame is complete only after
/// [`Encoder::finish`].
///
/// Threads of its own compress the blocks, unless there is only a small one. The caller of `write`
/// writes them, so `W` never leaves the caller's thread.
///
/// `flush` ends the block that is being filled, waits until all blocks are compressed and written,
/// and flushes `W`. Everything written so far can then be restored from what `W` got, also if the
/// frame is never finished: a reader returns all of it before the error that the file was cut off.
/// Small blocks compress worse, so flush as seldom as losing what is not yet flushed allows. With
/// an index, the bytes before the first flush decide whether the stream is one of sequences.
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
///
/// ```
/// use std::io::{Read, Write};
///
/// let mut log = Vec::new();
/// let mut encoder = bwz::Encoder::new(&mut log, &bwz::Options::new());
/// encoder.write_all(b"10:00 started\n")?;
/// encoder.flush()?;
/// drop(encoder);
///
/// let mut restored = Vec::new();
/// let mut decoder = bwz::Decoder::new(&log[..], &bwz::Options::new());
/// let cut_off = decoder.read_to_end(&mut restored);
/// assert!(cut_off.is_err());
/// assert_eq!(restored, b"10:00 started\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Encoder<W: Write> {
    options: Options,
    block_size: usize,
    block: Vec<u8>,
    cut: BlockCut,
    facts: StreamFacts,
    spare: Spare,
    number: u64,
    offset: u64,
    state: EncoderState<W>,
}

/// State of an encoder. The frame's header holds the size of the first block, so it waits until
/// that is known.
#[allow(
    clippy::large_enum_variant,
    reason = "an encoder has one, which is hardly ever moved"
)]
enum EncoderState<W: Write> {
    Fresh(W),
    Running {
        writer: FrameWriter<W>,
        pipeline: Pipeline<BlockEncoder>,
    },
    /// An error was returned; nothing more is written.
    Failed,
}

impl<W: Write> fmt::Debug for Encoder<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl<W: Write> Encoder<W> {
    /// Creates an encoder that writes one frame to `output`.
    pub fn new(output: W, options: &Options) -> Self {
        Encoder {
            options: options.clone(),
            block_size: first_block_size(options) as usize,
            block: Vec::new(),
            cut: BlockCut::new(options),
            facts: StreamFacts::new(options.stream_check),
            spare: Spare::default(),
            number: 0,
            offset: 0,
            state: EncoderState::Fresh(output),
        }
    }

    /// Compresses the rest, ends the frame and returns the output.
    ///
    /// # Errors
    /// As [`compress`]; also if an earlier write has failed.
    pub fn finish(mut self) -> Result<(W, Summary)> {
        // A full block is cut as `compress` cuts it, which cannot know that nothing follows.
        if self.block.len() == self.block_size {
            self.submit(BlockEnd::Full)?;
        }
        if !self.block.is_empty() {
            let is_alone = matches!(self.state, EncoderState::Fresh(_));
            if is_alone && thread_pool::calling_does(self.block.len() as u64, &self.options) {
                return self.finish_here();
            }
            self.submit(BlockEnd::Last)?;
        }
        self.cut.warn(&self.options.run.listener);
        match mem::replace(&mut self.state, EncoderState::Failed) {
            EncoderState::Fresh(output) => {
                let writer = start(output, 0, &self.options)?;
                finish(writer, &self.facts, &self.options)
            }
            EncoderState::Running {
                mut writer,
                mut pipeline,
            } => {
                pipeline.close();
                while let Some(block) = pipeline.next() {
                    write(&mut writer, block?, &self.options)?;
                }
                finish(writer, &self.facts, &self.options)
            }
            EncoderState::Failed => Err(failed_before()),
        }
    }

    /// Compresses a small block that is the only one on the calling thread, as [`compress`] does,
    /// and ends the frame.
    fn finish_here(mut self) -> Result<(W, Summary)> {
        let block = self.next_block(BlockEnd::Last)?;
        self.cut.warn(&self.options.run.listener);
        let EncoderState::Fresh(output) = self.state else {
            return Err(failed_before());
        };
        let size = block.raw.len() as u64;
        let (_, encoder) =
            BlockEncoder::planned(size, Threads::Calling, self.spare, &self.options)?;
        let mut writer = start(output, size, &self.options)?;
        write(&mut writer, encoder.encode(block)?, &self.options)?;
        finish(writer, &self.facts, &self.options)
    }

    /// Takes the gathered block, as far as it is cut off there.
    fn next_block(&mut self, end: BlockEnd) -> Result<RawBlock> {
        let mut next = self.spare.take();
        next.clear();
        let mut bytes = mem::replace(&mut self.block, next);
        let alone = self.offset == 0
            && end != BlockEnd::Flushed
            && bytes.len() < self.options.block_size() as usize;
        self.block_size = self.options.block_size() as usize;
        let (begun, sequences) = self.cut.cut(&mut bytes, end)?;
        allocation::reserve(&mut self.block, begun.len()).ok_or(Flaw::NO_MEMORY)?;
        self.block.extend(begun);
        let raw = RawBlock {
            number: self.number,
            offset: self.offset,
            raw: bytes.into(),
            alone,
            sequences,
        };
        self.facts.add(&raw.raw)?;
        self.number += 1;
        self.offset += raw.raw.len() as u64;
        Ok(raw)
    }

    /// Hands the gathered block to the pipeline. First it writes the blocks that are ready, and
    /// waits for the oldest one if the pipeline is full.
    fn submit(&mut self, end: BlockEnd) -> Result<()> {
        let raw = self.next_block(end)?;
        // Until it is put back, an early return leaves the encoder failed.
        let (mut writer, mut pipeline) = match mem::replace(&mut self.state, EncoderState::Failed) {
            EncoderState::Fresh(output) => {
                let block_size = if raw.alone {
                    raw.raw.len() as u64
                } else {
                    self.options.block_size()
                };
                let work = if raw.alone { block_size } else { u64::MAX };
                let (_, pipeline) =
                    encode::start(block_size, &self.options.for_work(work), self.spare.clone())?;
                (start(output, block_size, &self.options)?, pipeline)
            }
            EncoderState::Running { writer, pipeline } => (writer, pipeline),
            EncoderState::Failed => return Err(failed_before()),
        };
        while (pipeline.is_full() || pipeline.is_ready())
            && let Some(block) = pipeline.next()
        {
            write(&mut writer, block?, &self.options)?;
            writer.write_pending()?;
        }
        pipeline.submit(Ok(raw));
        self.state = EncoderState::Running { writer, pipeline };
        Ok(())
    }
}

fn failed_before() -> Error {
    Error::Io(io::Error::other("the encoder has failed before"))
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if matches!(self.state, EncoderState::Failed) {
            return Err(failed_before().into());
        }
        if self.block.len() == self.block_size {
            self.submit(BlockEnd::Full)?;
        }
        let taken = bytes
            .len()
            .min(self.block_size - self.block.len());
        allocation::reserve(&mut self.block, taken)
            .ok_or(Flaw::NO_MEMORY)
            .map_err(Error::from)?;
        self.block.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.block.is_empty() {
            self.submit(BlockEnd::Flushed)?;
        }
        // Until it is put back, an early return leaves the encoder failed.
        self.state = match mem::replace(&mut self.state, EncoderState::Failed) {
            EncoderState::Fresh(mut output) => {
                output.flush()?;
                EncoderState::Fresh(output)
            }
            EncoderState::Running {
                mut writer,
                mut pipeline,
            } => {
                while let Some(block) = pipeline.next() {
                    write(&mut writer, block?, &self.options)?;
                }
                writer.flush()?;
                EncoderState::Running { writer, pipeline }
            }
            EncoderState::Failed => return Err(failed_before().into()),
        };
        Ok(())
    }
}
