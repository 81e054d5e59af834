//! Wakers whose clone or drop does something: neither runs under a lock of ours, nor harms what was granted.
#![cfg(not(any(loom, shuttle)))]

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

use gossamer_sync::local::{MVar, Mutex, MutexGuard};

/// What the clone lets go of, and whether the next one that is dropped panics.
#[derive(Default)]
struct Held(RefCell<Option<MutexGuard<'static, u32>>>, Cell<bool>);

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, |_| (), |_| (), drop_waker);

/// # Safety
/// As `clone`.
unsafe fn drop_waker(data: *const ()) {
    // SAFETY: leaked, so it is alive; passed on to the caller.
    let held = unsafe { &*data.cast::<Held>() };
    if held.1.take() {
        std::panic::resume_unwind(Box::new("planned"));
    }
}

/// # Safety
/// `data` is a leaked [`Held`] of this thread.
unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: leaked, so it is alive; passed on to the caller.
    let held = unsafe { &*data.cast::<Held>() };
    drop(held.0.take());
    RawWaker::new(data, &VTABLE)
}

/// One that was notified, polled again by the same waker while somebody quicker has the lock, keeps that waker anew.
#[test]
fn a_clone_may_unlock() {
    let mutex: &'static Mutex<u32> = Box::leak(Box::new(Mutex::new(7)));
    let held: &'static Held = Box::leak(Box::default());
    // SAFETY: the data is what `clone` asks for, and stays on this thread; the other functions do nothing.
    let waker = unsafe { Waker::new(std::ptr::from_ref(held).cast(), &VTABLE) };
    let mut cx = Context::from_waker(&waker);
    let first = mutex.try_lock().expect("it is free");
    let mut waits = pin!(mutex.lock());
    assert!(waits.as_mut().poll(&mut cx).is_pending());
    drop(first);
    let quicker = mutex.try_lock().expect("it may be passed");
    *held.0.borrow_mut() = Some(quicker);
    assert!(waits.poll(&mut cx).is_ready(), "the clone has unlocked it");
    assert!(mutex.try_lock().is_ok(), "nobody has it");
}

/// The clone was made to wait with, and then there was no need to; it panics when it is dropped.
#[cfg(feature = "std")]
#[test]
fn an_unused_clone_may_panic() {
    let mutex: &'static Mutex<u32> = Box::leak(Box::new(Mutex::new(7)));
    let held: &'static Held = Box::leak(Box::default());
    // SAFETY: as above.
    let waker = unsafe { Waker::new(std::ptr::from_ref(held).cast(), &VTABLE) };
    *held.0.borrow_mut() = mutex.try_lock().ok();
    held.1.set(true);
    let mut waits = pin!(mutex.lock());
    let polled = waits.as_mut().poll(&mut Context::from_waker(&waker));
    assert!(polled.is_ready(), "the clone has unlocked it");
    assert!(!held.1.get(), "the clone was dropped");
    drop(polled);
    assert!(mutex.try_lock().is_ok(), "nobody has it");
}

/// What a waker does when it is cloned, and when a clone of it is dropped; each once.
#[derive(Default)]
struct Deeds {
    cloned: RefCell<Option<Box<dyn FnOnce()>>>,
    dropped: RefCell<Option<Box<dyn FnOnce()>>>,
}

static DEEDS: RawWakerVTable = RawWakerVTable::new(
    |data| {
        // SAFETY: leaked, and of this thread.
        let deed = unsafe { &*data.cast::<Deeds>() }.cloned.take();
        deed.into_iter().for_each(|deed| deed());
        RawWaker::new(data, &DEEDS)
    },
    |_| (),
    |_| (),
    |data| {
        // SAFETY: as above.
        let deed = unsafe { &*data.cast::<Deeds>() }.dropped.take();
        deed.into_iter().for_each(|deed| deed());
    },
);

/// The clone puts a value, so that there was no need of it; as it is dropped, it tries to take the value, which the
/// reader has.
#[test]
fn an_unused_clone_does_not_get_what_is_read() {
    let place: &'static MVar<Box<u32>> = Box::leak(Box::new(MVar::empty()));
    let taken: &'static Cell<bool> = Box::leak(Box::new(Cell::new(false)));
    let deeds: &'static Deeds = Box::leak(Box::default());
    // SAFETY: the data is what the functions ask for, and stays on this thread.
    let waker = unsafe { Waker::new(std::ptr::from_ref(deeds).cast(), &DEEDS) };
    *deeds.cloned.borrow_mut() = Some(Box::new(|| place.try_put(Box::new(7)).expect("empty")));
    *deeds.dropped.borrow_mut() = Some(Box::new(|| taken.set(place.try_take().is_some())));
    let polled = pin!(place.read()).poll(&mut Context::from_waker(&waker));
    assert_eq!(polled, Poll::Ready(Box::new(7)));
    assert!(deeds.dropped.borrow().is_none(), "the clone was dropped");
    assert!(!taken.get(), "the reader had it");
    assert_eq!(place.try_take(), Some(Box::new(7)));
}

/// Without std nobody can catch a panic of `wake`. It would leave a put that has put its value and does not know so, and
/// would drop it again; so it ends the process.
#[cfg(not(feature = "std"))]
#[test]
fn a_panic_of_wake_ends_the_process() {
    use std::os::unix::process::ExitStatusExt;
    use std::sync::Arc;
    use std::task::Wake;

    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("planned");
        }
    }
    const CHILD: &str = "GOSSAMER_TEST_PANICS_IN_WAKE";

    if std::env::var_os(CHILD).is_some() {
        let place = MVar::<Box<u32>>::empty();
        let waker = Waker::from(Arc::new(Panics));
        let mut take = pin!(place.take());
        assert!(
            take.as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        let mut put = pin!(place.put(Box::new(7)));
        let _ready = put.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        return;
    }
    let program = std::env::current_exe().expect("it has a name");
    let ended = std::process::Command::new(program)
        .args(["--exact", "--nocapture", "a_panic_of_wake_ends_the_process"])
        .env(CHILD, "1")
        .output()
        .expect("it can be run again");
    let told = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.signal().is_some(), "{told}");
    assert!(
        told.contains("planned") && told.contains("a waker panicked"),
        "{told}"
    );
}
