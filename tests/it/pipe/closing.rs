//! Either end may go, in each state: the other one is told, and each message is dropped once or given back.

use std::task::Poll;

use gossamer::channel::{Closed, SendError};

use super::{Ask, Pipes, Reply};
use crate::flavour::both;
use crate::hand::{Hand, parked};
use crate::tally::Tally;

both! {
    the_client_goes_while_it_waits_for_a_reply,
    the_client_goes_before_it_may_send_again,
    the_client_goes_with_a_reply_on_its_way,
    the_server_goes_before_it_hears,
    the_server_goes_with_a_message_on_its_way,
    the_server_goes_before_it_replies,
    receiving_goes_while_it_waits,
}

/// What is ready at once.
#[track_caller]
fn now<F: Future>(future: F) -> F::Output {
    match Hand::new(future).poll() {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

fn the_client_goes_while_it_waits_for_a_reply<F: Pipes>() {
    let tally = Tally::default();
    let (client, server) = F::pipe();
    let waiting = client.ask(tally.value(1)).map_err(drop).expect("it waits");
    drop(waiting);
    let Ok(Ask::Ask(one, reply)) = now(server.recv()) else {
        panic!("it was sent")
    };
    assert_eq!(one.id, 1);
    let Err(SendError(two)) = reply.reply(tally.value(2)) else {
        panic!("nobody is there")
    };
    assert_eq!((two.id, tally.dropped()), (2, 0));

    // The same, with all the parts of a message.
    let (client, server) = F::pipe();
    drop(client.ask(0));
    let Ok(Ask::Ask(0, reply)) = now(server.recv()) else {
        panic!("it was sent")
    };
    assert!(matches!(reply.more(5, 6), Err(SendError((5, 6)))));

    // Seen by one that waits for room.
    let (client, server) = F::pipe();
    let waiting = client.ask(0).expect("it is there");
    let Ok(Ask::Ask(0, reply)) = now(server.recv()) else {
        panic!("it was sent")
    };
    let mut ready = parked(reply.more(5, 6).expect("it is there").ready());
    drop(waiting);
    assert_eq!(ready.wakes(), 1);
    assert!(matches!(ready.poll(), Poll::Ready(Err(Closed))));
}

fn the_client_goes_before_it_may_send_again<F: Pipes>() {
    let (client, server) = F::pipe();
    let told = client.tell(1).expect("it is there");
    let Ok(Ask::Tell(1, server)) = now(server.recv()) else {
        panic!("it was sent")
    };
    let mut recv = parked(server.recv());
    drop(told);
    assert_eq!(recv.wakes(), 1);
    assert!(matches!(recv.poll(), Poll::Ready(Err(Closed))));
}

fn the_client_goes_with_a_reply_on_its_way<F: Pipes>() {
    let tally = Tally::default();
    let (client, server) = F::pipe();
    let waiting = client.ask(tally.value(1)).map_err(drop).expect("it waits");
    let Ok(Ask::Ask(one, reply)) = now(server.recv()) else {
        panic!("it was sent")
    };
    let server = reply.reply(tally.value(2)).map_err(drop).expect("it waits");
    drop(one);
    assert_eq!(tally.dropped(), 1);
    let mut recv = parked(server.recv());
    drop(waiting);
    assert_eq!((tally.dropped(), recv.wakes()), (2, 1));
    assert!(matches!(recv.poll(), Poll::Ready(Err(Closed))));
}

fn the_server_goes_before_it_hears<F: Pipes>() {
    let (client, server) = F::pipe::<u32>();
    drop(server.recv());
    assert!(matches!(client.leave(), Err(SendError(()))));
}

fn the_server_goes_with_a_message_on_its_way<F: Pipes>() {
    let tally = Tally::default();
    let (client, server) = F::pipe();
    let waiting = client.ask(tally.value(1)).map_err(drop).expect("it waits");
    let mut recv = parked(waiting.recv());
    drop(server);
    assert_eq!((tally.dropped(), recv.wakes()), (1, 1));
    assert!(matches!(recv.poll(), Poll::Ready(Err(Closed))));
    // The last message: nobody waits.
    let (client, server) = F::pipe();
    assert!(client.bye(tally.value(2)).is_ok());
    drop(server);
    assert_eq!(tally.dropped(), 2);
}

fn the_server_goes_before_it_replies<F: Pipes>() {
    let (client, server) = F::pipe();
    let mut recv = parked(client.ask(1).expect("it is there").recv());
    let Ok(Ask::Ask(1, reply)) = now(server.recv()) else {
        panic!("it was sent")
    };
    assert_eq!(recv.wakes(), 0);
    drop(reply);
    assert_eq!(recv.wakes(), 1);
    assert!(matches!(recv.poll(), Poll::Ready(Err(Closed))));

    // With more to come.
    let (client, server) = F::pipe();
    let waiting = client.ask(1).expect("it is there");
    let Ok(Ask::Ask(1, reply)) = now(server.recv()) else {
        panic!("it was sent")
    };
    drop(reply.more(2, 3).expect("it waits"));
    let Ok(Reply::More(2, 3, waiting)) = now(waiting.recv()) else {
        panic!("it was sent")
    };
    assert!(matches!(now(waiting.recv()), Err(Closed)));
}

/// A waiting operation that is dropped has its waker out, and closes.
fn receiving_goes_while_it_waits<F: Pipes>() {
    let (client, server) = F::pipe();
    drop(parked(server.recv()));
    assert!(matches!(client.ask(1), Err(SendError(1))));
}
