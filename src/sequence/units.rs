//! The lines of a block, in units: a record, a part of one, or another line, with the lines of
//! residues that follow. FORMAT.md section 12.8.
//!
//! Equal units stand once. The four numbers of a unit stand in four columns, which zstd makes
//! smaller than one row after the other. As in `cover`, there are landmarks.

use crate::error::Flaw;
use crate::leb128;

/// Units between two landmarks.
const STEP: usize = 32;

const MISFIT: Flaw = Flaw("the lines in the layout of sequences do not add up to the block");
const WIDTH: Flaw = Flaw("a line in the layout of sequences has an impossible width");

/// What stands in front of a unit's residues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Lead {
    /// Nothing: the lines go on, in another width.
    #[default]
    None = 0,
    /// A line that begins no record.
    Other = 1,
    /// A line that begins a record.
    Record = 2,
    /// A line that begins a record of FASTQ: one line of residues, one of `+`, one of qualities.
    Read = 3,
}

/// Some lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Unit {
    pub lead: Lead,
    /// Bytes of the line in front, its end not counted.
    pub lead_len: usize,
    pub residues: usize,
    /// Residues of each line but the last; at [`Lead::Read`] the bytes of the `+` line.
    pub width: usize,
}

/// How many of each there are in some lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub lines: usize,
    pub records: usize,
    pub residues: usize,
    /// Bytes of headers and other lines, but for qualities.
    pub heads: usize,
    pub qualities: usize,
}

impl Totals {
    /// All bytes but line ends.
    pub fn bytes(&self) -> usize {
        self.residues + self.heads + self.qualities
    }

    /// Bytes of the text before the others.
    pub fn sequence(&self) -> usize {
        self.residues + self.records
    }

    /// These and `times` those of a unit.
    pub fn and(&self, unit: &Totals, times: usize) -> Totals {
        Totals {
            lines: self.lines + unit.lines * times,
            records: self.records + unit.records * times,
            residues: self.residues + unit.residues * times,
            heads: self.heads + unit.heads * times,
            qualities: self.qualities + unit.qualities * times,
        }
    }
}

impl Unit {
    pub fn totals(&self) -> Totals {
        let is_read = self.lead == Lead::Read;
        let residue_lines = match is_read {
            true => 1,
            false if self.residues == 0 => 0,
            false => self.residues.div_ceil(self.width),
        };
        Totals {
            lines: usize::from(self.lead != Lead::None) + residue_lines + 2 * usize::from(is_read),
            records: usize::from(self.begins_record()),
            residues: self.residues,
            heads: self.lead_len + if is_read { self.width } else { 0 },
            qualities: if is_read { self.residues } else { 0 },
        }
    }

    pub fn begins_record(&self) -> bool {
        matches!(self.lead, Lead::Record | Lead::Read)
    }

    /// Residues of each line but the last, at least 1.
    pub fn line_width(&self) -> usize {
        (if self.lead == Lead::Read { self.residues } else { self.width }).max(1)
    }
}

/// The four columns: 4 * Lead_Size + Lead, Residues, Width, Times - 1.
pub(super) struct Columns<'a>([&'a [u8]; 4]);

impl Columns<'_> {
    fn read(&mut self) -> Result<(Unit, usize), Flaw> {
        let [leads, residues, widths, times] = &mut self.0;
        let (tag, residues) = (leb128::read(leads)?, leb128::read(residues)?);
        let lead = [Lead::None, Lead::Other, Lead::Record, Lead::Read][tag % 4];
        let has_width = residues > 0 || lead == Lead::Read;
        let width = if has_width { leb128::read(widths)? } else { 0 };
        if (lead == Lead::None && (tag > 0 || residues == 0))
            || (lead != Lead::Read && residues > 0 && !(1..=residues).contains(&width))
        {
            return Err(WIDTH);
        }
        Ok((Unit { lead, lead_len: tag / 4, residues, width }, leb128::read(times)? + 1))
    }
}

/// All units of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Units {
    count: usize,
    columns: [Vec<u8>; 4],
    landmarks: Vec<Landmark>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Landmark {
    /// In each of the columns.
    at: [usize; 4],
    before: Totals,
}

/// A unit, how often it stands there, and what comes before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub before: Totals,
    pub unit: Unit,
    pub times: usize,
}

