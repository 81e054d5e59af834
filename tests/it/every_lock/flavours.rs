//! The flavours: each lock and cell behind the trait.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use gossamer::raw::channel::watch;
use gossamer::raw::{
    Condvar, Event, IVar, LockPolicy, MVar, Mutex, MutexGuard, OnceCell, RwLock, Semaphore,
};

pub(super) use super::owned::{
    fair_mutexes as owned_fair_mutexes, mutexes as owned_mutexes, permits as owned_permits,
    readers as owned_readers, writers as owned_writers,
};
use super::{Held, Kind, Lock, Operation};
use crate::channel::watch::Watches;
use crate::flavour::Flavour;
use crate::locks::Locks;

pub(super) fn kind<F: Flavour>(one_at_a_time: bool, make: fn() -> Rc<dyn Lock>) -> Kind {
    Kind {
        make,
        one_at_a_time,
        free_again: one_at_a_time,
        scheduling_points: F::SCHEDULING_POINTS,
    }
}

/// What an operation gives, kept; it may be polled after a panic.
pub(super) fn held<'a, O: Future<Output: 'a> + 'a>(operation: O) -> Operation<'a, Held<'a>> {
    let mut operation = Box::pin(operation);
    Box::pin(poll_fn(move |cx| {
        operation.as_mut().poll(cx).map(Held::new)
    }))
}

/// Does this when it is dropped.
struct Then<F: FnMut()>(F);

impl<F: FnMut()> Drop for Then<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

pub(super) fn mutexes<F: Locks>() -> Kind {
    kind::<F>(true, || Rc::new(F::mutex(())))
}

pub(super) fn fair_mutexes<F: Locks>() -> Kind {
    kind::<F>(true, || Rc::new(F::fair_mutex(())))
}

impl<P: LockPolicy, A: gossamer::raw::Order> Lock for Mutex<(), P, A> {
    fn hold(&self) -> Option<Held<'_>> {
        self.try_lock().ok().map(Held::new)
    }

    fn wait(&self) -> Operation<'_, Held<'_>> {
        held(self.lock())
    }
}

/// Those that write wait for one that writes, or reads.
struct Writers<P: LockPolicy> {
    lock: RwLock<(), P>,
    for_a_reader: bool,
}

impl<P: LockPolicy> Lock for Writers<P> {
    fn hold(&self) -> Option<Held<'_>> {
        match self.for_a_reader {
            true => self.lock.try_read().ok().map(Held::new),
            false => self.lock.try_write().ok().map(Held::new),
        }
    }

    fn wait(&self) -> Operation<'_, Held<'_>> {
        held(self.lock.write())
    }
}

fn writers_for<F: Locks>(for_a_reader: bool) -> Rc<dyn Lock> {
    let lock = F::rwlock(());
    Rc::new(Writers { lock, for_a_reader })
}

pub(super) fn writers<F: Locks>() -> Kind {
    kind::<F>(true, || writers_for::<F>(false))
}

pub(super) fn writers_for_a_reader<F: Locks>() -> Kind {
    kind::<F>(true, || writers_for::<F>(true))
}

/// Those that read wait for one that writes.
pub(super) fn readers<F: Locks>() -> Kind {
    struct Readers<P: LockPolicy>(RwLock<(), P>);
    impl<P: LockPolicy> Lock for Readers<P> {
        fn hold(&self) -> Option<Held<'_>> {
            self.0.try_write().ok().map(Held::new)
        }

        fn wait(&self) -> Operation<'_, Held<'_>> {
            held(self.0.read())
        }
    }
    Kind {
        free_again: true,
        ..kind::<F>(false, || Rc::new(Readers(F::rwlock(()))))
    }
}

/// One holds all permits; those that wait want so many of them.
struct Permits<P: LockPolicy> {
    semaphore: Semaphore<P>,
    all: usize,
    wanted: usize,
}

