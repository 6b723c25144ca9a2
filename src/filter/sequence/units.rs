//! The lines of a block, in units: a record, a part of one, or another line, with the lines of
//! residues that follow. FORMAT.md section 12.8.
//!
//! Equal units stand once. As in `cover`, there are landmarks.

use super::entry_room::EntryRoom;
use crate::base::error::Flaw;
use crate::base::leb128;
use crate::coder::range_coder::{BinaryCoder, RangeDecoder, RangeEncoder};
use crate::coder::{BitTree, NumberModel};
use std::array::from_fn;

/// Units between two landmarks.
const STEP: usize = 32;

const MISFIT: Flaw = Flaw("the lines in the layout of sequences do not add up to the block");
const LEAD: Flaw = Flaw("the layout of sequences has a unit of an unknown kind");
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
    /// A line that begins a record of FASTQ: one line of bases, one of `+`, one of qualities.
    Read = 3,
    /// Nothing: the lines are qualities.
    Qualities = 4,
}

/// Some lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LineUnit {
    pub lead: Lead,
    /// Bytes of the line in front, its end not counted.
    pub lead_len: usize,
    /// Bytes of the lines behind it, blanks and all: of a sequence, or at [`Lead::Qualities`] of
    /// qualities.
    pub line_bytes: usize,
    /// Bytes of each line but the last; at [`Lead::Read`] those of the `+` line.
    pub width: usize,
}

/// How many of each there are in some lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub lines: usize,
    pub records: usize,
    /// Bytes of the lines of sequences, blanks and all.
    pub line_bytes: usize,
    /// Bytes of headers and other lines, but for qualities.
    pub heads: usize,
    pub qualities: usize,
}

impl Totals {
    /// All bytes but line ends.
    pub fn bytes(&self) -> usize {
        self.line_bytes + self.heads + self.qualities
    }

    /// These and `times` those of a unit.
    pub fn and(&self, unit: &Totals, times: usize) -> Totals {
        Totals {
            lines: self.lines + unit.lines * times,
            records: self.records + unit.records * times,
            line_bytes: self.line_bytes + unit.line_bytes * times,
            heads: self.heads + unit.heads * times,
            qualities: self.qualities + unit.qualities * times,
        }
    }
}

impl LineUnit {
    pub fn totals(&self) -> Totals {
        let is_read = self.lead == Lead::Read;
        let are_qualities = self.lead == Lead::Qualities;
        let lines_behind = match is_read {
            true => 3,
            false if self.line_bytes == 0 => 0,
            false => self.line_bytes.div_ceil(self.width),
        };
        Totals {
            lines: usize::from(self.has_lead()) + lines_behind,
            records: usize::from(self.begins_record()),
            line_bytes: if are_qualities { 0 } else { self.line_bytes },
            heads: self.lead_len + if is_read { self.width } else { 0 },
            qualities: if is_read || are_qualities { self.line_bytes } else { 0 },
        }
    }

    /// True if there is a line in front.
    pub fn has_lead(&self) -> bool {
        matches!(self.lead, Lead::Other | Lead::Record | Lead::Read)
    }

    /// True if there are lines of a width, or a `+` line.
    fn has_width(&self) -> bool {
        self.line_bytes > 0 || self.lead == Lead::Read
    }

    /// Whether there is something in it, in lines that are not longer than their width.
    fn is_possible(&self) -> bool {
        match (self.lead, self.line_bytes) {
            (Lead::Read, _) => true,
            (_, 0) => self.has_lead(),
            (_, bytes) => (1..=bytes).contains(&self.width),
        }
    }

    pub fn begins_record(&self) -> bool {
        matches!(self.lead, Lead::Record | Lead::Read)
    }

    /// Bytes of each line but the last, at least 1.
    pub fn line_width(&self) -> usize {
        (if self.lead == Lead::Read { self.line_bytes } else { self.width }).max(1)
    }
}

/// The models of the numbers of units.
struct UnitModels {
    lead: LeadModel,
    times: NumberModel,
    /// By the lead: Lead_Size, Line_Bytes and Width.
    of_lead: [[LengthModel; 3]; 5],
}

/// The model of the leads, which are four unless the layout is extended.
enum LeadModel {
    Plain(BitTree<2>),
    Extended(BitTree<3>),
}