impl Units {
    /// Reads units of at most `limit` bytes, line ends included, that fill `bytes`; gives their
    /// totals too.
    pub fn read(mut bytes: &[u8], limit: usize) -> Result<(Self, Totals), Flaw> {
        let count = leb128::read(&mut bytes)?;
        let mut columns = [&bytes[..0]; 4];
        let sizes =
            [leb128::read(&mut bytes)?, leb128::read(&mut bytes)?, leb128::read(&mut bytes)?];
        for (column, size) in columns.iter_mut().zip(sizes) {
            (*column, bytes) = bytes.split_at_checked(size).ok_or(leb128::CUT)?;
        }
        columns[3] = bytes;
        let lens = columns.map(<[u8]>::len);
        let mut units = Units { count, columns: columns.map(<[u8]>::to_vec), landmarks: vec![] };
        let (mut rest, mut before) = (Columns(columns), Totals::default());
        for number in 0..count {
            if number % STEP == 0 {
                let at = [0, 1, 2, 3].map(|column| lens[column] - rest.0[column].len());
                units.landmarks.push(Landmark { at, before });
            }
            let (unit, times) = rest.read()?;
            let one = unit.totals();
            // No factor is above 2^42.
            let most = limit.saturating_sub(before.bytes() + before.lines);
            if (one.bytes() + one.lines).checked_mul(times).is_none_or(|size| size > most) {
                return Err(MISFIT);
            }
            before = before.and(&one, times);
        }
        let is_used_up = rest.0.iter().all(|column| column.is_empty());
        if is_used_up { Ok((units, before)) } else { Err(MISFIT) }
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        leb128::write(self.count, out);
        self.columns[..3].iter().for_each(|column| leb128::write(column.len(), out));
        self.columns.iter().for_each(|column| out.extend(column));
    }

    /// All units in order.
    pub fn iter(&self) -> impl Iterator<Item = Place> + '_ {
        self.from(Landmark { at: [0; 4], before: Totals::default() })
    }

    fn from(&self, landmark: Landmark) -> impl Iterator<Item = Place> + '_ {
        let column = |number: usize| &self.columns[number][landmark.at[number]..];
        let mut rest = Columns([column(0), column(1), column(2), column(3)]);
        let mut before = landmark.before;
        std::iter::from_fn(move || {
            let (unit, times) = rest.read().ok()?;
            let place = Place { before, unit, times };
            before = place.before.and(&unit.totals(), times);
            Some(place)
        })
    }

    /// The first unit behind which `key` is above `target`: one of equal units, alone.
    pub fn find(&self, target: usize, key: impl Fn(&Totals) -> usize) -> Option<Place> {
        let behind = self.landmarks.partition_point(|mark| key(&mark.before) <= target);
        let landmark = self.landmarks[behind.checked_sub(1)?];
        let is_there =
            |place: &Place| key(&place.before.and(&place.unit.totals(), place.times)) > target;
        let Place { before, unit, times } = self.from(landmark).find(is_there)?;
        let one = unit.totals();
        let (mut low, mut high) = (0, times - 1);
        while low < high {
            let middle = low + (high - low) / 2;
            match key(&before.and(&one, middle + 1)) > target {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        Some(Place { before: before.and(&one, low), unit, times: 1 })
    }
}

/// Units that are found one after the other.
#[derive(Default)]
pub(super) struct UnitsWriter {
    count: usize,
    columns: [Vec<u8>; 4],
    last: Unit,
    times: usize,
}

impl UnitsWriter {
    pub fn push(&mut self, unit: Unit) {
        if self.times > 0 && unit == self.last {
            self.times += 1;
            return;
        }
        self.flush();
        (self.last, self.times) = (unit, 1);
    }

    fn flush(&mut self) {
        if self.times == 0 {
            return;
        }
        let Unit { lead, lead_len, residues, width } = self.last;
        let [leads, all_residues, widths, times] = &mut self.columns;
        leb128::write(4 * lead_len + lead as usize, leads);
        leb128::write(residues, all_residues);
        if residues > 0 || lead == Lead::Read {
            leb128::write(width, widths);
        }
        leb128::write(self.times - 1, times);
        self.count += 1;
    }

    /// Appends the units to `out`.
    pub fn finish(mut self, out: &mut Vec<u8>) {
        self.flush();
        let UnitsWriter { count, columns, .. } = self;
        Units { count, columns, landmarks: vec![] }.write(out);
    }
}
