//! What a thread is asked to do while it waits for scopes, one inside the other.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Wake;

use super::*;

/// Counts how often it is called; as a child, how often it is ended.
#[derive(Default)]
struct Counts(AtomicUsize);

impl Counts {
    fn so_far(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for Counts {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Child for Counts {
    fn poll(&self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }

    fn end(&self) -> End {
        self.0.fetch_add(1, Ordering::SeqCst);
        End::Over
    }

    fn is_fiber(&self) -> bool {
        false
    }

    fn is_over(&self) -> bool {
        self.so_far() > 0
    }

    fn task_goes(&self) {}
}

#[test]
fn an_inner_wait_leaves_requests_to_the_outer() {
    let (outer_calls, inner_calls) = (Arc::new(Counts::default()), Arc::new(Counts::default()));
    let child = Arc::new(Counts::default());
    let outer = Serving::begin();
    outer.serve(&Waker::from(outer_calls.clone()));
    let inner = Serving::begin();
    inner.serve(&Waker::from(inner_calls.clone()));
    Host::here().ask(child.clone());
    assert_eq!((outer_calls.so_far(), inner_calls.so_far()), (0, 1));
    drop(inner);
    assert_eq!((outer_calls.so_far(), inner_calls.so_far()), (1, 1));
    outer.serve(&Waker::from(outer_calls));
    assert_eq!(child.so_far(), 1);
}

#[test]
fn a_request_goes_with_what_it_is_for() {
    let host = Host::here();
    let (once, over) = (Arc::new(Counts::default()), Arc::new(Counts::default()));
    let _done = over.end();
    host.ask(over);
    assert!(host.state.lock().requests.is_empty());
    host.ask(once.clone());
    host.ask(once.clone());
    assert_eq!(host.state.lock().requests.len(), 1);
    host.forget(Arc::as_ptr(&once).addr());
    assert!(host.state.lock().requests.is_empty());
}

/// Its thread has ended it, and then itself, while it was about to be asked for.
#[test]
fn what_is_over_is_not_asked_for() {
    let state = State {
        gone: true,
        ..State::default()
    };
    let host = Host {
        thread: thread::current().id(),
        state: Mutex::new(state),
    };
    let over = Arc::new(Counts::default());
    let _done = over.end();
    host.ask(over);
    assert!(host.state.lock().requests.is_empty());
}
