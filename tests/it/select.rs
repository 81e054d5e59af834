//! Waiting for whichever comes first: the macro and the function.

mod by_reference;
mod exclusive;
mod group;
mod itself;
mod joins_and_sets;
mod meeting;
mod once;
mod schedules;
mod searching;
mod turned_away;

use std::cell::Cell;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use gossamer::channel::{Closed, Receiver, Sender, bounded, oneshot, rendezvous, unbounded};
use gossamer::time::sleep as pause;
use gossamer::{Model, TimeoutExt, Wait, select};
use gossamer_sim::{Sim, spawn};

use crate::exploring::{Cut, explore_seeded, quiet};
use crate::hand::{Hand, parked};
use crate::models::{MODELS, runtime, watched};

#[test]
fn the_one_that_is_ready() {
    let ((tx, rx), (_other, others)) = (unbounded(), unbounded::<&str>());
    let mut waits = parked(async {
        select! {
            number = rx.recv() => number.map(|number: i32| number.to_string()),
            word = others.recv() => word.map(str::to_owned),
        }
    });
    tx.try_send(1).unwrap();
    assert_eq!(waits.poll(), Poll::Ready(Ok("1".into())));
}

/// With both always ready, each is taken about as often.
#[test]
fn fair_unless_biased() {
    let ((one, ones), (two, twos)) = (bounded(1), bounded(1));
    let mut taken = [0, 0];
    for _ in 0..1_000 {
        let _sent = (one.try_send(()), two.try_send(()));
        select! {
            wait;
            _ = ones.recv() => taken[0] += 1,
            _ = twos.recv() => taken[1] += 1,
        }
    }
    assert!(taken.iter().all(|times| *times > 300), "{taken:?}");
    for _ in 0..100 {
        let _sent = (one.try_send(()), two.try_send(()));
        select! {
            biased; wait;
            _ = ones.recv() => {}
            _ = twos.recv() => panic!("it is the second one"),
        }
    }
}

/// So it is also beside others that are never ready, wherever those stand.
#[test]
fn fair_among_those_that_are_ready() {
    const ROUNDS: usize = 2_000;
    for (one, two) in [(0, 1), (1, 3), (2, 3), (4, 5), (0, 6)] {
        let channels: Vec<_> = (0..7).map(|_| unbounded()).collect();
        let mut first = 0;
        for _ in 0..ROUNDS {
            let _sent = [one, two].map(|place| channels[place].0.try_send(()));
            let (place, _) = select::any(channels.iter().map(|(_, rx)| rx.recv())).wait();
            first += usize::from(place == one);
            let _rest = [one, two].map(|place| channels[place].1.try_recv());
        }
        assert!(
            first.abs_diff(ROUNDS / 2) < ROUNDS / 10,
            "{one}, {two}: {first}"
        );
    }
}

/// A place in a full channel is free, and the select that waits to send takes another branch: nothing was sent.
#[test]
fn a_send_that_was_not_taken_has_not_sent() {
    let ((tx, rx), (stop, stopped)) = (bounded(1), oneshot());
    tx.try_send(1).unwrap();
    let mut waits = parked(async {
        select! {
            biased;
            _ = stopped => "stopped",
            _ = tx.send(2) => "sent",
        }
    });
    assert_eq!(rx.try_recv(), Ok(1));
    stop.send(()).unwrap();
    assert_eq!(waits.poll(), Poll::Ready("stopped"));
    drop(waits);
    assert!(rx.try_recv().is_err(), "a message that nobody sent");
    assert!(tx.try_send(3).is_ok(), "its place is still reserved");
}

#[test]
fn conditions_patterns_and_else() {
    let (tx, rx) = unbounded::<Option<i32>>();
    let made = Cell::new(false);
    let never = || {
        made.set(true);
        rx.recv()
    };
    for message in [Some(1), Some(2), None] {
        tx.try_send(message).unwrap();
    }
    let mut seen = Vec::new();
    for _ in 0..3 {
        select! {
            wait;
            Ok(Some(mut number)) = rx.recv() => {
                number += 10;
                seen.push(number);
            }
            _ = never(), if seen.len() > 5 => unreachable!(),
            else => seen.push(0),
        }
    }
    assert_eq!((seen, made.get()), (vec![11, 12, 0], false));
    // A branch whose pattern does not match is out, and the other one goes on.
    tx.try_send(None).unwrap();
    let (other, others) = oneshot();
    let mut waits = parked(async {
        select! {
            biased;
            Ok(Some(_)) = rx.recv() => unreachable!(),
            Ok(ref word) = others => String::clone(word),
        }
    });
    other.send("word".to_owned()).unwrap();
    assert_eq!(waits.poll(), Poll::Ready("word".into()));
}

