//! Simulates streams of blocks that are sorted and then coded, with the choices of [`Workload`].
//! It compares `auto` with either device alone on machines that nobody has at hand.
//!
//! Threads take tasks in the order in which they come. A GPU copies for one lease while it works
//! for another. Blocks leave in the order in which they came, and this bounds how many are in
//! flight.

use super::open_gpus::leases;
use super::rates::{Rates, opens_in};
use super::workload::Workload;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::{Duration, Instant};

const LEN: u64 = 32 << 20;

/// Coding tasks of a block.
const TASKS: usize = 8;

/// Seconds from the first GPU's opening until all others are open.
const OTHERS_OPEN_IN: f64 = 0.5;

/// Leases of each GPU, and the seconds between opening one lease and the next.
const LEASES: usize = 4;
const NEXT_LEASE: f64 = 0.005;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// Compression: sorted by one thread, then coded.
    There,
    /// Decompression: decoded, then restored by all threads.
    Back,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum CheaperDevice {
    Cpu,
    Cuda,
    Auto,
}

/// A machine and a stream of blocks. Times are seconds per block.
#[derive(Clone, Copy, Debug)]
struct Scene {
    way: Way,
    gpus: u32,
    threads: usize,
    /// Sorting or restoring on a GPU, without the copies.
    gpu: f64,
    /// Sorting or restoring on one thread.
    cpu: f64,
    /// Coding or decoding on one thread.
    code: f64,
    /// True if a GPU that sorts or restores a block codes or decodes it too.
    whole: bool,
    blocks: usize,
    /// True if all blocks are announced when the first one comes.
    announced: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SimulatedEvent {
    LeaseOpened {
        gpu: usize,
    },
    Opened,
    Tick,
    CopiedIn {
        block: usize,
        gpu: usize,
        since: u64,
    },
    GivenBack {
        block: usize,
        gpu: usize,
        since: u64,
    },
    TaskDone {
        block: usize,
        code: bool,
    },
}

struct Simulation {
    scene: Scene,
    choice: CheaperDevice,
    start: Instant,
    /// Simulated time in nanoseconds.
    now: u64,
    events: BinaryHeap<Reverse<(u64, u64, SimulatedEvent)>>,
    event_count: u64,
    workload: Workload,
    can_open: bool,
    /// Numbers of blocks that came and that left.
    came: usize,
    gone: usize,
    done: Vec<bool>,
    /// Blocks in front of each stage, and the idle workers of each stage.
    to_do: VecDeque<usize>,
    to_code: VecDeque<usize>,
    workers: usize,
    coders: usize,
    /// Requests for a GPU that wait.
    asking: Vec<(u64, usize)>,
    free: Vec<usize>,
    gpu_free_at: Vec<u64>,
    /// Tasks that wait for a thread: the block, true for coding, and the seconds that the task
    /// takes.
    tasks: VecDeque<(usize, bool, f64)>,
    idle_threads: usize,
    /// For each block: the unfinished tasks of its stage; the threads that share it, and the start
    /// time.
    left: Vec<usize>,
    shared: Vec<(usize, u64)>,
    on_cpu: usize,
    depth: usize,
}

impl Simulation {
    /// Runs the simulation. Returns the seconds until the last block is done.
    fn run(scene: Scene, choice: CheaperDevice) -> f64 {
        let Scene {
            threads, blocks, ..
        } = scene;
        let coders = (1 + 4 * threads / 32).min(threads);
        let rates = if scene.way == Way::There {
            Rates::SORT
        } else {
            Rates::INVERT
        };
        let rates = Rates {
            whole: scene.whole && choice != CheaperDevice::Cpu,
            ..rates
        };
        let mut simulation = Simulation {
            scene,
            choice,
            start: Instant::now(),
            now: 0,
            events: BinaryHeap::new(),
            event_count: 0,
            workload: Workload::new(rates, threads, opens_in(scene.gpus as usize)),
            can_open: choice != CheaperDevice::Cpu,
            came: 0,
            gone: 0,
            done: vec![false; blocks],
            to_do: VecDeque::new(),
            to_code: VecDeque::new(),
            workers: threads,
            coders,
            asking: Vec::new(),
            free: Vec::new(),
            gpu_free_at: vec![0; scene.gpus as usize],
            tasks: VecDeque::new(),
            idle_threads: threads,
            left: vec![0; blocks],
            shared: vec![(0, 0); blocks],
            on_cpu: 0,
            depth: threads + coders + 1,
        };
        if scene.announced {
            simulation.workload.announce(blocks as u64 * LEN);
        }
        simulation.advance();
        while simulation.gone < blocks {
            let Reverse((at, _, event)) = simulation
                .events
                .pop()
                .expect("something goes on");
            simulation.now = at;
            simulation.happen(event);
            simulation.advance();
        }
        simulation.now as f64 / 1e9
    }

    fn after(&mut self, seconds: f64, event: SimulatedEvent) {
        self.event_count += 1;
        let at = self.now + (seconds * 1e9) as u64;
        self.events
            .push(Reverse((at, self.event_count, event)));
    }

