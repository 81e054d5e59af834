//! Cancellation tokens.

use std::future::pending;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use gossamer::{CancellationToken, Wait, yield_now};

use super::each_runtime;
use crate::hand::{Hand, parked};

#[test]
fn parents_cancel_children_and_not_the_other_way_round() {
    let root = CancellationToken::new();
    let (left, right) = (root.child(), root.child());
    let below = left.child();
    left.cancel();
    assert!(left.is_cancelled() && below.is_cancelled());
    assert!(!root.is_cancelled() && !right.is_cancelled());
    // Born cancelled, and a child of that, too.
    assert!(below.child().child().is_cancelled());
    root.cancel();
    root.cancel();
    assert!(right.is_cancelled() && root.clone().is_cancelled());
}

#[test]
fn tasks_fibers_and_threads_are_told() {
    each_runtime(|rt| {
        let root = CancellationToken::new();
        let (one, two, three) = (root.child(), root.clone(), root.child());
        let four = three.child();
        let tasks = [
            rt.spawn(root.child().cancelled_owned()),
            rt.spawn(async move { one.cancelled().await }),
            rt.spawn_fiber(move || two.cancelled().wait()),
            rt.spawn_thread(move || three.cancelled().wait()),
            rt.spawn(
                async move { assert_eq!(four.run_until_cancelled(pending::<()>()).await, None) },
            ),
        ];
        rt.spawn(yield_now()).wait().expect("no panic");
        root.cancel();
        for task in tasks {
            task.wait().expect("no panic");
        }
    });
}

#[test]
fn the_token_is_asked_first() {
    let token = CancellationToken::new();
    assert_eq!(token.run_until_cancelled(async { 1 }).wait(), Some(1));
    let mut polled = false;
    token.cancel();
    assert_eq!(
        token.run_until_cancelled(async { polled = true }).wait(),
        None
    );
    assert!(!polled);
}

#[test]
fn a_guard_cancels_when_it_is_dropped() {
    let token = CancellationToken::new();
    let child = token.child();
    drop(child.clone().drop_guard().disarm());
    assert!(!child.is_cancelled());
    drop(child.clone().drop_guard());
    assert!(child.is_cancelled() && !token.is_cancelled());
}

#[test]
fn dropped_children_leave_nothing() {
    let root = CancellationToken::new();
    for _ in 0..1_000 {
        drop(root.child().child());
    }
    assert_eq!(root.nodes(), 1);
    // Parents whose tokens are gone do not stay, as long as they have one child.
    let mut last = root.child();
    for _ in 0..100_000 {
        last = last.child();
    }
    assert_eq!(root.nodes(), 2);
    root.cancel();
    assert!(last.is_cancelled());
    // With two, they do, and the tokens below are cancelled all the same.
    let root = CancellationToken::new();
    let middle = root.child();
    let (left, right) = (middle.child(), middle.child());
    drop(middle);
    assert_eq!(root.nodes(), 4);
    drop(left);
    assert_eq!(root.nodes(), 2);
    root.cancel();
    assert!(right.is_cancelled());
}

/// Of nodes without a token, those go that are cancelled, or have a child less by that.
#[test]
fn cancelled_children_leave_nothing() {
    let root = CancellationToken::new();
    for _ in 0..10 {
        let middle = root.child();
        let (left, right) = (middle.child(), middle.child());
        drop(middle);
        left.cancel();
        drop(left);
        assert_eq!(root.nodes(), 2);
        right.cancel();
        drop(right);
        assert_eq!(root.nodes(), 1);
    }
    let all = root.child();
    let both = all.child();
    let (left, right) = (both.child(), both.child());
    drop(both);
    all.cancel();
    assert!(left.is_cancelled() && right.is_cancelled());
    drop((all, left, right));
    assert_eq!(root.nodes(), 1);
}

/// A token that was cancelled and then dropped says nothing to those that were beside it.
#[test]
fn a_cancelled_token_goes_late() {
    let root = CancellationToken::new();
    let (group, other) = (root.child(), root.child());
    let (before, middle, after) = (group.child(), group.child(), group.child());
    middle.cancel();
    drop(before);
    let stranger = other.child();
    drop(middle);
    group.cancel();
    assert!(after.is_cancelled() && !stranger.is_cancelled());
    other.cancel();
    assert!(stranger.is_cancelled());
}

#[test]
fn a_long_chain_of_living_tokens() {
    let mut chain = vec![CancellationToken::new()];
    for at in 0..200_000 {
        chain.push(chain[at].child());
    }
    let middle = chain[100_000].clone();
    middle.cancel();
    let cancelled = chain.iter().filter(|token| token.is_cancelled()).count();
    assert_eq!(cancelled, 100_001);
    chain[0].cancel();
    assert!(chain.iter().all(CancellationToken::is_cancelled));
    // And one that is dropped from its root on.
    let mut chain = vec![CancellationToken::new()];
    for at in 0..200_000 {
        chain.push(chain[at].child());
    }
    chain.drain(..200_000);
    assert_eq!(chain[0].nodes(), 1);
}

/// Panics whenever it is called, cloned or dropped, as told.
struct Ill {
    wakes: bool,
}

impl Wake for Ill {
    fn wake(self: Arc<Self>) {
        assert!(!self.wakes, "planned");
    }
}

#[test]
fn foreign_wakers_that_panic_harm_nobody() {
    let token = CancellationToken::new();
    let ill = Waker::from(Arc::new(Ill { wakes: true }));
    let mut first = Hand::new(token.cancelled());
    assert!(first.poll_with(&ill).is_pending());
    let mut second = parked(token.cancelled());
    token.cancel();
    assert_eq!(second.wakes(), 1);
    assert!(second.poll().is_ready() && first.poll().is_ready());
}

#[test]
fn dropped_at_every_moment_they_leave_no_waker() {
    let token = CancellationToken::new();
    let hands = [
        parked(token.cancelled()),
        parked(token.cancelled()),
        parked(token.cancelled()),
    ];
    let [one, mut two, three] = hands;
    assert_eq!(two.wakers_held(), 1);
    drop(one);
    let mut cx = Context::from_waker(Waker::noop());
    assert!(two.poll().is_pending());
    token.cancel();
    assert_eq!((two.wakes(), three.wakes()), (1, 1));
    assert_eq!(two.wakers_held(), 0);
    drop(three);
    assert_eq!(two.poll(), Poll::Ready(()));
    assert!(
        std::pin::pin!(token.cancelled())
            .as_mut()
            .poll(&mut cx)
            .is_ready()
    );
}

/// Whoever finds the token cancelled finds all below it cancelled, too.
#[test]
fn two_cancel_at_once() {
    for _ in 0..200 {
        let root = CancellationToken::new();
        let below: Vec<_> = (0..50).map(|_| root.child()).collect();
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    root.cancel();
                    assert!(below.iter().all(CancellationToken::is_cancelled));
                });
            }
            s.spawn(|| {
                for _ in 0..20 {
                    let child = root.child();
                    assert!(!root.is_cancelled() || root.child().is_cancelled());
                    drop(child);
                }
            });
        });
    }
}