#[test]
#[should_panic(expected = "no branch takes part any more")]
fn nothing_is_left() {
    let (tx, rx) = unbounded::<i32>();
    drop(tx);
    select! {
        wait;
        Ok(_) = rx.recv() => {}
    }
}

/// The losers are gone when the body runs: it may use what they had borrowed.
#[test]
fn losers_go_before_the_body() {
    struct Gone(Rc<Cell<bool>>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }
    let gone = Rc::new(Cell::new(false));
    let watch = Gone(gone.clone());
    let mut place = 1;
    let borrows = async {
        let _watch = watch;
        std::future::pending::<()>().await;
        place += 1;
    };
    select! {
        wait;
        _ = borrows => unreachable!(),
        _ = async {} => {
            place += 10;
            assert!(gone.get());
        }
    }
    assert_eq!(place, 11);
    let operations: [std::pin::Pin<Box<dyn Future<Output = ()>>>; 2] =
        [Box::pin(std::future::pending()), Box::pin(async {})];
    assert_eq!(select::any(operations).wait(), (1, ()));
}

/// What a pattern may be in a `match`, it may be here; and names of the user's are the user's.
#[test]
fn patterns_and_names() {
    #[derive(Debug)]
    struct Output {
        status: i32,
    }
    const LIMIT: i32 = 7;
    let number = 5;
    let holds = Output { status: 1 };
    let seen = select! {
        wait;
        LIMIT = async { 6 } => panic!("that is another number"),
        "quit" = async { "go" } => panic!("that is another word"),
        Some(&n) = async { Some(&number) }, if holds.status == Output { status: 1 }.status => {
            Output { status: n }
        }
        else => panic!("one matches"),
    };
    assert_eq!(seen.status, 5);
    let seen = select! {
        wait;
        Output { status } = async { seen } => status,
    };
    let seen = select! {
        wait;
        (mut first, ref second @ 1..=9, [.., last]) = async { (seen, 3, [1, 2]) } => {
            first += *second;
            first + last
        }
        None = async { Some(String::new()) } => panic!("there is one"),
    };
    assert_eq!(seen, 10);
}

/// An operation that is polled again and again, and waits, does not keep the others from their turns.
#[test]
fn what_waits_does_not_pay_for_what_goes() {
    watched("a greedy loop", || {
        let rt = runtime(Model::Single);
        let (stop, stops) = oneshot();
        let (tx, rx) = unbounded();
        tx.try_send(()).unwrap();
        let greedy = rt.spawn(async move {
            let mut stops = stops;
            loop {
                select! {
                    biased;
                    _ = &mut stops => break,
                    _ = rx.recv() => tx.try_send(()).unwrap(),
                }
            }
        });
        let other = rt.spawn(async move { stop.send(()) });
        greedy.wait().unwrap();
        other.wait().unwrap().unwrap();
    });
}

/// The body belongs to the function around it.
#[test]
fn bodies_may_return_break_and_await() {
    async fn first(numbers: &gossamer::channel::Receiver<i32>) -> Result<i32, Closed> {
        loop {
            select! {
                number = numbers.recv() => match number? {
                    0 => continue,
                    1 => break Ok(numbers.recv().await? * 100),
                    other => return Ok(other),
                },
            }
        }
    }
    let (tx, rx) = unbounded();
    for number in [0, 1, 5, 0, 7] {
        tx.try_send(number).unwrap();
    }
    assert_eq!((first(&rx).wait(), first(&rx).wait()), (Ok(500), Ok(7)));
    drop(tx);
    assert_eq!(first(&rx).wait(), Err(Closed));
}

#[test]
fn a_timeout_is_a_branch() {
    let (_tx, rx) = unbounded::<()>();
    for model in [Model::Single, Model::Pool { workers: 1 }] {
        let rt = runtime(model);
        let rx = rx.clone();
        let late = rt.spawn(async move {
            select! {
                _ = rx.recv() => false,
                _ = pause(Duration::from_millis(1)) => true,
            }
        });
        assert_eq!(late.wait().ok(), Some(true));
    }
    assert!(
        select::any([rx.recv()])
            .timeout(Duration::from_millis(1))
            .wait()
            .is_err()
    );
}

