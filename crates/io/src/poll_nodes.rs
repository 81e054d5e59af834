//! What waits for a connection that is polled without an operation, as the traits of other libraries do.
//!
//! A call such as `poll_read` comes and goes; the node that waits must stay where it is until it is woken. So a connection
//! keeps two of them, one a direction, on the heap, from the first call on that has to wait. A connection that nobody
//! polls this way, or that never has to wait, has a null pointer for them.
//!
//! A node waits for readiness, never for bytes: a call that is not repeated has read and written nothing.

use std::io;
use std::os::fd::AsFd;
use std::panic::Location;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use gossamer_core::mutant;
use gossamer_core::policy::Shared;
use gossamer_sync::raw::Try;

use crate::attempt::{self, Attempt, Moved};
use crate::source::{Source, Way};

pin_project_lite::pin_project! {
    /// The nodes.
    #[derive(Debug)]
    struct Nodes {
        #[pin]
        read: Try<'static, Shared>,
        #[pin]
        write: Try<'static, Shared>,
    }
}

/// What is kept from one call to the next. It goes before its socket, whose place in the table the next socket gets.
#[derive(Debug, Default)]
pub(crate) struct PollNodes(Option<Pin<Box<Nodes>>>);

impl PollNodes {
    /// Tries until the system does not say that it would have to wait.
    pub(crate) fn poll<S: AsFd, R>(
        &mut self,
        source: &Source<S>,
        way: Way,
        caller: &'static Location<'static>,
        cx: &mut Context<'_>,
        mut attempt: impl FnMut(&S) -> io::Result<(R, Moved)>,
    ) -> Poll<io::Result<R>> {
        if self.0.is_none() {
            let first = pin!(Attempt::new(source, way, caller));
            if let Poll::Ready(tried) = first.poll(cx, &mut attempt) {
                return Poll::Ready(tried);
            }
        }
        let node = |way| source.direction(way).ready(caller);
        let nodes = self.0.get_or_insert_with(|| {
            let (read, write) = (node(Way::In), node(Way::Out));
            Box::pin(Nodes { read, write })
        });
        let nodes = nodes.as_mut().project();
        let ready = match way {
            Way::In => nodes.read,
            Way::Out => nodes.write,
        };
        // For the next call. The other direction's may wait.
        let renew = || node(way);
        let mut used = UsedNode {
            ready,
            renew,
            waits: mutant!("panic_ends_its_direction"),
        };
        let polled = attempt::poll(used.ready.as_mut(), source, way, cx, attempt);
        used.waits = polled.is_pending();
        drop(used);
        if mutant!("error_one_way_drops_both") && matches!(polled, Poll::Ready(Err(_))) {
            self.0 = None;
        }
        polled
    }
}

/// A node that is renewed after a call, unless it waits: also if the attempt has panicked, since a node that is complete
/// can be polled no more.
struct UsedNode<'a, F: Fn() -> Try<'static, Shared>> {
    ready: Pin<&'a mut Try<'static, Shared>>,
    renew: F,
    waits: bool,
}

impl<F: Fn() -> Try<'static, Shared>> Drop for UsedNode<'_, F> {
    fn drop(&mut self) {
        if !self.waits {
            self.ready.set((self.renew)());
        }
    }
}
