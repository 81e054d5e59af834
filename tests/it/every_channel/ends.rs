//! The ends of a channel under test, its messages, and what a flavour has to say of itself.

use std::pin::Pin;
use std::rc::Rc;

use gossamer::channel::{Closed, SendError, TryRecvError, TrySendError};

use crate::tally::{Tally, Value};

/// An operation of an end, which may wait.
pub(super) type Operation<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// A sending end.
pub(super) trait Sends {
    fn try_send(&mut self, message: Message) -> Result<(), TrySendError<Message>>;

    fn send(&mut self, message: Message) -> Operation<'_, Result<(), SendError<Message>>>;

    /// Whether every receiver has gone; `None` if it cannot say.
    fn is_closed(&self) -> Option<bool> {
        None
    }

    /// One more sender of the same channel; `None` if there is only one.
    fn another(&self) -> Option<Tx> {
        None
    }
}

/// A receiving end.
pub(super) trait Receives {
    fn try_recv(&mut self) -> Result<Message, TryRecvError>;

    fn recv(&mut self) -> Operation<'_, Result<Message, Closed>>;

    /// At most so many at once; `None` if the channel has no such operation.
    fn recv_many<'a>(
        &'a mut self,
        _into: &'a mut Vec<Message>,
        _most: usize,
    ) -> Option<Operation<'a, Result<usize, Closed>>> {
        None
    }

    /// Whether every sender has gone; `None` if it cannot say.
    fn is_closed(&self) -> Option<bool> {
        None
    }

    /// One more receiver, which takes messages away from this one; `None` if there is only one.
    fn another(&self) -> Option<Rx> {
        None
    }
}

pub(super) type Tx = Box<dyn Sends>;
pub(super) type Rx = Box<dyn Receives>;

/// A flavour: its channels, and how they are explored.
pub(super) struct Kind {
    pub(super) variants: Vec<Variant>,
    /// Whether simulations have scheduling points inside of operations.
    pub(super) scheduling_points: bool,
}

/// One way to make a channel of a flavour.
pub(super) struct Variant {
    pub(super) make: fn() -> (Tx, Rx),
    /// So many messages are sent before one waits.
    pub(super) room: usize,
    /// So many may be sent in all.
    pub(super) messages: usize,
    /// Whether its end is still there when an operation was forgotten.
    pub(super) survives_forgetting: bool,
}

impl Variant {
    pub(super) const fn new(room: usize, make: fn() -> (Tx, Rx)) -> Self {
        Self {
            make,
            room,
            messages: usize::MAX,
            survives_forgetting: true,
        }
    }

    /// Whether a send can wait.
    pub(super) fn can_be_full(&self) -> bool {
        self.room < self.messages
    }

    /// A channel with as many messages as it has room for, but at most `most`: their number, too.
    pub(super) fn filled(&self, tally: &Tally, most: usize) -> (Tx, Rx, u32) {
        let (mut tx, rx) = (self.make)();
        let number = self.room.min(self.messages).min(most) as u32;
        for id in 0..number {
            assert!(tx.try_send(Message::new(tally, id)).is_ok());
        }
        (tx, rx, number)
    }
}

/// A counted message, which may do something when it is dropped.
pub(super) struct Message {
    pub(super) id: u32,
    _value: Value,
    when_dropped: Option<Rc<dyn Fn()>>,
}

impl Message {
    pub(super) fn new(tally: &Tally, id: u32) -> Self {
        Self {
            id,
            _value: tally.value(id),
            when_dropped: None,
        }
    }

    pub(super) fn when_dropped(self, does: impl Fn() + 'static) -> Self {
        let mut message = self;
        message.when_dropped = Some(Rc::new(does));
        message
    }
}

impl Clone for Message {
    fn clone(&self) -> Self {
        Self {
            id: self.id,
            _value: self._value.clone(),
            when_dropped: self.when_dropped.clone(),
        }
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        if let Some(does) = self.when_dropped.take() {
            does();
        }
    }
}
