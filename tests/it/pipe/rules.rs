//! What sending, receiving and waiting do.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, Waker};

use gossamer::channel::Closed;
use gossamer::{Runtime, Wait};
use gossamer_sim::spawn;

use super::{Ask, Client, Pipes, Reply, Told, chat, client};
use crate::exploring::exhaust;
use crate::flavour::both;
use crate::hand::{Hand, Wakes, parked};
use crate::tally::Tally;

both! {
    messages_go_by_turns,
    several_in_a_row_wait_for_each_other,
    nobody_has_to_wait_for_what_was_taken,
    the_other_side_may_send_several_too,
    what_was_sent_last_is_received,
    giving_up_loses_nothing,
    ends_go_in_messages,
    a_big_message_and_an_empty_one,
    a_wait_goes_from_task_to_task,
}

fn messages_go_by_turns<F: Pipes>() {
    exhaust(|| async {
        let (mut client, mut server) = F::pipe::<u32>();
        let serves = spawn(async move {
            let mut asked = 0;
            while let Ask::Ask(number, reply) = server.recv().await.expect("it leaves") {
                asked += 1;
                server = match number {
                    2 => reply.refuse().expect("it waits"),
                    _ => reply.reply(number * 10).expect("it waits"),
                };
            }
            asked
        });
        let mut replies = Vec::new();
        for number in 1..=3 {
            let heard = client.ask(number).expect("it is there").recv().await;
            client = match heard.expect("it replies") {
                Reply::Reply(reply, next) => {
                    replies.push(reply);
                    next
                }
                Reply::Refuse(next) => next,
                other => panic!("{other:?}"),
            };
        }
        client.leave().expect("it waits");
        assert_eq!(serves.await.expect("no panic"), 3);
        assert_eq!(replies, [10, 30]);
    });
}

/// The slot is full until the message has been taken; whoever waits for that is told, once.
fn several_in_a_row_wait_for_each_other<F: Pipes>() {
    let (client, server) = F::pipe::<u32>();
    let told = client.tell(1).expect("it is there");
    let mut ready = parked(told.ready());
    let mut recv = Hand::new(server.recv());
    let Poll::Ready(Ok(Ask::Tell(1, server))) = recv.poll() else {
        panic!("it was sent")
    };
    assert_eq!(ready.wakes(), 1);
    let Poll::Ready(Ok(client)) = ready.poll() else {
        panic!("it was taken")
    };
    let mut recv = parked(server.recv());
    let told = client.tell(2).expect("it waits");
    assert_eq!(recv.wakes(), 1);
    let Poll::Ready(Ok(Ask::Tell(2, server))) = recv.poll() else {
        panic!("it was sent")
    };
    // Taken before anybody asked.
    let Poll::Ready(Ok(client)) = Hand::new(told.ready()).poll() else {
        panic!("it was taken")
    };
    client.leave().expect("it is there");
    assert!(matches!(
        Hand::new(server.recv()).poll(),
        Poll::Ready(Ok(Ask::Leave))
    ));
}

/// `try_ready` gives the endpoint back while the slot is full, and for ever once the other side is gone.
fn nobody_has_to_wait_for_what_was_taken<F: Pipes>() {
    let (client, server) = F::pipe::<u32>();
    let told = client.tell(1).expect("it is there").try_ready();
    let told = told.expect_err("nobody has taken it");
    let Poll::Ready(Ok(Ask::Tell(1, server))) = Hand::new(server.recv()).poll() else {
        panic!("it was sent")
    };
    let client = told.try_ready().expect("it was taken");
    let told = client.tell(2).expect("it is there").try_ready();
    let told = told.expect_err("nobody has taken it");
    drop(server);
    let told = told.try_ready().expect_err("nobody ever will");
    let Poll::Ready(Err(Closed)) = Hand::new(told.ready()).poll() else {
        panic!("nobody is there")
    };
}

