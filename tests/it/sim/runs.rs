//! The runs of one exploration, which share a runtime, and nothing that a program could tell.

use std::future::pending;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gossamer::experiment::{Distribution, Outcome};
use gossamer::sync::MVar;
use gossamer::time::sleep as rest;
use gossamer::{Handle, JoinHandle, sim};

/// Two tasks of two operations each, which do not know of each other: six schedules.
async fn two_tasks() {
    let tasks: Vec<JoinHandle<()>> = (0..2)
        .map(|_| {
            let cell = Arc::new(MVar::new(()));
            gossamer::spawn(async move {
                cell.take().await;
                cell.put(()).await;
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("nobody panics");
    }
}

/// Keeps something of each run for the next one, which looks at it; how often.
fn keep<T: Send>(make: impl Fn() -> T, look: impl Fn(T)) -> usize {
    let kept = Mutex::new(Vec::new());
    let looks = Mutex::new(0);
    let lock = || kept.lock().unwrap_or_else(PoisonError::into_inner);
    let found = Distribution::of_schedules(async || {
        for one in mem::take(&mut *lock()) {
            look(one);
            *looks.lock().expect("nobody panics") += 1;
        }
        lock().push(make());
        two_tasks().await;
    });
    let found = found.expect("it depends on its schedule alone");
    assert_eq!(found.paths(), 6, "{found}");
    assert_eq!(found.iter().len(), 1, "{found}");
    assert!(matches!(
        found.iter().next(),
        Some((Outcome::Returned(()), ..))
    ));
    looks.into_inner().expect("nobody panics")
}

#[test]
fn a_task_ends_with_its_run() {
    let looked = keep(
        || gossamer::spawn(pending::<()>()),
        |task| {
            assert!(task.is_finished());
            task.abort();
        },
    );
    assert_eq!(looked, 5);
}

#[test]
fn a_handle_is_of_one_run() {
    let looked = keep(Handle::current, |handle| {
        let refused = handle.spawn(async {});
        assert!(refused.is_finished());
    });
    assert_eq!(looked, 5);
}

#[test]
fn time_begins_anew() {
    let found = Distribution::of_schedules(async || {
        let began = sim::now();
        two_tasks().await;
        rest(Duration::from_secs(60)).await;
        (began, sim::now())
    });
    let found = found.expect("it depends on its schedule alone");
    let minute = Outcome::Returned((Duration::ZERO, Duration::from_secs(60)));
    assert_eq!(found.iter().len(), 1, "{found}");
    assert!(found.schedule(&minute).is_some(), "{found}");
}
