//! Tests of all schedules, by the attribute.

use std::sync::Arc;

use gossamer::sim::Sim;
use gossamer::sync::MVar;
use gossamer::yield_now;

use super::outcomes::dine;

#[gossamer::test(sim, exhaustive)]
async fn all_schedules_are_run() {
    let cell = Arc::new(MVar::new(0));
    let theirs = cell.clone();
    let task = gossamer::spawn(async move { theirs.put(theirs.take().await + 1).await });
    cell.put(cell.take().await + 1).await;
    task.await.expect("no panic");
    assert_eq!(cell.take().await, 2);
}

#[gossamer::test(sim, exhaustive)]
#[should_panic(expected = "deadlock")]
async fn the_first_that_fails() {
    dine(3, 1).await;
}

#[gossamer::test(sim, shortest)]
#[should_panic(expected = "deadlock")]
async fn the_simplest_that_fails() {
    dine(3, 1).await;
}

#[gossamer::test(sim = Sim::new().steps_max(60), shortest)]
#[should_panic(expected = "there are more")]
async fn too_many_schedules() {
    let yields = || {
        gossamer::spawn(async {
            for _ in 0..12 {
                yield_now().await;
            }
        })
    };
    for task in [yields(), yields()] {
        task.await.expect("no panic");
    }
}

#[test]
fn a_test_tells_the_simplest_schedule() {
    let says = |test: fn()| {
        let payload = std::panic::catch_unwind(test).expect_err("it fails");
        let text = payload.downcast::<String>().expect("a text");
        text.lines().last().expect("a line").to_owned()
    };
    let again = |choices| {
        format!(
            "to run it again: Sim::new().only_operations().replay(&sim::choices(\"{choices}\"), …)"
        )
    };
    assert_eq!(says(the_first_that_fails), again("0/3 1/3 1/2"));
    assert_eq!(says(the_simplest_that_fails), again("0/3 2/3 1/2"));
}
