//! Starting the threads of workers.

use std::io;
use std::sync::Arc;

use gossamer_core::platform::atomic::Ordering;

use super::shared::Shared;
use super::worker;
use super::worker_shard::WorkerShard;
use super::workers::Started;

impl Shared {
    /// Starts the workers that are missing.
    ///
    /// # Errors
    /// One could not be started. Those that there are go on, and the target is what there is.
    pub(super) fn start(self: &Arc<Self>) -> io::Result<()> {
        while let Some(started) = self.workers.start() {
            if let Err((number, error)) = self.take_on(started) {
                self.workers.give_up_starting();
                // Perhaps for what came to that shard meanwhile, and perhaps somebody is surplus now.
                self.call_surplus();
                let count = self.workers.figures().count();
                let text =
                    format!("worker {number} could not be started, there are {count}: {error}");
                return Err(io::Error::new(error.kind(), text));
            }
        }
        Ok(())
    }

    /// Starts a thread for this worker, or calls the thread that is still there.
    ///
    /// # Errors
    /// The system grants no thread for the worker with this number, which is free again then.
    pub(super) fn take_on(self: &Arc<Self>, started: Started) -> Result<(), (usize, io::Error)> {
        match started {
            Started::New(number) => self.start_worker(number).map_err(|error| {
                self.refused(number);
                (number, error)
            }),
            Started::Again(number) => {
                self.shards[number].get().inspect(|shard| shard.call());
                Ok(())
            }
        }
    }

    /// The worker with this number, if there is one, has ended. After the last one nobody polls.
    pub(super) fn worker_ends(&self, number: usize) {
        if self.workers.end(number) {
            self.environment.poller().end();
        }
    }

    /// There is no thread for the worker with this number.
    pub(super) fn refused(&self, number: usize) {
        self.worker_ends(number);
        if self.is_closing() && !gossamer_core::mutant!("refused_worker_keeps_tasks") {
            // The thread that shuts the pool down may have left its tasks to the worker.
            self.end_unowned(false);
        }
    }

    /// Wakes all workers, idle or draining, so that surplus ones notice and retire.
    pub(super) fn call_surplus(&self) {
        self.idle.call_all();
        self.shards().for_each(|shard| shard.call());
    }

    /// The shard of the worker with this number; opened, if it never had one.
    pub(super) fn shard_for(&self, number: usize) -> io::Result<&'static WorkerShard> {
        if let Some(shard) = self.shards[number].get() {
            return Ok(shard);
        }
        let shard = WorkerShard::open(self.id, self.injector)?;
        self.monitor.watches(shard);
        let shard = *self.shards[number].get_or_init(|| shard);
        // Release pairs with the acquire in `numbered_shards`.
        self.opened.fetch_max(number + 1, Ordering::Release);
        Ok(shard)
    }

    fn start_worker(self: &Arc<Self>, number: usize) -> io::Result<()> {
        let shard = self.shard_for(number)?;
        let shared = self.clone();
        shard.set_fallback_waker(None);
        let name = format!("gossamer-{number}");
        let work = move || worker::work(&shared, number, shard);
        let started = self.threads.start(&name, work);
        if started.is_err() {
            // Tasks of a worker that has retired may wait there.
            shard.set_fallback_waker(Some(self.caller()));
        }
        started
    }
}
