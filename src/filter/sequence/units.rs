//! Lines of a block, grouped in units. FORMAT.md section 12.8.
//!
//! A unit is a record, a part of one, or another line, with the lines of residues that follow it.
//! Equal consecutive units are stored once, with their number. Every 32nd unit has a landmark, from
//! which a lookup starts (see `cover`).

use super::entry_room::EntryRoom;
use crate::base::error::Flaw;
use crate::base::leb128;
use crate::coder::range_coder::{BinaryCoder, RangeDecoder, RangeEncoder};
use crate::coder::{BitTree, NumberModel};
use std::array::from_fn;

/// Number of stored units from one landmark to the next.
const STEP: usize = 32;

const MISFIT: Flaw = Flaw("the lines in the layout of sequences do not add up to the block");
const LEAD: Flaw = Flaw("the layout of sequences has a unit of an unknown kind");
const WIDTH: Flaw = Flaw("a line in the layout of sequences has an impossible width");

/// Line in front of a unit's residues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Lead {
    /// None: the lines of the unit before go on, in another width.
    #[default]
    None = 0,
    /// A line that begins no record.
    Other = 1,
    /// A line that begins a record.
    Record = 2,
    /// A line that begins a record of FASTQ: one line of bases, one of `+`, one of qualities.
    Read = 3,
    /// None: the lines are qualities.
    Qualities = 4,
}

/// Unit: a line in front, and the lines behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LineUnit {
    pub lead: Lead,
    /// Bytes of the line in front, without its end.
    pub lead_len: usize,
    /// Bytes of the lines behind it, with blanks. They are of a sequence, or with
    /// [`Lead::Qualities`] of qualities.
    pub line_bytes: usize,
    /// Bytes of each of these lines but the last. With [`Lead::Read`], bytes of the `+` line.
    pub width: usize,
}

/// Numbers of lines, records and bytes in some lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub lines: usize,
    pub records: usize,
    /// Bytes of the lines of sequences, with blanks.
    pub line_bytes: usize,
    /// Bytes of headers and other lines, without qualities.
    pub heads: usize,
    pub qualities: usize,
}

impl Totals {
    /// Returns the number of bytes, without line ends.
    pub(super) fn bytes(&self) -> usize {
        self.line_bytes + self.heads + self.qualities
    }

    /// Returns these totals and `times` those of a unit.
    pub(super) fn and(&self, unit: &Totals, times: usize) -> Totals {
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
    pub(super) fn totals(&self) -> Totals {
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
            qualities: if is_read || are_qualities {
                self.line_bytes
            } else {
                0
            },
        }
    }

    /// Returns true if the unit has a line in front.
    pub(super) fn has_lead(&self) -> bool {
        matches!(self.lead, Lead::Other | Lead::Record | Lead::Read)
    }

    /// Returns true if the unit has lines of a width, or a `+` line.
    fn has_width(&self) -> bool {
        self.line_bytes > 0 || self.lead == Lead::Read
    }

    /// Returns true if the unit has a line, and its lines of a width, if any, have a width from 1
    /// to `line_bytes`. A unit of [`Lead::Read`] is always possible.
    fn is_possible(&self) -> bool {
        match (self.lead, self.line_bytes) {
            (Lead::Read, _) => true,
            (_, 0) => self.has_lead(),
            (_, bytes) => (1..=bytes).contains(&self.width),
        }
    }

    pub(super) fn begins_record(&self) -> bool {
        matches!(self.lead, Lead::Record | Lead::Read)
    }

    /// Returns the bytes of each line but the last, at least 1.
    pub(super) fn line_width(&self) -> usize {
        (if self.lead == Lead::Read {
            self.line_bytes
        } else {
            self.width
        })
        .max(1)
    }
}

/// Models of the numbers of units.
struct UnitModels {
    lead: LeadModel,
    times: NumberModel,
    /// Models of Lead_Size, Line_Bytes and Width, for each lead.
    of_lead: [[LengthModel; 3]; 5],
}

/// Model of the leads. There are four, or five if the layout is extended.
enum LeadModel {
    Plain(BitTree<2>),
    Extended(BitTree<3>),
}

impl LeadModel {
    /// Encodes `lead`, or decodes a lead and ignores `lead`.
    fn code(&mut self, lead: Lead, coder: &mut impl BinaryCoder) -> Result<Lead, Flaw> {
        let number = match self {
            LeadModel::Plain(tree) => tree.code(lead as usize % 4, coder),
            LeadModel::Extended(tree) => tree.code(lead as usize, coder),
        };
        LEADS.get(number).copied().ok_or(LEAD)
    }
}

/// Model of a length, which is often one of the last four.
struct LengthModel {
    recent: [usize; 4],
    which: BitTree<3>,
    number: NumberModel,
}

/// Code of a length that is not recent.
const NEW: usize = 4;

impl LengthModel {
    fn new() -> Self {
        LengthModel {
            recent: [0; 4],
            which: BitTree::new(),
            number: NumberModel::new(),
        }
    }

    /// Encodes `length`, or decodes a length and ignores `length`.
    fn code(&mut self, length: usize, coder: &mut impl BinaryCoder) -> Result<usize, Flaw> {
        let which = self
            .recent
            .iter()
            .position(|&recent| recent == length)
            .unwrap_or(NEW);
        let length = match self.which.code(which, coder) {
            NEW => self.number.code(length, coder),
            which => *self.recent.get(which).ok_or(MISFIT)?,
        };
        let ago = self
            .recent
            .iter()
            .position(|&recent| recent == length)
            .unwrap_or(3);
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
        UnitModels {
            lead,
            times: NumberModel::new(),
            of_lead,
        }
    }

