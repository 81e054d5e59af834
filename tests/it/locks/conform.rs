//! What each lock and cell promises, to every pair of task, fiber and thread, in every world.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use gossamer::channel::oneshot;
use gossamer::sync::{
    Barrier, Condvar, Event, FairMutex, IVar, Mutex, OnceCell, RwLock, Semaphore,
};
use gossamer::yield_now;

use crate::conform::{Kind, World, everywhere};

// So many rounds for each model and pair of kinds, so many schedules for each pair.
everywhere! {
    one_at_a_time: 10, 1_250;
    one_at_a_time_in_order: 10, 1_250;
    many_read_or_one_writes: 10, 1_250;
    a_condition_passes_values_on: 10, 1_250;
    so_many_at_a_time: 10, 1_250;
    all_meet: 10, 1_250;
    an_event_lets_all_go: 10, 1_250;
    a_value_is_made_once: 10, 1_250;
    a_variable_is_assigned_once: 10, 1_250;
    a_message_comes_once: 10, 1_250;
    giving_up_leaves_nothing_behind: 10, 1_250;
    an_abort_passes_the_lock_on: 10, 1_250;
}

/// Runs bodies as actors of the two kinds in turn, to their end.
async fn all<F>(
    world: &World,
    kinds: [Kind; 2],
    bodies: impl IntoIterator<Item = F>,
) -> Vec<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let actors: Vec<_> = bodies
        .into_iter()
        .zip(kinds.into_iter().cycle())
        .map(|(body, kind)| world.run(kind, body))
        .collect();
    let mut outputs = Vec::new();
    for actor in actors {
        outputs.push(actor.await.expect("no panic"));
    }
    outputs
}

/// Whoever is inside alone.
#[derive(Default)]
struct Alone(AtomicUsize);

