//! Cancelling a send that does not own its message; all others are in [`every_channel`](crate::every_channel).

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use gossamer::TimeoutExt;
use gossamer::channel::TrySendError;
use gossamer::raw::channel::{Receiver, Sender};
use gossamer::time::sleep as pause;
use gossamer_sim::{Sim, spawn};

use super::Channels;
use crate::exploring::{Cut, explore_flavour, explore_seeded, quiet};
use crate::flavour::both;

both! {
    a_send_that_keeps_its_message,
    no_place_stays_reserved,
    one_that_is_woken_and_not_polled_is_told_of,
}

const CAPACITIES: [usize; 4] = [0, 1, 2, usize::MAX];

/// Cut off after any poll, the message is where it was, or it has been sent; never both, and never neither. It has been
/// sent by an operation that was cut off only at a rendezvous.
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
        match sent {
            Some(sent) => assert_eq!(sent.is_ok(), message.is_none()),
            None => assert!(capacity == 0 || message.is_some(), "it has sent"),
        }
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

/// Sends three times, unless it gives up; gives how often it has sent.
async fn sends<F: Channels>(tx: Sender<(), F::P>, chance: u64) -> usize {
    let mut sent = 0;
    for round in 0..3 {
        let has_sent = match (chance >> round) % 3 {
            0 => tx.send(()).await.is_ok(),
            1 => Cut::nth(chance % 7).apply(tx.send(())).await == Some(Ok(())),
            _ => tx.send(()).timeout(Duration::from_millis(1)).await == Ok(Ok(())),
        };
        sent += usize::from(has_sent);
    }
    sent
}

/// Receives until nobody sends any more; some of what receives gives up.
async fn receives<F: Channels>(rx: &Receiver<(), F::P>, chance: u64) -> usize {
    const LONG: Duration = Duration::from_millis(50);
    let (cut, mut into) = (Cut::nth(chance % 5), Vec::new());
    loop {
        let _cut = cut.apply(rx.recv_many(&mut into, 2).timeout(LONG)).await;
        if let Some(Ok(message)) = cut.apply(rx.recv().timeout(LONG)).await {
            into.extend(message);
        }
        if into.len() > 1 && chance.is_multiple_of(3) {
            pause(Duration::from_millis(2)).await;
        }
        match rx.recv().timeout(LONG).await {
            Ok(message) => into.extend(message),
            Err(_) => return into.len(),
        }
    }
}

/// However operations were given up: what was sent was received or is there, and then as many fit as the capacity says.
fn no_place_stays_reserved<F: Channels>() {
    explore_flavour::<F, _>(|seed| async move {
        let capacity = 1 + (seed % 2) as usize;
        let (tx, rx) = F::channel(capacity);
        let sending = [0, 1, 2, 3].map(|number| spawn(sends::<F>(tx.clone(), seed >> number)));
        let got = receives::<F>(&rx, seed).await;
        let mut sent = 0;
        for task in sending {
            sent += task.await.unwrap();
        }
        assert_eq!(sent, got + rx.try_iter().count());
        for _ in 0..capacity {
            assert_eq!(tx.try_send(()), Ok(()));
        }
        assert_eq!(tx.try_send(()), Err(TrySendError::Full(())));
    });
}

/// A task keeps a receive that was woken for a message, does not poll it, and waits for the message by another one.
fn one_that_is_woken_and_not_polled_is_told_of<F: Channels>() {
    let failure = Sim::new().without_scheduling_points().run(0, || async {
        let (tx, rx) = F::channel::<u32>(1);
        let _task = spawn(async move {
            let mut first = pin!(rx.recv());
            poll_fn(|cx| Poll::Ready(first.as_mut().poll(cx).is_ready())).await;
            rx.recv().await
        });
        quiet().await;
        tx.send(1).await.unwrap();
        quiet().await;
    });
    let text = failure.unwrap_err().to_string();
    let words = "another one: that was woken, holds a reservation, and is not polled";
    assert!(text.contains(words), "{text}");
}
