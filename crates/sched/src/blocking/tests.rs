//! Threads that come and go, and calls that are not begun.

use gossamer_core::platform::thread;
use gossamer_core::wait::Wait;

use super::*;

#[test]
fn idle_threads_go_away() {
    let blocking = Blocking::with_options(BlockingOptions {
        keep_for: Duration::from_millis(1),
        ..BlockingOptions::default()
    });
    let jobs: Vec<_> = (0..8)
        .map(|number| blocking.spawn(move || number, Location::caller()))
        .collect();
    let sum: i32 = jobs
        .into_iter()
        .map(|job| job.wait().expect("no panic"))
        .sum();
    assert_eq!(sum, 28);
    while blocking.threads() > 0 {
        thread::yield_now();
    }
}

#[test]
fn two_threads_that_are_not_to_be_had() {
    let blocking = Blocking::default();
    blocking.shared.state.lock().threads = BLOCKING_MAX;
    let calls = [1, 2].map(|number| blocking.spawn(move || number, Location::caller()));
    blocking.shared.state.lock().threads = 2;
    assert_eq!(blocking.not_started().len(), 0);
    assert_eq!(blocking.not_started().len(), 2);
    for call in calls {
        assert!(call.wait().is_err());
    }
}

#[test]
fn no_thread_is_an_error() {
    let mut threads = ThreadOptions::default();
    threads.set_name(|| "no name has a \0".to_string());
    let blocking = Blocking::with_options(BlockingOptions {
        threads,
        ..BlockingOptions::default()
    });
    let error = blocking.try_spawn(|| (), Location::caller());
    let error = error.expect_err("there is no thread");
    assert!(error.to_string().contains("zero byte"), "{error}");
    assert_eq!(blocking.threads(), 0);
}

#[test]
fn calls_that_have_not_begun_are_cancelled_with_the_runtime() {
    let blocking = Blocking::default();
    blocking.shared.state.lock().threads = BLOCKING_MAX;
    let never = blocking.spawn(|| (), Location::caller());
    blocking.shared.state.lock().threads = 0;
    drop(blocking);
    assert!(never.wait().is_err());
}
