//! Selects that meet, in seeded schedules: what one side says took place, the other side says too, and nothing else did.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use gossamer::raw::channel::{Receiver, Sender};
use gossamer::time::sleep as pause;
use gossamer::{TimeoutExt, select, yield_now};
use gossamer_sim::spawn;

use crate::exploring::{Cut, abort_all, exhaust_flavour, explore_flavour, quiet};
use crate::flavour::both;
use crate::ports::Sets;

both! {
    two_that_cross,
    two_that_cross_in_all_schedules,
    two_of_both_ends_and_another,
    three_in_a_ring,
    four_sends_and_four_receivers,
    a_send_in_time,
    a_send_beside_what_is_ready_too,
    cut_off_after_any_poll,
    a_send_that_loses_and_goes_on,
}

/// What a select did: it sent this, or got it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Met {
    Sent(u32),
    Got(u32),
}

/// Sends the number on the one channel, or receives from the other one.
async fn meet<F: Sets>(
    number: u32,
    tx: &Sender<u32, F::P>,
    rx: &Receiver<u32, F::P>,
    sends_first: bool,
) -> Option<Met> {
    if sends_first {
        select! {
            biased;
            sent = tx.send(number) => sent.ok().map(|()| Met::Sent(number)),
            got = rx.recv() => got.ok().map(Met::Got),
        }
    } else {
        select! {
            biased;
            got = rx.recv() => got.ok().map(Met::Got),
            sent = tx.send(number) => sent.ok().map(|()| Met::Sent(number)),
        }
    }
}

/// The messages that were sent are those that were received, and there are so many.
#[track_caller]
fn agree(met: &[Met], count: usize) {
    let (mut sent, mut got) = (Vec::new(), Vec::new());
    for met in met {
        match met {
            Met::Sent(number) => sent.push(*number),
            Met::Got(number) => got.push(*number),
        }
    }
    sent.sort_unstable();
    got.sort_unstable();
    assert_eq!(sent, got, "sent, and received");
    assert_eq!(sent.len(), count);
}

/// One sends on the channel that the other receives from, and the other way round: one message goes.
async fn cross<F: Sets>(order: u64) {
    let (first, second) = (F::channel(0), F::channel(0));
    let tasks = [
        (1, first.0.clone(), second.1.clone(), order & 1 == 0),
        (2, second.0.clone(), first.1.clone(), order & 2 == 0),
    ]
    .map(|(number, tx, rx, sends_first)| {
        spawn(async move { meet::<F>(number, &tx, &rx, sends_first).await.unwrap() })
    });
    let mut met = Vec::new();
    for task in tasks {
        met.push(task.await.unwrap());
    }
    agree(&met, 1);
    assert!(first.1.try_recv().is_err() && second.1.try_recv().is_err());
    assert!(first.0.try_send(0).is_err() && second.0.try_send(0).is_err());
}

fn two_that_cross<F: Sets>() {
    explore_flavour::<F, _>(cross::<F>);
}

fn two_that_cross_in_all_schedules<F: Sets>() {
    for order in 0..4 {
        exhaust_flavour::<F, _>(|| cross::<F>(order));
    }
}

/// Selects of both ends of one channel, a sender or none, and a receiver or none: all that have a partner meet it, and
/// none is its own.
fn two_of_both_ends_and_another<F: Sets>() {
    explore_flavour::<F, _>(|seed| async move {
        let (tx, rx) = F::channel(0);
        let mut met = Vec::new();
        let (selects, others) = (1 + seed / 4 % 3, [seed / 12 % 2, seed / 24 % 2]);
        let done = Rc::new(Cell::new(0));
        let mut tasks = Vec::new();
        for number in 0..selects as u32 {
            let ((tx, rx), done) = ((tx.clone(), rx.clone()), done.clone());
            let sends_first = seed >> (number % 2) & 1 == 0;
            tasks.push(spawn(async move {
                let met = meet::<F>(number, &tx, &rx, sends_first).await;
                done.set(done.get() + 1);
                met
            }));
        }
        if others[0] == 1 {
            let (tx, done) = (tx.clone(), done.clone());
            tasks.push(spawn(async move {
                let sent = tx.send(8).await;
                done.set(done.get() + 1);
                sent.ok().map(|()| Met::Sent(8))
            }));
        }
        if others[1] == 1 {
            let (rx, done) = (rx.clone(), done.clone());
            tasks.push(spawn(async move {
                let got = rx.recv().await;
                done.set(done.get() + 1);
                got.ok().map(Met::Got)
            }));
        }
        quiet().await;
        let all = tasks.len();
        assert_eq!(done.get(), all / 2 * 2, "of {all}");
        if done.get() < all {
            // One is left, and is still there for a partner.
            let (number, sends) = (9, rx.try_recv());
            met.push(match sends {
                Ok(number) => Met::Got(number),
                Err(_) => {
                    tx.try_send(number).unwrap();
                    Met::Sent(number)
                }
            });
        }
        for task in tasks {
            met.extend(task.await.unwrap());
        }
        agree(&met, all.div_ceil(2));
    });
}

