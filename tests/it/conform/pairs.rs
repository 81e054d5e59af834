//! Each primitive and channel with one actor at each of its two ends: every pair of task, fiber and thread, in every
//! world.
//!
//! The two hand over many times, and each waits for the other. Which values come, and in which order, is checked.

mod messages;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use gossamer::raw::{self, Order};
use gossamer::sync::{
    Barrier, Condvar, Event, FairMutex, Lazy, Mutex, OnceCell, RwLock, Semaphore,
};
use gossamer::yield_now;

use self::messages::{
    bounded_channel, broadcast_channel, ivar, joined_channels, mvar, one_shots, pipe, port_set,
    rendezvous_channel, ring, shared_sender, unbounded_channel, watch_channel,
};
use super::{Kind, World, everywhere};

// So many rounds for each model and pair of kinds, so many schedules for each pair.
everywhere! {
    mvar: 3, 250;
    mutex: 3, 250;
    fair_mutex: 3, 250;
    rw_lock: 3, 250;
    condvar: 3, 250;
    semaphore: 3, 250;
    barrier: 3, 250;
    event: 3, 250;
    ivar: 3, 250;
    once_cell_and_lazy: 3, 250;
    join_handle: 3, 250;
    rendezvous_channel: 3, 250;
    bounded_channel: 3, 250;
    unbounded_channel: 3, 250;
    shared_sender: 3, 250;
    ring: 3, 250;
    broadcast_channel: 3, 250;
    port_set: 3, 250;
    joined_channels: 3, 250;
    watch_channel: 3, 250;
    one_shots: 3, 250;
    pipe: 3, 250;
}

/// How often two actors hand over.
const TURNS: u32 = 20;

/// Runs an actor at each end, until both have ended; gives what they saw.
async fn meet<A, B>(world: &World, one: (Kind, A), two: (Kind, B)) -> (A::Output, B::Output)
where
    A: Future<Output: Send> + Send + 'static,
    B: Future<Output: Send> + Send + 'static,
{
    let (one, two) = (world.run(one.0, one.1), world.run(two.0, two.1));
    (one.await.expect("no panic"), two.await.expect("no panic"))
}

/// Both count up, and stop between reading and writing: nothing is lost.
async fn count_up<O>(world: World, kinds: [Kind; 2], mutex: raw::Mutex<u32, raw::Shared, O>)
where
    O: Order + Send + Sync + 'static,
{
    let mutex = Arc::new(mutex);
    let [one, two] = kinds.map(|kind| {
        let mutex = mutex.clone();
        let counts = async move {
            for _ in 0..TURNS {
                let mut count = kind.finish(mutex.lock()).await;
                let before = *count;
                kind.finish(yield_now()).await;
                *count = before + 1;
            }
        };
        (kind, counts)
    });
    meet(&world, one, two).await;
    assert_eq!(*mutex.try_lock().expect("all have ended"), 2 * TURNS);
}

async fn mutex(world: World, one: Kind, two: Kind, _: u64) {
    count_up(world, [one, two], Mutex::new(0)).await;
}

async fn fair_mutex(world: World, one: Kind, two: Kind, _: u64) {
    count_up(world, [one, two], FairMutex::new(0)).await;
}

/// One writes two numbers, the other never sees them differ, nor change while it looks.
async fn rw_lock(world: World, one: Kind, two: Kind, _: u64) {
    let lock = Arc::new(RwLock::new((0, 0)));
    let (written, read) = (lock.clone(), lock.clone());
    let writes = async move {
        for _ in 0..TURNS {
            let mut pair = one.finish(written.write()).await;
            pair.0 += 1;
            one.finish(yield_now()).await;
            pair.1 += 1;
        }
    };
    let reads = async move {
        for _ in 0..TURNS {
            let pair = two.finish(read.read()).await;
            let seen = *pair;
            two.finish(yield_now()).await;
            assert_eq!((seen.0, *pair), (seen.1, seen), "changed while it was read");
        }
    };
    meet(&world, (one, writes), (two, reads)).await;
    assert_eq!(*lock.try_read().expect("nobody writes"), (TURNS, TURNS));
}

/// Something that only one of two sides has at a time.
trait Turn: Send + Sync + 'static {
    /// Waits for the turn of this side.
    fn take(&self, kind: Kind, side: usize) -> impl Future<Output = ()> + Send;

    /// It is the turn of this side.
    fn give(&self, kind: Kind, side: usize) -> impl Future<Output = ()> + Send;
}

