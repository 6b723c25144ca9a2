//! Frames in, raw stream out: [`decompress`] for a `Write`, [`Decoder`] as a `Read`.
//!
//! Blocks flow reader -> segment decoders -> inverse -> writer through a [`Pipeline`]; segments of one block, and lanes of
//! one inverse, are spread over the same rayon pool. No byte is given out before its block's checksum held.

use crate::bwt::{self, Bwt};
use crate::coder;
use crate::compress::Summary;
use crate::error::{Error, Flaw, Result};
use crate::frame::{BwtPayload, CodedBlock, FrameReader, Kind, checksum_holds};
use crate::memory::Plan;
use crate::options::Options;
use crate::pipeline::Pipeline;
use crate::threads;
use rayon::prelude::*;
use std::io::{self, Read, Write};
use std::iter;
use std::sync::Arc;

/// Bytes per raw byte while a block is restored: its payload, its BWT, the inverse's table and its text.
pub(crate) const RESTORING: u64 = 7;

/// Decompresses all frames of `input`.
///
/// Blocks are worked on side by side, as many as threads and memory allow, and written in order.
///
/// # Errors
/// [`Error::Format`] where the input is damaged or not ours: what was written before it is right and complete
/// up to that block. [`Error::Limit`] where a block needs more memory than the options allow. [`Error::Io`] from either side.
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
    let mut frames = FrameReader::new(input);
    let mut raw_size = 0;
    while let Some(planned) = frames.next_block_size()? {
        let blocks = iter::from_fn(|| frames.next_block(planned));
        start(planned, options)?.run(blocks, |raw| {
            raw_size += raw.len() as u64;
            Ok(output.write_all(&raw)?)
        })?;
    }
    output.flush()?;
    Ok(Summary { raw_size, coded_size: frames.offset() })
}

/// Starts the two stages for blocks of up to `block_size` bytes.
pub(crate) fn start(
    block_size: u32,
    options: &Options,
) -> Result<Pipeline<CodedBlock, Vec<u8>, Error>> {
    let plan = Plan::new(block_size, RESTORING, options.thread_count(), options.memory_limit())?;
    let pool = Arc::new(threads::pool(options)?);
    let decode_pool = Arc::clone(&pool);
    let decoder = move |block: CodedBlock| decode_pool.install(|| decode(block));
    let unsorters = (0..plan.workers)
        .map(|_| {
            let pool = Arc::clone(&pool);
            move |decoded| pool.install(|| unsort(decoded))
        })
        .collect();
    Ok(Pipeline::start(plan.depth, vec![decoder], unsorters)?)
}

/// Both stages in one, for a block that comes alone.
pub(crate) fn restore(block: CodedBlock) -> Result<Vec<u8>> {
    unsort(decode(block)?)
}

/// A block on its way from the segment decoders to the inverse; its header stays to say what must come out.
struct Decoded {
    block: CodedBlock,
    bwt: Option<Bwt>,
}

/// Decodes a block's segments side by side.
fn decode(mut block: CodedBlock) -> Result<Decoded> {
    block.check_payload().map_err(|flaw| block.error(flaw))?;
    let Kind::Bwt { sample_rate_log, segment_size_log } = block.header.kind else {
        return Ok(Decoded { block, bwt: None });
    };
    let raw_size = block.header.raw_size;
    let bwt = BwtPayload::from_bytes(&block.payload, raw_size, sample_rate_log, segment_size_log)
        .and_then(|parts| {
            let mut bytes = vec![0; raw_size as usize];
            bytes
                .par_chunks_mut(1 << segment_size_log)
                .zip(parts.segments)
                .try_for_each(|(segment, coded)| coder::decode(coded, segment))?;
            Ok(Bwt { bytes, sample_rate: 1 << sample_rate_log, samples: parts.samples })
        })
        .map_err(|flaw| block.error(flaw))?;
    block.payload = Vec::new();
    Ok(Decoded { block, bwt: Some(bwt) })
}

/// Restores the text and checks it.
fn unsort(Decoded { block, bwt }: Decoded) -> Result<Vec<u8>> {
    let (number, offset, checksum) = (block.number, block.offset, block.header.raw_checksum);
    let raw = match bwt {
        Some(bwt) => bwt::unsort(&bwt).map_err(|e| e.at(number, offset))?,
        None => block.payload,
    };
    if checksum_holds(checksum, &raw) {
        return Ok(raw);
    }
    Err(Flaw("the checksum of the block's restored bytes is wrong").at(Some(number), offset))
}

/// Decompresses what it reads; works ahead on threads of its own.
///
/// `R` is read by whoever calls `read`, so it never leaves the caller's thread. After an error, reads give no more bytes.
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
    frames: FrameReader<R>,
    running: Option<Running>,
    raw: Vec<u8>,
    given: usize,
}

/// A pipeline, and the block size that its memory was planned for.
struct Running {
    planned: u32,
    pipeline: Pipeline<CodedBlock, Vec<u8>, Error>,
}

impl<R: Read> Decoder<R> {
    /// A decoder of all frames of `input`.
    pub fn new(input: R, options: &Options) -> Self {
        Decoder {
            options: options.clone(),
            frames: FrameReader::new(input),
            running: None,
            raw: Vec::new(),
            given: 0,
        }
    }

    /// The next block's raw bytes, or `None` at the end.
    fn next_block(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            if self.running.is_none() {
                let Some(planned) = self.frames.next_block_size()? else {
                    return Ok(None);
                };
                let pipeline = start(planned, &self.options)?;
                self.running = Some(Running { planned, pipeline });
            }
            let Running { planned, pipeline } = self.running.as_mut().expect("just started");
            while !pipeline.is_full()
                && let Some(block) = self.frames.next_block(*planned)
            {
                pipeline.submit(block);
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
        if self.given == self.raw.len() {
            self.given = 0;
            self.raw = match self.next_block() {
                Ok(block) => block.unwrap_or_default(),
                Err(e) => {
                    self.running = None;
                    self.frames.stop();
                    self.raw = Vec::new();
                    return Err(e.into());
                }
            };
        }
        let count = out.len().min(self.raw.len() - self.given);
        out[..count].copy_from_slice(&self.raw[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}