    /// Encodes a unit, or decodes a unit and ignores `unit` and `times`.
    fn code(
        &mut self,
        unit: &LineUnit,
        times: usize,
        coder: &mut impl BinaryCoder,
    ) -> Result<(LineUnit, usize), Flaw> {
        let lead = self.lead.code(unit.lead, coder)?;
        let [lead_lens, line_bytes, widths] = &mut self.of_lead[lead as usize];
        let mut unit = LineUnit { lead, ..*unit };
        unit.lead_len = if unit.has_lead() {
            lead_lens.code(unit.lead_len, coder)?
        } else {
            0
        };
        unit.line_bytes = line_bytes.code(unit.line_bytes, coder)?;
        unit.width = match (unit.has_width(), lead) {
            (false, _) => 0,
            (true, Lead::Read) => widths.code(unit.width, coder)?,
            // 0 stands for a single line: its width is its length, which is coded already.
            (true, _) => match widths.code(unit.width % unit.line_bytes, coder)? {
                0 => unit.line_bytes,
                width => width,
            },
        };
        Ok((unit, self.times.code(times - 1, coder) + 1))
    }
}

const LEADS: [Lead; 5] = [
    Lead::None,
    Lead::Other,
    Lead::Record,
    Lead::Read,
    Lead::Qualities,
];

/// Multiplier of Lead_Size in a unit's tag, which also has the lead.
const TAGS: usize = 8;

/// Units of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Units {
    pub count: usize,
    /// For each unit [`TAGS`] * Lead_Size + Lead, Line_Bytes, Width if it has one, and Times, as
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

/// Unit with its number of repetitions and the totals before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnitRow {
    pub before: Totals,
    pub unit: LineUnit,
    pub times: usize,
}

impl Units {
    /// Returns its memory in bytes, without the struct itself.
    pub(super) fn memory(&self) -> usize {
        self.bytes.len() + self.landmarks.len() * size_of::<BeforeUnit>()
    }

    /// Decodes units of at most `limit` bytes and a line end. Fails if there is no room for them.
    /// If `is_extended`, there may be lines of qualities.
    pub(super) fn decode(
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
            if (one.bytes() + one.lines)
                .checked_mul(times)
                .is_none_or(|size| size > left)
            {
                return Err(MISFIT);
            }
            units.push(&unit, times);
        }
        Ok(units)
    }

    pub(super) fn encode(&self, is_extended: bool, out: &mut RangeEncoder) {
        NumberModel::new().code(self.count, out);
        let mut models = UnitModels::new(is_extended);
        for UnitRow { unit, times, .. } in self.iter() {
            models
                .code(&unit, times, out)
                .expect("any unit can be encoded");
        }
    }

    /// Returns true if there are lines of qualities for which a layout has to be extended.
    pub(super) fn has_qualities(&self) -> bool {
        self.iter()
            .any(|row| row.unit.lead == Lead::Qualities)
    }

    /// Returns true if the models can hold all numbers that [`Units::encode`] writes.
    pub(super) fn have_small_numbers(&self) -> bool {
        self.iter().all(|UnitRow { unit, times, .. }| {
            unit.lead_len
                .max(unit.line_bytes)
                .max(unit.width)
                .max(times - 1)
                <= NumberModel::MOST
        })
    }

    fn push(&mut self, unit: &LineUnit, times: usize) {
        if self.count.is_multiple_of(STEP) {
            self.landmarks.push(BeforeUnit {
                at: self.bytes.len(),
                before: self.totals,
            });
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

    /// Yields all units in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = UnitRow> + '_ {
        self.from(BeforeUnit {
            at: 0,
            before: Totals::default(),
        })
    }

    fn from(
        &self,
        BeforeUnit { at, mut before }: BeforeUnit,
    ) -> impl Iterator<Item = UnitRow> + '_ {
        let mut rest = &self.bytes[at..];
        std::iter::from_fn(move || {
            let (unit, times) = read(&mut rest).ok()?;
            let place = UnitRow {
                before,
                unit,
                times,
            };
            before = before.and(&unit.totals(), times);
            Some(place)
        })
    }

    /// Returns the first unit behind which `key` is above `target`. Of repeated units it is a
    /// single one.
    pub(super) fn find(&self, target: usize, key: impl Fn(&Totals) -> usize) -> Option<UnitRow> {
        let behind = self
            .landmarks
            .partition_point(|mark| key(&mark.before) <= target);
        let landmark = self.landmarks[behind.checked_sub(1)?];
        let end = |place: &UnitRow| {
            place
                .before
                .and(&place.unit.totals(), place.times)
        };
        let found = self
            .from(landmark)
            .find(|place| key(&end(place)) > target)?;
        let UnitRow {
            before,
            unit,
            times,
        } = found;
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
        Some(UnitRow {
            before: before.and(&one, low),
            unit,
            times: 1,
        })
    }
}

fn read(rest: &mut &[u8]) -> Result<(LineUnit, usize), Flaw> {
    let tag = leb128::read(rest)?;
    let lead = *LEADS.get(tag % TAGS).ok_or(MISFIT)?;
    let line_bytes = leb128::read(rest)?;
    let mut unit = LineUnit {
        lead,
        lead_len: tag / TAGS,
        line_bytes,
        width: 0,
    };
    if unit.has_width() {
        unit.width = leb128::read(rest)?;
    }
    Ok((unit, leb128::read(rest)?))
}

/// Builder of [`Units`] from units in order. Equal units are joined.
#[derive(Default)]
pub(super) struct UnitsWriter {
    units: Units,
    last: LineUnit,
    times: usize,
}

impl UnitsWriter {
    pub(super) fn push(&mut self, unit: LineUnit) {
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

    pub(super) fn finish(mut self) -> Units {
        self.flush();
        self.units
    }
}
