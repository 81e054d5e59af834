//! Values whose making may fail: the cell stays empty, and the next in line makes them.

use std::pin::Pin;
use std::task::{Context, Poll};

use gossamer::Wait;

use crate::bad_wakers::{fails, planned};
use crate::flavour::both;
use crate::hand::{Hand, parked, ready};
use crate::locks::Locks;

both! {
    one_that_fails_lets_the_next,
    a_future_that_fails_and_panics_lets_the_next,
    a_cell_of_ones_own,
}

fn one_that_fails_lets_the_next<F: Locks>() {
    let cell = F::once_cell();
    let first = parked(cell.get_or_try_init(std::future::pending::<Result<u32, &str>>));
    let mut second = parked(cell.get_or_try_init(async || Err("none there")));
    let mut third = parked(cell.get_or_try_init(async || Ok::<_, &str>(3)));
    let mut fourth = parked(cell.get_or_init(async || 4));
    drop(first);
    assert_eq!((second.wakes(), third.wakes()), (1, 0));
    assert_eq!(ready(second.poll()), Err("none there"));
    assert_eq!((third.wakes(), fourth.wakes(), cell.get()), (1, 0, None));
    // The one that has failed is complete, and nobody else's turn ends with it.
    drop(second);
    assert!(cell.set(9).is_err());
    assert_eq!(ready(third.poll()), Ok(&3));
    assert_eq!((fourth.wakes(), ready(fourth.poll())), (1, &3));
    let made = cell.get_or_try_init(async || Err("it is there")).wait();
    assert_eq!(made, Ok(&3));
}

fn a_future_that_fails_and_panics_lets_the_next<F: Locks>() {
    /// It panics when it is dropped.
    struct Fails;
    impl Future for Fails {
        type Output = Result<u32, ()>;

        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
            Poll::Ready(Err(()))
        }
    }
    impl Drop for Fails {
        fn drop(&mut self) {
            planned();
        }
    }
    let cell = F::once_cell();
    let mut bad = Hand::new(cell.get_or_try_init(|| Fails));
    fails(|| assert!(bad.poll().is_pending()));
    let mut next = Hand::new(cell.get_or_try_init(std::future::pending::<Result<u32, ()>>));
    assert!(next.poll().is_pending());
    // It has given up once, and does not take the next one's turn.
    drop(bad);
    assert!(cell.set(1).is_err());
    drop(next);
    assert!(cell.set(1).is_ok());
}

fn a_cell_of_ones_own<F: Locks>() {
    let mut cell = F::once_cell();
    assert!(cell.get_mut().is_none() && cell.take().is_none());
    assert_eq!(*cell.get_or_init(async || vec![1]).wait(), [1]);
    cell.get_mut().expect("it was made").push(2);
    assert_eq!(cell.take(), Some(vec![1, 2]));
    assert_eq!(*cell.get_or_init(async || vec![3]).wait(), [3]);
}

#[test]
fn a_lazy_value_is_made_once_by_the_first_that_asks() {
    let calls = std::cell::Cell::new(0);
    let lazy = gossamer::local::Lazy::new(|| {
        calls.set(calls.get() + 1);
        async {
            if calls.get() == 1 {
                std::future::pending::<()>().await;
            }
            calls.get()
        }
    });
    assert_eq!((lazy.get(), calls.get()), (None, 0));
    // The first one is dropped in the midst of it; the second one makes it anew.
    let first = parked(lazy.force());
    let mut second = parked(lazy.force());
    drop(first);
    assert_eq!(second.wakes(), 1);
    assert_eq!(*ready(second.poll()), 2);
    drop(second);
    assert_eq!(
        (lazy.get(), *lazy.force().wait(), calls.get()),
        (Some(&2), 2, 2)
    );
    assert_eq!(format!("{lazy:?}"), "Lazy(Some(2))");
}
