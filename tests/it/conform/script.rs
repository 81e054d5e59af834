//! What an actor does, a step at a time, and what it sees.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use gossamer::{sync::MVar, yield_now};

/// The `MVar`s of a program.
pub(super) type MVars = Arc<Vec<MVar<u32>>>;

/// So many empty `MVar`s.
pub(super) fn mvars(count: usize) -> MVars {
    Arc::new((0..count).map(|_| MVar::empty()).collect())
}

/// What an actor does.
pub(super) type Script = Vec<Step>;

/// One operation on one `MVar`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    Put(usize, u32),
    Take(usize),
    Read(usize),
    Swap(usize, u32),
    Replace(usize, u32),
    /// Takes if there is something at once.
    TryTake(usize),
    /// Begins to take, lets others run, and gives up unless it has got something.
    AbandonTake(usize),
    /// Begins to put, lets others run, and gives up unless it is done.
    AbandonPut(usize, u32),
    Yield,
}

/// What came of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Saw {
    /// A value, taken out.
    Took(u32),
    /// A value that stayed.
    Read(u32),
    /// A value that was put.
    Put(u32),
    Nothing,
}

/// What an actor saw, in order.
#[derive(Debug, Default)]
pub(super) struct Seen(pub(super) Vec<Saw>);

impl Seen {
    pub(super) fn note(&mut self, saw: Saw) {
        self.0.push(saw);
    }

    /// The values that were taken out.
    pub(super) fn taken(&self) -> impl Iterator<Item = u32> {
        self.0.iter().filter_map(|saw| match saw {
            Saw::Took(value) => Some(*value),
            _ => None,
        })
    }

    /// The values that were put.
    pub(super) fn put(&self) -> impl Iterator<Item = u32> {
        self.0.iter().filter_map(|saw| match saw {
            Saw::Put(value) => Some(*value),
            _ => None,
        })
    }
}

impl Step {
    /// Does it.
    pub(super) async fn act(self, mvars: &MVars) -> Saw {
        match self {
            Step::Put(at, value) => {
                mvars[at].put(value).await;
                Saw::Put(value)
            }
            Step::Take(at) => Saw::Took(mvars[at].take().await),
            Step::Read(at) => Saw::Read(mvars[at].read().await),
            Step::Swap(at, value) => Saw::Took(mvars[at].swap(value).await),
            Step::Replace(at, value) => match mvars[at].replace(value).await {
                Some(before) => Saw::Took(before),
                None => Saw::Nothing,
            },
            Step::TryTake(at) => mvars[at].try_take().map_or(Saw::Nothing, Saw::Took),
            Step::AbandonTake(at) => {
                let taken = polled_twice(mvars[at].take()).await;
                taken.map_or(Saw::Nothing, Saw::Took)
            }
            Step::AbandonPut(at, value) => {
                let put = polled_twice(mvars[at].put(value)).await;
                put.map_or(Saw::Nothing, |()| Saw::Put(value))
            }
            Step::Yield => {
                yield_now().await;
                Saw::Nothing
            }
        }
    }
}

/// Polls an operation, lets others run, polls it again, and drops it.
async fn polled_twice<O: Future>(operation: O) -> Option<O::Output> {
    let mut operation = pin!(operation);
    for _ in 0..2 {
        let polled = poll_fn(|cx| Poll::Ready(operation.as_mut().poll(cx))).await;
        if let Poll::Ready(output) = polled {
            return Some(output);
        }
        yield_now().await;
    }
    None
}
