//! Outcomes of programs over all schedules, with their probabilities.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use gossamer::channel;
use gossamer::experiment::{Distribution, Error, Limit, Limits, Outcome, Probability, Schedules};
use gossamer::sim::{self, Cause, Sim};
use gossamer::sync::{Barrier, Condvar, MVar, Mutex};
use gossamer::time::{TimeoutExt, sleep as rest};
use gossamer::{JoinHandle, Wait, select, yield_now};

use crate::contract::SIM;

pub(super) fn p(numerator: u64, denominator: u64) -> Probability {
    Probability::new(numerator, denominator).expect("it is one")
}

/// Each takes the left fork and then the right one, and puts them back in that order.
pub(super) async fn dine(philosophers: usize, meals: usize) {
    let forks: Arc<Vec<MVar<()>>> = Arc::new((0..philosophers).map(|_| MVar::new(())).collect());
    let tasks: Vec<_> = (0..philosophers)
        .map(|at| {
            let forks = forks.clone();
            gossamer::spawn(async move {
                let (left, right) = (&forks[at], &forks[(at + 1) % philosophers]);
                for _ in 0..meals {
                    left.take().await;
                    right.take().await;
                    left.put(()).await;
                    right.put(()).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("nobody panics");
    }
}

fn dined(philosophers: usize, meals: usize) -> Schedules<()> {
    Distribution::of_schedules(|| dine(philosophers, meals)).expect("it is sound")
}

#[test]
fn philosophers() {
    for (philosophers, meals, deadlock, paths) in [
        (2, 1, p(1, 2), 4),
        (3, 1, p(1, 3), 396),
        (2, 2, p(13, 16), 0),
        (4, 1, p(11, 48), 104_704),
    ] {
        let found = dined(philosophers, meals);
        assert_eq!(found.probability(&Outcome::Deadlock), deadlock, "{found}");
        if paths > 0 {
            assert_eq!(found.paths(), paths, "{found}");
        }
        assert_eq!(*found.uncovered(), Probability::ZERO);
    }
}

fn merged<T: Ord, F: Future<Output = T>>(program: impl Fn() -> F) -> Result<Schedules<T>, Error> {
    Distribution::of_merged_schedules(&Limits::new(), SIM, program)
}

/// 104,652,200 schedules of five are some thousand states.
#[test]
fn equal_states_are_merged() {
    for (philosophers, meals, deadlock) in [
        (2, 1, p(1, 2)),
        (3, 1, p(1, 3)),
        (4, 1, p(11, 48)),
        (5, 1, p(19, 120)),
        (2, 2, p(13, 16)),
        (3, 2, p(152_413, 248_832)),
    ] {
        let found = merged(|| dine(philosophers, meals)).expect("it is sound");
        assert_eq!(found.probability(&Outcome::Deadlock), deadlock, "{found}");
        assert_eq!(*found.uncovered(), Probability::ZERO);
    }
    // Here the order at the object makes the difference, and not how far the tasks have come.
    for tasks in [2, 3, 4] {
        let (each, together) = (of(|| count(tasks)), merged(|| count(tasks)));
        let together = together.expect("it is sound");
        let probabilities = |found: &Schedules<u32>| -> Vec<_> {
            let all = found.iter();
            all.map(|(outcome, probability, _)| (outcome.clone(), probability.clone()))
                .collect()
        };
        assert_eq!(probabilities(&each), probabilities(&together));
        assert!(together.paths() < 2 * each.paths());
    }
}

/// Something is shared that the simulation does not see.
#[test]
fn states_that_are_not_equal_are_found_out() {
    let program = async || {
        let last = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (1..=2)
            .map(|number| {
                let last = last.clone();
                gossamer::spawn(async move {
                    let own = MVar::new(());
                    own.take().await;
                    last.store(number, Ordering::Relaxed);
                    own.put(()).await;
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("no panic");
        }
        last.load(Ordering::Relaxed)
    };
    let found = merged(program).map(|_| ());
    assert!(matches!(found, Err(Error::NotMerged { .. })), "{found:?}");
    assert_eq!(of(program).probability(&Outcome::Returned(1)), p(1, 2));
}

/// Each task reads a number, and writes one more.
pub(super) async fn count(tasks: usize) -> u32 {
    let number = Arc::new(sim::Cell::new(0));
    let tasks: Vec<_> = (0..tasks)
        .map(|_| {
            let number = number.clone();
            gossamer::spawn(async move {
                let read = number.read().await;
                number.write(read + 1).await;
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("nobody panics");
    }
    number.read().await
}

#[test]
fn a_lost_update() {
    let found = of(|| count(4));
    for (number, probability) in [
        (1, p(145, 576)),
        (2, p(263, 576)),
        (3, p(1, 4)),
        (4, p(1, 24)),
    ] {
        assert_eq!(
            found.probability(&Outcome::Returned(number)),
            probability,
            "{found}"
        );
    }
    let found = of(|| count(3));
    for (number, probability) in [(1, p(1, 3)), (2, p(1, 2)), (3, p(1, 6))] {
        assert_eq!(
            found.probability(&Outcome::Returned(number)),
            probability,
            "{found}"
        );
    }
}

#[test]
fn each_outcome_is_run_again() {
    let found = dined(3, 1);
    let deadlock = found.schedule(&Outcome::Deadlock).expect("it comes");
    assert_eq!(deadlock.preemptions(), 1);
    for _ in 0..100 {
        let text = deadlock.to_string();
        let failed = Sim::new()
            .only_operations()
            .replay(&sim::choices(&text), || dine(3, 1));
        let failure = failed.expect_err("it is a deadlock");
        assert!(matches!(failure.cause, Cause::Deadlock(_)), "{failure}");
    }
    let failure = Sim::new()
        .only_operations()
        .replay(deadlock.choices(), || dine(3, 1));
    println!("{}", failure.expect_err("it is a deadlock"));
}

pub(super) fn of<T: Ord, F: Future<Output = T>>(program: impl Fn() -> F) -> Schedules<T> {
    let found = Distribution::of_schedules_within(&Limits::new(), SIM, program);
    let found = found.expect("it is sound");
    assert_eq!(*found.uncovered(), Probability::ZERO);
    found
}

/// The same for tasks, fibers and threads: what waits is the same operation.
#[test]
fn all_kinds_take_and_put() {
    type Spawn = fn(Arc<MVar<u32>>, u32) -> JoinHandle<()>;
    async fn taken_and_put(spawn: Spawn) -> u32 {
        let cell = Arc::new(MVar::new(0));
        let others: Vec<_> = (1..=3).map(|number| spawn(cell.clone(), number)).collect();
        for other in others {
            other.await.expect("nobody panics");
        }
        cell.take().await
    }
    let kinds: [Spawn; 3] = [
        |cell, number| {
            gossamer::spawn(async move {
                let taken = cell.take().await;
                cell.put(taken * 10 + number).await;
            })
        },
        |cell, number| {
            gossamer::spawn_fiber(move || {
                let taken = cell.take().wait();
                cell.put(taken * 10 + number).wait();
            })
        },
        |cell, number| {
            gossamer::spawn_thread(move || {
                let taken = cell.take().wait();
                cell.put(taken * 10 + number).wait();
            })
        },
    ];
    for kind in kinds {
        let found = of(|| taken_and_put(kind));
        // Nobody can put while another one has it, so only the order in which they take is chosen.
        assert_eq!(found.paths(), 6, "{found:?}");
        for order in [123, 132, 213, 231, 312, 321] {
            assert_eq!(found.probability(&Outcome::Returned(order)), p(1, 6));
        }
    }
}

#[test]
fn three_tasks_of_three_operations() {
    let found = of(async || {
        let tasks: Vec<_> = (0..3)
            .map(|_| {
                gossamer::spawn(async {
                    let own = MVar::new(());
                    own.take().await;
                    own.put(()).await;
                    own.take().await;
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("nobody panics");
        }
    });
    // 9! / (3!)^3: those who join take no part.
    assert_eq!(found.paths(), 1_680);
}

/// Operations that wait for each other begin to wait, or nobody would ever come.
#[test]
fn those_who_meet() {
    let rendezvous = of(async || {
        let (tx, rx) = channel::rendezvous();
        let sender = gossamer::spawn(async move { tx.send(7).await });
        let received = rx.recv().await;
        assert_eq!(sender.await.expect("no panic"), Ok(()));
        received.expect("the sender is there")
    });
    assert_eq!(
        rendezvous.probability(&Outcome::Returned(7)),
        Probability::ONE
    );

    let barrier = of(async || {
        let barrier = Arc::new(Barrier::new(3));
        let tasks = [(); 2].map(|()| {
            let barrier = barrier.clone();
            gossamer::spawn(async move { barrier.arrive().await.is_leader() })
        });
        let mut leaders = u32::from(barrier.arrive().await.is_leader());
        for task in tasks {
            leaders += u32::from(task.await.expect("no panic"));
        }
        leaders
    });
    assert_eq!(
        barrier.probability(&Outcome::Returned(1)),
        Probability::ONE,
        "{barrier}"
    );
}

/// A notification that comes too early is lost: the classic mistake. It counts that somebody waits by then.
#[test]
fn a_notification_that_is_lost() {
    let found = of(async || {
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
    // Both the lock and the wait have to come before the take.
    assert_eq!(
        found.probability(&Outcome::Returned(())),
        p(1, 4),
        "{found}"
    );
    assert_eq!(found.probability(&Outcome::Deadlock), p(3, 4), "{found}");
}

/// A time limit takes no part in the choice, nor does a task that is woken for something else.
#[test]
fn who_is_not_chosen_waits_on() {
    let found = of(async || {
        let cell = Arc::new(MVar::empty());
        let (a, b) = (cell.clone(), cell.clone());
        let limited = gossamer::spawn(async move {
            let limit = Duration::from_secs(10);
            a.take().timeout(limit).await.is_ok()
        });
        let other = gossamer::spawn(async move { b.take().await });
        cell.put(()).await;
        let first = limited.await.expect("no panic");
        other.abort();
        first
    });
    for outcome in [true, false] {
        assert_eq!(
            found.probability(&Outcome::Returned(outcome)),
            p(1, 2),
            "{found}"
        );
    }

    let found = of(async || {
        let cell = Arc::new(MVar::empty());
        let (puts, takes) = (cell.clone(), cell.clone());
        let putter = gossamer::spawn(async move { puts.put(()).await });
        let taker = gossamer::spawn(async move { takes.take().await });
        // The end of the putter wakes this task, whose take is still to be chosen.
        let mut take = pin!(cell.take());
        let mut putter = pin!(putter);
        let mut is_put = false;
        let took = std::future::poll_fn(|cx| {
            if !is_put {
                is_put = putter.as_mut().poll(cx).is_ready();
            }
            match take.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(true),
                Poll::Pending if taker.is_finished() => Poll::Ready(false),
                Poll::Pending => Poll::Pending,
            }
        });
        let took = took.timeout(Duration::from_secs(1)).await.unwrap_or(false);
        taker.abort();
        took
    });
    for outcome in [true, false] {
        assert_eq!(
            found.probability(&Outcome::Returned(outcome)),
            p(1, 2),
            "{found}"
        );
    }
}

/// Time moves when nobody can go on, and not before.
#[test]
fn time_is_virtual() {
    let found = of(async || {
        let cell = Arc::new(MVar::empty());
        let theirs = cell.clone();
        let late = gossamer::spawn(async move {
            rest(Duration::from_secs(2)).await;
            theirs.put("late").await;
        });
        let early = cell.take().timeout(Duration::from_secs(1)).await;
        assert!(early.is_err(), "nobody has put so far");
        let taken = cell.take().timeout(Duration::from_secs(5)).await;
        late.await.expect("no panic");
        taken.ok()
    });
    assert_eq!(
        found.probability(&Outcome::Returned(Some("late"))),
        Probability::ONE,
        "{found}"
    );
}

#[test]
fn a_select_takes_what_can_be() {
    let found = of(async || {
        let (a, b) = (Arc::new(MVar::empty()), Arc::new(MVar::empty()));
        let (to_a, to_b) = (a.clone(), b.clone());
        let tasks = [
            gossamer::spawn(async move { to_a.put('a').await }),
            gossamer::spawn(async move { to_b.put('b').await }),
        ];
        let mut first = pin!(a.take());
        let chosen = select! {
            taken = first.as_mut() => taken,
            taken = b.take() => taken,
        };
        let other = match chosen {
            'a' => b.take().await,
            _ => first.await,
        };
        for task in tasks {
            task.await.expect("no panic");
        }
        format!("{chosen}{other}")
    });
    let outcomes: Vec<_> = found.iter().map(|(outcome, ..)| outcome.clone()).collect();
    let expected = ["ab", "ba"].map(|text| Outcome::Returned(text.to_owned()));
    assert_eq!(outcomes, expected, "{found}");
}

#[test]
fn panics_and_programs_without_end() {
    let found = of(async || {
        let cell = Arc::new(MVar::empty());
        let tasks: Vec<_> = (0..2)
            .map(|number| {
                let cell = cell.clone();
                gossamer::spawn(async move { cell.put(number).await })
            })
            .collect();
        assert_eq!(cell.take().await, 0, "the first one was later");
        for task in tasks {
            task.abort();
        }
    });
    assert_eq!(found.iter().count(), 2, "{found}");
    let limits = Limits::new().paths(3);
    let sim = Sim::new().steps_max(100);
    let spins = async || {
        loop {
            yield_now().await;
        }
    };
    let found: Schedules<()> =
        Distribution::of_schedules_within(&limits, sim, spins).expect("it is sound");
    assert_eq!(found.probability(&Outcome::NoEnd), Probability::ONE);
}

#[test]
fn limits_and_faults() {
    let limits = Limits::new().paths(5);
    let found = Distribution::of_schedules_within(&limits, Sim::new(), || dine(3, 1));
    let found = found.expect("it is sound");
    assert_eq!((found.paths(), found.stopped_by()), (5, Some(Limit::Paths)));
    assert!(*found.uncovered() > Probability::ZERO);

    // As many as there are.
    let limits = Limits::new().paths(4);
    let found = Distribution::of_schedules_within(&limits, Sim::new(), || dine(2, 1));
    let found = found.expect("it is sound");
    assert_eq!((found.paths(), found.stopped_by()), (4, None));
    assert_eq!(*found.uncovered(), Probability::ZERO);

    let runs = AtomicUsize::new(0);
    let found = Distribution::of_schedules(async || {
        let run = runs.fetch_add(1, Ordering::Relaxed);
        assert_ne!(run, 1, "planned");
        dine(2, 1).await;
    });
    assert_eq!(found.map(|_| ()), Err(Error::NotDeterministic { draw: 0 }));

    let runs = AtomicUsize::new(0);
    let found = Distribution::of_schedules(|| dine(2 + runs.fetch_add(1, Ordering::Relaxed), 1));
    assert_eq!(found.map(|_| ()), Err(Error::NotDeterministic { draw: 0 }));
}
