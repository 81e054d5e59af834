//! Models of [`Readiness`]: an attempt in vain against the event that comes meanwhile.
//!
//! Run by `cargo xtask loom`; what loom cannot see is told in `crates/core/tests/loom.rs`.
#![cfg(loom)]

use std::future::poll_fn;
use std::panic::Location;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use gossamer_core::platform::atomic::{AtomicU32, Ordering};
use gossamer_core::platform::model::{explore, joined};
use gossamer_core::platform::thread;
use gossamer_core::policy::Shared;
use gossamer_core::wait::Wait;
use gossamer_sync::raw::Readiness;

/// A socket: how much is there to be read.
struct Socket {
    ready: Readiness<Shared>,
    bytes: AtomicU32,
}

impl Socket {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            ready: Readiness::<Shared>::new(),
            bytes: AtomicU32::new(0),
        })
    }

    /// The system gets a byte, and tells so.
    fn comes(&self) {
        self.bytes.fetch_add(1, Ordering::SeqCst);
        let generation = self.ready.generation();
        assert!(self.ready.note(generation, false));
    }

    /// Reads a byte, as an operation on a socket does.
    async fn read(&self) {
        let mut ready = pin!(self.ready.ready(Location::caller()));
        poll_fn(|cx| {
            loop {
                if ready.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                let last = self.ready.last();
                let take = |bytes: u32| bytes.checked_sub(1);
                let taken = self
                    .bytes
                    .fetch_update(Ordering::SeqCst, Ordering::SeqCst, take);
                if taken.is_ok() {
                    return Poll::Ready(());
                }
                self.ready.exhaust(last);
                ready.as_mut().again();
            }
        })
        .await;
    }
}

/// Two bytes come, each with an event of its own; one reads both. A lost event is a deadlock.
#[test]
fn an_event_between_is_seen() {
    explore("an_event_between_is_seen", || {
        let socket = Socket::new();
        let system = socket.clone();
        let other = thread::spawn(move || {
            system.comes();
            system.comes();
        });
        socket.read().wait();
        socket.read().wait();
        joined(other);
    });
}

/// Two read a byte each.
#[test]
fn all_that_wait_try_again() {
    explore("all_that_wait_try_again", || {
        let socket = Socket::new();
        let reads = socket.clone();
        let reader = thread::spawn(move || reads.read().wait());
        socket.comes();
        socket.comes();
        socket.read().wait();
        joined(reader);
    });
}
