//! On the virtual clock.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::future::{pending, poll_fn, ready};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use gossamer::local::MVar;
use gossamer::time::{
    Elapsed, Interval, MissedTickBehavior, interval, interval_at, now, sleep as rest, sleep_until,
    timeout, timeout_at,
};
use gossamer::{TimeoutExt, Wait};
use gossamer_sim::{exhaustive, explore, run, spawn, spawn_fiber};

use super::FAR;
use crate::contract::SIM;

const SECOND: Duration = Duration::from_secs(1);

/// Both ways in which a simulation may run its operations.
fn both(seeds: std::ops::Range<u64>, body: impl AsyncFn()) {
    for sim in [SIM, SIM.without_scheduling_points()] {
        sim.explore(seeds.clone(), || body());
    }
}

#[test]
fn a_day_takes_no_time() {
    let really = Instant::now();
    both(0..100, async || {
        let began = now();
        rest(FAR).await;
        assert_eq!(now() - began, FAR);
        assert_eq!(gossamer_sim::now(), FAR);
        sleep_until(began).await;
        rest(Duration::ZERO).await;
        assert_eq!(now() - began, FAR);
        let fiber = spawn_fiber(move || {
            rest(FAR).wait();
            now() - began
        });
        assert_eq!(fiber.await.expect("no panic"), 2 * FAR);
    });
    assert!(really.elapsed() < FAR);
}

/// Before it begins, while it waits, and when it is complete; sooner and later.
#[test]
fn begun_anew() {
    both(0..100, async || {
        let began = now();
        let mut sleep = pin!(rest(SECOND));
        sleep.as_mut().reset(began + 2 * SECOND);
        sleep.as_mut().await;
        assert_eq!(now() - began, 2 * SECOND);
        for (waits, ends) in [(0, 1), (1, 5), (5, 3)] {
            let began = now();
            let until = |seconds: u32| began + seconds * SECOND;
            sleep.as_mut().reset(until(waits));
            let early = sleep.as_mut().timeout_at(until(waits.min(1))).await;
            assert_eq!(early.is_ok(), waits < 2);
            sleep.as_mut().reset(until(ends));
            sleep.as_mut().await;
            assert_eq!(now(), until(ends));
        }
        let began = now();
        let mut every = interval_at(began, 2 * SECOND);
        assert_eq!(every.tick().await, began);
        rest(SECOND).await;
        every.reset();
        assert_eq!(every.tick().await, began + 3 * SECOND);
        assert_eq!(every.tick().await, began + 5 * SECOND);
    });
}

/// Sleepers, timeouts that end in time and those that do not, and some that are aborted, in ten thousand schedules.
#[test]
fn everybody_wakes_at_their_time() {
    explore(0..10_000, || async {
        let began = now();
        let mvar = Rc::new(MVar::empty());
        let done = Rc::new(Cell::new(0));
        let late = |seconds: u32, done: Rc<Cell<u32>>| async move {
            rest(seconds * SECOND).await;
            assert_eq!(now() - began, seconds * SECOND);
            done.set(done.get() + 1);
        };
        let aborted = spawn(late(2, done.clone()));
        let sleepers: Vec<_> = [3, 1, 3, 2]
            .map(|seconds| spawn(late(seconds, done.clone())))
            .into();
        let taker = spawn({
            let mvar = mvar.clone();
            async move {
                let early = timeout(SECOND, mvar.take()).await;
                assert_eq!(early, Err(Elapsed));
                let in_time = mvar.take().timeout_at(began + 3 * SECOND).await;
                assert_eq!(in_time, Ok(7));
                assert_eq!(now() - began, 2 * SECOND);
            }
        });
        rest(SECOND).await;
        aborted.abort();
        assert!(aborted.await.is_err());
        rest(SECOND).await;
        mvar.put(7).await;
        taker.await.expect("no panic");
        for sleeper in sleepers {
            sleeper.await.expect("no panic");
        }
        assert_eq!(done.get(), 4);
    });
}

