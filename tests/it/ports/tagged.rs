//! Ports with tags: each event has its port's, whatever the port is, and a pipe's end that comes back keeps it.

use std::collections::HashSet;
use std::task::Poll;

use gossamer::Wait;
use gossamer::channel::{Closed, oneshot};

use super::pipes::{Item, asked};
use crate::channel::Channels;
use crate::channel::spsc::Rings;
use crate::flavour::{Local, Shared};
use crate::hand::Hand;
use crate::pipe::{Pipes, Reply};

/// What the tests call their ports.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
enum Tag {
    #[default]
    None,
    Number(u8),
    Client(u8),
}

macro_rules! flavour {
    ($module:ident, $flavour:ident, $($channel:ident)::+) => {
        mod $module {
            use super::*;
            use $($channel)::+::PortSet;

            type Set = PortSet<Item<$flavour>, Tag>;

            #[test]
            fn each_event_has_the_tag_of_its_port() {
                let set = PortSet::tagged();
                let (answer, answered) = oneshot();
                let ((tx, rx), (mut fills, ring)) = ($flavour::channel(2), $flavour::ring(2));
                let keys = [
                    set.add_tagged(rx, Tag::Number(1)).unwrap(),
                    set.add_tagged(answered, Tag::Number(2)).unwrap(),
                    set.add_tagged(ring, Tag::Number(3)).unwrap(),
                ];
                assert_eq!(keys.map(|key| key.tag), [1, 2, 3].map(Tag::Number));
                tx.try_send(1).unwrap();
                tx.try_send(11).unwrap();
                answer.send(2).unwrap();
                assert!(fills.try_send(3).is_ok());
                drop((tx, fills));
                let mut events = Vec::new();
                while set.recv_many(&mut events, 2).wait() > 0 {}
                let mut tagged: Vec<_> = events.iter().map(|(key, event)| (key.tag, *event)).collect();
                tagged.sort_by_key(|(tag, event)| (format!("{tag:?}"), event.is_err()));
                let [one, two, three] = [1, 2, 3].map(Tag::Number);
                let [end_one, end_three] = [(one, Err(Closed)), (three, Err(Closed))];
                assert_eq!(
                    tagged,
                    [(one, Ok(1)), (one, Ok(11)), end_one, (two, Ok(2)), (three, Ok(3)), end_three]
                );
                let seen: HashSet<_> = events.into_iter().map(|(key, _)| key).collect();
                assert_eq!(seen, HashSet::from(keys));
            }

            #[test]
            fn an_end_that_comes_back_keeps_its_tag() {
                let set = Set::tagged();
                let (mut client, server) = $flavour::pipe();
                let key = set.add_tagged(server, Tag::Client(1)).unwrap();
                for (round, expected) in [1, 1, 2, 2].into_iter().enumerate() {
                    let replied = client.ask(round as u32).unwrap();
                    let (from, event) = set.try_recv().expect("it was asked");
                    assert_eq!((from, from.tag), (key, Tag::Client(expected)));
                    let server = answer(event);
                    let back = match round {
                        1 => set.add_tagged(server, Tag::Client(2)).unwrap(),
                        _ => set.add(server).unwrap(),
                    };
                    let expected = if round == 1 { 2 } else { expected };
                    assert_eq!((back, back.tag), (key, Tag::Client(expected)));
                    let Poll::Ready(Ok(Reply::Reply(_, next))) = Hand::new(replied.recv()).poll() else {
                        panic!("it was answered");
                    };
                    client = next;
                }
                // One that is new has none, also in an entry that another one had.
                drop(client);
                assert!(matches!(set.try_recv(), Some((_, Err(Closed)))));
                let (_client, server) = $flavour::pipe();
                let new = set.add(server).unwrap();
                assert!(new != key && new.tag == Tag::None);
            }

            fn answer(
                event: Result<Item<$flavour>, Closed>,
            ) -> crate::pipe::Server<u32, $flavour> {
                let untagged = gossamer::channel::PortSet::<()>::new();
                let (_tx, rx) = gossamer::channel::unbounded();
                let key = untagged.add(rx).unwrap();
                let (_, _, reply) = asked::<$flavour>(Some((key, event)));
                reply.reply(0).unwrap()
            }
        }
    };
}
flavour!(shared, Shared, gossamer::channel);
flavour!(local, Local, gossamer::local::channel);

/// Tags cost nothing where there are none.
#[test]
fn a_key_without_a_tag_is_as_small_as_before() {
    assert_eq!(size_of::<gossamer::channel::port_set::Key>(), 8);
}
