//! The timeline of a run. With `--trace FILE` it holds each step of each block in the Chrome trace
//! format, which Perfetto and chrome://tracing show. With `-vv` it gives the share of the time that
//! each GPU was busy.
//!
//! A step is shown in the lane of the thread that reports it. The CPU is one process of the trace.
//! Each GPU is another process, with its work and the copies to it and back. Times are microseconds
//! since the run began.

use crate::cli::report::io_errors::while_writing;
use bwz::{Device, Error, Result, Step};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// The steps so far.
pub(crate) struct Timeline {
    started: Instant,
    trace: Option<(File, PathBuf)>,
    steps: Mutex<Vec<TracedStep>>,
}

struct TracedStep {
    file: Arc<str>,
    block: u64,
    step: Step,
    from: Instant,
    to: Instant,
    thread: ThreadId,
    thread_name: String,
}

impl Default for Timeline {
    /// Starts the clock, without a trace.
    fn default() -> Self {
        Timeline {
            started: Instant::now(),
            trace: None,
            steps: Mutex::default(),
        }
    }
}

impl Timeline {
    /// Starts the clock and opens the trace's file. An existing file is overwritten only if
    /// `force`.
    pub(crate) fn start(trace: Option<&Path>, force: bool) -> Result<Self> {
        let trace = trace.map(|path| create(path, force).map(|file| (file, path.to_owned())));
        Ok(Timeline {
            trace: trace.transpose()?,
            ..Timeline::default()
        })
    }

    /// Adds a step that the calling thread reports.
    pub(crate) fn add(&self, file: &Arc<str>, block: u64, step: Step, from: Instant, to: Instant) {
        if self.trace.is_none() && gpu_of(step).is_none() {
            return;
        }
        let file = Arc::clone(file);
        let thread = thread::current();
        let thread_name = thread.name().unwrap_or("unnamed").to_owned();
        let thread = thread.id();
        self.steps().push(TracedStep {
            file,
            block,
            step,
            from,
            to,
            thread,
            thread_name,
        });
    }

    /// Returns how long each GPU sorted or restored blocks, and how long the run has taken so far.
    pub(crate) fn busy(&self) -> (BTreeMap<u32, Duration>, Duration) {
        let mut spans = BTreeMap::<u32, Vec<_>>::new();
        for &TracedStep { step, from, to, .. } in self.steps().iter() {
            gpu_of(step)
                .into_iter()
                .for_each(|gpu| spans.entry(gpu).or_default().push((from, to)));
        }
        let busy = spans
            .into_iter()
            .map(|(gpu, spans)| (gpu, covered(spans)));
        (busy.collect(), self.started.elapsed())
    }

    /// Writes the trace, if it is wanted.
    pub(crate) fn write(&self) -> Result<()> {
        let Some((file, path)) = &self.trace else {
            return Ok(());
        };
        let trace = json!({ "displayTimeUnit": "ms", "traceEvents": self.events() });
        let mut out = BufWriter::new(file);
        let written = serde_json::to_writer(&mut out, &trace).map_err(io::Error::from);
        let written = written.and_then(|()| out.flush());
        Ok(written.map_err(|e| while_writing(path.display(), e))?)
    }

    fn events(&self) -> Vec<Value> {
        let steps = self.steps();
        let mut lanes = Lanes::default();
        let block_gpus: HashMap<(&str, u64), u32> = steps
            .iter()
            .filter_map(|step| Some(((&*step.file, step.block), gpu_of(step.step)?)))
            .collect();
        let since = |moment: Instant| moment.saturating_duration_since(self.started);
        let micros = |time: Duration| time.as_nanos() as f64 / 1e3;
        let mut events = Vec::new();
        for step in steps.iter() {
            let gpu = match step.step {
                Step::CopyIn | Step::CopyOut => block_gpus
                    .get(&(&*step.file, step.block))
                    .copied(),
                other => gpu_of(other),
            };
            let (process, thread) = lanes.of(gpu, step);
            let from = since(step.from);
            let took = step.to.saturating_duration_since(step.from);
            events.push(json!({
                "name": words(step.step).0, "ph": "X", "pid": process, "tid": thread,
                "ts": micros(from), "dur": micros(took),
                "args": { "file": &*step.file, "block": step.block },
            }));
        }
        events.extend(lanes.names());
        events
    }

    fn steps(&self) -> MutexGuard<'_, Vec<TracedStep>> {
        self.steps
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn create(path: &Path, force: bool) -> Result<File> {
    let mut file = OpenOptions::new();
    file.write(true)
        .create(true)
        .truncate(force)
        .create_new(!force);
    file.open(path).map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => {
            Error::Usage(format!("{} already exists; -f overwrites it", path.display()).into())
        }
        _ => while_writing(path.display(), e).into(),
    })
}

/// The processes and threads of a trace. Each file has threads of its own. Threads of the same name
/// in different files share lanes.
#[derive(Default)]
struct Lanes {
    /// The name of each lane, and its number among the lanes of this name.
    lanes: Vec<(String, usize)>,
    of_threads: HashMap<(Arc<str>, ThreadId), usize>,
    used: BTreeSet<(u32, usize)>,
}

impl Lanes {
    /// Returns the numbers of a step's process and thread.
    fn of(&mut self, gpu: Option<u32>, step: &TracedStep) -> (u32, usize) {
        let thread = (Arc::clone(&step.file), step.thread);
        let lane = match self.of_threads.get(&thread) {
            Some(&lane) => lane,
            None => self.next_lane(&step.file, &step.thread_name),
        };
        self.of_threads.insert(thread, lane);
        let process = gpu.map_or(0, |gpu| gpu + 1);
        self.used.insert((process, lane));
        (process, lane)
    }

