//! Operations that wait in line for something that is guarded by a lock.
//!
//! A [`Line`] has a [`Gate`], which says who may go, and the nodes of those who wait, in order. It serves in two ways:
//! [`Line::open`] lets all of them go, for good; [`Line::give`] hands over one place to the one who has waited longest.
//! A hand-over is a promise: the node stays first in the line, marked, and its operation takes the place in its own
//! poll. Dropped before that, it gives the place to the next.
//!
//! Nodes own counted wakers, so a waker that was taken out may be called after the lock is given up.

use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

use gossamer_core::context;
use gossamer_core::door::Mutex;
use gossamer_core::waiter::{Deferred, Kept, Kind, Node, Parts, State, WaitList};

/// Who may go.
pub(crate) trait Gate: Send + 'static {
    /// The operation, for dumps.
    const NAME: &'static str;

    /// Lets one go, if one may.
    fn try_go(&mut self) -> bool;

    /// Whether one may go.
    fn is_open(&self) -> bool;

    /// One more may go.
    fn give(&mut self);
}

/// A gate, and those who wait at it.
#[derive(Debug)]
pub(crate) struct Line<G> {
    inner: Mutex<Inner<G>>,
}

#[derive(Debug)]
struct Inner<G> {
    gate: G,
    waiting: WaitList,
    /// The first who waits has been let go, and has not noticed so far.
    promised: bool,
}

// SAFETY: nodes are touched under the lock only, and own their wakers, so that any thread may.
unsafe impl<G: Send> Send for Line<G> {}
// SAFETY: as above.
unsafe impl<G: Send> Sync for Line<G> {}

impl<G: Gate> Inner<G> {
    /// Promises a place to the first in line, if there is one who has none.
    fn serve(&mut self) -> Deferred {
        if self.promised || self.waiting.is_empty() || !self.gate.try_go() {
            return Deferred::NOTHING;
        }
        self.promised = true;
        // SAFETY: under the lock, which guards this; not empty, and the first is not notified, as nothing is promised.
        unsafe { self.waiting.notify_first() }
    }
}

impl<G: Gate> Line<G> {
    pub(crate) fn new(gate: G) -> Self {
        Self {
            inner: Mutex::new(Inner {
                gate,
                waiting: WaitList::new(),
                promised: false,
            }),
        }
    }

    /// Looks at the gate, or changes it. No user code may run in there.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&mut G) -> R) -> R {
        look(&mut self.inner.lock().gate)
    }

    /// One more may go: the one who has waited longest, if there is one.
    pub(crate) fn give(&self) {
        let deferred = {
            let mut inner = self.inner.lock();
            inner.gate.give();
            if gossamer_core::mutant!("bounded_gives_silently") {
                Deferred::NOTHING
            } else {
                inner.serve()
            }
        };
        deferred.run();
    }

    /// Everybody may go from now on, whatever the gate says to whom it asks later: it must say the same.
    pub(crate) fn open(&self) {
        self.look(Gate::give);
        loop {
            let first = {
                let inner = self.inner.lock();
                // SAFETY: under the lock; such a line is never lone.
                unsafe { inner.waiting.unlink_first() }
            };
            match first {
                Some(Some(waker)) => Deferred::new(waker).run(),
                Some(None) => {}
                None => break,
            }
        }
    }

    /// Waits until it may go.
    pub(crate) fn pass(&self, location: &'static Location<'static>) -> Pass<'_, G> {
        Pass {
            line: self,
            node: Node::new(std::ptr::from_ref(self).cast(), location),
            phase: Phase::Fresh,
            _not_unpin: PhantomData,
        }
    }

    /// Goes at once, or not at all. Nobody overtakes those who wait.
    pub(crate) fn try_pass(&self) -> bool {
        let mut inner = self.inner.lock();
        inner.waiting.is_empty() && inner.gate.try_go()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Fresh,
    GaveWay,
    InLine,
    Done,
}

/// Waiting at a gate.
#[derive(Debug)]
pub(crate) struct Pass<'a, G: Gate> {
    line: &'a Line<G>,
    node: Node,
    phase: Phase,
    _not_unpin: PhantomData<std::marker::PhantomPinned>,
}

// SAFETY: the node is touched under the line's lock only, and owns its waker.
unsafe impl<G: Gate> Send for Pass<'_, G> {}
// SAFETY: `&Pass` gives access to nothing.
unsafe impl<G: Gate> Sync for Pass<'_, G> {}