impl<P: LockPolicy> Lock for Permits<P> {
    fn hold(&self) -> Option<Held<'_>> {
        (self.semaphore.try_acquire_many(self.all))
            .ok()
            .map(Held::new)
    }

    fn wait(&self) -> Operation<'_, Held<'_>> {
        held(self.semaphore.acquire_many(self.wanted))
    }
}

fn permits<F: Locks>(all: usize, wanted: usize) -> Rc<dyn Lock> {
    let semaphore = F::semaphore(all);
    Rc::new(Permits {
        semaphore,
        all,
        wanted,
    })
}

pub(super) fn semaphores<F: Locks>() -> Kind {
    kind::<F>(true, || permits::<F>(1, 1))
}

pub(super) fn semaphores_of_many<F: Locks>() -> Kind {
    kind::<F>(true, || permits::<F>(3, 3))
}

/// Each that waits is granted one, and all of them at once.
pub(super) fn semaphores_for_all<F: Locks>() -> Kind {
    Kind {
        free_again: true,
        ..kind::<F>(false, || permits::<F>(3, 1))
    }
}

/// A full one, from which the value is taken, and put back.
pub(super) fn mvars<F: Locks>() -> Kind {
    struct Taken<P: LockPolicy>(MVar<(), P>);
    impl<P: LockPolicy> Taken<P> {
        fn back(&self) -> Held<'_> {
            Held::new(Then(|| assert!(self.0.try_put(()).is_ok())))
        }
    }
    impl<P: LockPolicy> Lock for Taken<P> {
        fn hold(&self) -> Option<Held<'_>> {
            self.0.try_take().map(|()| self.back())
        }

        fn wait(&self) -> Operation<'_, Held<'_>> {
            let mut take = Box::pin(self.0.take());
            Box::pin(poll_fn(move |cx| {
                take.as_mut().poll(cx).map(|()| self.back())
            }))
        }
    }
    kind::<F>(true, || Rc::new(Taken(F::full(()))))
}

/// An empty one, into which the value is put, and taken back.
pub(super) fn puts<F: Locks>() -> Kind {
    struct Room<P: LockPolicy>(MVar<(), P>);
    impl<P: LockPolicy> Room<P> {
        fn back(&self) -> Held<'_> {
            Held::new(Then(|| assert!(self.0.try_take().is_some())))
        }
    }
    impl<P: LockPolicy> Lock for Room<P> {
        fn hold(&self) -> Option<Held<'_>> {
            self.0.try_put(()).ok().map(|()| self.back())
        }

        fn wait(&self) -> Operation<'_, Held<'_>> {
            let mut put = Box::pin(self.0.put(()));
            Box::pin(poll_fn(move |cx| {
                put.as_mut().poll(cx).map(|()| self.back())
            }))
        }
    }
    kind::<F>(true, || Rc::new(Room(F::empty())))
}

/// What a mutex and a condition make: whoever lets it go notifies one, who takes it, or all.
struct Monitor<P: LockPolicy> {
    mutex: Mutex<(), P, gossamer::raw::Barging>,
    condition: Condvar<P>,
    free: Cell<bool>,
    for_all: bool,
}

impl<P: LockPolicy> Monitor<P> {
    fn held(&self) -> Held<'_> {
        Held::new(Then(|| {
            self.free.set(true);
            match self.for_all {
                true => self.condition.notify_all(),
                false => self.condition.notify_one(),
            }
        }))
    }

    fn take(&self) -> Option<Held<'_>> {
        let free = self.free.replace(self.for_all && self.free.get());
        free.then(|| match self.for_all {
            true => Held::new(()),
            false => self.held(),
        })
    }
}

