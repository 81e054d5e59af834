//! One of several operations.
//!
//! All wait, by our [`any`](gossamer_channel::select::any); before, if one of several that can go is to be preferred,
//! or none may wait, they are tried one by one. What has come lies on the channel's desk until the caller fetches it,
//! as only then its type is known.
//!
//! Our operations are each for itself, and two of one list may both take effect, or take effect upon each other. What
//! was sent so was a promise, and is taken back. That one list sends and receives on one rendezvous channel is a case
//! of its own: it would be its own partner all the time; so the receiving one does not wait, but is tried once a round,
//! and a round is short.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gossamer_channel as ours;
use gossamer_channel::oneshot;
use gossamer_core::wait::Wait;

use crate::channel::{Receiver, Sender, Source};
use crate::error::{
    ReadyTimeoutError, RecvError, SelectTimeoutError, SendError, TryReadyError, TrySelectError,
};
use crate::promise::Message;
use crate::ready;

/// Which selection something came from.
type Ticket = Arc<()>;

/// Puts what has come on the desk; false: it was a promise that was taken back.
type Settle<'a> = Box<dyn FnOnce(&Ticket) -> bool + 'a>;

/// What has come, and is not fetched yet.
pub(crate) struct Desk<T> {
    received: Mutex<Vec<(Ticket, Result<T, RecvError>)>>,
    /// `None`: nobody is left to receive.
    promised: Mutex<Vec<(Ticket, Option<oneshot::Sender<T>>)>>,
}

impl<T> Desk<T> {
    pub(crate) fn new() -> Self {
        Self {
            received: Mutex::new(Vec::new()),
            promised: Mutex::new(Vec::new()),
        }
    }
}

fn put<O>(on: &Mutex<Vec<(Ticket, O)>>, ticket: &Ticket, what: O) {
    let mut on = on.lock().unwrap_or_else(PoisonError::into_inner);
    on.push((ticket.clone(), what));
}

fn fetch<O>(from: &Mutex<Vec<(Ticket, O)>>, ticket: &Ticket) -> O {
    let mut from = from.lock().unwrap_or_else(PoisonError::into_inner);
    let place = from
        .iter()
        .position(|(other, _)| Arc::ptr_eq(other, ticket));
    let place = place.expect("the selected operation is one of another end");
    from.swap_remove(place).1
}

/// An end that takes part, without its type.
pub trait Side {
    /// Goes, if it can at once. Whether it may go to a receiver that waits, though that may be about to choose another.
    fn attempt(&self, boldly: bool) -> Option<Settle<'_>>;
    /// Goes as soon as it can.
    fn wait(&self) -> Pin<Box<dyn Future<Output = Settle<'_>> + '_>>;
    /// Whether it could go.
    fn is_ready(&self) -> bool;
    /// Of which channel that holds nothing, and whether it sends.
    fn rendezvous(&self) -> Option<(*const (), bool)>;
}

impl<T> Sender<T> {
    fn settle(&self, keep: Option<oneshot::Sender<T>>) -> Settle<'_> {
        Box::new(|ticket| {
            put(&self.desk.promised, ticket, keep);
            true
        })
    }
}

impl<T> Side for Sender<T> {
    fn attempt(&self, boldly: bool) -> Option<Settle<'_>> {
        if !boldly && self.rendezvous().is_some() && !self.to.is_closed() {
            return None;
        }
        let (keep, promise) = Message::promised();
        match self.to.try_send(promise) {
            Ok(()) => Some(self.settle(Some(keep))),
            Err(ours::TrySendError::Closed(_)) => Some(self.settle(None)),
            Err(ours::TrySendError::Full(_)) => None,
        }
    }

    fn wait(&self) -> Pin<Box<dyn Future<Output = Settle<'_>> + '_>> {
        Box::pin(async {
            let (keep, promise) = Message::promised();
            let sent = self.to.send(promise).await;
            self.settle(sent.is_ok().then_some(keep))
        })
    }

    fn is_ready(&self) -> bool {
        Sender::is_ready(self)
    }

    fn rendezvous(&self) -> Option<(*const (), bool)> {
        let holds_nothing = self.capacity() == Some(0);
        holds_nothing.then(|| (Arc::as_ptr(&self.desk).cast(), true))
    }
}

impl<T> Receiver<T> {
    fn settle(&self, received: Result<Message<T>, RecvError>) -> Settle<'_> {
        Box::new(|ticket| {
            let received = match received.map(Message::open) {
                Ok(Some(message)) => Ok(message),
                Ok(None) => return false,
                Err(error) => Err(error),
            };
            put(&self.desk.received, ticket, received);
            true
        })
    }
}

