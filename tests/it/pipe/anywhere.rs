//! Tasks, fibers and threads at the two ends, under every model and in simulations.

use gossamer::channel::Closed;

use super::{Ask, Reply, chat, client, server};
use crate::conform::{Kind, World, everywhere};

// So many rounds for each model and pair of kinds, so many schedules for each pair.
everywhere! {
    questions_and_replies: 10, 1_250;
    each_takes_what_the_other_tells: 10, 1_250;
    the_server_goes: 10, 1_250;
    the_client_goes: 10, 1_250;
}

async fn ask(mut client: client::Ask<u64>, rounds: u64) -> u64 {
    let mut sum = 0;
    for round in 0..rounds {
        let waiting = client.ask(round).expect("it is there");
        let Ok(Reply::Reply(reply, next)) = waiting.recv().await else {
            panic!("it replies")
        };
        sum += reply;
        client = next;
    }
    client.leave().expect("it waits");
    sum
}

/// What it was asked and told, together.
async fn serve(mut server: server::Ask<u64>) -> Result<u64, Closed> {
    let mut sum = 0;
    loop {
        server = match server.recv().await? {
            Ask::Ask(asked, reply) => {
                sum += asked;
                reply.reply(asked * 2).map_err(|_| Closed)?
            }
            Ask::Tell(told, next) => {
                sum += told;
                next
            }
            Ask::Leave => return Ok(sum),
            Ask::Bye(last) => return Ok(sum + last),
        };
    }
}

async fn questions_and_replies(world: World, one: Kind, two: Kind, _: u64) {
    let (client, server) = chat::pipe();
    let serves = world.run(two, serve(server));
    let asks = world.run(one, ask(client, 4));
    assert_eq!(asks.await.expect("no panic"), 12);
    assert_eq!(serves.await.expect("no panic"), Ok(6));
}

async fn each_takes_what_the_other_tells(world: World, one: Kind, two: Kind, _: u64) {
    let (mut client, server) = chat::pipe();
    let serves = world.run(two, serve(server));
    let tells = world.run(one, async move {
        for number in 0..4 {
            let told = client.tell(number).expect("it is there");
            client = told.ready().await.expect("it is there");
        }
        client.bye(10).expect("it is there");
    });
    tells.await.expect("no panic");
    assert_eq!(serves.await.expect("no panic"), Ok(16));
}

/// After so many rounds; the client finds out, by sending or by waiting.
async fn the_server_goes(world: World, one: Kind, two: Kind, seed: u64) {
    let (mut client, mut server) = chat::pipe();
    let asks = world.run(one, async move {
        let mut replies = 0;
        loop {
            let Ok(waiting) = client.ask(7) else {
                return replies;
            };
            let Ok(Reply::Reply(14, next)) = waiting.recv().await else {
                return replies;
            };
            replies += 1;
            client = next;
        }
    });
    let serves = world.run(two, async move {
        for _ in 0..seed % 3 {
            let Ok(Ask::Ask(asked, reply)) = server.recv().await else {
                panic!("it asks")
            };
            server = reply.reply(asked * 2).expect("it is there");
        }
    });
    serves.await.expect("no panic");
    assert_eq!(asks.await.expect("no panic"), seed % 3);
}

/// Having told something, and perhaps before that was taken.
async fn the_client_goes(world: World, one: Kind, two: Kind, seed: u64) {
    let (client, mut server) = chat::pipe();
    let serves = world.run(two, async move {
        let mut told = 0;
        while let Ok(Ask::Tell(number, next)) = server.recv().await {
            told += number;
            server = next;
        }
        told
    });
    let tells = world.run(one, async move {
        let told = client.tell(3).expect("it is there");
        if seed.is_multiple_of(2) {
            drop(told.ready().await);
        }
    });
    tells.await.expect("no panic");
    assert_eq!(serves.await.expect("no panic"), 3);
}