    fn passed(&self, since: u64) -> Duration {
        Duration::from_nanos(self.now - since)
    }

    fn happen(&mut self, event: SimulatedEvent) {
        match event {
            SimulatedEvent::LeaseOpened { gpu } => {
                self.free.push(gpu);
                self.workload.leases += 1;
            }
            SimulatedEvent::Opened => self.workload.opening = None,
            SimulatedEvent::Tick => (),
            SimulatedEvent::CopiedIn { block, gpu, since } => {
                let ends = self.gpu_free_at[gpu].max(self.now) + (self.scene.gpu * 1e9) as u64;
                self.gpu_free_at[gpu] = ends;
                let copied_out = (ends - self.now) as f64 / 1e9 + self.scene.gpu / 2.0;
                self.after(copied_out, SimulatedEvent::GivenBack { block, gpu, since });
            }
            SimulatedEvent::GivenBack { block, gpu, since } => {
                self.workload
                    .end_lease(LEN, Some(self.passed(since)));
                self.free.push(gpu);
                if self.scene.whole {
                    self.workload.coded(LEN, Duration::ZERO);
                    self.workers += 1;
                    self.done[block] = true;
                } else {
                    self.stage_done(block, false);
                }
            }
            SimulatedEvent::TaskDone { block, code } => {
                self.idle_threads += 1;
                self.left[block] -= 1;
                if self.left[block] == 0 {
                    self.tasks_done(block, code);
                }
            }
        }
    }

    fn tasks_done(&mut self, block: usize, code: bool) {
        if code {
            self.workload
                .coded(LEN, Duration::from_secs_f64(self.scene.code));
            if self.asks_first() && self.scene.way == Way::Back {
                return self.begin_on_cpu(block);
            }
        } else {
            let (threads, since) = self.shared[block];
            self.on_cpu -= 1;
            self.workload
                .end_on_cpu(LEN, threads, self.passed(since));
        }
        self.stage_done(block, code);
    }

    fn stage_done(&mut self, block: usize, code: bool) {
        *(if code {
            &mut self.coders
        } else {
            &mut self.workers
        }) += 1;
        match (self.scene.way, code) {
            (Way::There, false) => self.to_code.push_back(block),
            (Way::Back, true) => self.to_do.push_back(block),
            _ => self.done[block] = true,
        }
    }

    /// Begins everything that can begin now.
    fn advance(&mut self) {
        while self.gone < self.done.len() && self.done[self.gone] {
            self.gone += 1;
        }
        while self.came < self.scene.blocks && self.came - self.gone < self.depth {
            self.workload.expect(LEN);
            let asked = self.scene.way == Way::There || self.asks_first();
            let first = if asked {
                &mut self.to_do
            } else {
                &mut self.to_code
            };
            first.push_back(self.came);
            self.came += 1;
            if self.workload.opening_pays() || self.choice == CheaperDevice::Cuda {
                self.open();
            }
        }
        while self.coders > 0
            && let Some(block) = self.to_code.pop_front()
        {
            self.coders -= 1;
            self.begin(block, true, TASKS, self.scene.code / TASKS as f64);
        }
        while self.workers > 0
            && let Some(block) = self.to_do.pop_front()
        {
            self.workers -= 1;
            self.asking.push((self.workload.ask(LEN), block));
            if self
                .workload
                .opening_pays_for(LEN, self.threads_for_one())
            {
                self.open();
            }
        }
        while self.choose() {}
        while self.idle_threads > 0
            && let Some((block, code, seconds)) = self.tasks.pop_front()
        {
            self.idle_threads -= 1;
            self.after(seconds, SimulatedEvent::TaskDone { block, code });
        }
    }

    fn open(&mut self) {
        if std::mem::take(&mut self.can_open) {
            self.workload.opening = Some(self.start + Duration::from_nanos(self.now));
            self.open_leases();
            (1..100).for_each(|n| self.after(f64::from(n) * 0.05, SimulatedEvent::Tick));
        }
    }

    /// Opens the first GPU alone, then the others side by side. The leases of each GPU are opened
    /// one after another.
    fn open_leases(&mut self) {
        for (gpu, count) in leases((0..self.scene.gpus).collect(), self.scene.threads, LEASES) {
            for n in 0..count {
                let opened = SimulatedEvent::LeaseOpened { gpu: gpu as usize };
                self.after(self.opens_in(gpu) + n as f64 * NEXT_LEASE, opened);
            }
        }
        let last = self.opens_in(self.scene.gpus - 1);
        self.after(last + LEASES as f64 * NEXT_LEASE, SimulatedEvent::Opened);
    }

    /// Seconds until a GPU is open.
    fn opens_in(&self, gpu: u32) -> f64 {
        opens_in(self.scene.gpus as usize) + if gpu > 0 { OTHERS_OPEN_IN } else { 0.0 }
    }

