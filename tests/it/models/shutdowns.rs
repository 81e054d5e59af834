//! Shutting down in random states: every future and every stack ends once, late wakers and mvars are harmless.

use std::future::{pending, poll_fn};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use gossamer::{JoinHandle, Model, Runtime, Wait, sync::MVar, yield_now};

use super::{MODELS, Random, rounds, runtime, watched};

/// They take a second or two.
const SHUTDOWNS: u32 = 1_000;

/// So many yields outlast most of these runtimes.
const LONG: u32 = 200;

/// What there is besides the runtime.
#[derive(Default)]
struct Around {
    made: AtomicUsize,
    dropped: AtomicUsize,
    wakers: Mutex<Vec<Waker>>,
    mvars: Vec<MVar<u32>>,
}

/// Is owned by a future or a stack.
struct Owned(Arc<Around>);

impl Owned {
    fn new(around: &Arc<Around>) -> Self {
        around.made.fetch_add(1, Ordering::SeqCst);
        Self(around.clone())
    }

    fn mvar(&self, at: u64) -> &MVar<u32> {
        &self.0.mvars[at as usize]
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

/// Spawns something into a random state.
fn actor(rt: &Arc<Runtime>, around: &Arc<Around>, random: &mut Random) -> JoinHandle<()> {
    let owned = Owned::new(around);
    let (one, two) = (random.below(3), random.below(3));
    match random.below(10) {
        0 => rt.spawn(async move { drop(owned) }),
        1 => rt.spawn(async move {
            let _owned = owned;
            pending().await
        }),
        2 => rt.spawn(async move {
            loop {
                let value = owned.mvar(one).take().await;
                owned.mvar(two).put(value).await;
            }
        }),
        3 => rt.spawn(async move {
            let _owned = owned;
            for _ in 0..LONG {
                yield_now().await;
            }
            pending().await
        }),
        4 => rt.spawn(async move {
            poll_fn(|cx| {
                let mut wakers = owned.0.wakers.lock().expect("no panic");
                wakers.push(cx.waker().clone());
                Poll::Pending
            })
            .await
        }),
        5 => spawns_on(rt, Arc::downgrade(rt), owned),
        6 => rt.spawn_fiber(move || {
            loop {
                let value = owned.mvar(one).take().wait();
                owned.mvar(two).put(value).wait();
            }
        }),
        7 => rt.spawn_fiber(move || {
            let _owned = owned;
            for _ in 0..LONG {
                yield_now().wait();
            }
            pending().wait()
        }),
        8 => rt.spawn_fiber(move || drop(owned)),
        _ => rt.spawn_blocking(move || drop(owned)),
    }
}

/// A task that spawns tasks as long as there is a runtime, and perhaps is the last to let go of it.
fn spawns_on(rt: &Runtime, weak: Weak<Runtime>, owned: Owned) -> JoinHandle<()> {
    rt.spawn(async move {
        for _ in 0..20 {
            let Some(rt) = weak.upgrade() else {
                return;
            };
            let child = Owned::new(&owned.0);
            drop(rt.spawn(async move {
                yield_now().await;
                drop(child);
            }));
            drop(rt);
            yield_now().await;
        }
    })
}

/// Builds a runtime, spawns into it, resizes it, aborts, shuts down, and looks at what is left.
fn shut_down_once(seed: u64) {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let model = MODELS[random.below(5) as usize];
    let around = Arc::new(Around {
        mvars: (0..3).map(|_| MVar::empty()).collect(),
        ..Around::default()
    });
    let rt = Arc::new(runtime(model));
    let handles: Vec<_> = (0..random.below(10))
        .map(|_| actor(&rt, &around, &mut random))
        .collect();
    // A runtime that only we run has to be run, and stays with this thread.
    if model == Model::Single {
        rt.block_on(async {
            for _ in 0..random.below(20) {
                yield_now().await;
            }
        });
    }
    let beside = (model != Model::Single && random.below(2) == 0).then(|| {
        let (weak, around) = (Arc::downgrade(&rt), around.clone());
        let mut random = Random(seed | 1 << 40);
        thread::spawn(move || {
            for _ in 0..5 {
                if let Some(rt) = weak.upgrade() {
                    drop(actor(&rt, &around, &mut random));
                }
            }
        })
    });
    for mvar in &around.mvars {
        mvar.try_put(0).unwrap_or_default();
    }
    if random.below(2) == 0 {
        // Begun, and then forgotten about.
        let mut resize = std::pin::pin!(rt.resize(random.below(8) as usize + 1));
        poll_fn(|cx| {
            drop(resize.as_mut().poll(cx));
            Poll::Ready(())
        })
        .wait();
    }
    for handle in &handles {
        if random.below(3) == 0 {
            handle.abort();
        }
    }
    for _ in 0..random.below(30) {
        thread::yield_now();
    }
    let limit = Duration::from_micros(random.below(200));
    match Arc::try_unwrap(rt) {
        Ok(rt) if random.below(2) == 0 => drop(rt.shutdown_timeout(limit)),
        shared_or_not => drop(shared_or_not),
    }
    if let Some(beside) = beside {
        beside.join().expect("no panic");
    }
    look_at_what_is_left(&around, handles);
}

/// After the end: everything was dropped once, and what is left can be used.
fn look_at_what_is_left(around: &Around, handles: Vec<JoinHandle<()>>) {
    for waker in around.wakers.lock().expect("no panic").drain(..) {
        waker.wake();
    }
    for handle in handles {
        // Every one resolves, whichever way.
        drop(handle.wait());
    }
    // Who shut down may not have waited to the end, or have been a task itself.
    while around.dropped.load(Ordering::SeqCst) < around.made.load(Ordering::SeqCst) {
        thread::yield_now();
    }
    for mvar in &around.mvars {
        mvar.try_take();
        mvar.put(1).wait();
        assert_eq!(mvar.take().wait(), 1, "a mvar is stuck");
    }
    assert_eq!(
        around.dropped.load(Ordering::SeqCst),
        around.made.load(Ordering::SeqCst),
        "something was dropped twice"
    );
}

#[test]
fn many_in_random_states() {
    for seed in 1..=rounds(SHUTDOWNS) {
        watched(&format!("seed {seed}"), move || shut_down_once(seed.into()));
    }
    wait_for_threads();
}

/// Waits for threads that outlive their runtimes, in a process that `xtask` has started for this test alone: memory of
/// a thread that ends while the process does is a leak to AddressSanitizer.
fn wait_for_threads() {
    if std::env::var_os("GOSSAMER_ALONE").is_none() {
        return;
    }
    let is_ours = |task: std::fs::DirEntry| {
        std::fs::read_to_string(task.path().join("comm"))
            .is_ok_and(|name| name.starts_with("gossamer-"))
    };
    watched("its threads end", move || {
        while std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.flatten().any(is_ours)) {
            thread::yield_now();
        }
    });
}
