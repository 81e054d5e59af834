//! Static tasks, in both forms of their words: each test runs on atomic ones and on plain ones behind a section.
#![cfg(not(any(loom, shuttle)))]

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use gossamer_core::fixed::{Atomic, Pool, Ran, Section, Slot, Word};
use gossamer_core::platform::thread;

use self::patience::Patience;

#[path = "../../../../tests/patience.rs"]
mod patience;
mod section;

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;
type Tasks<W, const N: usize> = Pool<Task, N, W>;
/// What a task finds its pool by.
type Known<W, const N: usize> = Arc<OnceLock<&'static Tasks<W, N>>>;
type Log = Arc<Mutex<Vec<usize>>>;

/// A pool whose tasks `task` makes, of their number.
fn pool<W: Word, const N: usize, F>(task: impl Fn(usize, Known<W, N>) -> F) -> &'static Tasks<W, N>
where
    F: Future<Output = ()> + Send + 'static,
{
    let known = Known::default();
    let slot = |number| Slot::new(Box::pin(task(number, known.clone())) as Task);
    let pool: &_ = Box::leak(Box::new(Pool::new(std::array::from_fn(slot))));
    assert!(known.set(pool).is_ok());
    pool
}

/// Waits for a signal to the task that is polled. No task is polled in a section.
async fn signalled<W: Word, const N: usize>(known: &Known<W, N>) {
    let pool = known.get().expect("set");
    poll_fn(|cx| {
        assert!(!section::is_inside());
        match pool.take_signal(pool.number(cx)) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
}

/// A pool whose tasks note each signal, for ever.
fn noting<W: Word, const N: usize>(log: &Log) -> &'static Tasks<W, N> {
    pool(|me, known| {
        let log = log.clone();
        async move {
            loop {
                signalled(&known).await;
                log.lock().expect("no panic").push(me);
            }
        }
    })
}

fn noted(log: &Log) -> Vec<usize> {
    std::mem::take(&mut log.lock().expect("no panic"))
}

fn panics(act: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(act)).is_err()
}

fn tasks_run_in_the_order_in_which_they_were_woken<W: Word>() {
    let log = Log::default();
    let pool = noting::<W, 5>(&log);
    assert_eq!(pool.run(), Ran::Idle);
    for order in [&[3][..], &[4, 0, 2], &[2, 1, 2, 0], &[]] {
        order.iter().for_each(|&task| pool.signal(task));
        assert_eq!(pool.run(), Ran::Idle);
        let mut expected = order.to_vec();
        expected.dedup();
        if order == [2, 1, 2, 0] {
            // One that is queued keeps its place, and finds two signals.
            expected = vec![2, 2, 1, 0];
        }
        assert_eq!(noted(&log), expected);
    }
}

fn a_signal_before_the_first_run_is_kept<W: Word>() {
    let log = Log::default();
    let pool = noting::<W, 3>(&log);
    pool.signal(2);
    pool.run();
    assert_eq!(noted(&log), [2]);
}

fn a_token_goes_round<W: Word>() {
    const HOPS: usize = 1_000;
    let log = Log::default();
    let pool = pool::<W, 7, _>(|me, known| {
        let log = log.clone();
        async move {
            loop {
                signalled(&known).await;
                let hops = log.lock().map(|mut log| {
                    log.push(me);
                    log.len()
                });
                if hops.expect("no panic") > HOPS {
                    return;
                }
                known.get().expect("set").signal((me + 1) % 7);
            }
        }
    });
    pool.signal(0);
    assert_eq!(pool.run(), Ran::Idle);
    let expected: Vec<usize> = (0..=HOPS).map(|hop| hop % 7).collect();
    assert_eq!(noted(&log), expected);
}

fn a_task_that_wakes_itself_runs_again_after_the_others<W: Word>() {
    let log = Log::default();
    let pool = pool::<W, 3, _>(|me, _| {
        let (log, mut turns) = (log.clone(), 0);
        poll_fn(move |cx: &mut Context<'_>| {
            log.lock().expect("no panic").push(me);
            turns += 1;
            if turns > me {
                return Poll::Ready(());
            }
            // Twice: the second finds it queued.
            cx.waker().wake_by_ref();
            let another = cx.waker().clone();
            another.wake();
            Poll::Pending
        })
    });
    assert_eq!(pool.run(), Ran::Done);
    assert_eq!(noted(&log), [0, 1, 2, 1, 2, 2]);
    pool.signal(1);
    assert_eq!(pool.run(), Ran::Done);
    assert_eq!(noted(&log), [], "it has finished");
}

