//! Tasks in all schedules, operations dropped after any poll, and threads under every model.

use std::cell::RefCell;
use std::rc::Rc;
use std::thread;

use gossamer::Wait;
use gossamer::channel::watch;
use gossamer::raw::LockPolicy;
use gossamer::raw::channel::watch::Receiver;
use gossamer_sim::spawn;

use super::Watches;
use crate::exploring::{Cut, exhaust_flavour, explore_flavour, quiet};
use crate::flavour::both;
use crate::models::{MODELS, runtime, watched};
use crate::tally::{Tally, Value};

both! {
    small_programs,
    receivers_follow_in_every_schedule,
    operations_dropped_after_any_poll,
}

type Got = Rc<RefCell<Vec<u32>>>;

async fn follow<P: LockPolicy>(mut rx: Receiver<Value, P>, got: Got) {
    while let Ok(value) = rx.changed().await {
        got.borrow_mut().push(value.id);
    }
}

/// Senders count up together, some receivers follow, one waits for the last value, and one drops some operations.
async fn run<F: Watches>((senders, each, receivers): (u32, u32, u32), cut: Option<(Cut, bool)>) {
    let tally = Tally::default();
    let (tx, mut rx) = F::watch(tally.value(0));
    let (all, mut tasks) = (senders * each, Vec::new());
    let mut gots = Vec::new();
    for _ in 0..receivers {
        let got = Got::default();
        gots.push(got.clone());
        tasks.push(spawn(follow(rx.clone(), got)));
    }
    if let Some((cut, changed)) = cut {
        let got = Got::default();
        gots.push(got.clone());
        tasks.push(spawn(async move {
            let told = if changed {
                cut.apply(rx.changed()).await
            } else {
                cut.apply(rx.wait_for(|value| value.id == all)).await
            };
            if let Some(Ok(value)) = told {
                got.borrow_mut().push(value.id);
            }
            let last = rx.wait_for(|value| value.id == all).await;
            let last = last.map(|last| last.id);
            assert_eq!(last, Ok(all));
            got.borrow_mut().extend(last);
        }));
    } else {
        drop(rx);
    }
    for _ in 0..senders {
        let (tx, tally) = (tx.clone(), tally.clone());
        tasks.push(spawn(async move {
            for _ in 0..each {
                gossamer::yield_now().await;
                tx.send_update(|value| Some(tally.value(value.id + 1)));
            }
        }));
    }
    drop(tx);
    quiet().await;
    for task in tasks {
        task.await.expect("no panic");
    }
    for got in gots {
        let got = got.take();
        assert_eq!(got.last(), Some(&all), "{got:?}");
        let follows = cut.is_some() || got.windows(2).all(|pair| pair[0] < pair[1]);
        assert!(follows && got.is_sorted(), "{got:?}");
    }
    assert_eq!(tally.living(), 0);
}

fn small_programs<F: Watches>() {
    for program in [(1, 2, 1), (1, 1, 2), (2, 1, 1)] {
        exhaust_flavour::<F, _>(|| run::<F>(program, None));
    }
    for cut in Cut::all() {
        for changed in [true, false] {
            exhaust_flavour::<F, _>(|| run::<F>((1, 2, 0), Some((cut, changed))));
        }
    }
}

fn receivers_follow_in_every_schedule<F: Watches>() {
    explore_flavour::<F, _>(|_| run::<F>((2, 2, 2), None));
}

fn operations_dropped_after_any_poll<F: Watches>() {
    explore_flavour::<F, _>(|seed| {
        let cut = (Cut::nth(seed), seed / 8 % 2 == 0);
        run::<F>((1, 3, 1), Some(cut))
    });
}

/// Four threads count up together, and nothing is lost; tasks, fibers and threads follow, under every model.
#[test]
fn tasks_fibers_and_threads() {
    const EACH: u32 = 500;
    for model in MODELS {
        watched("watch", move || {
            let rt = runtime(model);
            let (tx, mut one) = watch(0);
            let (mut two, mut three) = (one.clone(), one.clone());
            let task = rt.spawn(async move {
                let mut last = 0;
                while let Ok(value) = one.changed().await {
                    assert!(*value > last);
                    last = *value;
                }
                last
            });
            let fiber = rt.spawn_fiber(move || {
                let last = two.wait_for(|value| *value == 4 * EACH).wait();
                last.map_or(0, |value| *value)
            });
            let watching = rt.spawn_thread(move || {
                let mut last = 0;
                while let Ok(value) = three.changed().wait() {
                    assert!(*value > last);
                    last = *value;
                }
                last
            });
            thread::scope(|scope| {
                for _ in 0..4 {
                    let tx = tx.clone();
                    scope.spawn(move || {
                        for _ in 0..EACH {
                            tx.send_modify(|value| *value += 1);
                        }
                    });
                }
            });
            drop(tx);
            for last in [task.wait(), fiber.wait(), watching.wait()] {
                assert_eq!(last.expect("no panic"), 4 * EACH);
            }
        });
    }
}
