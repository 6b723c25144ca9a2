//! The content of an input that another compressor made, for `--decompress-input` and `grep`: all
//! members of gzip and bgzip, all streams of bzip2 and xz, or all frames of zstd, one after the
//! other.

use crate::cli::files::known_formats::Format;
use bwz::Error;
use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use liblzma::bufread::XzDecoder;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes of an input that are read at a time.
const BUFFER: usize = 256 << 10;

/// The content of an input, decompressed while it is read.
pub(crate) struct ForeignInput<'r> {
    content: Box<dyn Read + Send + 'r>,
    format: Format,
    state: Arc<State>,
}

/// The state of the reading. It is shared, so that it is known even if the reader was moved
/// elsewhere.
#[derive(Default)]
pub(crate) struct State {
    /// Bytes of the input that were decompressed.
    taken: AtomicU64,
    /// The input could not be read; this is not damage.
    unread: AtomicBool,
    /// The input is damaged.
    damaged: AtomicBool,
}

impl<'r> ForeignInput<'r> {
    /// Opens an input.
    pub(crate) fn open(input: impl Read + Send + 'r, format: Format) -> io::Result<Self> {
        let state = Arc::<State>::default();
        let input = Taken {
            input: BufReader::with_capacity(BUFFER, input),
            state: state.clone(),
        };
        let content: Box<dyn Read + Send + 'r> = match format {
            Format::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(input)?),
            Format::Gzip => Box::new(MultiGzDecoder::new(input)),
            Format::Bzip2 => Box::new(MultiBzDecoder::new(input)),
            Format::Xz => Box::new(XzDecoder::new_multi_decoder(input)),
        };
        Ok(ForeignInput {
            content,
            format,
            state,
        })
    }

    pub(crate) fn state(&self) -> Arc<State> {
        Arc::clone(&self.state)
    }
}

impl Read for ForeignInput<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.content.read(out);
        read.map_err(|e| {
            if self.state.unread.load(Ordering::Relaxed) || e.kind() == io::ErrorKind::Interrupted {
                return e;
            }
            self.state.damaged.store(true, Ordering::Relaxed);
            let what = match e.kind() {
                io::ErrorKind::UnexpectedEof => "it ends too early".to_owned(),
                _ => e.to_string(),
            };
            let format = self.format.name();
            io::Error::new(e.kind(), format!("the {format} data is damaged: {what}"))
        })
    }
}

impl State {
    /// Returns the error of a compression. If damage of the input caused it, it becomes an error of
    /// the format.
    pub(crate) fn explain(&self, error: Error) -> Error {
        match error {
            Error::Io(e) if self.damaged.load(Ordering::Relaxed) => Error::Format {
                what: e.to_string().into(),
                block: None,
                offset: self.taken.load(Ordering::Relaxed),
            },
            error => error,
        }
    }
}

/// An input that counts the bytes taken from it, and notes if it fails.
struct Taken<B> {
    input: B,
    state: Arc<State>,
}

impl<B: BufRead> Read for Taken<B> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let there = self.fill_buf()?;
        let count = there.len().min(out.len());
        out[..count].copy_from_slice(&there[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl<B: BufRead> BufRead for Taken<B> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let state = &self.state;
        self.input
            .fill_buf()
            .inspect_err(|_| state.unread.store(true, Ordering::Relaxed))
    }

    fn consume(&mut self, count: usize) {
        self.state
            .taken
            .fetch_add(count as u64, Ordering::Relaxed);
        self.input.consume(count);
    }
}
