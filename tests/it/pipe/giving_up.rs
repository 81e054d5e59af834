//! Giving up a wait without closing the session: by a time limit, and in a `select!`.

use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use gossamer::channel::{Closed, oneshot, pipe::TimedOut};
use gossamer::select;
use gossamer::time::{self, sleep as rest};
use gossamer_sim::spawn;

use super::{Ask, Client, Pipes, Reply, Server};
use crate::bad_wakers::{may_fail, panics_in_drop};
use crate::exploring::{Cut, exhaust_each_step, explore_seeded};
use crate::flavour::both;
use crate::hand::{Hand, parked, ready};
use crate::tally::{Tally, Value};

both! {
    the_error_has_the_endpoint,
    the_limit_against_the_message,
    a_limited_wait_dropped_after_any_poll,
    by_reference_in_a_select,
    with_a_limit_by_reference_in_a_select,
    by_value_in_a_select,
    though_its_waker_panics,
}

const SOON: Duration = Duration::from_millis(5);

fn the_error_has_the_endpoint<F: Pipes>() {
    let (client, server) = F::pipe::<u32>();
    let waiting = client.ask(1).unwrap();
    let late = ready(Hand::new(waiting.recv().timeout(Duration::ZERO)).poll());
    let late: TimedOut<_> = late.expect_err("nothing was sent");
    assert_eq!(
        late.to_string(),
        "the time is over, and the pipe's other end has sent nothing"
    );
    let waiting = late.into_endpoint();
    // The session goes on.
    let Ask::Ask(1, reply) = ready(Hand::new(server.recv()).poll()).unwrap() else {
        panic!("it was asked");
    };
    let server = reply.reply(2).unwrap();
    let late = waiting.recv().timeout_at(time::now());
    let Ok(Ok(Reply::Reply(2, client))) = ready(Hand::new(late).poll()) else {
        panic!("what is there wins over a limit that has passed");
    };
    // Of one that waited nothing is left behind.
    let mut waits = Hand::new(server.recv().timeout(SOON));
    assert!(waits.poll().is_pending());
    assert_ne!(waits.wakers_held(), 0);
    drop(client);
    assert!(matches!(ready(waits.poll()), Ok(Err(Closed))));
}

/// Asks, with a limit for each wait, until it is answered.
async fn asks<F: Pipes>(client: Client<Value, F>, tally: Tally) -> (u32, u32) {
    let waiting = client.ask(tally.value(7)).map_err(drop);
    let mut waiting = waiting.expect("it is there");
    let mut late = 0;
    loop {
        waiting = match waiting.recv().timeout(SOON).await {
            Ok(Ok(Reply::Reply(reply, client))) => {
                client.leave().expect("it waits");
                return (reply.id, late);
            }
            Ok(_) => panic!("it replies"),
            Err(timed_out) => timed_out.into_endpoint(),
        };
        late += 1;
    }
}

async fn serves<F: Pipes>(server: Server<Value, F>, tally: Tally, takes: Duration) {
    let Ok(Ask::Ask(asked, reply)) = server.recv().await else {
        panic!("it asks");
    };
    rest(takes).await;
    let sent = reply.reply(tally.value(asked.id * 10)).map_err(drop);
    let next = sent.expect("it waits, or does so again");
    assert!(matches!(next.recv().await, Ok(Ask::Leave)));
}

/// The answer comes before the limit, just then, or after it; once, and to the same client.
fn the_limit_against_the_message<F: Pipes>() {
    for takes in [SOON / 2, SOON, 3 * SOON] {
        explore_seeded(gossamer_sim::Sim::new(), |_| async move {
            let tally = Tally::default();
            let (client, server) = F::pipe();
            let asks = spawn(asks::<F>(client, tally.clone()));
            let serves = spawn(serves::<F>(server, tally.clone(), takes));
            let (reply, late) = asks.await.expect("no panic");
            serves.await.expect("no panic");
            assert_eq!((reply, tally.living()), (70, 0));
            assert!(match () {
                () if takes < SOON => late == 0,
                () if takes == SOON => late <= 1,
                () => late >= 2,
            });
        });
    }
}

