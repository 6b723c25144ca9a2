//! Content of a Seek_Table, in parts that a test changes.

use crate::frames::{Frame, column, take, take_column, take_varint, varint};

/// The fields of Content. A column that is not there is empty.
pub struct SeekContent {
    pub block_count: u64,
    /// Content_Flags.
    pub flags: u8,
    pub shape_count: u64,
    pub shapes: Vec<Vec<u8>>,
    pub shape_numbers: Vec<u64>,
    /// Raw_Sizes and Stored_Sizes are those of all blocks but the last.
    pub raw_sizes: Vec<u64>,
    pub stored_sizes: Vec<u64>,
    pub front_sizes: Vec<u64>,
    pub line_feeds: Vec<u64>,
}

impl SeekContent {
    /// Content of a frame that has blocks.
    pub fn of(frame: &Frame) -> Self {
        let bytes = frame.content();
        let mut rest = &bytes[..];
        let block_count = take_varint(&mut rest);
        let flags = take(&mut rest, 1)[0];
        let shape_count = take_varint(&mut rest);
        let shapes: Vec<_> = (0..shape_count)
            .map(|_| take_shape(&mut rest))
            .collect();
        let count = block_count as usize;
        let is_indexed = |shape: &Vec<u8>| shape[0] == 1 && shape[2] & 4 != 0;
        let mut column = |is_there: bool, count: usize| match is_there {
            true => take_column(&mut rest, count),
            false => vec![],
        };
        let content = SeekContent {
            block_count,
            flags,
            shape_count,
            shape_numbers: column(shape_count > 1, count),
            raw_sizes: column(count > 1, count - 1),
            stored_sizes: column(count > 1, count - 1),
            front_sizes: column(shapes.iter().any(is_indexed), count),
            line_feeds: column(flags & 1 != 0, count),
            shapes,
        };
        assert!(content.to_bytes() == bytes);
        content
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        self.with_columns(column)
    }

    /// The bytes with another form of the columns.
    pub fn with_columns(&self, form: impl Fn(&[u64]) -> Vec<u8>) -> Vec<u8> {
        let mut bytes = varint(self.block_count);
        bytes.push(self.flags);
        bytes.extend(varint(self.shape_count));
        bytes.extend(self.shapes.concat());
        let columns = [
            &self.shape_numbers,
            &self.raw_sizes,
            &self.stored_sizes,
            &self.front_sizes,
            &self.line_feeds,
        ];
        for values in columns {
            if !values.is_empty() {
                bytes.extend(form(values));
            }
        }
        bytes
    }
}

fn take_shape(rest: &mut &[u8]) -> Vec<u8> {
    let has_filters = rest[0] == 1 && rest[1] < 2 && rest[2] & 1 != 0;
    let filters = if has_filters { 1 + rest[4] } else { 0 };
    take(rest, 4 + usize::from(filters)).to_vec()
}