impl<T> Side for Receiver<T> {
    fn attempt(&self, _boldly: bool) -> Option<Settle<'_>> {
        let received = match &self.from {
            Source::Channel(from) => match from.try_recv() {
                Ok(message) => Ok(message),
                Err(ours::TryRecvError::Closed) => Err(RecvError),
                Err(ours::TryRecvError::Empty) => return None,
            },
            Source::Clock(clock) => Ok(Message::Here(clock.take()?)),
            Source::Never => return None,
        };
        Some(self.settle(received))
    }

    fn wait(&self) -> Pin<Box<dyn Future<Output = Settle<'_>> + '_>> {
        Box::pin(async {
            let received = self.next().await;
            self.settle(received.map_err(|_| RecvError))
        })
    }

    fn is_ready(&self) -> bool {
        Receiver::is_ready(self)
    }

    fn rendezvous(&self) -> Option<(*const (), bool)> {
        let holds_nothing =
            matches!(&self.from, Source::Channel(from) if from.capacity() == Some(0));
        holds_nothing.then(|| (Arc::as_ptr(&self.desk).cast(), false))
    }
}

/// How long a selection waits.
#[derive(Clone, Copy)]
enum Until {
    Now,
    Then(Instant),
    Ever,
}

/// A list of operations.
pub struct List<'a, S: ?Sized> {
    /// `None`: removed.
    sides: Vec<Option<&'a S>>,
    biased: bool,
}

/// One that can be sent to other threads, as the tests do.
pub type Select<'a> = List<'a, dyn Side + Send + Sync + 'a>;

/// One of the macro, for messages of any kind.
pub type Here<'a> = List<'a, dyn Side + 'a>;

macro_rules! lists {
    ($($side:ty, ($($bound:tt)*);)+) => {$(
        impl<'a> List<'a, $side> {
            /// Sending; gives its place.
            pub fn send<T: $($bound)*>(&mut self, sender: &'a Sender<T>) -> usize {
                self.add(sender)
            }

            /// Receiving; gives its place.
            pub fn recv<T: $($bound)*>(&mut self, receiver: &'a Receiver<T>) -> usize {
                self.add(receiver)
            }

            /// An empty list.
            #[allow(clippy::new_without_default)]
            pub fn new() -> Self {
                Self { sides: Vec::new(), biased: false }
            }

            /// An empty list, of which the first that can go goes.
            pub fn new_biased() -> Self {
                Self { sides: Vec::new(), biased: true }
            }
        }
    )+};
}

lists! {
    dyn Side + Send + Sync + 'a, (Send);
    dyn Side + 'a, ();
}

impl<S: ?Sized> Clone for List<'_, S> {
    fn clone(&self) -> Self {
        Self {
            sides: self.sides.clone(),
            biased: self.biased,
        }
    }
}

impl<'a, S: Side + ?Sized> List<'a, S> {
    fn add(&mut self, side: &'a S) -> usize {
        self.sides.push(Some(side));
        self.sides.len() - 1
    }

    /// Takes one out.
    pub fn remove(&mut self, index: usize) {
        let side = self.sides.get_mut(index).and_then(Option::take);
        side.expect("no operation with this index");
    }