/// An operation made before the loop goes on in it, and keeps what it owns.
#[test]
fn an_operation_that_goes_on() {
    let ((tx, rx), (tick, ticks)) = (rendezvous(), unbounded());
    for number in 0..3 {
        tick.try_send(number).unwrap();
    }
    let mut sends = std::pin::pin!(tx.send(String::from("kept")));
    let mut seen = 0;
    let mut waits = Hand::new(async {
        loop {
            select! {
                sent = sends.as_mut() => break sent.is_ok(),
                Ok(_) = ticks.recv() => seen += 1,
            }
        }
    });
    assert!(waits.poll().is_pending());
    assert_eq!(rx.try_recv(), Ok("kept".into()));
    assert_eq!(waits.poll(), Poll::Ready(true));
    drop(waits);
    assert_eq!(seen, 3);
}

#[test]
#[should_panic(expected = "no operation")]
fn any_of_none() {
    drop(select::any(std::iter::empty::<std::future::Ready<()>>()));
}

/// The messages of three channels, until all are closed; in a fiber or a thread.
fn merged(channels: [Receiver<u32>; 3]) -> u32 {
    let [a, b, c] = channels;
    let (mut sum, mut open) = (0, [true; 3]);
    loop {
        let (channel, message) = select! {
            wait;
            message = a.recv(), if open[0] => (0, message),
            message = b.recv(), if open[1] => (1, message),
            message = c.recv(), if open[2] => (2, message),
            else => return sum,
        };
        match message {
            Ok(number) => sum += number,
            Err(Closed) => open[channel] = false,
        }
    }
}

/// The same in a task, by the function.
async fn merged_by_any(channels: [Receiver<u32>; 3]) -> u32 {
    let (mut sum, mut open) = (0, Vec::from(channels));
    while !open.is_empty() {
        match select::any(open.iter().map(|rx| rx.recv())).await {
            (_, Ok(number)) => sum += number,
            (channel, Err(Closed)) => drop(open.remove(channel)),
        }
    }
    sum
}

/// In tasks, fibers and threads, under every model: from channels of three kinds, each message once.
#[test]
fn under_every_model() {
    const EACH: u32 = 300;
    for model in MODELS {
        watched("select", move || {
            let rt = runtime(model);
            let receivers = || {
                [rendezvous(), bounded(1), unbounded()].map(|(tx, rx)| {
                    let _sends = rt.spawn(async move {
                        for number in 0..EACH {
                            tx.send(number).await.unwrap();
                        }
                    });
                    rx
                })
            };
            let [one, two, three] = [(); 3].map(|()| receivers());
            let task = rt.spawn(merged_by_any(one));
            let fiber = rt.spawn_fiber(move || merged(two));
            let thread = rt.spawn_thread(move || merged(three));
            let sums = [
                task.wait().unwrap(),
                fiber.wait().unwrap(),
                thread.wait().unwrap(),
            ];
            assert_eq!(sums, [3 * (EACH - 1) * EACH / 2; 3]);
        });
    }
}

/// A select is cut off after any poll: what it did not take is there, and what it sent has come once.
#[test]
fn a_select_dropped_after_any_poll() {
    explore_seeded(Sim::new(), |seed| async move {
        let capacity = |number: u64| [0, 1, usize::MAX][(seed / 8 / number % 3) as usize];
        let ((a, one), (b, two)) = (channel(capacity(1)), channel(capacity(3)));
        let (other, back) = channel(capacity(9));
        let mut got = Vec::new();
        let _one = spawn(async move { a.send(1).await.unwrap() });
        let _two = spawn(async move { b.send(2).await.unwrap() });
        let returned = spawn(async move { back.recv().await.ok() });
        let mut sent = false;
        let cut = Cut::nth(seed).apply(async {
            select! {
                number = one.recv() => got.extend(number),
                number = two.recv() => got.extend(number),
                done = other.send(3) => sent = done.is_ok(),
            }
        });
        let taken = cut.await.is_some();
        quiet().await;
        for rx in [one, two] {
            got.extend(rx.recv().await);
        }
        got.sort_unstable();
        assert_eq!(got, [1, 2]);
        drop(other);
        let returned = returned.await.unwrap();
        assert!(!sent || taken && returned == Some(3), "{sent} {returned:?}");
    });
}

/// Of this capacity.
fn channel<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    match capacity {
        0 => rendezvous(),
        usize::MAX => unbounded(),
        capacity => bounded(capacity),
    }
}
