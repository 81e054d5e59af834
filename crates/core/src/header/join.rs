//! The waiter for a task's output, or for a message: one atomic pointer, four states.
//!
//! (Of a one-shot channel the sender is what the runner is here, and the receiver the handle. Its second word goes the
//! other way, and only that one may be left for `DETACHED` when it is `DONE`: [`Join::abandon`].)
//!
//! | value | meaning | who may leave it |
//! | --- | --- | --- |
//! | null | nobody waits yet | handle: to a waker or `DETACHED`; runner: to `DONE` |
//! | waker | the handle waits; the word owns the waker | the same |
//! | `DETACHED` | the handle is gone | runner: to `DONE` (and drops the output itself) |
//! | `DONE` | the output is published | nobody |
//!
//! The waker is [packed]. Whoever replaces the word owns what it held.
//!
//! The race to fear: the handle registers while the runner publishes. Both use one
//! read-modify-write on this word, so one of them sees the other: either the runner finds the
//! waker, or the handle's exchange fails on `DONE`.

use core::ptr::{self, NonNull};
use core::task::Waker;

pub use super::Join;
use super::{Failure, Header, TaskRef, ref_count, ref_dec};
use crate::context::simulated::Wanted;
use crate::context::{self, Context};
use crate::panics;
use crate::platform::atomic::{AtomicPtr, Ordering};
use crate::waiter::Deferred;
use crate::waiter::packed::{self, is_boxed, is_foreign, pack, same};
use crate::waker;

/// The output is published.
const DONE: *mut () = ptr::without_provenance_mut(1);
/// The handle is gone.
const DETACHED: *mut () = ptr::without_provenance_mut(3);

/// Tells the runner, which has called [`Join::finish`], how to go on.
#[derive(Debug)]
#[must_use]
pub enum Finish {
    /// Nobody waits yet; a handle will come and find the output.
    Nobody,
    /// This one waits and must be woken.
    Wake(Waker),
    /// The handle is gone: the output is the runner's to drop.
    Detached,
}

impl Join {
    /// Nobody waits.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Whether the output is published. `true` makes the output visible to the caller.
    #[inline]
    pub fn is_done(&self) -> bool {
        // Acquire pairs with the swap in `finish`: the output was written before.
        self.0.load(Ordering::Acquire) == DONE
    }

    /// Whether the handle is gone.
    pub fn is_detached(&self) -> bool {
        // Relaxed: nothing is read that the handle has left.
        self.0.load(Ordering::Relaxed) == DETACHED
    }

    /// Publishes the output. Called once, by the runner.
    #[inline]
    pub fn finish(&self) -> Finish {
        // AcqRel: releases the output to `is_done` and `register`, and pairs with `register` to see the
        // waker that was put there. Mutant: acquires, but releases nothing.
        let before = if crate::mutant!("finish_unpublished") {
            self.0.swap(DONE, Ordering::Acquire)
        } else {
            self.0.swap(DONE, Ordering::AcqRel)
        };
        if before == DETACHED {
            Finish::Detached
        } else {
            // SAFETY: the swap took the word's content over.
            unsafe { unpack(before) }.map_or(Finish::Nobody, Finish::Wake)
        }
    }

    /// The handle goes away, whatever the word says; what it held. Only where nothing is published: an output would be lost.
    pub fn abandon(&self) -> Finish {
        // AcqRel pairs with the swap in `finish`, both ways: a waker is taken out by one of the two.
        match self.0.swap(DETACHED, Ordering::AcqRel) {
            DONE | DETACHED => Finish::Detached,
            // SAFETY: the swap took the word's content over.
            before => unsafe { unpack(before) }.map_or(Finish::Nobody, Finish::Wake),
        }
    }

    /// Puts `waker` in the word; `false` if the output is published instead.
    #[inline]
    pub fn register(&self, waker: &Waker) -> bool {
        // Acquire pairs with the swap in `finish`.
        let before = self.0.load(Ordering::Acquire);
        let is_first = before.is_null() && !is_foreign(waker);
        is_first && self.put(before, pack(waker)).is_ok() || self.register_again(waker)
    }

    /// Exchanges the content, if it is `before` still; `packed` goes if not.
    ///
    /// # Errors
    /// The word has changed, to this.
    #[inline(always)]
    fn put(&self, before: *mut (), packed: *mut ()) -> Result<(), *mut ()> {
        // AcqRel pairs with the swap in `finish`, both ways; Acquire on failure for `DONE`.
        let put = self
            .0
            .compare_exchange(before, packed, Ordering::AcqRel, Ordering::Acquire);
        // SAFETY: the exchange took the old content over, or the new one was never stored.
        unsafe { let_go(if put.is_ok() { before } else { packed }) };
        put.map(|_| ())
    }

