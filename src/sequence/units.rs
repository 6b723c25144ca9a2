//! The lines of a block, in units: a record, a part of one, or another line, with the lines of
//! residues that follow. FORMAT.md section 12.8.
//!
//! Equal units stand once. As in `cover`, there are landmarks.

use crate::coder::range_coder::{BinaryCoder, RangeDecoder, RangeEncoder};
use crate::coder::{BitTree, NumberModel};
use crate::error::Flaw;
use crate::leb128;
use std::array::from_fn;

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
pub(super) struct LineUnit {
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

impl LineUnit {
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

    /// Whether there are residue lines of a width, or a `+` line.
    fn has_width(&self) -> bool {
        self.residues > 0 || self.lead == Lead::Read
    }

    /// Whether there is something in it, in lines that are not longer than their width.
    fn is_possible(&self) -> bool {
        match (self.lead, self.residues) {
            (Lead::Read, _) => true,
            (lead, 0) => lead != Lead::None,
            (_, residues) => (1..=residues).contains(&self.width),
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

/// The models of the numbers of units.
struct UnitModels {
    lead: BitTree<2>,
    times: NumberModel,
    /// By the lead: Lead_Size, Residues and Width.
    of_lead: [[LengthModel; 3]; 4],
}

/// A length, which is often one of the last ones.
struct LengthModel {
    recent: [usize; 4],
    which: BitTree<3>,
    number: NumberModel,
}

/// None of the recent ones.
const NEW: usize = 4;

impl LengthModel {
    fn new() -> Self {
        LengthModel { recent: [0; 4], which: BitTree::new(), number: NumberModel::new() }
    }

    /// Encodes `length`, or decodes one whatever `length` is.
    fn code(&mut self, length: usize, coder: &mut impl BinaryCoder) -> Result<usize, Flaw> {
        let which = self.recent.iter().position(|&recent| recent == length).unwrap_or(NEW);
        let length = match self.which.code(which, coder) {
            NEW => self.number.code(length, coder),
            which => *self.recent.get(which).ok_or(MISFIT)?,
        };
        let ago = self.recent.iter().position(|&recent| recent == length).unwrap_or(3);
        self.recent[..=ago].rotate_right(1);
        self.recent[0] = length;
        Ok(length)
    }
}

impl UnitModels {
    fn new() -> Self {
        let of_lead = from_fn(|_| from_fn(|_| LengthModel::new()));
        UnitModels { lead: BitTree::new(), times: NumberModel::new(), of_lead }
    }

    /// Encodes a unit, or decodes one whatever this one is.
    fn code(
        &mut self,
        unit: &LineUnit,
        times: usize,
        coder: &mut impl BinaryCoder,
    ) -> Result<(LineUnit, usize), Flaw> {
        let lead = LEADS[self.lead.code(unit.lead as usize, coder)];
        let [lead_lens, residues, widths] = &mut self.of_lead[lead as usize];
        let mut unit = LineUnit { lead, ..*unit };
        let is_led = lead != Lead::None;
        unit.lead_len = if is_led { lead_lens.code(unit.lead_len, coder)? } else { 0 };
        unit.residues = residues.code(unit.residues, coder)?;
        unit.width = match (unit.has_width(), lead) {
            (false, _) => 0,
            (true, Lead::Read) => widths.code(unit.width, coder)?,
            // 0 stands for one line, whose length is coded once.
            (true, _) => match widths.code(unit.width % unit.residues, coder)? {
                0 => unit.residues,
                width => width,
            },
        };
        Ok((unit, self.times.code(times - 1, coder) + 1))
    }
}

const LEADS: [Lead; 4] = [Lead::None, Lead::Other, Lead::Record, Lead::Read];

/// All units of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Units {
    pub count: usize,
    /// Of each 4 * Lead_Size + Lead, Residues, Width where there is one, and Times, as varints.
    bytes: Vec<u8>,
    landmarks: Vec<BeforeUnit>,
    pub totals: Totals,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BeforeUnit {
    at: usize,
    before: Totals,
}

/// A unit, how often it stands there, and what comes before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnitRow {
    pub before: Totals,
    pub unit: LineUnit,
    pub times: usize,
}

impl Units {
    /// Bytes of memory beside itself.
    pub fn memory(&self) -> usize {
        self.bytes.len() + self.landmarks.len() * size_of::<BeforeUnit>()
    }

    /// Decodes at most `most` units of at most `limit` bytes and a line end, and takes them off
    /// `most`.
    pub fn decode(from: &mut RangeDecoder, most: &mut usize, limit: usize) -> Result<Self, Flaw> {
        let count = NumberModel::new().code(0, from);
        *most = most.checked_sub(count).ok_or(MISFIT)?;
        let (mut units, mut models) = (Units::default(), UnitModels::new());
        for _ in 0..count {
            let (unit, times) = models.code(&LineUnit::default(), 1, from)?;
            if !unit.is_possible() {
                return Err(WIDTH);
            }
            let one = unit.totals();
            let left = (limit + 1).saturating_sub(units.totals.bytes() + units.totals.lines);
            // Both factors are below 2^35.
            if (one.bytes() + one.lines).checked_mul(times).is_none_or(|size| size > left) {
                return Err(MISFIT);
            }
            units.push(&unit, times);
        }
        Ok(units)
    }

    pub fn encode(&self, out: &mut RangeEncoder) {
        NumberModel::new().code(self.count, out);
        let mut models = UnitModels::new();
        for UnitRow { unit, times, .. } in self.iter() {
            models.code(&unit, times, out).expect("any unit can be encoded");
        }
    }

    /// Whether all numbers that [`Units::encode`] writes are such as their models hold.
    pub fn have_small_numbers(&self) -> bool {
        self.iter().all(|UnitRow { unit, times, .. }| {
            unit.lead_len.max(unit.residues).max(unit.width).max(times - 1) <= NumberModel::MOST
        })
    }

    fn push(&mut self, unit: &LineUnit, times: usize) {
        if self.count.is_multiple_of(STEP) {
            self.landmarks.push(BeforeUnit { at: self.bytes.len(), before: self.totals });
        }
        leb128::write(4 * unit.lead_len + unit.lead as usize, &mut self.bytes);
        leb128::write(unit.residues, &mut self.bytes);
        if unit.has_width() {
            leb128::write(unit.width, &mut self.bytes);
        }
        leb128::write(times, &mut self.bytes);
        self.count += 1;
        self.totals = self.totals.and(&unit.totals(), times);
    }

    /// All units in order.
    pub fn iter(&self) -> impl Iterator<Item = UnitRow> + '_ {
        self.from(BeforeUnit { at: 0, before: Totals::default() })
    }

    fn from(
        &self,
        BeforeUnit { at, mut before }: BeforeUnit,
    ) -> impl Iterator<Item = UnitRow> + '_ {
        let mut rest = &self.bytes[at..];
        std::iter::from_fn(move || {
            let (unit, times) = read(&mut rest).ok()?;
            let place = UnitRow { before, unit, times };
            before = before.and(&unit.totals(), times);
            Some(place)
        })
    }