    fn next_lane(&mut self, file: &Arc<str>, name: &str) -> usize {
        let before = self
            .of_threads
            .iter()
            .filter(|((of, _), _)| of == file);
        let count = before
            .filter(|(_, lane)| self.lanes[**lane].0 == name)
            .count();
        let wanted = (name.to_owned(), count);
        self.lanes
            .iter()
            .position(|lane| *lane == wanted)
            .unwrap_or_else(|| {
                self.lanes.push(wanted);
                self.lanes.len() - 1
            })
    }

    /// Returns the events that name the processes and threads.
    fn names(&self) -> impl Iterator<Item = Value> {
        let named = |what: &str, process: u32, thread: usize, name: String| {
            json!({
                "name": what, "ph": "M", "pid": process, "tid": thread, "args": { "name": name },
            })
        };
        let processes: BTreeSet<u32> = self
            .used
            .iter()
            .map(|(process, _)| *process)
            .collect();
        let processes = processes.into_iter().map(move |process| {
            let device = process
                .checked_sub(1)
                .map_or("CPU".into(), |gpu| format!("cuda:{gpu}"));
            named("process_name", process, 0, device)
        });
        processes.chain(self.used.iter().map(move |&(process, thread)| {
            let (name, place) = &self.lanes[thread];
            named(
                "thread_name",
                process,
                thread,
                format!("{name} {}", place + 1),
            )
        }))
    }
}

/// Returns the GPU that works in a step, if any.
fn gpu_of(step: Step) -> Option<u32> {
    match words(step).2 {
        Device::Cuda(gpu) => Some(gpu.first()),
        _ => None,
    }
}

/// Returns a step's name in a trace, the word for it when a block is done, and its device, which is
/// the CPU if the step names none.
pub(crate) fn words(step: Step) -> (&'static str, &'static str, Device) {
    match step {
        Step::Read => ("read", "read", Device::Cpu),
        Step::Filter => ("filter", "filtered", Device::Cpu),
        Step::CopyIn => ("copy in", "copied in", Device::Cpu),
        Step::Sort(device) => ("sort", "sorted", device),
        Step::CopyOut => ("copy out", "copied out", Device::Cpu),
        Step::Code(device) => ("code", "coded", device),
        Step::Decode(device) => ("decode", "decoded", device),
        Step::Invert(device) => ("invert", "restored", device),
        Step::Unfilter => ("unfilter", "unfiltered", Device::Cpu),
        Step::Check => ("check", "checked", Device::Cpu),
        Step::Write => ("write", "written", Device::Cpu),
        _ => ("work", "worked on", Device::Cpu),
    }
}

/// Returns the time covered by at least one of the spans.
fn covered(mut spans: Vec<(Instant, Instant)>) -> Duration {
    spans.sort_unstable();
    let mut end = None;
    let mut covered = Duration::ZERO;
    for (from, to) in spans {
        let from = end.map_or(from, |end: Instant| end.max(from));
        covered += to.saturating_duration_since(from);
        end = Some(from.max(to));
    }
    covered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(trace: &Path) -> Timeline {
        Timeline::start(Some(trace), false).unwrap()
    }

    #[test]
    fn time_is_covered_once() {
        let at = |start: Instant, ms: u64| start + Duration::from_millis(ms);
        let start = Instant::now();
        let spans = [(5, 7), (0, 2), (1, 4), (2, 3), (7, 8)];
        let spans = spans
            .map(|(from, to)| (at(start, from), at(start, to)))
            .to_vec();
        assert_eq!(covered(spans), Duration::from_millis(7));
        assert_eq!(covered(Vec::new()), Duration::ZERO);
    }

    #[test]
    fn copies_stand_with_their_gpu_and_gpus_are_busy_while_they_sort() {
        let dir = tempfile::tempdir().unwrap();
        let timeline = timeline(&dir.path().join("trace"));
        let file = Arc::from("a \"name\"\n");
        let at = timeline.started;
        let ms = |n| at + Duration::from_millis(n);
        timeline.add(&file, 3, Step::CopyIn, ms(0), ms(1));
        timeline.add(
            &file,
            3,
            Step::Sort("cuda:1".parse().expect("a device")),
            ms(1),
            ms(4),
        );
        timeline.add(&file, 4, Step::Sort(Device::Cpu), ms(0), ms(9));
        assert_eq!(
            timeline.busy().0,
            BTreeMap::from([(1, Duration::from_millis(3))])
        );
        let events = timeline.events();
        let field = |n: usize, field: &str| events[n][field].clone();
        assert_eq!(
            [field(0, "pid"), field(1, "pid"), field(2, "pid")],
            [2, 2, 0].map(Value::from)
        );
        assert_eq!(
            (field(1, "ts"), field(1, "dur")),
            (1000.0.into(), 3000.0.into())
        );
        assert_eq!(
            events[0]["args"],
            json!({ "file": "a \"name\"\n", "block": 3 })
        );
        let names: Vec<&Value> = events[3..]
            .iter()
            .map(|event| &event["args"]["name"])
            .collect();
        assert!(
            names.contains(&&json!("cuda:1")) && names.contains(&&json!("CPU")),
            "{names:?}"
        );
    }

    #[test]
    fn another_file_stays_unless_it_is_forced_out() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trace");
        std::fs::write(
            &path,
            "something of worth, longer than an empty trace: it goes",
        )
        .unwrap();
        assert!(Timeline::start(Some(&path), false).is_err());
        Timeline::start(Some(&path), true)
            .unwrap()
            .write()
            .unwrap();
        let trace: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(trace["traceEvents"], json!([]));
    }
}
