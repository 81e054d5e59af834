//! One of several operations.
//!
//! All wait, as the branches of one of our selects, of which one takes effect. What has come lies on the channel's desk
//! until the caller fetches it, as only then its type is known.
//!
//! The select is polled here until one has gone, and no longer than until the deadline: but if one of them has been woken
//! by then, it is polled once more. So when it gives up, all were waiting at one moment, and none could go.

use std::cell::Cell;
use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker, ready};
use std::time::{Duration, Instant};

use gossamer_channel::raw::Sending;
use gossamer_channel::select::{Select as OurSelect, Turn, places};
use gossamer_channel::{Closed, oneshot};
use gossamer_core::context::poll_branch;
use gossamer_core::policy::Shared;
use gossamer_core::wait::Wait;

use crate::channel::{Receiver, Sender};
use crate::error::{
    ReadyTimeoutError, RecvError, SelectTimeoutError, SendError, TryReadyError, TrySelectError,
};
use crate::promise::Message;
use crate::ready;

/// Which selection something came from.
type Ticket = Arc<()>;

/// Puts what has come on the desk.
type Settle<'a> = Box<dyn FnOnce(&Ticket) + 'a>;

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
    /// Goes at once to a receiver that waits for nothing else than a message, where nothing is held.
    fn hand_over(&self) -> Option<Settle<'_>>;
    /// Goes as soon as it can.
    fn wait(&self) -> Box<dyn Waits<'_> + '_>;
    /// Whether it could go.
    fn is_ready(&self) -> bool;
}

/// An operation that waits.
pub trait Waits<'a> {
    /// Polls it, as a branch of the select that is polled.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Settle<'a>>;
}

/// A send that waits, and what keeps the promise that it sends.
struct Sends<'a, T> {
    send: Pin<Box<Sending<'a, Message<T>, Shared>>>,
    keep: Option<oneshot::Sender<T>>,
    from: &'a Sender<T>,
}

impl<'a, T> Waits<'a> for Sends<'a, T> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Settle<'a>> {
        let sent = ready!(poll_branch(self.send.as_mut(), cx));
        let keep = self.keep.take().filter(|_| sent.is_ok());
        Poll::Ready(self.from.settle(keep))
    }
}

/// A receiver that waits.
struct Receives<'a, T> {
    receive: Pin<Box<dyn Future<Output = Result<Message<T>, Closed>> + 'a>>,
    to: &'a Receiver<T>,
}

impl<'a, T> Waits<'a> for Receives<'a, T> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Settle<'a>> {
        let received = ready!(self.receive.as_mut().poll(cx));
        Poll::Ready(self.to.settle(received.map_err(|Closed| RecvError)))
    }
}

impl<T> Sender<T> {
    fn settle(&self, keep: Option<oneshot::Sender<T>>) -> Settle<'_> {
        Box::new(|ticket| put(&self.desk.promised, ticket, keep))
    }
}

impl<T> Side for Sender<T> {
    fn hand_over(&self) -> Option<Settle<'_>> {
        if self.capacity() != Some(0) {
            return None;
        }
        let (keep, promise) = Message::promised();
        let sent = self.to.try_send(promise);
        sent.is_ok().then(|| self.settle(Some(keep)))
    }

    fn wait(&self) -> Box<dyn Waits<'_> + '_> {
        let (keep, promise) = Message::promised();
        Box::new(Sends {
            send: Box::pin(self.to.send(promise)),
            keep: Some(keep),
            from: self,
        })
    }

    fn is_ready(&self) -> bool {
        Sender::is_ready(self)
    }
}

impl<T> Receiver<T> {
    fn settle(&self, received: Result<Message<T>, RecvError>) -> Settle<'_> {
        Box::new(|ticket| {
            let opened = received.and_then(|message| message.open().ok_or(RecvError));
            put(&self.desk.received, ticket, opened);
        })
    }
}

impl<T> Side for Receiver<T> {
    fn hand_over(&self) -> Option<Settle<'_>> {
        None
    }

    fn wait(&self) -> Box<dyn Waits<'_> + '_> {
        Box::new(Receives {
            receive: Box::pin(self.next()),
            to: self,
        })
    }

    fn is_ready(&self) -> bool {
        Receiver::is_ready(self)
    }
}

/// Notes that one of the operations was woken.
struct Wakes {
    is_woken: Arc<AtomicBool>,
    waker: Waker,
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, SeqCst);
        self.waker.wake_by_ref();
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

    fn choose(&self, until: Until) -> Option<SelectedOperation<'a>> {
        let ticket = Ticket::default();
        let handed = matches!(until, Until::Now)
            .then(|| {
                self.turns()
                    .find_map(|(place, side)| Some((place, side.hand_over()?)))
            })
            .flatten();
        let (index, settle) = match handed {
            Some(handed) => handed,
            None => self.wait(until)?,
        };
        settle(&ticket);
        Some(SelectedOperation::new(index, ticket))
    }

    /// Waits for whichever comes first.
    fn wait(&self, until: Until) -> Option<(usize, Settle<'a>)> {
        let mut waits: Vec<_> = self.sides().map(|(at, side)| (at, side.wait())).collect();
        // Of those that have been asked. None has been, so far.
        let is_woken = Arc::new(AtomicBool::new(true));
        let gives_up = Cell::new(false);
        let branches = waits.len() + 1;
        let places = if self.biased { 0 } else { places(branches) };
        let mut select = pin!(OurSelect::new(branches, places, |at, cx| {
            // The select is over.
            let Some(cx) = cx else {
                return Turn::Out;
            };
            match waits.get_mut(at) {
                Some((place, wait)) => match wait.poll(cx) {
                    Poll::Ready(settle) => Turn::Ready(Some((*place, settle))),
                    Poll::Pending => Turn::Waits,
                },
                None if gives_up.get() && !is_woken.load(SeqCst) => Turn::Ready(None),
                None => Turn::Waits,
            }
        }));
        let deadline = match until {
            Until::Then(deadline) => Some(deadline),
            _ => None,
        };
        let mut limit = pin!(deadline.map(gossamer_time::sleep_until));
        let mut is_over = matches!(until, Until::Now);
        let polls = poll_fn(|cx| {
            loop {
                if let Some(limit) = limit.as_mut().as_pin_mut().filter(|_| !is_over) {
                    is_over = limit.poll(cx).is_ready();
                }
                gives_up.set(is_over && !is_woken.swap(false, SeqCst));
                let waker = Waker::from(Arc::new(Wakes {
                    is_woken: is_woken.clone(),
                    waker: cx.waker().clone(),
                }));
                let polled = select.as_mut().poll(&mut Context::from_waker(&waker));
                if polled.is_ready() || !is_over {
                    return polled;
                }
            }
        });
        polls.wait().flatten()
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
