//! Small programs, all of them, in all schedules: each side goes on for so many steps, and then goes.
//!
//! The steps of the client are sending a message, or waiting; those of the server are the same. Whoever does the last
//! of its steps drops what it has. The quiescence check of the simulation sees to it that nobody is left waiting.

use std::cell::RefCell;
use std::rc::Rc;

use gossamer_sim::spawn;

use super::{Ask, Client, Pipes, Reply, Server};
use crate::exploring::exhaust;
use crate::flavour::both;
use crate::tally::{Tally, Value};

both! {
    each_side_goes_after_any_step,
    sending_several_each_side_goes_after_any_step,
}

/// What became of the messages.
#[derive(Clone, Default)]
struct Books {
    tally: Tally,
    sent: Rc<RefCell<Vec<u32>>>,
    heard: Rc<RefCell<Vec<u32>>>,
}

impl Books {
    /// Notes that a message went or came back.
    fn sent<E, V>(&self, id: u32, sent: Result<E, V>) -> Option<E> {
        if sent.is_ok() {
            self.sent.borrow_mut().push(id);
        }
        sent.ok()
    }

    fn heard(&self, value: &Value) {
        self.heard.borrow_mut().push(value.id);
    }
}

/// Asks again and again: each question is two steps, and so is what is told, if it tells.
async fn ask<F: Pipes>(
    client: Client<Value, F>,
    books: Books,
    steps: u32,
    tells: bool,
) -> Option<()> {
    let mut left = (0..steps).map(|step| step / 2);
    let mut client = client;
    loop {
        let id = left.next()?;
        if tells {
            let told = client.tell(books.tally.value(id));
            let told = books.sent(id, told)?;
            left.next()?;
            client = told.ready().await.ok()?;
        } else {
            let asked = client.ask(books.tally.value(id));
            let waiting = books.sent(id, asked)?;
            left.next()?;
            let Ok(Reply::Reply(reply, next)) = waiting.recv().await else {
                return None;
            };
            books.heard(&reply);
            client = next;
        }
    }
}

/// Hears, and replies: two steps, or one.
async fn serve<F: Pipes>(server: Server<Value, F>, books: Books, steps: u32) -> Option<()> {
    let mut left = (0..steps).map(|step| 10 + step);
    let mut server = server;
    loop {
        left.next()?;
        server = match server.recv().await.ok()? {
            Ask::Tell(told, next) => {
                books.heard(&told);
                next
            }
            Ask::Ask(asked, reply) => {
                books.heard(&asked);
                let id = left.next()?;
                books.sent(id, reply.reply(books.tally.value(id)))?
            }
            Ask::Leave | Ask::Bye(_) => return None,
        };
    }
}

async fn both_go<F: Pipes>(of_client: u32, of_server: u32, tells: bool) {
    let books = Books::default();
    let (client, server) = F::pipe();
    let tasks = [
        spawn(ask::<F>(client, books.clone(), of_client, tells)),
        spawn(serve::<F>(server, books.clone(), of_server)),
    ];
    for task in tasks {
        task.await.expect("no panic");
    }
    assert_eq!(books.tally.living(), 0);
    let (sent, heard) = (books.sent.take(), books.heard.take());
    // All but the last are heard, in the order in which they were sent, by whoever they were sent to.
    let (asked, replied): (Vec<u32>, Vec<u32>) = sent.iter().partition(|id| **id < 10);
    for sent in [&asked, &replied] {
        let heard: Vec<_> = heard
            .iter()
            .filter(|id| sent.contains(id))
            .copied()
            .collect();
        assert!(sent.starts_with(&heard), "sent {sent:?}, heard {heard:?}");
        assert!(
            heard.len() + 1 >= sent.len(),
            "sent {sent:?}, heard {heard:?}"
        );
    }
    assert!(heard.iter().all(|id| sent.contains(id)));
}

fn all<F: Pipes>(tells: bool) {
    for of_client in 0..5 {
        for of_server in 0..5 {
            exhaust(|| both_go::<F>(of_client, of_server, tells));
        }
    }
}

fn each_side_goes_after_any_step<F: Pipes>() {
    all::<F>(false);
}

fn sending_several_each_side_goes_after_any_step<F: Pipes>() {
    all::<F>(true);
}
