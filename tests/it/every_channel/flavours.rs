//! The flavours: each kind of channel behind the traits.

use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use gossamer::channel::broadcast::{RecvError, TryRecvError as Missing};
use gossamer::channel::pipe::{Full, Receiving};
use gossamer::channel::{Closed, SendError, TryRecvError, TrySendError, UniqueSender, oneshot};
use gossamer::raw::LockPolicy;
use gossamer::raw::channel as raw;
use gossamer::raw::channel::spsc::{self, RingPolicy};

use super::ends::Operation;
pub(super) use super::permits::permits;
use super::{Kind, Message, Receives, Rx, Sends, Tx, Variant};
use crate::channel::Channels;
use crate::channel::broadcast::Broadcasts;
use crate::channel::sharing::Shares;
use crate::channel::spsc::Rings;
use crate::flavour::Flavour;
use crate::pipe::Pipes;
use crate::ports::Sets;
use crate::tally::Tally;

pub(super) fn kind<F: Flavour>(variants: Vec<Variant>) -> Kind {
    Kind {
        variants,
        scheduling_points: F::SCHEDULING_POINTS,
    }
}

/// An operation that gives something else than the channel's own, and may be polled after a panic.
fn mapped<'a, T, O: Future + 'a>(
    operation: O,
    map: impl Fn(O::Output) -> T + 'a,
) -> Operation<'a, T> {
    let mut operation = Box::pin(operation);
    Box::pin(poll_fn(move |cx| operation.as_mut().poll(cx).map(&map)))
}

pub(super) fn boxed(ends: (impl Sends + 'static, impl Receives + 'static)) -> (Tx, Rx) {
    (Box::new(ends.0), Box::new(ends.1))
}

/// Channels of many senders and receivers. That of one has had a message, and so memory: a task of one thread may wait
/// inline there to receive.
pub(super) fn channels<F: Channels>() -> Kind {
    fn used<F: Channels>(capacity: usize) -> (Tx, Rx) {
        let (tx, rx) = F::channel(capacity);
        assert!(tx.try_send(Message::new(&Tally::default(), 0)).is_ok());
        assert!(rx.try_recv().is_ok());
        boxed((tx, rx))
    }
    kind::<F>(vec![
        Variant::new(0, || boxed(F::channel(0))),
        Variant::new(1, || used::<F>(1)),
        Variant::new(3, || boxed(F::channel(3))),
        Variant::new(usize::MAX, || boxed(F::channel(usize::MAX))),
    ])
}

/// Rings, of one sender and one receiver.
pub(super) fn rings<F: Rings>() -> Kind {
    kind::<F>(vec![
        Variant::new(1, || boxed(F::ring(1))),
        Variant::new(2, || boxed(F::ring(2))),
        Variant::new(3, || boxed(F::ring(3))),
    ])
}

/// Broadcast channels, with one receiver, which is never so slow that it misses anything.
pub(super) fn broadcasts<F: Broadcasts>() -> Kind {
    kind::<F>(vec![Variant::new(usize::MAX, || {
        boxed(F::broadcast(1_000))
    })])
}

/// Pipes of a protocol in which one side speaks for ever.
pub(super) fn pipes<F: Pipes>() -> Kind {
    kind::<F>(vec![Variant {
        survives_forgetting: false,
        ..Variant::new(1, || {
            let (client, server) = flow::pipe_of::<Message, F::P>();
            boxed((Speaker::<F>::Ready(client), Listener::<F>(Some(server))))
        })
    }])
}

/// Sending ends that several share: of channels, and of a ring.
pub(super) fn shared_senders<F: Shares + Rings>() -> Kind {
    fn shared<F: Shares>(capacity: usize) -> (Tx, Rx) {
        let (tx, rx) = F::channel(capacity);
        boxed((F::shared(tx), rx))
    }
    kind::<F>(vec![
        Variant::new(1, || shared::<F>(1)),
        Variant::new(0, || shared::<F>(0)),
        Variant::new(1, || {
            let (tx, rx) = F::ring(1);
            boxed((F::shared_ring(tx), rx))
        }),
    ])
}

