//! Frames with private content: FORMAT.md section 3.4.

use crate::base::error::{Error, Result};
use crate::frame::{Features, Footer, PrivateHeader};

/// Maximum size of the content of a private frame in bytes.
const LONGEST: u64 = (1 << 40) - 1;

/// Returns a frame that holds `content` and no data. It may stand before, between or after the
/// frames of a file; readers pass over it. `owner` tells its readers whose content it is.
///
/// ```
/// let options = bwz::Options::new();
/// let mut file = bwz::private_frame(u32::from_le_bytes(*b"mine"), b"not for everyone")?;
/// bwz::compress(&b"a rose is a rose"[..], &mut file, &options)?;
///
/// let mut text = Vec::new();
/// bwz::decompress(&file[..], &mut text, &options)?;
/// assert_eq!(text, b"a rose is a rose");
/// let archive = bwz::Archive::open(std::io::Cursor::new(file), &options)?;
/// assert_eq!(archive.frames()[0].private, Some(u32::from_le_bytes(*b"mine")));
/// # Ok::<(), bwz::Error>(())
/// ```
///
/// # Errors
/// [`Error::Usage`] if the content has 2^40 bytes or more.
pub fn private_frame(owner: u32, content: &[u8]) -> Result<Vec<u8>> {
    let content_size = content.len() as u64;
    if content_size > LONGEST {
        return Err(Error::Usage(
            "a private frame holds less than 2^40 bytes".into(),
        ));
    }
    let header = PrivateHeader::of(owner, content_size).to_bytes();
    let footer = Footer {
        total_raw_size: 0,
        seek_table_size: 0,
        features: Features::NONE,
        stream_checksum: crc32fast::hash(content),
        frame_size: (header.len() + content.len() + Footer::SIZE) as u64,
    };
    Ok([&header[..], content, &footer.to_bytes()].concat())
}