/// It has the endpoint, so the session is closed, and nothing is lost.
fn a_limited_wait_dropped_after_any_poll<F: Pipes>() {
    for cut in Cut::all() {
        exhaust_each_step(|| async move {
            let tally = Tally::default();
            let (client, server) = F::pipe();
            let (asking, replying) = (tally.clone(), tally.clone());
            let asks = spawn(async move {
                let waiting = client.ask(asking.value(1)).map_err(drop);
                let waits = waiting.expect("it is there").recv().timeout(SOON);
                cut.apply(waits).await.map(|heard| heard.is_ok())
            });
            let Ok(Ask::Ask(_, reply)) = server.recv().await else {
                panic!("it asks");
            };
            rest(SOON).await;
            let is_gone = reply.reply(replying.value(2)).is_err();
            let heard = asks.await.expect("no panic");
            assert!(heard != Some(true) || !is_gone, "it was heard by nobody");
            assert_eq!(tally.living(), 0);
        });
    }
}

fn by_reference_in_a_select<F: Pipes>() {
    let ((client, server), (stop, stopped)) = (F::pipe::<u32>(), oneshot());
    let mut recv = client.ask(1).unwrap().recv();
    let mut waits = parked(async {
        select! {
            _ = &mut recv => panic!("nothing was sent"),
            _ = stopped => {},
        }
    });
    stop.send(()).unwrap();
    ready(waits.poll());
    drop(waits);
    let waiting = recv.into_endpoint().expect("it gave nothing");
    let Ask::Ask(1, reply) = ready(Hand::new(server.recv()).poll()).unwrap() else {
        panic!("it was asked");
    };
    let _server = reply.reply(2).unwrap();
    let heard = ready(Hand::new(waiting.recv()).poll());
    assert!(matches!(heard, Ok(Reply::Reply(2, _))));
}

/// What has lost still has the endpoint, though its time is not over; what has given it has none.
fn with_a_limit_by_reference_in_a_select<F: Pipes>() {
    let ((client, server), (stop, stopped)) = (F::pipe::<u32>(), oneshot());
    let limit = Duration::from_secs(600);
    let mut recv = Box::pin(client.ask(1).unwrap().recv().timeout(limit));
    let mut waits = parked(async {
        select! {
            _ = &mut recv => panic!("nothing was sent"),
            _ = stopped => {},
        }
    });
    stop.send(()).unwrap();
    ready(waits.poll());
    drop(waits);
    let waiting = recv.as_mut().into_endpoint().expect("it gave nothing");
    assert!(recv.as_mut().into_endpoint().is_none());
    drop(recv);
    let Ask::Ask(1, reply) = ready(Hand::new(server.recv()).poll()).unwrap() else {
        panic!("it was asked");
    };
    let _server = reply.reply(2).unwrap();
    let mut recv = Box::pin(waiting.recv().timeout(limit));
    let heard = ready(Hand::new(recv.as_mut()).poll());
    assert!(matches!(heard, Ok(Ok(Reply::Reply(2, _)))));
    assert!(recv.as_mut().into_endpoint().is_none());
}

/// The operation goes with its branch, and with it the endpoint.
fn by_value_in_a_select<F: Pipes>() {
    let ((client, server), (stop, stopped)) = (F::pipe::<u32>(), oneshot());
    stop.send(()).unwrap();
    ready(
        Hand::new(async {
            select! {
                biased;
                _ = stopped => {},
                _ = client.ask(1).unwrap().recv() => panic!("nothing was sent"),
            }
        })
        .poll(),
    );
    let Ask::Ask(1, reply) = ready(Hand::new(server.recv()).poll()).unwrap() else {
        panic!("it was asked");
    };
    assert!(reply.reply(2).is_err());
}

/// The waker of the wait panics when it is dropped: the endpoint is there all the same.
fn though_its_waker_panics<F: Pipes>() {
    let (client, server) = F::pipe::<u32>();
    let mut recv = client.ask(1).unwrap().recv();
    let waker = panics_in_drop();
    let mut cx = Context::from_waker(&waker);
    assert!(Pin::new(&mut recv).poll(&mut cx).is_pending());
    may_fail(|| drop(waker));
    let mut waiting = None;
    may_fail(|| waiting = recv.into_endpoint());
    let waiting = waiting.expect("it gave nothing");
    let Ask::Ask(1, reply) = ready(Hand::new(server.recv()).poll()).unwrap() else {
        panic!("it was asked");
    };
    let _server = reply.reply(2).unwrap();
    let heard = ready(Hand::new(waiting.recv()).poll());
    assert!(matches!(heard, Ok(Reply::Reply(2, _))));
}
