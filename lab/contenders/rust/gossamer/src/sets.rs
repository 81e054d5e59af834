//! Our sets of ports and shared senders, in both flavours, as the workloads see them.

use channels::{Came, Channel, Many, Set, SetMany, Went};
use gossamer::{channel, local};

use crate::flavours::{Local, Shared};

/// How many messages are taken at once, at most.
const MOST: usize = 1_024;

/// One channel for any thread, of which senders share the end.
pub struct Shares;
/// For one thread.
pub struct LocalShares;

macro_rules! flavour {
    ($name:ident, $shares:ident, $($module:ident)::+) => {
        impl Set for $name {
            type Set = $($module)::+::PortSet<u64>;

            fn set(rxs: Vec<Self::Rx>) -> Self::Set {
                let set = Self::Set::new();
                for rx in rxs {
                    set.add(rx).expect("nobody else has it");
                }
                set
            }

            fn recv_any(set: &mut Self::Set) -> impl Future<Output: Came> {
                set.recv()
            }
        }

        impl SetMany for $name {
            type Events = Vec<channel::port_set::Event<u64>>;

            async fn recv_all(set: &mut Self::Set, events: &mut Self::Events) -> Option<(u64, u64)> {
                if set.recv_many(events, MOST).await == 0 {
                    return None;
                }
                let messages = events.drain(..).filter_map(|event| event.1.ok());
                Some(messages.fold((0, 0), |(count, sum), message| {
                    (count + 1, message.wrapping_add(sum))
                }))
            }
        }

        impl Channel for $shares {
            type Tx = $($module)::+::SharedSender<u64>;
            type Rx = $($module)::+::Receiver<u64>;

            fn pair(capacity: Option<usize>) -> (Self::Tx, Self::Rx) {
                let (tx, rx) = $name::pair(capacity);
                (Self::Tx::new(tx), rx)
            }

            fn send(tx: &mut Self::Tx, message: u64) -> impl Future<Output: Went> {
                tx.send(message)
            }

            fn recv(rx: &mut Self::Rx) -> impl Future<Output: Came> {
                rx.recv()
            }
        }

        impl Many for $shares {
            async fn recv_many(rx: &mut Self::Rx, into: &mut Vec<u64>, most: usize) -> bool {
                rx.recv_many(into, most).await.is_ok()
            }
        }
    };
}

flavour!(Shared, Shares, channel);
flavour!(Local, LocalShares, local::channel);
