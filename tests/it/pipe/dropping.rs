//! Wakers and messages that drop ends of pipes: panics are in [`every_channel`](crate::every_channel).

use std::sync::{Arc, Mutex};
use std::task::{Poll, Wake, Waker};

use gossamer::channel::Closed;
use gossamer::channel::pipe::Receiving;
use gossamer::protocol;

use super::{Ask, chat, client};
use crate::hand::Hand;

/// A waker that drops what waits, as some executors do: inside the other end's sending, and inside its drop.
#[test]
fn a_waker_that_drops_what_waits() {
    type Waits = Mutex<Option<Receiving<client::Reply<u32>>>>;
    struct Drops(Waits);
    impl Wake for Drops {
        fn wake(self: Arc<Self>) {
            let waits = self.0.lock().expect("no panic").take();
            drop(waits);
        }
    }
    for goes in [false, true] {
        let (client, server) = chat::pipe::<u32>();
        let waiting = client.ask(1).expect("it is there");
        let Poll::Ready(Ok(Ask::Ask(1, reply))) = Hand::new(server.recv()).poll() else {
            panic!("it was sent")
        };
        let drops = Arc::new(Drops(Mutex::new(Some(waiting.recv()))));
        let waker = Waker::from(drops.clone());
        let mut waits = drops.0.lock().expect("no panic");
        let waiting = waits.as_mut().expect("it is there");
        assert!(Hand::new(waiting).poll_with(&waker).is_pending());
        drop(waits);
        if goes {
            drop(reply);
        } else {
            let server = reply.reply(2).expect("it is there");
            assert!(matches!(
                Hand::new(server.recv()).poll(),
                Poll::Ready(Err(Closed))
            ));
        }
        assert!(drops.0.lock().expect("no panic").is_none());
        drop(waker);
        assert_eq!(Arc::strong_count(&drops), 1);
    }
}

/// A message that has an end of its own pipe's neighbour, and so on: closing goes from one to the next.
#[test]
fn closing_goes_from_one_to_the_next() {
    protocol! {
        protocol Chain between front and back {
            Link: front { link(Option<Box<back::Link>>) -> End },
        }
    }
    let mut inner = None;
    for _ in 0..100 {
        let (front, back) = chain::pipe();
        assert!(front.link(inner.take()).is_ok());
        inner = Some(Box::new(back));
    }
    let (front, back) = chain::pipe();
    assert!(front.link(inner).is_ok());
    drop(back);
}