impl<P: LockPolicy> Lock for Monitor<P> {
    fn hold(&self) -> Option<Held<'_>> {
        match self.for_all {
            true => (!self.free.get()).then(|| self.held()),
            false => self.take(),
        }
    }

    fn wait(&self) -> Operation<'_, Held<'_>> {
        let mut locks: Operation<'_, MutexGuard<'_, _, _, _>> = Box::pin(self.mutex.lock());
        let mut waits = false;
        Box::pin(poll_fn(move |cx| {
            loop {
                let guard = match locks.as_mut().poll(cx) {
                    Poll::Ready(guard) => guard,
                    // Whoever lets it go does not lock: it came just before this one waited.
                    Poll::Pending if waits => {
                        return self.take().map_or(Poll::Pending, Poll::Ready);
                    }
                    Poll::Pending => return Poll::Pending,
                };
                if let Some(held) = self.take() {
                    return Poll::Ready(held);
                }
                locks = Box::pin(self.condition.notified(guard));
                waits = true;
            }
        }))
    }
}

fn monitor<F: Locks>(for_all: bool) -> Rc<dyn Lock> {
    Rc::new(Monitor {
        mutex: F::mutex(()),
        condition: F::condvar(),
        free: Cell::new(!for_all),
        for_all,
    })
}

pub(super) fn condvars_for_one<F: Locks>() -> Kind {
    kind::<F>(true, || monitor::<F>(false))
}

pub(super) fn condvars_for_all<F: Locks>() -> Kind {
    kind::<F>(false, || monitor::<F>(true))
}

/// Whoever lets it go sets it.
pub(super) fn events<F: Locks>() -> Kind {
    kind::<F>(false, || Rc::new(F::event()))
}

/// Whoever lets it go assigns it.
pub(super) fn ivars<F: Locks>() -> Kind {
    kind::<F>(false, || Rc::new(F::ivar()))
}

/// Whoever lets it go sends a value, which all that wait have not seen.
pub(super) fn watches<F: Watches>() -> Kind {
    struct Unseen<P: LockPolicy>(watch::Sender<(), P>, watch::Receiver<(), P>);
    impl<P: LockPolicy> Lock for Unseen<P> {
        fn hold(&self) -> Option<Held<'_>> {
            (!self.1.has_changed()).then(|| Held::new(Then(|| self.0.send(()))))
        }

        fn wait(&self) -> Operation<'_, Held<'_>> {
            // The operation borrows its receiver, which is left.
            held(Box::leak(Box::new(self.1.clone())).changed())
        }
    }
    kind::<F>(false, || {
        let (tx, rx) = F::watch(());
        Rc::new(Unseen(tx, rx))
    })
}

/// Whoever lets it go has made the value.
pub(super) fn once_cells<F: Locks>() -> Kind {
    kind::<F>(false, || Rc::new(F::once_cell()))
}

impl<P: LockPolicy> Lock for Event<P> {
    fn hold(&self) -> Option<Held<'_>> {
        (!self.is_set()).then(|| Held::new(Then(|| self.set())))
    }

    fn wait(&self) -> Operation<'_, Held<'_>> {
        held(self.ready())
    }
}

impl<P: LockPolicy> Lock for IVar<u32, P> {
    fn hold(&self) -> Option<Held<'_>> {
        let free = self.try_read().is_none();
        free.then(|| Held::new(Then(|| drop(self.put(1)))))
    }

    fn wait(&self) -> Operation<'_, Held<'_>> {
        held(self.read())
    }
}

impl<P: LockPolicy> Lock for OnceCell<u32, P> {
    fn hold(&self) -> Option<Held<'_>> {
        if self.get().is_some() {
            return None;
        }
        // One makes it, and is told to end.
        let done = Rc::new(Cell::new(false));
        let asks = done.clone();
        let mut makes = Box::pin(self.get_or_init(move || {
            poll_fn(move |_| match asks.get() {
                true => Poll::Ready(1),
                false => Poll::Pending,
            })
        }));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(makes.as_mut().poll(&mut cx).is_pending());
        Some(Held::new(Then(move || {
            done.set(true);
            let mut cx = Context::from_waker(Waker::noop());
            assert!(makes.as_mut().poll(&mut cx).is_ready());
        })))
    }

    fn wait(&self) -> Operation<'_, Held<'_>> {
        held(self.get_or_init(async || 2))
    }
}