    /// The first unit behind which `key` is above `target`: one of equal units, alone.
    pub fn find(&self, target: usize, key: impl Fn(&Totals) -> usize) -> Option<UnitRow> {
        let behind = self.landmarks.partition_point(|mark| key(&mark.before) <= target);
        let landmark = self.landmarks[behind.checked_sub(1)?];
        let end = |place: &UnitRow| place.before.and(&place.unit.totals(), place.times);
        let found = self.from(landmark).find(|place| key(&end(place)) > target)?;
        let UnitRow { before, unit, times } = found;
        let one = unit.totals();
        let (mut low, mut high) = (0, times - 1);
        while low < high {
            let middle = low + (high - low) / 2;
            match key(&before.and(&one, middle + 1)) > target {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        Some(UnitRow { before: before.and(&one, low), unit, times: 1 })
    }
}

fn read(rest: &mut &[u8]) -> Result<(LineUnit, usize), Flaw> {
    let (tag, residues) = (leb128::read(rest)?, leb128::read(rest)?);
    let mut unit = LineUnit { lead: LEADS[tag % 4], lead_len: tag / 4, residues, width: 0 };
    if unit.has_width() {
        unit.width = leb128::read(rest)?;
    }
    Ok((unit, leb128::read(rest)?))
}

/// Units that are found one after the other.
#[derive(Default)]
pub(super) struct UnitsWriter {
    units: Units,
    last: LineUnit,
    times: usize,
}

impl UnitsWriter {
    pub fn push(&mut self, unit: LineUnit) {
        if self.times > 0 && unit == self.last {
            self.times += 1;
            return;
        }
        self.flush();
        (self.last, self.times) = (unit, 1);
    }

    fn flush(&mut self) {
        if self.times > 0 {
            self.units.push(&self.last, self.times);
        }
    }

    pub fn finish(mut self) -> Units {
        self.flush();
        self.units
    }
}