/// Sets of one port, which several receive from: of a channel, and of a ring.
pub(super) fn port_sets<F: Sets>() -> Kind {
    fn in_set<F: Sets>(
        tx: impl Sends + 'static,
        port: impl Into<raw::Port<Message, F::P>>,
    ) -> (Tx, Rx) {
        let set = Rc::new(F::set());
        assert!(set.add(port).is_ok());
        boxed((tx, set))
    }
    kind::<F>(vec![
        Variant::new(1, || {
            let (tx, rx) = F::channel(1);
            in_set::<F>(tx, rx)
        }),
        Variant::new(usize::MAX, || {
            let (tx, rx) = F::channel(usize::MAX);
            in_set::<F>(tx, rx)
        }),
        Variant::new(2, || {
            let (tx, rx) = F::ring(2);
            in_set::<F>(tx, rx)
        }),
    ])
}

/// The channel for one message.
pub(super) fn oneshots<F: Flavour>() -> Kind {
    kind::<F>(vec![Variant {
        messages: 1,
        ..Variant::new(1, || {
            let (tx, rx) = oneshot();
            boxed((Once(Some(tx)), rx))
        })
    }])
}

impl<P: LockPolicy> Sends for raw::Sender<Message, P> {
    fn try_send(&mut self, message: Message) -> Result<(), TrySendError<Message>> {
        raw::Sender::try_send(self, message)
    }

    fn send(&mut self, message: Message) -> Operation<'_, Result<(), SendError<Message>>> {
        Box::pin(raw::Sender::send(self, message))
    }

    fn another(&self) -> Option<Tx> {
        Some(Box::new(self.clone()))
    }

    fn is_closed(&self) -> Option<bool> {
        Some(raw::Sender::is_closed(self))
    }
}

impl<P: LockPolicy> Receives for raw::Receiver<Message, P> {
    fn try_recv(&mut self) -> Result<Message, TryRecvError> {
        raw::Receiver::try_recv(self)
    }

    fn recv(&mut self) -> Operation<'_, Result<Message, Closed>> {
        Box::pin(raw::Receiver::recv(self))
    }

    fn recv_many<'a>(
        &'a mut self,
        into: &'a mut Vec<Message>,
        most: usize,
    ) -> Option<Operation<'a, Result<usize, Closed>>> {
        Some(Box::pin(raw::Receiver::recv_many(self, into, most)))
    }

    fn another(&self) -> Option<Rx> {
        Some(Box::new(self.clone()))
    }

    fn is_closed(&self) -> Option<bool> {
        Some(raw::Receiver::is_closed(self))
    }
}

impl<P: RingPolicy> Sends for spsc::Sender<Message, P> {
    fn try_send(&mut self, message: Message) -> Result<(), TrySendError<Message>> {
        spsc::Sender::try_send(self, message)
    }

    fn send(&mut self, message: Message) -> Operation<'_, Result<(), SendError<Message>>> {
        Box::pin(spsc::Sender::send(self, message))
    }

    fn is_closed(&self) -> Option<bool> {
        Some(spsc::Sender::is_closed(self))
    }
}

impl<P: RingPolicy> Receives for spsc::Receiver<Message, P> {
    fn try_recv(&mut self) -> Result<Message, TryRecvError> {
        spsc::Receiver::try_recv(self)
    }

    fn recv(&mut self) -> Operation<'_, Result<Message, Closed>> {
        Box::pin(spsc::Receiver::recv(self))
    }

    fn recv_many<'a>(
        &'a mut self,
        into: &'a mut Vec<Message>,
        most: usize,
    ) -> Option<Operation<'a, Result<usize, Closed>>> {
        Some(Box::pin(spsc::Receiver::recv_many(self, into, most)))
    }

    fn is_closed(&self) -> Option<bool> {
        Some(spsc::Receiver::is_closed(self))
    }
}

impl<P: LockPolicy> Sends for raw::broadcast::Sender<Message, P> {
    fn try_send(&mut self, message: Message) -> Result<(), TrySendError<Message>> {
        let sent = raw::broadcast::Sender::send(self, message);
        sent.map_err(|SendError(message)| TrySendError::Closed(message))
    }

    fn send(&mut self, message: Message) -> Operation<'_, Result<(), SendError<Message>>> {
        Box::pin(async move { raw::broadcast::Sender::send(self, message) })
    }

    fn another(&self) -> Option<Tx> {
        Some(Box::new(self.clone()))
    }

    fn is_closed(&self) -> Option<bool> {
        Some(raw::broadcast::Sender::is_closed(self))
    }
}

