//! Sorts one text on several GPUs together. A part of the text is copied to each GPU, and a part of
//! the rows is copied back from each.

use super::distributed::{ByDoubling, JointSort, PeerBoard, PeerExchange};
use super::interface::{JointReport, MOST_SORTED, SortedText};
use super::nccl_processor::NcclProcessor;
use super::part_sorter::{JointTask, PartResult, PartSorter};
use super::peers::Peers;
use super::runtime::NcclId;
use super::runtime::tuning::MOST_PROCESSORS;
use super::text_parts::{PartText, TextParts};
use crate::base::error::{Error, Result};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Sorts texts on several GPUs together. The memory of each GPU grows to fit the largest text and
/// is kept.
#[derive(Debug)]
pub struct JointSorter {
    numbers: Vec<u32>,
    gpus: Vec<Mutex<PartSorter>>,
    /// True if each GPU can read the memory of all others directly.
    all_read: bool,
    way: JointWay,
    report: JointReport,
}

/// Method by which GPUs sort together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JointWay {
    /// Each GPU sorts a range of keys, and reads the memory of the others.
    Ranges,
    /// Prefix doubling. It also sorts texts that are too large for `Ranges`.
    Doubling,
    /// Prefix doubling, with arrays sent by NCCL and not copied from memory to memory.
    DoublingByNccl,
}

impl JointSorter {
    /// Creates a sorter on the GPUs with these numbers. A number may occur several times; each
    /// occurrence is a processor of its own.
    ///
    /// # Errors
    /// [`Error::Device`] if a GPU is missing or fails.
    pub fn new(numbers: &[u32]) -> Result<Self> {
        if !(1..=MOST_PROCESSORS as usize).contains(&numbers.len()) {
            let most = format!("1 to {MOST_PROCESSORS} GPUs sort a text together");
            return Err(Error::Usage(most.into()));
        }
        let open = |&number: &u32| PartSorter::open(number);
        let gpus: Vec<PartSorter> = numbers.iter().map(open).collect::<Result<_>>()?;
        // Every pair is tried, so that copies go directly between all GPUs that can.
        let reads = gpus
            .iter()
            .flat_map(|one| gpus.iter().map(|other| one.let_read(other)));
        let all_read = reads.fold(true, |all, reads| all & reads);
        let way = if all_read {
            JointWay::Ranges
        } else {
            JointWay::Doubling
        };
        let gpus = gpus.into_iter().map(Mutex::new).collect();
        let numbers = numbers.to_vec();
        let report = JointReport::default();
        Ok(JointSorter {
            numbers,
            gpus,
            all_read,
            way,
            report,
        })
    }

    /// Makes it sort every text by prefix doubling.
    #[must_use]
    pub fn by_doubling(mut self) -> Self {
        self.way = JointWay::Doubling;
        self
    }

    /// Makes it sort every text by prefix doubling, with arrays sent by NCCL. The GPUs join a
    /// network for each sort, so each number may occur only once.
    #[must_use]
    pub fn by_nccl(mut self) -> Self {
        self.way = JointWay::DoublingByNccl;
        self
    }

    /// Sorts a text of at least 1 byte. `sample_rate` is a power of two.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPUs have too little memory or one of them fails. The sorter can be
    /// used again, but after some failures every later call fails too.
    pub fn sort(&mut self, text: &[u8], sample_rate: u32) -> Result<SortedText> {
        let results = self.run(text, sample_rate, false)?;
        self.sorted_text(text, sample_rate, &results)
    }

    /// Sorts a text like [`JointSorter::sort`], but by `sort`.
    ///
    /// # Errors
    /// As [`JointSorter::sort`].
    pub fn sort_by(
        &mut self,
        sort: &impl JointSort,
        text: &[u8],
        sample_rate: u32,
    ) -> Result<SortedText> {
        let results = self.run_by(sort, text, sample_rate, false)?;
        self.sorted_text(text, sample_rate, &results)
    }

    /// Joins the rows of all GPUs, which are in their pinned memory.
    fn sorted_text(
        &self,
        text: &[u8],
        sample_rate: u32,
        results: &[PartResult],
    ) -> Result<SortedText> {
        let parts: Vec<_> = (0..self.gpus.len())
            .map(|number| self.part(number))
            .collect();
        let rows = parts
            .iter()
            .zip(results)
            .map(|(part, result)| part.rows(result));
        let last = text[text.len() - 1];
        let n = text.len() as u64;
        SortedText::of_parts(last, n, sample_rate, &rows.collect::<Vec<_>>())
    }

    /// The suffix array of a text, without the empty suffix.
    ///
    /// # Errors
    /// As [`JointSorter::sort`].
    pub fn suffix_array(&mut self, text: &[u8]) -> Result<Vec<u64>> {
        let results = self.run(text, 1 << 30, true)?;
        Ok(results
            .into_iter()
            .flat_map(|result| result.sa)
            .collect())
    }

