//! Each task has one bounded channel, and all that send to it share its sending side.

use gossamer::channel::{Receiver, Sender, bounded};

use super::{Letter, Post};

/// How many messages a channel holds: enough that sender and receiver seldom wait for each other.
const CAPACITY: usize = 256;

pub(super) struct ByChannel;

/// A receiver, and what it has received but not looked at, the first one last.
pub(super) struct Inbox {
    channel: Receiver<Letter>,
    here: Vec<Letter>,
}

impl Post for ByChannel {
    type Tx = Sender<Letter>;
    type Rx = Inbox;

    fn inbox(senders: usize) -> (Vec<Self::Tx>, Self::Rx) {
        let (tx, channel) = bounded(CAPACITY);
        let here = Vec::new();
        (vec![tx; senders], Inbox { channel, here })
    }

    async fn send(to: &mut Self::Tx, letter: Letter) {
        // An owner that has gone needs no more.
        let _ = to.send(letter).await;
    }

    async fn receive(from: &mut Self::Rx) -> Option<Letter> {
        if from.here.is_empty() {
            from.channel
                .recv_many(&mut from.here, CAPACITY)
                .await
                .ok()?;
            from.here.reverse();
        }
        from.here.pop()
    }
}