    /// The operations with their places.
    fn sides(&self) -> impl Iterator<Item = (usize, &'a S)> + '_ {
        let sides = self.sides.iter().enumerate();
        sides.filter_map(|(place, side)| Some((place, (*side)?)))
    }

    /// The same in random order, if none is to be preferred.
    fn turns(&self) -> impl Iterator<Item = (usize, &'a S)> + use<'a, S> {
        let mut sides: Vec<_> = self.sides().collect();
        if !self.biased {
            for at in (1..sides.len()).rev() {
                sides.swap(at, gossamer_core::context::random() as usize % (at + 1));
            }
        }
        sides.into_iter()
    }

    /// Goes without waiting, with one of those that it is to try.
    fn attempt(&self, boldly: bool, tries: impl Fn(&S) -> bool) -> Option<(usize, Settle<'a>)> {
        let mut turns = self.turns().filter(|(_, side)| tries(side));
        turns.find_map(|(place, side)| Some((place, side.attempt(boldly)?)))
    }

    /// Whether it would be its own partner by waiting.
    fn meets_itself(&self, side: &S) -> bool {
        let Some((channel, false)) = side.rendezvous() else {
            return false;
        };
        let mut sides = self.sides.iter().flatten();
        sides.any(|side| side.rendezvous() == Some((channel, true)))
    }

    /// Waits for whichever comes first.
    fn wait(&self, deadline: Option<Instant>) -> Option<(usize, Settle<'a>)> {
        let all = self.sides().count();
        let waiting = self.sides().filter(|(_, side)| !self.meets_itself(side));
        let (places, waits): (Vec<_>, Vec<_>) =
            waiting.map(|(place, side)| (place, side.wait())).unzip();
        if waits.is_empty() {
            ready::rest(deadline);
            return None;
        }
        let in_rounds = waits.len() < all;
        let any = ours::select::any(waits);
        let (place, settle) = match deadline {
            _ if in_rounds => gossamer_time::timeout_at(ready::round(deadline), any)
                .wait()
                .ok()?,
            Some(deadline) => gossamer_time::timeout_at(deadline, any).wait().ok()?,
            None => any.wait(),
        };
        Some((places[place], settle))
    }

    fn choose(&self, until: Until) -> Option<SelectedOperation<'a>> {
        let ticket = Ticket::default();
        let deadline = match until {
            Until::Then(deadline) => Some(deadline),
            _ => None,
        };
        loop {
            let waits = !matches!(until, Until::Now);
            let mut chosen = if waits {
                // In any order it tries only what it will not wait for.
                let tries = |side: &S| self.biased || self.meets_itself(side);
                let before = self.attempt(false, tries);
                before.or_else(|| self.wait(deadline))
            } else {
                self.attempt(true, |_| true)
            };
            let is_over = !waits || deadline.is_some_and(|deadline| deadline <= Instant::now());
            if chosen.is_none() && is_over {
                // Each could not go when it was asked, but perhaps there was no moment at which none could: one that
                // was asked early may have become ready before a later one no longer was.
                chosen = self.attempt(!waits, |_| true);
            }
            if let Some((index, settle)) = chosen {
                if settle(&ticket) {
                    return Some(SelectedOperation::new(index, ticket));
                }
            } else if is_over {
                return None;
            }
        }
    }

    /// One that can go at once.
    pub fn try_select(&mut self) -> Result<SelectedOperation<'a>, TrySelectError> {
        self.choose(Until::Now).ok_or(TrySelectError)
    }

    /// The first that can go.
    pub fn select(&mut self) -> SelectedOperation<'a> {
        self.refuse_empty();
        let chosen = self.choose(Until::Ever);
        chosen.expect("there is no end of waiting")
    }

    fn refuse_empty(&self) {
        if self.sides().next().is_none() {
            panic!("no operations have been added to `Select`");
        }
    }

    /// The first that can go within this time.
    pub fn select_timeout(
        &mut self,
        timeout: Duration,
    ) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.select_deadline(deadline),
            None => Ok(self.select()),
        }
    }

    /// The first that can go until then.
    pub fn select_deadline(
        &mut self,
        deadline: Instant,
    ) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
        let chosen = self.choose(Until::Then(deadline));
        chosen.ok_or(SelectTimeoutError)
    }

    fn find_ready(&self) -> Option<usize> {
        let ready = self.turns().find(|(_, side)| side.is_ready());
        ready.map(|(place, _)| place)
    }

    /// The place of one that could go at once.
    pub fn try_ready(&mut self) -> Result<usize, TryReadyError> {
        self.find_ready().ok_or(TryReadyError)
    }

    /// The place of the first that could go.
    pub fn ready(&mut self) -> usize {
        self.refuse_empty();
        ready::look(None, || self.find_ready()).expect("there is no end of waiting")
    }

    /// The place of the first that could go within this time.
    pub fn ready_timeout(&mut self, timeout: Duration) -> Result<usize, ReadyTimeoutError> {
        let deadline = Instant::now().checked_add(timeout);
        ready::look(deadline, || self.find_ready()).ok_or(ReadyTimeoutError)
    }

    /// The place of the first that could go until then.
    pub fn ready_deadline(&mut self, deadline: Instant) -> Result<usize, ReadyTimeoutError> {
        ready::look(Some(deadline), || self.find_ready()).ok_or(ReadyTimeoutError)
    }
}

impl<S: ?Sized> fmt::Debug for List<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Select { .. }")
    }
}

/// The one that goes; it is finished with the end that it began with.
#[must_use]
pub struct SelectedOperation<'a> {
    index: usize,
    ticket: Ticket,
    list: PhantomData<&'a ()>,
}

impl SelectedOperation<'_> {
    fn new(index: usize, ticket: Ticket) -> Self {
        Self {
            index,
            ticket,
            list: PhantomData,
        }
    }

    /// Its place in the list.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Keeps the promise.
    pub fn send<T>(self, sender: &Sender<T>, message: T) -> Result<(), SendError<T>> {
        match fetch(&sender.desk.promised, &self.ticket) {
            // That the other end has gone now is as if it went with the message.
            Some(keep) => drop(keep.send(message)),
            None => return Err(SendError(message)),
        }
        Ok(())
    }

    /// What has come.
    pub fn recv<T>(self, receiver: &Receiver<T>) -> Result<T, RecvError> {
        fetch(&receiver.desk.received, &self.ticket)
    }
}

impl fmt::Debug for SelectedOperation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SelectedOperation { .. }")
    }
}
