//! The outcomes of programs, found without all of their schedules: the set is the same.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use gossamer::channel::PortSet;
use gossamer::experiment::{Distribution, Limit, Limits, Outcome, Outcomes, draw};
use gossamer::sim::{Cause, Cell};
use gossamer::sync::{Barrier, Condvar, MVar, Mutex, RwLock, Semaphore};
use gossamer::time::{TimeoutExt, sleep as rest};
use gossamer::{JoinHandle, channel, select, spawn, yield_now};

use super::outcomes::{count, dine, p};
use crate::contract::SIM;

/// Both ways find the same, and each schedule leads there.
fn both<T: Ord + Clone + Debug, F: Future<Output = T>>(
    program: impl Fn() -> F,
) -> (Outcomes<T>, u64) {
    let limits = Limits::new().paths(200_000);
    let all = Outcomes::without_reduction(&limits, SIM, &program).expect("it is sound");
    let found = Outcomes::of_schedules_within(&limits, SIM, &program).expect("it is sound");
    assert_eq!((all.stopped_by(), found.stopped_by()), (None, None));
    let outcomes = |of: &Outcomes<T>| -> Vec<_> {
        let all = of.iter();
        all.map(|(outcome, _)| outcome.clone()).collect()
    };
    assert_eq!(outcomes(&found), outcomes(&all), "{found}\n{all}");
    assert!(found.runs() <= all.runs(), "{found}\n{all}");
    each_leads_there(&found, program);
    (found, all.runs())
}

/// Each schedule that was found leads to its outcome, 100 times of 100.
fn each_leads_there<T: Ord + Clone + Debug, F: Future<Output = T>>(
    found: &Outcomes<T>,
    program: impl Fn() -> F,
) {
    for (outcome, schedule) in found.iter() {
        for _ in 0..100 {
            let replayed = SIM.only_operations().replay(schedule.choices(), &program);
            let is_same = match (outcome, replayed) {
                (Outcome::Returned(expected), Ok(returned)) => *expected == returned,
                (Outcome::Deadlock, Err(failure)) => matches!(failure.cause, Cause::Deadlock(_)),
                (Outcome::Panicked(expected), Err(failure)) => {
                    matches!(failure.cause, Cause::Panicked { message, .. } if message == *expected)
                }
                _ => false,
            };
            assert!(is_same, "{outcome:?} by {schedule}");
        }
    }
}

async fn join(tasks: impl IntoIterator<Item = JoinHandle<()>>) {
    for task in tasks {
        task.await.expect("no panic");
    }
}

/// Three tasks of three operations, each at its own object.
fn three() -> [JoinHandle<()>; 3] {
    [(); 3].map(|()| {
        gossamer::spawn(async {
            let own = MVar::new(());
            own.take().await;
            own.put(()).await;
            own.take().await;
        })
    })
}

#[test]
fn what_is_not_shared_has_one_order() {
    let (found, all) = both(async || {
        let _tasks = three();
        rest(Duration::from_secs(1)).await;
    });
    // One to its end, and 15 that find at some step that all that is left has been in another order.
    assert_eq!((found.runs() - found.cut_off(), found.runs()), (1, 16));
    assert_eq!(all, 1_680);
    // The ends of those that are joined are told apart.
    let (found, all) = both(async || join(three()).await);
    println!("joined: {found} of {all}");
    assert!(found.runs() <= 100, "{found}");
    assert_eq!(all, 1_680);
}

#[test]
fn what_is_shared_is_ordered() {
    // Nothing but the object tells that the order counts.
    let (found, _) = both(async || {
        let cell = Arc::new(Cell::new(0));
        for task in 1..=3 {
            let cell = cell.clone();
            gossamer::spawn(async move { cell.update(|value| *value = *value * 10 + task).await });
        }
        rest(Duration::from_secs(1)).await;
        cell.read().await
    });
    assert_eq!(found.iter().len(), 6, "{found}");
    for tasks in [2, 3] {
        let (found, _) = both(|| count(tasks));
        assert_eq!(found.iter().len(), tasks);
    }
    for philosophers in [2, 3] {
        let (found, all) = both(|| dine(philosophers, 1));
        println!("{philosophers}: {found} of {all}");
        assert_eq!(found.iter().len(), 2);
    }
}

