//! Who runs when: yielding lets all others run, and a chatty pair starves nobody.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use gossamer::{Wait, local::MVar, yield_now};

use super::runtime;

#[test]
fn yield_lets_all_others_run_first() {
    const TASKS: usize = 20;
    let order = Rc::new(RefCell::new(Vec::new()));
    runtime().block_on_local(|scope| {
        let tasks: Vec<_> = (0..TASKS)
            .map(|task| {
                let order = order.clone();
                scope.spawn_local(async move {
                    for _ in 0..10 {
                        order.borrow_mut().push(task);
                        yield_now().await;
                    }
                })
            })
            .collect();
        async {
            for task in tasks {
                task.await.unwrap();
            }
        }
    });
    for round in order.borrow().chunks(TASKS) {
        let mut round = round.to_vec();
        round.sort_unstable();
        assert_eq!(
            round,
            (0..TASKS).collect::<Vec<_>>(),
            "somebody ran twice in one round"
        );
    }
}

/// The root is a task like others, and what was spawned before it is runnable.
#[test]
fn yield_of_the_root_lets_the_spawned_run() {
    let rt = runtime();
    let ran = Arc::new(AtomicU32::new(0));
    for _ in 0..100 {
        let ran = ran.clone();
        drop(rt.spawn(async move { ran.fetch_add(1, Ordering::SeqCst) }));
    }
    rt.block_on(yield_now());
    assert_eq!(ran.load(Ordering::SeqCst), 100);
}

/// A task that a primitive has woken in the same poll lets others run, too, when it yields.
#[test]
fn yield_of_one_that_was_woken_lets_others_run() {
    let order = Rc::new(RefCell::new(Vec::new()));
    let says = |name: &'static str| order.borrow_mut().push(name);
    runtime().block_on_local(|scope| {
        let other = order.clone();
        drop(scope.spawn_local(async move {
            loop {
                other.borrow_mut().push("other");
                yield_now().await;
            }
        }));
        async move {
            yield_now().await;
            let mvar = MVar::empty();
            let puts = async {
                mvar.put(1).await;
                says("before");
                yield_now().await;
                says("after");
            };
            let (mut take, mut puts) = (pin!(mvar.take()), pin!(puts));
            let mut taken = false;
            poll_fn(|cx| {
                taken = taken || take.as_mut().poll(cx).is_ready();
                puts.as_mut().poll(cx)
            })
            .await;
            assert!(taken);
        }
    });
    assert_eq!(*order.borrow(), ["other", "before", "other", "after"]);
}

/// Whoever yields lets those run first that it has woken before, also if it was woken itself.
#[test]
fn a_yield_comes_behind_all_that_was_woken_before() {
    let order = Rc::new(RefCell::new(Vec::new()));
    runtime().block_on_local(|scope| {
        let waits = [Rc::new(MVar::empty()), Rc::new(MVar::empty())];
        for (name, mvar) in ["first", "second"].into_iter().zip(waits.clone()) {
            let order = order.clone();
            drop(scope.spawn_local(async move {
                mvar.take().await;
                order.borrow_mut().push(name);
            }));
        }
        let order = order.clone();
        async move {
            yield_now().await;
            let own = MVar::empty();
            let yields = async {
                // It wakes this task, which takes from it below, and then the others.
                own.put(()).await;
                for mvar in &waits {
                    mvar.put(()).await;
                }
                yield_now().await;
                order.borrow_mut().push("yielded");
            };
            let (mut take, mut yields) = (pin!(own.take()), pin!(yields));
            let mut taken = false;
            poll_fn(|cx| {
                taken = taken || take.as_mut().poll(cx).is_ready();
                yields.as_mut().poll(cx)
            })
            .await;
            assert!(taken);
        }
    });
    let order = order.borrow();
    assert_eq!(order.len(), 3);
    assert_eq!(order[2], "yielded", "{order:?}");
}

/// Two tasks that wake each other all the time, by way of the run-next slot; a third must get its turns.
#[test]
fn a_ping_pong_pair_starves_nobody() {
    let turns = Rc::new(Cell::new(0));
    let hops = Rc::new(Cell::new(0_u32));
    runtime().block_on_local(|scope| {
        let (ping, pong) = (Rc::new(MVar::empty()), Rc::new(MVar::empty()));
        for (from, to) in [(ping.clone(), pong.clone()), (pong, ping.clone())] {
            let hops = hops.clone();
            drop(scope.spawn_local(async move {
                // Enough to be told from the bound, and not for ever.
                for _ in 0..5000 {
                    let token: u32 = from.take().await;
                    hops.set(hops.get() + 1);
                    to.put(token + 1).await;
                }
            }));
        }
        let third = scope.spawn_local({
            let turns = turns.clone();
            async move {
                for _ in 0..100 {
                    turns.set(turns.get() + 1);
                    yield_now().await;
                }
            }
        });
        async move {
            ping.put(0).await;
            third.await.unwrap();
        }
    });
    assert_eq!(turns.get(), 100);
    assert!(
        hops.get() < 100 * 16,
        "{} hops for 100 turns of the third",
        hops.get()
    );
}

/// The same with the third coming from outside: the inbox is looked at even if the queue never empties.
#[test]
fn a_busy_queue_does_not_hide_the_inbox() {
    let rt = Arc::new(runtime());
    let stop = Arc::new(AtomicU32::new(0));
    let busy = rt.spawn({
        let stop = stop.clone();
        async move {
            while stop.load(Ordering::SeqCst) == 0 {
                yield_now().await;
            }
        }
    });
    let handle = std::thread::spawn({
        let rt = rt.clone();
        move || drop(rt.spawn(async move { stop.store(1, Ordering::SeqCst) }))
    });
    busy.wait().unwrap();
    handle.join().unwrap();
}
