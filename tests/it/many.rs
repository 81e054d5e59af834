//! Two hundred that wait for the same: more than are let go in one batch, and more than a task is counted to loan
//! itself to.
//!
//! All of them wait first; then what they wait for comes, once, and all of them end: as tasks, fibers and threads under
//! every model and in simulations, as one task that waits for all, and polled by hand with foreign wakers.

mod programs;

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use gossamer::sync::Event;
use gossamer::{JoinHandle, Model, Wait};
use gossamer_sim::{spawn, spawn_fiber};

use crate::conform::{KINDS, Kind, World};
use crate::contract::SIM;
use crate::hand::Hand;
use crate::models::{runtime, watched};

/// Three batches, and some; a task counts up to 126 nodes.
const MANY: usize = 200;

/// Those who wait, seen by the one they wait for.
#[derive(Default)]
struct Crowd {
    holds: Event,
    waiting: AtomicUsize,
    all_wait: Event,
}

impl Crowd {
    /// What they wait for is not to be had from now on. Waits until all of them wait for it.
    async fn waits(&self) {
        self.holds.set();
        self.all_wait.ready().await;
    }

    /// One of them, who is counted when it is first pending.
    async fn counts(self: Arc<Self>, waiter: impl Future<Output = ()>) {
        let mut waiter = pin!(waiter);
        let mut is_counted = false;
        poll_fn(|cx| {
            let polled = waiter.as_mut().poll(cx);
            if polled.is_pending() && !std::mem::replace(&mut is_counted, true) {
                let before = self.waiting.fetch_add(1, Ordering::SeqCst);
                if before + 1 == MANY {
                    self.all_wait.set();
                }
            }
            polled
        })
        .await;
    }
}

/// One who has what they wait for, and they.
struct Program<Op> {
    holder: Op,
    waiters: Vec<Op>,
}

/// `hold` has `shared` first, and MANY `wait` for it.
fn program<S: Clone, Op>(
    shared: S,
    hold: impl FnOnce(S) -> Op,
    wait: impl Fn(S) -> Op,
) -> Program<Op> {
    let waiters = (0..MANY).map(|_| wait(shared.clone())).collect();
    let holder = hold(shared);
    Program { holder, waiters }
}

type Local = Pin<Box<dyn Future<Output = ()>>>;
type Sent = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Polls all of them until all have ended.
async fn together<Op: Future<Output = ()> + Unpin>(waiters: Vec<Op>) {
    let mut waiters: Vec<_> = waiters.into_iter().map(Some).collect();
    poll_fn(|cx| {
        for waiter in &mut waiters {
            if let Some(operation) = waiter
                && Pin::new(operation).poll(cx).is_ready()
            {
                *waiter = None;
            }
        }
        match waiters.iter().all(Option::is_none) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
}

/// Runs a program: the holder is what `hold` makes of it, the others are what `start` makes of them.
async fn run<Op>(
    make: fn(&Arc<Crowd>) -> Program<Op>,
    hold: impl FnOnce(Op) -> JoinHandle<()>,
    start: impl FnOnce(Vec<Op>, &Arc<Crowd>) -> Vec<JoinHandle<()>>,
) {
    let crowd = Arc::new(Crowd::default());
    let Program { holder, waiters } = make(&crowd);
    let holder = hold(holder);
    crowd.holds.ready().await;
    for waiter in start(waiters, &crowd) {
        waiter.await.expect("no panic");
    }
    holder.await.expect("no panic");
}

/// In simulations as tasks, as fibers and as one task; and by hand.
fn on_sim(make: fn(&Arc<Crowd>) -> Program<Local>) {
    let starts = [
        |all: Vec<Local>, crowd: &Arc<Crowd>| counted(all, crowd).map(spawn).collect(),
        |all: Vec<Local>, crowd: &Arc<Crowd>| {
            let fibers = counted(all, crowd).map(|waiter| spawn_fiber(move || waiter.wait()));
            fibers.collect()
        },
        |all: Vec<Local>, crowd: &Arc<Crowd>| {
            vec![spawn(together(
                counted(all, crowd)
                    .map(|waiter| Box::pin(waiter) as Local)
                    .collect(),
            ))]
        },
    ];
    let sim = SIM.look_each_step();
    for sim in [sim, sim.without_scheduling_points()] {
        for start in starts {
            if let Err(failure) = sim.run(0, || run(make, spawn, start)) {
                panic!("{failure}");
            }
        }
    }
    by_hand(make);
}

fn counted<Op: Future<Output = ()>>(
    all: Vec<Op>,
    crowd: &Arc<Crowd>,
) -> impl Iterator<Item = impl Future<Output = ()> + use<Op>> {
    let crowd = crowd.clone();
    all.into_iter()
        .map(move |waiter| crowd.clone().counts(waiter))
}

/// Under the models as each kind of waiter, and as one task.
fn in_models(make: fn(&Arc<Crowd>) -> Program<Sent>) {
    for model in [Model::Single, Model::Pool { workers: 2 }, Model::Threads] {
        watched(&model.to_string(), move || {
            let rt = Arc::new(runtime(model));
            let world = World::Real(rt.clone());
            let hold = |holder| world.run(Kind::Task, holder);
            for kind in KINDS {
                let start = |all: Vec<Sent>, crowd: &Arc<Crowd>| {
                    let all = counted(all, crowd).map(|waiter| world.run(kind, waiter));
                    all.collect()
                };
                rt.block_on(run(make, hold, start));
            }
            let start = |all: Vec<Sent>, crowd: &Arc<Crowd>| {
                let all = counted(all, crowd).map(|waiter| Box::pin(waiter) as Sent);
                vec![world.run(Kind::Task, together(all.collect()))]
            };
            rt.block_on(run(make, hold, start));
        });
    }
}

/// With foreign wakers: only those who are called are polled.
fn by_hand(make: fn(&Arc<Crowd>) -> Program<Local>) {
    let crowd = Arc::new(Crowd::default());
    let Program { holder, waiters } = make(&crowd);
    let mut hands = vec![Hand::new(holder)];
    assert!(hands[0].poll().is_pending(), "it waits for all");
    hands.extend(counted(waiters, &crowd).map(|waiter| Hand::new(Box::pin(waiter) as Local)));
    for hand in &mut hands[1..] {
        assert!(hand.poll().is_pending(), "it does not wait");
    }
    let mut left: Vec<_> = hands.into_iter().map(|hand| (hand, 0)).collect();
    loop {
        let before = left.len();
        let mut polled = 0;
        left.retain_mut(|(hand, seen)| {
            if std::mem::replace(seen, hand.wakes()) == hand.wakes() {
                return true;
            }
            polled += 1;
            hand.poll().is_pending()
        });
        if left.is_empty() {
            return;
        }
        assert!(polled > 0, "{before} wait, and none of them is called");
    }
}