impl Alone {
    async fn inside(&self, stands_still: bool) {
        assert_eq!(self.0.fetch_add(1, Ordering::Relaxed), 0, "not alone");
        if stands_still {
            yield_now().await;
        }
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn one_at_a_time(world: World, one: Kind, two: Kind, _: u64) {
    let primitive = Arc::new((Mutex::new(0), Alone::default()));
    let bodies = (0..4).map(|number| {
        let primitive = primitive.clone();
        async move {
            for round in 0..3 {
                let mut count = primitive.0.lock().await;
                primitive.1.inside((number + round) % 2 == 0).await;
                *count += 1;
            }
        }
    });
    all(&world, [one, two], bodies).await;
    assert_eq!(*primitive.0.lock().await, 12);
}

async fn one_at_a_time_in_order(world: World, one: Kind, two: Kind, _: u64) {
    let primitive = Arc::new((FairMutex::new(0), Alone::default()));
    let bodies = (0..3).map(|number| {
        let primitive = primitive.clone();
        async move {
            for round in 0..3 {
                let mut count = primitive.0.lock().await;
                primitive.1.inside((number + round) % 2 == 0).await;
                *count += 1;
            }
        }
    });
    all(&world, [one, two], bodies).await;
    assert_eq!(*primitive.0.lock().await, 9);
}

async fn many_read_or_one_writes(world: World, one: Kind, two: Kind, _: u64) {
    let primitive = Arc::new(RwLock::new((0, 0)));
    let bodies = (0..4).map(|number| {
        let primitive = primitive.clone();
        async move {
            for _ in 0..2 {
                if number < 2 {
                    let mut pair = primitive.write().await;
                    pair.0 += 1;
                    yield_now().await;
                    pair.1 += 1;
                } else {
                    let pair = primitive.read().await;
                    let seen = *pair;
                    yield_now().await;
                    assert_eq!((seen.0, *pair), (seen.1, seen), "changed while it was read");
                }
            }
        }
    });
    all(&world, [one, two], bodies).await;
    assert_eq!(*primitive.try_read().expect("nobody writes"), (4, 4));
    assert!(primitive.try_write().is_ok());
}

async fn a_condition_passes_values_on(world: World, one: Kind, two: Kind, _: u64) {
    let primitive = Arc::new((Mutex::new(None), Condvar::new(), Condvar::new()));
    let bodies = (0..4).map(|number| {
        let primitive = primitive.clone();
        async move {
            let (value, filled, emptied) = &*primitive;
            let mut seen = value.lock().await;
            if number % 2 == 0 {
                while seen.is_some() {
                    seen = emptied.notified(seen).await;
                }
                *seen = Some(number);
                filled.notify_one();
                None
            } else {
                loop {
                    if let Some(taken) = seen.take() {
                        emptied.notify_one();
                        return Some(taken);
                    }
                    seen = filled.notified(seen).await;
                }
            }
        }
    });
    let mut taken: Vec<_> = all(&world, [one, two], bodies)
        .await
        .into_iter()
        .flatten()
        .collect();
    taken.sort_unstable();
    assert_eq!(taken, [0, 2]);
}

async fn so_many_at_a_time(world: World, one: Kind, two: Kind, _: u64) {
    let primitive = Arc::new((Semaphore::new(3), AtomicUsize::new(0)));
    let bodies = (0..4).map(|number| {
        let primitive = primitive.clone();
        async move {
            for round in 0..2 {
                let wants = 1 + (number + round) % 3;
                let permit = primitive.0.acquire_many(wants).await.expect("it is open");
                assert_eq!(permit.num_permits(), wants);
                let inside = primitive.1.fetch_add(wants, Ordering::Relaxed) + wants;
                assert!(inside <= 3, "{inside} permits of 3");
                yield_now().await;
                primitive.1.fetch_sub(wants, Ordering::Relaxed);
            }
        }
    });
    all(&world, [one, two], bodies).await;
    assert_eq!(primitive.0.available_permits(), 3);
}

async fn all_meet(world: World, one: Kind, two: Kind, _: u64) {
    let primitive = Arc::new((Barrier::new(3), AtomicUsize::new(0)));
    let bodies = (0..3).map(|_| {
        let primitive = primitive.clone();
        async move {
            let mut led = 0;
            for round in 1..3 {
                primitive.1.fetch_add(1, Ordering::Relaxed);
                led += usize::from(primitive.0.arrive().await.is_leader());
                let come = primitive.1.load(Ordering::Relaxed);
                assert!(come >= 3 * round, "{come} have come in round {round}");
            }
            led
        }
    });
    let led = all(&world, [one, two], bodies).await;
    assert_eq!(led.into_iter().sum::<usize>(), 2, "one leads in each round");
}

async fn an_event_lets_all_go(world: World, one: Kind, two: Kind, _: u64) {
    let primitive = Arc::new((Event::new(), AtomicUsize::new(0)));
    let bodies = (0..4).map(|number| {
        let primitive = primitive.clone();
        async move {
            if number == 3 {
                yield_now().await;
                primitive.1.store(7, Ordering::Relaxed);
                primitive.0.set();
            } else {
                primitive.0.ready().await;
                assert_eq!(primitive.1.load(Ordering::Relaxed), 7);
            }
        }
    });
    all(&world, [one, two], bodies).await;
    assert!(primitive.0.is_set());
}

async fn a_value_is_made_once(world: World, one: Kind, two: Kind, _: u64) {
    let primitive = Arc::new((OnceCell::new(), AtomicUsize::new(0)));
    let bodies = (0..3).map(|number| {
        let primitive = primitive.clone();
        async move {
            let make = async || {
                primitive.1.fetch_add(1, Ordering::Relaxed);
                yield_now().await;
                number
            };
            *primitive.0.get_or_init(make).await
        }
    });
    let got = all(&world, [one, two], bodies).await;
    assert!(got.iter().all(|value| *value == got[0]), "{got:?}");
    assert_eq!(primitive.1.load(Ordering::Relaxed), 1);
}

async fn a_variable_is_assigned_once(world: World, one: Kind, two: Kind, _: u64) {
    let primitive = Arc::new(IVar::new());
    let bodies = (0..4).map(|number| {
        let primitive = primitive.clone();
        async move {
            if number < 2 {
                primitive.put(number).map_err(|back| back.0)
            } else {
                assert!(*primitive.read().await < 2);
                Ok(())
            }
        }
    });
    let put = all(&world, [one, two], bodies).await;
    let refused: Vec<_> = put.into_iter().filter_map(Result::err).collect();
    assert_eq!(refused, [1 - primitive.try_read().expect("it is assigned")]);
}

async fn a_message_comes_once(world: World, one: Kind, two: Kind, _: u64) {
    let (tx, rx) = oneshot::<usize>();
    let (closed, never) = oneshot::<usize>();
    let receives = world.run(one, async move { (rx.await, never.await) });
    let sends = world.run(two, async move {
        yield_now().await;
        drop(closed);
        tx.send(7)
    });
    let (received, never) = receives.await.expect("no panic");
    assert_eq!((received, never.is_err()), (Ok(7), true));
    assert!(sends.await.expect("no panic").is_ok());
}

/// Polls an operation twice at most, lets others run in between, and drops it.
async fn polled_twice<O: Future>(operation: O) -> Option<O::Output> {
    let mut operation = pin!(operation);
    for _ in 0..2 {
        let polled = poll_fn(|cx| Poll::Ready(operation.as_mut().poll(cx))).await;
        if let Poll::Ready(output) = polled {
            return Some(output);
        }
        yield_now().await;
    }
    None
}

async fn giving_up_leaves_nothing_behind(world: World, one: Kind, two: Kind, _: u64) {
    let primitive = Arc::new((
        Mutex::new(0),
        RwLock::new(0),
        Semaphore::new(2),
        Barrier::new(9),
        Event::new(),
    ));
    let bodies = (0..4).map(|number| {
        let primitive = primitive.clone();
        async move {
            for round in 0..5 {
                match (number + round) % 5 {
                    0 => drop(polled_twice(primitive.0.lock()).await),
                    1 => drop(polled_twice(primitive.1.write()).await),
                    2 => drop(polled_twice(primitive.2.acquire_many(2)).await),
                    3 => assert!(polled_twice(primitive.3.arrive()).await.is_none()),
                    _ => {
                        drop(polled_twice(primitive.1.read()).await);
                        assert!(polled_twice(primitive.4.ready()).await.is_none());
                    }
                }
            }
        }
    });
    all(&world, [one, two], bodies).await;
    assert!(primitive.0.try_lock().is_ok());
    assert!(primitive.1.try_write().is_ok());
    assert_eq!(primitive.2.available_permits(), 2);
    assert!(
        format!("{:?}", primitive.3).contains("come: 0"),
        "{:?}",
        primitive.3
    );
}

async fn an_abort_passes_the_lock_on(world: World, one: Kind, two: Kind, _: u64) {
    if one == Kind::Thread {
        // A thread cannot be aborted.
        return;
    }
    let primitive = Arc::new((Mutex::new(0), Semaphore::new(1)));
    let body = |primitive: Arc<(Mutex<u32>, Semaphore)>| async move {
        let _permit = primitive.1.acquire().await;
        *primitive.0.lock().await += 1;
        yield_now().await;
    };
    let (held, permit) = (primitive.0.lock().await, primitive.1.acquire().await);
    let aborted = world.run(one, body(primitive.clone()));
    let next = world.run(two, body(primitive.clone()));
    yield_now().await;
    drop((held, permit));
    aborted.abort();
    next.await.expect("no panic");
    let was_first = aborted.await.is_ok();
    let count = *primitive.0.lock().await;
    assert!(count == 2 || count == 1 && !was_first, "{count}");
    assert_eq!(primitive.1.available_permits(), 1);
}
