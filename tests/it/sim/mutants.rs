//! A primitive with a bug, built to lose a wake-up, and the quiescence check that finds it.

use std::cell::{Cell, UnsafeCell};
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::step;
use gossamer_core::waiter::{Begins, Could, Kind, Node, PollWaker, WaitList};
use gossamer_sim::{Cause, Sim, Waits, exhaustive, spawn};

/// A flag that tasks wait for; `set` may forget to wake them.
struct Flag {
    is_set: Cell<bool>,
    forgetful: Cell<bool>,
    waiters: WaitList,
}

static KIND: Kind = Kind {
    name: "Flag::ready",
    could_complete,
    // It has no scheduling point, so it is never held back.
    could_begin: |_| Begins::ToTakeEffect,
};

/// # Safety
/// See [`Kind::could_complete`].
unsafe fn could_complete(node: NonNull<Node>) -> Could {
    // SAFETY: the caller says that the node is alive.
    let object = unsafe { node.as_ref() }.object();
    // SAFETY: the caller says that the object is alive; by its kind it is a flag.
    let flag = unsafe { &*object.cast::<Flag>() };
    flag.is_set.get().into()
}

impl Flag {
    fn new(forgetful: bool) -> Rc<Self> {
        Rc::new(Self {
            is_set: Cell::new(false),
            forgetful: Cell::new(forgetful),
            waiters: WaitList::new(),
        })
    }

    fn set(&self) {
        self.is_set.set(true);
        if !self.forgetful.get() && !self.waiters.is_empty() {
            // SAFETY: one thread, so no lock; somebody waits, and is notified this once.
            unsafe { self.waiters.notify_first() }.run();
        }
    }

    #[track_caller]
    fn ready(self: &Rc<Self>) -> Ready {
        let node = Node::new(Rc::as_ptr(self).cast(), Location::caller());
        Ready {
            flag: self.clone(),
            node: UnsafeCell::new(node),
            parked: false,
        }
    }
}

struct Ready {
    flag: Rc<Flag>,
    node: UnsafeCell<Node>,
    parked: bool,
}

impl Future for Ready {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: nothing is moved out.
        let this = unsafe { self.get_unchecked_mut() };
        if this.flag.is_set.get() {
            return Poll::Ready(());
        }
        assert!(
            !this.parked,
            "the tests poll it twice only when the flag is set"
        );
        this.parked = true;
        let node = NonNull::new(this.node.get()).expect("a cell has an address");
        let waker = PollWaker::new(cx.waker());
        // SAFETY: one thread, so no lock; pinned, and taken out in `drop`.
        unsafe { this.flag.waiters.park(node, &KIND, waker, false) };
        Poll::Pending
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        if self.parked {
            let node = NonNull::from_mut(self.node.get_mut());
            // SAFETY: one thread, so no lock; in this list since it was parked.
            let waker = unsafe { self.flag.waiters.unlink(node) };
            drop(waker);
        }
    }
}

async fn wait_for_flag(forgetful: bool) {
    let flag = Flag::new(forgetful);
    let waiter = spawn({
        let flag = flag.clone();
        async move { flag.ready().await }
    });
    step().await;
    flag.set();
    waiter.await.unwrap();
}

#[test]
fn a_lost_wake_up_is_no_deadlock() {
    let failures: Vec<_> = (0..100)
        .filter_map(|seed| Sim::new().run(seed, || wait_for_flag(true)).err())
        .collect();
    assert!(
        !failures.is_empty() && failures.len() < 100,
        "it depends on the schedule"
    );
    for failure in failures {
        let Cause::LostWakeup(report) = &failure.cause else {
            panic!("{failure}")
        };
        let (_, waits) = report
            .waiting()
            .find(|(task, _)| *task == 1)
            .expect("the waiter");
        let Waits::Operation {
            name,
            object,
            called,
            could_complete,
            is_promised: false,
            ..
        } = waits
        else {
            panic!("{failure}")
        };
        assert_eq!((*name, *object, *could_complete), ("Flag::ready", 1, true));
        let called = called.expect("it has a node");
        assert!(called.file().ends_with("mutants.rs"), "{called}");
        let text = failure.to_string();
        assert!(
            text.contains("Flag::ready on Flag #1, called at "),
            "{text}"
        );
        assert!(text.contains("(which could complete)"), "{text}");
    }
}

/// The flag forgets its waiter, and is set once more, properly: at rest nothing is to be seen of it.
#[test]
fn a_lost_wake_up_that_is_repaired() {
    let body = || async {
        let flag = Flag::new(true);
        let waiter = spawn({
            let flag = flag.clone();
            async move { flag.ready().await }
        });
        step().await;
        flag.set();
        step().await;
        flag.forgetful.set(false);
        flag.set();
        waiter.await.unwrap();
    };
    assert!(exhaustive(10_000, body).complete);
    let lost = |seed: &u64| {
        let failure = Sim::new().look_each_step().run(*seed, body).err();
        failure.is_some_and(|failure| matches!(failure.cause, Cause::LostWakeup(_)))
    };
    assert!((0..100).any(|seed| lost(&seed)), "it is seen at once");
}

/// The same primitive without the bug passes every schedule, so the check does not cry wolf.
#[test]
fn without_the_bug_every_schedule_passes() {
    for sim in [Sim::new(), Sim::new().look_each_step()] {
        assert!(sim.exhaustive(10_000, || wait_for_flag(false)).complete);
    }
}

/// Waiting for a flag that nobody sets is a deadlock, no lost wake-up.
#[test]
fn a_condition_that_does_not_hold_is_a_deadlock() {
    let failure = gossamer_sim::run(0, || async { Flag::new(true).ready().await }).unwrap_err();
    assert!(matches!(failure.cause, Cause::Deadlock(_)), "{failure}");
}