fn not_missed(error: RecvError) -> Closed {
    assert_eq!(error, RecvError::Closed);
    Closed
}

impl<P: LockPolicy> Receives for raw::broadcast::Receiver<Message, P> {
    fn try_recv(&mut self) -> Result<Message, TryRecvError> {
        raw::broadcast::Receiver::try_recv(self).map_err(|error| match error {
            Missing::Empty => TryRecvError::Empty,
            Missing::Closed => TryRecvError::Closed,
            Missing::Lagged(number) => panic!("it has missed {number}"),
        })
    }

    fn recv(&mut self) -> Operation<'_, Result<Message, Closed>> {
        let receives = raw::broadcast::Receiver::recv(self);
        mapped(receives, |ended| ended.map_err(not_missed))
    }

    fn recv_many<'a>(
        &'a mut self,
        into: &'a mut Vec<Message>,
        most: usize,
    ) -> Option<Operation<'a, Result<usize, Closed>>> {
        let receives = raw::broadcast::Receiver::recv_many(self, into, most);
        Some(mapped(receives, |ended| ended.map_err(not_missed)))
    }

    fn is_closed(&self) -> Option<bool> {
        Some(raw::broadcast::Receiver::is_closed(self))
    }
}

impl<P: LockPolicy, E: UniqueSender<Message> + 'static> Sends for raw::SharedSender<Message, P, E> {
    fn try_send(&mut self, message: Message) -> Result<(), TrySendError<Message>> {
        raw::SharedSender::try_send(self, message)
    }

    fn send(&mut self, message: Message) -> Operation<'_, Result<(), SendError<Message>>> {
        Box::pin(raw::SharedSender::send(self, message))
    }

    fn another(&self) -> Option<Tx> {
        Some(Box::new(self.clone()))
    }
}

impl<P: RingPolicy> Receives for Rc<raw::PortSet<Message, P>> {
    fn try_recv(&mut self) -> Result<Message, TryRecvError> {
        match raw::PortSet::try_recv(self) {
            Some((_, event)) => event.map_err(|Closed| TryRecvError::Closed),
            None if self.is_empty() => Err(TryRecvError::Closed),
            None => Err(TryRecvError::Empty),
        }
    }

    fn recv(&mut self) -> Operation<'_, Result<Message, Closed>> {
        let receives = raw::PortSet::recv(self);
        mapped(receives, |ended| {
            ended.map_or(Err(Closed), |(_, event)| event)
        })
    }

    fn another(&self) -> Option<Rx> {
        Some(Box::new(self.clone()))
    }
}

struct Once(Option<oneshot::Sender<Message>>);

impl Sends for Once {
    fn try_send(&mut self, message: Message) -> Result<(), TrySendError<Message>> {
        let sent = match self.0.take() {
            Some(tx) => tx.send(message),
            None => Err(SendError(message)),
        };
        sent.map_err(|SendError(message)| TrySendError::Closed(message))
    }

    fn send(&mut self, message: Message) -> Operation<'_, Result<(), SendError<Message>>> {
        Box::pin(async move {
            let sent = self.try_send(message);
            sent.map_err(|error| SendError(error.into_inner()))
        })
    }

    fn is_closed(&self) -> Option<bool> {
        self.0.as_ref().map(oneshot::Sender::is_closed)
    }
}

impl Receives for oneshot::Receiver<Message> {
    fn try_recv(&mut self) -> Result<Message, TryRecvError> {
        oneshot::Receiver::try_recv(self)
    }

    fn recv(&mut self) -> Operation<'_, Result<Message, Closed>> {
        // It gives its output once.
        Box::pin(poll_fn(|cx| match oneshot::Receiver::try_recv(self) {
            Err(TryRecvError::Closed) => Poll::Ready(Err(Closed)),
            Err(TryRecvError::Empty) => Pin::new(&mut *self).poll(cx),
            Ok(message) => Poll::Ready(Ok(message)),
        }))
    }
}

gossamer::protocol! {
    /// One side speaks.
    pub(super) protocol Flow<T> between speaker and listener {
        Turn: speaker { say(T) -> Turn },
    }
}