/// 104,704 schedules.
#[test]
fn four_philosophers() {
    let (found, all) = both(|| dine(4, 1));
    println!("{found} of {all}");
    assert!(found.runs() < 5_000, "{found}");
}

#[test]
fn channels() {
    both(async || {
        let (tx, rx) = channel::bounded(1);
        let senders: Vec<_> = (0..3)
            .map(|number| {
                let tx = tx.clone();
                gossamer::spawn(async move { tx.send(number).await.expect("it is received") })
            })
            .collect();
        let mut received = Vec::new();
        for _ in 0..3 {
            received.push(rx.recv().await.expect("it is sent"));
        }
        join(senders).await;
        received
    });
    both(async || {
        let (tx, rx) = channel::rendezvous();
        let senders: Vec<_> = (0..2)
            .map(|number| {
                let tx = tx.clone();
                gossamer::spawn(async move { tx.send(number).await.expect("it is received") })
            })
            .collect();
        let received = [(); 2].map(|()| rx.recv());
        let mut all = Vec::new();
        for receive in received {
            all.push(receive.await.expect("it is sent"));
        }
        join(senders).await;
        all
    });
}

/// What is sent to one port of a set is before or after what is sent to another.
#[test]
fn ports_of_one_set() {
    async fn arrived(is_ring: bool) -> usize {
        let set = PortSet::new();
        let (mut rings, mut channels) = (Vec::new(), Vec::new());
        for _ in 0..2 {
            if is_ring {
                let (tx, rx) = channel::spsc(1);
                set.add(rx).expect("it is new");
                rings.push(tx);
            } else {
                let (tx, rx) = channel::bounded(1);
                set.add(rx).expect("it is new");
                channels.push(tx);
            }
        }
        // A new port is looked at once, whether it has something or not.
        assert!(set.try_recv().is_none());
        let sent = Arc::new([MVar::empty(), MVar::empty()]);
        let mut tasks = Vec::new();
        for (number, mut tx) in (0..).zip(rings) {
            let sent = sent.clone();
            tasks.push(spawn(async move {
                tx.send(number).await.expect("the set lives");
                sent[number].put(()).await;
            }));
        }
        for (number, tx) in (0..).zip(channels) {
            let sent = sent.clone();
            tasks.push(spawn(async move {
                tx.send(number).await.expect("the set lives");
                sent[number].put(()).await;
            }));
        }
        for sent in sent.iter() {
            sent.take().await;
        }
        let seen = set
            .recv()
            .await
            .expect("two were sent")
            .1
            .expect("none has ended");
        drop(tasks);
        seen
    }
    for is_ring in [false, true] {
        let (found, _) = both(|| arrived(is_ring));
        assert_eq!(found.iter().count(), 2, "{found}");
        let limits = Limits::new();
        let merged = Distribution::of_merged_schedules(&limits, SIM, || arrived(is_ring));
        let merged = merged.expect("it is sound");
        for first in [0, 1] {
            let outcome = Outcome::Returned(first);
            assert_eq!(merged.probability(&outcome), p(1, 2), "{merged}");
        }
    }
}

#[test]
fn selects() {
    let (found, _) = both(async || {
        let cells = Arc::new([0, 1, 2].map(|_| MVar::empty()));
        let tasks: Vec<_> = (0..3)
            .map(|at| {
                let cells = cells.clone();
                gossamer::spawn(async move { cells[at].put(at).await })
            })
            .collect();
        let first = select! {
            taken = cells[0].take() => taken,
            taken = cells[1].take() => taken,
            taken = cells[2].take() => taken,
        };
        join(tasks).await;
        first
    });
    assert_eq!(found.iter().len(), 3, "{found}");
    // Two that could go both, and one that is at both.
    both(async || {
        let (a, b) = (Arc::new(MVar::new('a')), Arc::new(MVar::new('b')));
        let (to_a, to_b) = (a.clone(), b.clone());
        let takers = [
            gossamer::spawn(async move {
                to_a.take().timeout(Duration::from_secs(1)).await.ok();
            }),
            gossamer::spawn(async move {
                to_b.take().timeout(Duration::from_secs(1)).await.ok();
            }),
        ];
        let taken = async {
            select! {
                taken = a.take() => taken,
                taken = b.take() => taken,
            }
        };
        let taken = taken.timeout(Duration::from_secs(2)).await.ok();
        join(takers).await;
        taken
    });
}

