//! Cancellation: a wait given up after any number of polls, and tasks aborted at any time, lose nothing.

use gossamer::channel::Closed;
use gossamer::channel::pipe::{Hears, Receiving};
use gossamer_sim::{Sim, spawn};

use super::{Ask, Client, Pipes, Reply, Server, chat};
use crate::exploring::{Cut, abort_all, exhaust_each_step, explore_seeded};
use crate::flavour::both;
use crate::tally::{Tally, Value};

both! {
    waits_given_up_after_any_poll,
    waits_given_up_twice,
    any_task_aborted_at_any_time,
}

/// Waits; gives that up at the cut, has the endpoint back, and waits anew.
async fn received<E: Hears>(endpoint: E, cut: Cut) -> Result<E::Heard, Closed> {
    let mut operation = Receiving::new(endpoint);
    match cut.apply(&mut operation).await {
        Some(heard) => heard,
        None => {
            let endpoint = operation.into_endpoint().expect("it gave nothing");
            Receiving::new(endpoint).await
        }
    }
}

/// Asks, tells and leaves; each of its waits is cut.
async fn ask<F: Pipes>(mut client: Client<Value, F>, tally: Tally, cut: Cut) -> u32 {
    let mut sum = 0;
    for number in 0..2 {
        let waiting = client.ask(tally.value(number)).map_err(drop);
        let heard = received(waiting.expect("it is there"), cut).await;
        let Ok(Reply::Reply(reply, next)) = heard else {
            panic!("it replies")
        };
        sum += reply.id;
        let told = next.tell(tally.value(9)).map_err(drop).expect("it waits");
        client = received(told, cut).await.expect("it takes them");
    }
    client.leave().expect("it waits");
    sum
}

/// Replies with ten times what it was asked; each of its waits is cut.
async fn serve<F: Pipes>(mut server: Server<Value, F>, tally: Tally, cut: Cut) -> u32 {
    let mut told = 0;
    loop {
        server = match received(server, cut).await {
            Ok(Ask::Ask(asked, reply)) => {
                let sent = reply.reply(tally.value(asked.id * 10));
                sent.map_err(drop).expect("it waits")
            }
            Ok(Ask::Tell(_, next)) => {
                told += 1;
                next
            }
            Ok(Ask::Leave) => return told,
            Ok(Ask::Bye(_)) | Err(_) => panic!("it leaves"),
        };
    }
}

async fn given_up<F: Pipes>(of_client: Cut, of_server: Cut) {
    let tally = Tally::default();
    let (client, server) = F::pipe();
    let asks = spawn(ask::<F>(client, tally.clone(), of_client));
    let serves = spawn(serve::<F>(server, tally.clone(), of_server));
    assert_eq!(asks.await.expect("no panic"), 10);
    assert_eq!(serves.await.expect("no panic"), 2);
    assert_eq!(tally.living(), 0);
}

fn waits_given_up_after_any_poll<F: Pipes>() {
    explore_seeded(Sim::new(), |seed| {
        given_up::<F>(Cut::nth(seed), Cut::nth(seed / 8))
    });
}

/// In all schedules: one message, its reply, and both waits cut.
fn waits_given_up_twice<F: Pipes>() {
    for (of_client, of_server) in Cut::all().flat_map(|one| Cut::all().map(move |two| (one, two))) {
        exhaust_each_step(|| async move {
            let (client, server) = F::pipe::<u32>();
            let asks = spawn(async move {
                let waiting = client.ask(1).expect("it is there");
                matches!(received(waiting, of_client).await, Ok(Reply::End(2)))
            });
            let Ok(Ask::Ask(1, reply)) = received(server, of_server).await else {
                panic!("it asks")
            };
            reply.end(2).expect("it waits");
            assert!(asks.await.expect("no panic"));
        });
    }
}

/// Whatever was on its way is dropped, and the other side ends too.
fn any_task_aborted_at_any_time<F: Pipes>() {
    explore_seeded(Sim::new(), |seed| async move {
        let tally = Tally::default();
        let (mut client, mut server) = chat::pipe_of::<Value, F::P>();
        let (asking, serving) = (tally.clone(), tally.clone());
        let asks = spawn(async move {
            loop {
                let Ok(waiting) = client.ask(asking.value(1)) else {
                    return;
                };
                let Ok(Reply::Reply(_, next)) = waiting.recv().await else {
                    return;
                };
                let Ok(told) = next.tell(asking.value(2)) else {
                    return;
                };
                let Ok(next) = told.ready().await else { return };
                client = next;
            }
        });
        let serves = spawn(async move {
            while let Ok(asked) = server.recv().await {
                server = match asked {
                    Ask::Ask(_, reply) => match reply.reply(serving.value(3)) {
                        Ok(next) => next,
                        Err(_) => return,
                    },
                    Ask::Tell(_, next) => next,
                    Ask::Leave | Ask::Bye(_) => return,
                };
            }
        });
        for _ in 0..seed / 2 % 8 {
            gossamer::yield_now().await;
        }
        let (first, second) = if seed.is_multiple_of(2) {
            (asks, serves)
        } else {
            (serves, asks)
        };
        abort_all(vec![first]).await;
        second.await.expect("it is told, and ends");
        assert_eq!(tally.living(), 0);
    });
}