fn the_other_side_may_send_several_too<F: Pipes>() {
    exhaust(|| async {
        let (client, server) = F::pipe::<u32>();
        let serves = spawn(async move {
            let Ok(Ask::Ask(most, mut reply)) = server.recv().await else {
                panic!("it asks")
            };
            for number in 0..most {
                let full = reply.more(number, 7).expect("it waits");
                reply = full.ready().await.expect("it takes them");
            }
            reply.end(99).expect("it waits");
        });
        let mut waits = client.ask(2).expect("it is there");
        let mut got = Vec::new();
        loop {
            match waits.recv().await.expect("it replies") {
                Reply::More(number, seven, next) => {
                    got.push((number, seven));
                    waits = next;
                }
                Reply::End(last) => break got.push((last, 0)),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(got, [(0, 7), (1, 7), (99, 0)]);
        serves.await.expect("no panic");
    });
}

/// A message that ends the protocol, or was sent before its end was dropped.
fn what_was_sent_last_is_received<F: Pipes>() {
    let tally = Tally::default();
    let (client, server) = F::pipe();
    client.bye(tally.value(1)).map_err(drop).expect("it waits");
    let Poll::Ready(Ok(Ask::Bye(last))) = Hand::new(server.recv()).poll() else {
        panic!("it was sent")
    };
    assert_eq!((last.id, tally.dropped()), (1, 0));

    let (client, server) = F::pipe();
    drop(client.ask(tally.value(2)).map_err(drop));
    let Poll::Ready(Ok(Ask::Ask(last, reply))) = Hand::new(server.recv()).poll() else {
        panic!("it was sent")
    };
    assert_eq!((last.id, tally.dropped()), (2, 0));
    drop((reply, last));
}

/// Waiting is given up in the midst of it; the endpoint is there again, and nobody holds a waker.
fn giving_up_loses_nothing<F: Pipes>() {
    let (client, server) = F::pipe::<u32>();
    let (wakes, mut recv) = (Arc::<Wakes>::default(), server.recv());
    let waker = Waker::from(wakes.clone());
    assert!(Hand::new(&mut recv).poll_with(&waker).is_pending());
    drop(waker);
    assert_eq!(Arc::strong_count(&wakes), 2);
    let server = recv.into_endpoint().expect("it gave nothing");
    assert_eq!((Arc::strong_count(&wakes), wakes.count()), (1, 0));

    let waiting = client.ask(5).expect("it is there");
    // It has come, and is not taken.
    let server = server.recv().into_endpoint().expect("it gave nothing");
    let mut recv = server.recv();
    let Poll::Ready(Ok(Ask::Ask(5, reply))) = Hand::new(&mut recv).poll() else {
        panic!("it was sent")
    };
    assert!(recv.into_endpoint().is_none());
    assert!(reply.reply(6).is_ok());
    let heard = Hand::new(waiting.recv()).poll();
    assert!(matches!(heard, Poll::Ready(Ok(Reply::Reply(6, _)))));
}

/// Of this protocol and another, in both directions; they go on where they were.
fn ends_go_in_messages<F: Pipes>() {
    let (outer, server) = F::pipe::<Client<u32, F>>();
    let (inner, inner_server) = F::pipe::<u32>();
    let told: Told<_, F> = outer.tell(inner).expect("it is there");
    let Poll::Ready(Ok(Ask::Tell(inner, server))) = Hand::new(server.recv()).poll() else {
        panic!("it was sent")
    };
    let waiting = inner.ask(1).expect("it is there");
    let Poll::Ready(Ok(Ask::Ask(1, reply))) = Hand::new(inner_server.recv()).poll() else {
        panic!("it was sent")
    };
    // What is on its way when its pipe goes is dropped: and so its other end is told.
    let (on_its_way, left) = F::pipe::<u32>();
    let Poll::Ready(Ok(outer)) = Hand::new(told.ready()).poll() else {
        panic!("it was taken")
    };
    let mut left = parked(left.recv());
    let told = outer.tell(on_its_way).expect("it is there");
    assert_eq!(left.wakes(), 0);
    drop(server);
    assert_eq!(left.wakes(), 1);
    assert!(matches!(left.poll(), Poll::Ready(Err(Closed))));
    assert!(reply.refuse().is_ok());
    assert!(Hand::new(waiting.recv()).poll().is_ready());
    drop(told);
}

/// Begun in one task, which ends, and gone on with in another; or dropped there, or forgotten by the first.
fn a_wait_goes_from_task_to_task<F: Pipes>() {
    exhaust(|| async {
        for fate in 0..3 {
            let (client, server) = F::pipe::<u32>();
            let begun = spawn(async move {
                let mut recv = server.recv();
                for _ in 0..2 {
                    let polled = poll_fn(|cx| Poll::Ready(Pin::new(&mut recv).poll(cx))).await;
                    assert!(polled.is_pending());
                }
                (recv,)
            });
            let (recv,) = begun.await.expect("no panic");
            match fate {
                0 => {
                    let goes_on = spawn(recv);
                    gossamer::yield_now().await;
                    assert!(client.bye(3).is_ok());
                    let heard = goes_on.await.expect("no panic");
                    assert!(matches!(heard, Ok(Ask::Bye(3))));
                }
                1 => {
                    drop(recv);
                    assert!(client.bye(3).is_err());
                }
                _ => {
                    // The waker that is left is of a task that is over.
                    std::mem::forget(recv);
                    assert!(client.bye(3).is_ok());
                }
            }
        }
    });
}

/// Messages are moved: a megabyte in a debug build needs a stack for its copies.
fn a_big_message_and_an_empty_one<F: Pipes>() {
    let thread = std::thread::Builder::new().stack_size(64 << 20);
    let carries = thread.spawn(big_and_empty::<F>).expect("a thread");
    carries.join().expect("no panic");
}

fn big_and_empty<F: Pipes>() {
    let (client, server) = F::pipe::<[u8; 1 << 20]>();
    let waiting = client.ask([3; 1 << 20]).map_err(drop).expect("it is there");
    let Poll::Ready(Ok(Ask::Ask(big, _))) = Hand::new(server.recv()).poll() else {
        panic!("it was sent")
    };
    assert!(big.iter().all(|byte| *byte == 3));
    drop(waiting);
    let (client, server) = F::pipe::<()>();
    let waiting = client.ask(()).expect("it is there");
    assert!(matches!(
        Hand::new(server.recv()).poll(),
        Poll::Ready(Ok(Ask::Ask((), _)))
    ));
    drop(waiting);
}

/// A pipe whose messages may be its own ends.
#[test]
fn a_pipe_carries_its_own_ends() {
    gossamer::protocol! {
        /// Whoever has it gives it back, with what it was sent over.
        protocol Parcel between sender and finder {
            Send: sender { parcel(Box<finder::Send>) -> Back },
            Back: finder { back(Box<finder::Send>) -> End },
        }
    }
    let (sender, finder) = parcel::pipe();
    let (other, inside) = parcel::pipe();
    let waiting = sender.parcel(Box::new(inside)).expect("it is there");
    let parcel::Send::Parcel(inside, finder) = finder.recv().wait().expect("it was sent");
    finder.back(inside).expect("it waits");
    let parcel::Back::Back(inside) = waiting.recv().wait().expect("it was sent back");
    drop(inside);
    let (_, again) = parcel::pipe();
    assert!(other.parcel(Box::new(again)).is_err());
}

/// What the types promise to other threads, and what they say of themselves.
#[test]
fn types_say_what_they_are() {
    fn is_send<T: Send + Sync + Unpin>(_: &T) {}
    let (client, server) = chat::pipe::<std::cell::Cell<u32>>();
    is_send(&client);
    let recv = server.recv();
    is_send(&recv);
    assert_eq!(
        format!("{client:?} {recv:?}"),
        "chat::client::Ask Receiving { .. }"
    );
    assert_eq!(size_of_val(&client), size_of::<usize>());
    let told = client.tell(5.into()).expect("it is there");
    assert_eq!(format!("{told:?}"), "Full { .. }");
    let endpoint = recv.into_endpoint().expect("it gave nothing");
    assert_eq!(format!("{endpoint:?}"), "chat::server::Ask");
    let text = format!("{:?}", endpoint.recv().wait());
    assert_eq!(text, "Ok(Tell(Cell { value: 5 }, chat::server::Ask))");
}

#[test]
#[should_panic(expected = "polled after it had given its output")]
fn receiving_ends_once() {
    let (client, server) = chat::local_pipe::<u32>();
    drop::<client::Ask<_, _>>(client);
    let mut recv = Hand::new(server.recv());
    assert!(recv.poll().is_ready());
    drop(recv.poll());
}

/// An operation with a limit of time keeps its endpoint, if only a `&mut` of it is given away.
#[test]
fn a_limit_of_time() {
    use gossamer::TimeoutExt;
    use std::time::Duration;

    let rt = Runtime::builder().build().expect("a runtime");
    let (client, server) = chat::pipe::<u32>();
    rt.block_on(async {
        let mut recv = server.recv();
        let late = (&mut recv).timeout(Duration::from_millis(1)).await;
        assert!(late.is_err());
        assert!(client.bye(4).is_ok());
        assert!(matches!(recv.await, Ok(Ask::Bye(4))));
    });
}