fn a_panic_leaves_the_others_queued<W: Word>() {
    let log = Log::default();
    let pool = pool::<W, 4, _>(|me, known| {
        let log = log.clone();
        async move {
            signalled(&known).await;
            assert!(me != 2, "planned");
            log.lock().expect("no panic").push(me);
        }
    });
    pool.run();
    (0..4).rev().for_each(|task| pool.signal(task));
    assert!(panics(|| {
        pool.run();
    }));
    assert_eq!(noted(&log), [3]);
    // Woken after those that were left.
    assert_eq!(pool.run(), Ran::Idle);
    assert_eq!(noted(&log), [1, 0]);
}

fn what_must_not_be_panics<W: Word>() {
    let pool = pool::<W, 1, _>(|_, known: Known<W, 1>| async move {
        let pool = known.get().expect("set");
        assert!(panics(|| {
            pool.run();
        }));
        signalled(&known).await;
    });
    pool.run();
    assert!(panics(|| pool.signal(1)), "no such task");
    let foreign = Context::from_waker(Waker::noop());
    assert!(panics(|| {
        pool.number(&foreign);
    }));
    (0..u16::MAX).for_each(|_| pool.signal(0));
    assert!(panics(|| pool.signal(0)), "no more fit");
    assert!(!section::is_inside());
    assert_eq!(pool.run(), Ran::Done);
}

/// Threads signal and wake, and the runner sleeps never: a wake that is lost leaves a task waiting for ever.
fn no_wake_from_another_thread_is_lost<W: Word>() {
    const EACH: usize = 3_000;
    let wakers = Arc::new(Mutex::new(Vec::new()));
    let pool = pool::<W, 3, _>(|me, known| {
        let (wakers, mut left) = (wakers.clone(), EACH);
        poll_fn(move |cx: &mut Context<'_>| {
            if left == EACH {
                let mut wakers = wakers.lock().expect("no panic");
                wakers.push(cx.waker().clone());
            }
            let pool = known.get().expect("set");
            while left > 0 && pool.take_signal(me) {
                left -= 1;
            }
            match left {
                0 => Poll::Ready(()),
                _ => Poll::Pending,
            }
        })
    });
    pool.run();
    let woken = wakers.lock().expect("no panic").clone();
    thread::scope(|scope| {
        scope
            .spawn(|| (0..EACH).for_each(|_| [0, 1, 2].iter().for_each(|&task| pool.signal(task))));
        scope.spawn(|| (0..EACH).for_each(|_| woken.iter().for_each(Waker::wake_by_ref)));
        let mut patience = Patience::new(Duration::from_secs(20));
        while pool.run() != Ran::Done {
            assert!(!patience.is_over(), "a wake was lost");
            thread::yield_now();
        }
    });
}

/// The tests above, for one form of words.
macro_rules! tests {
    ($form:ident, $word:ty: $($test:ident)*) => {
        mod $form {
            $(
                #[test]
                fn $test() {
                    super::$test::<$word>();
                }
            )*
        }
    };
    ($($test:ident)*) => {
        tests!(atomic, gossamer_core::fixed::Atomic: $($test)*);
        tests!(section_of_one_core, gossamer_core::fixed::Section: $($test)*);
    };
}

tests! {
    tasks_run_in_the_order_in_which_they_were_woken
    a_signal_before_the_first_run_is_kept
    a_token_goes_round
    a_task_that_wakes_itself_runs_again_after_the_others
    a_panic_leaves_the_others_queued
    what_must_not_be_panics
    no_wake_from_another_thread_is_lost
}

/// How many sections a signal, a wake and taking a signal enter.
fn sections<W: Word>() -> [usize; 3] {
    let waker = Arc::new(OnceLock::new());
    let pool = pool::<W, 1, _>(|_, _| {
        let waker = waker.clone();
        poll_fn(move |cx: &mut Context<'_>| {
            waker.get_or_init(|| cx.waker().clone());
            Poll::Pending
        })
    });
    pool.run();
    let entered = |act: &dyn Fn()| {
        let before = section::entered();
        act();
        section::entered() - before
    };
    let waker = waker.get().expect("polled");
    [
        entered(&|| pool.signal(0)),
        entered(&|| waker.wake_by_ref()),
        entered(&|| assert!(pool.take_signal(0))),
    ]
}

#[test]
fn each_step_is_one_section_or_none() {
    assert_eq!(sections::<Section>(), [1, 1, 1]);
    assert_eq!(sections::<Atomic>(), [0, 0, 0]);
}