/// Two of them meet, and the third waits for another partner.
fn three_in_a_ring<F: Sets>() {
    explore_flavour::<F, _>(|seed| async move {
        let channels = [(); 3].map(|()| F::channel(0));
        let met = Rc::new(Cell::new(Vec::new()));
        let tasks: Vec<_> = (0..3_usize)
            .map(|at| {
                let (tx, rx) = (channels[at].0.clone(), channels[(at + 2) % 3].1.clone());
                let met = met.clone();
                spawn(async move {
                    let own = meet::<F>(at as u32, &tx, &rx, seed >> at & 1 == 0).await;
                    let mut all = met.take();
                    all.extend(own);
                    met.set(all);
                })
            })
            .collect();
        quiet().await;
        agree(&met.take(), 1);
        let offers = channels.iter().filter(|(_, rx)| rx.try_recv().is_ok());
        assert_eq!(offers.count(), 1, "the third one waits");
        abort_all(tasks).await;
    });
}

/// Each select sends one message, by whichever of the channels; the receivers that nobody sends to go on waiting.
fn four_sends_and_four_receivers<F: Sets>() {
    explore_flavour::<F, _>(|seed| async move {
        let selects = 1 + (seed % 4) as u32;
        let channels = [(); 4].map(|()| F::channel(0));
        let mut receivers = Vec::new();
        for (_, rx) in &channels {
            let rx = rx.clone();
            receivers.push(spawn(async move { rx.recv().await.ok() }));
        }
        let (senders, _open): (Vec<_>, Vec<_>) = channels.into_iter().unzip();
        let mut selecting = Vec::new();
        for number in 0..selects {
            let senders = senders.clone();
            selecting.push(spawn(async move {
                match number % 2 == 0 {
                    true => {
                        let [a, b, c, d] = senders.as_slice() else {
                            unreachable!("there are four")
                        };
                        select! {
                            sent = a.send(number) => sent,
                            sent = b.send(number) => sent,
                            sent = c.send(number) => sent,
                            sent = d.send(number) => sent,
                        }
                    }
                    false => {
                        let sends = senders.iter().map(|tx| tx.send(number));
                        select::any(sends).await.1
                    }
                }
            }));
        }
        for select in selecting {
            select.await.unwrap().unwrap();
        }
        drop(senders);
        let mut got = Vec::new();
        for receiver in receivers {
            got.extend(receiver.await.unwrap());
        }
        got.sort_unstable();
        assert_eq!(got, Vec::from_iter(0..selects));
    });
}

/// Each of three sends and receives has its time, and comes at its time: what was sent in time was received in time.
fn a_send_in_time<F: Sets>() {
    explore_flavour::<F, _>(|seed| async move {
        let ms = |number: u64| Duration::from_millis(number % 3);
        let (tx, rx) = F::channel(0);
        let mut met = Vec::new();
        let sends = (0..3_u32).map(|number| {
            let (tx, turn) = (tx.clone(), seed >> (4 * number));
            spawn(async move {
                pause(ms(turn)).await;
                let sent = tx.send(number).timeout(ms(turn / 3)).await;
                sent.ok().map(|sent| sent.map(|()| Met::Sent(number)))
            })
        });
        let sends: Vec<_> = sends.collect();
        let receives = (0..3_u32).map(|number| {
            let (rx, turn) = (rx.clone(), seed >> (2 * number + 1));
            spawn(async move {
                pause(ms(turn)).await;
                let got = rx.recv().timeout(ms(turn / 3)).await;
                got.ok().map(|got| got.map(Met::Got))
            })
        });
        let receives: Vec<_> = receives.collect();
        for send in sends {
            met.extend(send.await.unwrap().map(|sent| sent.expect("it is open")));
        }
        for receive in receives {
            met.extend(receive.await.unwrap().map(|got| got.expect("it is open")));
        }
        let sent = met.iter().filter(|met| matches!(met, Met::Sent(_))).count();
        agree(&met, sent);
        assert!(rx.try_recv().is_err());
    });
}

