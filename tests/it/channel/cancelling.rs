//! Cancelling a send that does not own its message; all others are in [`every_channel`](crate::every_channel).

use gossamer_sim::{Sim, spawn};

use super::Channels;
use crate::exploring::{Cut, explore_seeded};
use crate::flavour::both;

both! {
    a_send_that_keeps_its_message,
}

const CAPACITIES: [usize; 4] = [0, 1, 2, usize::MAX];

/// Cut off after any poll, the message is where it was, or it has been sent; never both, and never neither.
fn a_send_that_keeps_its_message<F: Channels>() {
    explore_seeded(Sim::new(), |seed| async move {
        let capacity = CAPACITIES[(seed / 8 % 4) as usize];
        let (tx, rx) = F::channel::<u32>(capacity);
        let receives = seed / 32 % 3;
        let receiver = spawn(async move {
            let mut got = Vec::new();
            for _ in 0..receives {
                got.extend(rx.recv().await);
            }
            got.extend(rx.try_iter());
            got
        });
        let before = spawn({
            let tx = tx.clone();
            async move { tx.send(1).await.is_ok() }
        });
        let mut message = Some(2);
        let sent = Cut::nth(seed).apply(tx.send_from(&mut message)).await;
        assert!(sent.is_none_or(|sent| sent.is_ok() == message.is_none()));
        drop(tx);
        let (first, got) = (before.await.unwrap(), receiver.await.unwrap());
        assert!(
            !got.contains(&2) || message.is_none(),
            "{got:?} {message:?}"
        );
        // What was sent, and not received, went with the receiver.
        let wanted = usize::from(first) + usize::from(message.is_none());
        let all = receives as usize >= wanted;
        assert!(
            !all || got.contains(&2) == message.is_none(),
            "{got:?} {message:?}"
        );
    });
}
