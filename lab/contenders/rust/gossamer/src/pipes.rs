//! Pipes instead of channels: a number to and fro, the thread ring, and the message ring.

use channels::{Asked, Tasks, Threads};
use gossamer::channel::pipe::PipePolicy;
use gossamer::{Wait, protocol};

protocol! {
    /// A number to and fro.
    protocol Trips between client and server {
        Ping: client { ping(u64) -> Pong },
        Pong: server { pong(u64) -> Ping },
    }
}

protocol! {
    /// Numbers, one way.
    protocol Link between sender and receiver {
        Next: sender { number(u64) -> Next },
    }
}

use link::{Next, receiver, sender};
use trips::{Ping, Pong, client, server};

/// Two tasks; each way adds one, and who began gives the number.
pub fn to_and_fro<P: PipePolicy>(
    asked: &Asked,
) -> Tasks<impl Future<Output = ()> + use<P>, impl Future<Output = u64> + use<P>> {
    let (client, server) = trips::pipe_of::<P>();
    Tasks {
        senders: vec![answers(server)],
        receivers: vec![asks(asked.messages, client)],
    }
}

/// It ends when the client has gone.
async fn answers<P: PipePolicy>(mut server: server::Ping<P>) {
    while let Ok(Ping::Ping(number, asked)) = server.recv().await {
        let Ok(next) = asked.pong(number + 1) else {
            break;
        };
        server = next;
    }
}

/// A trip less would be a wrong number, which the lab sees; so below.
async fn asks<P: PipePolicy>(trips: u64, mut client: client::Ping<P>) -> u64 {
    let mut number = 0_u64;
    for _ in 0..trips {
        let Ok(asked) = client.ping(number) else {
            break;
        };
        let Ok(Pong::Pong(back, next)) = asked.recv().await else {
            break;
        };
        (number, client) = (back + 1, next);
    }
    number
}

/// The same as OS threads that wait.
pub fn threads_to_and_fro(asked: &Asked) -> std::io::Result<Threads> {
    let (mut client, mut server) = trips::pipe();
    let trips = asked.messages;
    let answers = move || {
        while let Ok(Ping::Ping(number, asked)) = server.recv().wait() {
            let Ok(next) = asked.pong(number + 1) else {
                break;
            };
            server = next;
        }
    };
    let asks = move || {
        let mut number = 0_u64;
        for _ in 0..trips {
            let Ok(asked) = client.ping(number) else {
                break;
            };
            let Ok(Pong::Pong(back, next)) = asked.recv().wait() else {
                break;
            };
            (number, client) = (back + 1, next);
        }
        number
    };
    Threads::of_two(answers, asks)
}

/// Tasks in a ring, each with a pipe to the next one: it sends, then receives, and so on. They give their sums.
pub fn message_ring<P: PipePolicy>(
    asked: &Asked,
) -> Tasks<std::future::Ready<()>, impl Future<Output = Option<u64>> + use<P>> {
    let members = links::<P>(asked.senders).zip(0..);
    Tasks {
        senders: Vec::new(),
        receivers: members
            .map(|((from, to), index)| member(asked.of_member(index), from, to))
            .collect(),
    }
}

/// What each member of a ring receives from, and sends to.
fn links<P: PipePolicy>(
    members: u64,
) -> impl Iterator<Item = (receiver::Next<P>, sender::Next<P>)> {
    let (mut outputs, inputs): (Vec<_>, Vec<_>) =
        (0..members).map(|_| link::pipe_of::<P>()).unzip();
    // The first one's input is what the last one sends to.
    outputs.rotate_left(1);
    inputs.into_iter().zip(outputs)
}

/// The endpoint to send with; waits only if it must.
macro_rules! ready {
    ($sent:expr) => {
        match $sent.try_ready() {
            Ok(to) => to,
            Err(sent) => sent.ready().await.ok()?,
        }
    };
}

/// `None` if a neighbour has gone.
async fn member<P: PipePolicy>(
    [sends, receives]: [u64; 2],
    mut from: receiver::Next<P>,
    to: sender::Next<P>,
) -> Option<u64> {
    let mut sum = 0_u64;
    let mut sent = match sends {
        0 => None,
        _ => Some(to.number(0).ok()?),
    };
    for number in 1..=sends.max(receives) {
        if number <= receives {
            let Next::Number(received, next) = from.recv().await.ok()?;
            (sum, from) = (sum.wrapping_add(received), next);
        }
        // Only now is looked whether the slot is free again: by now it is, as a rule.
        if number < sends {
            sent = Some(ready!(sent?).number(number).ok()?);
        }
    }
    Some(sum)
}

/// The thread ring: the tasks in the order in which they are to be spawned. The first one of the ring has the token.
/// Who gets the zero gives its number, and goes, and then the others go, one after another, and give nothing.
pub fn ring<P: PipePolicy>(
    threads: usize,
    hops: u64,
    order: &[usize],
) -> Tasks<std::future::Ready<()>, impl Future<Output = Option<u64>> + use<P>> {
    let mut members: Vec<_> = links::<P>(threads as u64).map(Some).collect();
    let members = order.iter().filter_map(|&id| {
        let (from, to) = members[id].take()?;
        let token = (id == 0).then_some(hops);
        Some(pass_on(id as u64 + 1, token, from, to))
    });
    Tasks {
        senders: Vec::new(),
        receivers: members.collect(),
    }
}

async fn pass_on<P: PipePolicy>(
    id: u64,
    first: Option<u64>,
    mut from: receiver::Next<P>,
    to: sender::Next<P>,
) -> Option<u64> {
    let token = match first {
        Some(token) => token,
        None => {
            let Next::Number(token, next) = from.recv().await.ok()?;
            from = next;
            token
        }
    };
    if token == 0 {
        return Some(id);
    }
    let mut sent = to.number(token - 1).ok()?;
    loop {
        let Next::Number(token, next) = from.recv().await.ok()?;
        from = next;
        if token == 0 {
            return Some(id);
        }
        sent = ready!(sent).number(token - 1).ok()?;
    }
}