/// The other branch is ready in the moment in which a receiver comes: a channel that is no rendezvous, a sleep, a future
/// that is not ours.
fn a_send_beside_what_is_ready_too<F: Sets>() {
    const SOON: Duration = Duration::from_millis(1);
    explore_flavour::<F, _>(|seed| async move {
        let ((tx, rx), (other, others)) = (F::channel(0), F::channel(1));
        let receives = spawn(async move {
            pause(SOON).await;
            match seed / 3 % 3 {
                0 => rx.try_recv().ok(),
                1 => rx.recv().await.ok(),
                _ => rx.recv().timeout(Duration::ZERO).await.ok()?.ok(),
            }
        });
        let fires = spawn(async move {
            pause(SOON).await;
            other.try_send(()).unwrap();
            other
        });
        let mut message = Some(1);
        let sent = match seed % 3 {
            0 => select! {
                _ = others.recv() => false,
                sent = tx.send_from(&mut message) => sent.is_ok(),
            },
            1 => select! {
                _ = pause(SOON) => false,
                sent = tx.send_from(&mut message) => sent.is_ok(),
            },
            _ => select! {
                _ = async { others.recv().await } => false,
                sent = tx.send_from(&mut message) => sent.is_ok(),
            },
        };
        assert_eq!(sent, message.is_none());
        drop(tx);
        assert_eq!(receives.await.unwrap(), sent.then_some(1));
        // The message of a branch that was not taken is there.
        let other = fires.await.unwrap();
        let fired = seed % 3 != 1 && !sent;
        assert_eq!(others.try_recv().is_ok(), !fired);
        drop(other);
    });
}

/// A select of two sends and a receive, dropped at any poll: what has gone has come, and of the three one at most. That
/// of a select which was not dropped is its branch.
fn cut_off_after_any_poll<F: Sets>() {
    explore_flavour::<F, _>(|seed| async move {
        let [(a, one), (b, two), (c, three)] = [(); 3].map(|()| F::channel(0));
        let mut messages = (Some(1), Some(2));
        let (turns, busy) = (seed / 8, c.clone());
        let partners = [
            spawn(async move { one.recv().timeout(Duration::from_millis(turns % 2)).await }),
            spawn(async move {
                two.recv()
                    .timeout(Duration::from_millis(turns / 2 % 2))
                    .await
            }),
            spawn(async move {
                let sent = busy
                    .send(3)
                    .timeout(Duration::from_millis(turns / 4 % 2))
                    .await;
                sent.map(|sent| Ok(sent.map_or(0, |()| 3)))
            }),
        ];
        let branch = Cut::nth(seed).apply(async {
            select! {
                sent = a.send_from(&mut messages.0) => sent.map_or(0, |()| 1),
                sent = b.send_from(&mut messages.1) => sent.map_or(0, |()| 2),
                got = three.recv() => got.unwrap(),
            }
        });
        let branch = branch.await;
        drop((a, b, three));
        let mut met = Vec::new();
        for partner in partners {
            // Its time is over, or its channel: nothing went.
            met.extend(
                partner
                    .await
                    .unwrap()
                    .into_iter()
                    .flatten()
                    .filter(|met| *met > 0),
            );
        }
        assert!(met.len() <= 1, "{met:?}");
        assert_eq!(messages.0.is_none(), met == [1]);
        assert_eq!(messages.1.is_none(), met == [2]);
        if let Some(branch) = branch {
            assert!(
                branch == 0 && met.is_empty() || met == [branch],
                "{branch} {met:?}"
            );
        }
        drop(c);
    });
}

/// A send by reference loses a select, and is not taken until it is polled again.
fn a_send_that_loses_and_goes_on<F: Sets>() {
    explore_flavour::<F, _>(|seed| async move {
        let ((tx, rx), (other, others)) = (F::channel(0), F::channel(0));
        let got = Rc::new(Cell::new(None));
        let _receives = spawn({
            let got = got.clone();
            async move {
                for _ in 0..seed % 4 {
                    yield_now().await;
                }
                got.set(rx.recv().await.ok());
                rx
            }
        });
        let _fires = spawn(async move {
            for _ in 0..seed / 4 % 4 {
                yield_now().await;
            }
            let _ = other.send(()).await;
        });
        let mut send = std::pin::pin!(tx.send(1));
        let sent = select! {
            sent = send.as_mut() => sent.is_ok(),
            _ = others.recv() => false,
        };
        if !sent {
            quiet().await;
            assert_eq!(got.get(), None, "it was taken between its polls");
            send.await.unwrap();
        }
        quiet().await;
        assert_eq!(got.get(), Some(1));
    });
}