    /// [`Join::register`] where the word is not null, or the waker foreign.
    #[inline(never)]
    fn register_again(&self, waker: &Waker) -> bool {
        // Acquire pairs with the swap in `finish`.
        let mut before = self.0.load(Ordering::Acquire);
        while before != DONE {
            if !before.is_null() && same(before, waker) {
                self.waits_still();
                return true;
            }
            let packed = if is_boxed(before) && is_foreign(waker) {
                match self.renew(before, waker) {
                    Ok(renewed) => {
                        self.waits_still();
                        before = ptr::null_mut();
                        renewed
                    }
                    Err(now) => {
                        before = now;
                        continue;
                    }
                }
            } else {
                pack(waker)
            };
            match self.put(before, packed) {
                Ok(()) => return true,
                Err(now) => before = now,
            }
        }
        crate::mutant!("register_ignores_done")
    }

    /// Who waits was polled in vain.
    #[cold]
    #[inline(never)]
    fn waits_still(&self) {
        context::roll_call::wants(Wanted::Join(ptr::from_ref(self).addr()));
    }

    /// Takes a foreign waker out and puts `waker` in its box, to be put back: waiting anew allocates nothing. Who
    /// publishes the output meanwhile finds nobody, and the handle finds the output.
    ///
    /// # Errors
    /// The word has changed, to this.
    fn renew(&self, before: *mut (), waker: &Waker) -> Result<*mut (), *mut ()> {
        let none = ptr::null_mut();
        // AcqRel pairs with the swap in `finish`; Acquire on failure for `DONE`.
        self.0
            .compare_exchange(before, none, Ordering::AcqRel, Ordering::Acquire)?;
        // SAFETY: a box, and the exchange took it over.
        Ok(unsafe { packed::repack(before, waker) })
    }

    /// The handle waits no more: its waker goes, if it is in the word.
    #[inline]
    pub fn unregister(&self) {
        // Acquire pairs with the swap in `finish`.
        let before = self.0.load(Ordering::Acquire);
        if !before.is_null() && before != DONE && before != DETACHED {
            self.unregister_waker(before);
        }
    }

    #[cold]
    fn unregister_waker(&self, waker: *mut ()) {
        let none = ptr::null_mut();
        // AcqRel pairs with the swap in `finish`, which may have taken the waker.
        let exchanged = self
            .0
            .compare_exchange(waker, none, Ordering::AcqRel, Ordering::Acquire);
        if exchanged.is_ok() {
            // SAFETY: the exchange took the waker over.
            unsafe { let_go(waker) };
        }
    }

    /// The handle goes away; `true` if the output is published and so the handle's to drop.
    #[must_use]
    pub fn detach(&self) -> bool {
        // Acquire pairs with the swap in `finish`.
        let mut before = self.0.load(Ordering::Acquire);
        loop {
            if before == DONE {
                return !crate::mutant!("detach_ignores_done");
            }
            // AcqRel pairs with the swap in `finish`; Acquire on failure for `DONE`.
            match self
                .0
                .compare_exchange(before, DETACHED, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => {
                    // SAFETY: the exchange took the old content over.
                    unsafe { let_go(before) };
                    return false;
                }
                Err(now) => before = now,
            }
        }
    }
}

impl Header {
    /// Whether the task has [finished](Header::finish). `true` makes the output visible to the caller.
    #[inline]
    pub fn is_finished(&self) -> bool {
        self.join.is_done()
    }

    /// Where its [`Join`] is.
    pub(crate) fn join_address(&self) -> usize {
        ptr::from_ref(&self.join).addr()
    }

    /// Has `waker` called when the task has finished, instead of the waker before; `false` if it has.
    pub fn notify_finished(&self, waker: &Waker) -> bool {
        self.join.register(waker)
    }

    /// The join handle goes away; `true` if the output is there and so the handle's to drop.
    ///
    /// # Safety
    /// The caller is the task's join handle, and calls this once.
    #[must_use]
    pub unsafe fn detach(&self) -> bool {
        self.join.detach()
    }

    /// Drops the future of a task that is in no list, and [finishes](Header::finish) it with this failure.
    ///
    /// # Safety
    /// On the runner, once; the task is not used afterwards.
    pub unsafe fn fail(this: NonNull<Self>, failure: Failure) {
        // SAFETY: the runner's reference keeps the task alive.
        let vtable = unsafe { this.as_ref() }.vtable;
        // SAFETY: on the runner, as the caller says, and not finished so far, so the future is present.
        unsafe { (vtable.fail)(this, failure) };
        // SAFETY: the failure is stored; once, as the caller says.
        unsafe { Self::finish(this) };
    }

