//! Runtimes.

use std::io;

use gossamer::{JoinHandle, Model};

/// Describes a runtime.
#[derive(Debug)]
pub struct Builder {
    model: Model,
}

impl Builder {
    /// One that runs tasks inside `block_on`.
    pub fn new_current_thread() -> Self {
        let model = Model::Single;
        Self { model }
    }

    /// One of several workers.
    pub fn new_multi_thread() -> Self {
        let model = Model::Pool { workers: 2 };
        Self { model }
    }

    /// How many workers.
    pub fn worker_threads(&mut self, workers: usize) -> &mut Self {
        self.model = Model::Pool { workers };
        self
    }

    /// Always on.
    pub fn enable_all(&mut self) -> &mut Self {
        self
    }

    /// Always on.
    pub fn enable_time(&mut self) -> &mut Self {
        self
    }

    /// Not at all: time goes on, so a case takes as long as it says.
    pub fn start_paused(&mut self, _is_paused: bool) -> &mut Self {
        self
    }

    /// The runtime.
    pub fn build(&mut self) -> io::Result<Runtime> {
        let built = gossamer::Runtime::builder().model(self.model).build();
        built.map(Runtime)
    }
}

/// Runs tasks.
#[derive(Debug)]
pub struct Runtime(gossamer::Runtime);

impl Runtime {
    /// One of several workers.
    pub fn new() -> io::Result<Self> {
        Builder::new_multi_thread().build()
    }

    /// Runs a future to its end.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }

    /// Spawns a task.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.0.spawn(future)
    }
}
