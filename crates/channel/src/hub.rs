//! What the ends of a channel share, if those who wait are let go by a rule: one lock, a content, and one line.
//!
//! # Protocol
//!
//! An operation that waits has a number, and the content says for which numbers there is something ([`Content::goes`]).
//! Who changes the content lets the first in line go as long as there is something for it: takes it out of the line,
//! which it cannot come to again before it has been polled, and wakes it. It does in its own poll what it came for, under
//! the lock; it holds the only mutable borrow of its end, so what there was for it is still there. Dropped instead, it
//! gives back what it was let go for, if that was anything.
//!
//! All that there is something for are at the head of the line: those who wait since then have seen it.
//!
//! No user code runs under the lock: messages are only moved there (as pointers), memory is asked for and given back
//! outside, wakers of other runtimes are called outside.

mod waiting;

use gossamer_core::door::UnsafeCell;
use gossamer_core::policy::{Policy, Word};
use gossamer_core::waiter::WaitList;

pub(crate) use self::waiting::Waiting;

/// So many are let go before the lock is given up for a moment, so that others may come in between.
const BATCH: u32 = if cfg!(any(loom, shuttle)) { 2 } else { 64 };

/// What is under the lock, and who may go. No user code, no waiting in any of it.
pub(crate) trait Content {
    /// What dumps call the operations, by their number.
    const NAMES: &'static [&'static str];

    /// Whether one that waits with this number may go.
    fn goes(&self, wants: u64) -> bool;

    /// One goes.
    fn go(&mut self) {}

    /// One was dropped that had been let go.
    fn give_back(&mut self) {}
}

/// A content, the lock around it, and those who wait for it to change.
pub(crate) struct Hub<S, P: Policy> {
    word: P::Word,
    line: WaitList,
    content: UnsafeCell<S>,
}

// SAFETY: the content and the line are touched under the word's lock, which is atomic; nodes own their wakers.
unsafe impl<S: Send, P: Policy> Send for Hub<S, P> where P::Word: Sync {}
// SAFETY: as above: `&Hub` gives the content to one at a time.
unsafe impl<S: Send, P: Policy> Sync for Hub<S, P> where P::Word: Sync {}

impl<S: Content, P: Policy> Hub<S, P> {
    /// Nobody waits. The word is free, and its bits are not used.
    pub(crate) fn new(word: P::Word, content: S) -> Self {
        Self {
            word,
            line: WaitList::new(),
            content: UnsafeCell::new(content),
        }
    }

    /// Takes the lock; gives the content.
    ///
    /// # Safety
    /// No user code runs until [`Hub::unlock`], after which the result is not used.
    #[allow(clippy::mut_from_ref)]
    #[inline(always)]
    unsafe fn lock(&self) -> &mut S {
        let _no_bits = self.word.lock();
        // SAFETY: under the lock, and no user code that could come here again.
        self.content.with_mut(|content| unsafe { &mut *content })
    }

    #[inline(always)]
    fn unlock(&self) {
        self.word.unlock(0);
    }

    /// Looks at the content, or changes it so that nobody can go who could not before.
    ///
    /// # Safety
    /// `look` runs no user code, and asks for no memory.
    #[inline(always)]
    pub(crate) unsafe fn look<R>(&self, look: impl FnOnce(&mut S) -> R) -> R {
        // SAFETY: passed on to the caller.
        let seen = look(unsafe { self.lock() });
        self.unlock();
        seen
    }

    /// Changes the content, and lets those go that now can.
    ///
    /// # Safety
    /// As [`Hub::look`].
    #[inline(always)]
    pub(crate) unsafe fn change<R>(&self, change: impl FnOnce(&mut S) -> R) -> R {
        // SAFETY: passed on to the caller.
        let changed = change(unsafe { self.lock() });
        if self.line.is_empty() {
            self.unlock();
        } else {
            self.settle();
        }
        changed
    }

    /// Lets all go that can, and gives the lock up.
    ///
    /// A foreign waker is called without the lock. Until it returns, those who could go as well wait for that, unless
    /// somebody else changes the content.
    #[inline(never)]
    fn settle(&self) {
        let mut gone = 0;
        while let Some(first) = self.line.first() {
            // SAFETY: under the lock: nodes in the line are alive; nobody else uses the content.
            let deferred = unsafe {
                let content = self.content.with_mut(|content| &mut *content);
                if !content.goes(waiting::wants_of(first)) {
                    break;
                }
                content.go();
                self.line.release_first()
            };
            gone += 1;
            if gossamer_core::mutant!("hub_lets_one_go") {
                break;
            }
            if gone % BATCH != 0 && deferred.is_nothing() {
                continue;
            }
            self.unlock();
            deferred.run();
            if gone % BATCH == 0 && gossamer_core::mutant!("hub_ends_with_a_batch") {
                return;
            }
            let _no_bits = self.word.lock();
        }
        self.unlock();
    }
}

impl<S, P: Policy> Hub<S, P> {
    fn forget_all(&self) {
        loop {
            let _no_bits = self.word.lock();
            // SAFETY: under the lock, and the line is not lone.
            let waker = unsafe { self.line.unlink_first() };
            self.word.unlock(0);
            match waker {
                Some(waker) => drop(waker),
                None => break,
            }
        }
    }
}

impl<S, P: Policy> Drop for Hub<S, P> {
    /// Operations borrow an end, so only forgotten ones can wait: their tasks must not be left with the name of a hub
    /// that is gone.
    fn drop(&mut self) {
        /// Goes on where a waker panicked when it was dropped.
        struct Rest<'a, S, P: Policy>(&'a Hub<S, P>);
        impl<S, P: Policy> Drop for Rest<'_, S, P> {
            fn drop(&mut self) {
                self.0.forget_all();
            }
        }
        Rest(self).0.forget_all();
    }
}
