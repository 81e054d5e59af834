//! Parked tasks: each waits for the one message of a channel of its own.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Mutex as Lock;
use std::task::Poll;

use gossamer::channel::{oneshot, oneshot::Receiver, oneshot::Sender};
use gossamer::{Runtime, Wait, yield_now};
use waiting::park::{self, AT_ONCE};

use gossamer_contender::Failure;
use gossamer_contender::args::{Args, said};

/// Whom the last of all tasks tells.
struct Last(Lock<Option<Sender<u64>>>);

static PARKED: Last = Last(Lock::new(None));
static WOKEN: Last = Last(Lock::new(None));

impl Last {
    fn receiver(&self) -> Receiver<u64> {
        let (sender, receiver) = oneshot();
        if let Ok(mut mvar) = self.0.lock() {
            *mvar = Some(sender);
        }
        receiver
    }

    fn tells(&self) {
        if let Some(sender) = self.0.lock().ok().and_then(|mut sender| sender.take()) {
            let _ = sender.send(0);
        }
    }
}

/// The sum of what all tasks are sent.
pub(crate) fn run(args: &Args) -> Result<u64, Failure> {
    args.only(&["--kind", "--threads"])?;
    let threads = args.number("--threads", 1_000)?;
    park::expect(threads);
    let rt = args.runtime()?;
    rt.spawn(all(rt, threads)).wait().map_err(said)
}

async fn all(rt: &'static Runtime, threads: u64) -> u64 {
    let (parked, woken) = (PARKED.receiver(), WOKEN.receiver());
    let mut senders = Vec::with_capacity(threads as usize);
    for number in 0..threads {
        let (sender, receiver) = oneshot();
        senders.push(sender);
        drop(rt.spawn(parking(receiver)));
        if number % AT_ONCE == 0 {
            yield_now().await;
        }
    }
    let _ = parked.await;
    for (number, sender) in (0..).zip(senders) {
        let _ = sender.send(number);
        if number % AT_ONCE == 0 {
            yield_now().await;
        }
    }
    let _ = woken.await;
    park::sum()
}

/// One task. An `async` block would have two `MVar`s for the receiver, and a note of having begun.
fn parking(mut receiver: Receiver<u64>) -> impl Future<Output = ()> {
    poll_fn(move |context| {
        let polled = Pin::new(&mut receiver).poll(context);
        // A number that got lost would make the sum wrong, which the lab sees.
        let (mvar, is_last) = match polled {
            Poll::Pending => (&PARKED, park::parks()),
            Poll::Ready(number) => (&WOKEN, park::woke(number.unwrap_or(0))),
        };
        if is_last {
            mvar.tells();
        }
        polled.map(drop)
    })
}
