//! `MVar`: each rule that its documentation states.
//!
//! Every rule runs on sim twice: with scheduling points, so that tasks change between any two
//! operations; and without, by the short ways that production takes. (The small programs of the shared flavour only
//! without.)

mod cancelling;
mod model;
mod panics;
mod queues;
mod replacing;
mod small;
mod table;

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;

use gossamer::yield_now;

use crate::exploring::SCHEDULING_POINTS;

/// Who came and who went, in order.
#[derive(Default)]
struct Line {
    came: RefCell<Vec<u32>>,
    went: RefCell<Vec<u32>>,
}

impl Line {
    /// Awaits an operation, noting when it came to its line and when it was served.
    ///
    /// The first poll joins the line (or acts at once), the second follows the one wake-up there is,
    /// and completes. With scheduling points, there is one poll before these.
    async fn pass<O: Future>(&self, id: u32, operation: O) -> O::Output {
        self.pass_overtaken(id, 0, operation).await
    }

    /// As [`Line::pass`], for an operation that may be woken in vain so often.
    async fn pass_overtaken<O: Future>(&self, id: u32, in_vain: usize, operation: O) -> O::Output {
        let mut operation = pin!(operation);
        let joins = if SCHEDULING_POINTS.get() {
            2
        } else {
            yield_now().await;
            1
        };
        let mut polls = 0;
        poll_fn(|cx| {
            polls += 1;
            if polls == joins {
                self.came.borrow_mut().push(id);
            }
            let polled = operation.as_mut().poll(cx);
            if polled.is_ready() {
                self.went.borrow_mut().push(id);
            }
            let last = polls > joins + in_vain;
            assert!(
                !last || polled.is_ready(),
                "it was woken and did not complete"
            );
            assert!(polls >= joins || polled.is_pending(), "it did not yield");
            polled
        })
        .await
    }

    fn assert_served_in_order(&self, count: usize) {
        assert_eq!(*self.came.borrow(), *self.went.borrow(), "came, and went");
        assert_eq!(self.came.borrow().len(), count);
    }
}
