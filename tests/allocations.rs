//! Twenty tasks that yield in a loop on one worker allocate nothing (the seed's 13.94 GiB).
//!
//! A binary of its own with a single test: its allocator counts what all threads allocate, those of a
//! pool, too.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use gossamer::{JoinHandle, Model, Runtime, yield_now};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: the system's allocator does everything; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // Relaxed: a count; the joins order what is compared.
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the promises of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the promises of `dealloc`, and `alloc` above is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

const TASKS: u64 = 20;

/// What is allocated while the tasks yield so often each, their spawns and joins included.
fn allocations(rt: &Runtime, times: u32) -> u64 {
    // Relaxed: a count, as above.
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let tasks: Vec<JoinHandle<()>> = (0..TASKS)
        .map(|_| {
            rt.spawn(async move {
                for _ in 0..times {
                    yield_now().await;
                }
            })
        })
        .collect();
    rt.block_on(async {
        for task in tasks {
            task.await.expect("no panic there");
        }
    });
    // Relaxed: a count, as above.
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

#[test]
fn twenty_tasks_yielding_on_one_worker() {
    for model in [Model::Single, Model::Pool { workers: 1 }] {
        let rt = Runtime::builder().model(model).build();
        let rt = rt.expect("a runtime can be built");
        allocations(&rt, 10);
        let (few, many) = (allocations(&rt, 10), allocations(&rt, 10_000));
        // Whoever is joined too early is waited for, which may take a box a task.
        assert!(
            many <= few + TASKS,
            "{model}: {few} allocations for 200 yields, {many} for 200,000"
        );
    }
}