    fn begin(&mut self, block: usize, code: bool, count: usize, seconds: f64) {
        self.left[block] = count;
        self.tasks
            .extend(std::iter::repeat_n((block, code, seconds), count));
    }

    /// Sorts or restores a block on the CPU, with all threads that share it.
    fn begin_on_cpu(&mut self, block: usize) {
        let (threads, _) = self.shared[block];
        self.shared[block] = (threads, self.now);
        self.begin(
            block,
            false,
            threads,
            self.scene.cpu / (threads as f64).sqrt(),
        );
    }

    /// True if a GPU is asked for before a block is coded or decoded.
    fn asks_first(&self) -> bool {
        self.scene.whole && self.choice != CheaperDevice::Cpu
    }

    fn threads_for_one(&self) -> usize {
        match self.scene.way {
            Way::There => 1,
            Way::Back => (self.scene.threads / (self.on_cpu + 1)).max(1),
        }
    }

    /// Gives a GPU to a request, or sends it to the CPU. Returns false if all requests wait.
    fn choose(&mut self) -> bool {
        let threads = self.threads_for_one();
        let now = self.start + Duration::from_nanos(self.now);
        for n in 0..self.asking.len() {
            let (request, block) = self.asking[n];
            let waits = match self.choice {
                CheaperDevice::Auto => self
                    .workload
                    .gpus_are_sooner(request, threads, now),
                _ => self.workload.leases > 0 || self.workload.opening.is_some(),
            };
            if !waits {
                self.asking.remove(n);
                self.workload.give_up(request, threads);
                self.on_cpu += 1;
                self.shared[block] = (threads, self.now);
                if self.asks_first() && self.scene.way == Way::Back {
                    self.begin(block, true, TASKS, self.scene.code / TASKS as f64);
                } else {
                    self.begin_on_cpu(block);
                }
                return true;
            }
            if n == 0
                && let Some(gpu) = self.free.pop()
            {
                self.asking.remove(0);
                self.workload.begin_lease(request);
                let copied_in = SimulatedEvent::CopiedIn {
                    block,
                    gpu,
                    since: self.now,
                };
                self.after(self.scene.gpu / 2.0, copied_in);
                return true;
            }
        }
        false
    }
}

/// Kinds of blocks: the direction, and the seconds for one block on a thread, for coding, and on a
/// GPU.
const KINDS: [(Way, f64, [f64; 3], &[f64]); 2] = [
    (
        Way::There,
        1.7,
        [0.3, 0.8, 2.2],
        &[0.006, 0.015, 0.03, 0.06, 0.1, 0.2],
    ),
    (
        Way::Back,
        0.22,
        [0.2, 0.5, 1.2],
        &[0.006, 0.015, 0.03, 0.06],
    ),
];

/// All scenes of a grid for streams of `blocks` blocks, except those of a slow GPU beside many
/// threads: the threads would do the four blocks that wait in its leases sooner, by up to a third.
fn scenes(blocks: usize, announced: bool) -> impl Iterator<Item = Scene> {
    let machines = [1, 2, 4, 8]
        .into_iter()
        .flat_map(|gpus| [2, 16, 64].map(|n| (gpus, n)));
    machines.flat_map(move |(gpus, threads)| {
        KINDS
            .into_iter()
            .flat_map(move |(way, cpu, codes, on_gpu)| {
                codes.into_iter().flat_map(move |code| {
                    let fits = move |&&gpu: &&f64| gpu < 0.06 || threads < 64;
                    let scene = move |(&gpu, whole)| Scene {
                        way,
                        gpus,
                        threads,
                        gpu,
                        cpu,
                        code,
                        whole,
                        blocks,
                        announced,
                    };
                    on_gpu
                        .iter()
                        .filter(fits)
                        .flat_map(|gpu| [(gpu, false), (gpu, true)])
                        .map(scene)
                })
            })
    })
}

/// Checks that `auto` takes at most 5 % more time than the better device alone, plus `granted`
/// seconds.
fn compare(blocks: usize, granted: impl Fn(&Scene) -> f64) {
    for scene in [false, true]
        .into_iter()
        .flat_map(|announced| scenes(blocks, announced))
    {
        let [cpu, cuda, auto] = [CheaperDevice::Cpu, CheaperDevice::Cuda, CheaperDevice::Auto]
            .map(|choice| Simulation::run(scene, choice));
        let most = 1.05 * cpu.min(cuda) + granted(&scene);
        assert!(
            auto <= most,
            "{auto:.2} s, cpu {cpu:.2}, cuda {cuda:.2}: {scene:?}"
        );
    }
}

/// Blocks that the CPU took while GPUs were opened may be done a little later.
#[test]
fn auto_is_as_fast_as_the_better_device() {
    compare(300, |_| 0.2);
}

/// The speed of a GPU is known when it is open and has done a block on each lease.
#[test]
fn auto_finds_out_soon_how_fast_a_gpu_is() {
    compare(100, |scene| opens_in(scene.gpus as usize) + 4.0 * scene.gpu);
}
