//! A fiber: a closure that can stand still, as a future.
//!
//! # A fiber stays with its thread
//!
//! Its stack may hold what is not `Send`, and addresses of thread-locals. So a fiber may be moved to another thread
//! only before its first poll. From then on its task is pinned: the runtime polls and drops it on that thread. Who
//! polls it elsewhere all the same gets a panic; who drops it elsewhere leaves the stack, with all that is on it, to
//! that thread, which ends it when it ends itself (see `ending.rs`).
//!
//! No check finds code whose soundness relies on thread-locals being used like a stack (`scoped_tls` and its kin, a
//! lazy initialiser that waits) and that stands still in the midst of it. So the program promises that there is none
//! (`contract.rs`).

use std::future::Future;
use std::io::{self, Write};
use std::mem;
use std::panic::{Location, resume_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{Context, Poll};

use gossamer_core::context;

use crate::contract::Fibers;
use crate::ending;
use crate::stack::{self, Label, Stack};
use crate::standing::{self, Standing};
use crate::switch::{Outcome, Switch, unwind};

/// A closure that can stand still: a future, complete when the closure has returned. From its first poll on it stays in
/// its place.
///
/// # Panics
/// A panic of the closure is the poll's.
pub struct Fiber<F, T>(State<F, T>);

enum State<F, T> {
    /// Not begun; `None`: the closure has ended, or is ending.
    New(Option<(F, Stack)>),
    Begun {
        /// Here, and not with what its thread has of it: a poll comes from the task's memory to the stack at once.
        switch: Switch<T>,
        /// From when it stands still first.
        standing: Option<Arc<Standing<T>>>,
    },
}

impl<F, T> Fiber<F, T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    /// A fiber that begins when it is polled. Its stack is there from now on. If it overflows, the message has the name,
    /// unless that is empty, and the place.
    ///
    /// # Errors
    /// The program has not promised what fibers need ([`Unsupported`](io::ErrorKind::Unsupported)), or the system
    /// grants no memory for the stack: the closure comes back.
    pub fn new(
        body: F,
        promised: Option<Fibers>,
        name: &str,
        spawned: &'static Location<'static>,
    ) -> Result<Self, (io::Error, F)> {
        let new = |bytes| stack::new(bytes, Label::new(name, spawned));
        match Fibers::check(promised).and_then(new) {
            Ok(stack) => Ok(Self(State::New(Some((body, stack))))),
            Err(error) => Err((error, body)),
        }
    }

    /// The closure, if it has not begun.
    pub fn into_body(mut self) -> Option<F> {
        match &mut self.0 {
            State::New(new) => new.take().map(|(body, _stack)| body),
            State::Begun { .. } => None,
        }
    }
}

impl<F, T> State<F, T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    /// Puts the closure on its stack.
    #[cold]
    #[inline(never)]
    fn begin(&mut self) {
        if let Self::New(new) = self
            && let Some((body, stack)) = new.take()
        {
            context::with(context::Context::pin_polled);
            ending::begin();
            *self = Self::Begun {
                switch: Switch::new(body, stack),
                standing: None,
            };
        }
    }

    /// The closure has returned, or panicked.
    #[inline(never)]
    fn finish(&mut self, outcome: Outcome<T>) -> T {
        if let Self::Begun {
            standing: Some(standing),
            ..
        } = self
        {
            standing.strike_off();
        }
        *self = Self::New(None);
        context::with(context::Context::unpin_polled);
        outcome.unwrap_or_else(|payload| resume_unwind(payload))
    }
}

impl<F, T> Future for Fiber<F, T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    type Output = T;

    // Inline, as all that lies between the run loop and the switch: see the core's `fiber.rs`.
    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        assert!(
            !ending::is_ending(),
            "a fiber was polled while its thread ends: thread-locals that it uses may be gone"
        );
        // SAFETY: the closure is not pinned, and moves to its stack once; the switch stays here until it is dropped.
        let state = unsafe { &mut self.get_unchecked_mut().0 };
        if let State::New(_) = state {
            state.begin();
        }
        let State::Begun { switch, standing } = state else {
            panic!("a fiber was polled after it had ended");
        };
        match switch.resume(cx.waker()) {
            None => {
                if standing.is_none() {
                    *standing = Some(standing::enter(NonNull::from(&mut *switch)));
                }
                ending::watch();
                Poll::Pending
            }
            Some(outcome) => Poll::Ready(state.finish(outcome)),
        }
    }
}

impl<F, T> Drop for Fiber<F, T> {
    fn drop(&mut self) {
        let State::Begun { switch, standing } = &mut self.0 else {
            return;
        };
        context::with(context::Context::unpin_polled);
        let standing = standing.take();
        if let Some(ended) = standing.as_ref().and_then(|standing| standing.ended()) {
            if let Some(payload) = ended {
                resume_unwind(payload);
            }
            return;
        }
        if switch.is_here() && !ending::is_ending() {
            if let Some(standing) = standing {
                standing.strike_off();
            }
            drop(switch.take().and_then(unwind));
            return;
        }
        if let Some(standing) = standing {
            standing.leave(switch);
            if gossamer_core::mutant!("left_fiber_is_leaked") {
                mem::forget(standing);
            }
        }
        if !gossamer_core::mutant!("leaked_fiber_loses_values") {
            context::with(context::Context::leak_locals_of_polled);
        }
        if !switch.is_here() {
            // If the write fails, there is nowhere left to report it.
            let _said = writeln!(
                io::stderr(),
                "gossamer: a fiber that began on {on:?} was dropped on another thread: its stack, with all that is on it, \
                 stays until {on:?} ends, as only that thread may use it",
                on = switch.on()
            );
        }
    }
}
