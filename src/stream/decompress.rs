//! Decompression of frames into the raw stream: [`decompress`] for a `Write`, [`Decoder`] as a
//! `Read`.
//!
//! Blocks flow reader -> [`BlockDecoder`] -> writer through a [`Pipeline`]. No byte is given out
//! before its block's checksum is found right.

use crate::base::error::{Error, Result};
use crate::base::threads::Threads;
use crate::engine::decode::{self, BlockDecoder};
use crate::engine::pipeline::Pipeline;
use crate::engine::raw::{Raw, RestoredBlock, Spare};
use crate::engine::thread_pool;
use crate::frame::{FrameReader, StreamHasher, StreamVerifier};
use crate::options::events::Step;
use crate::options::{MAX_BLOCK_SIZE, Note, Options};
use crate::stream::compress::Summary;
use rayon::ThreadPool;
use std::fmt;
use std::io::{self, Read, Write};
use std::iter;
use std::mem;
use std::sync::Arc;

/// Decompresses all frames of `input`.
///
/// As many blocks are decompressed side by side as threads and memory allow, and written in order.
///
/// # Errors
/// [`Error::Format`] if the input is damaged or not a bwz file: the output is right and complete up
/// to that block. [`Error::Limit`] if a block needs more memory than the options allow,
/// [`Error::OutputLimit`] if it makes more output. [`Error::Io`] from either side.
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
///
/// The output may also be a slice that has room for all bytes.
/// [`Archive::raw_size`](crate::Archive::raw_size) returns the number of bytes that the file
/// states, without decoding any. Bound that number before you allocate by it, since only decoding
/// the whole file shows whether it is true.
///
/// ```
/// # let options = bwz::Options::new();
/// # let mut file = Vec::new();
/// # bwz::compress(&b"a rose is a rose"[..], &mut file, &options)?;
/// let size = bwz::Archive::open(std::io::Cursor::new(&file), &options)?.raw_size();
/// assert_eq!(size, 16);
/// let mut room = [0; 16];
/// bwz::decompress(&file[..], &mut room[..], &options)?;
/// assert_eq!(&room, b"a rose is a rose");
/// # Ok::<(), bwz::Error>(())
/// ```
pub fn decompress<R: Read + Send, W: Write>(
    input: R,
    mut output: W,
    options: &Options,
) -> Result<Summary> {
    let mut frames = FrameReader::new(input, options);
    let mut number = 0;
    let mut raw_size = 0;
    let spare = Spare::default();
    let mut verifier = StreamVerifier::new(frames.checks());
    let mut write = |RestoredBlock { raw, line_feeds }| {
        let size = raw.len() as u64;
        raw_size += size;
        verifier.block(number, line_feeds, |hasher| raw.write(0..raw.len(), hasher))?;
        options
            .run
            .listener
            .time(number, size, Step::Write, || {
                raw.write(0..raw.len(), &mut output)
            })?;
        number += 1;
        spare.keep_bytes(raw);
        Ok(())
    };
    if let Some(block) = small_first(&mut frames, options)? {
        write(block)?;
    }
    let mut pool = None;
    if options.run.first_block_alone
        && let Some(block_size) = frames.next_block_size()?
    {
        let (next, offset) = frames.place();
        let (planned, pipeline) =
            start_above(block_size, next, offset, &mut pool, &spare, options)?;
        let first = iter::from_fn(|| frames.next_block(planned)).take(1);
        pipeline.run(first, &mut write, || options.run.listener.failed())?;
    }
    while let Some(block_size) = frames.next_block_size()? {
        let (next, offset) = frames.place();
        let (planned, pipeline) =
            start_above(block_size, next, offset, &mut pool, &spare, options)?;
        let blocks = iter::from_fn(|| frames.next_block(planned));
        pipeline.run(blocks, &mut write, || options.run.listener.failed())?;
    }
    verifier.finish()?;
    output.flush()?;
    Ok(Summary {
        raw_size,
        coded_size: frames.offset(),
        indexed: frames.indexed(),
    })
}

/// Restores the first block if it is small. Most often no other follows, and no threads need to be
/// started.
fn small_first(
    frames: &mut FrameReader<impl Read>,
    options: &Options,
) -> Result<Option<RestoredBlock>> {
    let size = frames.next_block_size()?;
    let Some(size) = size.filter(|&size| thread_pool::calling_does(size, options)) else {
        return Ok(None);
    };
    let (number, offset) = frames.place();
    let decoder = BlockDecoder::new(size, Threads::Calling, Spare::default(), options);
    let decoder = decoder.map_err(|e| e.at(number, offset))?;
    frames
        .next_block(size)
        .map(|block| decoder.decode(block?))
        .transpose()
}