impl LeadModel {
    /// Encodes `lead`, or decodes one whatever `lead` is.
    fn code(&mut self, lead: Lead, coder: &mut impl BinaryCoder) -> Result<Lead, Flaw> {
        let number = match self {
            LeadModel::Plain(tree) => tree.code(lead as usize % 4, coder),
            LeadModel::Extended(tree) => tree.code(lead as usize, coder),
        };
        LEADS.get(number).copied().ok_or(LEAD)
    }
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
    fn new(is_extended: bool) -> Self {
        let lead = match is_extended {
            true => LeadModel::Extended(BitTree::new()),
            false => LeadModel::Plain(BitTree::new()),
        };
        let of_lead = from_fn(|_| from_fn(|_| LengthModel::new()));
        UnitModels { lead, times: NumberModel::new(), of_lead }
    }

    /// Encodes a unit, or decodes one whatever this one is.
    fn code(
        &mut self,
        unit: &LineUnit,
        times: usize,
        coder: &mut impl BinaryCoder,
    ) -> Result<(LineUnit, usize), Flaw> {
        let lead = self.lead.code(unit.lead, coder)?;
        let [lead_lens, line_bytes, widths] = &mut self.of_lead[lead as usize];
        let mut unit = LineUnit { lead, ..*unit };
        unit.lead_len = if unit.has_lead() { lead_lens.code(unit.lead_len, coder)? } else { 0 };
        unit.line_bytes = line_bytes.code(unit.line_bytes, coder)?;
        unit.width = match (unit.has_width(), lead) {
            (false, _) => 0,
            (true, Lead::Read) => widths.code(unit.width, coder)?,
            // 0 stands for one line, whose length is coded once.
            (true, _) => match widths.code(unit.width % unit.line_bytes, coder)? {
                0 => unit.line_bytes,
                width => width,
            },
        };
        Ok((unit, self.times.code(times - 1, coder) + 1))
    }
}

const LEADS: [Lead; 5] = [Lead::None, Lead::Other, Lead::Record, Lead::Read, Lead::Qualities];

/// Values of the tag that a lead is in.
const TAGS: usize = 8;

/// All units of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Units {
    pub count: usize,
    /// Of each [`TAGS`] * Lead_Size + Lead, Line_Bytes, Width if there is one, and Times, as
    /// varints.
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

    /// Decodes as many units as there is room for, of at most `limit` bytes and a line end. If they
    /// are extended, there may be lines of qualities.
    pub fn decode(
        from: &mut RangeDecoder,
        is_extended: bool,
        room: &mut EntryRoom,
        limit: usize,
    ) -> Result<Self, Flaw> {
        let count = NumberModel::new().code(0, from);
        room.take(count)?;
        let mut units = Units::default();
        let mut models = UnitModels::new(is_extended);
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

    pub fn encode(&self, is_extended: bool, out: &mut RangeEncoder) {
        NumberModel::new().code(self.count, out);
        let mut models = UnitModels::new(is_extended);
        for UnitRow { unit, times, .. } in self.iter() {
            models.code(&unit, times, out).expect("any unit can be encoded");
        }
    }

    /// True if there are lines of qualities that a layout has to be extended for.
    pub fn has_qualities(&self) -> bool {
        self.iter().any(|row| row.unit.lead == Lead::Qualities)
    }

    /// Whether all numbers that [`Units::encode`] writes are such as their models hold.
    pub fn have_small_numbers(&self) -> bool {
        self.iter().all(|UnitRow { unit, times, .. }| {
            unit.lead_len.max(unit.line_bytes).max(unit.width).max(times - 1) <= NumberModel::MOST
        })
    }

    fn push(&mut self, unit: &LineUnit, times: usize) {
        if self.count.is_multiple_of(STEP) {
            self.landmarks.push(BeforeUnit { at: self.bytes.len(), before: self.totals });
        }
        leb128::write(TAGS * unit.lead_len + unit.lead as usize, &mut self.bytes);
        leb128::write(unit.line_bytes, &mut self.bytes);
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
        let mut low = 0;
        let mut high = times - 1;
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
    let tag = leb128::read(rest)?;
    let lead = *LEADS.get(tag % TAGS).ok_or(MISFIT)?;
    let line_bytes = leb128::read(rest)?;
    let mut unit = LineUnit { lead, lead_len: tag / TAGS, line_bytes, width: 0 };
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
