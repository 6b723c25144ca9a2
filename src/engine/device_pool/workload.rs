//! The work that GPUs and threads have, and which of them would be done with a block sooner.
//!
//! This is arithmetic: it waits for nothing, and what time it is comes in as a value, so that a
//! simulation runs through it too.

use super::rates::Rates;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Seconds that the process takes longer to end where a GPU is open.
const CLOSING: f64 = 0.1;

/// How much sooner the CPU has to be: a block that it does holds up those behind it, which the GPUs
/// did meanwhile.
const PATIENCE: f64 = 1.2;

/// All blocks of one kind of work, by what is done to them now.
pub(super) struct Workload {
    pub rates: Rates,
    /// Of the CPU.
    threads: f64,
    /// Leases of GPUs that work, in use or not.
    pub leases: usize,
    /// Since when GPUs are opened, if they are, and the seconds until the first one works.
    pub opening: Option<Instant>,
    opens_in: f64,
    /// Bytes of all blocks that ever came, and of those that will, as far as is known.
    came: u64,
    announced: u64,
    /// Bytes of blocks that the threads have still to code or decode: of all that came, or of those
    /// on the CPU where GPUs do whole blocks.
    to_code: u64,
    /// Bytes of blocks that ever went to the CPU.
    to_cpu: u64,
    /// Bytes of blocks on the CPU, counted as if each had one thread.
    on_cpu: f64,
    /// Bytes of blocks on GPUs.
    leased: u64,
    /// Bytes of the blocks that wait for a GPU, in the order in which they asked.
    waiting: BTreeMap<u64, u64>,
    requests: u64,
}