    /// The suffix array of a text, without the empty suffix, by `sort`.
    #[cfg(test)]
    pub fn suffix_array_by(&mut self, sort: &impl JointSort, text: &[u8]) -> Result<Vec<u64>> {
        let results = self.run_by(sort, text, 1 << 30, true)?;
        Ok(results
            .into_iter()
            .flat_map(|result| result.sa)
            .collect())
    }

    /// Frees the device memory of all GPUs, for other work. The next sort allocates it again.
    ///
    /// # Errors
    /// [`Error::Device`] if a GPU fails.
    pub fn free(&mut self) -> Result<()> {
        let count = self.gpus.len();
        Peers::run(count, |number, _| self.part(number).free()).map(drop)
    }

    /// Statistics of the last sort.
    pub fn report(&self) -> &JointReport {
        &self.report
    }

    /// Makes the launch of a GPU after its next `launches` fail.
    #[cfg(test)]
    pub fn fail_after(&mut self, gpu: usize, launches: u32) {
        self.gpus[gpu]
            .get_mut()
            .unwrap()
            .fail_after(launches);
    }

    fn run(&mut self, text: &[u8], sample_rate: u32, whole_sa: bool) -> Result<Vec<PartResult>> {
        let task = self.task(text, sample_rate, whole_sa)?;
        let is_small = text.len() <= MOST_SORTED as usize;
        let by_ranges =
            (self.way == JointWay::Ranges && is_small).then(|| self.by_ranges(task, text));
        let results = match by_ranges {
            // The other method may still find enough memory.
            None | Some(Err(Error::Device(_))) => self.by_rounds(&ByDoubling, task, text)?,
            Some(results) => results?,
        };
        self.add_reports(&results);
        Ok(results)
    }

    fn run_by(
        &mut self,
        sort: &impl JointSort,
        text: &[u8],
        sample_rate: u32,
        whole_sa: bool,
    ) -> Result<Vec<PartResult>> {
        let task = self.task(text, sample_rate, whole_sa)?;
        let results = self.by_rounds(sort, task, text)?;
        self.add_reports(&results);
        Ok(results)
    }

    fn task(&self, text: &[u8], sample_rate: u32, whole_sa: bool) -> Result<JointTask> {
        if text.is_empty() || !sample_rate.is_power_of_two() {
            let what = "GPUs sort texts of a byte and more, with a power of two as sample rate";
            return Err(Error::Usage(what.into()));
        }
        let parts = TextParts::new(text.len() as u64, self.gpus.len());
        Ok(JointTask {
            parts,
            sample_rate,
            whole_sa,
        })
    }

    /// Makes the report of a sort from those of all GPUs.
    fn add_reports(&mut self, results: &[PartResult]) {
        self.report = JointReport::default();
        results
            .iter()
            .for_each(|result| self.report.add(&result.report));
    }

    /// Each GPU sorts a range of keys. If one fails, the memory for ranges is freed on all.
    fn by_ranges(&mut self, task: JointTask, text: &[u8]) -> Result<Vec<PartResult>> {
        let count = self.gpus.len();
        let board = PeerBoard::new(count, self.all_read);
        let sorted = Peers::run(count, |number, peers| {
            let part = PartText::of(text, task.parts, number);
            let mut exchange = PeerExchange::new(number, &board, peers);
            self.part(number)
                .sort_range(task, part, &mut exchange)
        });
        if sorted.is_err() {
            (0..count).for_each(|number| self.part(number).forget_ranges());
        }
        sorted
    }

    /// All GPUs sort together, round by round or level by level.
    fn by_rounds(
        &mut self,
        sort: &impl JointSort,
        task: JointTask,
        text: &[u8],
    ) -> Result<Vec<PartResult>> {
        let count = self.gpus.len();
        if self.way == JointWay::DoublingByNccl {
            let id = NcclId::new()?;
            return Peers::run(count, |number, peers| {
                let gpu = self.numbers[number];
                let mut exchange = NcclProcessor::join(gpu, id, number, count, peers)?;
                let part = PartText::of(text, task.parts, number);
                let result = self
                    .part(number)
                    .sort(sort, task, part, &mut exchange)?;
                peers.finish(count).map(|()| result)
            });
        }
        let board = PeerBoard::new(count, self.all_read);
        Peers::run(count, |number, peers| {
            let part = PartText::of(text, task.parts, number);
            let mut exchange = PeerExchange::new(number, &board, peers);
            self.part(number)
                .sort(sort, task, part, &mut exchange)
        })
    }

    fn part(&self, number: usize) -> MutexGuard<'_, PartSorter> {
        self.gpus[number]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