/// Both count up, strictly in turn. The turns alone order what they do.
async fn in_turn(world: World, kinds: [Kind; 2], turn: impl Turn) {
    let shared = Arc::new((turn, AtomicU32::new(0)));
    let actor = |side: usize| {
        let (kind, shared) = (kinds[side], shared.clone());
        let counts = async move {
            let (turn, number) = &*shared;
            for round in 0..TURNS {
                turn.take(kind, side).await;
                let seen = number.load(Ordering::Relaxed);
                assert_eq!(seen, 2 * round + side as u32);
                number.store(seen + 1, Ordering::Relaxed);
                turn.give(kind, 1 - side).await;
            }
        };
        (kind, counts)
    };
    meet(&world, actor(0), actor(1)).await;
}

async fn condvar(world: World, one: Kind, two: Kind, _: u64) {
    in_turn(world, [one, two], (Mutex::new(0), Condvar::new())).await;
}

async fn semaphore(world: World, one: Kind, two: Kind, _: u64) {
    in_turn(world, [one, two], [Semaphore::new(2), Semaphore::new(0)]).await;
}

async fn event(world: World, one: Kind, two: Kind, _: u64) {
    let events = [Event::new(), Event::new()];
    events[0].set();
    in_turn(world, [one, two], events).await;
}

impl Turn for (Mutex<usize>, Condvar) {
    async fn take(&self, kind: Kind, side: usize) {
        let mut turn = kind.finish(self.0.lock()).await;
        while *turn != side {
            turn = kind.finish(self.1.notified(turn)).await;
        }
    }

    async fn give(&self, kind: Kind, side: usize) {
        *kind.finish(self.0.lock()).await = side;
        self.1.notify_one();
    }
}

impl Turn for [Semaphore; 2] {
    async fn take(&self, kind: Kind, side: usize) {
        let permits = kind.finish(self[side].acquire_many(2)).await;
        permits.expect("it is open").forget();
    }

    async fn give(&self, _: Kind, side: usize) {
        // One by one: the first alone lets nobody go on.
        self[side].add_permits(1);
        self[side].add_permits(1);
    }
}

impl Turn for [Event; 2] {
    async fn take(&self, kind: Kind, side: usize) {
        kind.finish(self[side].ready()).await;
        self[side].reset();
    }

    async fn give(&self, _: Kind, side: usize) {
        self[side].set();
    }
}

/// Neither goes on before both have come; one of them leads.
async fn barrier(world: World, one: Kind, two: Kind, _: u64) {
    let shared = Arc::new((Barrier::new(2), AtomicU32::new(0)));
    let [one, two] = [one, two].map(|kind| {
        let shared = shared.clone();
        let arrives = async move {
            let (barrier, come) = &*shared;
            let mut led = 0;
            for turn in 1..=TURNS {
                come.fetch_add(1, Ordering::Relaxed);
                led += u32::from(kind.finish(barrier.arrive()).await.is_leader());
                let come = come.load(Ordering::Relaxed);
                assert!((2 * turn..=2 * turn + 1).contains(&come), "{come} came");
            }
            led
        };
        (kind, arrives)
    });
    let led = meet(&world, one, two).await;
    assert_eq!(led.0 + led.1, TURNS);
}

/// How many values were made before this one; stands still first.
async fn next(made: Arc<AtomicU32>) -> u32 {
    yield_now().await;
    made.fetch_add(1, Ordering::Relaxed)
}

/// Both ask for each value, of which one makes it.
async fn once_cell_and_lazy(world: World, one: Kind, two: Kind, _: u64) {
    let made = Arc::new(AtomicU32::new(0));
    let make = || {
        let made = made.clone();
        move || next(made.clone())
    };
    let cells = (0..TURNS).map(|_| (OnceCell::new(), Lazy::new(make())));
    let cells: Arc<Vec<_>> = Arc::new(cells.collect());
    let [one, two] = [one, two].map(|kind| {
        let (cells, make) = (cells.clone(), make());
        let asks = async move {
            let mut seen = Vec::new();
            for (cell, lazy) in &*cells {
                seen.push(*kind.finish(cell.get_or_init(&make)).await);
                seen.push(*kind.finish(lazy.force()).await);
            }
            seen
        };
        (kind, asks)
    });
    let seen = meet(&world, one, two).await;
    assert_eq!(seen.0, seen.1);
    assert!(seen.0.into_iter().eq(0..2 * TURNS), "made twice");
}

/// One joins many of the other kind.
async fn join_handle(world: World, one: Kind, two: Kind, _: u64) {
    let ends = |number: u32| async move {
        two.finish(yield_now()).await;
        number
    };
    let handles: Vec<_> = (0..TURNS)
        .map(|number| world.run(two, ends(number)))
        .collect();
    let joins = async move {
        for (number, handle) in (0..TURNS).zip(handles) {
            assert_eq!(one.finish(handle).await.expect("no panic"), number);
        }
    };
    world.run(one, joins).await.expect("no panic");
}
