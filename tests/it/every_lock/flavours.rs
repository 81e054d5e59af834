//! The flavours: each lock and cell behind the trait.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use gossamer::raw::{Condvar, Event, IVar, LockPolicy, MVar, Mutex, OnceCell, RwLock, Semaphore};

use super::{Held, Kind, Lock, Operation};
use crate::channel::Channels;
use crate::locks::Locks;

fn kind<F: Channels>(one_at_a_time: bool, make: fn() -> Rc<dyn Lock>) -> Kind {
    Kind {
        make,
        one_at_a_time,
        free_again: one_at_a_time,
        scheduling_points: F::SCHEDULING_POINTS,
    }
}

/// What an operation gives, kept; it may be polled after a panic.
fn held<'a, O: Future<Output: 'a> + 'a>(operation: O) -> Operation<'a, Held<'a>> {
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

pub(super) fn mutexes<F: Locks + Channels>() -> Kind {
    kind::<F>(true, || Rc::new(F::mutex(())))
}

pub(super) fn fair_mutexes<F: Locks + Channels>() -> Kind {
    kind::<F>(true, || Rc::new(F::fair_mutex(())))
}

impl<P: LockPolicy, A: gossamer::raw::Order> Lock for Mutex<(), P, A> {
    fn hold(&self) -> Option<Held<'_>> {
        self.try_lock().map(Held::new)
    }

    fn wait(&self) -> Operation<'_, Held<'_>> {
        held(self.lock())
    }
}

/// Those that write wait for one that writes.
pub(super) fn writers<F: Locks + Channels>() -> Kind {
    struct Writers<P: LockPolicy>(RwLock<(), P>);
    impl<P: LockPolicy> Lock for Writers<P> {
        fn hold(&self) -> Option<Held<'_>> {
            self.0.try_write().map(Held::new)
        }

        fn wait(&self) -> Operation<'_, Held<'_>> {
            held(self.0.write())
        }
    }
    kind::<F>(true, || Rc::new(Writers(F::rwlock(()))))
}

/// Those that read wait for one that writes.
pub(super) fn readers<F: Locks + Channels>() -> Kind {
    struct Readers<P: LockPolicy>(RwLock<(), P>);
    impl<P: LockPolicy> Lock for Readers<P> {
        fn hold(&self) -> Option<Held<'_>> {
            self.0.try_write().map(Held::new)
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

struct Permits<P: LockPolicy>(Semaphore<P>, usize);

impl<P: LockPolicy> Lock for Permits<P> {
    fn hold(&self) -> Option<Held<'_>> {
        self.0.try_acquire_many(self.1).map(Held::new)
    }

    fn wait(&self) -> Operation<'_, Held<'_>> {
        held(self.0.acquire_many(self.1))
    }
}

pub(super) fn semaphores<F: Locks + Channels>() -> Kind {
    kind::<F>(true, || Rc::new(Permits(F::semaphore(1), 1)))
}

pub(super) fn semaphores_of_many<F: Locks + Channels>() -> Kind {
    kind::<F>(true, || Rc::new(Permits(F::semaphore(3), 3)))
}

/// A full one, from which the value is taken, and put back.
pub(super) fn mvars<F: Locks + Channels>() -> Kind {
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
pub(super) fn puts<F: Locks + Channels>() -> Kind {
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

/// Whoever lets it go notifies all.
pub(super) fn condvars<F: Locks + Channels>() -> Kind {
    struct Notified<P: LockPolicy>(Mutex<(), P, gossamer::raw::Barging>, Condvar<P>, Cell<bool>);
    impl<P: LockPolicy> Lock for Notified<P> {
        fn hold(&self) -> Option<Held<'_>> {
            (!self.2.get()).then(|| {
                Held::new(Then(|| {
                    self.2.set(true);
                    self.1.notify_all();
                }))
            })
        }

        fn wait(&self) -> Operation<'_, Held<'_>> {
            let (mut locks, mut waits) = (Some(Box::pin(self.0.lock())), None);
            Box::pin(poll_fn(move |cx| {
                if let Some(lock) = &mut locks {
                    let guard = ready!(lock.as_mut().poll(cx));
                    locks = None;
                    if self.2.get() {
                        return Poll::Ready(Held::new(()));
                    }
                    waits = Some(Box::pin(self.1.notified(guard)));
                }
                let waits = waits.as_mut().expect("it was locked");
                match waits.as_mut().poll(cx) {
                    Poll::Ready(guard) => drop(guard),
                    // Whoever lets it go does not lock: it came just before this one waited.
                    Poll::Pending if self.2.get() => {}
                    Poll::Pending => return Poll::Pending,
                }
                Poll::Ready(Held::new(()))
            }))
        }
    }
    kind::<F>(false, || {
        Rc::new(Notified(F::mutex(()), F::condvar(), Cell::new(false)))
    })
}

/// Whoever lets it go sets it.
pub(super) fn events<F: Locks + Channels>() -> Kind {
    kind::<F>(false, || Rc::new(F::event()))
}

/// Whoever lets it go assigns it.
pub(super) fn ivars<F: Locks + Channels>() -> Kind {
    kind::<F>(false, || Rc::new(F::ivar()))
}

/// Whoever lets it go has made the value.
pub(super) fn once_cells<F: Locks + Channels>() -> Kind {
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