/// Dropped after any number of polls, a sleep leaves nothing behind: time goes on to the next deadline that is left.
#[test]
fn cancelled_at_every_poll() {
    for polls in 0..4 {
        explore(0..1_000, || async move {
            let began = now();
            let victim = spawn(async move {
                let mut sleep = pin!(timeout(3 * SECOND, rest(5 * SECOND)));
                let mut left = polls;
                poll_fn(|cx| {
                    if left == 0 {
                        return Poll::Ready(());
                    }
                    left -= 1;
                    let polled = sleep.as_mut().poll(cx);
                    cx.waker().wake_by_ref();
                    assert!(polled.is_pending());
                    Poll::Pending
                })
                .await;
            });
            let kept = spawn(rest(7 * SECOND));
            victim.await.expect("no panic");
            assert_eq!(now(), began, "nobody waits for a moment any more");
            kept.await.expect("no panic");
            assert_eq!(now() - began, 7 * SECOND);
        });
    }
}

#[test]
fn equal_deadlines_come_together() {
    let orders = RefCell::new(HashSet::new());
    let explored = exhaustive(100_000, || async {
        let order = Rc::new(RefCell::new(String::new()));
        let tasks = [("a", 2), ("b", 2)].map(|(name, seconds)| {
            let order = order.clone();
            spawn(async move {
                rest(seconds * SECOND).await;
                order.borrow_mut().push_str(name);
            })
        });
        for task in tasks {
            task.await.expect("no panic");
        }
        orders.borrow_mut().insert(order.take());
    });
    assert!(explored.complete);
    assert_eq!(
        orders.into_inner(),
        HashSet::from(["ab".into(), "ba".into()])
    );
}

/// Also where every operation yields before it takes effect.
#[test]
fn a_ready_operation_wins_over_a_deadline_that_has_passed() {
    both(0..1_000, async || {
        let past = now();
        rest(SECOND).await;
        let mvar = MVar::new(7);
        assert_eq!(timeout(Duration::ZERO, ready(1)).await, Ok(1));
        assert_eq!(timeout_at(past, mvar.take()).await, Ok(7));
        assert_eq!(timeout_at(past, mvar.take()).await, Err(Elapsed));
        assert_eq!(mvar.take().timeout(Duration::ZERO).await, Err(Elapsed));
        assert_eq!(now() - past, SECOND);
        mvar.put(8).await;
        assert_eq!(
            mvar.try_take(),
            Some(8),
            "a timeout has taken it and lost it"
        );
    });
}

/// What yields inside the operation wakes somebody else, who does not pass it on.
#[test]
fn the_time_is_over_whoever_is_woken() {
    both(0..100, async || {
        let began = now();
        let mvar = MVar::<i32>::empty();
        let mut take = pin!(mvar.take());
        let deaf = poll_fn(|_| take.as_mut().poll(&mut Context::from_waker(Waker::noop())));
        assert_eq!(timeout(SECOND, deaf).await, Err(Elapsed));
        assert_eq!(now() - began, SECOND);
    });
}

/// Longer ago than this process exists.
#[test]
fn an_interval_that_began_long_ago_keeps_in_step() {
    both(0..10, async || {
        let first = now().checked_sub(FAR + SECOND / 3).expect("a day ago");
        let mut every = interval_at(first, SECOND);
        assert_eq!(every.tick().await, first);
        assert_eq!(every.tick().await, first + FAR + SECOND);
    });
}

/// A message that comes just when the time is over is taken or left, never lost.
#[test]
fn a_timeout_loses_no_message() {
    let outcomes = RefCell::new(HashSet::new());
    explore(0..10_000, || async {
        let mvar = Rc::new(MVar::empty());
        let taker = spawn({
            let mvar = mvar.clone();
            async move { mvar.take().timeout(SECOND).await }
        });
        let putter = spawn({
            let mvar = mvar.clone();
            async move {
                rest(SECOND).await;
                mvar.put(7).await;
            }
        });
        putter.await.expect("no panic");
        let taken = taker.await.expect("no panic").ok();
        assert_eq!(taken.or(mvar.try_take()), Some(7));
        outcomes.borrow_mut().insert(taken);
    });
    assert_eq!(outcomes.into_inner().len(), 2, "both outcomes are possible");
}

