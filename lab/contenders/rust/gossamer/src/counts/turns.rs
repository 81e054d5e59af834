//! Channels and locks: what never waits is one task, what always waits is two that take turns.

use std::future::Ready;

use channels::{Came, Channel, Tasks, Went};
use gossamer::yield_now;

/// Tasks of one kind, which give numbers.
pub(crate) type Alike<R> = Tasks<Ready<()>, R>;

/// How many messages the channel holds that is always full.
const CAPACITY: usize = 4;

pub(crate) fn alike<R>(receivers: Vec<R>) -> Alike<R> {
    Tasks {
        senders: Vec::new(),
        receivers,
    }
}

/// Sends into a channel of one and receives from it.
pub(crate) fn pass<C: Channel>(times: u64) -> Alike<impl Future<Output = u64> + use<C>> {
    let (mut tx, mut rx) = C::pair(Some(1));
    alike(vec![async move {
        let mut sum = 0_u64;
        for number in 0..times {
            C::send(&mut tx, number).await.went();
            sum += C::recv(&mut rx).await.message().unwrap_or(0);
        }
        sum
    }])
}

/// Each send finds the channel full and waits until one message is received. The receiver yields each time, so that
/// the next send comes first.
pub(crate) fn send_full<C: Channel>(
    times: u64,
) -> Tasks<impl Future<Output = ()> + use<C>, impl Future<Output = u64> + use<C>> {
    let (mut tx, mut rx) = C::pair(Some(CAPACITY));
    let sender = async move {
        for number in 0..times {
            C::send(&mut tx, number).await.went();
        }
    };
    let receiver = async move {
        let mut sum = 0_u64;
        for _ in 0..times {
            sum += C::recv(&mut rx).await.message().unwrap_or(0);
            yield_now().await;
        }
        sum
    };
    Tasks {
        senders: vec![sender],
        receivers: vec![receiver],
    }
}

/// Acquires and gives back.
pub(crate) fn alone<A: Future>(
    times: u64,
    acquire: impl Fn() -> A,
) -> Alike<impl Future<Output = u64>> {
    alike(vec![async move {
        for _ in 0..times {
            drop(acquire().await);
        }
        times
    }])
}

/// Two tasks acquire what the other one has: each acquisition waits and is woken. Who has it yields, and yields again
/// when it has given it back.
pub(crate) fn contended<A: Future>(
    times: u64,
    acquire: impl Fn() -> A + Copy,
) -> Alike<impl Future<Output = u64>> {
    let task = || async move {
        for _ in 0..times / 2 {
            let held = acquire().await;
            yield_now().await;
            drop(held);
            yield_now().await;
        }
        times
    };
    alike(vec![task(), task()])
}