/// Pipeline from coded blocks to their raw bytes.
type Restoring = Pipeline<BlockDecoder>;

/// Starts a pipeline for the blocks of a frame, and for somewhat larger ones if the memory allows:
/// frames whose blocks grow little by little should not start a pipeline each. Also returns the
/// block size for which it was started. The next block has this number and offset;
/// the offset tells how much of the input is left.
fn start_above(
    block_size: u64,
    number: u64,
    offset: u64,
    pool: &mut Option<Arc<ThreadPool>>,
    spare: &Spare,
    options: &Options,
) -> Result<(u64, Restoring)> {
    let pool = match pool {
        Some(pool) => pool,
        none => none.insert(Arc::new(thread_pool::pool(options)?)),
    };
    let left = options.run.input_size.saturating_sub(offset);
    let options = options.clone().input_size(left);
    let rounded = block_size.max(1 << 20).next_power_of_two();
    let roomy = rounded.min(MAX_BLOCK_SIZE);
    let start = |size| decode::start(size, pool, spare, &options).map(|pipeline| (size, pipeline));
    let started = match start(roomy) {
        Err(Error::Limit { .. }) => start(block_size),
        started => started,
    };
    started.map_err(|e| e.at(number, offset))
}

/// Decompresses the bytes that it reads. It works ahead on threads of its own.
///
/// The caller of `read` reads `R`, so it never leaves the caller's thread. While it waits for its
/// source, so does the caller. Blocks that become ready meanwhile, or an error, are given out by
/// the next `read` that returns. After an error every read is one.
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
    /// A pipeline, and the block size that its memory was planned for.
    running: Option<(u64, Restoring)>,
    verifier: StreamVerifier,
    /// Number of the block that is given out next.
    number: u64,
    raw: Raw,
    spare: Spare,
    given: usize,
    failed: bool,
}

impl<R> fmt::Debug for Decoder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl<R: Read> Decoder<R> {
    /// Creates a decoder of all frames of `input`.
    pub fn new(input: R, options: &Options) -> Self {
        let frames = FrameReader::new(input, options);
        Decoder {
            options: options.clone(),
            pool: None,
            verifier: StreamVerifier::new(frames.checks()),
            frames,
            running: None,
            number: 0,
            raw: Raw::Bytes(Vec::new()),
            spare: Spare::default(),
            given: 0,
            failed: false,
        }
    }

    /// The notes about the frame whose blocks are being read: keys and values, see
    /// [`Options::note`](crate::Options::note). Those of the first frame are known after the first
    /// `read`.
    pub fn notes(&self) -> &[Note] {
        self.frames.notes()
    }

    /// Returns the next block's raw bytes, or `None` at the end.
    fn next_block(&mut self) -> Result<Option<Raw>> {
        loop {
            if self.running.is_none() {
                let Some(block_size) = self.frames.next_block_size()? else {
                    self.verifier.finish()?;
                    return Ok(None);
                };
                let (number, offset) = self.frames.place();
                let pool = &mut self.pool;
                let started =
                    start_above(block_size, number, offset, pool, &self.spare, &self.options);
                self.running = Some(started?);
            }
            let (planned, pipeline) = self.running.as_mut().expect("just started");
            while !pipeline.is_full()
                && let Some(block) = self.frames.next_block(*planned)
            {
                pipeline.submit(block);
                // Reading may take long, so blocks that are ready wait for one block at most.
                if pipeline.is_ready() {
                    break;
                }
            }
            match pipeline.next() {
                Some(block) => {
                    let RestoredBlock { raw, line_feeds } = block?;
                    let write = |hasher: &mut StreamHasher| raw.write(0..raw.len(), hasher);
                    self.verifier
                        .block(self.number, line_feeds, write)?;
                    self.number += 1;
                    return Ok(Some(raw));
                }
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
            self.spare
                .keep_bytes(mem::replace(&mut self.raw, Raw::Bytes(Vec::new())));
            match self.next_block() {
                Ok(block) => self.raw = block.unwrap_or(Raw::Bytes(Vec::new())),
                Err(e) => {
                    self.running = None;
                    self.failed = true;
                    return Err(e.into());
                }
            }
        }
        let count = out.len().min(self.raw.len() - self.given);
        self.raw.read_at(self.given, &mut out[..count]);
        self.given += count;
        Ok(count)
    }
}
