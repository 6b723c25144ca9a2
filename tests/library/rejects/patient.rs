//! A sound file whose fields are changed, and whose checksums around them are made right again.

use std::ops::Range;

/// A file with one block, or the first of several, whose parts are known by their offsets.
#[derive(Clone)]
pub struct Patient(pub Vec<u8>);

pub const BLOCK: usize = 16;
pub const PAYLOAD: usize = BLOCK + 42;

impl Patient {
    pub fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.0[at..at + 4].try_into().unwrap())
    }

    pub fn payload(&self) -> Range<usize> {
        PAYLOAD..PAYLOAD + self.u32(BLOCK + 17) as usize
    }

    /// Start of the seek table in a file with one block.
    pub fn table(&self) -> usize {
        self.payload().end
    }

    pub fn footer(&self) -> usize {
        self.0.len() - 32
    }

    pub fn set(mut self, at: usize, bytes: &[u8]) -> Self {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    pub fn seal(self, checked: Range<usize>, at: usize) -> Self {
        let checksum = crc32fast::hash(&self.0[checked]);
        self.set(at, &checksum.to_le_bytes())
    }

    pub fn frame(self, at: usize, bytes: &[u8]) -> Self {
        self.set(at, bytes).seal(0..12, 12)
    }

    pub fn block(self, at: usize, bytes: &[u8]) -> Self {
        self.set(BLOCK + at, bytes)
            .seal(BLOCK..BLOCK + 38, BLOCK + 38)
    }

    pub fn seek_table(self, at: usize, bytes: &[u8]) -> Self {
        let table = self.table();
        let entries = table + 28..self.footer();
        self.set(table + at, bytes)
            .seal(entries, table + 20)
            .seal(table..table + 24, table + 24)
    }

    pub fn foot(self, at: usize, bytes: &[u8]) -> Self {
        let footer = self.footer();
        self.set(footer + at, bytes)
            .seal(footer..footer + 24, footer + 24)
    }

    /// The file with another payload in its only block.
    pub fn with_payload(self, payload: &[u8]) -> Self {
        let old = self.payload();
        let mut file = self;
        file.0.splice(old, payload.iter().copied());
        let file = file.block(17, &(payload.len() as u32).to_le_bytes());
        let checksum = crc32fast::hash(payload).to_le_bytes();
        file.block(34, &checksum)
    }

    /// The parts of a payload with one sample and one slice.
    pub fn parts(&self) -> Parts<'_> {
        let (sample, mut rest) = one_value(&self.0[self.payload()]);
        let mut sizes = vec![];
        let mut models_size = 0;
        for _ in 0..=u8::from(self.0[BLOCK + 11] == 0) {
            (models_size, rest) = one_value(rest);
            sizes.push(models_size);
        }
        let models_size = if sizes.len() == 2 {
            models_size as usize
        } else {
            0
        };
        let (models, slice) = rest.split_at(models_size);
        Parts {
            sample,
            sizes,
            models,
            slice,
        }
    }

    /// The file with other parts in its only block.
    pub fn with_parts(
        &self,
        Parts {
            sample,
            sizes,
            models,
            slice,
        }: Parts,
    ) -> Self {
        let sizes: Vec<u8> = sizes
            .iter()
            .flat_map(|&size| packed(16, size))
            .collect();
        self.clone()
            .with_payload(&[&packed(16, sample), &sizes, models, slice].concat())
    }

    /// The file with another slice in its only block.
    pub fn with_slice(&self, slice: &[u8]) -> Self {
        self.with_parts(Parts {
            slice,
            ..self.parts()
        })
    }

    /// The file with other models in its only block.
    pub fn with_models(&self, models: &[u8]) -> Self {
        let sizes = vec![1, models.len() as u64];
        self.with_parts(Parts {
            sizes,
            models,
            ..self.parts()
        })
    }
}

/// The parts of a payload.
pub struct Parts<'a> {
    pub sample: u64,
    /// Slice_Count to Coded_Sizes, each an array of one value.
    pub sizes: Vec<u64>,
    pub models: &'a [u8],
    pub slice: &'a [u8],
}

/// The file with a changed index in its only block, whose checksum is made right again.
pub fn with_index(patient: &Patient, change: impl FnOnce(&mut Vec<u8>)) -> Patient {
    let payload = patient.0[patient.payload()].to_vec();
    let behind_samples = one_value(&payload).1;
    let (models_size, behind_sizes) = one_value(one_value(behind_samples).1);
    let [sizes, start] = [behind_samples, behind_sizes].map(|rest| payload.len() - rest.len());
    let counts_size = u32::from_le_bytes(payload[start + 2..start + 6].try_into().unwrap());
    let end = start + 20 + 4 + 2 * 128 + counts_size as usize;
    let models = &payload[end..end + models_size as usize];
    let mut index = payload[start..end].to_vec();
    change(&mut index);
    let checked = [&payload[sizes..start], &index[..16], &index[20..], models].concat();
    index[16..20].copy_from_slice(&crc32fast::hash(&checked).to_le_bytes());
    patient
        .clone()
        .with_payload(&[&payload[..start], &index, &payload[end..]].concat())
}

/// The file with the counts of its index uncompressed and changed.
pub fn with_counts(patient: &Patient, change: impl FnOnce(&mut Vec<u8>)) -> Patient {
    with_index(patient, |index| {
        let mut counts = index.split_off(24 + 2 * 128);
        if index[0] == 1 {
            counts = zstd::bulk::decompress(&counts, 2000).unwrap();
        }
        change(&mut counts);
        index[0] = 0;
        index[2..6].copy_from_slice(&(counts.len() as u32).to_le_bytes());
        index.extend(counts);
    })
}

/// A Packed_Array of one value.
pub fn packed(width: u8, value: u64) -> Vec<u8> {
    let mut bytes = vec![width];
    bytes.extend(&value.to_le_bytes()[..usize::from(width).div_ceil(8)]);
    bytes
}

pub fn one_value(bytes: &[u8]) -> (u64, &[u8]) {
    let (value, rest) = bytes[1..].split_at(usize::from(bytes[0]).div_ceil(8));
    let mut wide = [0; 8];
    wide[..value.len()].copy_from_slice(value);
    (u64::from_le_bytes(wide), rest)
}
