//! Receivers of all kinds in one set, of which two consumers receive, and take ports out and put them in again.

use std::sync::{Arc, Mutex, Weak};

use gossamer::channel::port_set::Key;
use gossamer::channel::{self, PortSet, Sender, spsc};

use super::ends::Ends;
use super::ledger::Message;

pub(super) struct Ports;

type Set = PortSet<Message>;

/// One that sends into a port; and the sender of a port that is always there, so that as long as somebody may send, there
/// is one, also while another one is out.
pub(super) struct Tx {
    kind: Kind,
    _stays: Sender<Message>,
}

enum Kind {
    Channel(Sender<Message>),
    Ring(spsc::Sender<Message>),
    /// A port for each message.
    OneShots(Weak<Set>),
}

/// A consumer; and the ports that may be taken out, those first that have been there longest.
pub(super) struct Rx(Arc<Set>, Arc<Mutex<Vec<Key>>>);

impl Rx {
    /// Takes a port out, and puts it in again.
    fn move_one(&self) {
        let Rx(set, keys) = self;
        let mut there = keys.lock().expect("no panic");
        if there.is_empty() {
            return;
        }
        let key = there.remove(0);
        drop(there);
        if let Some(port) = set.remove(key) {
            let key = set.add(port).expect("the only receiver");
            keys.lock().expect("no panic").push(key);
        }
    }
}

impl Ends for Ports {
    type Tx = Tx;
    type Rx = Rx;
    /// Each is in a port of its own.
    const UNORDERED: u32 = 1;

    fn name() -> String {
        "port set".into()
    }

    fn ends() -> (Vec<Tx>, Vec<Rx>) {
        let (set, mut keys) = (Arc::new(Set::new()), Vec::new());
        let (stays, rx) = channel::unbounded();
        set.add(rx).expect("the only receiver");
        let mut senders = vec![Kind::OneShots(Arc::downgrade(&set))];
        for (tx, rx) in [
            channel::rendezvous(),
            channel::bounded(3),
            channel::unbounded(),
        ] {
            keys.push(set.add(rx).expect("the only receiver"));
            senders.push(Kind::Channel(tx));
        }
        for capacity in [1, 8] {
            let (tx, rx) = channel::spsc(capacity);
            keys.push(set.add(rx).expect("the only receiver"));
            senders.push(Kind::Ring(tx));
        }
        let keys = Arc::new(Mutex::new(keys));
        let senders = senders.into_iter().map(|kind| Tx {
            kind,
            _stays: stays.clone(),
        });
        let other = Rx(set.clone(), keys.clone());
        (senders.collect(), vec![Rx(set, keys), other])
    }

    async fn send(tx: &mut Tx, message: &mut Option<Message>, _keeps: bool) -> bool {
        let sends = message.take().expect("a message");
        let sent = match &mut tx.kind {
            Kind::Channel(tx) => tx.send(sends).await.map_err(|error| error.0),
            Kind::Ring(tx) => tx.send(sends).await.map_err(|error| error.0),
            Kind::OneShots(set) => match set.upgrade() {
                Some(set) => send_once(&set, sends),
                None => Err(sends),
            },
        };
        sent.map_err(|left| *message = Some(left)).is_ok()
    }

    async fn recv(rx: &mut Rx, into: &mut Vec<Message>, many: bool) -> bool {
        rx.move_one();
        if !many {
            let event = rx.0.recv().await;
            let is_open = event.is_some();
            into.extend(event.and_then(|(_, event)| event.ok()));
            return is_open;
        }
        let mut events = Vec::new();
        let number = rx.0.recv_many(&mut events, 8).await;
        into.extend(events.into_iter().filter_map(|(_, event)| event.ok()));
        number > 0
    }

    fn try_recv(rx: &mut Rx) -> Option<Message> {
        while let Some((_, event)) = rx.0.try_recv() {
            if let Ok(message) = event {
                return Some(message);
            }
        }
        None
    }
}

/// Into a port that gets there before its message, or after it.
fn send_once(set: &Set, message: Message) -> Result<(), Message> {
    let (tx, rx) = channel::oneshot();
    if message.id().is_multiple_of(2) {
        set.add(rx).expect("the only receiver");
        return tx.send(message).map_err(|error| error.0);
    }
    let sent = tx.send(message).map_err(|error| error.0);
    set.add(rx).expect("the only receiver");
    sent
}
