//! A set for any thread takes no end that has to stay on one, whatever is around it.

use gossamer::channel::PortSet;
use gossamer::channel::pipe::{Endpoint, Hears, ReceivingEnd, Second, SendingEnd, pair};
use gossamer::raw;

gossamer::protocol! {
    protocol Sum between client and server {
        Question: client { add(u64, u64) -> End },
    }
}

/// It may be sent itself, but not what it is made into.
struct Mine;

impl Endpoint for Mine {
    type Message = u32;
    type Flavour = raw::Local;
    type Side = Second;
}

impl Hears for Mine {
    type Heard = u32;

    fn of_receiving_end(_: ReceivingEnd<u32, raw::Local, Second>) -> Self {
        Self
    }

    fn into_receiving_end(self) -> ReceivingEnd<u32, raw::Local, Second> {
        pair().1
    }

    fn hear(message: Option<u32>, _: SendingEnd<u32, raw::Local, Second>) -> u32 {
        message.unwrap_or(0)
    }
}

fn main() {
    let (_client, server) = sum::local_pipe();
    PortSet::<sum::Question>::new().add(server).unwrap();
    PortSet::<u32>::new().add(Mine).unwrap();
}
