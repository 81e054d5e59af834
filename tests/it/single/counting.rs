//! What it does not do: yield, park and wake allocate nothing, and it starts no thread.

use std::process::Command;
use std::rc::Rc;

use allocation_counter::measure;
use gossamer::{Runtime, Wait, local, sync, yield_now};

use super::runtime;

/// Runs a program of so many rounds and counts its allocations.
fn allocations(rt: &Runtime, rounds: u32, program: fn(&Runtime, u32)) -> u64 {
    measure(|| program(rt, rounds)).count_total
}

#[track_caller]
fn assert_rounds_allocate_nothing(program: fn(&Runtime, u32)) {
    let rt = runtime();
    program(&rt, 10);
    let (few, many) = (
        allocations(&rt, 10, program),
        allocations(&rt, 10_000, program),
    );
    assert_eq!(few, many, "10 rounds and 10,000 rounds");
}

#[test]
fn yielding_allocates_nothing() {
    assert_rounds_allocate_nothing(|rt, rounds| {
        rt.block_on(async {
            for _ in 0..rounds {
                yield_now().await;
            }
        });
    });
}

#[test]
fn parking_and_waking_allocate_nothing() {
    assert_rounds_allocate_nothing(|rt, rounds| {
        rt.block_on_local(|scope| {
            let (ping, pong) = (Rc::new(local::MVar::empty()), Rc::new(local::MVar::empty()));
            let (from, to) = (ping.clone(), pong.clone());
            let other = scope.spawn_local(async move {
                for _ in 0..rounds {
                    let token: u32 = from.take().await;
                    to.put(token + 1).await;
                }
            });
            async move {
                for round in 0..rounds {
                    ping.put(round).await;
                    assert_eq!(pong.take().await, round + 1);
                }
                other.await.unwrap();
            }
        });
    });
    assert_rounds_allocate_nothing(|rt, rounds| {
        rt.block_on_local(|scope| {
            let (ping, pong) = (Rc::new(sync::MVar::empty()), Rc::new(sync::MVar::empty()));
            let (from, to) = (ping.clone(), pong.clone());
            let other = scope.spawn_local(async move {
                for _ in 0..rounds {
                    let token: u32 = from.take().await;
                    to.put(token + 1).await;
                }
            });
            async move {
                for round in 0..rounds {
                    ping.put(round).await;
                    assert_eq!(pong.take().await, round + 1);
                }
                other.await.unwrap();
            }
        });
    });
}

/// Many in one line: the line is in the operations themselves.
#[test]
fn lines_allocate_nothing() {
    assert_rounds_allocate_nothing(|rt, rounds| {
        rt.block_on_local(|scope| {
            let mvar = Rc::new(local::MVar::new(0));
            let tasks: [_; 8] = std::array::from_fn(|_| {
                let mvar = mvar.clone();
                scope.spawn_local(async move {
                    for _ in 0..rounds / 10 {
                        let value: u32 = mvar.take().await;
                        yield_now().await;
                        mvar.put(value + 1).await;
                    }
                })
            });
            async move {
                for task in tasks {
                    task.await.unwrap();
                }
            }
        });
    });
}

/// One allocation a task.
#[test]
fn a_task_is_one_allocation() {
    let rt = runtime();
    let program = |tasks: u32| {
        rt.block_on_local(|scope| {
            for _ in 0..tasks {
                drop(scope.spawn_local(async {}));
            }
            yield_now()
        });
    };
    program(100);
    let (few, many) = (
        measure(|| program(10)).count_total,
        measure(|| program(1010)).count_total,
    );
    assert_eq!(many - few, 1000);
}

const CHILD: &str = "GOSSAMER_TEST_CHILD";

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").expect("Linux").count()
}

/// In a process of its own, because other tests have threads.
#[test]
fn it_starts_no_thread() {
    if !cfg!(target_os = "linux") {
        return;
    }
    if std::env::var_os(CHILD).is_some() {
        // The thread that watches the test is no runtime's.
        crate::hanging::watch();
        let before = threads();
        let rt = runtime();
        let mvar = std::sync::Arc::new(sync::MVar::empty());
        let task = rt.spawn({
            let mvar = mvar.clone();
            async move {
                mvar.put(threads()).await;
                yield_now().await;
                threads()
            }
        });
        assert_eq!(mvar.take().wait(), before);
        assert_eq!(rt.block_on(task).unwrap(), before);
        drop(rt);
        assert_eq!(threads(), before);
        return;
    }
    let program = std::env::current_exe().expect("this test");
    let output = Command::new(program)
        .args([
            "--exact",
            "single::counting::it_starts_no_thread",
            "--test-threads=1",
        ])
        .env(CHILD, "1")
        .output()
        .expect("the test runs itself");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
}
