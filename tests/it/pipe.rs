//! Pipes: each rule that their documentation states, in both flavours.

mod anywhere;
mod cancelling;
mod closing;
mod dropping;
mod giving_up;
mod rules;
mod small;

use gossamer::channel::pipe::{Full, PipePolicy as PipeFlavour};
use gossamer::protocol;

use crate::flavour::{Flavour, Local, Shared};

protocol! {
    /// All that a protocol can have: choice, both sides sending several in a row, coming back, ends on both sides.
    pub(crate) protocol Chat<T> between client and server {
        #[derive(Debug)]
        Ask: client {
            ask(T) -> Reply,
            tell(T) -> Ask,
            leave -> End,
            bye(T) -> End,
        },
        /// What is answered.
        #[derive(Debug)]
        Reply: server {
            reply(T) -> Ask,
            more(T, u8) -> Reply,
            refuse -> Ask,
            end(T) -> End,
        },
    }
}
pub(crate) use chat::{Ask, Reply, client, server};

/// The pipes of a flavour.
pub(crate) trait Pipes: Flavour<P: PipeFlavour> {
    fn pipe<T>() -> (Client<T, Self>, Server<T, Self>) {
        chat::pipe_of()
    }
}

impl Pipes for Shared {}
impl Pipes for Local {}

pub(crate) type Client<T, F> = client::Ask<T, <F as Flavour>::P>;
pub(crate) type Server<T, F> = server::Ask<T, <F as Flavour>::P>;
/// A client that has told something.
pub(crate) type Told<T, F> = Full<Client<T, F>>;
