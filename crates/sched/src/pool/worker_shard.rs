//! The shard of a worker, with what the pool keeps beside it: the part that other workers and the monitor may touch.
//!
//! `stealing.rs`, `publishing.rs` and `evacuating.rs` each add their methods; `core` calls them by [`PoolHooks`].

use std::io;
use std::ops::Deref;

use gossamer_core::context::{self, AccessFlag, Context};
use gossamer_core::header::{Queued, ScheduledTask, TaskRef};
use gossamer_core::platform::atomic::{AtomicUsize, Ordering};
use gossamer_core::platform::{Mutex, UnmodelledU32, UnmodelledU64};
use gossamer_core::shard::{PoolHooks, Shard, ShardGuard};

use super::steal_queue::StealQueue;
use crate::single::acquire_again;

/// A worker's shard. Like the shard it is never freed, only used again, perhaps by another pool.
#[derive(Debug)]
pub(super) struct WorkerShard {
    pub(super) shard: &'static Shard,
    /// The injector's index: whose fallback waker is called when a task is published.
    injector: UnmodelledU32,
    /// Tasks that other workers may take, and how many (a hint).
    pub(super) steal_queue: Mutex<StealQueue>,
    pub(super) steal_len: AtomicUsize,
    /// Not zero: its runner may be found stuck in a poll, and the access flag tells.
    monitored: UnmodelledU32,
    pub(super) access: AccessFlag,
    /// Not zero: the monitor has pinged, and the runner has not acknowledged.
    pub(super) pinged: UnmodelledU32,
    /// Not zero: a poll has ended for which the shard had been opened for evacuation.
    pub(super) returned: UnmodelledU32,
    /// Not zero: an idle worker has found the runner in a long poll (`publishing.rs`).
    pub(super) publish_wanted: UnmodelledU32,
    /// Written by the runner alone: how many useless publishes are left until it stops to publish.
    pub(super) credit: UnmodelledU32,
    /// The same: when the current poll published first, in nanoseconds of a moment; or zero.
    pub(super) published_at: UnmodelledU64,
}

impl WorkerShard {
    /// Takes a free shard for a worker of this pool. `injector` is that pool's.
    ///
    /// # Errors
    /// All 65,535 shards are in use.
    pub(super) fn open(pool: u32, injector: &Shard) -> io::Result<&'static Self> {
        let worker = Self::of(open_shard(pool)?);
        // Relaxed, all: published to other threads with the pool itself.
        for word in [
            &worker.monitored,
            &worker.pinged,
            &worker.returned,
            &worker.publish_wanted,
            &worker.credit,
        ] {
            word.store(0, Ordering::Relaxed); // Relaxed: as above
        }
        worker.published_at.store(0, Ordering::Relaxed); // Relaxed: as above
        let injector = u32::from(injector.index());
        worker.injector.store(injector, Ordering::Relaxed); // Relaxed: as above
        Ok(worker)
    }

    /// What the pool keeps beside this shard; made if the shard is a pool's for the first time.
    fn of(shard: &'static Shard) -> &'static Self {
        let new = || -> Box<dyn PoolHooks> {
            Box::new(Self {
                shard,
                injector: UnmodelledU32::new(0),
                steal_queue: Mutex::new(StealQueue::default()),
                steal_len: AtomicUsize::new(0),
                monitored: UnmodelledU32::new(0),
                access: AccessFlag::default(),
                pinged: UnmodelledU32::new(0),
                returned: UnmodelledU32::new(0),
                publish_wanted: UnmodelledU32::new(0),
                credit: UnmodelledU32::new(0),
                published_at: UnmodelledU64::new(0),
            })
        };
        // SAFETY: its functions below do what they are to do, each for the shard that it is of.
        let worker = unsafe { shard.set_pool_hooks(new) }.downcast_ref();
        worker.expect("nobody else gives hooks to a pool's shards")
    }

    /// Acquires the shard on its worker's thread.
    pub(super) fn acquire_again(&'static self) -> ShardGuard {
        let guard = acquire_again(self);
        context::with(|context| self.publish_again(context));
        guard
    }

    /// Calls an idle worker for what is in the steal queue, unless one searches.
    pub(super) fn call_one(&self) {
        // Relaxed: set before the shard had tasks.
        let injector = self.injector.load(Ordering::Relaxed) as u16;
        Shard::at(injector).call_fallback();
    }

    /// Has the runner's polls be watched: [`WorkerShard::open_for_evacuation`] may be called from now on. Before it has
    /// any task.
    pub(super) fn set_monitored(&self) {
        // Relaxed: published with the pool itself.
        self.monitored.store(1, Ordering::Relaxed);
    }

    /// Whether a poll has ended since the last look for which the shard had been opened for evacuation. For the runner.
    pub(super) fn has_returned(&self) -> bool {
        // Relaxed: the runner's own.
        self.returned.load(Ordering::Relaxed) != 0 && {
            self.returned.store(0, Ordering::Relaxed); // Relaxed: as above
            true
        }
    }
}

impl Deref for WorkerShard {
    type Target = Shard;

    #[inline(always)]
    fn deref(&self) -> &Shard {
        self.shard
    }
}

impl PoolHooks for WorkerShard {
    fn access_flag(&self) -> Option<&AccessFlag> {
        // Relaxed: published with the pool itself.
        (self.monitored.load(Ordering::Relaxed) != 0).then_some(&self.access)
    }

    fn receive(&self, task: Queued) -> Option<Queued> {
        self.receive_unless_stealable(task)
    }

    fn take_along(&self, context: &Context, task: TaskRef<'_>, there: u16) -> bool {
        self.take_from_idle(context, task, Shard::at(there))
    }

    fn publish(&self, task: ScheduledTask) -> Option<ScheduledTask> {
        self.publish_woken(task)
    }

    fn wake_while_open(&self, context: &Context, task: TaskRef<'_>) -> bool {
        self.wake_at_open_shard(context, task)
    }

    fn push_while_open(&self, context: &Context, task: ScheduledTask) {
        self.push_at_open_shard(context, task);
    }

    fn close(&self) {
        self.close_for_evacuation();
    }
}

pub(super) fn open_shard(pool: u32) -> io::Result<&'static Shard> {
    Shard::open_in_pool(pool).ok_or_else(|| {
        io::Error::other("65,535 shards are in use: drop a runtime to build another")
    })
}
