//! The work of the GPUs and of the threads, and the estimate of which of them would finish a block
//! sooner.
//!
//! This is arithmetic. It never waits, and the current time is a parameter, so that a simulation
//! can use it too.

use super::rates::Rates;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Seconds by which an open GPU delays the end of the process.
const CLOSING: f64 = 0.1;

/// Seconds in which another GPU is opened and closed while one works. On 4 x H200 a second one
/// added 0.3 s to a call, and four added 1.0 s (28 November 2026).
const FURTHER_GPU: f64 = 0.3;

/// Factor by which the CPU must be sooner than the GPUs to get a block. A block on the CPU holds up
/// the blocks behind it that the GPUs finished in the meantime.
const PATIENCE: f64 = 1.2;

/// All blocks of one kind of work, by their current stage.
pub(super) struct Workload {
    pub rates: Rates,
    /// Threads of the CPU.
    threads: f64,
    /// Leases of working GPUs, in use or not.
    pub leases: usize,
    /// The time at which opening GPUs began, if they are being opened, and the seconds until the
    /// first one works.
    pub opening: Option<Instant>,
    opens_in: f64,
    /// Bytes of all blocks that ever came, and of all that will come as far as is known.
    came: u64,
    announced: u64,
    /// Bytes of blocks that the threads have still to code or decode. If GPUs do whole blocks, only
    /// those on the CPU count; otherwise all that came.
    to_code: u64,
    /// Bytes of blocks that ever went to the CPU.
    to_cpu: u64,
    /// Bytes of blocks on the CPU, counted as if each had one thread.
    on_cpu: f64,
    /// Bytes of blocks on GPUs.
    leased: u64,
    /// Bytes of the blocks that wait for a GPU, by request number: the order in which they asked.
    waiting: BTreeMap<u64, u64>,
    requests: u64,
}

impl Workload {
    pub(super) fn new(rates: Rates, threads: usize, opens_in: f64) -> Self {
        Workload {
            rates,
            threads: threads as f64,
            leases: 0,
            opening: None,
            opens_in,
            came: 0,
            announced: 0,
            to_code: 0,
            to_cpu: 0,
            on_cpu: 0.0,
            leased: 0,
            waiting: BTreeMap::new(),
            requests: 0,
        }
    }

    /// Announces that blocks of `all` bytes will come in total, as far as is known now, with those
    /// that came already.
    pub(super) fn announce(&mut self, all: u64) {
        self.announced = all;
    }

    /// Bytes of all known blocks.
    fn all(&self) -> u64 {
        self.came.max(self.announced)
    }

    /// Registers a block that has come.
    pub(super) fn expect(&mut self, len: u64) {
        self.came += len;
        if !self.rates.whole {
            self.to_code += len;
        }
    }

    /// Records that the threads coded or decoded a block, in `took` of one thread's time.
    pub(super) fn coded(&mut self, len: u64, took: Duration) {
        // If the time is zero, a GPU did it, or there was nothing to do.
        if !took.is_zero() {
            self.rates.code.add(len, took.as_secs_f64());
        } else if self.rates.whole {
            return;
        }
        self.to_code = self.to_code.saturating_sub(len);
    }

    /// True if a GPU takes a block of `len` bytes at all.
    pub(super) fn fits(&self, len: u64) -> bool {
        len <= self.rates.most
    }

    /// True if a GPU is open, or is being opened.
    pub(super) fn may_lease(&self) -> bool {
        self.leases > 0 || self.opening.is_some()
    }

    /// True if all known blocks keep the threads busy for longer than a GPU takes that must first
    /// be opened.
    pub(super) fn opening_pays(&self) -> bool {
        self.all_on_cpu(self.all()) > self.with_opening(self.all())
    }

    /// True if one more GPU pays beside `gpus` open ones of `leases` leases each: if all known
    /// blocks, divided among more GPUs, are done sooner by more than it takes to open another. The
    /// work of a search is all there from the start, and takes all GPUs.
    pub(super) fn pays_beside(&self, gpus: usize, leases: usize) -> bool {
        let seconds = self.rates.gpu.seconds(self.all() as f64) / leases.max(1) as f64;
        let gpus = gpus as f64;
        // One more GPU shortens the work by this time.
        let saved = seconds / gpus - seconds / (gpus + 1.0);
        !self.rates.stream || gpus == 0.0 || saved > FURTHER_GPU
    }

    /// Seconds in which the threads do blocks of `len` bytes and code or decode them.
    fn all_on_cpu(&self, len: u64) -> f64 {
        let len = len as f64;
        (self.rates.code.seconds(len) + self.rates.cpu.seconds(len)) / self.threads
    }

    /// True if a block alone takes `threads` threads longer than a GPU that must first be opened.
    pub(super) fn opening_pays_for(&self, len: u64, threads: usize) -> bool {
        self.alone_on_cpu(len, threads) > self.with_opening(len)
    }