type Client<F> = flow::speaker::Turn<Message, <F as Flavour>::P>;
type Server<F> = flow::listener::Turn<Message, <F as Flavour>::P>;

/// The sending end of a pipe, between two operations.
enum Speaker<F: Pipes> {
    Ready(Client<F>),
    /// The other side has not taken the message.
    Full(Full<Client<F>>),
    Gone,
}

/// A send: while it waits, the end is in it.
struct Speaking<'a, F: Pipes> {
    end: &'a mut Speaker<F>,
    waits: Option<Receiving<Full<Client<F>>>>,
    message: Option<Message>,
}

impl<F: Pipes> Unpin for Speaking<'_, F> {}

impl<F: Pipes> Future for Speaking<'_, F> {
    type Output = Result<(), SendError<Message>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let client = match std::mem::replace(this.end, Speaker::Gone) {
            Speaker::Ready(client) => Some(client),
            Speaker::Full(full) => {
                this.waits = Some(full.ready());
                None
            }
            Speaker::Gone => None,
        };
        let client = match (client, &mut this.waits) {
            (None, Some(waits)) => ready!(Pin::new(waits).poll(cx)).ok(),
            (client, _) => client,
        };
        this.waits = None;
        let message = this.message.take().expect("it sends once");
        let sent = match client {
            Some(client) => client.say(message),
            None => Err(SendError(message)),
        };
        Poll::Ready(sent.map(|full| *this.end = Speaker::Full(full)))
    }
}

impl<F: Pipes> Drop for Speaking<'_, F> {
    fn drop(&mut self) {
        if let Some(full) = self.waits.take().and_then(Receiving::into_endpoint) {
            *self.end = Speaker::Full(full);
        }
    }
}

impl<F: Pipes> Sends for Speaker<F> {
    fn try_send(&mut self, message: Message) -> Result<(), TrySendError<Message>> {
        let mut send = Speaking {
            end: self,
            waits: None,
            message: Some(message),
        };
        match Pin::new(&mut send).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(())) => Ok(()),
            Poll::Ready(Err(SendError(message))) => Err(TrySendError::Closed(message)),
            Poll::Pending => Err(TrySendError::Full(
                send.message.take().expect("it is not sent"),
            )),
        }
    }

    fn send(&mut self, message: Message) -> Operation<'_, Result<(), SendError<Message>>> {
        Box::pin(Speaking {
            end: self,
            waits: None,
            message: Some(message),
        })
    }
}

/// The receiving end of a pipe; `None` while it is in an operation, and once it is over.
struct Listener<F: Pipes>(Option<Server<F>>);

/// A receive: while it waits, the end is in it.
struct Listening<'a, F: Pipes> {
    end: &'a mut Option<Server<F>>,
    waits: Option<Receiving<Server<F>>>,
}

impl<'a, F: Pipes> Listening<'a, F> {
    fn new(end: &'a mut Option<Server<F>>) -> Self {
        let waits = end.take().map(|server| server.recv());
        Self { end, waits }
    }
}

impl<F: Pipes> Unpin for Listening<'_, F> {}

impl<F: Pipes> Future for Listening<'_, F> {
    type Output = Result<Message, Closed>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(waits) = &mut self.waits else {
            return Poll::Ready(Err(Closed));
        };
        let heard = ready!(Pin::new(waits).poll(cx));
        self.waits = None;
        Poll::Ready(heard.map(|flow::Turn::Say(message, server)| {
            *self.end = Some(server);
            message
        }))
    }
}

impl<F: Pipes> Drop for Listening<'_, F> {
    fn drop(&mut self) {
        if let Some(server) = self.waits.take().and_then(Receiving::into_endpoint) {
            *self.end = Some(server);
        }
    }
}

impl<F: Pipes> Receives for Listener<F> {
    fn try_recv(&mut self) -> Result<Message, TryRecvError> {
        let mut receive = Listening::<F>::new(&mut self.0);
        match Pin::new(&mut receive).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(heard) => heard.map_err(|Closed| TryRecvError::Closed),
            Poll::Pending => Err(TryRecvError::Empty),
        }
    }

    fn recv(&mut self) -> Operation<'_, Result<Message, Closed>> {
        Box::pin(Listening::<F>::new(&mut self.0))
    }
}