#[test]
fn those_that_wait_to_be_noticed() {
    let (found, _) = both(async || {
        let shared = Arc::new((Mutex::new(()), Condvar::new()));
        let theirs = shared.clone();
        let waits = gossamer::spawn(async move {
            let guard = theirs.0.lock().await;
            let _guard = theirs.1.notified(guard).await;
        });
        MVar::new(()).take().await;
        shared.1.notify_one();
        waits.await.expect("no panic");
    });
    assert_eq!(found.iter().len(), 2, "{found}");
    both(async || {
        let barrier = Arc::new(Barrier::new(3));
        let first = Arc::new(Cell::new(0));
        let tasks: Vec<_> = (1..=3)
            .map(|task| {
                let (barrier, first) = (barrier.clone(), first.clone());
                gossamer::spawn(async move {
                    let own = MVar::new(());
                    own.take().await;
                    if barrier.arrive().await.is_leader() {
                        first.write(task).await;
                    }
                })
            })
            .collect();
        join(tasks).await;
        first.read().await
    });
}

#[test]
fn joins_aborts_and_time() {
    // Who ends first is told by a select, whenever it begins.
    for early in [true, false] {
        let (found, _) = both(async || {
            let mut tasks = [0, 1, 2].map(|_| {
                gossamer::spawn(async {
                    MVar::new(()).take().await;
                })
            });
            if !early {
                (&mut tasks[2]).await.expect("no panic");
            }
            let [a, b, _] = &mut tasks;
            select! {
                biased;
                _ = &mut *b => 1,
                _ = &mut *a => 0,
            }
        });
        assert_eq!(found.iter().len(), 2, "{found}");
    }
    let (found, _) = both(async || {
        let cell = Arc::new(Cell::new(0));
        let theirs = cell.clone();
        let task = gossamer::spawn(async move {
            theirs.write(1).await;
            theirs.write(2).await;
        });
        MVar::new(()).take().await;
        task.abort();
        drop(task.await);
        cell.read().await
    });
    assert_eq!(found.iter().len(), 3, "{found}");
    let (found, _) = both(async || {
        let cell = Arc::new(MVar::empty());
        let tasks: Vec<_> = (1..=2)
            .map(|number| {
                let cell = cell.clone();
                gossamer::spawn(async move {
                    MVar::new(()).take().await;
                    rest(Duration::from_secs(1)).await;
                    cell.put(number).await;
                })
            })
            .collect();
        let first = cell.take().await;
        let second = cell.take().timeout(Duration::from_millis(1)).await;
        join(tasks).await;
        (first, second.ok())
    });
    assert_eq!(found.iter().len(), 2, "{found}");
}

#[test]
fn draws_panics_and_yields() {
    let (found, _) = both(async || {
        let cell = Arc::new(Cell::new(0));
        let tasks: Vec<_> = (1..=2)
            .map(|task| {
                let cell = cell.clone();
                gossamer::spawn(async move {
                    MVar::new(()).take().await;
                    let drawn = match draw(|c| c.coin(&p(1, 3))) {
                        true => 10,
                        false => task,
                    };
                    yield_now().await;
                    cell.update(|value| *value = *value * 100 + drawn).await;
                    assert!(drawn < 10 || task == 1, "planned: {task}");
                })
            })
            .collect();
        join(tasks).await;
        cell.read().await
    });
    assert_eq!(found.iter().len(), 5, "{found}");
    // Another one may panic first, or the root be done before.
    let (found, _) = both(async || {
        let tasks: Vec<_> = (0..3)
            .map(|task| {
                gossamer::spawn(async move {
                    MVar::new(()).take().await;
                    panic!("planned: {task}");
                })
            })
            .collect();
        MVar::new(()).take().await;
        drop(tasks);
    });
    assert_eq!(found.iter().len(), 4, "{found}");
}