    /// Seconds in which a GPU is opened and closed, and does blocks of `len` bytes. In a stream the
    /// work itself does not count, since the GPU would do the following blocks too.
    fn with_opening(&self, len: u64) -> f64 {
        let doing = if self.rates.stream {
            0.0
        } else {
            self.rates.gpu.seconds(len as f64)
        };
        self.opens_in + doing + CLOSING
    }

    /// Registers a block that waits for a GPU. Returns the number of this request.
    pub(super) fn ask(&mut self, len: u64) -> u64 {
        self.requests += 1;
        self.waiting.insert(self.requests, len);
        self.requests
    }

    /// The request that is served next.
    pub(super) fn first(&self) -> Option<u64> {
        self.waiting
            .first_key_value()
            .map(|(&request, _)| request)
    }

    pub(super) fn begin_lease(&mut self, request: u64) {
        self.leased += self.waiting.remove(&request).unwrap_or(0);
    }

    /// Ends the lease of a GPU for a block. `took` is its time, or `None` if the GPU failed.
    pub(super) fn end_lease(&mut self, len: u64, took: Option<Duration>) {
        self.leased -= len;
        match took {
            Some(took) => self.rates.gpu.add(len, took.as_secs_f64()),
            None => self.leases -= 1,
        }
    }

    /// Sends a waiting block to the CPU.
    pub(super) fn give_up(&mut self, request: u64, threads: usize) {
        let len = self.waiting.remove(&request).unwrap_or(0);
        self.begin_on_cpu(len, threads);
    }

    pub(super) fn begin_on_cpu(&mut self, len: u64, threads: usize) {
        self.to_cpu += len;
        self.on_cpu += self.threads_taken(len, threads);
        if self.rates.whole {
            self.to_code += len;
        }
    }

    /// Records that a block was done on `threads` threads of the CPU.
    pub(super) fn end_on_cpu(&mut self, len: u64, threads: usize, took: Duration) {
        self.on_cpu = (self.on_cpu - self.threads_taken(len, threads)).max(0.0);
        self.rates
            .cpu
            .add(len, took.as_secs_f64() * self.gain(threads));
    }

    /// True if the GPUs would finish a waiting block before `threads` threads would.
    pub(super) fn gpus_are_sooner(&self, request: u64, threads: usize, now: Instant) -> bool {
        self.may_lease()
            && (self.more_leases_come()
                || self.opening_is_awaited(now)
                || self.on_gpus(request, now)
                    < PATIENCE * self.on_cpu(self.waiting[&request], threads))
    }

    /// True if some leases work and others are being opened. All of them will be there soon, and
    /// the first alone would seem to have too much to do.
    fn more_leases_come(&self) -> bool {
        self.leases > 0 && self.opening.is_some()
    }

    /// True if one GPU, opened in the expected time, would finish sooner than the threads. Both
    /// estimates are for all known blocks that did not go to the CPU. Work on all threads slows
    /// down opening by more than that work gains.
    fn opening_is_awaited(&self, now: Instant) -> bool {
        let Some(start) = self
            .opening
            .filter(|_| self.leases == 0 && self.rates.whole)
        else {
            return false;
        };
        let until_open = self.opens_in - now.saturating_duration_since(start).as_secs_f64();
        let left = self.all().saturating_sub(self.to_cpu);
        until_open > 0.0 && until_open + self.rates.gpu.seconds(left as f64) < self.all_on_cpu(left)
    }

    /// Seconds until the GPUs are done with all blocks up to a waiting one.
    fn on_gpus(&self, request: u64, now: Instant) -> f64 {
        let len = self.waiting[&request];
        let before: u64 = self
            .waiting
            .range(..request)
            .map(|(_, len)| len)
            .sum();
        if let Some(start) = self.opening.filter(|_| self.leases == 0) {
            let passed = now.saturating_duration_since(start).as_secs_f64();
            // Opening that takes longer than expected may take as long again.
            let until_open = if passed < self.opens_in {
                self.opens_in - passed
            } else {
                passed
            };
            return until_open + self.rates.gpu.seconds(len as f64);
        }
        let leases = self.leases as u64;
        // No block waits before each lease has one.
        let before = (before + self.leased).saturating_sub((leases - 1) * len);
        self.rates.gpu.seconds(before as f64) / leases as f64 + self.rates.gpu.seconds(len as f64)
    }

    /// Seconds until the threads are done with all of their work, this block included.
    fn on_cpu(&self, len: u64, threads: usize) -> f64 {
        let blocks = self.on_cpu + self.threads_taken(len, threads);
        let own = if self.rates.whole { len } else { 0 };
        let code = |len: u64| self.rates.code.seconds(len as f64) / self.threads;
        let all = code(self.to_code + own) + self.rates.cpu.seconds(blocks) / self.threads;
        (self.alone_on_cpu(len, threads) + code(own)).max(all)
    }