impl Workload {
    pub fn new(rates: Rates, threads: usize, opens_in: f64) -> Self {
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

    /// Blocks of so many bytes will come, with those that did, as far as is known now.
    pub fn announce(&mut self, all: u64) {
        self.announced = all;
    }

    /// Bytes of all blocks that are known of.
    fn all(&self) -> u64 {
        self.came.max(self.announced)
    }

    /// A block has come.
    pub fn expect(&mut self, len: u64) {
        self.came += len;
        if !self.rates.whole {
            self.to_code += len;
        }
    }

    /// The threads have coded or decoded a block, which took so much time of one.
    pub fn coded(&mut self, len: u64, took: Duration) {
        // A GPU may have done it, or nobody had to.
        if !took.is_zero() {
            self.rates.code.add(len, took.as_secs_f64());
        } else if self.rates.whole {
            return;
        }
        self.to_code = self.to_code.saturating_sub(len);
    }

    /// Whether all blocks that are known of keep the threads busy for longer than they take by way
    /// of a GPU that is to be opened.
    pub fn opening_pays(&self) -> bool {
        self.all_on_cpu(self.all()) > self.with_opening(self.all())
    }

    /// Seconds in which the threads do blocks of so many bytes and code or decode them.
    fn all_on_cpu(&self, len: u64) -> f64 {
        let len = len as f64;
        (self.rates.code.seconds(len) + self.rates.cpu.seconds(len)) / self.threads
    }

    /// Whether a block alone takes that long on `threads` threads.
    pub fn opening_pays_for(&self, len: u64, threads: usize) -> bool {
        self.alone_on_cpu(len, threads) > self.with_opening(len)
    }

    /// Seconds in which a GPU is opened and closed, and does blocks of so many bytes; without the
    /// last where more may come, which it would do besides.
    fn with_opening(&self, len: u64) -> f64 {
        let doing = if self.rates.stream { 0.0 } else { self.rates.gpu.seconds(len as f64) };
        self.opens_in + doing + CLOSING
    }

    /// A block waits for a GPU. Gives the number of this request.
    pub fn ask(&mut self, len: u64) -> u64 {
        self.requests += 1;
        self.waiting.insert(self.requests, len);
        self.requests
    }

    /// The request that is served next.
    pub fn first(&self) -> Option<u64> {
        self.waiting.first_key_value().map(|(&request, _)| request)
    }

    pub fn begin_lease(&mut self, request: u64) {
        self.leased += self.waiting.remove(&request).unwrap_or(0);
    }

    /// Ends the lease of a GPU for a block, which took so long unless the GPU failed.
    pub fn end_lease(&mut self, len: u64, took: Option<Duration>) {
        self.leased -= len;
        match took {
            Some(took) => self.rates.gpu.add(len, took.as_secs_f64()),
            None => self.leases -= 1,
        }
    }

    /// A block that waits goes to the CPU instead.
    pub fn give_up(&mut self, request: u64, threads: usize) {
        let len = self.waiting.remove(&request).unwrap_or(0);
        self.begin_on_cpu(len, threads);
    }

    pub fn begin_on_cpu(&mut self, len: u64, threads: usize) {
        self.to_cpu += len;
        self.on_cpu += self.threads_taken(len, threads);
        if self.rates.whole {
            self.to_code += len;
        }
    }

    /// A block was done on `threads` threads of the CPU.
    pub fn end_on_cpu(&mut self, len: u64, threads: usize, took: Duration) {
        self.on_cpu = (self.on_cpu - self.threads_taken(len, threads)).max(0.0);
        self.rates.cpu.add(len, took.as_secs_f64() * self.gain(threads));
    }

    /// Whether the GPUs are done with a block that waits before `threads` threads would be.
    pub fn gpus_are_sooner(&self, request: u64, threads: usize, now: Instant) -> bool {
        (self.leases > 0 || self.opening.is_some())
            && (self.more_leases_come()
                || self.opening_is_awaited(now)
                || self.on_gpus(request, now)
                    < PATIENCE * self.on_cpu(self.waiting[&request], threads))
    }

    /// Whether some leases work and others are being opened: all of them are there soon, and the
    /// first alone would seem to have too much to do.
    fn more_leases_come(&self) -> bool {
        self.leases > 0 && self.opening.is_some()
    }

    /// Whether one GPU, which opens in the time expected, would be done with all that is known of
    /// and did not go to the CPU before the threads would be: work on all threads makes opening
    /// slower, by more than they do meanwhile.
    fn opening_is_awaited(&self, now: Instant) -> bool {
        let Some(start) = self.opening.filter(|_| self.leases == 0 && self.rates.whole) else {
            return false;
        };
        let until_open = self.opens_in - now.saturating_duration_since(start).as_secs_f64();
        let left = self.all().saturating_sub(self.to_cpu);
        until_open > 0.0 && until_open + self.rates.gpu.seconds(left as f64) < self.all_on_cpu(left)
    }

    /// Seconds until the GPUs are done with all blocks up to one that waits.
    fn on_gpus(&self, request: u64, now: Instant) -> f64 {
        let len = self.waiting[&request];
        let before: u64 = self.waiting.range(..request).map(|(_, len)| len).sum();
        if let Some(start) = self.opening.filter(|_| self.leases == 0) {
            let passed = now.saturating_duration_since(start).as_secs_f64();
            // When it takes longer than it should, it may take as long again.
            let until_open = if passed < self.opens_in { self.opens_in - passed } else { passed };
            return until_open + self.rates.gpu.seconds(len as f64);
        }
        let leases = self.leases as u64;
        // Nobody waits before each lease has a block.
        let before = (before + self.leased).saturating_sub((leases - 1) * len);
        self.rates.gpu.seconds(before as f64) / leases as f64 + self.rates.gpu.seconds(len as f64)
    }

    /// Seconds until the threads are done with all that they have to do, this block included.
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

    /// What several threads gain on one block. In most work they get into each other's way: the
    /// more there are, the less each of them does.
    fn gain(&self, threads: usize) -> f64 {
        let threads = threads as f64;
        if self.rates.divided { threads } else { threads.sqrt() }
    }

    /// The bytes that one thread would do in the time that `threads` threads take together.
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
        assert!(!many.opening_pays_for(40_000_000, 16), "0.13 s on 16 threads");
        assert!(!searches.opening_pays_for(1000, 4) && searches.opening_pays_for(30_000_000, 4));
    }

    #[test]
    fn a_gpu_is_not_opened_for_what_the_threads_decode_meanwhile() {
        let mut decoding = Workload::new(Rates::DECODE, 16, OPENING);
        decoding.expect(100_000_000);
        assert!(!decoding.opening_pays(), "0.48 s on 16 threads; 0.35 and 0.16 s on a GPU");
        decoding.expect(50_000_000);
        assert!(decoding.opening_pays());
        let mut decoding = Workload::new(Rates::DECODE, 64, OPENING);
        decoding.expect(1_000_000_000);
        assert!(!decoding.opening_pays(), "64 threads are faster than one GPU");
    }

    #[test]
    fn the_last_in_a_long_queue_is_done_by_the_cpu() {
        const LEN: u64 = 20_000_000;
        let rates = Rates { whole: false, ..Rates::SORT };
        let mut workload = Workload::new(rates, 64, OPENING);
        let now = Instant::now();
        workload.leases = 1;
        let requests: Vec<u64> = (0..100).map(|_| workload.ask(LEN)).collect();
        // A GPU takes 20 ms for each, a thread one second.
        let waits = |workload: &Workload, n: usize| workload.gpus_are_sooner(requests[n], 1, now);
        assert!(waits(&workload, 0) && waits(&workload, 48) && !waits(&workload, 99));
        // Not if the threads have a second's work with coding others.
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
        assert!(workload.gpus_are_sooner(request, 16, start), "thirty blocks");
        let late = start + Duration::from_secs_f64(OPENING);
        assert!(!workload.gpus_are_sooner(request, 16, late), "it opens late");
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
