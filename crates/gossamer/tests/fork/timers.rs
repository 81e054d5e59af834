//! Timers in a forked child.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use gossamer::{Model, Runtime, Wait, time::sleep as rest, yield_now};

use super::Checked;
use super::child::in_child;

/// Those of a runtime without threads, of a thread that waits, and of a foreign executor: the child starts an alarm
/// thread of its own.
pub(super) fn go_on() -> Checked {
    const SOON: Duration = Duration::from_millis(1);
    foreign(rest(SOON));
    let rt = Runtime::builder().model(Model::Single).build()?;
    let mut task = Some(rt.spawn(rest(SOON)));
    rt.block_on(yield_now());
    let mut far = Box::pin(rest(Duration::from_secs(3600)));
    assert!(foreign(poll_fn(|cx| Poll::Ready(far.as_mut().poll(cx)))).is_pending());
    let mut child = Some((rt, far));
    in_child(|| {
        let (rt, far) = child.take().expect("there");
        drop(far);
        foreign(rest(SOON));
        rest(SOON).wait();
        rt.block_on(rest(SOON));
        task.take().expect("there").wait().expect("no panic");
    })?;
    foreign(rest(SOON));
    task.take().expect("there").wait()?;
    Ok(())
}

/// They lie on stacks that new threads of the child overwrite. Those that this thread has registered go on, also if
/// nobody polls them again.
pub(super) fn of_other_threads_are_gone() -> Checked {
    struct Woken(AtomicBool);
    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    /// Fills the part of a stack where its first calls have theirs.
    #[inline(never)]
    fn overwrite() {
        let full = [0x5A_u8; 200_000];
        std::hint::black_box(&full);
    }
    const SOON: Duration = Duration::from_millis(50);
    let all = Arc::new(std::sync::Barrier::new(3));
    let others = [true, false].map(|is_foreign| {
        let all = all.clone();
        thread::spawn(move || {
            let mut sleep = pin!(rest(SOON));
            let begin = poll_fn(|cx| {
                assert!(sleep.as_mut().poll(cx).is_pending());
                Poll::Ready(())
            });
            if is_foreign {
                foreign(begin);
            } else {
                begin.wait();
            }
            all.wait();
            all.wait();
        })
    });
    all.wait();
    let woken = Arc::new(Woken(AtomicBool::new(false)));
    let mut own = Box::pin(rest(SOON));
    let waker = Waker::from(woken.clone());
    assert!(
        own.as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    in_child(|| {
        for _ in 0..4 {
            thread::spawn(overwrite).join().expect("no panic");
        }
        while !woken.0.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        foreign(rest(SOON));
    })?;
    all.wait();
    for other in others {
        other.join().map_err(|_| "it panicked")?;
    }
    Ok(())
}

/// A foreign executor, the smallest there is.
fn foreign<F: Future>(future: F) -> F::Output {
    struct Unpark(thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