    /// The future is gone and the output or failure stored: publishes it. The output is dropped here
    /// if the join handle is gone; a panic of that ends here, in the midst of the task.
    ///
    /// # Safety
    /// On the runner, once, when the task is in no list; the task is not used afterwards.
    pub unsafe fn finish(this: NonNull<Self>) {
        // SAFETY: as the caller says.
        unsafe { Self::publish(this) };
        // SAFETY: the runner, and the last use of the task.
        unsafe { Self::ref_dec_if_over(this) };
    }

    /// Says that the task is over, and gives its output to who waits for it.
    ///
    /// # Safety
    /// As [`Header::finish`], but that the runner has its reference still.
    #[inline(always)]
    pub(super) unsafe fn publish(this: NonNull<Self>) {
        // SAFETY: the runner's reference keeps the task alive.
        let header: TaskRef<'_> = unsafe { TaskRef::new(this) };
        let state = header.state();
        // SAFETY: on the runner; the future is gone.
        unsafe { header.set_state(state.with_done()) };
        if state.has_locals() {
            // Before the output is published: who joins the task finds that all of it is gone.
            // SAFETY: the future is gone.
            let end_locals = move || unsafe { (header.vtable.end_locals)(this) };
            // SAFETY: on the runner.
            unsafe { header.in_loan(end_locals) };
        }
        match header.join.finish() {
            Finish::Nobody => {}
            Finish::Wake(waker) => {
                // One of ours is no user code. A foreign one's panic must not unwind from here.
                let foreign = match waker::is_ours(waker.vtable()) {
                    true => waker::wake_owned(waker),
                    false => Some(waker),
                };
                if let Some(waker) = foreign {
                    let wake = move || Context::outside(|| Deferred::new(waker).run());
                    // SAFETY: on the runner.
                    unsafe { header.in_loan(wake) };
                }
            }
            Finish::Detached => {
                // SAFETY: the handle is gone, so the output is ours.
                let drop_output = move || unsafe { (header.vtable.drop_output)(this) };
                // The payload of its panic is user code too, and goes before the task does.
                let drop_output = move || Context::outside(|| panics::end(drop_output));
                // SAFETY: on the runner.
                unsafe { header.in_loan(drop_output) };
            }
        }
    }
}

impl TaskRef<'_> {
    /// Runs user code at the end of a task. It may drop an operation that the task is loaned to; one more loan keeps the
    /// task alive meanwhile (there is always room for it).
    ///
    /// # Safety
    /// On the runner; the future is gone.
    #[inline(never)]
    unsafe fn in_loan(self, run: impl FnOnce()) {
        if crate::mutant!("end_without_loan") {
            return run();
        }
        // SAFETY: on the runner; the loan ends below.
        unsafe { self.set_state(self.state().with_loan()) };
        run();
        // SAFETY: on the runner; the loan taken above.
        unsafe { self.set_state(self.state().without_loan()) };
    }
}

/// # Safety
/// The caller owns the content of the word: null, `DETACHED` or a result of [`pack`].
unsafe fn unpack(word: *mut ()) -> Option<Waker> {
    if word == DETACHED {
        return None;
    }
    // SAFETY: null, or a waker that `pack` packed, and the caller's.
    unsafe { packed::unpack(word) }
}

/// Drops a waker, or none, as there mostly is.
///
/// # Safety
/// As [`unpack`].
#[inline]
unsafe fn let_go(word: *mut ()) {
    debug_assert!(word != DETACHED);
    if !word.is_null() {
        // SAFETY: a waker that `pack` packed, and the caller's; nothing is loaned.
        unsafe { packed::let_go(word) };
    }
}

impl Drop for Join {
    fn drop(&mut self) {
        // The join handle has a reference on the task and ends in `detach`, or the runner in `finish`.
        debug_assert!({
            // Relaxed: the one who frees the task has seen everything.
            let word = self.0.load(Ordering::Relaxed);
            word == DONE || word == DETACHED || word.is_null()
        });
    }
}

/// Releases a join handle's reference.
///
/// # Safety
/// The caller owns that reference.
pub unsafe fn ref_dec_handle(task: NonNull<Header>) {
    // SAFETY: a handle's reference, which the caller gives up.
    unsafe { ref_dec(task, ref_count::HANDLE) };
}
