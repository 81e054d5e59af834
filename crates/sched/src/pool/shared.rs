//! The state that the workers of a pool share. The files of the pool that act on it add their own methods.

use std::io;
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Wake, Waker};

use gossamer_core::platform::UnmodelledU32;
use gossamer_core::platform::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use gossamer_core::poller::{Attended, PollerCell};
use gossamer_core::shard::Shard;
use gossamer_time::timers::runner;

use super::idle::Idle;
use super::monitor::{Monitor, Watching};
use super::watch::Watch;
use super::worker_shard::{WorkerShard, open_shard};
use super::workers::{WORKERS_MAX, Workers};
use crate::environment::Environment;
use crate::fifo::Fifo;
use crate::runnable::Runnable;
use crate::scheduler::{Reason, Scheduler};
use crate::single::{acquire_again, shut_down};
use crate::thread_options::ThreadOptions;

/// The state that the workers of a pool share.
pub(super) struct Shared {
    pub(super) threads: ThreadOptions,
    pub(super) environment: Environment,
    pub(super) id: u32,
    /// Where tasks spawned from outside wait; nobody runs it.
    pub(super) injector: &'static Shard,
    pub(super) idle: Idle,
    pub(super) watch: Watch,
    pub(super) monitor: Monitor,
    pub(super) closing: AtomicBool,
    /// Where tasks live, by the numbers of the workers there have ever been.
    pub(super) shards: Box<[OnceLock<&'static WorkerShard>]>,
    /// One more than the highest number that has a shard.
    pub(super) opened: AtomicUsize,
    pub(super) workers: Workers,
    pub(super) counts: Counts,
}

/// Counts of the workers' actions since the pool was built.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) parks: AtomicU64,
    pub(super) stolen: AtomicU64,
    pub(super) stuck: AtomicU64,
}

gossamer_core::impl_debug!([] Shared[], this => workers: this.workers.figures().count());

impl Shared {
    /// The injector, and no worker yet.
    pub(super) fn new(
        workers: usize,
        watching: Watching,
        threads: ThreadOptions,
    ) -> io::Result<Arc<Self>> {
        static POOLS: UnmodelledU32 = UnmodelledU32::new(0);
        // Relaxed: any number that no other living pool has. Zero is no pool.
        let id = POOLS.fetch_add(1, Ordering::Relaxed).wrapping_add(1).max(1);
        let injector = open_shard(id)?;
        let shared = Arc::new(Self {
            threads,
            environment: Environment::with_poller(Arc::new(PollerCell::new(Attended::Always))),
            id,
            injector,
            idle: Idle::new(),
            watch: Watch::default(),
            monitor: Monitor::new(watching),
            closing: AtomicBool::new(false),
            shards: (0..WORKERS_MAX).map(|_| OnceLock::new()).collect(),
            opened: AtomicUsize::new(0),
            workers: Workers::new(workers),
            counts: Counts::default(),
        });
        injector.set_fallback_waker(Some(shared.caller()));
        shared.environment.poller().set_caller(shared.caller());
        Ok(shared)
    }

    pub(super) fn is_closing(&self) -> bool {
        // Acquire pairs with the swap in `shutdown`.
        self.closing.load(Ordering::Acquire)
    }

    /// The shards of all workers there have ever been, by number.
    pub(super) fn numbered_shards(&self) -> impl Iterator<Item = (usize, &'static WorkerShard)> {
        // Acquire pairs with the `fetch_max` in `shard_for`.
        let opened = &self.shards[..self.opened.load(Ordering::Acquire)];
        let numbered = opened.iter().enumerate();
        numbered.filter_map(|(number, shard)| Some((number, *shard.get()?)))
    }

    /// The shards of all workers there have ever been.
    pub(super) fn shards(&self) -> impl Iterator<Item = &'static WorkerShard> {
        self.numbered_shards().map(|(_, shard)| shard)
    }

    /// Whether an idle worker could steal something, or look after a shard without a worker.
    pub(super) fn has_work_elsewhere(&self) -> bool {
        // Until somebody has retired, nobody looks after shards without a worker (nor is there anything at them).
        let any_unowned = self.workers.has_retired();
        self.numbered_shards().any(|(number, shard)| {
            shard.steal_len() > 0
                || any_unowned && shard.has_pending() && self.workers.is_free(number)
        })
    }

    /// Whether an idle worker that came would find something to take.
    pub(super) fn has_work_for_idle(&self) -> bool {
        self.injector.has_pending() || self.has_work_elsewhere()
    }

    /// Calls an idle worker whenever it is woken, unless one searches.
    pub(super) fn caller(self: &Arc<Self>) -> Waker {
        Waker::from(Arc::new(CallOne(Arc::downgrade(self))))
    }

    /// Drops the futures of tasks whose workers have retired. With `all_ended` nobody else runs a shard for
    /// long, unless it is this thread.
    pub(super) fn end_unowned(&self, all_ended: bool) {
        for (number, shard) in self.numbered_shards() {
            if !self.workers.is_free(number) {
                // It has a thread, which drops its tasks, some of which may have to be dropped there.
                continue;
            }
            let guard = if all_ended && !shard.is_run_by_this_thread() {
                Some(acquire_again(shard))
            } else {
                shard.acquire(false)
            };
            if let Some(guard) = guard {
                let mut left = Fifo::new();
                while let Some(task) = shard.pop_stealable().map(Runnable) {
                    left.push(task, Reason::Yielded);
                }
                guard.seal();
                shut_down(&guard, &mut left);
            }
        }
    }
}

impl Drop for Shared {
    /// Gives the shards back. Not before the last worker has ended: each looks at all of them, and a shard that is
    /// given back is soon another runtime's.
    fn drop(&mut self) {
        self.end_unowned(false);
        let workers = self.shards().map(|worker| worker.shard);
        for shard in workers.chain([self.injector]) {
            if let Some(guard) = shard.acquire(false) {
                guard.seal();
                runner::end(shard);
                guard.close();
            }
        }
    }
}

/// Calls an idle worker when something was pushed into the injector or a steal queue, unless one searches.
struct CallOne(Weak<Shared>);

impl Wake for CallOne {
    fn wake(self: Arc<Self>) {
        if let Some(shared) = self
            .0
            .upgrade()
            .filter(|_| !gossamer_core::mutant!("injector_calls_nobody"))
        {
            shared.idle.call_unless_searching();
            // If that relies on a search, the monitor sees to it that the search does not keep the task: who searches is
            // not idle, so it does not sleep again.
            shared.monitor.call();
        }
    }
}