/// A random small program: tasks that each do some operations at few objects, and what they have seen.
async fn random_program(seed: u64) -> Vec<u32> {
    let mut random = fastrand::Rng::with_seed(seed);
    let cells = Arc::new([0, 1].map(|_| Cell::new(0)));
    let places = Arc::new([MVar::new(0), MVar::empty()]);
    let lock = Arc::new(RwLock::new(0));
    let permits = Arc::new(Semaphore::new(1));
    let (tx, rx) = channel::bounded(1);
    let seen = Arc::new(Cell::new(Vec::new()));
    let tasks: Vec<_> = (0..2 + random.usize(..2))
        .map(|task| {
            let operations: Vec<_> = (0..1 + random.usize(..3))
                .map(|_| (random.u32(..11), random.usize(..2)))
                .collect();
            let (cells, places, lock) = (cells.clone(), places.clone(), lock.clone());
            let (permits, tx, rx) = (permits.clone(), tx.clone(), rx.clone());
            let seen = seen.clone();
            gossamer::spawn(async move {
                let mut value = task as u32 + 1;
                let mut kept = None;
                for (operation, at) in operations {
                    match operation {
                        0 => value = value * 10 + cells[at].read().await,
                        1 => drop(cells[at].write(value).await),
                        2 => value = places[at].take().await,
                        3 => places[at].put(value).await,
                        4 => *lock.write().await += value,
                        5 => value += *lock.read().await,
                        6 => kept = permits.acquire().await.ok(),
                        7 => kept = None,
                        8 => tx.send(value).await.expect("the receiver is there"),
                        9 => value = rx.recv().await.expect("a sender is there"),
                        _ => {
                            let (one, other) = (&places[at], &places[1 - at]);
                            value = select! {
                                taken = one.take() => taken,
                                taken = other.take() => taken + 7,
                            };
                        }
                    }
                }
                drop(kept);
                seen.update(|seen| seen.push(value)).await;
            })
        })
        .collect();
    // Some wait for ever.
    for task in tasks {
        task.timeout(Duration::from_secs(1)).await.ok();
    }
    let mut seen = seen.read().await;
    seen.sort_unstable();
    seen.push(cells[0].read().await);
    seen.push(cells[1].read().await);
    seen
}

/// Whatever the program.
#[test]
fn random_programs() {
    let (mut reduced, mut of_all) = (0, 0);
    for seed in 0..150 {
        println!("the program of seed {seed}");
        let limits = Limits::new().paths(30_000);
        let all = Outcomes::without_reduction(&limits, SIM, || random_program(seed));
        let all = all.expect("it is sound");
        if all.stopped_by().is_some() {
            continue;
        }
        let found = Outcomes::of_schedules_within(&limits, SIM, || random_program(seed));
        let found = found.expect("it is sound");
        let outcomes = |of: &Outcomes<Vec<u32>>| -> Vec<_> {
            let all = of.iter();
            all.map(|(outcome, _)| outcome.clone()).collect()
        };
        assert_eq!(outcomes(&found), outcomes(&all), "{found}\n{all}");
        each_leads_there(&found, || random_program(seed));
        (reduced, of_all) = (reduced + found.runs(), of_all + all.runs());
    }
    println!("{reduced} of {of_all}");
    assert!(reduced * 3 < of_all, "{reduced} of {of_all}");
}

#[test]
fn limits_of_outcomes() {
    let limits = Limits::new().paths(2);
    let found = Outcomes::of_schedules_within(&limits, SIM, || dine(3, 1)).expect("it is sound");
    assert_eq!((found.runs(), found.stopped_by()), (2, Some(Limit::Paths)));
    assert!(found.to_string().contains("2 runs"), "{found}");
    let limits = Limits::new().outcomes(1);
    let found = Outcomes::of_schedules_within(&limits, SIM, || dine(3, 1)).expect("it is sound");
    assert_eq!(found.stopped_by(), Some(Limit::Outcomes));
}