impl<G: Gate> Pass<'_, G> {
    const KIND: &'static Kind = &Kind {
        name: G::NAME,
        could_complete: Self::could_complete,
    };

    /// # Safety
    /// See [`Kind::could_complete`].
    unsafe fn could_complete(node: NonNull<Node>) -> bool {
        // SAFETY: the node is alive, and so is its object; the kind says which type it is.
        let (node, line) = unsafe { (node.as_ref(), &*node.as_ref().object().cast::<Line<G>>()) };
        let inner = line.inner.lock();
        // SAFETY: under the lock; the node has been parked.
        let state = unsafe { node.state() };
        state != State::Parked || inner.gate.is_open()
    }

    /// Not in line so far: goes, or joins it.
    ///
    /// # Safety
    /// Pinned.
    unsafe fn begin(&mut self, waker: &mut Kept<'_>) -> Poll<()> {
        let line = self.line;
        let mut inner = line.inner.lock();
        loop {
            if inner.waiting.is_empty() && inner.gate.try_go() {
                self.phase = Phase::Done;
                return Poll::Ready(());
            }
            if waker.is_ready() {
                break;
            }
            drop(inner);
            waker.prepare();
            inner = line.inner.lock();
        }
        let node = NonNull::from_ref(&self.node);
        // SAFETY: under the lock; pinned, so the node stays until its poll or its drop takes it out, and the line is
        // borrowed that long. It may leave this thread, so it owns its waker.
        unsafe { inner.waiting.park(node, Self::KIND, waker, false) };
        drop(inner);
        context::has_waited();
        self.phase = Phase::InLine;
        Poll::Pending
    }

    /// Has been let go, or waits on.
    fn go_on(&mut self, waker: &mut Kept<'_>) -> Poll<()> {
        let node = NonNull::from_ref(&self.node);
        let line = self.line;
        let mut inner = line.inner.lock();
        loop {
            // SAFETY: under the lock; the node has been parked, in this line.
            match unsafe { self.node.state() } {
                State::Released => unreachable!("this line promises, and releases nobody"),
                State::Idle => {
                    self.phase = Phase::Done;
                    return Poll::Ready(());
                }
                State::Notified => {
                    inner.promised = false;
                    // SAFETY: as above. A notified node has no waker to drop.
                    let _none = unsafe { inner.waiting.unlink(node) };
                    self.phase = Phase::Done;
                    let deferred = inner.serve();
                    drop(inner);
                    deferred.run();
                    return Poll::Ready(());
                }
                // SAFETY: as above.
                State::Parked
                    if waker.is_ready() || unsafe { inner.waiting.is_current(node, waker) } =>
                {
                    // SAFETY: as above.
                    let before = unsafe { inner.waiting.renew(node, waker, false) };
                    drop(inner);
                    drop(before);
                    return Poll::Pending;
                }
                State::Parked => {
                    drop(inner);
                    waker.prepare();
                    inner = line.inner.lock();
                }
            }
        }
    }
}

impl<G: Gate> Future for Pass<'_, G> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: nothing is moved out, and the node stays where it is.
        let this = unsafe { self.get_unchecked_mut() };
        let mut waker = Kept::new(cx.waker());
        match this.phase {
            Phase::Fresh if context::has_to_give_way() => {
                this.phase = Phase::GaveWay;
                context::give_way(Parts::new(cx.waker()));
                Poll::Pending
            }
            // SAFETY: pinned.
            Phase::Fresh | Phase::GaveWay => unsafe { this.begin(&mut waker) },
            Phase::InLine => this.go_on(&mut waker),
            Phase::Done => panic!("{} was polled after it was complete", G::NAME),
        }
    }
}

impl<G: Gate> Drop for Pass<'_, G> {
    fn drop(&mut self) {
        if self.phase != Phase::InLine {
            return;
        }
        let node = NonNull::from_ref(&self.node);
        let mut inner = self.line.inner.lock();
        // SAFETY: under the lock; the node has been parked.
        let state = unsafe { self.node.state() };
        if state == State::Idle {
            return;
        }
        // SAFETY: as above, and it is in this line.
        let waker = unsafe { inner.waiting.unlink(node) };
        let mut deferred = Deferred::NOTHING;
        if state == State::Notified {
            inner.promised = false;
            if !gossamer_core::mutant!("bounded_cancel_keeps_place") {
                inner.gate.give();
                deferred = inner.serve();
            }
        }
        drop(inner);
        deferred.run();
        drop(waker);
    }
}

impl<G> Drop for Line<G> {
    /// Operations borrow the line, so only forgotten ones can wait: their tasks must not keep the name of a node.
    fn drop(&mut self) {
        loop {
            let first = {
                let inner = self.inner.lock();
                // SAFETY: under the lock; such a line is never lone.
                unsafe { inner.waiting.unlink_first() }
            };
            match first {
                Some(waker) => drop(waker),
                None => return,
            }
        }
    }
}
