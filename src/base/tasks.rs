//! Tasks, and the executors that do them: the caller chooses one, which does all tasks and waits.

/// The work on one item, such as a slice.
pub type Task<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Does all tasks on the calling thread.
pub fn calling_thread(tasks: Vec<Task>) {
    tasks.into_iter().for_each(|task| task());
}

/// Does all tasks on the current rayon pool.
pub fn current_pool(tasks: Vec<Task>) {
    rayon::scope_fifo(|scope| tasks.into_iter().for_each(|task| scope.spawn_fifo(|_| task())));
}

/// An executor of tasks, and its number of threads.
#[derive(Clone, Copy)]
pub struct Executor<'e> {
    pub threads: usize,
    pub execute: &'e dyn Fn(Vec<Task>),
}

impl Executor<'static> {
    /// The executor that uses the calling thread.
    pub const CALLING: Executor<'static> = Executor { threads: 1, execute: &calling_thread };

    /// The executor that uses the current rayon pool, which is created if there is none.
    pub fn current_pool() -> Self {
        Executor { threads: rayon::current_num_threads(), execute: &current_pool }
    }
}

impl Executor<'_> {
    /// Does `work` on one of the threads.
    pub fn run<R: Send>(self, work: impl FnOnce() -> R + Send) -> R {
        let mut result = None;
        (self.execute)(vec![Box::new(|| result = Some(work()))]);
        result.expect("each task is done")
    }

    /// Does `work` with each item; the results are in the items' order.
    pub fn map<T: Send, R: Send>(
        self,
        items: impl IntoIterator<Item = T>,
        work: impl Fn(T) -> R + Sync,
    ) -> Vec<R> {
        map_with(self.execute, items, work)
    }
}

/// Does `work` with each item by `execute`; the results are in the items' order.
pub fn map_with<T: Send, R: Send>(
    execute: impl FnOnce(Vec<Task>),
    items: impl IntoIterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let items: Vec<T> = items.into_iter().collect();
    let work = &work;
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    let pairs = items.into_iter().zip(&mut results);
    execute(pairs.map(|(item, out)| Box::new(move || *out = Some(work(item))) as Task).collect());
    results.into_iter().map(|result| result.expect("each item is worked on")).collect()
}
