//! Models of a computation that borrows: its owner gives up while a helper begins.

use std::sync::Arc;

use gossamer_core::platform::atomic::{AtomicBool, Ordering};
use gossamer_core::platform::model::{explore, joined, poll_once};
use gossamer_core::platform::thread;

use super::*;
use crate::team::{Help, Helpers};

/// The helper is kept, for the model to run.
struct Waits(Arc<std::sync::Mutex<Option<Help>>>);

impl Helpers for Waits {
    fn width(&self) -> usize {
        1
    }

    fn ask(&self, help: Help) {
        *self.0.lock().expect("nobody has panicked") = Some(help);
    }
}

/// The owner is aborted: the helper has not begun, and never does, or the owner waits for its end.
#[test]
fn an_owner_that_goes_leaves_nothing_running() {
    explore("an_owner_that_goes_leaves_nothing_running", || {
        let kept = Arc::default();
        let team = Team::new(Box::new(Waits(Arc::clone(&kept))));
        let is_gone = Arc::new(AtomicBool::new(false));
        let ran_on = Arc::new(AtomicBool::new(false));
        let (seen, runs_on) = (is_gone.clone(), ran_on.clone());
        // SAFETY: it is dropped below, and borrows nothing.
        let mut handed = unsafe {
            Handed::borrowing(&team, move || {
                thread::yield_now();
                runs_on.store(seen.load(Ordering::SeqCst), Ordering::SeqCst);
            })
        };
        assert!(poll_once(Pin::new(&mut handed)).is_pending());
        let help = kept.lock().expect("nobody has panicked").take();
        let mut help = help.expect("a helper was asked for");
        let helper = thread::spawn(move || {
            assert_eq!(poll_once(Pin::new(&mut help)), Poll::Ready(()));
        });
        drop(handed);
        is_gone.store(true, Ordering::SeqCst);
        joined(helper);
        assert!(!ran_on.load(Ordering::SeqCst), "its owner had gone");
    });
}
