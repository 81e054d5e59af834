//! Waiting for what no event tells: by trying again and again, after pauses.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use gossamer_time::{Sleep, sleep};

/// The first pause; each later one is twice as long as the one before.
const FIRST: Duration = Duration::from_millis(1);
/// No pause is longer.
const LONGEST: Duration = Duration::from_millis(64);

pin_project_lite::pin_project! {
    /// Pauses between attempts.
    #[derive(Debug)]
    pub(crate) struct Pauses {
        #[pin]
        pause: Sleep,
        next: Duration,
    }
}

impl Pauses {
    /// Before the first attempt there is none.
    pub(crate) fn new() -> Self {
        Self {
            pause: sleep(Duration::ZERO),
            next: FIRST,
        }
    }

    /// Tries until the system does not say that it would have to wait.
    pub(crate) fn poll<R>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut attempt: impl FnMut() -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        let mut this = self.project();
        loop {
            ready!(this.pause.as_mut().poll(cx));
            let pause = match attempt() {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let pause = *this.next;
                    *this.next = LONGEST.min(pause * 2);
                    pause
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => Duration::ZERO,
                tried => return Poll::Ready(tried),
            };
            this.pause.set(sleep(pause));
        }
    }
}