    /// Seconds in which `threads` threads do a block, if they have nothing else to do.
    fn alone_on_cpu(&self, len: u64, threads: usize) -> f64 {
        self.rates.cpu.seconds(len as f64) / self.gain(threads)
    }

    /// The speed-up of several threads on one block. In most kinds of work they get into each
    /// other's way: the more there are, the less each of them does.
    fn gain(&self, threads: usize) -> f64 {
        let threads = threads as f64;
        if self.rates.divided {
            threads
        } else {
            threads.sqrt()
        }
    }

    /// The bytes that one thread would do in the thread time that `threads` threads take together.
    fn threads_taken(&self, len: u64, threads: usize) -> f64 {
        len as f64 * threads as f64 / self.gain(threads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPENING: f64 = 0.25;

    #[test]
    fn a_gpu_is_opened_for_many_symbols_and_not_for_few() {
        let mut searches = Workload::new(Rates::SEARCH, 4, OPENING);
        for _ in 0..5 {
            assert!(!searches.opening_pays());
            searches.expect(5_000_000);
        }
        assert!(!searches.opening_pays(), "25 million symbols on 4 threads");
        searches.expect(4_000_000);
        assert!(searches.opening_pays());
        let many = Workload::new(Rates::SEARCH, 16, OPENING);
        assert!(
            !many.opening_pays_for(40_000_000, 16),
            "0.13 s on 16 threads"
        );
        assert!(!searches.opening_pays_for(1000, 4) && searches.opening_pays_for(30_000_000, 4));
    }

    #[test]
    fn a_gpu_is_not_opened_for_what_the_threads_decode_meanwhile() {
        let mut decoding = Workload::new(Rates::DECODE, 16, OPENING);
        decoding.expect(100_000_000);
        assert!(
            !decoding.opening_pays(),
            "0.48 s on 16 threads; 0.35 and 0.16 s on a GPU"
        );
        decoding.expect(50_000_000);
        assert!(decoding.opening_pays());
        let mut decoding = Workload::new(Rates::DECODE, 64, OPENING);
        decoding.expect(1_000_000_000);
        assert!(
            !decoding.opening_pays(),
            "64 threads are faster than one GPU"
        );
    }

    #[test]
    fn the_last_in_a_long_queue_is_done_by_the_cpu() {
        const LEN: u64 = 20_000_000;
        let rates = Rates {
            whole: false,
            ..Rates::SORT
        };
        let mut workload = Workload::new(rates, 64, OPENING);
        let now = Instant::now();
        workload.leases = 1;
        let requests: Vec<u64> = (0..100).map(|_| workload.ask(LEN)).collect();
        // A GPU takes 20 ms for each block, a thread one second.
        let waits = |workload: &Workload, n: usize| workload.gpus_are_sooner(requests[n], 1, now);
        assert!(waits(&workload, 0) && waits(&workload, 48) && !waits(&workload, 99));
        // The last one waits too while the threads are busy with coding other blocks.
        workload.expect(64 * 2 * LEN);
        assert!(waits(&workload, 99));
        workload.coded(64 * 2 * LEN, Duration::from_secs(128));
        assert!(!waits(&workload, 99));
        workload.end_on_cpu(LEN, 1, Duration::from_secs(9));
        assert!(waits(&workload, 99), "now it takes five seconds on the CPU");
    }

    #[test]
    fn blocks_wait_for_a_gpu_that_opens_where_it_would_do_all_of_them_sooner() {
        const LEN: u64 = 32 << 20;
        let mut workload = Workload::new(Rates::INVERT, 16, OPENING);
        let start = Instant::now();
        workload.opening = Some(start);
        (0..2).for_each(|_| workload.expect(LEN));
        let request = workload.ask(LEN);
        assert!(!workload.gpus_are_sooner(request, 16, start), "two blocks");
        (0..28).for_each(|_| workload.expect(LEN));
        assert!(
            workload.gpus_are_sooner(request, 16, start),
            "thirty blocks"
        );
        let late = start + Duration::from_secs_f64(OPENING);
        assert!(
            !workload.gpus_are_sooner(request, 16, late),
            "it opens late"
        );
    }

    #[test]
    fn a_gpu_is_opened_and_waited_for_where_much_is_announced() {
        const LEN: u64 = 32 << 20;
        let mut workload = Workload::new(Rates::INVERT, 16, OPENING);
        let start = Instant::now();
        workload.expect(LEN);
        assert!(!workload.opening_pays(), "one block");
        workload.announce(30 * LEN);
        assert!(workload.opening_pays(), "thirty blocks");
        workload.opening = Some(start);
        let request = workload.ask(LEN);
        assert!(workload.gpus_are_sooner(request, 16, start));
    }
}
