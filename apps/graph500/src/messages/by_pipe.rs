//! A pipe from each task to each that it sends to, and a set of these at each that receives.
//!
//! A pipe holds one message. A sender that has another one waits until that was taken.

use gossamer::channel::PortSet;
use gossamer::channel::pipe::Full;
use gossamer::protocol;

use super::{Letter, Post};

protocol! {
    /// Letters, one way.
    protocol Link between sender and receiver {
        Next: sender { letter(crate::messages::Letter) -> Next },
    }
}

use link::{Next, sender};

pub(super) struct ByPipe;

/// The sending end: as it was made, or with a letter that may not have been taken yet. `None`: the other one has gone.
pub(super) enum Tx {
    New(sender::Next),
    Used(Full<sender::Next>),
    Gone,
}

pub(super) type Rx = PortSet<Next>;

impl Post for ByPipe {
    type Tx = Tx;
    type Rx = Rx;

    fn inbox(senders: usize) -> (Vec<Self::Tx>, Self::Rx) {
        let set = PortSet::new();
        let link = || {
            let (tx, rx) = link::pipe();
            set.add(rx).expect("a pipe has one receiver");
            Tx::New(tx)
        };
        ((0..senders).map(|_| link()).collect(), set)
    }

    async fn send(to: &mut Self::Tx, letter: Letter) {
        let end = match std::mem::replace(to, Tx::Gone) {
            Tx::New(end) => Some(end),
            Tx::Used(full) => match full.try_ready() {
                Ok(end) => Some(end),
                Err(full) => full.ready().await.ok(),
            },
            Tx::Gone => None,
        };
        // An owner that has gone needs no more.
        if let Some(used) = end.and_then(|end| end.letter(letter).ok()) {
            *to = Tx::Used(used);
        }
    }

    async fn receive(from: &mut Self::Rx) -> Option<Letter> {
        loop {
            match from.recv().await? {
                (_, Ok(Next::Letter(letter, next))) => {
                    from.add(next).expect("a pipe has one receiver");
                    return Some(letter);
                }
                // This sender has gone; others may be left.
                (_, Err(_)) => {}
            }
        }
    }
}