#[test]
fn absurd_times_are_never() {
    both(0..10, async || {
        let mut never = pin!(rest(Duration::MAX));
        let mut nearly = pin!(rest(Duration::from_nanos(u64::MAX - 1)));
        assert_eq!(timeout(FAR, never.as_mut()).await, Err(Elapsed));
        assert_eq!(timeout(FAR, nearly.as_mut()).await, Err(Elapsed));
        assert_eq!(
            timeout(FAR, timeout(Duration::MAX, pending::<()>())).await,
            Err(Elapsed)
        );
        let mut every = interval(Duration::MAX);
        assert_eq!(every.tick().timeout(FAR).await, Err(Elapsed));
        let mut once = interval_at(now(), Duration::MAX);
        assert_eq!(once.tick().await, now());
        assert_eq!(once.tick().timeout(FAR).await, Err(Elapsed));
    });
}

/// With nobody but one who never wakes, nothing will ever happen.
#[test]
fn never_is_a_deadlock() {
    let failure = run(0, || rest(Duration::MAX)).expect_err("nothing can happen");
    assert!(failure.to_string().contains("deadlock"), "{failure}");
}

async fn ticks(mut every: Interval, began: Instant, count: usize) -> Vec<(u64, u64)> {
    let mut seen = Vec::new();
    for _ in 0..count {
        let due = every.tick().await;
        seen.push(((due - began).as_secs(), (now() - began).as_secs()));
        if seen.len() == 2 {
            // Three ticks are missed, and half a fourth.
            rest(Duration::from_millis(3_500)).await;
        }
    }
    seen
}

#[test]
fn missed_ticks() {
    let cases = [
        (
            MissedTickBehavior::Skip,
            [(1, 1), (2, 2), (3, 5), (6, 6), (7, 7)],
        ),
        (
            MissedTickBehavior::Burst,
            [(1, 1), (2, 2), (3, 5), (4, 5), (5, 5)],
        ),
        (
            MissedTickBehavior::Delay,
            [(1, 1), (2, 2), (3, 5), (6, 6), (7, 7)],
        ),
    ];
    for (missed, expected) in cases {
        both(0..10, async || {
            let began = now();
            let seen = ticks(interval(SECOND).missed(missed), began, 5).await;
            assert_eq!(seen, expected, "{missed:?}");
            let in_step = (now() - began).subsec_millis() == 0;
            assert_eq!(in_step, missed == MissedTickBehavior::Skip, "{missed:?}");
        });
    }
}

/// A tick that is dropped unfinished has taken nothing.
#[test]
fn a_dropped_tick_is_not_missed() {
    both(0..100, async || {
        let began = now();
        let mut every = interval(SECOND);
        assert_eq!(every.tick().timeout(SECOND / 2).await, Err(Elapsed));
        assert_eq!(every.tick().await, began + SECOND);
        assert_eq!(every.tick().await, began + 2 * SECOND);
        assert_eq!(every.period(), SECOND);
    });
}

#[test]
fn an_interval_of_zero_is_refused() {
    for refused in [(|| interval(Duration::ZERO)) as fn() -> Interval, || {
        interval_at(Instant::now(), Duration::ZERO)
    }] {
        let panic = std::panic::catch_unwind(refused).expect_err("it is refused");
        let text = panic.downcast_ref::<&str>().expect("it says something");
        assert!(text.contains("above zero"), "{text}");
    }
}

/// An operation that has outlived its simulation is nobody's; polled elsewhere it goes on there.
#[test]
fn a_timer_outlives_its_simulation() {
    let kept = RefCell::new(None);
    run(0, || async {
        let mut sleep = Box::pin(sleep_until(now() + Duration::from_millis(1)));
        poll_fn(|cx| {
            assert!(sleep.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        *kept.borrow_mut() = Some(sleep);
    })
    .expect("nothing fails");
    kept.take().expect("it was kept").wait();
    run(0, || rest(SECOND)).expect("the next simulation has a clock of its own");
}
