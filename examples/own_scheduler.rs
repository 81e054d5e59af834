//! A scheduler of one's own: round robin over two classes, the ring's even and odd tasks.
//!
//! `cargo run --release -p gossamer-rt --example own_scheduler`

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gossamer::{
    Model, Runtime, local::MVar, scheduler::Reason, scheduler::Runnable, scheduler::Scheduler,
};

const TASKS: usize = 503;
const HOPS: u32 = 1_000;

/// One queue a class; the classes take turns.
struct RoundRobin {
    classes: [VecDeque<Runnable>; 2],
    turn: usize,
    hash: RandomState,
    polls: Arc<AtomicUsize>,
}

impl Scheduler for RoundRobin {
    fn push(&mut self, task: Runnable, _reason: Reason) {
        // A real scheduler would look the task's id up in a table of its own.
        let class = self.hash.hash_one(task.id()) % 2;
        self.classes[class as usize].push_back(task);
    }

    fn pop(&mut self) -> Option<Runnable> {
        self.turn = 1 - self.turn;
        let task = self.classes[self.turn].pop_front();
        let task = task.or_else(|| self.classes[1 - self.turn].pop_front())?;
        self.polls.fetch_add(1, Ordering::Relaxed);
        Some(task)
    }
}

fn main() -> std::io::Result<()> {
    let polls = Arc::new(AtomicUsize::new(0));
    let scheduler = RoundRobin {
        classes: Default::default(),
        turn: 0,
        hash: RandomState::new(),
        polls: polls.clone(),
    };
    let rt = Runtime::builder()
        .model(Model::Single)
        .scheduler(scheduler)
        .build()?;
    let winner = rt.block_on_local(|scope| {
        let ring: Rc<[MVar<u32>]> = (0..TASKS).map(|_| MVar::empty()).collect();
        let winner = Rc::new(MVar::empty());
        for id in 0..TASKS {
            let (ring, winner) = (ring.clone(), winner.clone());
            drop(scope.spawn_local(async move {
                loop {
                    let token = ring[id].take().await;
                    if token == 0 {
                        return winner.put(id + 1).await;
                    }
                    ring[(id + 1) % TASKS].put(token - 1).await;
                }
            }));
        }
        async move {
            ring[0].put(HOPS).await;
            winner.take().await
        }
    });
    println!("{winner}");
    assert!(
        polls.load(Ordering::Relaxed) > HOPS as usize,
        "every hop is a poll of ours"
    );
    Ok(())
}
